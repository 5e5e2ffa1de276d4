"""The requests of a spider, and the pages that they are for: what is queued, sent and finished.

Rules
- A page has at most one request. If a spider requests a URL again and it is not filtered, the second request has a page
  of its own: the URL with a number as its fragment, which canonical URLs do not have.
- A redirect to a page that is queued takes its place if both requests have the same callback. Otherwise it is filtered
  like any other duplicate.
- What a callback has requested is known to the strategy when it has finished. Until then it can only be sent if the
  strategy knows the URL from another page.
- A link back to a start page is a duplicate if its callback is that of a start request, although Scrapy's filter of
  duplicates does not know start requests. With another callback, as the rules of a CrawlSpider have, it is sent.
"""

from collections import deque
from collections.abc import Iterable
from heapq import heappop, heappush
from time import monotonic
from typing import Any

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response, TextResponse

from scenthound.crawler.page_set import PageSet
from scenthound.frontier.base import ReadyHosts
from scenthound.saved_state import State
from scenthound.scrapy.engine import EngineView
from scenthound.scrapy.job import packed, unpacked
from scenthound.scrapy.open_page import (
    Found,
    OpenPage,
    Tally,
    callback_name,
    has_same_callback,
    url_of,
    without_text,
)
from scenthound.scrapy.order import CrawlOrder, ReadPage
from scenthound.scrapy.settings import SchedulerSettings
from scenthound.store.warc_format import charset_of
from scenthound.web.urls import host_of

#: Responses with these statuses have a page.
PAGES = frozenset({200, 203})
#: Start requests are complete if none came for this long, or if there are this many.
QUIET_START_S = 5.0
MAX_STARTS = 10_000
#: Callbacks that take longer do not hold up the crawl.
MAX_CALLBACK_S = 60.0


class RequestQueue:
    """The requests of one spider."""

    def __init__(
        self, settings: SchedulerSettings, order: CrawlOrder, engine: EngineView, dupefilter: Any, spider: Spider
    ) -> None:
        self.tally = Tally()
        self._settings = settings
        self._order = order
        self._engine = engine
        self._dupefilter = dupefilter
        self._spider = spider
        self._seeds: list[Request] = []
        self._last_seed_s = 0.0
        #: The URLs of start pages, also of those that they redirect to, with the names of their callbacks.
        self._starts: set[tuple[str, str]] = set()
        self._has_started = self._is_resumed = False
        #: The requests of pages that were not sent yet.
        self._requests: dict[int, Request] = {}
        #: The pages whose requests were sent, or that were visited through a redirect.
        self._sent = PageSet()
        #: (negative priority, order, page) of requests that are sent before those of the strategy.
        self._first: list[tuple[int, int, int]] = []
        #: Pages with a redirect or retry to be sent.
        self._continued: deque[OpenPage] = deque()
        self._open: dict[Request, OpenPage] = {}
        #: The pages that requests of running callbacks come from, by the identity of the request.
        self._sources: dict[int, tuple[Request, OpenPage]] = {}
        #: What running callbacks have requested, by URL.
        self._incoming: dict[str, Found] = {}
        self._n_numbered = 0
        #: Whether the strategy had no page although nothing was in progress.
        self._is_exhausted = False

    def __len__(self) -> int:
        return len(self._seeds) + len(self._requests) + len(self._continued)

    # Requests come in

    def note_source(self, request: Request, source: Request) -> None:
        """A callback has made a request for the response to another one."""
        opened = self._open.get(source)
        if opened is not None:
            self._sources[id(request)] = request, opened

    def add(self, request: Request) -> bool:
        """Queue a request; False if it is a duplicate."""
        _, source = self._sources.pop(id(request), (None, None))
        if source is not None:
            return self._add_link(request, source)
        for opened in self._open.values():
            if opened.response is None and self._engine.is_replaced(opened.request):
                return self._continue(opened, request)
        return self._add_start(request) if self._has_started else self._add_seed(request)

    def _add_link(self, request: Request, source: OpenPage) -> bool:
        is_filtered = self._filters(request)
        found = Found(url_of(request), None if is_filtered else request)
        source.found.append(found)
        if not is_filtered:
            self._incoming.setdefault(found.url, found)
        return not is_filtered

    def _add_seed(self, request: Request) -> bool:
        if not request.dont_filter and self._dupefilter.request_seen(request):
            self._dupefilter.log(request, self._spider)
            return False
        self._note_start(request)
        self._seeds.append(request)
        self._last_seed_s = monotonic()
        return True

    def _note_start(self, request: Request) -> None:
        if request.method == "GET":
            self._starts.add((url_of(request), callback_name(request)))

    def _add_start(self, request: Request) -> bool:
        """A request that comes from no response, after the start."""
        known = self._order.table.find(url_of(request))
        if self._is_resumed and known is not None and self._order.is_seed(known) and self._engine.has_start_requests:
            return False  # The spider makes its start requests again when it is resumed.
        if self._filters(request):
            return False
        page = self._order.add(self._own_url(url_of(request)))
        self._requests[page] = request
        self._send_first(page, request)
        return True

    def _continue(self, opened: OpenPage, request: Request) -> bool:
        """A redirect or a retry: another request for the same page."""
        del self._open[opened.request]
        if request.dont_filter:
            if self._order.is_seed(opened.page):
                self._note_start(request)
        elif self._is_seen(request) and not self._takes_place(request):
            self._dupefilter.log(request, self._spider)
            self._drop(opened.page)
            return False
        opened.request = request
        self._continued.append(opened)
        return True

    def _takes_place(self, request: Request) -> bool:
        """Remove a queued request for the same URL with the same callback, if there is one."""
        page = self._order.table.find(url_of(request))
        queued = None if page is None else self._requests.get(page)
        if page is None or queued is None or not has_same_callback(queued, request):
            return False
        del self._requests[page]
        self._sent.add(page)
        return True

    def _filters(self, request: Request) -> bool:
        if request.dont_filter or not self._is_seen(request):
            return False
        self._dupefilter.log(request, self._spider)
        return True

    def _is_seen(self, request: Request) -> bool:
        """Whether a request repeats an earlier one; otherwise it is noted."""
        is_start = request.method == "GET" and (url_of(request), callback_name(request)) in self._starts
        return is_start or bool(self._dupefilter.request_seen(request))

    def _own_url(self, url: str) -> str:
        """The URL for a page that has no request yet."""
        page = self._order.table.find(url)
        if url in self._incoming or (page is not None and (page in self._requests or page in self._sent)):
            return self._numbered(url)
        return url

    def _numbered(self, url: str) -> str:
        """A URL that no page has. All numbers come from here, so that none is used twice."""
        self._n_numbered += 1
        return f"{url}#{self._n_numbered}"

    def _send_first(self, page: int, request: Request) -> None:
        self._n_numbered += 1
        heappush(self._first, (-request.priority, self._n_numbered, page))

    # Requests go out

    def next(self) -> Request | None:
        """The request to send now, if there is one."""
        self.finish()
        if self._continued:
            return self._send(self._continued.popleft())
        if (self._settings.strict_order and self._open) or not self._has_begun():
            return None
        while self._first:
            _, _, page = heappop(self._first)
            if page in self._requests:
                return self._send_page(page, self._requests.pop(page), was_asked=False)
        return self._ask()

    def is_pending(self) -> bool:
        """Whether there is or will be a request to send, after everything in progress has finished."""
        self.finish()
        waits_to_start = bool(self._seeds) and not self._has_started
        has_pages = self._has_started and len(self._order) > 0 and not self._is_exhausted
        return waits_to_start or has_pages or bool(self._continued or self._first)

    def _has_begun(self) -> bool:
        """Start the strategy if the spider has made its start requests."""
        if self._has_started or not self._seeds:
            return self._has_started
        is_quiet = monotonic() - self._last_seed_s >= QUIET_START_S
        if self._engine.has_start_requests and not is_quiet and len(self._seeds) < MAX_STARTS:
            return False
        self._has_started = True
        requests, self._seeds = self._seeds, []
        request_of: dict[str, Request] = {}
        for request in requests:
            url = url_of(request)
            request_of[self._numbered(url) if url in request_of else url] = request
        pages = self._order.start(list(request_of))
        for page, request in zip(pages, request_of.values(), strict=True):
            self._queue(page, request)
        return True

    def _queue(self, page: int, request: Request) -> None:
        self._requests[page] = request
        if request.priority > 0:
            self._send_first(page, request)

    def _ask(self) -> Request | None:
        while (page := self._order.ask(self._ready_hosts())) is not None:
            request = self._requests.pop(page, None) or self._take_incoming(page)
            if request is not None:
                return self._send_page(page, request, was_asked=True)
            # Its only request was filtered, or it was sent before, for its priority or a page that redirects to it.
            self._order.drop(page)
            if page not in self._sent:
                self._sent.add(page)
                self.tally.n_dropped += 1
        self._is_exhausted = not self._open
        return None

    def _ready_hosts(self) -> ReadyHosts | None:
        if self._settings.strict_order:
            return None
        at_downloader: dict[str, list[Request]] = {}
        for request in self._open:
            if self._engine.is_downloading(request):
                at_downloader.setdefault(host_of(request.url), []).append(request)
        table, engine = self._order.table, self._engine

        def is_ready(host: int) -> bool:
            name = table.host(host)
            return engine.has_room(name, at_downloader.get(name, []))

        return ReadyHosts(is_ready, self._settings.max_better)

    def _take_incoming(self, page: int) -> Request | None:
        """The request of a running callback for a page that the strategy knows from elsewhere."""
        found = self._incoming.pop(self._order.table.url(page), None)
        if found is None:
            return None
        request, found.request = found.request, None
        return request

    def _send_page(self, page: int, request: Request, *, was_asked: bool) -> Request:
        self._sent.add(page)
        return self._send(OpenPage(page, request, was_asked))

    def _send(self, opened: OpenPage) -> Request:
        self._open[opened.request] = opened
        return opened.request

    # Responses, and the ends of callbacks

    def note_response(self, request: Request, response: Response) -> float | None:
        """The relevance of the response to a request, if it is an HTML page."""
        opened = self._open.get(request)
        if opened is None:
            return None
        opened.response, opened.received_s = response, monotonic()
        is_page = response.status in PAGES and response.body and not response.body.isspace()
        if isinstance(response, HtmlResponse) and is_page:
            opened.read = self._read(opened.page, response)
        return None if opened.read is None else opened.read.relevance

    def finish(self) -> None:
        """Tell the strategy of the pages whose callbacks have finished, or take too long."""
        now_s = monotonic()
        for opened in list(self._open.values()):
            is_late = opened.response is not None and now_s - opened.received_s > MAX_CALLBACK_S
            if is_late or not self._engine.is_in_progress(opened.request):
                self._finish(opened)

    def _finish(self, opened: OpenPage) -> None:
        del self._open[opened.request]
        self._sources = {key: source for key, source in self._sources.items() if source[1] is not opened}
        self._is_exhausted = False
        read = opened.read
        if read is None and opened.found and opened.response is not None:
            read = self._read(opened.page, opened.response) or without_text(opened.response.url)
        if read is None:
            self._drop(opened.page)
            return
        pages = self._order.visit(opened.page, read, self._links(opened.found), was_asked=opened.was_asked)
        for page, found in zip(pages, opened.found, strict=True):
            if found.request is not None:
                self._queue(page, found.request)
        self._count_visit(read.relevance)

    def _links(self, found: Iterable[Found]) -> list[str]:
        """The URLs that a callback has requested; repeated requests have URLs of their own."""
        taken: set[str] = set()
        for each in found:
            if self._incoming.get(each.url) is each:
                del self._incoming[each.url]
            if each.request is not None:
                each.url = self._own_url(each.url)
                if each.url in taken:
                    each.url = self._numbered(each.url)
                taken.add(each.url)
        return [each.url for each in found]

    def _read(self, page: int, response: Response) -> ReadPage | None:
        content_type = response.headers.get("Content-Type")
        charset = charset_of(None if content_type is None else content_type.decode("latin-1"))
        content = response.body if isinstance(response, TextResponse) else b""
        return self._order.read(page, content, response.url, charset)

    def _drop(self, page: int) -> None:
        self._order.drop(page)
        self.tally.n_dropped += 1

    def _count_visit(self, relevance: float) -> None:
        threshold = self._order.on_topic_from
        self.tally.n_visited += 1
        self.tally.n_on_topic += threshold is not None and relevance >= threshold
        self.tally.recent.append(relevance)

    # Stop and resume

    def state(self) -> tuple[State, int]:
        """For `restore`, when nothing is in progress; and how many requests cannot be saved."""
        seeds, requests = self._saved((0, request) for request in self._seeds), self._saved(self._requests.items())
        continued = self._saved((opened.page, opened.request) for opened in self._continued)
        n_unsaved = len(self) - len(seeds) - len(requests) - len(continued)
        state = {
            "requests": packed((seeds, requests, continued)),
            "asked": [opened.page for opened in self._continued if opened.was_asked],
            "sent": self._sent.state(),
            "first": [list(entry) for entry in self._first],
            "n_numbered": self._n_numbered,
            "has_started": self._has_started,
            "starts": sorted(map(list, self._starts)),
            "tally": [self.tally.n_visited, self.tally.n_on_topic, self.tally.n_dropped],
            "recent": list(self.tally.recent),
        }
        return state, n_unsaved

    def _saved(self, requests: Iterable[tuple[int, Request]]) -> list[tuple[int, Any]]:
        """The requests as Scrapy saves them, those left out whose callbacks are no methods of the spider."""
        saved = []
        for page, request in requests:
            try:
                saved.append((page, request.to_dict(spider=self._spider)))
            except ValueError:
                continue
        return saved

    def restore(self, state: State) -> None:
        from scrapy.utils.request import request_from_dict  # Versions that are too old lack it.

        def loaded(values: Iterable[tuple[int, Any]]) -> list[tuple[int, Request]]:
            return [(page, request_from_dict(each, spider=self._spider)) for page, each in values]

        seeds, requests, continued = map(loaded, unpacked(state["requests"]))
        self._seeds = [request for _, request in seeds]
        self._requests = dict(requests)
        asked = set(state["asked"])
        for page, request in continued:
            self._continued.append(OpenPage(page, request, page in asked))
        self._sent.restore(state["sent"])
        self._first = [(priority, number, page) for priority, number, page in state["first"]]
        self._n_numbered, self._has_started = state["n_numbered"], state["has_started"]
        self._is_resumed = self._has_started
        self._starts = {(url, callback) for url, callback in state["starts"]}
        self.tally.n_visited, self.tally.n_on_topic, self.tally.n_dropped = state["tally"]
        self.tally.recent.extend(state["recent"])
