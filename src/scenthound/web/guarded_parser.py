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
from collections import deque
from collections.abc import Callable

from scenthound.errors import BrokenContract
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import Reason
from scenthound.text.words import WordScanner
from scenthound.web.parse import ParsedPage, parse_html
from scenthound.web.parser_process import READY, PageOfStems, PageToParse, ParserProcess

#: How long the process may take to start: a busy machine is no fault of the page.
START_S = 60.0

OnParsed = Callable[[ParsedPage | Reason], None]


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

    def parse_now(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | Reason:
        """The page, or why there is none, when its time is up at the latest."""
        if len(html) <= self._inline_bytes:
            return self._parse_here(html, url, http_charset)
        if self._current is not None:
            raise BrokenContract("A page was to be parsed at once while another is parsed; wait for that one first.")
        self._detach()
        try:
            return self._numbered(self._answer_now(self._to_parse(html, url, http_charset)))
        except TimeoutError:
            answer = Reason.PARSE_TIMEOUT
        except (OSError, EOFError):
            answer = Reason.PARSE_FAILED
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

    def _parse_here(self, html: bytes, url: str, http_charset: str | None) -> ParsedPage | Reason:
        try:
            return parse_html(html, url, self._scanner, http_charset=http_charset, agent=self._agent, table=self._table)
        except OSError:
            # No page can cause that: the disk does not take the compiled code, say.
            raise
        except Exception:  # noqa: BLE001 - whatever a page does to the parser, the crawl goes on
            return Reason.PARSE_FAILED

    def _numbered(self, answer: PageOfStems | Reason) -> ParsedPage | Reason:
        return answer if isinstance(answer, Reason) else answer.numbered_by(self._scanner)

    def _answer_now(self, page: PageToParse) -> PageOfStems | Reason:
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
        said: PageOfStems | Reason = answer
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
            loop.call_soon(self._settle, Reason.PARSE_FAILED)
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
            self._give_up(Reason.PARSE_FAILED)

    def _read(self) -> None:
        if self._process is None:
            return
        try:
            said = self._process.receive_some()
        except (OSError, EOFError):
            self._give_up(Reason.PARSE_FAILED)
            return
        if said == READY:
            self._send_page()
        elif said is not None:
            self._settle(said)

    def _give_up(self, reason: Reason) -> None:
        self._end_process()
        self._settle(reason)

    def _settle(self, answer: PageOfStems | Reason) -> None:
        """Hand over what became of the current page, and go on with the next."""
        self._stop_timer()
        settled, self._current = self._current, None
        self._begin_next()
        if settled is not None:
            settled[1](self._numbered(answer))

    def _set_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._give_up, Reason.PARSE_TIMEOUT)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_process(self) -> None:
        self._detach()
        if self._process is not None:
            self._process.end()
            self._process = None
