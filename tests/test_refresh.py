"""Declarative refreshes, in pages and headers: redirects, links, or nothing."""

from pathlib import Path
from typing import Any

import pytest

from parsed_page import URL
from scenthound.crawler.scope import Scope
from scenthound.reasons import SkipReason
from scenthound.store.batches import RawPage
from scenthound.store.builder import web_of
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.record import open_web
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import parse_html
from scenthound.web.refresh import MAX_REDIRECT_DELAY_S, Refresh, refresh_of
from test_live_parity import simulated_urls
from virtual_site import VirtualSite, crawl_virtually, page_of_words, plan, random_site, visited_urls

A, B, C, D = (f"http://a.test/{name}" for name in "abcd")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0;url=b", Refresh(0, B)),
        ("0; URL = 'b' x", Refresh(0, B)),
        (' 5 , url="b"', Refresh(5, B)),
        ("0 b", Refresh(0, B)),
        ("0;b", Refresh(0, B)),
        ("0;url", Refresh(0, "http://a.test/url")),
        ("2.9;url=b#x", Refresh(2, B)),
        (".5;url=b", Refresh(0, B)),
        ("99999999999999999999;url=b", Refresh(999_999_999, B)),
        ("0;url=http://b.test", Refresh(0, "http://b.test/")),
        ("5", None),
        ("0;", None),
        ("0;url=", None),
        ("0;url=''", None),
        ("0url=b", None),
        ("-1;url=b", None),
        ("x;url=b", None),
        ("", None),
        ("0;url=a", None),
        ("0;url=#top", None),
        ("0;url=javascript:x()", None),
    ],
)
def test_a_refresh_is_read_as_browsers_do(value: str, expected: Refresh | None) -> None:
    assert refresh_of(value, A) == expected


def test_very_long_values_take_linear_time() -> None:
    for value in ("0" * 500_000, " " * 500_000, "0" + " " * 500_000 + "x", "0;url" + " " * 500_000):
        refresh_of(value, A)


def meta(value: str) -> str:
    return f'<meta http-equiv=refresh content="{value}">'


@pytest.mark.parametrize(
    ("html", "target"),
    [
        (meta("0;url=/b"), "/b"),
        ("<p>dog" + meta("0;url=/b"), "/b"),
        (meta("x") + meta("0;url=/b") + meta("0;url=/c"), "/b"),
        ("<base href=/dir/>" + meta("0;url=b"), "/dir/b"),
        (f"<head><noscript>{meta('0;url=/b')}</noscript></head>", None),
        (f"<body><noscript><p>{meta('0;url=/b')}</noscript>", None),
        (f"<template>{meta('0;url=/b')}</template>", None),
        (f"<!-- {meta('0;url=/b')} --><script>{meta('0;url=/b')}</script>", None),
        ("<meta http-equiv=x content='0;url=/b'><meta name=refresh content='0;url=/b'>", None),
        (meta("5;url="), None),
    ],
)
def test_the_first_refresh_of_a_page_counts_unless_it_is_for_browsers_without_scripts(
    html: str, target: str | None
) -> None:
    scanner = WordScanner()
    refresh = parse_html(f"{html}<p>cat", URL, scanner).refresh
    expected = None if target is None else Refresh(0, URL[: URL.index("/", len("https://"))] + target)
    assert refresh == expected


def test_a_late_refresh_is_the_last_link_of_the_page() -> None:
    page = parse_html(f"{meta(f'{MAX_REDIRECT_DELAY_S + 1};url=/c')}<a href=/b>b</a> dog", A, WordScanner())
    assert page.links == [B, C]
    assert (page.link_start.tolist(), page.link_end.tolist()) == ([0, 2], [1, 2])
    assert page.link_nofollow.tolist() == [False, False]


def crawled(folder: Path, site: VirtualSite, **settings: Any) -> list[str]:
    crawl_virtually(folder, plan((A,), **settings), site)
    return visited_urls(folder)


def skipped(folder: Path) -> dict[str, SkipReason]:
    with CrawlStore.open(folder) as store:
        return {row.url: row.reason for row in store.skipped()}


def test_a_page_that_refreshes_soon_is_a_redirect(tmp_path: Path) -> None:
    pages = {A: page_of_words("a", [B], 1), B: meta(f"{MAX_REDIRECT_DELAY_S};url={C}"), C: page_of_words("c", [], 2)}
    site = VirtualSite(pages)
    assert crawled(tmp_path / "crawl", site) == [A, C]
    assert site.requests[B] == site.requests[C] == 1
    assert skipped(tmp_path / "crawl") == {}


def test_a_late_refresh_is_a_link(tmp_path: Path) -> None:
    site = VirtualSite({A: meta(f"60;url={B}") + "<p>sea", B: meta("60") + "<p>wave"})
    assert crawled(tmp_path / "crawl", site) == [A, B]


@pytest.mark.parametrize(("value", "visited"), [(f"1; url={B}", [B]), (f"60; url={B}", [A]), ("0", [A])])
def test_the_refresh_header_counts_too(value: str, visited: list[str], tmp_path: Path) -> None:
    site = VirtualSite({B: "<p>wave"})
    site.others[A] = (200, f"Content-Type: text/html\r\nRefresh: {value}", b"<p>sea")
    assert crawled(tmp_path / "crawl", site) == visited


def test_refreshes_have_the_limits_and_the_scope_of_redirects(tmp_path: Path) -> None:
    site = VirtualSite({A: meta(f"0;url={B}"), B: meta(f"0;url={A}")})
    assert crawled(tmp_path / "loop", site) == []
    assert list(skipped(tmp_path / "loop").values()) == [SkipReason.REDIRECT_LOOP]
    assert crawled(tmp_path / "none", VirtualSite({A: meta(f"0;url={B}"), B: "<p>sea"}), redirects=0) == []
    assert list(skipped(tmp_path / "none").values()) == [SkipReason.REDIRECT_LOOP]
    site = VirtualSite({A: meta("0;url=http://b.test/")})
    assert crawled(tmp_path / "scope", site, scope=Scope.of(allow_domain=["a.test"])) == []
    assert list(skipped(tmp_path / "scope").values()) == [SkipReason.OUT_OF_SCOPE]


def test_recordings_treat_refreshes_alike() -> None:
    web = web_of(
        [
            RawPage(A, html=meta(f"0;url={B}"), aliases=(D,)),
            RawPage(B, html="<p>sea"),
            RawPage(C, html=meta(f"0;url={B}"), topics=("sea",)),
        ]
    )
    assert web.page_of(A) == web.page_of(D) == web.page_of(B) is not None
    assert web.page_of(C) not in (None, web.page_of(B)), "a labelled page stays"


def test_a_crawl_is_recorded_with_the_refreshes_that_it_followed(tmp_path: Path) -> None:
    pages = {A: page_of_words("a", [B, C, D], 1), B: meta(f"0;url={C}"), C: page_of_words("c", [], 2)}
    site = VirtualSite(pages)
    site.others[D] = (200, f"Content-Type: text/html\r\nRefresh: 0; url={C}", b"<p>wave")
    assert crawled(tmp_path / "crawl", site) == [A, C]
    web = open_web(tmp_path / "crawl")
    assert web.page_of(B) == web.page_of(C) == web.page_of(D) is not None


@pytest.mark.parametrize("strategy", ["breadth_first", "best_first", "otie"])
def test_live_visits_are_the_simulated_ones_with_refreshes(strategy: str, tmp_path: Path) -> None:
    site = random_site(4)
    simulated = VirtualSite(dict(site.pages), dict(site.redirects))
    live = VirtualSite(site.pages | {url: meta(f"0;url={target}") for url, target in site.redirects.items()})
    seeds = tuple(list(site.pages)[:2])
    settings = plan(seeds, strategy=strategy, relevance="cosine", random_seed=3, page_budget=40)
    crawl_virtually(tmp_path / "crawl", settings, live, stems=list(simulated.recorded().vocabulary))
    assert visited_urls(tmp_path / "crawl") == simulated_urls(simulated, strategy, "cosine", seeds)
    assert visited_urls(tmp_path / "crawl") == simulated_urls(live, strategy, "cosine", seeds)
