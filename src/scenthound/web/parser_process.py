"""Guarded parsing: no page can stop a crawl by taking too much time or memory.

Rules
- With the extension (`scenthound.native`) all pages are parsed in this process: none takes more than a fraction of a
  second. Without it, pages of more than `INLINE_BYTES` are parsed in a child process, one at a time and in order; it is
  started for the first of them.
- A page that is not parsed within `timeout_s` is `PARSE_TIMEOUT`; the child is killed, and the next page gets a new
  one.
- A page that raises an error, or crashes the child, is `PARSE_FAILED`. No error of parsing is passed on.
- If too many files are open to start the child, the page waits while it is started again and again; a FilesFailure in
  a callback of the loop ends that.
- Words are numbered when the result is delivered, as if the page were parsed in this process then. So the order of
  results alone decides the numbers.

The child process
- Both sides use one socket, the child's standard input. A message is its length and its pickle. The child first sends
  `READY`, because loading takes longer than most pages, then a result for each page.
- A page is parsed with a new vocabulary. The result has its stems in order of first appearance, to be renumbered.
- `MEMORY_BYTES` limits its memory; exceeding it is an error, or the end of the child.
- It ends with the socket, and by an alarm soon after the timeout of a page, even if nobody is left to kill it.
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

from scenthound import native
from scenthound.errors import FilesFailure, PluginError
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import SkipReason
from scenthound.text.tokenizer import WordScanner
from scenthound.web.open_files import NO_FILES_LEFT, limit_memory
from scenthound.web.parse import MAX_PAGE_BYTES, ParsedPage, parse_html

#: Pages that the library parses in this process.
INLINE_BYTES = 131_072
#: The worst known pages of 2 MB take 220 MB.
MEMORY_BYTES = 1 << 30
#: How long after the timeout the child ends itself.
ALARM_LATER_S = 5.0
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
class StemmedPage:
    """A page with a vocabulary of its own: `stems[number]` is the stem of a word."""

    page: ParsedPage
    stems: list[str]

    def with_numbers_of(self, scanner: WordScanner) -> ParsedPage:
        """The page as if the scanner had parsed it: new stems are numbered in order of first appearance."""
        return replace(self.page, words=scanner.find_words(self.stems).take(self.page.words))


class ParserProcess:
    """The parent's side. Methods raise `OSError` or `EOFError` if the child died or timed out: call `end` then."""

    def __init__(self, timeout_s: float | None) -> None:
        """Start the child. `timeout_s` limits sending and receiving; None means non-blocking."""
        self._socket, theirs = socket.socketpair()
        self.set_timeout(timeout_s)
        self._outgoing = memoryview(b"")
        self._incoming = _Message()
        try:
            self._process = _launch(theirs)
        except OSError:
            self._socket.close()
            raise
        finally:
            theirs.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def set_timeout(self, timeout_s: float | None) -> None:
        self._socket.settimeout(0.0 if timeout_s is None else timeout_s)

    def queue_page(self, page: PageToParse) -> None:
        """Prepare a page for `send_some`."""
        self._outgoing = memoryview(_frame(page))

    def send_some(self) -> bool:
        """Send as much as possible; whether all is sent."""
        with suppress(BlockingIOError):
            self._outgoing = self._outgoing[self._socket.send(self._outgoing) :]
        return not self._outgoing

    def receive_some(self) -> Any:
        """Receive some data; the message once it is complete (`READY`, a `StemmedPage` or a `SkipReason`), else
        None."""
        with suppress(BlockingIOError):
            self._incoming.add(self._socket.recv(_CHUNK_BYTES))
        if not self._incoming.is_complete():
            return None
        message, self._incoming = self._incoming.content(), _Message()
        return message

    def end(self) -> None:
        self._socket.close()
        self._process.kill()
        self._process.wait()


def _launch(channel: socket.socket) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import serve; serve()"],
        stdin=channel.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
        # Signals of the terminal are for the crawl only, which ends this process.
        start_new_session=True,
    )


class _Message:
    """A partly received message."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, more: bytes) -> None:
        if not more:
            raise EOFError
        self._bytes += more

    def is_complete(self) -> bool:
        received = len(self._bytes) - _LENGTH.size
        return received >= 0 and received >= _LENGTH.unpack_from(self._bytes)[0]

    def content(self) -> Any:
        return pickle.loads(memoryview(self._bytes)[_LENGTH.size :])


def _frame(content: object) -> bytes:
    pickled = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(pickled)) + pickled


def serve() -> None:
    """The main loop of the child."""
    limit_memory(MEMORY_BYTES)
    with suppress(OSError, EOFError), socket.socket(fileno=0) as channel:
        channel.sendall(_frame(READY))
        while True:
            page = _receive_page(channel)
            # The signal is not handled, so it ends the process even in compiled code.
            signal.setitimer(signal.ITIMER_REAL, page.timeout_s + ALARM_LATER_S)
            result = _frame(_parse_page(page))
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            channel.sendall(result)


def _receive_page(channel: socket.socket) -> PageToParse:
    message = _Message()
    while not message.is_complete():
        message.add(channel.recv(_CHUNK_BYTES))
    page: PageToParse = message.content()
    return page


def _parse_page(page: PageToParse) -> StemmedPage | SkipReason:
    scanner = WordScanner()
    with suppress(Exception):
        parsed = parse_html(page.html, page.url, scanner, http_charset=page.http_charset, agent=page.agent)
        return StemmedPage(parsed, scanner.stems_from(0))
    return SkipReason.PARSE_FAILED


#: Maximum start time of the child, which does not count as time of the page.
START_S = 60.0
#: If too many files are open, it is started so often, with a pause in between.
MAX_FAILED_STARTS = 60
START_AGAIN_S = 1.0

OnParsed = Callable[[ParsedPage | SkipReason], None]


def _files_failure() -> FilesFailure:
    return FilesFailure(
        "Too many open files: the process that parses large pages cannot be started. Raise the limit with `ulimit -n`, "
        "then resume the crawl."
    )


class GuardedParser:
    """`start` parses on the event loop, `parse_now` without one, and only if no started page is pending. Links of pages
    parsed in this process may be numbers of `table`."""

    def __init__(
        self,
        scanner: WordScanner,
        *,
        agent: str,
        timeout_s: float = 5.0,
        inline_bytes: int | None = None,
        table: UrlTable | None = None,
    ) -> None:
        self._scanner = scanner
        self._table = table
        self._agent = agent
        self._timeout_s = timeout_s
        if inline_bytes is None:
            inline_bytes = MAX_PAGE_BYTES if native.is_available() else INLINE_BYTES
        self._inline_bytes = inline_bytes
        self._process: ParserProcess | None = None
        self._n_failed_starts = 0
        self._pending: deque[tuple[PageToParse, OnParsed]] = deque()
        self._current: tuple[PageToParse, OnParsed] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, html: bytes, url: str, http_charset: str | None, on_done: OnParsed) -> None:
        """Parse a page; `on_done` is called once, before this returns if the page is small."""
        if min(len(html), MAX_PAGE_BYTES) <= self._inline_bytes:
            on_done(self._parse_here(html, url, http_charset))
            return
        self._pending.append((self._to_parse(html, url, http_charset), on_done))
        self._start_next()

    def parse_now(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | SkipReason:
        """Parse a page and wait for the result."""
        if min(len(html), MAX_PAGE_BYTES) <= self._inline_bytes:
            return self._parse_here(html, url, http_charset)
        if self._current is not None:
            raise PluginError("parse_now was called while another page is being parsed. Wait for its result first.")
        self._detach()
        try:
            return self._numbered(self._exchange(self._to_parse(html, url, http_charset)))
        except TimeoutError:
            reason = SkipReason.PARSE_TIMEOUT
        except (OSError, EOFError) as error:
            if self._process is None and isinstance(error, OSError) and error.errno in NO_FILES_LEFT:
                raise _files_failure() from None
            reason = SkipReason.PARSE_FAILED
        self._end_process()
        return reason

    def close(self) -> None:
        """End the process and drop pending pages."""
        self._pending.clear()
        self._current = None
        self._stop_timer()
        self._end_process()

    def _to_parse(self, html: bytes, url: str, http_charset: str | None) -> PageToParse:
        return PageToParse(html, url, http_charset, self._agent, self._timeout_s)

    def _parse_here(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | SkipReason:
        try:
            return parse_html(html, url, self._scanner, http_charset=http_charset, agent=self._agent, table=self._table)
        except OSError:
            # Not caused by a page; for example, compiled code cannot be written to disk.
            raise
        except Exception:  # noqa: BLE001 - no page may stop the crawl
            return SkipReason.PARSE_FAILED

    def _numbered(self, result: StemmedPage | SkipReason) -> ParsedPage | SkipReason:
        return result if isinstance(result, SkipReason) else result.with_numbers_of(self._scanner)

    def _exchange(self, page: PageToParse) -> StemmedPage | SkipReason:
        if self._process is None:
            self._process = ParserProcess(START_S)
            while self._process.receive_some() is None:
                pass
        self._process.set_timeout(self._timeout_s)
        self._process.queue_page(page)
        while not self._process.send_some():
            pass
        while (message := self._process.receive_some()) is None:
            pass
        result: StemmedPage | SkipReason = message
        return result

    def _start_next(self) -> None:
        if self._current is not None or not self._pending:
            return
        self._current = self._pending.popleft()
        if self._process is None:
            self._start_process()
        else:
            self._attach(self._process, asyncio.get_running_loop())
            self._send_page()

    def _start_process(self) -> None:
        """For the current page; a timer repeats it if too many files are open."""
        loop = asyncio.get_running_loop()
        try:
            self._process = ParserProcess(None)
        except OSError as error:
            if error.errno in NO_FILES_LEFT:
                self._n_failed_starts += 1
                if self._n_failed_starts == MAX_FAILED_STARTS:
                    raise _files_failure() from None
                self._timer = loop.call_later(START_AGAIN_S, self._start_process)
            else:
                loop.call_soon(self._settle, SkipReason.PARSE_FAILED)
            return
        self._n_failed_starts = 0
        self._attach(self._process, loop)
        self._set_timer(START_S)

    def _attach(self, process: ParserProcess, loop: asyncio.AbstractEventLoop) -> None:
        """Watch the socket of the process on the loop."""
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
            self._process.queue_page(self._current[0])
            self._set_timer(self._timeout_s)
            asyncio.get_running_loop().add_writer(self._process.fileno(), self._write)

    def _write(self) -> None:
        if self._process is None:
            return
        try:
            if self._process.send_some():
                asyncio.get_running_loop().remove_writer(self._process.fileno())
        except OSError:
            self._fail(SkipReason.PARSE_FAILED)

    def _read(self) -> None:
        if self._process is None:
            return
        try:
            message = self._process.receive_some()
        except (OSError, EOFError):
            self._fail(SkipReason.PARSE_FAILED)
            return
        if message == READY:
            self._send_page()
        elif message is not None:
            self._settle(message)

    def _fail(self, reason: SkipReason) -> None:
        self._end_process()
        self._settle(reason)

    def _settle(self, result: StemmedPage | SkipReason) -> None:
        """Deliver the result of the current page and start the next."""
        self._stop_timer()
        settled, self._current = self._current, None
        self._start_next()
        if settled is not None:
            settled[1](self._numbered(result))

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._fail, SkipReason.PARSE_TIMEOUT)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_process(self) -> None:
        self._detach()
        if self._process is not None:
            self._process.end()
            self._process = None
