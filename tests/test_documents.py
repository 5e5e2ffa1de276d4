"""The documents of a corpus: extracted once, filtered, compared, and counted."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import scenthound as sh
from corpus_crawls import ENGLISH, GERMAN, crawl_of, page
from scenthound.corpus import extraction
from scenthound.corpus.documents import Document, Documents, DocumentSettings, Selection, document_id
from scenthound.corpus.extraction import ExtractionWorker
from scenthound.corpus.extraction_cache import CACHE_FILE
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName, UsageError
from scenthound.options import check
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import add_page, new_crawl, response


def documents_of(folder: Path, selection: Selection | None = None, **settings: Any) -> tuple[list[Document], Any]:
    with StoredCrawl.open(folder) as crawl:
        documents = Documents(crawl, selection, DocumentSettings(workers=1, **settings))
        return list(documents), documents.counts


@pytest.fixture(scope="module")
def balloons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An English page, its copy with a word changed, a German one, and one of three numbers."""
    bodies = [page(3 * ENGLISH), page(3 * ENGLISH + "Indeed."), page(3 * GERMAN), page("12 34 56")]
    return crawl_of(tmp_path_factory.mktemp("crawls") / "balloons", bodies)


def test_documents_have_text_language_and_provenance(balloons: Path) -> None:
    (english, copy, german, short), counts = documents_of(balloons)
    assert english.text.startswith("Hot air balloons rise because")
    assert (english.language, german.language) == ("en", "de")
    assert (english.id, english.url) == (document_id("http://a.test/0"), "http://a.test/0")
    assert english.n_words == len(english.text.split())
    assert (copy.duplicate_of, english.duplicate_of, german.duplicate_of) == ("http://a.test/0", None, None)
    assert (short.text, short.html) == ("12 34 56", None)
    assert (counts.written, counts.n_duplicates, counts.dropped) == (4, 1, {})
    with StoredCrawl.open(balloons) as crawl:
        location = next(crawl.visits()).location
        assert location is not None
        assert english.metadata["warc_record_id"] == crawl.archive.record(location).record_id


@pytest.mark.parametrize(
    ("selection", "kept", "dropped"),
    [
        (Selection(language=("de",)), [2], {"language": 3}),
        (Selection(language=("de", "en")), [0, 1, 2], {"language": 1}),
        (Selection(min_words=10), [0, 1, 2], {"words": 1}),
        (Selection(deduplicate=True), [0, 2, 3], {"near-duplicate": 1}),
        (Selection(quality_rules=("few_words",)), [0, 1, 2], {"quality: few_words": 1}),
        (Selection(language=("en",), deduplicate=True), [0], {"language": 2, "near-duplicate": 1}),
        (Selection(min_relevance=0.6), [], {"relevance": 4}),
    ],
)
def test_every_page_that_is_left_out_is_counted_by_its_reason(
    balloons: Path, selection: Selection, kept: list[int], dropped: dict[str, int]
) -> None:
    documents, counts = documents_of(balloons, selection)
    assert [document.url for document in documents] == [f"http://a.test/{number}" for number in kept]
    assert counts.dropped == dropped


def test_a_copy_of_a_page_that_is_left_out_is_kept(tmp_path: Path) -> None:
    folder = crawl_of(tmp_path / "crawl", [page(3 * ENGLISH), page(3 * ENGLISH)])
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database, database:
        database.execute("UPDATE visit SET relevance = 0.1 WHERE visit = 0")
    (copy,), counts = documents_of(folder, Selection(min_relevance=0.5, deduplicate=True))
    assert (copy.url, copy.duplicate_of) == ("http://a.test/1", None)
    assert counts.dropped == {"relevance": 1}


def test_a_second_export_extracts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = crawl_of(tmp_path / "crawl", [page(ENGLISH), page(GERMAN)])
    first, _ = documents_of(folder)

    def no_workers(*_: object) -> None:
        raise AssertionError("a worker was started")

    monkeypatch.setattr("scenthound.processes._Remote", no_workers)
    assert documents_of(folder)[0] == first
    assert (folder / CACHE_FILE).is_file()


@pytest.mark.parametrize("obstacle", ["a folder", "a link", "another database", "no database"])
def test_without_a_cache_texts_are_extracted_all_the_same(tmp_path: Path, obstacle: str) -> None:
    folder = crawl_of(tmp_path / "crawl", [page(ENGLISH)])
    cache, elsewhere = folder / CACHE_FILE, tmp_path / "elsewhere"
    if obstacle == "a folder":
        cache.mkdir()
    elif obstacle == "a link":
        cache.symlink_to(elsewhere)
    elif obstacle == "another database":
        with closing(sqlite3.connect(cache)) as database, database:
            database.execute("CREATE TABLE mine (x)")
    else:
        cache.write_text("mine" * 1000)
    content = cache.read_bytes() if cache.is_file() else b""
    assert [document.language for document in documents_of(folder)[0]] == ["en"]
    assert not elsewhere.exists()
    assert (cache.read_bytes() if cache.is_file() else b"") == content


def test_texts_of_other_versions_are_extracted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = crawl_of(tmp_path / "crawl", [page(ENGLISH)])
    documents_of(folder)
    with closing(sqlite3.connect(folder / CACHE_FILE)) as cache, cache:
        cache.execute("UPDATE text SET way = 'older'")
    documents_of(folder)
    with closing(sqlite3.connect(folder / CACHE_FILE)) as cache, cache:
        assert "older" not in [way for (way,) in cache.execute("SELECT way FROM text")]
        assert cache.execute("SELECT count(*) FROM text").fetchone() == (1,)


class Hostile(ExtractionWorker):
    """Dies at some pages."""

    def __call__(self, location: Any) -> Any:
        if b"dies" in self._archive.record(location).content:
            os.abort()
        return super().__call__(location)


def loops_forever(*_: object, **__: object) -> None:
    while True:
        pass


class Slow(ExtractionWorker):
    """Has a text extractor without an end for some pages."""

    def __call__(self, location: Any) -> Any:
        extraction.PAGE_CPU_S = 1.0
        if b"hangs" in self._archive.record(location).content:
            extraction.extract = loops_forever  # type: ignore[assignment]
        return super().__call__(location)


class Failing(ExtractionWorker):
    def __call__(self, location: Any) -> Any:
        if b"fails" in self._archive.record(location).content:
            extraction.signature_of = None  # type: ignore[assignment]
        return super().__call__(location)


@pytest.mark.parametrize(
    ("worker", "word", "reason"),
    [
        (Hostile, "dies", "extraction failed"),
        (Slow, "hangs", "extraction timed out"),
        (Failing, "fails", "extraction failed"),
    ],
)
def test_a_page_that_breaks_the_extractor_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: Callable[..., Any], word: str, reason: str
) -> None:
    bodies = [page(ENGLISH), page(f"This page {word}."), *([page(GERMAN)] if worker is not Failing else [])]
    folder = crawl_of(tmp_path / "crawl", bodies)
    monkeypatch.setattr(extraction, "ExtractionWorker", worker)
    documents, counts = documents_of(folder)
    assert [document.language for document in documents] == ["en", "de"][: len(bodies) - 1]
    assert counts.dropped == {reason: 1}


def test_a_page_that_took_too_long_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = crawl_of(tmp_path / "crawl", [page("This page hangs.")])
    with monkeypatch.context() as slow:
        slow.setattr(extraction, "ExtractionWorker", Slow)
        documents_of(folder)
    # It would be fast now.
    assert documents_of(folder)[1].dropped == {"extraction timed out": 1}


@pytest.mark.parametrize(
    "damage", ["packed = x'0011'", "signature = x'0011'", "packed = 'text'", "packed = zeroblob(9)", "signature = 1.5"]
)
def test_damaged_texts_of_the_cache_are_extracted_again(tmp_path: Path, damage: str) -> None:
    folder = crawl_of(tmp_path / "crawl", [page(ENGLISH)])
    first, _ = documents_of(folder)
    with closing(sqlite3.connect(folder / CACHE_FILE)) as cache, cache:
        cache.execute(f"UPDATE text SET {damage}")
    assert documents_of(folder)[0] == first


def test_the_text_of_another_response_at_the_same_location_is_not_used(tmp_path: Path) -> None:
    folder, other = tmp_path / "crawl", tmp_path / "other"
    documents_of(crawl_of(folder, [page(ENGLISH)]))
    cache = (folder / CACHE_FILE).read_bytes()
    crawl_of(other, [page(GERMAN)])
    (other / CACHE_FILE).write_bytes(cache)
    assert [document.language for document in documents_of(other)[0]] == ["de"]
    with closing(sqlite3.connect(other / CACHE_FILE)) as database, database:
        # A visit at another time, of the same length.
        database.execute("UPDATE text SET packed = (SELECT packed FROM text), time_s = time_s + 1")
    assert [document.language for document in documents_of(other)[0]] == ["de"]


def test_scores_that_are_not_finite_are_missing(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls(["http://a.test/"])
        add_page(store, 0, response(body=page(ENGLISH)), score=float("inf"))
        store.commit()
    (document,), _ = documents_of(tmp_path / "crawl")
    assert document.metadata["score"] is None


def test_a_damaged_archive_ends_the_work_with_one_line(tmp_path: Path) -> None:
    folder = crawl_of(tmp_path / "crawl", [page(ENGLISH)])
    (archive,) = (folder / "archive").glob("*.warc.gz")
    content = archive.read_bytes()
    archive.write_bytes(content[:-40] + bytes(40))
    with pytest.raises(InvalidInput, match="damaged"):
        documents_of(folder)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"min_relevance": 1.5}, InvalidParameter),
        ({"min_words": -1}, InvalidParameter),
        ({"language": ("english",)}, UnknownName),
        ({"language": ("xx",)}, UnknownName),
        ({"quality_rules": ("few_word",)}, UnknownName),
    ],
)
def test_values_out_of_range_are_rejected(values: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        check(Selection(**values))


def test_on_topic_needs_a_model_that_can_tell(balloons: Path) -> None:
    with pytest.raises(UsageError, match="--min-relevance"):
        documents_of(balloons, Selection(on_topic=True))


def test_the_api_gives_documents_as_a_table(balloons: Path) -> None:
    crawl = sh.open_crawl(balloons)
    table = crawl.documents(language="en", workers=1)
    assert [document.url for document in table] == ["http://a.test/0", "http://a.test/1"]
    frame = table.to_pandas()
    assert frame["n_words"].tolist() == [document.n_words for document in table]
    assert frame["duplicate_of"].tolist()[1] == "http://a.test/0"
    assert table.to_polars()["language"].to_list() == ["en", "en"]
    assert {"quality", "aliases", "metadata"} <= set(frame.columns)
    assert frame["metadata"][1]["visit"] == 1
    assert len(crawl.documents(language="EN", workers=1)) == 2
    with pytest.raises(TypeError, match="languages"):
        crawl.documents(languages="en")
    with pytest.raises(UnknownName):
        crawl.documents(quality_rules="nonsense")


def test_documents_and_metadata_are_json(balloons: Path) -> None:
    (first, *_), _ = documents_of(balloons)
    assert json.loads(json.dumps(first.metadata)) == first.metadata
    assert replace(first, html="x").html == "x"
