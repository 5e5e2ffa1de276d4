"""Strategies in shards: what departs, what arrives, and crawls that are split."""

from math import fsum, inf, nan
from pathlib import Path
from random import Random

import numpy as np
import pytest
from benchmarks.simulated_shards import Split, leases, simulate_shards

from scenthound.errors import InvalidInput, PluginError
from scenthound.frontier.base import COMBINE, UpdateRule, highest
from scenthound.frontier.departures import Departing, Departures, joined
from scenthound.frontier.priority import priority_frontier
from scenthound.model import Links, Seed, Visit
from scenthound.simulator.shards import Shards, shards_of_urls
from scenthound.simulator.simulator import simulate
from scenthound.strategies.base import STRATEGIES, Sharding
from scenthound.strategies.best_n_first import BestFirst
from scenthound.strategies.breadth_first import BreadthFirst
from scenthound.strategies.opic import Opic
from scenthound.strategies.otie import Otie
from scenthound.strategies.shark_search import SharkSearch
from scenthound.testing import SyntheticWeb
from scenthound.testing.shard_checks import check_shards

SEEDS = [0, 1, 2]


def ints(*numbers):
    return np.array(numbers, np.int32)


def departures(pages, values, rule=UpdateRule.MAX):
    values = np.array(values, float).reshape(len(pages), -1) if pages else np.zeros((0, 2))
    return Departures(ints(*pages), ints(*pages) + 100, values, rule)


# Departures


@pytest.mark.parametrize("rule", UpdateRule)
def test_joined_departures_have_each_page_once_combined_by_the_rule(rule):
    rng = Random(rule.value)
    parts = [
        departures(pages, [[rng.random(), rng.random()] for _ in pages], rule) for pages in ([5, 3, 5], [], [3, 9])
    ]
    expected = {}
    for part in parts:
        for page, row in zip(part.pages.tolist(), part.values.tolist(), strict=True):
            before = expected.get(page)
            expected[page] = row if before is None else [*map(COMBINE[rule], before, row)]
    found = joined(parts)
    assert found.pages.tolist() == [5, 3, 9] == list(expected)
    assert found.hosts.tolist() == [105, 103, 109]
    assert found.values.tolist() == list(expected.values())
    assert found.rule is rule


@pytest.mark.parametrize(
    ("rule", "row"),
    [
        (UpdateRule.MAX, [3, 7]),
        (UpdateRule.SUM, [4, 12]),
        (UpdateRule.LATEST, [3, 5]),
        (UpdateRule.FIRST, [1, 7]),
    ],
)
def test_rows_that_lack_a_value_leave_that_of_others(rule, row):
    assert joined([departures([1, 1, 1], [[1, nan], [nan, 7], [3, 5]], rule)]).values.tolist() == [row]


def test_sums_go_from_left_to_right():
    amounts = [1e16, 1.0, 1.0, -1e16] * 20
    assert joined([departures([1] * 80, amounts, UpdateRule.SUM)]).values.tolist() == [[sum(amounts)]]
    assert sum(amounts) != fsum(amounts)


def test_nothing_joined_is_nothing():
    assert len(joined([])) == 0
    assert joined([departures([], [], UpdateRule.SUM)]).rule is UpdateRule.SUM


def test_departures_with_different_rules_are_not_joined():
    with pytest.raises(ValueError, match="rules"):
        joined([departures([1], [1]), departures([1], [1], UpdateRule.SUM)])


# The frontier


def is_even(pages, _hosts):
    return pages % 2 == 0


def shard_frontier(rule=UpdateRule.MAX, capacity=None):
    frontier = priority_frontier(capacity, Random(0))
    frontier.departing = Departing(is_even, rule)
    return frontier


def test_pages_of_other_shards_are_not_queued_and_depart_once():
    frontier = shard_frontier()
    frontier.push_max(ints(2, 3, 4, 3), ints(0, 0, 0, 0), np.array([0.5, 0.2, 0.7, 0.4]))
    assert sorted(frontier.queued_pages().tolist()) == [2, 4]
    assert not frontier.knows(3)
    taken = frontier.departing.take()
    assert (taken.pages.tolist(), taken.values.tolist()) == ([3], [[0.4]])
    assert len(frontier.departing.take()) == 0
    assert [each.page for each in frontier.pop(5)] == [4, 2]


def test_new_scores_of_queued_pages_never_depart():
    frontier = shard_frontier()
    frontier.push_max(ints(2), ints(7), np.array([0.5]))
    frontier.rescore(ints(2, 3), np.array([0.9, 0.9]))
    assert frontier.score(2) == 0.9
    assert len(frontier.departing.take()) == 0


def test_departures_by_another_rule_than_that_of_the_strategy_are_refused():
    with pytest.raises(PluginError, match="update_rule"):
        shard_frontier(UpdateRule.SUM).push_max(ints(3), ints(0), np.array([0.5]))


def test_a_departing_page_with_the_score_nan_is_refused():
    with pytest.raises(PluginError, match="Page 3"):
        shard_frontier().push_max(ints(2, 3), ints(0, 0), np.array([0.5, nan]))


@pytest.mark.parametrize("capacity", [None, 400])
@pytest.mark.parametrize("n_values", [3, 1000])
def test_the_best_scores_are_those_of_all_queued_pages(capacity, n_values):
    frontier, rng = shard_frontier(capacity=capacity), np.random.default_rng(0)
    scores = rng.integers(0, n_values, 6000).astype(float)
    scores[:3] = inf
    frontier.push_max(np.arange(6000, dtype=np.int32), rng.integers(0, 9, 6000).astype(np.int32), scores)
    frontier.pop(50)
    queued = np.sort(frontier.scores(frontier.queued_pages()))[::-1]
    for n in (1, 64, 10_000):
        assert frontier.best_scores(n).tolist() == queued[:n].tolist()


def test_scores_above_the_bound_of_the_sample_may_be_few():
    # All sampled records have low scores, and only ten others have high ones.
    frontier = priority_frontier(None, Random(0))
    scores = np.zeros(40_000)
    scores[1::4001] = 1.0
    frontier.push_max(np.arange(40_000, dtype=np.int32), np.zeros(40_000, np.int32), scores)
    assert frontier.best_scores(64).tolist() == highest(scores, 64).tolist()


# Crawls


def web(seed=1, **settings):
    return SyntheticWeb.random(Random(seed), n_pages=80, n_links=5, **settings)


def crawl_in_shards(name, synthetic, n_shards, page_budget=1000, **settings):
    return simulate_shards(
        synthetic.recorded,
        lambda: STRATEGIES.make(name),
        SEEDS,
        synthetic.scores(),
        Split(n_shards, **{"exchange_every": 7, "by": "page", **settings}),
        rng=Random(3),
        page_budget=page_budget,
        topic=synthetic.topic,
    )


@pytest.mark.parametrize("name", sorted(STRATEGIES.names()))
def test_one_shard_visits_the_pages_of_an_ordinary_crawl(name):
    synthetic = web()
    whole = simulate(
        synthetic.recorded,
        STRATEGIES.make(name),
        SEEDS,
        synthetic.scores(),
        rng=Random(3),
        page_budget=50,
        topic=synthetic.topic,
        plain=True,
    )
    one = crawl_in_shards(name, synthetic, 1, page_budget=50)
    assert one.pages.tolist() == whole.pages.tolist()
    assert one.relevance.tolist() == whole.relevance.tolist()
    assert (one.ended, one.n_missing, one.n_repeated) == (whole.ended, whole.n_missing, whole.n_repeated)


@pytest.mark.parametrize("leases", ["requests", "pages"])
@pytest.mark.parametrize("name", ["best_first", "breadth_first", "otie", "portfolio"])
def test_shards_visit_each_page_once(name, leases):
    synthetic = web(2)
    whole = crawl_in_shards(name, synthetic, 1)
    split = crawl_in_shards(name, synthetic, 5, leases=leases)
    assert sorted(split.pages.tolist()) == sorted(whole.pages.tolist())
    assert split.pages.tolist() != whole.pages.tolist()


def test_a_crawl_in_shards_ends_with_its_budget():
    assert len(crawl_in_shards("best_first", web(), 4, page_budget=23, exchange_every=10).pages) == 23


def test_hosts_of_one_domain_are_in_one_shard():
    names = {name: f"{name}.{'one' if name < 'p5' else 'two'}" for name in (f"p{i}" for i in range(9))}
    synthetic = SyntheticWeb({name: [] for name in names}, host_of=names)
    shard = shards_of_urls(synthetic.recorded, 64)
    assert len(set(shard[:5].tolist())) == len(set(shard[5:9].tolist())) == 1


def test_a_strategy_that_cannot_be_split_is_refused():
    with pytest.raises(InvalidInput, match="agents"):
        crawl_in_shards("infospiders", web(), 2)
    with pytest.raises(PluginError, match="agents"):
        STRATEGIES.make("infospiders").split(is_even)


def test_a_strategy_that_says_nothing_cannot_be_split():
    class Mine(BestFirst):
        pass

    assert Mine().sharding == Sharding("refused", "does not say how it is split into shards")


def test_a_buffer_makes_sharding_approximate():
    assert STRATEGIES.make("best_first").sharding.kind == "exact"
    bounded = STRATEGIES.make("best_first:buffer=100").sharding
    assert (bounded.kind, bounded.reason.endswith("own buffer")) == ("approximate", True)


@pytest.mark.parametrize("members", ["opic+link_context", "pagerank+best_first"])
def test_a_portfolio_that_cannot_be_split_says_why(members):
    assert STRATEGIES.make(f"portfolio:members={members}").sharding.kind == "refused"


def test_a_shard_has_as_large_a_share_of_the_requests_as_of_the_best_scores():
    synthetic = web()
    shard_of_url = shards_of_urls(synthetic.recorded, 2, "page")
    shards = Shards.started(synthetic.recorded, BestFirst, SEEDS, [synthetic.scores()] * 2, shard_of_url, rng=Random(0))
    for number, scores in enumerate(([0.9, 0.8, 0.1], [0.7, 0.2])):
        shard = shards.shards[number]
        shard.strategy.ask(10)
        at_home = np.flatnonzero(shard_of_url == number)[-len(scores) :].astype(np.int32)
        shard.receive(Departures(at_home, at_home, np.array([scores]).T, UpdateRule.MAX))
    assert leases(shards, 3, Random(0)) == [2, 1]
    assert leases(shards, 100, Random(0)) == [3, 2]


# Cash


@pytest.mark.parametrize("name", ["opic", "opic:seeds_first=false", "otie", "hub_otie", "otie:when_hopeless=keep"])
def test_no_cash_is_lost_between_shards(name):
    synthetic, rng = web(3), Random(0)
    shard_of_url = shards_of_urls(synthetic.recorded, 4, "page")
    shards = Shards.started(
        synthetic.recorded,
        lambda: STRATEGIES.make(name),
        SEEDS,
        [synthetic.scores()] * 4,
        shard_of_url,
        rng=Random(0),
    )
    in_transit = []
    n_checked = 0
    while in_transit or any(len(shard.strategy) for shard in shards.shards):
        shard = rng.choice(shards.shards)
        for page in shard.ask(2):
            shard.fetch(page)
        in_transit.append(shard.take_departures())
        if rng.random() < 0.3:
            for each in in_transit:
                shards.deliver(each)
            in_transit = []
        strategies = [each.strategy for each in shards.shards]
        cash = fsum(each.circulating() + each.lost for each in strategies)
        cash += fsum(amount for each in in_transit for amount in each.values[:, 0].tolist())
        assert cash == pytest.approx(1 + fsum(getattr(each, "revised", 0.0) for each in strategies), abs=1e-9)
        n_checked += 1
    assert n_checked > 20


def test_each_shard_holds_the_shares_of_its_own_seeds():
    strategy = Opic()
    strategy.split(is_even)
    strategy.start([Seed(page, 0) for page in range(5)], Random(0), None)
    assert len(strategy) == 3
    assert strategy.circulating() == pytest.approx(0.6)
    assert len(strategy.take_departures()) == 0


# Redirects


def started(strategy, seen=None):
    strategy.split(is_even)
    strategy.start([Seed(0, 0)], Random(0), seen)
    return strategy


def visit_of(page, links, relevance=0.5, **scores):
    return Visit(page, relevance, Links(ints(*links), np.zeros(len(links), np.int32), **scores))


def test_the_score_of_a_redirected_page_departs_to_its_target():
    strategy = started(BestFirst())
    strategy.ask(1)
    strategy.tell(visit_of(0, [2], relevance=0.75))
    assert strategy.ask(1) == [2]
    strategy.hand_on(2, 5, 9)
    taken = strategy.take_departures()
    assert (taken.pages.tolist(), taken.hosts.tolist(), taken.values.tolist()) == ([5], [9], [[0.75]])


def test_a_seed_that_redirects_makes_its_target_a_seed():
    strategy = started(BestFirst())
    strategy.hand_on(*strategy.ask(1), 5, 9)
    assert strategy.take_departures().values.tolist() == [[inf]]


def test_depth_and_inheritance_of_a_redirected_page_depart_with_its_score():
    strategy = started(SharkSearch(depth=2, delta=0.5, gamma=1))
    strategy.ask(1)
    strategy.tell(visit_of(0, [2, 3], relevance=0.8, predicted=np.zeros(2), anchors=np.zeros(2)))
    assert strategy.take_departures().values.tolist() == [[0.4, 2, 0.4]]
    assert strategy.ask(1) == [2]
    strategy.hand_on(2, 5, 9)
    assert strategy.take_departures().values.tolist() == [[0.4, 2, 0.4]]


def test_the_cash_of_a_redirected_page_departs_to_its_target():
    strategy = started(Otie())
    strategy.hand_on(*strategy.ask(1), 5, 9)
    assert strategy.take_departures().values.tolist() == [[1.0]]
    assert (strategy.circulating(), strategy.lost) == (0, 0)


def test_scores_in_flight_are_kept_no_longer_than_needed():
    synthetic = web()
    shards = Shards.started(
        synthetic.recorded,
        BestFirst,
        SEEDS,
        [synthetic.scores()] * 2,
        shards_of_urls(synthetic.recorded, 2, "page"),
        rng=Random(0),
    )
    shard = shards.shards[0]
    asked = shard.ask(2)
    assert shard.strategy.state()["in_flight"] == [asked, [inf] * len(asked)]
    for page in asked:
        shard.fetch(page)
    assert shard.strategy.state()["in_flight"] == [[], []]


# The contract


@pytest.mark.parametrize(
    "name",
    [
        "best_first:found_again=latest",
        "best_first:found_again=first",
        "best_first:buffer=20",
        "best_n_first:n=5",
        "breadth_first:buffer=10",
        "breadth_first:buffer=10,when_full=drop_oldest",
        "opic:n=5,seeds_first=false",
        "otie:n=4,reshare_every=2",
        "rank_function:host_success=5,cash=3,anchor=1,context=1,renew=siblings",
        "portfolio:members=opic+otie",
        "portfolio:members=best_first+breadth_first+rank_function",
    ],
)
def test_parameters_do_not_break_the_contract_of_shards(name):
    check_shards(lambda: STRATEGIES.make(name))


EXACT = Sharding("exact", "says so")


class KeepsTheContract(BestFirst):
    sharding = EXACT


class SaysTooMuch(Otie):
    sharding = EXACT


class QueuesEverything(BestFirst):
    sharding = EXACT

    def split(self, home):
        self.home = home


class QueuesAllSeeds(BestFirst):
    sharding = EXACT

    def start(self, seeds, rng, seen):
        super().start(seeds, rng, seen)
        self._frontier.push_max(
            *np.array([[seed.page, seed.host] for seed in seeds], np.int32).T, np.full(len(seeds), inf)
        )


class IgnoresArrivals(BestFirst):
    sharding = EXACT

    def receive(self, pages, hosts, values):
        pass


class DropsRedirects(BestFirst):
    sharding = EXACT

    def hand_on(self, page, target, host):
        self.drop(page)


class TakesTwice(BestFirst):
    sharding = EXACT
    taken = None

    def take_departures(self):
        self.taken = super().take_departures() if self.taken is None or not len(self.taken) else self.taken
        return self.taken


class RepeatsPages(BestFirst):
    sharding = EXACT

    def take_departures(self):
        taken = super().take_departures()
        return Departures(
            *(np.concatenate([each, each]) for each in (taken.pages, taken.hosts, taken.values)), taken.rule
        )


class SendsOneDimension(BestFirst):
    sharding = EXACT

    def take_departures(self):
        taken = super().take_departures()
        return Departures(taken.pages, taken.hosts, taken.values[:, 0], taken.rule)


class SendsHalfTheScore(BestFirst):
    sharding = EXACT

    def take_departures(self):
        taken = super().take_departures()
        return Departures(taken.pages, taken.hosts, taken.values / 2, taken.rule)


class ForgetsFlights(BestFirst):
    sharding = EXACT

    def restore(self, state, seen):
        super().restore({**state, "in_flight": [[], []]}, seen)


class DiffersInShards(BestFirst):
    sharding = EXACT

    def tell(self, visit):
        super().tell(visit)
        if self._home is not None:
            self._frontier.rescore(visit.links.pages, np.full(len(visit.links), 0.5))


class SendsHomeAway(BreadthFirst):
    sharding = Sharding("approximate", "says so")

    def take_departures(self):
        return Departures(ints(0, 1), ints(0, 0), np.zeros((2, 1)), UpdateRule.FIRST)


def test_a_strategy_that_keeps_the_contract_of_shards_passes():
    check_shards(KeepsTheContract)


@pytest.mark.parametrize(
    ("strategy", "rule"),
    [
        (SaysTooMuch, "exact-scores"),
        (SendsHalfTheScore, "exact-scores"),
        (QueuesEverything, "not-at-home"),
        (QueuesAllSeeds, "departing-seeds"),
        (IgnoresArrivals, "lost-between-shards"),
        (DropsRedirects, "lost-between-shards"),
        (TakesTwice, "departures"),
        (RepeatsPages, "departures"),
        (SendsOneDimension, "departures"),
        (ForgetsFlights, "restore-in-shards"),
        (DiffersInShards, "one-shard"),
        (SendsHomeAway, "departing-seeds"),
    ],
)
def test_a_strategy_that_breaks_the_contract_of_shards_is_told_which_rule(strategy, rule):
    with pytest.raises(PluginError) as broken:
        check_shards(strategy)
    assert broken.value.rule == rule


def test_the_documentation_lists_the_sharding_of_every_strategy():
    text = (Path(__file__).parents[1] / "docs" / "shards.md").read_text("utf-8")
    shardings = {name: STRATEGIES.make(name).sharding for name in STRATEGIES.names()}
    rows = [f"| `{name}` | {each.kind} | {each.reason} |" for name, each in sorted(shardings.items())]
    assert "\n".join(rows) in text
