"""Pages in languages without spaces between words: they are found, called on topic, searched and compared."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import scenthound as sh
from scenthound.model import Topic
from scenthound.relevance.cosine import Cosine
from scenthound.store.search_index import PageSearch
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vectors import word_norm
from scenthound.web.near_duplicates import fingerprint_of
from scenthound.web.parse import parse_html
from scenthound.web.soft_404 import is_soft_404
from scenthound.web.static_server import StaticServer, pages_of
from timing import cpu_ratio
from unspaced_texts import BALLOONS, JAPANESE, japanese_web

N_PAGES = 20
ADDRESS = "127.63.0.1"


#: By URL, without a port.
PAGES = {f"http://ja.test/{name}": page for name, page in japanese_web().items()}


def about_balloons(url: str) -> bool:
    return PAGES[f"http://ja.test/{url.rpartition('/')[2]}"].topic == BALLOONS


def start_pages() -> list[str]:
    return [url for url, page in PAGES.items() if page.topic == BALLOONS and "熱気球" in page.text][:3]


def recorded(folder: Path, url_of: Callable[[str], str] = str) -> Path:
    """A recorded web of the pages."""
    lines = (orjson.dumps({"url": url_of(url), "html": page.html}) for url, page in PAGES.items())
    (folder / "pages.jsonl").write_bytes(b"\n".join(lines))
    sh.record([folder / "pages.jsonl"], folder / "web", progress=False)
    return folder / "web"


@pytest.fixture(scope="module")
def server() -> Iterator[StaticServer]:
    with StaticServer(pages_of({url: page.html for url, page in PAGES.items()}), [ADDRESS]) as served:
        yield served


def crawl_from(seed: str, out: Path, **options: Any) -> sh.Crawl:
    where = {"hosts": {"ja.test": ADDRESS}, "allow_private": True, "delay": 0, "progress": False}
    return sh.crawl(sh.Topic(keywords=["熱気球"]), seed, out=out, pages=N_PAGES, **where, **options)


def test_a_crawl_finds_more_pages_of_a_japanese_topic_than_breadth_first(tmp_path: Path) -> None:
    # With one connection: the links of a few pages would keep more of them busy, in any order.
    options = {"web": recorded(tmp_path), "offline": True, "connections": 1}
    n_found = n_breadth_first = 0
    for number, seed in enumerate(start_pages()):
        crawl = crawl_from(seed, tmp_path / f"default-{number}", **options)
        found = sum(about_balloons(row.url) for row in crawl.pages)
        other = crawl_from(seed, tmp_path / f"other-{number}", strategy="breadth_first", **options)
        n_found, n_breadth_first = (
            n_found + found,
            n_breadth_first + sum(about_balloons(row.url) for row in other.pages),
        )
        called = [about_balloons(row.url) for row in crawl.on_topic]
        assert called.count(True) >= 0.9 * found
        assert called.count(False) <= 3
    assert n_found >= 1.5 * n_breadth_first


def test_pages_of_a_live_crawl_are_called_on_topic_and_can_be_searched(server: StaticServer, tmp_path: Path) -> None:
    crawl = crawl_from(server.url(start_pages()[0]), tmp_path / "crawl")
    visited = [row.url for row in crawl.pages]
    assert len(visited) == N_PAGES
    called = [about_balloons(row.url) for row in crawl.on_topic]
    assert called.count(True) >= 0.75 * len(called) > 0
    with StoredCrawl.open(tmp_path / "crawl") as stored, PageSearch.open(stored) as search:
        search.index_on(stored)
        hits = {visited[hit.visit] for hit in search.search("熱気球", limit=N_PAGES)}
    html_of = {server.url(url): page.html for url, page in PAGES.items()}
    assert hits == {url for url in visited if "熱気球" in html_of[url]}


def test_a_live_crawl_visits_and_scores_pages_like_one_of_a_recording(server: StaticServer, tmp_path: Path) -> None:
    seed, web = server.url(start_pages()[0]), recorded(tmp_path, server.url)
    live = crawl_from(seed, tmp_path / "live", strict_order=True)
    offline = crawl_from(seed, tmp_path / "offline", strict_order=True, web=web, offline=True)
    scores = [[(row.url, row.relevance) for row in crawl.pages] for crawl in (live, offline)]
    assert scores[0] == scores[1]


def test_cosines_compare_bigrams() -> None:
    scanner = WordScanner()
    relevance = Cosine().for_topic(Topic("t", ("熱気球", "バーナー")), scanner)

    def score(text: str) -> float:
        words = scanner.scan(text)
        return relevance.page(words, word_norm(words))

    assert score("熱気球のバーナー") > score("熱気球の大会です") > score("陶芸の教室です") == 0


def japanese(n_characters: int) -> str:
    """Varied text of this length."""
    sentences = "".join(JAPANESE.values()).split()
    text = "".join(itertools.islice(itertools.cycle(sentences), n_characters // 10))
    assert len(text) >= n_characters
    return text[:n_characters]


def test_short_pages_have_no_fingerprint_and_long_ones_do() -> None:
    scanner = WordScanner()
    for n_characters, has_fingerprint in ((50, False), (90, False), (120, True), (100_000, True)):
        words = scanner.scan(japanese(n_characters))
        n_unspaced = scanner.count_unspaced(words)
        assert n_unspaced >= 0.9 * len(words)
        assert (fingerprint_of(words, n_unspaced=n_unspaced) is not None) == has_fingerprint


def test_two_bigrams_count_as_one_word_of_a_soft_404() -> None:
    title = "ページが見つかりません"
    assert is_soft_404(title, 700, "http://a.test/x", n_unspaced=650)
    assert not is_soft_404(title, 700, "http://a.test/x")
    assert not is_soft_404(title, 1_000, "http://a.test/x", n_unspaced=1_000)


def test_a_large_page_takes_time_in_proportion_to_its_length() -> None:
    scanner = WordScanner()

    def read(html: bytes) -> None:
        page = parse_html(html, "http://a.test/", scanner, http_charset="utf-8")
        fingerprint_of(page.words, n_unspaced=page.n_unspaced)

    # A megabyte in UTF-8, with and without punctuation, and an eighth of it.
    for text in (japanese(350_000), "".join(filter(str.isalnum, japanese(380_000)))):
        large, small = f"<p>{text}".encode(), f"<p>{text[: len(text) // 8]}".encode()
        read(large)
        assert cpu_ratio(lambda html=large: read(html), lambda html=small: [read(html) for _ in range(8)], 3) < 3
