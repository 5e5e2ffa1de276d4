"""Every strategy that may keep an unbounded frontier keeps its contract with it, and asks for what the slow one has."""

from random import Random

import pytest

from oracles.frontier import SlowFrontier
from scenthound.frontier import priority
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import SyntheticWeb
from stepped_crawl import SteppedCrawl

CHOICES = [
    "breadth_first:buffer=none",
    "best_first:buffer=none",
    "best_n_first:n=5,buffer=none,found_again=first",
    "adaptive_n_first:buffer=none",
    "link_context",
    "scent",
    "fish_search",
    "shark_search",
    "rank_function",
    "evolved",
    "opic",
    "otie",
    "hub_otie",
    "pagerank:pages=none,buffer=none,other_domains=false",
    "keyword_pagerank:pages=none,buffer=none",
]
choices = pytest.mark.parametrize("choice", CHOICES)


def polite_crawl(choice, web, seed):
    """Crawl while each host waits half of the time; the pages asked for and the regrets."""
    rng, told = Random(seed), []
    crawl = SteppedCrawl(STRATEGIES.make(choice), web, web.names[:2], seed)
    while len(crawl.strategy):
        awake = {host for host in range(8) if rng.random() < 0.5}
        told.append((crawl.step(rng.randint(1, 4), awake.__contains__), crawl.strategy.regrets()))
    return told, crawl.strategy


@choices
def test_the_slow_frontier_gives_the_same_crawl_while_hosts_wait(choice, monkeypatch):
    for seed in range(3):
        web = SyntheticWeb.random(Random(seed), n_pages=150, n_hosts=8)
        with monkeypatch.context() as patch:
            patch.setattr(priority, "UnboundedFrontier", SlowFrontier)
            expected, strategy = polite_crawl(choice, web, seed)
            assert isinstance(strategy._frontier, SlowFrontier)
        assert sum(len(asked) for asked, _ in expected) > 100
        assert polite_crawl(choice, web, seed)[0] == expected


def test_every_strategy_whose_frontier_has_no_bound_is_tried_here():
    tried = {choice.partition(":")[0] for choice in CHOICES}
    unbounded_by_default = {name for name in STRATEGIES.names() if STRATEGIES.make(name).memory_bound().queued is None}
    # InfoSpiders have agents instead of a frontier, and a portfolio those of its members.
    assert unbounded_by_default - {"infospiders", "portfolio"} <= tried
