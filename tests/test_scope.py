"""The scope of a crawl: domains, patterns and link depth."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pytest

from live_site import N_PAGES, live_site
from scenthound.crawler.explain import Outcome, explain
from scenthound.crawler.scope import Scope, ScopeFilter
from scenthound.crawler.settings import StopConditions
from scenthound.errors import InvalidParameter, UsageError
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import SkipReason
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES
from scenthound.ui.dashboard.crawl_views import explanation_response
from scenthound.ui.reports.crawl import settings_facts
from scenthound.web.urls import host_of
from slow_cases import few_of, few_strategies
from test_live_parity import rows_of, simulated_urls
from virtual_site import (
    VirtualSite,
    busy_site,
    crawl_virtually,
    crawl_with_kills,
    page_of_words,
    plan,
    random_site,
    visited_urls,
)

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("url", "limits", "option"),
    [
        ("https://example.org/a", {"allow_domain": ["example.org"]}, None),
        ("https://www.example.org/a", {"allow_domain": ["example.org"]}, None),
        ("https://www.example.org./a", {"allow_domain": ["example.org"]}, None),
        ("https://notexample.org/a", {"allow_domain": ["example.org"]}, "--allow-domain"),
        ("https://example.org/a", {"allow_domain": ["www.example.org"]}, "--allow-domain"),
        (
            "https://a.example.org/",
            {"allow_domain": ["example.org"], "deny_domain": ["a.example.org"]},
            "--deny-domain",
        ),
        ("https://xn--bcher-kva.example/", {"allow_domain": ["Bücher.example"]}, None),
        ("http://127.0.0.1:8000/", {"deny_domain": ["127.0.0.1"]}, "--deny-domain"),
        ("http://[::1]/", {"allow_domain": ["[::1]"]}, None),
        ("https://a.test/docs/x", {"include": ["*/docs/*"]}, None),
        ("https://a.test/blog/x", {"include": ["*/docs/*", "re:/news/[0-9]+$"]}, "--include"),
        ("https://a.test/news/12", {"include": ["*/docs/*", "re:/news/[0-9]+$"]}, None),
        ("https://a.test/docs/x.pdf", {"include": ["*/docs/*"], "exclude": ["*.pdf"]}, "--exclude"),
        ("https://a.test/", {}, None),
    ],
)
def test_domains_and_patterns_decide_about_a_url(url: str, limits: dict[str, Any], option: str | None) -> None:
    excluded_by = ScopeFilter(Scope.of(**limits)).exclusion(url)
    assert (excluded_by and excluded_by.split()[0]) == option


@pytest.mark.parametrize(
    "domain", ["https://a.test", "a.test/x", "a.test:80", "*.a.test", "a b", "", "me@a.test", "a..b/"]
)
@pytest.mark.parametrize("option", ["allow_domain", "deny_domain"])
def test_a_domain_is_a_host_name(domain: str, option: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Scope.of(**{option: [domain]})
    assert f"--{option.replace('_', '-')}" in str(caught.value)


@pytest.mark.parametrize(
    "limits",
    [
        {"allow_domain": ["a.test"], "deny_domain": ["A.test"]},
        {"allow_domain": ["x.a.test"], "deny_domain": ["a.test"]},
        {"include": ["*x*"], "exclude": ["*x*"]},
    ],
)
def test_contradictions_are_rejected(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Scope.of(**limits)


@pytest.mark.parametrize(
    ("limits", "option"),
    [
        ({"allow_domain": ["b.test"]}, "--allow-domain"),
        ({"deny_domain": ["a.test"]}, "--deny-domain a.test"),
        ({"include": ["/docs/"]}, "--include"),
        ({"exclude": ["*a.test*"]}, "--exclude '*a.test*'"),
    ],
)
def test_a_seed_out_of_scope_is_named_with_the_option(limits: dict[str, Any], option: str) -> None:
    scope = ScopeFilter(Scope.of(**limits))
    with pytest.raises(UsageError) as caught:
        scope.check_seeds(["http://a.test/"])
    assert "http://a.test/" in str(caught.value)
    assert option in str(caught.value)


def without_links_to(site: VirtualSite, host: str) -> VirtualSite:
    """A copy of the site whose pages do not link to the host, at the same positions otherwise."""
    pages = {url: html.replace(f"<a href='http://{host}/", "<a name='") for url, html in site.pages.items()}
    return VirtualSite(pages, site.redirects)


@pytest.mark.parametrize("strategy", few_strategies(STRATEGIES.names()))
def test_live_visits_are_the_simulated_ones_with_the_same_visible_links(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(2):
        site = random_site(seed)
        # Redirects out of scope are skipped, which no recording repeats.
        site.redirects = {url: target for url, target in site.redirects.items() if host_of(target) != "h2.test"}
        seeds = tuple(url for url in site.pages if host_of(url) != "h2.test")[:2]
        settings = plan(
            seeds,
            strategy=strategy,
            relevance="cosine",
            random_seed=3,
            page_budget=40,
            scope=Scope.of(deny_domain=["h2.test"]),
        )
        folder = tmp_path / str(seed)
        visible = without_links_to(site, "h2.test")
        crawl_virtually(folder, settings, site, stems=list(visible.recorded().vocabulary))
        visited = visited_urls(folder)
        assert visited == simulated_urls(visible, strategy, "cosine", seeds)
        assert len(visited) > 5


def skipped(folder: Path) -> dict[str, tuple[SkipReason, str]]:
    with CrawlStore.open(folder) as store:
        return {row.url: (row.reason, row.detail) for row in store.skipped()}


A, B, C, D, F, G = (f"http://a.test/{name}" for name in "abcdfg")
E = "http://b.test/e"


def linked(**links: str) -> dict[str, str]:
    """Pages by name, with the names that each links to; `e` is on a host of its own."""

    def url(name: str) -> str:
        return f"http://{'b' if name == 'e' else 'a'}.test/{name}"

    return {
        url(name): page_of_words(name, [url(other) for other in others], number)
        for number, (name, others) in enumerate(links.items())
    }


def test_links_out_of_scope_are_neither_known_nor_skipped(tmp_path: Path) -> None:
    pages = {A: page_of_words("a", [B, "http://b.test/", "http://b.test/"], 0), B: page_of_words("b", [C], 1)}
    site = VirtualSite(pages, {C: "http://b.test/c"})
    crawl_virtually(tmp_path / "crawl", plan((A,), scope=Scope.of(deny_domain=["b.test"])), site)
    assert visited_urls(tmp_path / "crawl") == [A, B]
    assert skipped(tmp_path / "crawl").keys() == {C}
    reason, detail = skipped(tmp_path / "crawl")[C]
    assert reason is SkipReason.OUT_OF_SCOPE
    assert "http://b.test/c" in detail
    assert "--deny-domain b.test" in detail
    assert not any(host_of(url) == "b.test" for url in site.requests)
    with CrawlStore.open(tmp_path / "crawl") as store:
        assert store.urls() == [A, B, C]
    explained = explain(tmp_path / "crawl", "http://b.test/")
    assert (explained.outcome, explained.reason) == (Outcome.OUT_OF_SCOPE, SkipReason.OUT_OF_SCOPE)
    assert explained.excluded_by == "--deny-domain b.test"


def test_links_of_sitemaps_are_subject_to_the_scope(tmp_path: Path) -> None:
    site = VirtualSite({A: "<p>sea", B: "<p>wave", C: "<p>ship"})
    site.others["http://a.test/robots.txt"] = (200, "", b"Sitemap: /map.xml")
    site.others["http://a.test/map.xml"] = (200, "", f"{B}\n{C}".encode())
    crawl_virtually(tmp_path / "crawl", plan((A,), sitemaps=True, scope=Scope.of(exclude=["*/c"])), site)
    assert visited_urls(tmp_path / "crawl") == [A, B]


def test_the_command_keeps_to_the_scope_also_when_it_is_resumed(tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    with live_site(tmp_path, "<a href='http://elsewhere.test/'>x</a>") as site:
        limits = ("--deny-domain", "h2.test", "--allow-domain", "test", "--exclude", "*//else*", "--max-depth", 6)
        code, out, _ = scenthound(*site.crawl("--pages", 3, "--json", "--out", folder, *limits))
        first = json.loads(out)
        assert (code, first["n_pages"]) == (0, 3)
        assert first["n_out_of_scope"] > 0
        code, out, _ = scenthound("crawl", "--resume", folder, "--pages", 1000, "--json")
        second = json.loads(out)
    assert (code, second["ended"]) == (0, "frontier")
    assert second["n_out_of_scope"] > first["n_out_of_scope"]
    visited = visited_urls(folder)
    assert 3 < len(visited) < N_PAGES
    assert {host_of(url) for url in visited} == {"h0.test", "h1.test", "h3.test"}
    assert skipped(folder) == {}
    code, out, _ = scenthound("explain", folder, site.url(2))
    assert (code, "--deny-domain h2.test" in out) == (0, True)
    with StoredCrawl.open(folder) as crawl:
        explained = explanation_response(explain(folder, site.url(2)), crawl)
    assert "--deny-domain h2.test" in explained.sentences[0]


def test_a_folder_of_an_earlier_version_is_resumed_without_a_scope(tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    with live_site(tmp_path) as site:
        assert scenthound(*site.crawl("--pages", 3, "--no-sitemaps", "--out", folder))[0] == 0
        about = json.loads((folder / "crawl.json").read_text())
        for name in ("scope", "proxy", "proxy_from_environment", "headers", "cookie_file", "cookie_digest"):
            del about["settings"][name]
        (folder / "crawl.json").write_text(json.dumps(about))
        assert scenthound("crawl", "--resume", folder, "--pages", 6)[0] == 0
    assert len(visited_urls(folder)) == 6
    assert explain(folder, "http://unknown.test/").outcome is Outcome.UNKNOWN
    assert scenthound("report", folder)[0] == 0


def test_reports_show_what_limits_a_crawl() -> None:
    scope = Scope.of(allow_domain=["a.test"], deny_domain=["b.a.test"], include=["*x*"], exclude=["*y*"], max_depth=3)
    settings = plan((A,), scope=scope, proxy="http://me:secret@p.test:1", headers=("X-Key: secret",))
    facts = dict(settings_facts(settings, StopConditions(), "cosine"))
    limits = {"allow domain": "a.test", "deny domain": "b.a.test", "include": "*x*", "exclude": "*y*", "max depth": "3"}
    shown = {"proxy": "http://***@p.test:1", "header": "X-Key: ***"}
    assert facts | limits | shown == facts
    assert not {*limits, *shown} & {*dict(settings_facts(plan((A,)), StopConditions(), "cosine"))}


@pytest.mark.parametrize(
    ("max_depth", "visited"), [(0, [A]), (1, [A, B]), (2, [A, B, C]), (3, [A, B, C, D]), (None, [A, B, C, D])]
)
def test_pages_beyond_the_maximum_depth_are_not_requested(
    max_depth: int | None, visited: list[str], tmp_path: Path
) -> None:
    site = VirtualSite(linked(a="b", b="ac", c="bd", d="a"))
    crawl_virtually(tmp_path / "crawl", plan((A,), scope=Scope(max_depth=max_depth)), site)
    assert visited_urls(tmp_path / "crawl") == visited
    assert set(site.requests) == {*visited, "http://a.test/robots.txt"}
    assert skipped(tmp_path / "crawl") == {}
    if max_depth == 2:
        explained = explain(tmp_path / "crawl", D)
        assert (explained.outcome, explained.reason) == (Outcome.OUT_OF_SCOPE, SkipReason.MAX_DEPTH)
        assert (explained.excluded_by, explained.n_parents) == ("--max-depth 2", 1)


def test_a_shorter_path_found_later_brings_pages_into_reach(tmp_path: Path) -> None:
    """From seed A, C is at depth 2, so that its link to D is hidden, until seed E turns out to link to C."""
    site = VirtualSite(linked(a="b", b="c", c="d", e="fc", f="", d="g", g=""))
    site.takes_s = lambda task: 100.0 if task.url == E else 0.1
    settings = plan((A, E), scope=Scope(max_depth=2), connections=4, strict_order=False)
    crawl_virtually(tmp_path / "crawl", settings, site)
    visited = visited_urls(tmp_path / "crawl")
    assert visited[:4] == [A, B, C, E]
    assert set(visited[4:]) == {F, D}, "D is two links from E, and G three"
    assert explain(tmp_path / "crawl", G).reason is SkipReason.MAX_DEPTH


def nearest(site: VirtualSite, seeds: tuple[str, ...], max_depth: int, visited: list[str]) -> set[str]:
    """The known URLs within the maximum depth, along links of visited pages."""
    graph = nx.DiGraph()
    graph.add_nodes_from(seeds)
    for url in visited:
        graph.add_edges_from((url, part.split("'")[0]) for part in site.pages[url].split("href='")[1:])
    return set(nx.multi_source_dijkstra_path_length(graph, set(seeds), cutoff=max_depth))


@pytest.mark.parametrize("strategy", few_strategies(STRATEGIES.names()))
def test_every_strategy_visits_what_is_in_reach_and_nothing_else(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, max_depth in ((1, 2), (2, 3)):
        site = random_site(seed, n_pages=120)
        site.redirects = {}
        seeds = tuple(list(site.pages)[:2])
        settings = plan(
            seeds,
            strategy=strategy,
            relevance="cosine",
            scope=Scope(max_depth=max_depth),
            connections=5,
            strict_order=False,
        )
        crawl_virtually(tmp_path / str(seed), settings, site)
        visited = visited_urls(tmp_path / str(seed))
        reached = nearest(site, seeds, max_depth, visited)
        assert set(visited) <= reached
        assert 5 < len(visited) < len(site.pages)
        if strategy in ("breadth_first", "best_first", "best_n_first", "opic", "otie"):
            assert set(visited) == reached & set(site.pages), "nothing in reach was lost"


@pytest.mark.parametrize("seed", few_of(range(8)))
def test_a_crawl_with_a_scope_killed_again_and_again_equals_one_that_was_not(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {
        "strategy": ("best_first", "opic", "infospiders", "otie")[seed % 4],
        "relevance": "cosine",
        "connections": 1 + seed % 6,
        "strict_order": False,
        "politeness": PolitenessSettings(),
        "page_budget": 60,
        "sitemaps": True,
        "scope": Scope.of(deny_domain=["h3.test"], exclude=["*5"], max_depth=2 + seed % 2),
    }
    site = busy_site(seed)
    allowed = ScopeFilter(Scope.of(deny_domain=["h3.test"], exclude=["*5"]))
    seeds = tuple([url for url in [*site.pages, *site.redirects] if allowed.exclusion(url) is None][:3])
    crawl_virtually(tmp_path / "complete", plan(seeds, **settings), site)
    crawl_with_kills(
        tmp_path / "killed",
        plan(seeds, **settings),
        lambda: busy_site(seed),
        Random(seed),
        kills=0.08,
    )
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "complete")
