"""The text of a page as a reader sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.parse import MAX_TEXT_CHARACTERS, readable_text
from timing import cpu_cost_s


def test_the_title_is_the_first_line_and_blocks_are_lines() -> None:
    html = "<title> Hot\n air </title><script>no()</script><p>Balloons  <b>ri</b>se</p><ul><li>one<li>two</ul>"
    assert readable_text(html) == "Hot air\nBalloons rise\none\ntwo"


def test_a_page_without_title_begins_with_an_empty_line() -> None:
    assert readable_text("<p>Balloons") == "\nBalloons"


def test_what_is_no_text_is_left_out() -> None:
    assert readable_text("<title>a\u202eb</title>c\x07d \x01e \u202bf \ud800").split() == [
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
        "?",
    ]


def test_a_long_text_is_cut() -> None:
    assert len(readable_text("dog " * MAX_TEXT_CHARACTERS)) == MAX_TEXT_CHARACTERS


def test_a_page_that_the_parser_fails_on_has_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("scenthound.web.parse.read_html", fail)
    assert readable_text("<p>dog") == ""


def test_a_page_made_to_hurt_takes_a_moment() -> None:
    assert cpu_cost_s(lambda: readable_text("<font color=1><p><a href=x>" * 100_000), 5) < 5


@given(st.text(max_size=200))
def test_whatever_the_page_its_text_can_be_stored_and_shown(html: str) -> None:
    text = readable_text(html)
    text.encode("utf-8")
    assert all(sign.isprintable() or sign == "\n" or sign.isspace() or ord(sign) > 127 for sign in text)
