"""Orders carried out: a name is looked up, a page, robots.txt or sitemap fetched, a recorded page answered at once."""

import asyncio
from collections.abc import Callable

from scenthound.drivers.live.crawl import RawAnswer
from scenthound.drivers.live.orders import Kind, Order
from scenthound.web.fetch import Fetcher, Request
from scenthound.web.resolve import Resolver
from scenthound.web.robots import READ_BYTES
from scenthound.web.urls import host_of

SITEMAP_BYTES = 10_000_000
OnDone = Callable[[RawAnswer | None], None]


def carry_out(
    order: Order, fetcher: Fetcher, resolver: Resolver, loop: asyncio.AbstractEventLoop, on_done: OnDone
) -> None:
    """Tells `on_done` on the loop; None answers orders for recorded pages."""
    match order.kind:
        case Kind.ADDRESS:
            # The engine asks for what it does not know, or for what no longer holds.
            resolver.forget(host_of(order.url))
            resolver.start(host_of(order.url), on_done)
        case Kind.RECORDED:
            loop.call_soon(on_done, None)
        case Kind.ROBOTS:
            fetcher.start(Request(order.url, order.addresses, False, READ_BYTES), on_done)
        case Kind.SITEMAP:
            fetcher.start(Request(order.url, order.addresses, False, SITEMAP_BYTES), on_done)
        case Kind.PAGE:
            fetcher.start(Request(order.url, order.addresses), on_done)
