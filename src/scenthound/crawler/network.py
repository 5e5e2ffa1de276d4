"""The network side of a run: its event loop, fetcher and resolver, and the signals that end it."""

import asyncio
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from scenthound.crawler.settings import CrawlSettings
from scenthound.signals import restored_signals
from scenthound.web.access import Access, RequestHeaders
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.dns import Lookup, SystemResolver, system_lookup
from scenthound.web.open_files import can_open_files
from scenthound.web.proxies import Proxies


def resolver_of(settings: CrawlSettings, access: Access, loop: asyncio.AbstractEventLoop) -> SystemResolver:
    lookup = (lambda _host: ()) if settings.only_hosts else _lookup_beside(access.proxies)
    return SystemResolver(loop, settings.hosts, lookup=lookup)


def _lookup_beside(proxies: Proxies) -> Lookup:
    """Look up a host with the system's resolver. A name that only a proxy can resolve stands for its address; the
    fetcher refuses direct requests for it, as those of a scheme without a proxy."""

    def look_up(host: str) -> Iterable[str]:
        try:
            return system_lookup(host)
        except (OSError, UnicodeError):
            if can_open_files() and any(proxies.for_url(f"{scheme}://{host}/") for scheme in ("http", "https")):
                return [host]
            raise

    return look_up


def fetcher_of(settings: CrawlSettings, access: Access) -> CurlFetcher:
    is_mail_address = "@" in settings.contact and "/" not in settings.contact
    return CurlFetcher(
        settings.limits,
        user_agent=settings.user_agent,
        from_address=settings.contact if is_mail_address else None,
        allow_private=settings.allow_private,
        also_allowed=settings.also_allowed,
        ca_file=settings.ca_file,
        access=access,
        connections=settings.connections,
    )


def plain_fetcher_of(settings: CrawlSettings, access: Access) -> CurlFetcher:
    """One that sends no headers and cookies of the user."""
    return fetcher_of(settings, replace(access, headers=RequestHeaders()))


@contextmanager
def signals_to(stop: Callable[[], None]) -> Iterator[None]:
    """Signals stop the run; the handlers that were there before are restored. Only in the main thread."""
    loop = asyncio.get_running_loop()
    endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    # The loop would leave the default handlers behind.
    with restored_signals(*endings):
        for ending in endings:
            loop.add_signal_handler(ending, stop)
        try:
            yield
        finally:
            for ending in endings:
                loop.remove_signal_handler(ending)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """That of uvloop, if it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
