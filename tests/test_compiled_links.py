"""Links found in a URL table by their bytes have the same URLs as links resolved as text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("compiled_code")

from scenthound.frontier.url_index import NEW
from scenthound.frontier.url_table import UrlTable
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import ParsedPage, parse_html
from scenthound.web.urls import prefix_lengths

BASE = "http://a.org/x/y/page.html?q=/z"


def scanner() -> WordScanner:
    scanner = WordScanner()
    scanner.use_compiled()
    return scanner


def page_of(references: list[str], relations: list[str] | None = None, base: str = "") -> bytes:
    relations = relations or [""] * len(references)
    links = (
        f'<a href="{reference}" {relation}>word {number}</a>'
        for number, (reference, relation) in enumerate(zip(references, relations, strict=True))
    )
    return f"<html><head>{base}</head><body><p>{' '.join(links)}".encode()


def parsed(html: bytes, table: UrlTable | None) -> ParsedPage:
    return parse_html(html, BASE, scanner(), http_charset="utf-8", table=table)


def urls_of(page: ParsedPage, table: UrlTable) -> list[str]:
    links = page.links
    # An unsupported page has texts.
    numbers = table.add_all(links) if isinstance(links, list) else table.add_found(links)
    return [table.url(number) for number in numbers.tolist()]


def assert_same(html: bytes, table: UrlTable) -> None:
    """The links of a page are the same with and without the table, whether or not it knows them."""
    text, found = parsed(html, None), parsed(html, table)
    assert text.link_numbers is None
    assert urls_of(found, table) == text.link_urls
    again = parsed(html, table)
    assert urls_of(again, table) == text.link_urls
    for page in (found, again):
        assert page.link_nofollow.tolist() == text.link_nofollow.tolist()
        assert page.link_start.tolist() == text.link_start.tolist()
        assert page.link_end.tolist() == text.link_end.tolist()


HAND_MADE = {
    "other.html": "http://a.org/x/y/other.html",
    "/root/": "http://a.org/root/",
    "../up": "http://a.org/x/up",
    "../../../../beyond": "http://a.org/beyond",
    "../": "http://a.org/x/",
    "#part": BASE,
    "": BASE,
    "http://b.org/z?q=1#part": "http://b.org/z?q=1",
    "a:b/c": None,  # a scheme of its own
    "d/a:b": "http://a.org/x/y/d/a:b",
    "//c.org/e": "http://c.org/e",
    "f?x=1&amp;y=2": "http://a.org/x/y/f?x=1&y=2",
    "caf\u00e9": "http://a.org/x/y/caf%C3%A9",
    ".": "http://a.org/x/y/",
    "g/%2e%2e/h": "http://a.org/x/y/h",
    " i ": "http://a.org/x/y/i",
    "mailto:me@a.org": None,
    "HTTP://A.org:80/j": "http://a.org/j",
    "http://u:p@a.org/k": "http://a.org/k",
    "//u@a.org/l": "http://a.org/l",
    "http://a.org/@m": "http://a.org/@m",
}


def test_links_resolved_by_hand():
    table = UrlTable(compiled=True)
    html = page_of(list(HAND_MADE))
    expected = [url for url in HAND_MADE.values() if url is not None]
    assert urls_of(parsed(html, table), table) == expected
    again = parsed(html, table)
    assert urls_of(again, table) == expected
    # Encoded and other unusual references are resolved as text each time, all others are found.
    unusual = ["//c.org/e", "f?x=1&y=2", "caf%C3%A9", "y/", "h", "i", "http://a.org/j", "/k", "/l"]
    assert len(again.link_urls) == len(unusual)
    assert all(url.endswith(end) for url, end in zip(again.link_urls, unusual, strict=True))
    assert (again.link_numbers == NEW).sum() == len(unusual)
    assert_same(html, table)


def test_a_user_is_removed_even_if_the_table_knows_the_url_with_it():
    table = UrlTable(compiled=True)
    table.add_all(["http://u:p@a.org/x", "https://u@a.org/"])
    html = page_of(["http://u:p@a.org/x", "https://u@a.org/", "http://u:p@a.org/x#y"])
    assert urls_of(parsed(html, table), table) == ["http://a.org/x", "https://a.org/", "http://a.org/x"]
    assert_same(html, table)


def test_parsing_adds_nothing_to_the_table():
    table = UrlTable(compiled=True)
    parsed(page_of(list(HAND_MADE)), table)
    assert len(table) == 0


def test_links_are_relative_to_the_base_element():
    html = page_of(["x", "../y", "/z", "#w"], base='<base href="http://c.org/d/e/f">')
    assert_same(html, UrlTable(compiled=True))
    table = UrlTable(compiled=True)
    expected = ["http://c.org/d/e/x", "http://c.org/d/y", "http://c.org/z", "http://c.org/d/e/f"]
    assert urls_of(parsed(html, table), table) == expected


def test_nofollow_in_any_spelling():
    relations = [
        "rel=nofollow",
        'rel="x NoFollow"',
        "rel='nofollow\ny'",
        "rel=nofollowed",
        "rel=''",
        "",
        "rel=no&#102;ollow",
    ]
    page = parsed(page_of(["a"] * len(relations), relations), UrlTable(compiled=True))
    assert page.link_nofollow.tolist() == [True, True, True, False, False, False, True]


def test_a_table_without_compiled_code_is_ignored():
    page = parsed(page_of(["a", "b"]), UrlTable())
    assert (page.link_urls, page.link_numbers) == (["http://a.org/x/y/a", "http://a.org/x/y/b"], None)


def test_prefixes_of_a_url():
    # nothing, all, origin, directory, the one above, which is the root
    assert prefix_lengths("http://a.org/x/y?z/") == [0, 19, 12, 15, 13]
    assert prefix_lengths("http://a.org/") == [0, 13, 12, 13]


PARTS = (
    "http://a.org http://b.org:8080 https://A.org/ http://u:p@ / // ../ ./ .. . x Y-1 ~z %2e % : ? q=1 "
    "&amp; & &#47; # #f ' ( \u00e9 \\ @ ; |"
)
reference_parts = st.sampled_from([*PARTS.split(), " ", "\t", "http", "x.html"])
references = st.lists(reference_parts, max_size=7).map("".join)


@given(st.lists(references, min_size=1, max_size=8))
@example(["http://a.org/x#a b", "x#\u00e9", "/#'", "?q", "x?|"])
@example(["../" * 33 + "x", "../" * 32 + "x"])
def test_all_references_resolve_like_their_texts(written):
    assert_same(page_of(written), UrlTable(compiled=True))


def test_a_page_without_a_canonical_url_has_no_links():
    html = page_of(["http://a.org/x", "y"])
    table = UrlTable(compiled=True)
    table.add_all(["http://a.org/x"])
    page = parse_html(html, "http://exa mple/", scanner(), http_charset="utf-8", table=table)
    assert (page.link_urls, page.link_numbers, page.base_url) == ([], None, "http://exa mple/")
