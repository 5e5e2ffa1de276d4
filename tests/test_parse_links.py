"""Parsing: the links of a page, their URLs, and the words of their anchors."""

import itertools
from pathlib import Path

import numpy as np
import orjson
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from oracles.words import stems_in_order
from parsed_page import URL, Page, assert_positions_are_valid
from scenthound.files import opened
from scenthound.text.windows import context_bounds
from scenthound.web.urls import resolve


def test_the_edges_of_a_link_separate_words() -> None:
    page = Page("un<a href=x>dog</a>cat")
    assert page.words == ["un", "dog", "cat"]
    assert page.anchors == ["dog"]


def test_images_contribute_their_alt_text() -> None:
    page = Page("<a href=x><img alt='Blue birds' src=y></a><a href=z><img src=y></a>")
    assert page.links == [("http://web.test/a/x", "blue bird"), ("http://web.test/a/z", "")]


def test_links_are_anchors_areas_and_frames_in_page_order_with_duplicates() -> None:
    page = Page("<a href=1>x</a><a name=n>y</a><map><area href=2></map><iframe src=3>z</iframe><a href=1>w</a>")
    assert [url[-1] for url in page.parsed.links] == ["1", "2", "3", "1"]
    assert Page("<frameset><frame src=1><frame src=2></frameset>").parsed.links == [
        "http://web.test/a/1",
        "http://web.test/a/2",
    ]


def test_links_without_a_crawlable_url_are_omitted() -> None:
    page = Page("<a href=mailto:a@b>mail</a> <a href=x>dog</a> <a href='http://[/'>bad</a> <a href=y>cat</a>")
    assert page.links == [("http://web.test/a/x", "dog"), ("http://web.test/a/y", "cat")]


def test_links_are_relative_to_the_first_base_element() -> None:
    page = Page("<base target=t><base href='/b/#f'><base href=/c/><a href=x>dog</a>")
    assert page.parsed.base_url == "http://web.test/b/"
    assert page.parsed.links == ["http://web.test/b/x"]
    assert Page("<a href=x>").parsed.base_url == URL
    assert Page("<base href='data:,x'><a href=x>").parsed.links == ["http://web.test/a/x"]


def test_a_page_with_an_invalid_url_has_words_and_no_links() -> None:
    page = Page("<a href=x>dog</a><a href=http://h/>cat</a>", url="not a url")
    assert (page.words, page.links) == (["dog", "cat"], [])


def test_nofollow_of_links() -> None:
    html = "<a href=1 rel='external NoFollow'>a</a><a href=2 rel=nofollowed>b</a>"
    assert Page(html + "<a href=x: rel=nofollow>c</a><a href=3>d</a>").parsed.link_nofollow.tolist() == [
        True,
        False,
        False,
    ]


def test_nested_links_each_have_their_own_anchor() -> None:
    page = Page("<a href=1>dog<table><tr><td><a href=2>cat</a></table>cow</a><a href=3><iframe src=4></iframe>bird</a>")
    assert [(url[-1], anchor) for url, anchor in page.links] == [
        ("1", "dog cat cow"),
        ("2", "cat"),
        ("3", "bird"),
        ("4", ""),
    ]


def test_an_unclosed_link_ends_at_the_next_link() -> None:
    assert Page("<a href=1>dog <a href=2>cat").anchors == ["dog", "cat"]


def test_an_iframe_in_svg_may_contain_links() -> None:
    assert Page("<svg><iframe src=1>dog<a href=2>cat").links == [
        ("http://web.test/a/1", "dog cat"),
        ("http://web.test/a/2", "cat"),
    ]


def test_a_link_in_the_source_of_a_formula_is_ignored() -> None:
    source = "<annotation-xml encoding='text/html'><a href=x>dog</a><img alt=cat></annotation-xml>"
    page = Page(f"<math><semantics><mi>kite</mi>{source}</semantics></math> <a href=y>bird</a>")
    assert page.words == ["kite", "bird"]
    assert page.links == [("http://web.test/a/y", "bird")]


def test_links_of_real_pages_have_the_words_of_their_elements(shared: Path) -> None:
    with opened(shared / "data" / "wpschools" / "pages.jsonl.zst") as pages:
        for line in itertools.islice(pages.content, 0, 100, 5):
            record = orjson.loads(line)
            page = Page(record["html"], record["url"])
            elements = turbohtml.parse(record["html"]).find_all("a", href=True)
            urls = [(resolve(record["url"], str(element.attr("href"))), element) for element in elements]
            crawlable = [(url, element) for url, element in urls if url]
            assert page.parsed.links == [url for url, _ in crawlable]
            for anchor, (_, element) in zip(page.anchors, crawlable, strict=True):
                assert element.find("img") or anchor == " ".join(stems_in_order(element.text))
            title = stems_in_order(page.parsed.title)
            assert page.words[: len(title)] == title
            assert_positions_are_valid(page.parsed)


def test_a_long_page_with_much_formatting_keeps_its_anchors() -> None:
    filler = "<p>" + "kite " * 8000
    formatted = "".join(f'<font color="{i}"><b class=x>kite</b></font> ' for i in range(2000))
    page = Page(f"{filler}<p>{formatted}<a href=mouse>small mice</a>")
    assert len(filler) > 1 << 15
    assert page.links == [("http://web.test/a/mouse", "small mice")]


def test_the_alt_text_of_an_area_is_the_anchor_of_its_link() -> None:
    page = Page("<map><area href=north alt='red kites'><area href=south></map> worms")
    assert page.links == [("http://web.test/a/north", "red kite"), ("http://web.test/a/south", "")]


# Contexts of links


def bounds(start: int, end: int, n_words: int, window: int) -> tuple[int, int]:
    first, last = context_bounds(np.array([start], np.int32), np.array([end], np.int32), n_words, window)
    return int(first[0]), int(last[0])


def test_the_context_is_a_window_that_includes_the_anchor() -> None:
    assert bounds(50, 52, 100, 20) == (41, 61)
    assert bounds(50, 53, 100, 20) == (41, 61)
    assert bounds(50, 50, 100, 4) == (48, 52)
    assert bounds(50, 50, 100, 3) == (48, 51)


def test_the_context_is_clipped_at_the_edges_of_the_page() -> None:
    assert bounds(1, 3, 100, 20) == (0, 12)
    assert bounds(98, 100, 100, 20) == (89, 100)
    assert bounds(0, 0, 0, 20) == (0, 0)


def test_a_long_anchor_is_its_own_context() -> None:
    assert bounds(10, 40, 100, 20) == (10, 40)


@given(st.integers(0, 60), st.integers(0, 30), st.integers(0, 30), st.integers(0, 40))
def test_the_context_contains_the_anchor_and_is_at_most_the_window(
    start: int, length: int, rest: int, window: int
) -> None:
    end, n_words = start + length, start + length + rest
    first, last = bounds(start, end, n_words, window)
    assert 0 <= first <= start <= end <= last <= n_words
    assert last - first <= max(window, length)


def test_contexts_of_many_links() -> None:
    start, end = np.array([0, 50], np.int32), np.array([2, 50], np.int32)
    first, last = context_bounds(start, end, 100)
    assert (first.tolist(), last.tolist()) == ([0, 40], [11, 60])
