"""How tests fetch: with small limits, waiting for the answer, from the hostile site or from any address."""

import asyncio
from dataclasses import replace

from hostile_server import ADDRESS, HostileSite
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.dns import Resolved, SystemResolver
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from scenthound.web.urls import host_of

#: Short, where running out of time is what a test is about.
LIMITS = FetchLimits(connect_s=0.3, headers_s=0.4, total_s=0.7, body_bytes=1_000_000, header_bytes=16_384)
#: The same with more time, where it is not: machines are busy at times.
PATIENT = replace(LIMITS, connect_s=4.0, headers_s=4.0, total_s=4.5)


def fetcher_for(site: HostileSite, limits: FetchLimits = PATIENT) -> CurlFetcher:
    """A fetcher that may go to the site, and to no other private address."""
    ca_file = None if site.ca_file is None else str(site.ca_file)
    return CurlFetcher(limits, user_agent="test", also_allowed=(ADDRESS,), ca_file=ca_file)


async def fetched(fetcher: CurlFetcher, request: Request) -> Response | NotFetched:
    answer: asyncio.Future[Response | NotFetched] = asyncio.get_running_loop().create_future()
    fetcher.start(request, answer.set_result)
    return await asyncio.wait_for(answer, 5)


async def resolved(site: HostileSite, url: str) -> Resolved | NotFetched:
    loop = asyncio.get_running_loop()
    resolver = SystemResolver(loop, site.hosts, timeout_s=0.3, lookup=site.lookup)
    answer: asyncio.Future[Resolved | NotFetched] = loop.create_future()
    resolver.start(host_of(url), answer.set_result)
    try:
        return await asyncio.wait_for(answer, 5)
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
