"""The demo, on a part of its web: live crawls and simulated ones, judged together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scenthound.crawler.plan import DEFAULT_STRATEGY
from scenthound.experiments.demo import run as demo_module
from scenthound.experiments.demo.run import MARK, Demo, Manner
from scenthound.experiments.demo.web import load_demo_topics, write_demo_pages
from scenthound.reasons import SkipReason
from scenthound.store.stored_crawl import StoredCrawl

Call = Callable[..., tuple[int, str, str]]
MODULES = ["bz2", "gzip", "io", "lzma", "os", "shutil", "struct", "tarfile", "time", "zipfile", "zipimport", "zlib"]


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """One topic, a dozen pages, two strategies."""
    topics = [topic for topic in load_demo_topics() if topic.id == "compression"]
    monkeypatch.setattr(demo_module, "load_demo_topics", lambda: topics)
    monkeypatch.setattr(
        demo_module, "write_demo_pages", lambda path, progress: write_demo_pages(path, progress, MODULES)
    )
    monkeypatch.setattr(demo_module, "DEMO_STRATEGIES", ("breadth_first", DEFAULT_STRATEGY))
    monkeypatch.setattr(demo_module, "CHECKPOINTS", (4,))


@contextmanager
def unseen(_title: str) -> Iterator[Callable[..., None]]:
    yield lambda *_: None


@pytest.mark.usefixtures("small_demo")
def test_live_crawls_are_judged_beside_simulated_ones(tmp_path: Path) -> None:
    said: list[str] = []
    result = Demo(tmp_path / "demo", say=said.append, shown=unseen, watched=unseen).make(page_budget=8)
    assert result.evaluation is not None
    names = [one.strategy for one in result.evaluation.results]
    assert names == ["breadth_first", DEFAULT_STRATEGY, Manner.USUAL, Manner.STRICT]
    assert result.evaluation.checkpoints == (4, 8)
    crawl, strict = result.crawls
    recall = result.evaluation.results[2].curves["target_recall"].mean[-1]
    assert recall == crawl.n_targets_found / crawl.n_targets > 0
    with StoredCrawl.open(tmp_path / "demo" / "crawls" / "compression") as stored:
        assert stored.counts().visits == len(crawl.trace) == 8
    # In strict order the visits are those of the simulated twin, and so are the curves.
    assert result.n_like_simulated == 1
    recalls = {one.strategy: one.curves["target_recall"].mean.tolist() for one in result.evaluation.results}
    assert recalls[Manner.STRICT] == recalls[DEFAULT_STRATEGY]
    assert strict.manner is Manner.STRICT
    assert any("12 pages on 12 hosts" in line for line in said)


@pytest.mark.usefixtures("small_demo")
def test_the_command_prints_tables_and_draws_curves(tmp_path: Path, scenthound: Call) -> None:
    code, out, err = scenthound("demo", "--out", tmp_path / "demo", "--pages", 6)
    assert code == 0, err
    assert "target recall" in out.lower()
    assert Manner.STRICT in out
    assert "that it makes simulated, for 1 of 1 topics" in out
    assert f"scenthound explain {tmp_path / 'demo' / 'crawls' / 'compression'} " in out
    assert (tmp_path / "demo" / "curves.png").stat().st_size > 0
    for place in ("run", "crawls/compression"):
        report = tmp_path / "demo" / place / "report.html"
        assert str(report) in out
        assert report.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert f"scenthound report {tmp_path / 'demo' / 'crawls' / 'compression'} " in out
    # A folder of the demo's own is replaced without a question.
    assert scenthound("demo", "--out", tmp_path / "demo", "--pages", 6)[0] == 0


def test_a_folder_that_is_not_the_demos_is_left_alone(tmp_path: Path, scenthound: Call) -> None:
    (tmp_path / "mine").mkdir()
    code, _, err = scenthound("demo", "--out", tmp_path / "mine")
    assert code == 2
    assert "is left alone" in err
    assert not (tmp_path / "mine" / MARK).exists()


@pytest.mark.usefixtures("small_demo")
def test_the_demo_looks_up_no_name_but_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def note(host: str, *_: object, **__: object) -> list[str]:
        asked.append(host)
        return []

    monkeypatch.setattr("socket.getaddrinfo", note)
    result = Demo(tmp_path / "demo", say=lambda _: None, shown=unseen, watched=unseen).make(page_budget=12)
    # The dozen pages link to modules that are not among them, on hosts that nobody serves.
    assert all(crawl.summary.reasons[SkipReason.DNS_NOT_FOUND] > 0 for crawl in result.crawls)
    assert asked == []
