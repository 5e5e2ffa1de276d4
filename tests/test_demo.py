"""The demo on a part of its web: live and simulated crawls, evaluated together."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import scenthound as sh
from scenthound.crawler.options import DEFAULT_STRATEGY
from scenthound.experiments.demo import run as demo_module
from scenthound.experiments.demo.run import MARK, Demo, LiveMode
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
def hidden(_title: str) -> Iterator[Callable[..., None]]:
    yield lambda *_: None


@pytest.mark.usefixtures("small_demo")
def test_live_crawls_are_evaluated_together_with_simulated_ones(tmp_path: Path) -> None:
    lines: list[str] = []
    result = Demo(tmp_path / "demo", say=lines.append, show_progress=hidden, show_crawl=hidden).make(page_budget=8)
    assert result.evaluation is not None
    names = [one.strategy for one in result.evaluation.results]
    assert names == ["breadth_first", DEFAULT_STRATEGY, LiveMode.DEFAULT, LiveMode.STRICT]
    assert result.evaluation.checkpoints == (4, 8)
    crawl, strict = result.crawls
    recall = result.evaluation.results[2].curves["target_recall"].mean[-1]
    assert recall == crawl.n_targets_found / crawl.n_targets > 0
    with StoredCrawl.open(tmp_path / "demo" / "crawls" / "compression") as stored:
        assert stored.n_visits() == len(crawl.trace) == 8
    # In strict order the visits are those of the simulated twin, and so are the curves.
    assert result.n_like_simulated == 1
    recalls = {one.strategy: one.curves["target_recall"].mean.tolist() for one in result.evaluation.results}
    assert recalls[LiveMode.STRICT] == recalls[DEFAULT_STRATEGY]
    assert strict.trace.strategy == LiveMode.STRICT
    assert any(re.search(r"\b12\b.*\b12\b", line) for line in lines)


@pytest.mark.usefixtures("small_demo")
def test_the_command_prints_tables_and_draws_curves(tmp_path: Path, scenthound: Call) -> None:
    code, out, err = scenthound("demo", "--out", tmp_path / "demo", "--pages", 6)
    assert code == 0, err
    assert "target recall" in out.lower()
    assert LiveMode.STRICT in out
    assert "1 of 1" in out
    assert f"scenthound explain {tmp_path / 'demo' / 'crawls' / 'compression'} " in out
    assert (tmp_path / "demo" / "curves.png").stat().st_size > 0
    for folder in ("run", "crawls/compression"):
        report = tmp_path / "demo" / folder / "report.html"
        assert str(report) in out
        assert report.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert f"scenthound report {tmp_path / 'demo' / 'crawls' / 'compression'} " in out
    # A folder of the demo is replaced.
    assert scenthound("demo", "--out", tmp_path / "demo", "--pages", 6)[0] == 0


def test_a_folder_that_the_demo_did_not_make_is_not_changed(tmp_path: Path, scenthound: Call) -> None:
    (tmp_path / "mine").mkdir()
    code, _, err = scenthound("demo", "--out", tmp_path / "mine")
    assert code == 2
    assert str(tmp_path / "mine") in err
    assert "--out" in err
    assert not (tmp_path / "mine" / MARK).exists()


@pytest.mark.usefixtures("small_demo")
def test_the_demo_resolves_only_its_own_host_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[str] = []

    def note(host: str, *_: object, **__: object) -> list[str]:
        resolved.append(host)
        return []

    monkeypatch.setattr("socket.getaddrinfo", note)
    result = Demo(tmp_path / "demo", say=lambda _: None, show_progress=hidden, show_crawl=hidden).make(page_budget=12)
    # The pages link to modules that are not among them, on hosts that are not served.
    assert all(crawl.summary.reasons[SkipReason.DNS_NOT_FOUND] > 0 for crawl in result.crawls)
    assert resolved == []


@pytest.mark.usefixtures("small_demo")
def test_the_web_is_served_for_crawls_of_the_user(
    tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "demo"
    crawls: list[sh.Crawl] = []

    def crawl_meanwhile() -> None:
        (port,) = re.findall(r"--seed http://socket\.test:(\d+)/", capsys.readouterr().out)
        named = {
            "hosts": folder / "hosts",
            "allow_private": True,
            "delay": 0.0,
            "out": tmp_path / f"crawl{len(crawls)}",
        }
        crawls.append(sh.crawl("compression", f"http://gzip.test:{port}/gzip.html", pages=5, **named))

    monkeypatch.setattr("scenthound.cli.demo.wait_for_interrupt", crawl_meanwhile)
    assert scenthound("demo", "--serve", "--out", folder)[0] == 0
    recorded = (folder / "web" / "web.json").stat().st_mtime_ns
    # The web is made once.
    assert scenthound("demo", "--serve", "--out", folder)[0] == 0
    assert (folder / "web" / "web.json").stat().st_mtime_ns == recorded
    assert [len(crawl) for crawl in crawls] == [5, 5]
    assert next(document.title for document in crawls[0].documents()) == "Python: module gzip"
    assert (folder / "topics.toml").exists()


def test_a_port_is_for_a_web_that_is_served(tmp_path: Path, scenthound: Call) -> None:
    assert scenthound("demo", "--port", 8780, "--out", tmp_path / "demo")[0] == 2
    assert not (tmp_path / "demo").exists()
