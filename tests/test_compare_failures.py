"""Plug-ins that fail in a comparison: left out with a note where nobody named them, and an error where somebody did."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest

from comparisons import WantedComparison
from evolution_web import record_topical, write_topical
from scenthound.errors import LeakageError, PluginError
from scenthound.experiments.compare.comparison import compare_strategies
from scenthound.experiments.starts import TopicChoice
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.breadth_first import BreadthFirst

ALL = WantedComparison(page_budget=30, repeats=2, n_start=3)


class FailsAtOnce(BreadthFirst):
    summary = "Fails when it is told of the first page."

    def tell(self, visit):
        raise ZeroDivisionError("no\nluck")


class FailsLate(BreadthFirst):
    summary = "Fails on the twentieth page."
    n_told = 0

    def tell(self, visit):
        self.n_told += 1
        if self.n_told == 20:
            raise ZeroDivisionError("too late")
        super().tell(visit)


class FailsAgain(BreadthFirst):
    summary = "Fails in its second crawl, and in all after it."
    crawling: ClassVar[list[object]] = []

    def tell(self, visit):
        if self not in self.crawling:
            self.crawling.append(self)
        if len(self.crawling) > 1:
            raise ZeroDivisionError("once is enough")
        super().tell(visit)


class Peeks(BreadthFirst):
    summary = "Reaches for what it cannot know."

    def tell(self, visit):
        raise LeakageError("peeked")


class CannotBeMade(BreadthFirst):
    summary = "Fails when it is made."

    def __init__(self):
        raise ZeroDivisionError("never")


class NeedsNoSuchGuide(BreadthFirst):
    summary = "Names a guide that nobody has."
    relevance_model = "oracle_of_delphi"


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


@pytest.fixture
def installed(monkeypatch):
    """Two strategies of our own, and those of these classes."""

    def call(**classes):
        found = {name: STRATEGIES._found[name] for name in ("best_first", "breadth_first")}
        for name, kind in classes.items():
            found[name] = [EntryPoint(name, f"{__name__}:{kind}", "scenthound.strategies")]
        monkeypatch.setattr(STRATEGIES, "_found", found)

    return call


def compared(topical, tmp_path, settings=ALL, **more):
    choice = TopicChoice(topical / "topics.jsonl", ("balloon",))
    return compare_strategies(*settings.on(topical / "web", choice), tmp_path / "crawls", workers=1, **more)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("FailsAtOnce", "ZeroDivisionError"),
        ("FailsLate", "too late"),
        ("Peeks", "peeked"),
        ("CannotBeMade", "never"),
        ("NoSuchClass", "NoSuchClass"),
        ("NeedsNoSuchGuide", "oracle_of_delphi"),
    ],
)
def test_an_installed_strategy_that_fails_is_left_out_with_the_reason(installed, topical, tmp_path, kind, why):
    installed(odd=kind)
    done = compared(topical, tmp_path)
    assert [each.spec for each in done.crawlers] == ["best_first", "breadth_first"]
    assert done.experiment.strategies == ("best_first", "breadth_first")
    assert list(done.result.left_out) == ["odd"]
    assert why in done.result.left_out["odd"]
    assert done.result.left_out["odd"].isprintable()


def test_a_failed_strategy_does_not_change_the_ranking_of_the_others(installed, topical, tmp_path):
    installed(odd="FailsLate", worse="FailsAtOnce")
    with_odd = compared(topical, tmp_path)
    installed()
    without = compared(topical, tmp_path)
    assert without.result.crawls_made == 0
    assert with_odd.measured.values.tolist() == without.measured.values.tolist()
    assert sorted(with_odd.result.left_out) == ["odd", "worse"]


def test_a_requested_strategy_that_fails_ends_the_comparison(installed, topical, tmp_path):
    for kind in ("FailsAtOnce", "FailsLate", "CannotBeMade"):
        installed(odd=kind)
        with pytest.raises(PluginError, match="odd"):
            compared(topical, tmp_path, replace(ALL, strategies=("best_first", "odd")))


def test_if_all_strategies_fail_the_first_error_is_raised(installed, topical, tmp_path, monkeypatch):
    installed(odd="FailsLate", worse="FailsAtOnce")
    only = {name: STRATEGIES._found[name] for name in ("odd", "worse")}
    monkeypatch.setattr(STRATEGIES, "_found", only)
    with pytest.raises(PluginError, match=r"\bodd\b.* too late"):
        compared(topical, tmp_path)


def test_progress_does_not_decrease_when_a_strategy_is_skipped(installed, topical, tmp_path):
    # The first start is done by all when it fails at the second.
    installed(odd="FailsAgain")
    told = []
    compared(topical, tmp_path, progress=lambda share, _: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1
