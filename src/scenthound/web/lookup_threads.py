"""Threads that ask the system for the addresses of hosts, because the system's call waits for the answer.

They are daemons: a name server that does not answer must not hold up the end of the program.
"""

import queue
import socket
import threading
from collections.abc import Callable, Iterable

from scenthound.reasons import Reason

#: More addresses of one host than this are of no use to one crawler.
MOST_ADDRESSES = 8
_NO_SUCH_HOST = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))

#: Asks for the addresses of a host and waits for the answer; raises OSError or UnicodeError as getaddrinfo does.
Lookup = Callable[[str], Iterable[str]]
#: Called from a thread.
OnAnswer = Callable[[str, tuple[str, ...] | Reason], None]


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


def _looked_up(lookup: Lookup, host: str) -> tuple[str, ...] | Reason:
    try:
        addresses = tuple(dict.fromkeys(lookup(host)))[:MOST_ADDRESSES]
    except socket.gaierror as error:
        return Reason.DNS_NOT_FOUND if error.errno in _NO_SUCH_HOST else Reason.DNS_FAILED
    except UnicodeError:
        # A label that is empty or longer than 63 bytes: no such name can exist.
        return Reason.DNS_NOT_FOUND
    except OSError:
        return Reason.DNS_FAILED
    return addresses or Reason.DNS_NOT_FOUND
