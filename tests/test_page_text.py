"""Readable text and anchors of pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.parse import MAX_TEXT_CHARACTERS, Anchor, anchors_of, readable_text
from timing import cpu_cost_s


def test_the_title_is_the_first_line_and_blocks_are_lines() -> None:
    html = "<title> Hot\n air </title><script>no()</script><p>Balloons  <b>ri</b>se</p><ul><li>one<li>two</ul>"
    assert readable_text(html) == "Hot air\nBalloons rise\none\ntwo"


def test_a_page_without_title_starts_with_an_empty_line() -> None:
    assert readable_text("<p>Balloons") == "\nBalloons"


def test_control_characters_are_removed() -> None:
    assert readable_text("<title>a\u202eb</title>c\x07d \x01e \u202bf \ud800").split() == [
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
        "?",
    ]


def test_a_long_text_is_truncated() -> None:
    assert len(readable_text("dog " * MAX_TEXT_CHARACTERS)) == MAX_TEXT_CHARACTERS


def test_line_breaks_of_the_source_are_white_space() -> None:
    assert (
        readable_text("<p>red\nkites<pre>fly\nhigh</pre>ki\u00adtes<br>eat mice")
        == "\nred kites\nfly high\nkites\neat mice"
    )


def test_a_hostile_page_takes_bounded_time() -> None:
    assert cpu_cost_s(lambda: readable_text("<font color=1><p><a href=x>" * 100_000), 5) < 5


@given(st.text(max_size=200))
def test_any_text_can_be_stored_and_printed(html: str) -> None:
    text = readable_text(html)
    text.encode("utf-8")
    assert all(sign.isprintable() or sign == "\n" or sign.isspace() or ord(sign) > 127 for sign in text)


# Anchors


PAGE = "http://a.test/folder/page"


def anchors(html: str) -> list[tuple[str, str]]:
    return [(anchor.url, anchor.text) for anchor in anchors_of(html, PAGE)]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<p>see <a href=b>the  <b>B</b>\n page</a> now", [("http://a.test/folder/b", "the B page")]),
        ("<base href=http://b.test/x/><a href=y>Y</a>", [("http://b.test/x/y", "Y")]),
        ("<a href=/><img></a><a href=/c><img alt='a cat'></a>", [("http://a.test/", ""), ("http://a.test/c", "a cat")]),
        ("<a href=mailto:me@a.test>me</a><a href=/ok>ok</a>", [("http://a.test/ok", "ok")]),
        ("<iframe src=/f></iframe><a href=/g>go</a>", [("http://a.test/f", ""), ("http://a.test/g", "go")]),
        ("", []),
    ],
    ids=["words", "base", "images", "nowhere to go", "frames", "nothing"],
)
def test_links_with_their_anchor_texts(html: str, found: list[tuple[str, str]]) -> None:
    assert anchors(html) == found


def test_nofollow_of_anchors() -> None:
    assert list(anchors_of("<a href=/x rel='Nofollow me'>x</a>", PAGE)) == [Anchor("http://a.test/x", "x", True)]


def test_an_outer_link_has_the_text_of_the_inner_one() -> None:
    # An object in a link may contain another link.
    html = "<a href=/out>out <object><a href=/in>in</a></object> again</a>"
    assert anchors(html) == [("http://a.test/out", "out in again"), ("http://a.test/in", "in")]
