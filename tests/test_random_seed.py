"""The random numbers of live crawls are those of simulated ones."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from live_site import N_PAGES, LiveSite, live_site
from scenthound import open_run
from virtual_site import visited_urls

Call = Callable[..., tuple[int, str, str]]
#: The links of a page are tied for `best_first`; the agents of `infospiders` draw theirs at random.
STRATEGIES = ["best_first", "breadth_first", "infospiders"]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


@pytest.fixture
def web(site: LiveSite, tmp_path: Path, scenthound: Call) -> Path:
    """A crawl of the complete site."""
    complete = site.crawl("--keep-duplicates", "--keep-soft-404s", "--no-throttle", "--out", tmp_path / "complete")
    assert scenthound(*complete)[0] == 0
    assert len(visited_urls(tmp_path / "complete")) == N_PAGES
    return tmp_path / "complete"


@pytest.fixture
def topics(site: LiveSite, tmp_path: Path) -> Path:
    (tmp_path / "topics.jsonl").write_text(json.dumps({"id": "b", "keywords": ["balloon"], "seeds": [site.url(0)]}))
    return tmp_path / "topics.jsonl"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_crawl_in_strict_order_visits_the_pages_of_a_simulated_one(
    strategy: str, site: LiveSite, web: Path, topics: Path, tmp_path: Path, scenthound: Call
) -> None:
    orders = []
    for number, seeded in enumerate([[], ["--random-seed", 5]]):
        both = ["--topics", topics, "--strategy", strategy, "--relevance", "cosine", "--pages", 30, *seeded]
        run, folder = tmp_path / f"run{number}", tmp_path / f"crawl{number}"
        assert scenthound("simulate", "--web", web, "--workers", 1, "--out", run, *both)[0] == 0
        # Agents of `infospiders` go by the numbers of words, which are those of the recording.
        source = ["--web", web, "--offline"] if strategy == "infospiders" else ["--hosts", site.hosts]
        live = [*source, "--allow-private", "--delay", 0, "--keep-duplicates", "--keep-soft-404s", "--out", folder]
        assert scenthound("crawl", *both, *live, "--strict-order", "--pages", 12)[0] == 0
        assert scenthound("crawl", "--resume", folder, "--pages", 30)[0] == 0
        orders.append(visited_urls(folder))
        assert orders[-1] == [page.url for page in open_run(run).pages]
    assert (orders[0] != orders[1]) == (strategy != "breadth_first")


def test_repeats_have_the_random_seeds_from_the_first_one_on(
    web: Path, topics: Path, tmp_path: Path, scenthound: Call
) -> None:
    simulate = ["simulate", "--web", web, "--topics", topics, "--strategy", "best_first", "--workers", 1]
    assert scenthound(*simulate, "--random-seed", 4, "--repeats", 2, "--out", tmp_path / "two")[0] == 0
    assert scenthound(*simulate, "--random-seed", 5, "--out", tmp_path / "one")[0] == 0
    two, one = ([(page.seed, page.url) for page in open_run(tmp_path / name).pages] for name in ("two", "one"))
    assert {seed for seed, _ in two} == {4, 5}
    assert [page for page in two if page[0] == 5] == one
