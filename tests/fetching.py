"""Helpers that fetch with short limits, from the hostile site or from any address."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType

from hostile_server import ADDRESS, SLOW_NAME, HostileSite
from scenthound.reasons import SkipReason
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.dns import Resolved, SystemResolver
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.urls import host_of
from timing import WAIT_S

#: As much time as a busy machine may need.
PATIENT = FetchLimits(
    connect_s=WAIT_S / 2, headers_s=WAIT_S / 2, total_s=WAIT_S / 2, body_bytes=1_000_000, header_bytes=16_384
)
#: For the host whose name is looked up without end.
LOOKUP_S = 0.3


def limits_for(outcome: SkipReason | str, patience: float = 1.0) -> FetchLimits:
    """A short limit for the step that times out in such a case, and long ones for all others."""
    match outcome:
        case SkipReason.CONNECT_TIMEOUT:
            return replace(PATIENT, connect_s=0.3 * patience)
        case SkipReason.HEADERS_TIMEOUT:
            return replace(PATIENT, headers_s=0.3 * patience)
        case SkipReason.BODY_TIMEOUT:
            return replace(PATIENT, total_s=0.5 * patience)
    return PATIENT


def patiences(outcome: SkipReason | str) -> tuple[float, ...]:
    """Factors of the limits to try in turn: on a busy machine, a step before the slow one may reach its limit first."""
    return (1.0, 5.0, 25.0) if limits_for(outcome) != PATIENT else (1.0,)


@contextmanager
def no_errors_in_callbacks() -> Iterator[None]:
    """libcurl's callbacks have no caller to raise to: pycurl passes their errors to `sys.excepthook`, which prints
    them."""
    errors: list[BaseException] = []

    def note(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        errors.append(error)

    before, sys.excepthook = sys.excepthook, note
    try:
        yield
    finally:
        sys.excepthook = before
    assert errors == [], errors


def fetcher_for(site: HostileSite, limits: FetchLimits = PATIENT) -> CurlFetcher:
    """A fetcher that may go to the site, and to no other private address."""
    ca_file = None if site.ca_file is None else str(site.ca_file)
    return CurlFetcher(limits, user_agent="test", also_allowed=(ADDRESS,), ca_file=ca_file)


async def fetched(fetcher: CurlFetcher, request: Request) -> Response | NotFetched:
    result: asyncio.Future[Response | NotFetched] = asyncio.get_running_loop().create_future()
    fetcher.start(request, result.set_result)
    return await asyncio.wait_for(result, WAIT_S)


def resolver_for(site: HostileSite, host: str) -> SystemResolver:
    """A resolver that knows the site, and gives up one lookup only."""
    timeout_s = LOOKUP_S if host == SLOW_NAME else WAIT_S
    return SystemResolver(asyncio.get_running_loop(), site.hosts, timeout_s=timeout_s, lookup=site.lookup)


async def resolved(site: HostileSite, url: str) -> Resolved | NotFetched:
    resolver = resolver_for(site, host_of(url))
    result: asyncio.Future[Resolved | NotFetched] = asyncio.get_running_loop().create_future()
    resolver.start(host_of(url), result.set_result)
    try:
        return await asyncio.wait_for(result, WAIT_S)
    finally:
        resolver.close()


async def resolved_and_fetched(site: HostileSite, request: Request, limits: FetchLimits) -> Response | NotFetched:
    """Both steps, as a crawl takes them."""
    found = await resolved(site, request.url)
    if isinstance(found, NotFetched):
        return found
    fetcher = fetcher_for(site, limits)
    try:
        return await fetched(fetcher, replace(request, addresses=found.addresses))
    finally:
        fetcher.close()
