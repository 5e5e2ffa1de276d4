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
import ipaddress
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenthound.errors import BadInput, printable
from scenthound.files import DAMAGE, opened
from scenthound.reasons import Reason
from scenthound.web.fetch import NotFetched
from scenthound.web.lookup_threads import Lookup, LookupThreads, system_lookup


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

    def _answered_in_thread(self, host: str, found: tuple[str, ...] | Reason) -> None:
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._answer, host, found)

    def _give_up(self, host: str) -> None:
        self._answer(host, Reason.DNS_FAILED)

    def _answer(self, host: str, found: tuple[str, ...] | Reason) -> None:
        question = self._questions.pop(host, None)
        if question is None:
            # Given up before, or closed.
            return
        question.time_out.cancel()
        elapsed_s = self._loop.time() - question.asked_at_s
        answer = NotFetched(found, printable(host), elapsed_s) if isinstance(found, Reason) else Resolved(found)
        if found is not Reason.DNS_FAILED:
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
            raise BadInput(
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
        raise BadInput(
            f"{printable(path)}, line {number}: write an IP address and then names, as in '127.0.0.1 a.test'."
        )
