"""Whether a comparison names a best strategy: either way, by the data alone."""

from pathlib import Path

import numpy as np
import pytest

from comparisons import WantedComparison
from evolution_web import record_topical, url, write_topical
from scenthound.experiments.compare.comparison import compare_strategies
from scenthound.experiments.compare.ranking import observations_needed
from scenthound.experiments.compare.settings import mode_for
from scenthound.experiments.compare.verdict import MIN_KNOWN_PAGES, Doubt, Evidence, verdict_of
from scenthound.experiments.pipeline import plan
from scenthound.experiments.starts import TopicChoice
from scenthound.model import Topic
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import SyntheticWeb
from scenthound.topics.files import write_topics
from test_compare_ranking import SIGNS, STARTS, measured, ranked

ENOUGH = Evidence(10, over_topics=False, n_known_pages=MIN_KNOWN_PAGES)
#: Differences to the best.
CLEAR, SMALL, MIXED = -0.2 - 0.001 * SIGNS, -0.0001 + 0.001 * SIGNS, -0.05 + 0.15 * SIGNS


def verdict(*differences, found=ENOUGH):
    return verdict_of(ranked(measured([STARTS[None], *(STARTS[None] + each for each in differences)])), found)


def test_a_strategy_that_is_clearly_better_than_all_others_is_the_best():
    assert verdict(CLEAR, 2 * CLEAR).best == "a"
    assert verdict(CLEAR).doubts == ()
    assert verdict(CLEAR).candidates == ("a",)


@pytest.mark.parametrize(
    ("differences", "doubt", "candidates"),
    [
        ((SMALL,), Doubt.TIE, ("a", "b")),
        ((CLEAR, SMALL), Doubt.TIE, ("a", "c")),
        ((MIXED,), Doubt.UNCLEAR, ("a", "b")),
        ((SMALL, MIXED), Doubt.UNCLEAR, ("a", "b", "c")),
        ((), Doubt.ALONE, ("a",)),
    ],
)
def test_ties_and_unclear_differences_have_no_best(differences, doubt, candidates):
    found = verdict(*differences)
    assert (found.best, found.doubts) == ("", (doubt,))
    assert set(found.candidates) == set(candidates)
    assert found.because


def test_the_same_values_everywhere_are_a_tie():
    assert verdict(np.zeros(10)).doubts == (Doubt.TIE,)


@pytest.mark.parametrize("n_others", [1, 7])
def test_too_few_observations_cannot_tell_however_large_the_difference(n_others):
    rows = ranked(measured([STARTS[None], *(STARTS[None] + CLEAR for _ in range(n_others))]))
    needed = observations_needed(n_others + 1)
    assert verdict_of(rows, Evidence(needed, over_topics=False)).best == "a"
    for over_topics in (False, True):
        assert verdict_of(rows, Evidence(needed - 1, over_topics)).doubts == (Doubt.FEW_OBSERVATIONS,)


def test_repeats_are_advised_only_where_they_have_other_starts():
    few = Evidence(1, over_topics=False)
    assert "--repeats" in verdict(CLEAR, found=few).because
    given = verdict(CLEAR, found=Evidence(1, over_topics=False, given_starts=True))
    assert given.doubts == (Doubt.FEW_OBSERVATIONS,)
    assert "--repeats" not in given.because


def test_too_few_known_pages_cannot_tell():
    few = Evidence(10, over_topics=False, n_known_pages=MIN_KNOWN_PAGES - 1)
    assert verdict(CLEAR, found=few).doubts == (Doubt.FEW_PAGES,)
    assert verdict(MIXED, found=few).doubts == (Doubt.FEW_PAGES, Doubt.UNCLEAR)
    assert verdict(CLEAR, found=Evidence(10, over_topics=False)).best == "a"


# On a recorded web


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


def compared(topical, tmp_path, *, topics=None, **changes):
    wanted = {"page_budget": 100, "repeats": 10, "n_start": 3, "relevance": "cosine"}
    settings = WantedComparison(("best_first", "breadth_first"), **{**wanted, **changes})
    choice = TopicChoice(topics or topical / "topics.jsonl", () if topics else ("balloon",))
    return compare_strategies(*settings.on(topical / "web", choice), tmp_path / "crawls", workers=1).result


def test_the_verdict_depends_on_the_crawls(topical, tmp_path):
    """After a hundred pages best-first is ahead from every start, after twenty it is not."""
    decided = compared(topical, tmp_path)
    assert (decided.winner, decided.verdict.doubts) == ("best_first", ())
    assert "--strategy best_first" in decided.command
    open_ = compared(topical, tmp_path, page_budget=20)
    assert (open_.winner, open_.verdict.doubts, open_.command) == ("", (Doubt.UNCLEAR,), "")


def test_starts_from_the_same_pages_count_once(topical, tmp_path):
    """Of four examples, three are start pages: there are four distinct starts, and few targets."""
    topic = Topic("few", ("balloon",), examples=tuple(url(i) for i in (0, 3, 6, 9)))
    write_topics(tmp_path / "few.jsonl", [topic])
    found = compared(topical, tmp_path, topics=tmp_path / "few.jsonl", repeats=20).verdict
    assert Doubt.FEW_PAGES in found.doubts
    assert Doubt.FEW_OBSERVATIONS in found.doubts


def test_the_observations_of_starts_from_the_same_pages_are_averaged(topical, tmp_path):
    topic = Topic("few", ("balloon",), examples=tuple(url(i) for i in (0, 3, 6, 9)))
    write_topics(tmp_path / "few.jsonl", [topic])
    settings = WantedComparison(("best_first", "breadth_first"), page_budget=40, repeats=20, n_start=2)
    choice = TopicChoice(tmp_path / "few.jsonl")
    done = compare_strategies(*settings.on(topical / "web", choice), tmp_path / "crawls", workers=1)
    starts = [frozenset(start.seeds) for _, start in plan(done.experiment, RecordedWeb.open(topical / "web"))]
    assert 3 < len(set(starts)) < 20
    for row in done.result.ranking:
        index = [each.spec for each in done.crawlers].index(row.strategy)
        values = done.measured.values[index, 0]
        means = [np.mean(values[[at for at, each in enumerate(starts) if each == start]]) for start in set(starts)]
        assert sorted(row.observations) == pytest.approx(sorted(means), rel=1e-5)
        assert row.mean == pytest.approx(np.mean(means))


def test_examples_do_not_matter_for_metrics_that_count_none(topical, tmp_path):
    topic = Topic("few", ("balloon",), description="A balloon.", examples=tuple(url(i) for i in (0, 3, 6, 9)))
    write_topics(tmp_path / "few.jsonl", [topic])
    done = compared(topical, tmp_path, topics=tmp_path / "few.jsonl", by="mean_similarity", repeats=4)
    assert Doubt.FEW_PAGES not in done.verdict.doubts


def test_a_web_of_one_host_is_crawled_one_page_after_the_other(topical):
    assert mode_for(RecordedWeb.open(topical / "web")) == "polite:workers=16,patience=0.7"
    assert mode_for(SyntheticWeb({"a": ["b"]}).recorded) == "sequential"
