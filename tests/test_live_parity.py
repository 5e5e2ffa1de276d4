"""Live and simulated crawls visit the same pages in the same order, also after a kill."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from scenthound.crawler import throttle
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic, generator_seed
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.store.crawl_store import CrawlStore
from scenthound.strategies.base import STRATEGIES
from slow_cases import few_of, few_strategies
from virtual_site import (
    TOPIC,
    VirtualSite,
    busy_site,
    crawl_virtually,
    crawl_with_kills,
    plan,
    random_site,
    visited_urls,
)

STRATEGY_NAMES = STRATEGIES.names()
PAGES = 40


def simulated_urls(
    site: VirtualSite, strategy: str, relevance: str, seeds: tuple[str, ...], topic: Topic = TOPIC
) -> list[str]:
    web = site.recorded()
    crawl = simulate(
        web,
        STRATEGIES.make(strategy),
        [page for page in map(web.page_of, seeds) if page is not None],
        scores_for(topic, RELEVANCE.make(relevance), web),
        rng=Random(generator_seed(3, topic.id)),
        page_budget=PAGES,
        topic=TopicWords.of(topic, web),
    )
    return [web.url(page) for page in crawl.pages.tolist()]


@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
@pytest.mark.parametrize(
    ("relevance", "delay_s"), [("rocchio", 1.0), pytest.param("cosine", 0.0, marks=pytest.mark.slow)]
)
def test_live_visits_are_the_simulated_ones(
    strategy: str, relevance: str, delay_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(2):
        site = random_site(seed)
        seeds = tuple(list(site.pages)[:2])
        polite = PolitenessSettings(delay_s=delay_s)
        plans = plan(seeds, strategy=strategy, relevance=relevance, random_seed=3, page_budget=PAGES, politeness=polite)
        folder = tmp_path / str(seed)
        # Strategies that go by words of their own go by their numbers too, so both worlds number alike.
        crawl_virtually(folder, plans, site, stems=list(site.recorded().vocabulary))
        assert visited_urls(folder) == simulated_urls(site, strategy, relevance, seeds)


@pytest.mark.parametrize("strategy", ["scent", "link_context"])
@pytest.mark.parametrize("relevance", ["rocchio", "rocchio:semantic=true"])
def test_keywords_that_are_on_no_page_make_no_difference(strategy: str, relevance: str, tmp_path: Path) -> None:
    topic = Topic("sea", keywords=("sea", "zyzzyva", "ocean voyage"))
    for seed in range(4):
        site = random_site(seed)
        seeds = tuple(list(site.pages)[:2])
        plans = replace(
            plan(seeds, strategy=strategy, relevance=relevance, random_seed=3, page_budget=PAGES), topic=topic
        )
        folder = tmp_path / str(seed)
        crawl_virtually(folder, plans, site, stems=list(site.recorded().vocabulary))
        assert visited_urls(folder) == simulated_urls(site, strategy, relevance, seeds, topic)


@pytest.mark.parametrize("strategy", few_strategies(STRATEGY_NAMES))
def test_a_crawl_killed_again_and_again_equals_one_that_was_not(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = random_site(7, n_pages=90)
    seeds = tuple(list(site.pages)[:2])
    settings = {
        "strategy": strategy,
        "relevance": "rocchio",
        "connections": 8,
        "strict_order": False,
        "patience": 0.5,
        "politeness": PolitenessSettings(),
        "page_budget": PAGES,
    }
    crawl_virtually(tmp_path / "complete", plan(seeds, **settings), site)
    crawl_with_kills(
        tmp_path / "killed",
        plan(seeds, **settings),
        lambda: site,
        Random(1),
        kills=0.1,
    )
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "complete")


@pytest.mark.parametrize("seed", few_of(range(12)))
def test_a_busy_crawl_killed_again_and_again_equals_one_that_was_not(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redirects, robots.txt files, sitemaps, retries and guards; the budget is all open for most of the time."""
    monkeypatch.setattr(throttle, "ALLOWANCE", 3)
    monkeypatch.setattr(throttle, "SEED_ALLOWANCE", 4)
    strategy = ("breadth_first", "best_first", "opic", "infospiders", "otie")[seed % 5]
    settings = {
        "strategy": strategy,
        "relevance": "rocchio",
        "connections": 1 + seed % 6,
        "strict_order": seed % 7 == 0,
        "patience": (0.0, 0.3, 0.5, 1.0)[seed % 4],
        "politeness": PolitenessSettings(pages_per_host=12),
        "page_budget": (3, 15, 60)[seed % 3],
        "sitemaps": True,
        "traps": True,
        "throttle": True,
        "near_duplicates": True,
        "soft_404s": True,
    }
    site = busy_site(seed)
    seeds = tuple(list(site.pages)[:1] + list(site.redirects)[:2])
    crawl_virtually(tmp_path / "complete", plan(seeds, **settings), site)
    crawl_with_kills(
        tmp_path / "killed",
        plan(seeds, **settings),
        lambda: busy_site(seed),
        Random(seed),
        kills=0.08,
    )
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "complete")


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    with CrawlStore.open(folder) as store:
        visits = [
            (row.page, row.url, row.time_s, row.relevance, row.regret, row.links.tolist()) for row in store.visits()
        ]
        return [*visits, *((row.page, row.reason, row.time_s) for row in store.skipped())]
