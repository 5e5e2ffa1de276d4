"""Crawls that are resumed from checkpoints, also by a version that decides otherwise."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from scenthound.crawler.settings import CrawlSettings
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.store.checkpoints import Checkpoints
from scenthound.store.crawl_folder import CHECKPOINT_FOLDER, DATABASE_FILE
from scenthound.store.crawl_records import CrawlPosition
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES
from slow_cases import few_strategies
from virtual_site import Killed, VirtualSite, crawl_virtually, plan, random_site, visited_urls

MANY = 1000


def settings_of(site: VirtualSite, strategy: str = "best_first", page_budget: int = MANY) -> CrawlSettings:
    seeds = tuple(list(site.pages)[:2])
    return plan(
        seeds,
        strategy=strategy,
        relevance="rocchio",
        connections=4,
        strict_order=False,
        politeness=PolitenessSettings(),
        page_budget=page_budget,
    )


def killed_after(n_events: int) -> Callable[[], bool]:
    left = iter(range(n_events))
    return lambda: next(left, None) is None


def crawl_until_killed(folder: Path, settings: CrawlSettings, site: VirtualSite, *, checkpoint_at: int, kill_at: int):
    """Every event is committed; one commit has a checkpoint."""
    commits = iter(range(kill_at + 1))
    with suppress(Killed):
        crawl_virtually(
            folder, settings, site, kill=killed_after(kill_at), checkpoint=lambda: next(commits) == checkpoint_at
        )


def execute(folder: Path, sql: str) -> None:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as database:
        database.execute(sql)
        database.commit()


def checkpoints_of(folder: Path) -> Checkpoints:
    return Checkpoints(folder / CHECKPOINT_FOLDER)


def test_the_journal_before_a_checkpoint_is_not_read(tmp_path: Path) -> None:
    site = random_site(3)
    settings = settings_of(site)
    crawl_virtually(tmp_path / "complete", settings, site)
    crawl_until_killed(tmp_path / "killed", settings, site, checkpoint_at=40, kill_at=60)
    ((_, position),) = checkpoints_of(tmp_path / "killed").newest("position")
    assert position["events"] > 10
    # The last one says whose checkpoint it is.
    execute(tmp_path / "killed", f"UPDATE event SET bytes = x'00' WHERE number < {position['events']}")
    crawl_virtually(tmp_path / "killed", settings, site)
    assert visited_urls(tmp_path / "killed") == visited_urls(tmp_path / "complete")


@pytest.mark.parametrize("n_damaged", [1, 2, 3])
def test_a_damaged_checkpoint_costs_time_only(n_damaged: int, tmp_path: Path) -> None:
    site = random_site(4)
    settings = settings_of(site)
    crawl_virtually(tmp_path / "complete", settings, site)
    folder = tmp_path / "killed"
    for kill_at in (20, 20, 20):
        crawl_until_killed(folder, settings, site, checkpoint_at=10, kill_at=kill_at)
    for number in checkpoints_of(folder).numbers()[:n_damaged]:
        file = folder / CHECKPOINT_FOLDER / f"{number:012}.checkpoint"
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    crawl_virtually(folder, settings, site)
    assert visited_urls(folder) == visited_urls(tmp_path / "complete")


def test_a_checkpoint_of_a_position_that_cannot_be_is_not_used(tmp_path: Path) -> None:
    site = random_site(4)
    settings = settings_of(site)
    crawl_virtually(tmp_path / "complete", settings, site)
    crawl_until_killed(tmp_path / "killed", settings, site, checkpoint_at=10, kill_at=20)
    checkpoints = checkpoints_of(tmp_path / "killed")
    state = checkpoints.read(checkpoints.numbers()[0])
    state["position"]["visits"] = "x"
    checkpoints.write(state)
    crawl_virtually(tmp_path / "killed", settings, site)
    assert visited_urls(tmp_path / "killed") == visited_urls(tmp_path / "complete")


def test_a_checkpoint_whose_commit_is_lost_is_not_used(tmp_path: Path) -> None:
    """As after a power cut, if the disk had the checkpoint before the commit."""
    site = random_site(5)
    settings = settings_of(site)
    crawl_virtually(tmp_path / "complete", settings, site)
    folder = tmp_path / "killed"
    crawl_until_killed(folder, settings, site, checkpoint_at=15, kill_at=20)
    state = checkpoints_of(folder).read(1)
    state["position"]["visits"] += MANY
    state["engine"] = None
    checkpoints_of(folder).write(state)
    crawl_virtually(folder, settings, site)
    assert visited_urls(folder) == visited_urls(tmp_path / "complete")
    assert checkpoints_of(folder).numbers() == [1]


def test_a_checkpoint_of_another_crawl_is_not_used(tmp_path: Path) -> None:
    site, other_site = random_site(5), random_site(7)
    settings = settings_of(site)
    crawl_virtually(tmp_path / "complete", settings, site)
    folder, other = tmp_path / "killed", tmp_path / "other"
    crawl_until_killed(folder, settings, site, checkpoint_at=-1, kill_at=40)
    crawl_until_killed(other, settings_of(other_site), other_site, checkpoint_at=15, kill_at=20)
    shutil.copytree(other / CHECKPOINT_FOLDER, folder / CHECKPOINT_FOLDER)
    crawl_virtually(folder, settings, site)
    assert visited_urls(folder) == visited_urls(tmp_path / "complete")


def test_a_checkpoint_of_a_copy_that_was_continued_is_not_used(tmp_path: Path) -> None:
    site, changed = random_site(5), random_site(5)
    settings = settings_of(site)
    folder, copy = tmp_path / "killed", tmp_path / "copy"
    crawl_until_killed(folder, settings, site, checkpoint_at=-1, kill_at=20)
    shutil.copytree(folder, copy)
    changed.pages = {url: f"{html}<p>changed" for url, html in site.pages.items()}
    crawl_until_killed(folder, settings, site, checkpoint_at=-1, kill_at=30)
    crawl_until_killed(copy, settings, changed, checkpoint_at=15, kill_at=20)
    ((_, position),) = checkpoints_of(copy).newest("position")
    with StoredCrawl.open(folder) as crawl:
        assert not crawl.has(CrawlPosition(**position))
    with StoredCrawl.open(copy) as crawl:
        assert crawl.has(CrawlPosition(**position))


@pytest.mark.parametrize("with_checkpoint", [True, False])
@pytest.mark.parametrize("strategy", few_strategies(STRATEGIES.names()))
def test_a_version_that_decides_otherwise_takes_over_all_visits(
    strategy: str, with_checkpoint: bool, tmp_path: Path
) -> None:
    site = random_site(6, n_pages=90)
    settings = settings_of(site, strategy)
    folder = tmp_path / "killed"
    crawl_until_killed(folder, settings, site, checkpoint_at=20 if with_checkpoint else -1, kill_at=60)
    before = visited_urls(folder)
    # The journal says that other pages were requested than this version requests.
    execute(folder, "DELETE FROM event WHERE number = (SELECT max(number) - 10 FROM event)")
    crawl_virtually(folder, settings, site)
    after = visited_urls(folder)
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    crawl_virtually(tmp_path / "complete", settings, site)
    if strategy not in ("infospiders", "fish_search"):  # which do not visit all pages that can be reached
        assert set(after) == set(visited_urls(tmp_path / "complete"))
