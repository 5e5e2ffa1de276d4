"""Names to addresses: a table first, then the system's own resolver, asked in threads and remembered.

Rules
- `start` returns at once; the callback is called once, later, from the loop.
- A host that is an address answers itself. Several who ask for one host wait for one lookup.
- Answers, and that there is no such host, are kept for a while, and not more of them than a bound. That a lookup failed
  is not kept: the next who asks may be luckier. `forget` is for addresses at which nobody answers.
- A lookup that takes too long is given up, though its thread is not free before the system's resolver gives up as well.
  Threads are daemons, so that they never hold up the end of the program.
"""

import asyncio
import functools
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
from scenthound.files import DAMAGE, opened
from scenthound.reasons import SkipReason
from scenthound.web.fetch import NotFetched

# Threads that ask the system for the addresses of hosts, because the system's call waits for the answer.
#
# They are daemons: a name server that does not answer must not hold up the end of the program.

#: More addresses of one host than this are of no use to one crawler.
MOST_ADDRESSES = 8
_NO_SUCH_HOST = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))

#: Asks for the addresses of a host and waits for the answer; raises OSError or UnicodeError as getaddrinfo does.
Lookup = Callable[[str], Iterable[str]]
#: Called from a thread.
OnAnswer = Callable[[str, tuple[str, ...] | SkipReason], None]


def system_lookup(host: str) -> list[str]:
    """The addresses that the system knows for a host, or can learn."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


class LookupThreads:
    """Threads that ask, one more with each question until there are `most`."""

    def __init__(self, lookup: Lookup, most: int, on_answer: OnAnswer) -> None:
        self._lookup = lookup
        self._most = most
        self._on_answer = on_answer
        self._asked: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._threads = 0
        self._closed = False

    def ask(self, host: str) -> None:
        self._asked.put(host)
        if self._threads < self._most:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name="scenthound-lookup").start()

    def close(self) -> None:
        """No more answers are told, and threads end when they are free."""
        self._closed = True
        for _ in range(self._threads):
            self._asked.put(None)

    def _work(self) -> None:
        while (host := self._asked.get()) is not None and not self._closed:
            answer = _looked_up(self._lookup, host)
            if not self._closed:
                self._on_answer(host, answer)


def _looked_up(lookup: Lookup, host: str) -> tuple[str, ...] | SkipReason:
    try:
        addresses = tuple(dict.fromkeys(lookup(host)))[:MOST_ADDRESSES]
    except socket.gaierror as error:
        return SkipReason.DNS_NOT_FOUND if error.errno in _NO_SUCH_HOST else SkipReason.DNS_FAILED
    except UnicodeError:
        # A label that is empty or longer than 63 bytes: no such name can exist.
        return SkipReason.DNS_NOT_FOUND
    except OSError:
        return SkipReason.DNS_FAILED
    return addresses or SkipReason.DNS_NOT_FOUND


@dataclass(frozen=True, slots=True)
class Resolved:
    """The addresses of a host, in the order in which to try them."""

    addresses: tuple[str, ...]


OnResolved = Callable[[Resolved | NotFetched], None]


class Resolver(Protocol):
    """Finds the addresses of hosts."""

    def start(self, host: str, on_done: OnResolved) -> None:
        """Begin to look up the host of a canonical URL."""

    def forget(self, host: str) -> None:
        """Let the next who asks for the host wait for a new lookup."""

    def close(self) -> None:
        """Forget all lookups under way."""


@dataclass(slots=True)
class _Question:
    """A lookup under way, and who waits for it."""

    asked_at_s: float
    waiting: list[OnResolved]
    time_out: asyncio.TimerHandle


class SystemResolver:
    """Asks the system. `hosts` maps names to addresses and comes first."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        hosts: Mapping[str, str],
        *,
        timeout_s: float = 15.0,
        lifetime_s: float = 900.0,
        most_kept: int = 65_536,
        threads: int = 16,
        lookup: Lookup = system_lookup,
    ) -> None:
        self._loop = loop
        self._hosts = hosts
        self._timeout_s = timeout_s
        self._lifetime_s = lifetime_s
        self._most_kept = most_kept
        self._workers = LookupThreads(lookup, threads, self._answered_in_thread)
        self._kept: dict[str, tuple[float, Resolved | NotFetched]] = {}
        self._questions: dict[str, _Question] = {}

    def start(self, host: str, on_done: OnResolved) -> None:
        """Begin to look up the host of a canonical URL."""
        known = self._known(host)
        if known is not None:
            self._loop.call_soon(on_done, known)
        elif host in self._questions:
            self._questions[host].waiting.append(on_done)
        else:
            time_out = self._loop.call_later(self._timeout_s, self._give_up, host)
            self._questions[host] = _Question(self._loop.time(), [on_done], time_out)
            self._workers.ask(host)

    def forget(self, host: str) -> None:
        """Let the next who asks for the host wait for a new lookup."""
        self._kept.pop(host, None)

    def close(self) -> None:
        """Forget all lookups under way."""
        for question in self._questions.values():
            question.time_out.cancel()
        self._questions.clear()
        self._workers.close()

    def _known(self, host: str) -> Resolved | NotFetched | None:
        if host in self._hosts:
            return Resolved((self._hosts[host],))
        try:
            return Resolved((str(ipaddress.ip_address(host.strip("[]"))),))
        except ValueError:
            until_s, answer = self._kept.get(host, (0.0, None))
            return answer if until_s > self._loop.time() else None

    def _answered_in_thread(self, host: str, found: tuple[str, ...] | SkipReason) -> None:
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._answer, host, found)

    def _give_up(self, host: str) -> None:
        self._answer(host, SkipReason.DNS_FAILED)

    def _answer(self, host: str, found: tuple[str, ...] | SkipReason) -> None:
        question = self._questions.pop(host, None)
        if question is None:
            # Given up before, or closed.
            return
        question.time_out.cancel()
        elapsed_s = self._loop.time() - question.asked_at_s
        answer = NotFetched(found, printable(host), elapsed_s) if isinstance(found, SkipReason) else Resolved(found)
        if found is not SkipReason.DNS_FAILED:
            self._keep(host, answer)
        for on_done in question.waiting:
            self._loop.call_soon(on_done, answer)

    def _keep(self, host: str, answer: Resolved | NotFetched) -> None:
        self._kept.pop(host, None)
        if len(self._kept) >= self._most_kept:
            del self._kept[next(iter(self._kept))]
        self._kept[host] = (self._loop.time() + self._lifetime_s, answer)


def read_hosts(path: Path) -> dict[str, str]:
    """Names and their addresses from a file in the format of /etc/hosts; the first line that has a name wins."""
    with opened(path) as source:
        try:
            lines = source.content.read().decode().splitlines()
        except (UnicodeDecodeError, *DAMAGE):
            raise InvalidInput(
                f"{printable(path)} is no text in UTF-8: a hosts file has lines 'ADDRESS NAME...'."
            ) from None
    hosts: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        address, *names = line.partition("#")[0].split() or [""]
        if address:
            _check_line(path, number, address, names)
        for name in names:
            hosts.setdefault(name.lower(), address)
    return hosts


def _check_line(path: Path, number: int, address: str, names: list[str]) -> None:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        names = []
    if not names:
        raise InvalidInput(
            f"{printable(path)}, line {number}: write an IP address and then names, as in '127.0.0.1 a.test'."
        )


# Which IP addresses a crawler may talk to: those that anyone on the internet can reach, and no others.
#
# Rules
# - Public is what IANA's registries of special addresses call globally reachable, and unicast. Private networks, this
#   machine, link-local and shared (CGNAT) addresses, documentation, multicast and broadcast are not.
# - An IPv6 address that carries an IPv4 one (mapped, 6to4, NAT64, ISATAP) reaches that address through some gateway,
#   so it is public only if that is. Teredo carries two and is never needed to reach a server.
# - What is not an address is not public.

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
#: NAT64 within one network (RFC 8215), and what used to be site-local (RFC 3879), which old registries miss.
_NEVER = tuple(ipaddress.IPv6Network(network) for network in ("64:ff9b:1::/48", "fec0::/10", "2001::/32", "5f00::/16"))
#: Anycast relays of 6to4, given back in 2015 (RFC 7526).
_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")
_ISATAP = (0x00005EFE, 0x02005EFE)
_KEPT = 65_536


@functools.lru_cache(_KEPT)
def is_public(address: str) -> bool:
    """Whether an address in its usual spelling, without brackets, is one that anyone can reach."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return _public_v4(parsed) if isinstance(parsed, ipaddress.IPv4Address) else _public_v6(parsed)


def _public_v4(address: ipaddress.IPv4Address) -> bool:
    return address.is_global and not address.is_multicast and not address.is_reserved and address not in _RELAYS


def _public_v6(address: ipaddress.IPv6Address) -> bool:
    if address.scope_id is not None or any(address in network for network in _NEVER):
        return False
    carried = _carried(address)
    if carried is not None and not _public_v4(carried):
        return False
    if address.ipv4_mapped is not None or address in _NAT64:
        # Older registries call all of these special; what they carry has been looked at.
        return True
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to, if it leads to one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    number = int(address)
    interface = number >> 32 & 0xFFFFFFFF
    if address in _NAT64 or interface in _ISATAP:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


def same_address(address: str) -> str:
    """One spelling for all of an address, so that two can be compared; what is no address stays as it is."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address
