"""Sitemaps: files of every kind that others wrote, broken ones and hostile ones."""

import gzip
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.sitemaps import READ_BYTES, Sitemap, read_sitemap
from scenthound.web.urls import host_of

HERE = "http://a.example/sitemap.xml"


def urlset(*entries: str) -> bytes:
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{''.join(entries)}</urlset>".encode()


def entry(address: str) -> str:
    return f"<url><loc>{address}</loc></url>"


# The host of the addresses, how many pages and how many sitemaps the file lists.
FILES = {
    "atom.xml": ("example.org", 3, 0),
    "do-not-visit.txt": ("www.example.com", 1, 0),
    "hebdenbridgetimes-articles-sitemap.xml": ("www.hebdenbridgetimes.co.uk", 74, 0),
    "pagemaps-sitemap.xml": ("www.example.com", 2, 0),
    "relative-sitemap-robots.txt": ("www.example.com", 0, 0),
    "shinpaideshou-news-sitemap.xml": ("shinpaideshou.wordpress.com", 3, 0),
    "sitemap-images.xml": ("www.example.com", 1, 0),
    "sitemap-links.xml": ("www.example.com", 3, 0),
    "sitemap-mobile.xml": ("www.example.com", 3, 0),
    "sitemap-news.xml": ("www.example.org", 2, 0),
    "sitemap-robots-dedup.txt": ("example.org", 0, 0),
    "sitemap-robots.txt": ("domain.com", 1, 0),
    "sitemap-videos-tvshow.xml": ("example.org", 1, 0),
    "sitemap-videos.xml": ("www.example.com", 3, 0),
    "sitemap-with-bom.txt": ("www.domain.com", 2, 0),
    "sitemap.badns.xml": ("www.example.com", 2, 0),
    "sitemap.index.xml": ("example.com", 0, 15),
    "sitemap.ns.xml": ("www.example.com", 2, 0),
    "sitemap.txt": ("www.domain.com", 2, 0),
    "sitemap.txt.gz": ("www.example.com", 5, 0),
    "xmlSitemap.gz": ("www.example.com", 5, 0),
}


def test_files_that_others_wrote_are_read(shared: Path) -> None:
    folder = shared / "suites/sitemaps"
    found = {}
    for file in sorted(folder.iterdir()):
        host = FILES[file.name][0]
        sitemap = read_sitemap(file.read_bytes(), f"http://{host}/{file.name}")
        found[file.name] = (host, len(sitemap.urls), len(sitemap.sitemaps))
        assert {host_of(url) for url in (*sitemap.urls, *sitemap.sitemaps)} <= {host}
    assert found == FILES


def test_entities_are_read_and_the_order_is_kept(shared: Path) -> None:
    body = (shared / "suites/sitemaps/sitemap.index.xml").read_bytes()
    first = read_sitemap(body, "https://example.com/index.xml").sitemaps[0]
    assert first == "https://example.com/sitemap.jss?portalCode=10260&lang=en"
    body = urlset(entry("http://a.example/b"), entry("http://a.example/a"), entry("http://a.example/b"))
    assert read_sitemap(body, HERE).urls == ("http://a.example/b", "http://a.example/a")


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://a.example/?a=1&amp;b=2", "http://a.example/?a=1&b=2"),
        ("http://a.example/?a=1&b=2", "http://a.example/?a=1&b=2"),
        ("\n\thttp://A.example:80/x \n", "http://a.example/x"),
        ("<![CDATA[http://a.example/?a&b]]>", "http://a.example/?a&b"),
        ("http://a.example/caf\u00e9&#x41;", "http://a.example/caf%C3%A9A"),
        ("/relative", "http://a.example/relative"),
        ("http://a.example/#part", "http://a.example/"),
    ],
)
def test_addresses_are_canonical(written: str, url: str) -> None:
    assert read_sitemap(urlset(entry(written)), HERE).urls == (url,)


@pytest.mark.parametrize("written", ["http://b.example/", "ftp://a.example/", "mailto:a@a.example", "", "http://"])
def test_what_is_of_another_host_or_cannot_be_crawled_is_left_out(written: str) -> None:
    assert read_sitemap(urlset(entry(written)), HERE) == Sitemap((), ())


def test_a_sitemap_may_lie_elsewhere_if_the_caller_says_whose_it_is() -> None:
    body = urlset(entry("http://b.example/"), entry("http://a.example/"))
    assert read_sitemap(body, HERE, host="b.example").urls == ("http://b.example/",)


def test_broken_files_give_what_can_be_read() -> None:
    body = urlset(entry("http://a.example/1"), "<url><lastmod>&broken; & <</url>", entry("http://a.example/2"))
    assert len(read_sitemap(body.removesuffix(b"/loc></url></urlset>"), HERE).urls) == 2
    # Cut within an address: what is left of it could be that of another page.
    assert read_sitemap(b"<urlset><loc>/1</loc><loc>/23", HERE).urls == ("http://a.example/1",)
    whole = gzip.compress(urlset(*(entry(f"http://a.example/{number}") for number in range(5_000))))
    assert 1_000 < len(read_sitemap(whole[: len(whole) // 2], HERE).urls) < 5_000
    assert read_sitemap(whole[:20] + b"\xff" * 50, HERE) == Sitemap((), ())
    assert read_sitemap(b"<html><a href='http://a.example/'>x</a></html>", HERE) == Sitemap((), ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_are_followed(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>{urlset(entry('http://a.example/é')).decode()}"
    assert read_sitemap(text.encode(encoding), HERE).urls == ("http://a.example/%C3%A9",)


def test_comments_hide_what_is_in_them() -> None:
    body = urlset("<!--", entry("http://a.example/1"), "-->", entry("http://a.example/2"), "<!-- ", entry("/3"))
    assert read_sitemap(body, HERE).urls == ("http://a.example/2",)


def test_pages_and_sitemaps_are_told_apart_in_one_file() -> None:
    body = b"<sitemapindex><sitemap><loc>/s.xml</loc></sitemap><url><loc>/p</loc></url></sitemapindex>"
    assert read_sitemap(body, HERE) == Sitemap(("http://a.example/p",), ("http://a.example/s.xml",))
    assert read_sitemap(b"<sitemapindex><loc>/s.xml</loc></sitemapindex>", HERE).sitemaps == ("http://a.example/s.xml",)


def test_feeds_list_their_entries() -> None:
    rss = b"<rss><channel><link>http://a.example/</link><item><link>/1</link><guid>/x</guid></item></channel></rss>"
    assert read_sitemap(rss, HERE).urls == ("http://a.example/", "http://a.example/1")
    atom = b'<feed><link rel="self" href="/feed"/><entry><link href="/1"/><link rel="edit" href="/e"/></entry></feed>'
    assert read_sitemap(atom, HERE).urls == ("http://a.example/1",)


def test_no_more_addresses_are_kept_than_asked_for() -> None:
    body = urlset(*(entry(f"/{number}") for number in range(100)))
    assert len(read_sitemap(body, HERE, most=7).urls) == 7
    assert len(read_sitemap(b"\n".join(b"http://a.example/%d" % number for number in range(100)), HERE, 9).urls) == 9


def test_entities_are_neither_expanded_nor_fetched() -> None:
    lol = "".join(f'<!ENTITY l{number} "{f"&l{number - 1};" * 10}">' for number in range(1, 20))
    doctype = f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{lol}<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    body = doctype.encode() + urlset(entry("/&l19;"), entry("/&file;"), entry("/fine"))
    assert read_sitemap(body, HERE).urls == (
        "http://a.example/&l19;",
        "http://a.example/&file;",
        "http://a.example/fine",
    )


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(b"<urlset>" + b" " * (4 * READ_BYTES)),
        b"<urlset>" + b"<!--" * 500_000,
        b"<urlset>" + b"<loc " * 400_000,
        b"<urlset>" + b"<loc>" * 400_000,
        b"<urlset>" + b"<loc>" * 3_000_000,
        b"<urlset>" + b"<loc>http://b.example/</loc>" * 500_000,
        b"<urlset>" + b"<a:" * 600_000,
        b"<feed>" + b"<link href=" * 200_000 + b">",
        b"<feed><link " + b"rel=' " * 300_000 + b">",
        b"<feed><link " + b"href" + b" " * 2_000_000 + b">",
        b"<" + b"a" * 2_000_000,
        b" " * 2_000_000 + b"<urlset>",
    ],
    ids=[
        "bomb",
        "comments",
        "open tags",
        "tags",
        "very many tags",
        "other hosts",
        "prefixes",
        "links",
        "attributes",
        "spaces",
        "name",
        "blank",
    ],
)
def test_hostile_files_cost_bounded_time(body: bytes) -> None:
    started = time.process_time()
    assert read_sitemap(body, HERE) == Sitemap((), ())
    # Measured 1 s at most.
    assert time.process_time() - started < 5


def test_a_bomb_costs_bounded_memory() -> None:
    bomb = gzip.compress(bytes(8 * READ_BYTES), compresslevel=1)
    tracemalloc.start()
    read_sitemap(bomb, HERE)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 5 * READ_BYTES


@given(
    st.binary(max_size=300) | st.from_regex(r"<(urlset|rss|feed)>(<(loc|link|url)[ >/]?[^\x00]{0,9})*").map(str.encode)
)
def test_no_bytes_raise(body: bytes) -> None:
    read_sitemap(body, HERE)
    read_sitemap(b"\x1f\x8b" + body, HERE)
