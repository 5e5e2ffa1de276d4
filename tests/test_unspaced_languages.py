"""Crawls of pages in languages without spaces between words: on-topic pages are found, called so, and can be searched."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

import scenthound as sh
from scenthound.model import Topic
from scenthound.relevance.cosine import Cosine
from scenthound.store.search_index import PageSearch
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vectors import word_norm
from scenthound.web.near_duplicates import fingerprint_of, plain_fingerprint_of
from scenthound.web.soft_404 import is_soft_404
from scenthound.web.static_server import StaticServer, pages_of
from timing import cpu_ratio
from unspaced_texts import BALLOONS, JAPANESE, JapanesePage, html_of, japanese_web

N_PAGES = 20


@pytest.fixture(scope="module")
def pages() -> dict[str, JapanesePage]:
    return japanese_web()


@pytest.fixture(scope="module")
def web(pages: dict[str, JapanesePage], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("japanese")
    lines = (orjson.dumps({"url": url, "html": html_of(page, pages)}) for url, page in pages.items())
    (folder / "pages.jsonl").write_bytes(b"\n".join(lines))
    sh.record([folder / "pages.jsonl"], folder / "web", progress=False)
    return folder / "web"


def start_pages(pages: dict[str, JapanesePage]) -> Iterator[str]:
    about = (url for url, page in pages.items() if page.topic == BALLOONS and "熱気球" in page.text)
    return itertools.islice(about, 3)


def n_on_topic(crawl: sh.Crawl, pages: dict[str, JapanesePage]) -> int:
    return sum(pages[row.url].topic == BALLOONS for row in crawl.pages)


def test_a_crawl_finds_more_pages_of_a_japanese_topic_than_breadth_first(
    web: Path, pages: dict[str, JapanesePage], tmp_path: Path
) -> None:
    topic = sh.Topic(keywords=["熱気球"])
    found, breadth_first = [], []
    for number, seed in enumerate(start_pages(pages)):
        options = {"web": web, "offline": True, "connections": 1, "pages": N_PAGES, "progress": False}
        crawl = sh.crawl(topic, seed, out=tmp_path / f"default-{number}", **options)
        found.append(n_on_topic(crawl, pages))
        other = sh.crawl(topic, seed, out=tmp_path / f"other-{number}", strategy="breadth_first", **options)
        breadth_first.append(n_on_topic(other, pages))
        called = [row.url for row in crawl.on_topic]
        assert sum(pages[url].topic == BALLOONS for url in called) >= 0.9 * found[-1]
        assert sum(pages[url].topic != BALLOONS for url in called) <= 3
    assert sum(found) >= 1.5 * sum(breadth_first)


def test_pages_of_a_live_crawl_are_called_on_topic_and_can_be_searched(tmp_path: Path) -> None:
    pages = japanese_web()
    with StaticServer(pages_of({url: html_of(page, pages) for url, page in pages.items()}), ["127.63.0.1"]) as server:
        here = {server.url(url): page for url, page in pages.items()}
        seed = server.url(next(start_pages(pages)))
        crawl = sh.crawl(
            sh.Topic(keywords=["熱気球"]),
            seed,
            out=tmp_path / "crawl",
            pages=N_PAGES,
            hosts={"ja.test": "127.63.0.1"},
            allow_private=True,
            delay=0,
            progress=False,
        )
        visited = [row.url for row in crawl.pages]
        assert len(visited) == N_PAGES
        called = [here[row.url].topic for row in crawl.on_topic]
        assert called.count(BALLOONS) >= 0.75 * len(called) > 0
    with StoredCrawl.open(tmp_path / "crawl") as stored, PageSearch.open(stored) as search:
        search.index_on(stored)
        hits = {visited[hit.visit] for hit in search.search("熱気球", limit=N_PAGES)}
        assert hits == {url for url in visited if "熱気球" in html_of(here[url], pages)}
