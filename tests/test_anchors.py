"""The links of a page with their words, as a reader sees them."""

import pytest

from scenthound.web.parse import Anchor, anchors_of

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
        # A frame makes the page one whose links are marked in the text.
        ("<iframe src=/f></iframe><a href=/g>go</a>", [("http://a.test/f", ""), ("http://a.test/g", "go")]),
        ("", []),
    ],
    ids=["words", "base", "images", "nowhere to go", "frames", "nothing"],
)
def test_links_are_told_with_their_words(html: str, found: list[tuple[str, str]]) -> None:
    assert anchors(html) == found


def test_a_link_that_asks_not_to_be_followed_says_so() -> None:
    assert list(anchors_of("<a href=/x rel='Nofollow me'>x</a>", PAGE)) == [Anchor("http://a.test/x", "x", True)]


def test_a_link_that_holds_another_has_the_words_of_both() -> None:
    # An object in a link may hold a link of its own.
    html = "<a href=/out>out <object><a href=/in>in</a></object> again</a>"
    assert anchors(html) == [("http://a.test/out", "out in again"), ("http://a.test/in", "in")]
