"""Pages in languages without spaces between words: they are found, called on topic, searched and compared."""

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
from scenthound.web.near_duplicates import fingerprint_of
from scenthound.web.parse import parse_html
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


@pytest.mark.parametrize("compiled", [False, True])
def test_a_large_page_takes_time_in_proportion_to_its_length(compiled: bool) -> None:
    if compiled:
        pytest.importorskip("compiled_code")
    scanner = WordScanner()
    if compiled:
        scanner.use_compiled()

    def read(html: bytes) -> None:
        page = parse_html(html, "http://a.test/", scanner, http_charset="utf-8")
        fingerprint_of(page.words, n_unspaced=page.n_unspaced)

    # A megabyte in UTF-8, with and without punctuation, and an eighth of it.
    for text in (japanese(350_000), "".join(filter(str.isalnum, japanese(380_000)))):
        large, small = f"<p>{text}".encode(), f"<p>{text[: len(text) // 8]}".encode()
        read(large)
        assert cpu_ratio(lambda html=large: read(html), lambda html=small: [read(html) for _ in range(8)], 3) < 3
