"""A process that parses pages one after the other: how it looks from here, and its life.

Rules
- Both sides talk through one socket, which is the process's standard input. A message is its length and its pickle.
  First the process says that it is ready, because loading takes longer than most pages; then it answers each page.
- A page is scanned with a fresh vocabulary. The answer has its stems in order of first appearance, so that they can be
  numbered anew where it is read.
- An error in parsing is answered as `PARSE_FAILED`. So much memory as `MEMORY_BYTES` is all that the process gets; what
  needs more is an error too, or the end of the process.
- It goes when the socket ends, and by an alarm soon after a page's time is up, even if nobody is left to kill it.
"""

import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from scenthound.reasons import Reason
from scenthound.text.words import WordScanner
from scenthound.web.parse import ParsedPage, parse_html

#: Data that the process may hold. The worst pages of 2 MB that we know take 220 MB.
MEMORY_BYTES = 1 << 30
#: How much later than the one who asked the process itself finds that a page takes too long.
ALARM_LATER_S = 5.0
#: What the process says first.
READY = "ready"

_LENGTH = struct.Struct("<Q")
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PageToParse:
    html: bytes
    url: str
    http_charset: str | None
    agent: str
    timeout_s: float


@dataclass(frozen=True, slots=True)
class PageOfStems:
    """A page whose words are numbers in a vocabulary of its own: `stems[number]` is the stem."""

    page: ParsedPage
    stems: list[str]

    def numbered_by(self, scanner: WordScanner) -> ParsedPage:
        """The page as if the scanner had read it: new stems are numbered in order of first appearance."""
        return replace(self.page, words=scanner.add_stems(self.stems).take(self.page.words))


class ParserProcess:
    """The process, seen from here. Whatever raises `OSError` or `EOFError` found it dead or late: `end` it then."""

    def __init__(self, timeout_s: float | None) -> None:
        """Start it. What is sent and received waits so long at most; with None it does not wait at all."""
        self._socket, theirs = socket.socketpair()
        self.set_timeout(timeout_s)
        self._outgoing = memoryview(b"")
        self._incoming = _Message()
        try:
            self._process = _launched(theirs)
        except OSError:
            self._socket.close()
            raise
        finally:
            theirs.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def set_timeout(self, timeout_s: float | None) -> None:
        self._socket.settimeout(0.0 if timeout_s is None else timeout_s)

    def order(self, page: PageToParse) -> None:
        """Have a page ready to be sent."""
        self._outgoing = memoryview(_framed(page))

    def send_some(self) -> bool:
        """Send what the socket takes; whether all was sent."""
        with suppress(BlockingIOError):
            self._outgoing = self._outgoing[self._socket.send(self._outgoing) :]
        return not self._outgoing

    def receive_some(self) -> Any:
        """What the process says once it came whole: `READY`, a `PageOfStems` or a `Reason`; None until then."""
        with suppress(BlockingIOError):
            self._incoming.add(self._socket.recv(_CHUNK_BYTES))
        if not self._incoming.is_whole():
            return None
        message, self._incoming = self._incoming.content(), _Message()
        return message

    def end(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()


def _launched(channel: socket.socket) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import serve; serve()"],
        stdin=channel.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
        # Signals of the terminal are for the crawl, which ends this process when it is time.
        start_new_session=True,
    )


class _Message:
    """What came so far of one message."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, more: bytes) -> None:
        if not more:
            raise EOFError
        self._bytes += more

    def is_whole(self) -> bool:
        held = len(self._bytes) - _LENGTH.size
        return held >= 0 and held >= _LENGTH.unpack_from(self._bytes)[0]

    def content(self) -> Any:
        return pickle.loads(memoryview(self._bytes)[_LENGTH.size :])


def _framed(content: object) -> bytes:
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(pickled)) + pickled


def serve() -> None:
    """The life of the process: answer pages until nobody asks any more."""
    _limit_memory()
    with suppress(OSError, EOFError), socket.socket(fileno=0) as channel:
        channel.sendall(_framed(READY))
        while True:
            page = _received_page(channel)
            # Not handled, so the alarm ends the process wherever it is, compiled code included.
            signal.setitimer(signal.ITIMER_REAL, page.timeout_s + ALARM_LATER_S)
            answer = _framed(_parsed(page))
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            channel.sendall(answer)


def _received_page(channel: socket.socket) -> PageToParse:
    message = _Message()
    while not message.is_whole():
        message.add(channel.recv(_CHUNK_BYTES))
    page: PageToParse = message.content()
    return page


def _parsed(page: PageToParse) -> PageOfStems | Reason:
    scanner = WordScanner()
    with suppress(Exception):
        parsed = parse_html(page.html, page.url, scanner, http_charset=page.http_charset, agent=page.agent)
        return PageOfStems(parsed, scanner.stems)
    return Reason.PARSE_FAILED


def _limit_memory() -> None:
    import resource

    # Where there is no such limit, time is all that is limited.
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))
