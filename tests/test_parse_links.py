"""Parsing: the links of a page, where they lead, and the words of their anchors."""

import itertools
from pathlib import Path

import orjson
import pytest
import turbohtml

from parsed_page import URL, Page, assert_places_are_sound
from scenthound.files import opened
from scenthound.text.words import OPEN, plain_words
from scenthound.web.html import HtmlContent
from scenthound.web.urls import resolve


def test_a_link_edge_parts_words_so_that_the_anchor_is_its_own_words() -> None:
    page = Page("un<a href=x>dog</a>cat")
    assert page.words == ["un", "dog", "cat"]
    assert page.anchors == ["dog"]


def test_an_image_speaks_by_its_alt_text() -> None:
    page = Page("<a href=x><img alt='Blue birds' src=y></a><a href=z><img src=y></a>")
    assert page.links == [("http://web.test/a/x", "blue bird"), ("http://web.test/a/z", "")]


def test_links_are_anchors_areas_and_frames_in_page_order_with_duplicates() -> None:
    page = Page("<a href=1>x</a><a name=n>y</a><map><area href=2></map><iframe src=3>z</iframe><a href=1>w</a>")
    assert [url[-1] for url in page.parsed.link_urls] == ["1", "2", "3", "1"]
    assert Page("<frameset><frame src=1><frame src=2></frameset>").parsed.link_urls == [
        "http://web.test/a/1",
        "http://web.test/a/2",
    ]


def test_links_that_lead_nowhere_are_left_out_and_the_others_keep_their_places() -> None:
    page = Page("<a href=mailto:a@b>mail</a> <a href=x>dog</a> <a href='http://[/'>bad</a> <a href=y>cat</a>")
    assert page.links == [("http://web.test/a/x", "dog"), ("http://web.test/a/y", "cat")]


def test_the_first_base_element_moves_the_links() -> None:
    page = Page("<base target=t><base href='/b/#f'><base href=/c/><a href=x>dog</a>")
    assert page.parsed.base_url == "http://web.test/b/"
    assert page.parsed.link_urls == ["http://web.test/b/x"]
    assert Page("<a href=x>").parsed.base_url == URL
    assert Page("<base href='data:,x'><a href=x>").parsed.link_urls == ["http://web.test/a/x"]


def test_a_page_whose_address_is_no_url_has_words_and_no_links() -> None:
    page = Page("<a href=x>dog</a><a href=http://h/>cat</a>", url="not a url")
    assert (page.words, page.links) == (["dog", "cat"], [])


def test_links_say_whether_they_want_to_be_followed() -> None:
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


def test_an_unclosed_link_ends_where_the_next_begins() -> None:
    assert Page("<a href=1>dog <a href=2>cat").anchors == ["dog", "cat"]


def test_an_iframe_in_a_drawing_may_hold_links() -> None:
    assert Page("<svg><iframe src=1>dog<a href=2>cat").links == [
        ("http://web.test/a/1", "dog cat"),
        ("http://web.test/a/2", "cat"),
    ]


def test_links_that_the_library_did_not_show_stand_behind_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    half_shown = HtmlContent(text=f"dog {OPEN} cat", references=["x", "y"], relations=[None, None])
    monkeypatch.setattr("scenthound.web.parse.read_html", lambda *_: half_shown)
    page = Page("").parsed
    assert (page.link_start.tolist(), page.link_end.tolist()) == ([2, 2], [2, 2])


def test_links_of_real_pages_have_the_words_of_their_elements(shared: Path) -> None:
    with opened(shared / "data" / "wpschools" / "pages.jsonl.zst") as pages:
        for line in itertools.islice(pages.content, 0, 100, 5):
            record = orjson.loads(line)
            page = Page(record["html"], record["url"])
            elements = turbohtml.parse(record["html"]).find_all("a", href=True)
            urls = [(resolve(record["url"], str(element.attr("href"))), element) for element in elements]
            crawlable = [(url, element) for url, element in urls if url]
            assert page.parsed.link_urls == [url for url, _ in crawlable]
            for anchor, (_, element) in zip(page.anchors, crawlable, strict=True):
                assert element.find("img") or anchor == " ".join(plain_words(element.text))
            title = plain_words(page.parsed.title)
            assert page.words[: len(title)] == title
            assert_places_are_sound(page.parsed)


def test_a_long_page_keeps_its_anchors_however_many_words_it_dresses() -> None:
    filler = "<p>" + "kite " * 8000
    dressed = "".join(f'<font color="{i}"><b class=x>kite</b></font> ' for i in range(2000))
    page = Page(f"{filler}<p>{dressed}<a href=mouse>small mice</a>")
    assert len(filler) > 1 << 15
    assert page.links == [("http://web.test/a/mouse", "small mice")]


def test_the_alt_text_of_an_area_is_the_anchor_of_its_link() -> None:
    page = Page("<map><area href=north alt='red kites'><area href=south></map> worms")
    assert page.links == [("http://web.test/a/north", "red kite"), ("http://web.test/a/south", "")]
