"""Parsing that cannot stop a crawl: a page that takes too long, or too much memory, is given up.

Rules
- Pages of at most `inline_bytes` are parsed here at once: no such page takes long. Larger ones go to a process of their
  own, one at a time and in order, which is started when the first of them comes.
- A page that is not parsed in `timeout_s` is `PARSE_TIMEOUT`; the process is killed, the next page gets a new one.
- A page that raises an error, or that the process dies of, is `PARSE_FAILED`. No error of parsing goes further.
- Words are numbered when the answer is handed over, and as if the page had been parsed here at that moment. So the
  order of the answers decides the numbers, and nothing else does.
"""

import asyncio
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from scenthound.errors import PluginError
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import SkipReason
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import ParsedPage, parse_html

# A process that parses pages one after the other: how it looks from here, and its life.
#
# Rules
# - Both sides talk through one socket, which is the process's standard input. A message is its length and its pickle.
#   First the process says that it is ready, because loading takes longer than most pages; then it answers each page.
# - A page is scanned with a fresh vocabulary. The answer has its stems in order of first appearance, so that they can
#   be numbered anew where it is read.
# - An error in parsing is answered as `PARSE_FAILED`. So much memory as `MEMORY_BYTES` is all that the process gets;
#   what needs more is an error too, or the end of the process.
# - It goes when the socket ends, and by an alarm soon after a page's time is up, even if nobody is left to kill it.

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
        """What the process says once it came whole: `READY`, a `PageOfStems` or a `SkipReason`; None until then."""
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


def _parsed(page: PageToParse) -> PageOfStems | SkipReason:
    scanner = WordScanner()
    with suppress(Exception):
        parsed = parse_html(page.html, page.url, scanner, http_charset=page.http_charset, agent=page.agent)
        return PageOfStems(parsed, scanner.stems)
    return SkipReason.PARSE_FAILED


def _limit_memory() -> None:
    import resource

    # Where there is no such limit, time is all that is limited.
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))


#: How long the process may take to start: a busy machine is no fault of the page.
START_S = 60.0

OnParsed = Callable[[ParsedPage | SkipReason], None]


class GuardedParser:
    """`start` parses on the event loop, `parse_now` without one; not while pages that were started are waited for.
    Links of pages that are parsed here may be told as the numbers that they have in `table`."""

    def __init__(
        self,
        scanner: WordScanner,
        *,
        agent: str,
        timeout_s: float = 5.0,
        inline_bytes: int = 131_072,
        table: UrlTable | None = None,
    ) -> None:
        self._scanner = scanner
        self._table = table
        self._agent = agent
        self._timeout_s = timeout_s
        self._inline_bytes = inline_bytes
        self._process: ParserProcess | None = None
        self._waiting: deque[tuple[PageToParse, OnParsed]] = deque()
        self._current: tuple[PageToParse, OnParsed] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, html: bytes, url: str, http_charset: str | None, on_done: OnParsed) -> None:
        """Parse the page; `on_done` is called once, for a small page before this returns."""
        if len(html) <= self._inline_bytes:
            on_done(self._parse_here(html, url, http_charset))
            return
        self._waiting.append((self._to_parse(html, url, http_charset), on_done))
        self._begin_next()

    def parse_now(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | SkipReason:
        """The page, or why there is none, when its time is up at the latest."""
        if len(html) <= self._inline_bytes:
            return self._parse_here(html, url, http_charset)
        if self._current is not None:
            raise PluginError("A page was to be parsed at once while another is parsed; wait for that one first.")
        self._detach()
        try:
            return self._numbered(self._answer_now(self._to_parse(html, url, http_charset)))
        except TimeoutError:
            answer = SkipReason.PARSE_TIMEOUT
        except (OSError, EOFError):
            answer = SkipReason.PARSE_FAILED
        self._end_process()
        return answer

    def close(self) -> None:
        """End the process. Pages that wait are forgotten."""
        self._waiting.clear()
        self._current = None
        self._stop_timer()
        self._end_process()

    def _to_parse(self, html: bytes, url: str, http_charset: str | None) -> PageToParse:
        return PageToParse(html, url, http_charset, self._agent, self._timeout_s)

    def _parse_here(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | SkipReason:
        try:
            return parse_html(html, url, self._scanner, http_charset=http_charset, agent=self._agent, table=self._table)
        except OSError:
            # No page can cause that: the disk does not take the compiled code, say.
            raise
        except Exception:  # noqa: BLE001 - whatever a page does to the parser, the crawl goes on
            return SkipReason.PARSE_FAILED

    def _numbered(self, answer: PageOfStems | SkipReason) -> ParsedPage | SkipReason:
        return answer if isinstance(answer, SkipReason) else answer.numbered_by(self._scanner)

    def _answer_now(self, page: PageToParse) -> PageOfStems | SkipReason:
        if self._process is None:
            self._process = ParserProcess(START_S)
            while self._process.receive_some() is None:
                pass
        self._process.set_timeout(self._timeout_s)
        self._process.order(page)
        while not self._process.send_some():
            pass
        while (answer := self._process.receive_some()) is None:
            pass
        said: PageOfStems | SkipReason = answer
        return said

    def _begin_next(self) -> None:
        if self._current is not None or not self._waiting:
            return
        self._current = self._waiting.popleft()
        loop = asyncio.get_running_loop()
        if self._process is not None:
            self._attach(self._process, loop)
            self._send_page()
            return
        try:
            self._process = ParserProcess(None)
        except OSError:
            loop.call_soon(self._settle, SkipReason.PARSE_FAILED)
            return
        self._attach(self._process, loop)
        self._set_timer(START_S)

    def _attach(self, process: ParserProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Let the loop tell when the process has said something."""
        if self._loop is not loop:
            self._detach()
            process.set_timeout(None)
            loop.add_reader(process.fileno(), self._read)
            self._loop = loop

    def _detach(self) -> None:
        if self._process is not None and self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._process.fileno())
            self._loop.remove_writer(self._process.fileno())
        self._loop = None

    def _send_page(self) -> None:
        if self._process is not None and self._current is not None:
            self._process.order(self._current[0])
            self._set_timer(self._timeout_s)
            asyncio.get_running_loop().add_writer(self._process.fileno(), self._write)

    def _write(self) -> None:
        if self._process is None:
            return
        try:
            if self._process.send_some():
                asyncio.get_running_loop().remove_writer(self._process.fileno())
        except OSError:
            self._give_up(SkipReason.PARSE_FAILED)

    def _read(self) -> None:
        if self._process is None:
            return
        try:
            said = self._process.receive_some()
        except (OSError, EOFError):
            self._give_up(SkipReason.PARSE_FAILED)
            return
        if said == READY:
            self._send_page()
        elif said is not None:
            self._settle(said)

    def _give_up(self, reason: SkipReason) -> None:
        self._end_process()
        self._settle(reason)

    def _settle(self, answer: PageOfStems | SkipReason) -> None:
        """Hand over what became of the current page, and go on with the next."""
        self._stop_timer()
        settled, self._current = self._current, None
        self._begin_next()
        if settled is not None:
            settled[1](self._numbered(answer))

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._give_up, SkipReason.PARSE_TIMEOUT)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_process(self) -> None:
        self._detach()
        if self._process is not None:
            self._process.end()
            self._process = None
