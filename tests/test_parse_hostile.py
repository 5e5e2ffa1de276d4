"""Parsing hostile pages: forged markers, arbitrary markup, limits and bounded time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsed_page import URL, Page, assert_positions_are_valid
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES, parse_html
from timing import cpu_cost_s


@pytest.mark.parametrize("forged", ["\x00", "\x01", "&#0;", "&#1;", "&#x1;", "&#X0001", "&#01;", "\x02\x03"])
def test_control_characters_of_the_source_cannot_move_a_link(forged: str) -> None:
    html = f"dog {forged} <a href=x>cat{forged}</a> {forged}<img alt='{forged}'> <a href=y>cow</a>{forged}"
    # An invisible link would compensate for a forged marker if only their number were checked.
    page = Page(html + f"<template><a href=z>{forged}</a></template>")
    assert [url[-1] for url in page.parsed.links] == ["x", "y"]
    assert page.anchors == ["cat", "cow"]


TAGS = """
abbr address article aside audio b bdo blockquote button canvas caption center code datalist dd del details dialog dir
div dl dt em fieldset figcaption figure font footer form frameset h1 h6 head header hgroup html i ins label legend li
listing main map mark marquee math menu meter nav nobr noembed noscript object ol optgroup option output p picture pre
progress q rb rp rt rtc ruby s samp script search section select slot small span strike strong style sub summary sup
svg table tbody td template tfoot th thead time title tr tt u ul var video
"""


@pytest.mark.parametrize("outer", ["{}", "<svg>{}</svg>", "<table>{}</table>", "<svg><desc>{}", "<ul>{}"])
def test_links_in_any_element_keep_their_positions(outer: str) -> None:
    for tag in TAGS.split():
        page = Page("before " + outer.format(f"<{tag}><a href=x>dog</a></{tag}>") + " <a href=y>cow</a> after")
        assert page.links[-1] == ("http://web.test/a/y", "cow"), tag
        assert page.anchors in (["dog", "cow"], ["cow"]), tag


MARKUP_PIECES = """
<a href=1> </a> <a> <p> </p> <table> <tr> <td> </table> <b> </b> <font color=1> <div> </div> <ul> <li> <svg> </svg>
<template> </template> <iframe src=2> </iframe> <area href=3> <frameset> <frame src=4> <select> <option> <object>
</object> <button> <title> </title> <style> </style> <script> </script> <math> <mi> <desc> <img alt=x> <textarea>
</textarea> <noscript> <foreignObject> <ruby> <rp> <datalist> <body> <head> dog, cat &#1; <!-- --> < &
"""
MARKUP = st.lists(st.sampled_from(["\x00", "\x01", *re.split(r"\s(?!\w+=)", MARKUP_PIECES.strip())]), max_size=30).map(
    "".join
)


@given(MARKUP | st.text(max_size=60))
def test_positions_are_valid_for_any_markup(html: str) -> None:
    assert_positions_are_valid(Page(html).parsed)


@given(st.binary(max_size=80))
def test_bytes_are_decoded_and_never_raise(body: bytes) -> None:
    assert_positions_are_valid(Page(b"<a href=x>" + body).parsed)


def test_bytes_beyond_the_limit_are_ignored() -> None:
    at_the_limit = "dog " * (MAX_PAGE_BYTES // 4)
    for html in (at_the_limit + "cat", (at_the_limit + "cat").encode()):
        assert len(parse_html(html, URL, WordScanner()).words) == MAX_PAGE_BYTES // 4


def test_links_beyond_the_limit_are_omitted() -> None:
    page = Page("<a href=x>dog</a> " * (MAX_LINKS + 5)).parsed
    assert len(page.links) == MAX_LINKS
    assert len(page.words) == MAX_LINKS + 5
    assert_positions_are_valid(page)


def of_200_kilobytes(piece: str) -> str:
    return piece * (200_000 // len(piece))


HOSTILE = {
    "nested divs": of_200_kilobytes("<div>x"),
    "nested tables": of_200_kilobytes("<table><tr><td>x"),
    "nested lists": of_200_kilobytes("<ul><li>x"),
    "nested quotations": of_200_kilobytes("<blockquote>x"),
    "one wide cell above many rows": "<table><tr><td>" + "x" * 100_000 + "<tr><td>y" * 10_000,
    "different fonts in paragraphs": "".join(f"<font color={i}><p>x" for i in range(9_000)),
    "different bolds in paragraphs": "".join(f"<b/{i}><P>" for i in range(18_000)),
    "kinds of bold in paragraphs": "".join(f"<{('b', 'i', 'tt', 'u')[i % 4]}><p>" for i in range(600))
    + "<p>x" * 49_000,
    "unclosed links": of_200_kilobytes("<a href=x>"),
    "unclosed links in blocks": of_200_kilobytes("<a href=x><div>"),
    "links in tables in links": of_200_kilobytes("<a href=x><table><tr><td>"),
    "links in templates": of_200_kilobytes("<template><a href=x>y"),
    "many attributes": "<a " + " ".join(f"a{i}=1" for i in range(25_000)) + " href=x>y",
    "entities": of_200_kilobytes("&amp;&notit;&#1;"),
    "forged markers": of_200_kilobytes("<a href=x>\x01&#1;</a>"),
    "open brackets": "<" * 200_000,
    "open comments": of_200_kilobytes("<!--"),
    "one long word": "x" * 200_000,
    "new words": " ".join(f"w{i}x" for i in range(28_000)),
    "steps up": "<a href='" + "../" * 60_000 + "x'>y</a>",
    "many ways up": "".join(f"<a href='{'../' * i}x'>y</a>" for i in range(300)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_of_200_kilobytes_is_parsed_in_bounded_time(name: str) -> None:
    # About five times what the slowest takes; quadratic time would be seconds.
    assert cpu_cost_s(lambda: parse_html(HOSTILE[name], URL, WordScanner()), 0.5) < 0.5
    assert_positions_are_valid(parse_html(HOSTILE[name], URL, WordScanner()))
