"""How crawls end: unbounded frontiers by default, evictions that are counted, and reasons of an early end."""

import json
from pathlib import Path
from random import Random

import pytest

from dashboard_client import status_values
from live_site import live_site
from ring_web import N
from scenthound.api.crawls import open_crawl
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.state import Ending, State, crawl_state, ending_of
from scenthound.experiments.evaluate import read_evaluation
from scenthound.experiments.runs import CrawlEnds, CrawlRow, RunFolder, crawl_ends
from scenthound.experiments.study.settings import STUDIES, read_settings
from scenthound.model import Topic
from scenthound.reasons import EndReason, SkipReason
from scenthound.records import from_json
from scenthound.simulator.scores import Observation
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import SimulatedWeb
from scenthound.store.checkpoints import copied
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import SyntheticWeb
from scenthound.ui.dashboard.crawl_views import _ended
from scenthound.ui.endings import (
    DEAD,
    EVICTED,
    LIMITS,
    ROBOTS,
    empty_frontier_text,
    ending_text,
    failure_text,
    simulated_text,
    visited_text,
)
from scenthound.ui.reports.crawl import crawl_report
from stored_crawls import new_crawl

# Unbounded frontiers


@pytest.mark.parametrize("name", [name for name in STRATEGIES.names() if "buffer" in STRATEGIES.parameters(name)])
def test_every_frontier_is_unbounded_by_default(name):
    assert STRATEGIES.parameters(name)["buffer"].default is None
    assert STRATEGIES.make(name).memory_bound().queued is None


def test_the_studies_state_the_sizes_of_their_papers():
    buffers = {
        (study, label): dict(STRATEGIES.make(_filled(spec)).parameters).get("buffer")
        for study in STUDIES
        for arm in read_settings(study).arms
        if not arm.optional
        for label, spec in arm.strategies.items()
    }
    assert {buffer for (study, _), buffer in buffers.items() if study == "menczer2001"} == {200}
    assert {buffer for (study, _), buffer in buffers.items() if study == "pant2002"} == {256}
    assert {buffer for (study, _), buffer in buffers.items() if study == "wang2009"} == {None}


def _filled(spec):
    return spec.replace("{pages}", "100").replace("{many_domains}", "true")


def test_dead_links_do_not_end_a_crawl_whose_frontier_is_unbounded():
    """The first page has 300 dead links before the only live one."""
    dead = [f"dead{number}" for number in range(300)]
    web = SyntheticWeb({"a": [*dead, "b"], "b": ["c"]}, fails=set(dead))
    crawls = {
        buffer: simulate(
            web.recorded,
            STRATEGIES.make(f"breadth_first:buffer={buffer}"),
            [0],
            web.scores(),
            rng=Random(1),
            page_budget=3,
            plain=True,
        )
        for buffer in ("none", "256")
    }
    assert {buffer: len(crawl.pages) for buffer, crawl in crawls.items()} == {"none": 3, "256": 1}
    assert {buffer: crawl.n_evicted for buffer, crawl in crawls.items()} == {"none": 0, "256": 301 - 256}


# Evictions


@pytest.mark.parametrize(
    ("strategy", "n_evicted"),
    [
        ("breadth_first:buffer=2", 3),
        ("breadth_first:buffer=2,when_full=drop_oldest", 3),
        ("best_first:buffer=2", 3),
        ("best_first", 0),
        ("opic", 0),
    ],
)
def test_evictions_are_counted_and_survive_a_restart(strategy, n_evicted):
    web = SyntheticWeb({"a": list("bcdef")}, relevance={"a": 0.5})
    made = STRATEGIES.make(strategy)
    window = SimulatedWeb(web.recorded, Observation.to(made, web.scores(), web.topic))
    made.start(window.seeds([0]), Random(0), window.seen)
    assert made.n_evicted == 0
    [page] = made.ask(1)
    window.get(page)
    made.tell(window.visit(page))
    assert made.n_evicted == n_evicted
    again = STRATEGIES.make(strategy)
    again.restore(copied(made.state()), window.seen)
    assert again.n_evicted == n_evicted


# Texts


def test_the_most_frequent_cause_has_the_advice_unless_links_were_evicted():
    skipped = {SkipReason.CLIENT_ERROR: 3, SkipReason.DNS_NOT_FOUND: 2, SkipReason.HOST_BUDGET: 4}
    assert DEAD.advice in empty_frontier_text(skipped, 0, "best_first")
    assert f"{DEAD.text}: 5" in empty_frontier_text(skipped, 0, "best_first")
    assert LIMITS.advice in empty_frontier_text({**skipped, SkipReason.DOMAIN_BUDGET: 2}, 0, "best_first")
    assert EVICTED.advice in empty_frontier_text(skipped, 1, "best_first:buffer=2")
    assert ROBOTS.advice in empty_frontier_text({SkipReason.ROBOTS: 1}, 0, "no_such_strategy")


@pytest.mark.parametrize("name", ["infospiders", "fish_search", "shark_search"])
def test_strategies_that_end_by_themselves_have_advice_of_their_own(name):
    assert STRATEGIES.make(name).empty_advice in empty_frontier_text({SkipReason.ROBOTS: 1}, 0, name)
    assert STRATEGIES.make(name).empty_advice


def ending(ended=EndReason.FRONTIER, n_pages=0, **changes):
    values = {"page_budget": 10, "strategy": "otie", "reasons": {}, "n_evicted": 0, "n_seeds": 2, "seed_reasons": {}}
    return Ending(ended, n_pages, **{**values, **changes})


def test_a_crawl_without_a_page_names_the_reasons_of_its_seeds():
    assert "1 of 1 seed " in failure_text(ending(n_seeds=1, seed_reasons={SkipReason.ROBOTS: 1}))
    text = failure_text(ending(seed_reasons={SkipReason.ROBOTS: 1, SkipReason.DNS_NOT_FOUND: 1}))
    assert "2 of 2 seeds " in text
    assert f"1 {SkipReason.ROBOTS.text}" in text
    assert f"1 {SkipReason.DNS_NOT_FOUND.text}" in text
    assert EndReason.TIME in failure_text(ending(EndReason.TIME))


@pytest.mark.parametrize(
    ("settings", "has_http_proxy"),
    [
        ({}, False),
        ({"proxy": "http://p.test:1"}, True),
        ({"proxy": "https://p.test:1"}, True),
        ({"proxy": "socks5h://p.test:1"}, False),
        ({"proxy_from_environment": True}, True),
        ({"proxy": "http://p.test:1", "seeds": ("https://a.test/",)}, False),
    ],
)
def test_only_http_proxies_may_send_the_responses_of_seeds(tmp_path, settings, has_http_proxy):
    plan = CrawlSettings(Topic("balloons"), **{"seeds": ("http://a.test/",), **settings})
    with new_crawl(tmp_path / "crawl", **plan.as_settings()) as store:
        status = from_json(CrawlStatus, status_values(0), "status")
        found = ending_of(store, EndReason.FRONTIER, status, 0)
    assert found.has_http_proxy == has_http_proxy


def test_the_proxy_is_named_only_if_the_reasons_of_all_seeds_are_error_statuses():
    refused, timeout = {SkipReason.CLIENT_ERROR: 1}, {SkipReason.HEADERS_TIMEOUT: 1}
    texts = [
        failure_text(ending(seed_reasons=reasons, has_http_proxy=has_proxy))
        for reasons in (refused, timeout, refused | timeout)
        for has_proxy in (True, False)
    ]
    assert ["proxy" in text for text in texts] == [True, *[False] * 5]


def test_other_ends_are_no_failures():
    assert failure_text(ending(EndReason.STOPPED)) == failure_text(ending(n_pages=1)) == ""
    assert ending_text(ending(EndReason.BUDGET, n_pages=10)) == ""
    assert "7 " in ending_text(ending(EndReason.BUDGET, n_pages=10, n_evicted=7))
    assert ending_text(ending(n_pages=9)) == empty_frontier_text({}, 0, "otie")


# Simulated crawls


def row(strategy, pages, **changes):
    values = {"not_recorded": 0, "repeated": 0, "evicted": 0}
    return CrawlRow("t", strategy, 0, pages, "frontier empty", **{**values, **changes})


def test_the_ends_of_simulated_crawls_are_counted_by_strategy():
    rows = [
        row("a", 10, not_recorded=5),
        row("a", 9, not_recorded=2, repeated=1, evicted=4),
        row("b", 10, evicted=3),
        row("c", 10),
    ]
    ends = crawl_ends(rows, 10)
    assert ends == (
        CrawlEnds("a", 10, 2, 1, 2, 1, 4),
        CrawlEnds("b", 10, 1, 0, 0, 0, 3),
        CrawlEnds("c", 10, 1, 0, 0, 0, 0),
    )
    assert "1 of 2 crawls" in simulated_text(ends[0])
    assert "3 links" in simulated_text(ends[1])
    assert simulated_text(ends[2]) == ""


def test_simulate_says_why_crawls_ended_early(web_path, topics_file, tmp_path, scenthound):
    names = ("best_first:buffer=1", "fish_search:depth=0", "best_first")
    options = (*(word for name in names for word in ("--strategy", name)), "--pages", N, "--out", tmp_path / "run")
    code, out, _ = scenthound("simulate", "--web", web_path, "--topics", topics_file, *options)
    assert code == 0
    rows = RunFolder.open(tmp_path / "run").crawls()
    assert {each.strategy for each in rows if each.evicted} == {"best_first:buffer=1"}
    assert {each.strategy for each in rows if each.pages < N} == {"fish_search:depth=0"}
    lines = list(map(simulated_text, crawl_ends(rows, N)))
    assert [bool(line) for line in lines] == [True, True, False]
    assert all(line in " ".join(out.split()) for line in lines)
    assert STRATEGIES.make("fish_search").empty_advice in lines[1]


def test_evaluate_names_the_mean_over_visited_pages_if_crawls_ended_early(web_path, topics_file, tmp_path, scenthound):
    names = ("--strategy", "fish_search:depth=0", "--strategy", "best_first")
    run = tmp_path / "run"
    scenthound("simulate", "--web", web_path, "--topics", topics_file, *names, "--pages", N, "--out", run)
    code, out, _ = scenthound("evaluate", run)
    ends = read_evaluation(run).ends
    note = visited_text(ends, ["precision", "mean_similarity"])
    assert code == 0
    assert sum(each.n_early for each in ends) > 0
    assert note in " ".join(out.split())
    assert "visited:of=precision" in note
    code, out, _ = scenthound("evaluate", run, "--metric", "visited", "--metric", "precision", "--metric", "recall")
    early, full = read_evaluation(run).results
    assert early.curves["visited"].mean[-1] > early.curves["precision"].mean[-1]
    assert full.curves["visited"].mean[-1] == full.curves["precision"].mean[-1]
    assert read_evaluation(run).averages_pages == {"precision"}
    _, out, _ = scenthound("evaluate", run, "--metric", "recall")
    assert "visited" not in out


# Live crawls


def test_a_crawl_disallowed_by_robots_txt_has_failed_everywhere(tmp_path: Path, scenthound) -> None:
    folder = tmp_path / "out"
    with live_site(tmp_path) as site:
        where = ("--seed", site.url("private/1"), "--hosts", site.hosts, "--allow-private", "--delay", 0)
        code, out, err = scenthound("crawl", "--keywords", "balloon", *where, "--out", folder, "--json")
    assert code == 1
    summary = json.loads(out)
    assert (summary["failed"], summary["n_pages"]) == (True, 0)
    assert summary["why"] in err
    assert SkipReason.ROBOTS.text in summary["why"]
    with StoredCrawl.open(folder) as crawl:
        state = crawl_state(crawl)
    assert state.state is State.FAILED
    assert _ended(state) == summary["why"]
    assert summary["why"] in " ".join(crawl_report(folder).summary)
    opened = open_crawl(folder)
    assert (opened.failure, opened.ended) == (summary["why"], EndReason.FRONTIER)
    assert summary["why"] in repr(opened)


def test_a_bounded_frontier_that_runs_empty_is_the_reason(tmp_path: Path, scenthound) -> None:
    folder = tmp_path / "out"
    more = "".join(f"<a href='http://h0.test:PORT/dead{number}'>balloon</a>" for number in range(20))
    with live_site(tmp_path, more) as site:
        code, out, _ = scenthound(*site.crawl("--out", folder, "--strategy", "best_first:buffer=1", "--json"))
    summary = json.loads(out)
    assert (code, summary["ended"], summary["failed"]) == (0, "frontier", False)
    assert summary["n_evicted"] > 0
    assert EVICTED.advice in summary["why"]
    opened = open_crawl(folder)
    assert opened.failure == ""
    assert summary["why"] in repr(opened)
    assert summary["why"] in " ".join(crawl_report(folder).summary)
    with StoredCrawl.open(folder) as stored:
        assert _ended(crawl_state(stored)) == summary["why"]


def test_an_offline_crawl_says_that_crawl_delays_are_not_applied(tmp_path: Path, scenthound) -> None:
    with live_site(tmp_path) as site:
        assert scenthound(*site.crawl("--pages", 12, "--out", tmp_path / "first"))[0] == 0
        offline = ("--web", tmp_path / "first", "--offline", "--out", tmp_path / "again")
        code, _, err = scenthound(*site.crawl(*offline))
    assert code == 0
    assert "--offline" in err
    assert "--mode polite" in err
    assert "crawl delays" in " ".join(crawl_report(tmp_path / "again").summary)
