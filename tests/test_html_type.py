"""What counts as HTML, by its type or by its first bytes."""

import pytest

from scenthound.web.decode import is_html_type, looks_like_html, type_of


@pytest.mark.parametrize(
    ("header", "essence"),
    [
        ("text/html", "text/html"),
        (" Text/HTML ; charset=utf-8", "text/html"),
        ("text/html, text/html", "text/html"),
        ("application/xhtml+xml;q=1", "application/xhtml+xml"),
        ("html", None),
        ("", None),
        (None, None),
    ],
)
def test_the_type_is_what_comes_before_the_parameters(header: str | None, essence: str | None) -> None:
    assert type_of(header) == essence


def test_html_and_xhtml_are_pages_and_nothing_else_is() -> None:
    assert is_html_type("text/html")
    assert is_html_type("application/xhtml+xml")
    assert not any(map(is_html_type, ("text/plain", "application/xml", "text/html5", "image/svg+xml")))


@pytest.mark.parametrize(
    "content",
    [b"<!DOCTYPE html>", b"\xef\xbb\xbf \r\n\t<HTML>", b"<p >", b"<!-- comment", b"<a\nhref=x>", b"<br/>", b"<h1>x"],
)
def test_signs_of_html_are_seen(content: bytes) -> None:
    assert looks_like_html(content)


@pytest.mark.parametrize(
    "content", [b"", b"words", b"<", b"<pre>", b"<?xml version='1.0'?><rss>", b"<!doctype svg>", b"x<html>", b"\x89PNG"]
)
def test_other_beginnings_are_not_html(content: bytes) -> None:
    assert not looks_like_html(content)
