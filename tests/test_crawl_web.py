"""A crawl is a recorded web: its visited pages in order, its redirects as aliases, made anew when it has gone on."""

import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import InvalidInput
from scenthound.experiments.runs import RunFolder, simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.model import Topic
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.record import RecordSummary, open_web, record, web_of_crawl
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import write_topics
from stored_crawls import add_page, new_crawl, response, small_crawl, visit


def urls_of(web: RecordedWeb) -> list[str]:
    return [web.url(page) for page in range(web.n_pages)]


def noted_makings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one whenever a web is made."""
    made: list[object] = []

    def noted(files: list[Path], out: Path, **more: Any) -> RecordSummary:
        made.append(files)
        return record(files, out, **more)

    monkeypatch.setattr("scenthound.store.record.record", noted)
    return made


PAGES = ["http://a.test/", "http://a.test/dogs", "http://b.test/secret"]


def test_visited_pages_are_pages_in_order_and_redirects_are_aliases(tmp_path: Path) -> None:
    web = web_of_crawl(small_crawl(tmp_path / "crawl"))
    # The page that was not taken, the error and robots.txt are no pages.
    assert urls_of(web) == PAGES
    assert [web.page_of(f"http://a.test/{name}") for name in ("old", "older", "copy", "gone")] == [1, 1, None, None]
    assert web.path == tmp_path / "crawl" / "web"
    stems = [web.vocabulary[word] for word in web.words(1)]
    assert stems == ["café", "dog"]


def test_a_web_that_was_recorded_and_one_of_a_crawl_are_opened_alike(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    record([folder], tmp_path / "web")
    assert urls_of(open_web(tmp_path / "web")) == urls_of(open_web(folder)) == PAGES
    assert open_web(tmp_path / "web").fingerprint == open_web(folder).fingerprint
    with pytest.raises(InvalidInput, match="nothing"):
        open_web(tmp_path / "nothing")


def test_a_web_is_made_once_and_again_when_the_crawl_has_gone_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    made = noted_makings(monkeypatch)
    assert (web_of_crawl(folder).n_pages, web_of_crawl(folder).n_pages, len(made)) == (3, 3, 1)
    with CrawlStore.open(folder) as store:
        add_page(store, 3, response("http://a.test/late"))
        # What is not acknowledged does not count, and a crawl that is running is no hindrance.
        assert (web_of_crawl(folder).n_pages, len(made)) == (3, 1)
        store.commit()
        assert (urls_of(web_of_crawl(folder)), len(made)) == ([*PAGES, "http://a.test/late"], 2)


def test_a_damaged_web_is_made_again(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    web_of_crawl(folder)
    (folder / "web" / "web.json").write_bytes(b'{"format": "scenthound recorded web", "version": 1, "sources": 3}')
    assert web_of_crawl(folder).n_pages == 3


def test_a_web_whose_words_were_split_by_other_rules_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    web_of_crawl(folder)
    made = noted_makings(monkeypatch)
    monkeypatch.setattr("scenthound.store.record.TOKENIZER_VERSION", 99)
    assert (web_of_crawl(folder).n_pages, web_of_crawl(folder).n_pages, len(made)) == (3, 3, 1)


def test_the_web_of_a_crawl_that_cannot_be_written_is_made_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    made = noted_makings(monkeypatch)
    monkeypatch.setattr("os.access", lambda path, mode: not (mode & os.W_OK and Path(path) == folder))
    webs = [web_of_crawl(folder) for _ in range(2)]
    assert [urls_of(web) for web in webs] == [PAGES] * 2
    assert (len(made), (folder / "web").exists()) == (1, False)
    monkeypatch.undo()
    assert web_of_crawl(folder).fingerprint == webs[0].fingerprint


def test_of_several_that_want_the_web_at_once_one_makes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_crawl(tmp_path / "crawl")
    made = noted_makings(monkeypatch)
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(web_of_crawl(folder).n_pages)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [3, 3, 3]
    assert len(made) == 1


def test_compressed_pages_are_decoded_and_pages_of_a_recording_are_missing(tmp_path: Path) -> None:
    packed = ("Content-Encoding: gzip", "Content-Type: text/html; charset=iso-8859-1")
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([f"http://a.test/{number}" for number in range(3)])
        add_page(store, 0, response("http://a.test/0", gzip.compress(b"caf\xe9"), headers=packed))
        store.add(visit(1))
        # No Content-Type: a page if the crawl took it for one.
        add_page(store, 2, response("http://a.test/2", b"<p>dogs", headers=()))
        store.commit()
    web = web_of_crawl(tmp_path / "crawl")
    assert urls_of(web) == ["http://a.test/0", "http://a.test/2"]
    assert [web.vocabulary[int(web.words(page)[0])] for page in range(2)] == ["café", "dog"]


def test_the_requested_url_is_an_alias_even_without_an_archived_redirect(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls(["http://a.test/asked"])
        add_page(store, 0, response("http://a.test/"))
        store.commit()
    assert web_of_crawl(tmp_path / "crawl").page_of("http://a.test/asked") == 0


def test_a_crawl_without_pages_is_rejected(tmp_path: Path) -> None:
    new_crawl(tmp_path / "crawl").close()
    with pytest.raises(InvalidInput, match=str(tmp_path / "crawl")):
        web_of_crawl(tmp_path / "crawl")


def test_crawls_and_files_can_be_recorded_together(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    (tmp_path / "more.jsonl").write_text('{"url": "http://c.test/", "html": "cats"}\n')
    summary = record([folder, tmp_path / "more.jsonl"], tmp_path / "web")
    assert (summary.pages, summary.aliases) == (4, 2)
    assert summary.skipped["warcinfo record"].count == 1
    assert sorted(skipped.count for skipped in summary.skipped.values()) == [1, 3]


def test_a_crawl_can_be_simulated_on_and_the_run_evaluated_at_once(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    topic = Topic("dogs", keywords=("dogs",), examples=("http://a.test/",))
    write_topics(tmp_path / "topics.jsonl", [topic])
    topics = TopicChoice(tmp_path / "topics.jsonl")
    setup = ExperimentSetup(web=folder, topics=topics, strategies=("breadth_first",), n_start=1)
    simulated = simulate_topics(setup, tmp_path / "run", workers=1)
    (trace,) = RunFolder.open(tmp_path / "run").traces()
    assert simulated.n_pages == len(trace) == 3
    # Moved away, the crawl is named by its folder.
    folder.rename(tmp_path / "moved")
    (again,) = RunFolder.open(tmp_path / "run", tmp_path / "moved").traces()
    assert again.pages.tolist() == trace.pages.tolist()


def test_a_run_on_a_crawl_that_cannot_be_written_can_be_evaluated_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_crawl(tmp_path / "crawl")
    monkeypatch.setattr("os.access", lambda path, mode: not (mode & os.W_OK and Path(path) == folder))
    topic = Topic("dogs", keywords=("dogs",), examples=("http://a.test/",))
    write_topics(tmp_path / "topics.jsonl", [topic])
    topics = TopicChoice(tmp_path / "topics.jsonl")
    setup = ExperimentSetup(web=folder, topics=topics, strategies=("breadth_first",), n_start=1)
    simulate_topics(setup, tmp_path / "run", workers=1)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["web"] == str(folder.resolve())
    (trace,) = RunFolder.open(tmp_path / "run").traces()
    assert len(trace) == 3
