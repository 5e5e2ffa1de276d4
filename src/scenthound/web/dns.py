"""DNS: host names to IP addresses. A hosts table first, then the system's resolver, called in threads and cached.

Rules
- `start` returns at once; the callback is called once, later, from the loop.
- An IP address resolves to itself. Concurrent requests for one host share one lookup.
- Addresses, and that a host does not exist, are cached for a limited time and in limited number. Failed lookups are not
  cached. `forget` drops addresses that do not respond.
- A lookup that fails because the process cannot open files says nothing about the host (`TOO_MANY_FILES`).
- A lookup that takes too long fails, but its thread is busy until the system's resolver returns. Threads are daemons,
  so that an unresponsive name server never delays the end of the program.
"""

import asyncio
import ipaddress
import queue
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenthound.errors import InvalidInput, printable
from scenthound.files import text_of
from scenthound.reasons import SkipReason
from scenthound.web.addresses import is_address
from scenthound.web.fetch import NotFetched
from scenthound.web.open_files import can_open_files

#: Further addresses of a host are dropped.
MAX_ADDRESSES = 8
_NOT_CACHED = (SkipReason.DNS_FAILED, SkipReason.TOO_MANY_FILES)
_NO_SUCH_HOST = (socket.EAI_NONAME, socket.EAI_NODATA)

#: Looks up the addresses of a host, blocking; raises OSError or UnicodeError like getaddrinfo.
Lookup = Callable[[str], Iterable[str]]
#: Called from a thread.
OnResult = Callable[[str, tuple[str, ...] | SkipReason], None]


def system_lookup(host: str) -> list[str]:
    """Look up a host with the system's resolver."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class LookupThreads:
    """A pool that starts one more thread with each lookup up to `max_threads`."""

    def __init__(self, lookup: Lookup, max_threads: int, on_result: OnResult) -> None:
        self._lookup = lookup
        self._max_threads = max_threads
        self._on_result = on_result
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads = 0
        self._closed = False

    def submit(self, host: str) -> None:
        self._queue.put(host)
        if self._threads < self._max_threads:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name="scenthound-lookup").start()

    def close(self) -> None:
        """Report no further results; threads end when they are idle."""
        self._closed = True
        for _ in range(self._threads):
            self._queue.put(None)

    def _work(self) -> None:
        while (host := self._queue.get()) is not None and not self._closed:
            result = _look_up(self._lookup, host)
            if not self._closed:
                self._on_result(host, result)


def _look_up(lookup: Lookup, host: str) -> tuple[str, ...] | SkipReason:
    try:
        addresses = tuple(dict.fromkeys(lookup(host)))[:MAX_ADDRESSES]
    except UnicodeError:
        # A label that is empty or longer than 63 bytes: such a name cannot exist.
        return SkipReason.DNS_NOT_FOUND
    except OSError as error:
        if not can_open_files():
            # The system's resolver reports it as any of its errors.
            return SkipReason.TOO_MANY_FILES
        is_missing = isinstance(error, socket.gaierror) and error.errno in _NO_SUCH_HOST
        return SkipReason.DNS_NOT_FOUND if is_missing else SkipReason.DNS_FAILED
    return addresses or SkipReason.DNS_NOT_FOUND


@dataclass(frozen=True, slots=True)
class Resolved:
    """The addresses of a host, in the order in which to try them."""

    addresses: tuple[str, ...]


OnResolved = Callable[[Resolved | NotFetched], None]


class Resolver(Protocol):
    """Resolves host names."""

    def start(self, host: str, on_done: OnResolved) -> None:
        """Start resolving the host of a canonical URL."""

    def forget(self, host: str) -> None:
        """Remove the host from the cache."""

    def close(self) -> None:
        """Abort all lookups."""


@dataclass(slots=True)
class _Lookup:
    """A lookup in progress and its callbacks."""

    started_s: float
    callbacks: list[OnResolved]
    time_out: asyncio.TimerHandle


class SystemResolver:
    """Resolves with the table `hosts` first, then with the system's resolver."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        hosts: Mapping[str, str],
        *,
        timeout_s: float = 15.0,
        lifetime_s: float = 900.0,
        max_cached: int = 65_536,
        threads: int = 16,
        lookup: Lookup = system_lookup,
    ) -> None:
        self._loop = loop
        self._hosts = hosts
        self._timeout_s = timeout_s
        self._lifetime_s = lifetime_s
        self._max_cached = max_cached
        self._workers = LookupThreads(lookup, threads, self._on_thread_result)
        self._cached: dict[str, tuple[float, Resolved | NotFetched]] = {}
        self._lookups: dict[str, _Lookup] = {}

    def start(self, host: str, on_done: OnResolved) -> None:
        """Start resolving the host of a canonical URL."""
        known = self._known(host)
        if known is not None:
            self._loop.call_soon(on_done, known)
        elif host in self._lookups:
            self._lookups[host].callbacks.append(on_done)
        else:
            time_out = self._loop.call_later(self._timeout_s, self._finish, host, SkipReason.DNS_FAILED)
            self._lookups[host] = _Lookup(self._loop.time(), [on_done], time_out)
            self._workers.submit(host)

    def forget(self, host: str) -> None:
        """Remove the host from the cache."""
        self._cached.pop(host, None)

    def close(self) -> None:
        """Abort all lookups."""
        for lookup in self._lookups.values():
            lookup.time_out.cancel()
        self._lookups.clear()
        self._workers.close()

    def _known(self, host: str) -> Resolved | NotFetched | None:
        if host in self._hosts:
            return Resolved((self._hosts[host],))
        try:
            return Resolved((str(ipaddress.ip_address(host.strip("[]"))),))
        except ValueError:
            until_s, result = self._cached.get(host, (0.0, None))
            return result if until_s > self._loop.time() else None

    def _on_thread_result(self, host: str, found: tuple[str, ...] | SkipReason) -> None:
        # Nobody waits for results when the loop is closed.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._finish, host, found)

    def _finish(self, host: str, found: tuple[str, ...] | SkipReason) -> None:
        lookup = self._lookups.pop(host, None)
        if lookup is None:
            # Timed out before, or closed.
            return
        lookup.time_out.cancel()
        elapsed_s = self._loop.time() - lookup.started_s
        result = NotFetched(found, printable(host), elapsed_s) if isinstance(found, SkipReason) else Resolved(found)
        if found not in _NOT_CACHED:
            self._cache(host, result)
        for on_done in lookup.callbacks:
            self._loop.call_soon(on_done, result)

    def _cache(self, host: str, result: Resolved | NotFetched) -> None:
        self._cached.pop(host, None)
        if len(self._cached) >= self._max_cached:
            del self._cached[next(iter(self._cached))]
        self._cached[host] = (self._loop.time() + self._lifetime_s, result)


def read_hosts(path: Path) -> dict[str, str]:
    """Read names and addresses from a file in the format of /etc/hosts; the first line with a name wins."""
    hosts: dict[str, str] = {}
    for number, line in enumerate(text_of(path).splitlines(), 1):
        address, *names = line.partition("#")[0].split() or [""]
        if address and not (names and is_address(address)):
            raise InvalidInput(
                f"{printable(path)}, line {number}: expected an IP address and host names, as in '127.0.0.1 a.test'."
            )
        for name in names:
            hosts.setdefault(name.lower(), address)
    return hosts


def checked_hosts(hosts: Mapping[str, str]) -> dict[str, str]:
    """Addresses by name, names in lower case. InvalidInput for other values."""
    for name, address in hosts.items():
        if not isinstance(name, str) or not isinstance(address, str) or not is_address(address):
            raise InvalidInput(
                f"{{{name!r}: {address!r}}} is not a host name with its IP address, as in {{'a.test': '127.0.0.1'}}."
            )
    return {name.lower(): address for name, address in hosts.items()}
