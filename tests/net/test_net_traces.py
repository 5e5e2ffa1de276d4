"""The pages that every strategy visits, in their order, in all modes of a simulated crawl."""

from pathlib import Path
from typing import Any

import pytest

import scenthound as sh
from goldens import Golden, trace_of

PAGES = 120
#: Every built-in strategy. `test_all_built_in_strategies_are_here` compares the list with the installed ones.
STRATEGIES = [
    "adaptive_n_first",
    "best_first",
    "best_n_first",
    "breadth_first",
    "evolved",
    "fish_search",
    "hub_otie",
    "infospiders",
    "keyword_pagerank",
    "link_context",
    "opic",
    "otie",
    "pagerank",
    "portfolio",
    "rank_function",
    "scent",
    "shark_search",
]
#: Parameters that change the order: bounded buffers, several pages at a time, temperatures, other formulas.
SETTINGS = {
    "bounded buffers": [
        "breadth_first:buffer=20",
        "breadth_first:preset=pant2002,buffer=30,when_full=drop_oldest",
        "best_first:buffer=25",
        "link_context:buffer=25",
        "shark_search:buffer=25",
        "scent:buffer=25",
        "infospiders:max_pages=30",
    ],
    "several at a time": [
        "best_n_first:n=16",
        "link_context:n=8",
        "otie:n=10",
        "opic:n=10",
        "rank_function:n=5",
        "scent:n=4",
        "keyword_pagerank:n=8,every=10",
        "fish_search:n=3,width=4",
    ],
    "found again": [
        "best_first:found_again=latest",
        "link_context:found_again=first,b=0.6,window=5",
        "adaptive_n_first:start_n=4,least=2,most=16,memory=0.5",
    ],
    "learning": [
        "infospiders:temperature=0.5,epochs=1,theta=1.0",
        "infospiders:preset=selective,dead_end=seed,learn_towards=topic",
        "infospiders:preset=lookahead,max_pages=40",
        "infospiders:preset=q_learning,buffer=30",
        "portfolio:members=best_first+breadth_first+opic,memory=0.9,least=0.2",
    ],
    "formulas": [
        "otie:a=0.5,d=1.0,reshare_every=5,when_hopeless=keep",
        "hub_otie:hub_share=0.5,dead_links=true",
        "pagerank:gamma=0.5,every=10,pages=50",
        "pagerank:preset=menczer2001",
        "rank_function:anchor=50,context=80,host_success=20,cash=5",
        "rank_function:hub_over=max,renew=siblings,threshold=0.3",
        "rank_function:preset=best_first",
        "shark_search:delta=0.9,beta=0.5,gamma=0.8,window=5,depth=2",
        "fish_search:a=1.0,depth=2,threshold=0.3,revive=true",
    ],
    "descriptions": ["best_first:description=true", "pagerank:description=true", "infospiders:description=true"],
}


def traces(web: Path, topics: Path, strategies: list[str], **options: Any) -> dict[str, dict[str, Any]]:
    """The trace of each crawl, by strategy and topic."""
    chosen: dict[str, Any] = {"pages": PAGES, "start": 3, "random_seed": 5, "workers": 1, "progress": False}
    run = sh.simulate(web, topics, strategies, **chosen | options)
    crawls: dict[tuple[str, str, int], tuple[list[str], list[float]]] = {}
    for page in run.pages:
        urls, relevances = crawls.setdefault((page.strategy, page.topic, page.seed), ([], []))
        assert page.step == len(urls) + 1
        urls.append(page.url)
        relevances.append(page.relevance)
    assert all(len({*urls}) == len(urls) for urls, _ in crawls.values())
    found: dict[str, dict[str, Any]] = {}
    for (strategy, topic, seed), trace in crawls.items():
        found.setdefault(strategy, {})[f"{topic} {seed}"] = trace_of(*trace)
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_trace(strategy: str, web: Path, topics: Path, golden: Golden) -> None:
    by_mode = {
        mode: traces(web, topics, [strategy], mode=mode, topic=["balloons", "trains"])[strategy]
        for mode in ("sequential", "roulette", "polite")
    }
    cosine = traces(web, topics, [strategy], relevance="cosine", topic="balloons")
    golden.json({**by_mode, "sequential, cosine": cosine[strategy]})


@pytest.mark.parametrize("settings", SETTINGS)
def test_trace_with_parameters(settings: str, web: Path, topics: Path, golden: Golden) -> None:
    golden.json(traces(web, topics, SETTINGS[settings], topic="trains", mode="roulette:size=10,refill_at=5"))


def test_all_built_in_strategies_are_here() -> None:
    assert [each.name for each in sh.list_strategies()] == STRATEGIES
