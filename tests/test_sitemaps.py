"""Sitemaps: files of every kind that others wrote, broken ones and hostile ones."""

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.sitemaps import MAX_URL_CHARACTERS, READ_BYTES, Sitemap, read_sitemap
from scenthound.web.urls import host_of
from slow_cases import few_of
from timing import cpu_cost_s

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


def test_sitemaps_of_other_projects_are_read(shared: Path) -> None:
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
        # A parameter's name after a bare ampersand is none of HTML's entities.
        ("/?a&copy=1&lt=2&#169;", "http://a.example/?a&copy=1&lt=2%C2%A9"),
        ("/&apos;&quot;&lt;&gt;&#38;amp;&#x1F600;", "http://a.example/'%22%3C%3E&amp;%F0%9F%98%80"),
        ("/&#9999999;", "http://a.example/&"),
        ("http://a.example/#part", "http://a.example/"),
    ],
)
def test_urls_are_canonical(written: str, url: str) -> None:
    assert read_sitemap(urlset(entry(written)), HERE).urls == (url,)


def test_plain_lists_with_any_line_ends() -> None:
    body = (
        b"\xef\xbb\xbf http://a.example/1\r\rHTTP://a.example/2\r\n\t/3\nnot http://a.example/4\n  http://a.example/5"
    )
    assert read_sitemap(body, HERE).urls == ("http://a.example/1", "http://a.example/2", "http://a.example/5")


def test_a_very_long_url_is_dropped() -> None:
    # Python rejects numbers of this many digits.
    for written in ("/" + "a" * MAX_URL_CHARACTERS, "&#" + "9" * 5_000 + ";"):
        assert read_sitemap(urlset(entry(written), entry("/next")), HERE).urls == ("http://a.example/next",)


@pytest.mark.parametrize("written", ["ftp://a.example/", "mailto:a@a.example", "", "http://"])
def test_uncrawlable_urls_are_omitted(written: str) -> None:
    assert read_sitemap(urlset(entry(written)), HERE) == Sitemap((), ())


def test_pages_of_other_hosts_are_counted_and_omitted() -> None:
    body = urlset(entry("http://b.example/"), entry("http://a.example/"), entry("http://c.example/"))
    assert read_sitemap(body, HERE) == Sitemap(("http://a.example/",), (), 2)
    assert read_sitemap(body, HERE, host="b.example") == Sitemap(("http://b.example/",), (), 2)


def test_an_index_may_list_sitemaps_of_other_hosts() -> None:
    body = b"<sitemapindex><loc>http://b.example/s.xml</loc><loc>/s.xml</loc></sitemapindex>"
    assert read_sitemap(body, HERE).sitemaps == ("http://b.example/s.xml", "http://a.example/s.xml")


def test_damaged_files_are_read_as_far_as_possible() -> None:
    body = urlset(entry("http://a.example/1"), "<url><lastmod>&broken; & <</url>", entry("http://a.example/2"))
    assert len(read_sitemap(body.removesuffix(b"/loc></url></urlset>"), HERE).urls) == 2
    # Truncated within a URL: the rest could be the URL of another page.
    assert read_sitemap(b"<urlset><loc>/1</loc><loc>/23", HERE).urls == ("http://a.example/1",)
    complete = gzip.compress(urlset(*(entry(f"http://a.example/{number}") for number in range(5_000))))
    assert 1_000 < len(read_sitemap(complete[: len(complete) // 2], HERE).urls) < 5_000
    assert read_sitemap(complete[:20] + b"\xff" * 50, HERE) == Sitemap((), ())
    assert read_sitemap(b"<html><a href='http://a.example/'>x</a></html>", HERE) == Sitemap((), ())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_are_detected(encoding: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>{urlset(entry('http://a.example/é')).decode()}"
    assert read_sitemap(text.encode(encoding), HERE).urls == ("http://a.example/%C3%A9",)


def test_comments_are_ignored() -> None:
    body = urlset("<!--", entry("http://a.example/1"), "-->", entry("http://a.example/2"), "<!-- ", entry("/3"))
    assert read_sitemap(body, HERE).urls == ("http://a.example/2",)


def test_pages_and_sitemaps_in_one_file() -> None:
    body = b"<sitemapindex><sitemap><loc>/s.xml</loc></sitemap><url><loc>/p</loc></url></sitemapindex>"
    assert read_sitemap(body, HERE) == Sitemap(("http://a.example/p",), ("http://a.example/s.xml",))
    assert read_sitemap(b"<sitemapindex><loc>/s.xml</loc></sitemapindex>", HERE).sitemaps == ("http://a.example/s.xml",)


def test_feeds_list_their_entries() -> None:
    rss = b"<rss><channel><link>http://a.example/</link><item><link>/1</link><guid>/x</guid></item></channel></rss>"
    assert read_sitemap(rss, HERE).urls == ("http://a.example/", "http://a.example/1")
    atom = b'<feed><link rel="self" href="/feed"/><entry><link href="/1"/><link rel="edit" href="/e"/></entry></feed>'
    assert read_sitemap(atom, HERE).urls == ("http://a.example/1",)


def test_the_number_of_urls_is_limited() -> None:
    body = urlset(*(entry(f"/{number}") for number in range(100)))
    assert len(read_sitemap(body, HERE, max_urls=7).urls) == 7
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


def filled(beginning: bytes, unit: bytes, end: bytes = b"") -> bytes:
    """As much as is read of a file, filled up with one thing."""
    n_units = (READ_BYTES - len(beginning) - len(end)) // len(unit)
    return beginning + unit * n_units + end


#: Each is as long as can be and finds no page.
HOSTILE = {
    "bomb": lambda: gzip.compress(b"<urlset>" + bytes(4 * READ_BYTES)),
    "bomb of blanks": lambda: gzip.compress(filled(b"<urlset><url><loc>", b" ", b">")),
    "blanks in a tag": lambda: filled(b"<urlset><url><loc ", b" "),
    "blanks in many tags": lambda: filled(b"<urlset>", b"<loc>" + b" " * 5_000 + b">"),
    "members": lambda: gzip.compress(b"") * 100_000,
    "comments": lambda: filled(b"<urlset>", b"<!---->"),
    "open comments": lambda: filled(b"<urlset>", b"<!--"),
    "open tags": lambda: filled(b"<urlset>", b"<loc "),
    "tags": lambda: filled(b"<urlset>", b"<loc>"),
    "nothing but tags' beginnings": lambda: filled(b"<urlset>", b"<"),
    "other hosts": lambda: filled(b"<urlset>", b"<loc>http://b.example/</loc>"),
    "entities": lambda: filled(b"<urlset>", b"<loc>//b/" + b"&#999;" * 600 + b"</loc>"),
    "what is no entity": lambda: filled(b"<urlset>", b"<loc>//b/" + b"&a" * 1_900 + b"</loc>"),
    "number": lambda: filled(b"<urlset><loc>&#", b"9", b";</loc>"),
    "prefixes": lambda: filled(b"<urlset>", b"<a:"),
    "long prefixes": lambda: filled(b"", b"<" + b"a" * 51),
    "links": lambda: filled(b"<feed>", b"<link href=", b">"),
    "links elsewhere": lambda: filled(b"<feed>", b"<link href='//b'/>"),
    "attributes": lambda: filled(b"<feed><link ", b"rel=' ", b"><"),
    "spaces": lambda: filled(b"<feed><link href", b" ", b"><"),
    "name": lambda: filled(b"<", b"a"),
    "blank": lambda: filled(b"", b" ", b"<urlset>"),
    "empty lines": lambda: filled(b"x", b"\n"),
    "a blank line": lambda: filled(b"x\n", b" "),
    "lines elsewhere": lambda: filled(b"", b"http://b\n"),
}


@pytest.mark.parametrize("name", few_of(HOSTILE, 5))
def test_hostile_sitemaps_take_bounded_time(name: str) -> None:
    body = HOSTILE[name]()
    found: list[Sitemap] = []
    # Measured 0.9 s at most.
    assert cpu_cost_s(lambda: found.append(read_sitemap(body, HERE)), 2) < 2
    assert found[0].urls == found[0].sitemaps == ()


def test_a_compression_bomb_takes_bounded_memory() -> None:
    bomb = gzip.compress(bytes(8 * READ_BYTES), compresslevel=1)
    tracemalloc.start()
    read_sitemap(bomb, HERE)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 5 * READ_BYTES


@given(
    st.binary(max_size=300) | st.from_regex(r"<(urlset|rss|feed)>(<(loc|link|url)[ >/]?[^\x00]{0,9})*").map(str.encode)
)
def test_no_input_raises(body: bytes) -> None:
    read_sitemap(body, HERE)
    read_sitemap(b"\x1f\x8b" + body, HERE)
