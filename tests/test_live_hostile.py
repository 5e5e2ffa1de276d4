"""A whole crawl of every case of the hostile site: it ends, in time, with few requests, and tells the reason."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fetching import fetcher_for, limits_for, patiences, resolver_for
from hostile_cases import PAGE_FETCHED, HostileCase
from hostile_server import CASES, HostileSite, hostile_site
from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.replay import start_or_replay
from scenthound.crawler.runner import LiveRun, RunOptions
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.state import CrawlStatus
from scenthound.reasons import EndReason
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.fetch import FetchLimits
from scenthound.web.urls import host_of
from timing import WAIT_S, SkippingLoop, skip, slowness
from virtual_site import plan

#: The page, its host's robots.txt, and the redirects that are followed for one of them.
MOST_REQUESTS = 7
MOST_CPU_S = 8.0


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with hostile_site(pace_s=0.05) as site:
        yield site


def crawl_site(site: HostileSite, folder: Path, settings: CrawlSettings, limits: FetchLimits) -> EndReason:
    """As `lab.crawl` does it, with the resolver of the site."""
    with (
        closing(CrawlStore.create(folder, settings.as_settings(), ArchiveSettings("test"))) as store,
    ):
        parts = CrawlParts(settings, store)
        start_or_replay(parts, settings, store)

        async def run() -> EndReason:
            with closing(resolver_for(site, host_of(settings.seeds[0]))) as resolver:
                live_run = LiveRun(
                    parts.crawl,
                    fetcher_for(site, limits),
                    resolver,
                    RunOptions(watch_s=0.02, watch=skip_cooldowns),
                    clock=asyncio.get_running_loop().time,
                )
                # Cooldowns that are skipped count as well.
                return await asyncio.wait_for(live_run.run(), 100 * WAIT_S)

        with asyncio.Runner(loop_factory=SkippingLoop) as runner:
            return runner.run(run())


def skip_cooldowns(status: CrawlStatus) -> None:
    """Nothing is in flight when all hosts have to be left alone for a while."""
    if not status.in_flight:
        skip(1.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_crawl_survives_a_hostile_page_and_records_the_reason(
    site: HostileSite, case: HostileCase, tmp_path: Path
) -> None:
    if not site.offers(case):
        pytest.skip("the openssl command, which makes the certificates, is not installed")
    settings = plan(
        (site.page_url(case.name),), tries=1, page_budget=1, sitemaps=True, near_duplicates=True, soft_404s=True
    )
    for patience in patiences(case.fetched):
        site.requests.clear()
        folder = tmp_path / f"crawl {patience}"
        began_s = time.thread_time()
        crawl_site(site, folder, settings, limits_for(case.fetched, patience))
        assert time.thread_time() - began_s < MOST_CPU_S * slowness()
        assert site.requests.total() <= MOST_REQUESTS
        with CrawlStore.open(folder) as store:
            outcomes = [PAGE_FETCHED for _ in store.visits()] + [row.reason for row in store.skipped()]
        if outcomes == [case.crawled]:
            break
    assert outcomes == [case.crawled]
