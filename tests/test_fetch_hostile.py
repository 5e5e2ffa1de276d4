"""Every response of the hostile site takes bounded time, memory and requests, and has its skip reason."""

import asyncio
import time
import tracemalloc
from collections.abc import Iterator

import pytest

from fetching import (
    fetched,
    fetcher_for,
    limits_for,
    no_errors_in_callbacks,
    patiences,
    resolved,
    resolved_and_fetched,
)
from hostile_cases import PAGE, PAGE_FETCHED, HostileCase, response_bytes
from hostile_hosts import PRIVATE_TARGETS
from hostile_server import ADDRESS, CASES, HostileSite, hostile_site
from scenthound.reasons import SkipReason
from scenthound.web.fetch import NotFetched, Request, Response
from scenthound.web.urls import canonical
from timing import slowness

#: Ten times the limit: the server is in this process, too, with its responses and send buffers.
MOST_MEMORY_BYTES = 10_000_000


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with hostile_site(pace_s=0.05) as site:
        yield site


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_hostile_response_is_bounded_and_has_its_skip_reason(site: HostileSite, case: HostileCase) -> None:
    if not site.offers(case):
        pytest.skip("the openssl command, which makes the certificates, is not installed")
    for patience in patiences(case.fetched):
        site.requests.clear()
        tracemalloc.start()
        started_s = time.thread_time()
        limits = limits_for(case.fetched, patience)
        with no_errors_in_callbacks():
            result = asyncio.run(resolved_and_fetched(site, site.request(case.name), limits))
        cpu_s = time.thread_time() - started_s
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert cpu_s < case.max_cpu_s * slowness()
        assert peak_bytes < MOST_MEMORY_BYTES
        assert site.requests[case.path] <= case.max_requests
        outcome = result.reason if isinstance(result, NotFetched) else PAGE_FETCHED
        if outcome == case.fetched:
            break
    assert outcome == case.fetched, result


def test_a_response_truncated_at_any_byte_is_a_protocol_error(site: HostileSite) -> None:
    """One fetcher for all: what one broken connection leaves behind must not harm the next request."""

    async def fetch_all() -> list[Response | NotFetched]:
        fetcher = fetcher_for(site)
        urls = [f"{site.start_url}{how}-at?{at}" for how in ("close", "reset") for at in range(len(response_bytes()))]
        results = [await fetched(fetcher, Request(url, (ADDRESS,))) for url in urls]
        results.append(await fetched(fetcher, site.request("page")))
        fetcher.close()
        return results

    *truncated, complete = asyncio.run(fetch_all())
    assert len(truncated) == 2 * len(response_bytes())
    reasons = [result.reason for result in truncated if isinstance(result, NotFetched)]
    assert reasons == [SkipReason.PROTOCOL_ERROR] * len(truncated)
    assert isinstance(complete, Response)
    assert complete.content == PAGE


@pytest.mark.parametrize("target", PRIVATE_TARGETS.values())
def test_no_spelling_of_a_private_address_is_connected_to(site: HostileSite, target: str) -> None:
    async def fetch() -> Response | NotFetched:
        url = canonical(target)
        assert url is not None
        found = await resolved(site, url)
        assert not isinstance(found, NotFetched)
        fetcher = fetcher_for(site)
        result = await fetched(fetcher, Request(url, found.addresses))
        fetcher.close()
        return result

    result = asyncio.run(fetch())
    assert isinstance(result, NotFetched)
    assert result.reason is SkipReason.ADDRESS_FORBIDDEN


def test_fifty_concurrent_bombs_stay_within_their_limits(site: HostileSite) -> None:
    names = ["gzip-bomb", "br-bomb", "zstd-bomb", "deflate-bomb", "bomb-in-a-bomb"] * 10

    async def fetch_all() -> list[Response | NotFetched]:
        fetcher = fetcher_for(site)
        results = await asyncio.gather(*(fetched(fetcher, site.request(name)) for name in names))
        fetcher.close()
        return results

    tracemalloc.start()
    results = asyncio.run(fetch_all())
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Each may take a megabyte; decoded, it would be a thousand.
    assert peak_bytes < 60_000_000
    assert {result.reason for result in results if isinstance(result, NotFetched)} == {SkipReason.COMPRESSION_BOMB}
    assert not any(isinstance(result, Response) for result in results)
