"""A whole crawl of every case of the hostile site: it ends, in time, with few requests, and tells the reason."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fetching import LIMITS, PATIENT, fetcher_for
from hostile_cases import PAGE_TAKEN, HostileCase
from hostile_server import CASES, HostileSite, hostile_site
from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.plan import CrawlSettings
from scenthound.crawler.runner import EpochClock, LiveRun, RunLimits
from scenthound.crawler.start import take_up
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.dns import SystemResolver
from scenthound.web.fetch import FetchLimits
from virtual_site import plan

LATE = (SkipReason.CONNECT_TIMEOUT, SkipReason.HEADERS_TIMEOUT, SkipReason.BODY_TIMEOUT)
#: The page, its host's robots.txt, and the redirects that are followed for one of them.
MOST_REQUESTS = 7
MOST_SECONDS = 8.0


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with hostile_site(pace_s=0.05) as site:
        yield site


def crawl_site(site: HostileSite, folder: Path, settings: CrawlSettings, limits: FetchLimits) -> EndReason:
    """As `lab.crawl` does it, with the resolver of the site."""
    with (
        closing(CrawlStore.create(folder, settings.as_settings(), ArchiveSettings("test"))) as store,
        closing(CrawlParts(settings, store)) as parts,
    ):
        take_up(parts, settings, store)

        async def run() -> EndReason:
            resolver = SystemResolver(asyncio.get_running_loop(), site.hosts, timeout_s=0.3, lookup=site.lookup)
            with closing(resolver):
                return await LiveRun(
                    parts.crawl,
                    fetcher_for(site, limits),
                    resolver,
                    RunLimits(settings.page_budget),
                    clock=EpochClock(),
                    watch=lambda _status: None,
                ).run()

        return asyncio.run(run())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_crawl_survives_a_hostile_page_and_tells_the_reason(
    site: HostileSite, case: HostileCase, tmp_path: Path
) -> None:
    if not site.offers(case):
        pytest.skip("the openssl command, which makes the certificates, is not installed")
    site.requests.clear()
    began_s = time.monotonic()
    settings = plan(
        (site.page_url(case.name),), tries=1, page_budget=1, sitemaps=True, near_duplicates=True, soft_404s=True
    )
    crawl_site(site, tmp_path / "crawl", settings, LIMITS if case.fetched in LATE else PATIENT)
    assert time.monotonic() - began_s < MOST_SECONDS
    assert site.requests.total() <= MOST_REQUESTS
    with CrawlStore.open(tmp_path / "crawl") as store:
        outcomes = [PAGE_TAKEN for _ in store.visits()] + [row.reason for row in store.skipped()]
    assert outcomes == [case.crawled]
