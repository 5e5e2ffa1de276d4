"""Every strategy that may keep an unbounded frontier keeps its contract in the native one, and asks for the same."""

from random import Random

import pytest

from scenthound import native
from scenthound.frontier.priority import PlainFrontier
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import SyntheticWeb, check_strategy
from stepped_crawl import SteppedCrawl

pytest.importorskip("native_code")

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


@choices
def test_the_contract_is_kept_in_plain_python(choice, monkeypatch):
    monkeypatch.setattr(native, "is_available", lambda: False)
    check_strategy(lambda: STRATEGIES.make(choice))


def polite_crawl(choice, web, seed):
    """Crawl while each host rests half of the time; the pages asked for and the regrets."""
    rng, told = Random(seed), []
    crawl = SteppedCrawl(STRATEGIES.make(choice), web, web.names[:2], seed)
    while len(crawl.strategy):
        awake = {host for host in range(8) if rng.random() < 0.5}
        told.append((crawl.step(rng.randint(1, 4), awake.__contains__), crawl.strategy.regrets()))
    return told, crawl.strategy


@choices
def test_plain_and_native_frontiers_give_the_same_crawl_while_hosts_rest(choice, monkeypatch):
    for seed in range(3):
        web = SyntheticWeb.random(Random(seed), n_pages=150, n_hosts=8)
        with monkeypatch.context() as patch:
            patch.setattr(native, "is_available", lambda: False)
            plain, _ = polite_crawl(choice, web, seed)
        in_c, strategy = polite_crawl(choice, web, seed)
        assert sum(len(asked) for asked, _ in plain) > 100
        assert in_c == plain
        assert not isinstance(strategy._frontier._frontier, PlainFrontier)


def test_every_strategy_whose_frontier_has_no_bound_is_tried_here():
    tried = {choice.partition(":")[0] for choice in CHOICES}
    unbounded_by_default = {name for name in STRATEGIES.names() if STRATEGIES.make(name).memory_bound().queued is None}
    # InfoSpiders have agents instead of a frontier, and a portfolio those of its members.
    assert unbounded_by_default - {"infospiders", "portfolio"} <= tried
