"""The estimate of recall: worked out by hand, where the truth is known, and in live crawls that stop on it."""

import json
import math
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from benchmarks.recall_estimate import chao_unseen, chapman
from hypothesis import given
from hypothesis import strategies as st

import scenthound as sh
from live_site import live_site
from scenthound.crawler.recall import CrawlRecall, stored_recall
from scenthound.crawler.replay import started
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import CrawlSummary, crawl, resume
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.metrics.recall_estimate import (
    CURVE_DEVIATION,
    FACTOR,
    GROWTH_EXPONENT,
    MIN_ON_TOPIC,
    MIN_VISITS,
    SLOPE,
    CannotTell,
    RecallEstimate,
    RecallHistory,
    continued,
    fitted_rate,
)
from scenthound.model import Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.testing import topical_web
from scenthound.topics.files import read_topics
from scenthound.ui.document import Chart
from scenthound.ui.reports.crawl import crawl_report
from scenthound.web.static_server import StaticPage, StaticServer
from virtual_site import Killed, VirtualSite, crawl_virtually
from virtual_site import plan as virtual_plan

Call = Callable[..., tuple[int, str, str]]
BOUNDS = ("lower bound", "upper bound")
TOPIC = Topic("sea", keywords=("sea", "wave"), description="Waves and storms at sea.")


# By hand


def test_a_single_bin_has_its_own_rate_and_the_expected_slope() -> None:
    # Half a page is added: 10 of 100.
    assert fitted_rate([100], [9.5], [0.0], -1.0) == pytest.approx((0.1, -1.0))


def test_a_rate_that_falls_as_expected_is_fitted_exactly() -> None:
    """Counts of 100 / t: the rate at the last position is 0.1, and the slope -1."""
    positions = [math.log(share) for share in (0.2, 0.4, 0.8)]
    sizes = [200, 400, 800]
    # With the half page that is added in proportion to the sizes.
    counts = [
        size * 0.1 * math.exp(-position) - 0.5 * size / 1400 for size, position in zip(sizes, positions, strict=True)
    ]
    assert fitted_rate(sizes, counts, positions, -1.0) == pytest.approx((0.1, -1.0))


def test_few_pages_hardly_change_the_expected_slope_and_many_do() -> None:
    positions = [math.log(0.25), 0.0]
    few = fitted_rate([10, 10], [1.0, 1.0], positions, -1.0)[1]
    many = fitted_rate([10_000, 10_000], [1000.0, 1000.0], positions, -1.0)[1]
    assert -1.0 < few < -0.9
    assert many == pytest.approx(0.0, abs=0.1)


def test_rates_are_continued_as_integrals() -> None:
    assert continued(0.1, 0.0, 100, 300) == pytest.approx(20)
    assert continued(0.1, -1.0, 100, 300) == pytest.approx(10 * math.log(3))
    assert continued(0.1, -0.5, 100, 400) == pytest.approx(0.1 * 2 * math.sqrt(100) * (20 - 10))
    # There cannot be more pages on topic than pages.
    assert continued(0.9, 1.0, 100, 300) == 200


def regular(n_visits: int, every: int, queue_size: Callable[[int], int], *, is_focused: bool = True) -> RecallHistory:
    visits = range(n_visits)
    on_topic = (visit % every == 0 for visit in visits)
    return RecallHistory.of(on_topic, map(queue_size, visits), is_focused=is_focused)


@pytest.mark.parametrize("is_focused", [True, False])
def test_the_parts_of_an_estimate_are_multiplied(is_focused: bool) -> None:
    """Every tenth page is on topic, and each page brings 4 new ones, of which 3 stay in the queue."""
    history = regular(1000, 10, lambda visit: 3 * visit + 3, is_focused=is_focused)
    # Bins of equal width in log(t) from 150 to 1000.
    edges = [150, 197, 258, 338, 444, 582, 763, 1000]
    bins = list(pairwise(edges))
    sizes = [end - start for start, end in bins]
    counts = [float(len(range(-(-start // 10), -(-end // 10)))) for start, end in bins]
    positions = [math.log((start + end) / 2000) for start, end in bins]
    rate, slope = fitted_rate(sizes, counts, positions, SLOPE[is_focused])
    left = FACTOR[is_focused] * (1 + 4) ** GROWTH_EXPONENT * continued(rate, slope, 1000, 4000)
    estimate = history.estimate()
    assert isinstance(estimate, RecallEstimate)
    assert (estimate.n_found, estimate.n_left) == (100, pytest.approx(left))
    assert estimate.recall == pytest.approx(100 / (100 + left))
    # 50 of the pages on topic are in the last half.
    factor = math.exp(1.645 * math.sqrt(CURVE_DEVIATION**2 + 1 / 50.5))
    assert estimate.low == 100 / (100 + math.ceil(left * factor))
    assert estimate.high == 100 / (100 + math.floor(left / factor))


def test_pages_that_will_be_skipped_are_not_expected() -> None:
    """Of 9 new URLs per page 4 can be visited: the queue grows by 6.75 for each visit, and 5/4 pages are skipped."""
    alive = regular(1000, 10, lambda visit: 3 * visit + 3).estimate()
    dead = regular(1000, 10, lambda visit: round(6.75 * visit + 6.75)).estimate(n_skipped=1250)
    assert isinstance(alive, RecallEstimate)
    assert isinstance(dead, RecallEstimate)
    assert dead.n_left == pytest.approx(alive.n_left, rel=1e-3)


# Rules

visits_strategy = st.lists(st.tuples(st.booleans(), st.integers(0, 5000)), min_size=MIN_VISITS, max_size=300)


@given(visits_strategy, st.integers(0, 1000), st.booleans(), st.floats(0.01, 1))
def test_an_estimate_is_within_its_interval_and_its_limits(
    visits: list[tuple[bool, int]], n_skipped: int, is_focused: bool, goal: float
) -> None:
    history = RecallHistory.of(*zip(*visits, strict=True), is_focused=is_focused)
    estimate = history.estimate(n_skipped)
    if isinstance(estimate, CannotTell):
        assert history.n_on_topic < MIN_ON_TOPIC or not any(size for _, size in visits[-10:])
        return
    assert estimate.n_found == sum(on_topic for on_topic, _ in visits)
    assert 0 < estimate.low <= estimate.recall <= estimate.high <= 1
    # A goal is reached later than the estimate says, and earlier than its lower bound.
    assert not estimate.reaches(goal) or estimate.recall >= goal
    assert estimate.low < goal or estimate.reaches(goal)
    assert history.estimate(n_skipped) == estimate


def test_more_queued_pages_mean_less_recall_and_more_skipped_pages_more() -> None:
    recalls = [regular(500, 5, lambda _, size=size: size).estimate() for size in (10, 100, 1000, 10_000)]
    values = [each.recall for each in recalls if isinstance(each, RecallEstimate)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4
    of_skipped = [regular(500, 5, lambda _: 1000).estimate(n_skipped) for n_skipped in (0, 100, 1000)]
    values = [each.recall for each in of_skipped if isinstance(each, RecallEstimate)]
    assert values == sorted(values)
    assert len(set(values)) == 3


def test_without_enough_pages_there_is_a_reason_instead_of_an_estimate() -> None:
    assert regular(MIN_VISITS - 1, 1, lambda _: 9).estimate() is CannotTell.FEW_VISITS
    assert regular(MIN_VISITS, MIN_VISITS // 2, lambda _: 9).estimate() is CannotTell.FEW_ON_TOPIC
    assert regular(200, 5, lambda _: 0).estimate() is CannotTell.EMPTY_QUEUE
    assert CrawlRecall(None, is_focused=True).estimate(0) is CannotTell.NO_PROBABILITIES
    retrained = CrawlRecall(0.5, is_focused=True)
    retrained.has_several_models = True
    assert retrained.estimate(0) is CannotTell.SEVERAL_MODELS


def test_a_crawl_with_nothing_left_has_found_everything() -> None:
    estimate = regular(20, 5, lambda _: 0).estimate(is_complete=True)
    assert isinstance(estimate, RecallEstimate)
    assert (estimate.low, estimate.recall, estimate.high) == (1, 1, 1)
    assert estimate.reaches(1)


def crawled_completely(n_visits: int) -> CrawlRecall:
    recall = CrawlRecall(0.5, is_focused=True)
    for visit in range(n_visits):
        recall.add(float(visit % 5 == 0), n_visits - visit - 1)
    return recall


@pytest.mark.parametrize(
    ("reasons", "n_evicted", "expected"),
    [
        ({SkipReason.HOST_BUDGET: 1}, 0, CannotTell.PAGE_LIMITS),
        ({SkipReason.DOMAIN_BUDGET: 1}, 0, CannotTell.PAGE_LIMITS),
        ({}, 1, CannotTell.EVICTIONS),
        ({SkipReason.HOST_DISABLED: 1}, 0, CannotTell.DISABLED_HOSTS),
        ({SkipReason.ADDRESS_FORBIDDEN: 6}, 0, CannotTell.FAILED_REQUESTS),
        ({SkipReason.ROBOTS_UNREACHABLE: 3, SkipReason.SERVER_ERROR: 3}, 0, CannotTell.FAILED_REQUESTS),
        ({SkipReason.ADDRESS_FORBIDDEN: 5}, 0, RecallEstimate(20, 0.0)),
        ({SkipReason.CLIENT_ERROR: 500, SkipReason.ROBOTS: 9, SkipReason.NOT_HTML: 9}, 0, RecallEstimate(20, 0.0)),
    ],
)
def test_a_crawl_that_left_pages_out_has_not_found_everything(
    reasons: dict[SkipReason, int], n_evicted: int, expected: RecallEstimate | CannotTell
) -> None:
    assert crawled_completely(100).estimate_at_end(reasons, n_evicted) == expected


# Where the truth is known


@pytest.mark.parametrize("slope", [-0.7, -1.0, -1.3])
def test_the_interval_covers_the_truth_of_crawls_whose_rate_falls(slope: float) -> None:
    """Crawls of 5,000 pages, whose queue grows by two pages with each visit until all are known."""
    covered = []
    for seed in range(40):
        rng = Random(f"{slope}/{seed}")
        on_topic = [rng.random() < 0.6 * (1 + visit / 40) ** slope for visit in range(5000)]
        queue_sizes = [min(5000, 3 * visit) - visit for visit in range(1, 5001)]
        for n_visits in (300, 1000, 3000):
            estimate = RecallHistory.of(on_topic[:n_visits], queue_sizes[:n_visits]).estimate()
            assert isinstance(estimate, RecallEstimate)
            covered.append(estimate.low <= sum(on_topic[:n_visits]) / sum(on_topic) <= estimate.high)
    assert np.mean(covered) >= 0.9


@pytest.mark.slow
def test_the_interval_covers_the_truth_on_a_synthetic_web(tmp_path: Path) -> None:
    """Crawls of everything that can be reached, and the estimates that they had on their way."""
    topical_web(tmp_path / "web", pages=2500, topics=20, dead_links=0.3, seed=4)
    covered = []
    for topic in list(read_topics(tmp_path / "web" / "topics.jsonl"))[:5]:
        out, seeds = tmp_path / topic.id, topic.examples[:3]
        done = sh.crawl(topic, seeds, web=tmp_path / "web", offline=True, pages=10_000, out=out, progress=False)
        assert done.ended is EndReason.FRONTIER
        assert done.recall is not None
        assert done.recall.recall == 1
        with StoredCrawl.open(out) as crawl:
            (relevance,) = crawl.numbers(("relevance",), crawl.n_visits())
            curve = stored_recall(crawl).curve
        found = np.cumsum(relevance >= 0.5)
        covered += [each.low <= found[n_visits - 1] / found[-1] <= each.high for n_visits, each in curve]
    assert len(covered) > 100
    assert np.mean(covered) >= 0.85


# Live crawls

N_PAGES = 400
N_ON_TOPIC = 60


def page(number: int, url: Callable[[int], str]) -> str:
    """A tree of pages. The first are on topic, and later every fortieth."""
    rng = Random(number)
    is_on_topic = number < N_ON_TOPIC or number % 40 == 0
    subject = "sea wave storm" if is_on_topic else "garden flower soil"
    words = " ".join(f"{subject} {rng.choice(('north', 'south', 'east'))}{rng.randrange(10_000)}" for _ in range(40))
    links = (3 * number + child for child in (1, 2, 3) if 3 * number + child < N_PAGES)
    return f"<title>{number}</title><p>{words}" + "".join(f"<p><a href='{url(link)}'>on</a>" for link in links)


@pytest.fixture
def server() -> Iterator[StaticServer]:
    made: dict[str, str] = {}

    def page_of(host: str, path: str) -> StaticPage | None:
        html = made.get(f"http://{host}{path}")
        return None if html is None else StaticPage(html.encode())

    with StaticServer(page_of) as running:
        for number in range(N_PAGES):
            made[f"http://h.test/{number}"] = page(number, lambda link: running.url(f"http://h.test/{link}"))
        yield running


def plan(server: StaticServer, **settings: Any) -> CrawlSettings:
    chosen: dict[str, Any] = {
        "strategy": "breadth_first",
        "relevance": "rocchio",
        "politeness": PolitenessSettings(delay_s=0.0, delay_factor=0.0),
        "allow_private": True,
        "hosts": {"h.test": "127.0.0.1"},
    }
    return CrawlSettings(TOPIC, (server.url("http://h.test/0"),), **chosen | settings)


def shown(summary: CrawlSummary) -> tuple[float | None, float | None, float | None]:
    return summary.status.recall, summary.status.recall_low, summary.status.recall_high


def test_a_crawl_ends_when_its_recall_is_reached_and_can_be_resumed(server: StaticServer, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    done = crawl(plan(server), folder, RunOptions(until_recall=0.8))
    assert done.ended is EndReason.RECALL
    assert MIN_VISITS < done.status.n_pages < N_PAGES
    with StoredCrawl.open(folder) as stored:
        estimate = stored_recall(stored).estimate
    assert isinstance(estimate, RecallEstimate)
    assert estimate.reaches(0.75)
    assert shown(done) == (estimate.recall, estimate.low, estimate.high)
    assert sh.open_crawl(folder).recall == estimate
    # The goal is kept for later runs, which may set another one.
    again = resume(folder)
    assert (again.ended, again.status.n_pages - done.status.n_pages < 20) == (EndReason.RECALL, True)
    further = resume(folder, RunOptions(until_recall=0.95))
    assert further.ended is EndReason.RECALL
    assert again.status.n_pages < further.status.n_pages < N_PAGES
    last = resume(folder, RunOptions(until_recall=0))
    assert (last.ended, last.status.n_pages, shown(last)) == (EndReason.FRONTIER, N_PAGES, (1, 1, 1))


@pytest.mark.parametrize("limit", ["pages_per_host", "pages_per_domain"])
def test_a_crawl_that_page_limits_ended_has_no_recall(limit: str, server: StaticServer, tmp_path: Path) -> None:
    politeness = PolitenessSettings(delay_s=0.0, delay_factor=0.0, **{limit: 100})
    done = crawl(plan(server, politeness=politeness), tmp_path / "crawl")
    assert (done.ended, done.status.n_pages) == (EndReason.FRONTIER, 100)
    assert (done.status.recall, done.status.recall_unknown) == (None, CannotTell.PAGE_LIMITS.value)
    opened = sh.open_crawl(tmp_path / "crawl")
    assert (opened.recall, opened.recall_unknown) == (None, CannotTell.PAGE_LIMITS.value)


def test_the_report_has_the_estimate_and_its_curve(server: StaticServer, tmp_path: Path) -> None:
    crawl(plan(server, page_budget=200), tmp_path / "crawl")
    report = crawl_report(tmp_path / "crawl")
    assert "estimated recall" in dict(report.key_facts)
    charts = {block.name: block for section in report.sections for block in section.blocks if isinstance(block, Chart)}
    low, high = (next(each.y for each in charts["recall"].series if each.name == name) for name in BOUNDS)
    assert len(low) > 50
    assert (low <= high).all()


def test_a_killed_crawl_has_the_estimate_of_one_that_was_not(tmp_path: Path) -> None:
    site = VirtualSite({f"http://h.test/{n}": page(n, lambda link: f"http://h.test/{link}") for n in range(N_PAGES)})
    settings = virtual_plan(("http://h.test/0",), relevance="rocchio", on_topic_from=0.5, page_budget=250)
    crawl_virtually(tmp_path / "complete", settings, site)
    folder, rng, n_kills = tmp_path / "killed", Random(3), 0
    for _ in range(100):
        with suppress(Killed):
            crawl_virtually(
                folder, settings, site, kill=lambda: rng.random() < 0.02, checkpoint=lambda: rng.random() < 0.1
            )
            break
        n_kills += 1
        with closing(CrawlStore.open(folder)) as store:
            parts, _ = started(settings, store)
            n_skipped = sum(store.reasons().values())
            assert parts.crawl.recall.estimate(n_skipped) == stored_recall(store).estimate
    assert n_kills > 2
    estimates = []
    for each in (tmp_path / "complete", folder):
        with StoredCrawl.open(each) as stored:
            estimates.append(stored_recall(stored))
    assert isinstance(estimates[0].estimate, RecallEstimate)
    assert estimates[0] == estimates[1]


def test_a_model_that_cannot_tell_costs_a_line_and_stops_nothing(server: StaticServer, tmp_path: Path) -> None:
    notes: list[str] = []
    cosine = plan(server, relevance="cosine", page_budget=120)
    done = crawl(cosine, tmp_path / "crawl", RunOptions(until_recall=0.01, note=notes.append))
    assert (done.ended, done.status.n_pages) == (EndReason.BUDGET, 120)
    assert (done.status.recall, done.status.recall_unknown) == (None, CannotTell.NO_PROBABILITIES.value)
    assert [line.startswith("--until-recall 0.01 ") for line in notes] == [True]
    opened = sh.open_crawl(tmp_path / "crawl")
    assert (opened.recall, opened.recall_unknown) == (None, CannotTell.NO_PROBABILITIES.value)


def test_the_recall_of_a_crawl_of_an_earlier_version_has_a_reason(tmp_path: Path) -> None:
    with tarfile.open(Path(__file__).parent / "data" / "crawl-0.8.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    opened = sh.open_crawl(tmp_path / "crawl")
    assert (opened.recall, opened.recall_unknown) == (None, CannotTell.NO_PROBABILITIES.value)
    assert opened.summary is None


# The command


def test_the_goal_is_kept_for_later_runs_until_it_is_removed(tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    with live_site(tmp_path) as site:
        assert scenthound(*site.crawl("--pages", 3, "--out", folder, "--until-recall", 0.9))[0] == 0
    assert json.loads((folder / "run.json").read_bytes()) == {"page_budget": 3, "until_recall": 0.9}
    assert scenthound("crawl", "--resume", folder, "--pages", 2)[0] == 0
    assert json.loads((folder / "run.json").read_bytes()) == {"page_budget": 2, "until_recall": 0.9}
    assert scenthound("crawl", "--resume", folder, "--until-recall", 0)[0] == 0
    assert json.loads((folder / "run.json").read_bytes()) == {"page_budget": 2, "until_recall": 0}


@pytest.mark.parametrize("goal", ["0", "-0.1", "1.01", "nan", "inf", "much"])
def test_a_goal_that_is_no_recall_costs_a_line(goal: str, tmp_path: Path, scenthound: Call) -> None:
    seed = ("--seed", "http://a.test/", "--keywords", "sea", "--out", tmp_path / "out")
    code, out, err = scenthound("crawl", *seed, f"--until-recall={goal}")
    assert (code, out) == (2, "")
    assert [line for line in err.splitlines() if "--until-recall" in line]
    assert not (tmp_path / "out").exists()


def test_a_damaged_goal_is_reported(tmp_path: Path, scenthound: Call) -> None:
    with live_site(tmp_path) as site:
        assert scenthound(*site.crawl("--pages", 1, "--out", tmp_path / "out"))[0] == 0
    (tmp_path / "out" / "run.json").write_text('{"until_recall": 2}')
    code, _, err = scenthound("crawl", "--resume", tmp_path / "out")
    assert (code, len(err.splitlines()), "--until-recall" in err) == (2, 1, True)


# Other estimators, which the benchmark compares


def test_two_samples_with_a_quarter_in_common_are_of_a_population_four_times_as_large() -> None:
    assert chapman(9, 19, 4) == 39
    assert chapman(10, 10, 10) == 10


def test_pages_captured_once_are_evidence_of_pages_never_captured() -> None:
    assert chao_unseen(np.array([1, 1, 1, 1, 2, 7])) == 3
    assert chao_unseen(np.array([2, 2, 5])) == 0
