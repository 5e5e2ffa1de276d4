"""The Scrapy scheduler: a Scenthound strategy decides which request of a spider is sent next.

Scrapy's engine passes the requests of the spider to `enqueue_request`, and asks `next_request` for one when it can send
one. Every request that is not filtered becomes a page of the frontier.

The life of a request
1. Start requests are the seeds of the strategy. It starts when the spider has no more of them, or has made none for
   `QUIET_START_S`. Requests that come from no response later on are sent before all others.
2. Requests that a callback makes for a response are the links of that page. The strategy learns of them when the
   callback has finished; if it takes longer than `MAX_CALLBACK_S`, of those that it has made so far.
3. The strategy chooses: in strict order when nothing is in progress, else among pages of hosts that can be sent another
   request. Requests with a positive priority are sent first.
4. A redirect or retry takes the place of its request, and is sent next.
5. A response that is an HTML page is a visit, and so is any other from which the spider has requested something.
   Otherwise the strategy drops the page.

Rules
- `request.meta` is neither read nor written.
- No response is kept after its callback has finished.
- An error of settings, strategy or job folder is one line in the log, and closes the spider.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.utils.misc import load_object

from scenthound.errors import CorruptData, ScenthoundError, UsageError
from scenthound.scrapy.engine import EngineView, SourceMiddleware, check_version
from scenthound.scrapy.job import JobFolder
from scenthound.scrapy.order import CrawlOrder
from scenthound.scrapy.page_file import PageFile
from scenthound.scrapy.queue import RequestQueue
from scenthound.scrapy.settings import read_settings

logger = logging.getLogger("scenthound.scrapy")

#: Why the spider was closed, after an error.
CLOSE_REASON = "scenthound_error"

#: Of responses that somebody still has.
_RELEVANCE: WeakKeyDictionary[Any, float] = WeakKeyDictionary()


def relevance_of(response: Any) -> float | None:
    """The relevance of a page to the topic, from 0 to 1, for callbacks, middlewares and pipelines; None if the response
    is not an HTML page, or the spider does not run with `scenthound.scrapy.Scheduler`."""
    return _RELEVANCE.get(response)


class Scheduler:
    """`SCHEDULER = "scenthound.scrapy.Scheduler"`."""

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        return cls(crawler)

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._stats = crawler.stats
        self._engine = EngineView(crawler)
        #: None before the spider is opened, and after an error.
        self._queue: RequestQueue | None = None
        self._order: CrawlOrder | None = None
        self._job: JobFolder | None = None
        self._dupefilter: Any = None

    def __len__(self) -> int:
        return 0 if self._queue is None else len(self._queue)

    def open(self, spider: Any) -> Any:
        """Start or resume; returns what the filter of duplicates returns."""
        with self._logged_errors():
            self._open(spider)
        return None if self._queue is None else self._dupefilter.open()

    def _open(self, spider: Any) -> None:
        check_version()
        project = self._crawler.settings
        settings = read_settings(project)
        jobdir, saved = project.get("JOBDIR"), None
        if jobdir:
            self._job = JobFolder(jobdir, settings.identity())
            saved = self._job.saved()
        self._dupefilter = self._made_dupefilter()
        with CorruptData.wrapping(jobdir, "JOBDIR"):
            pages = PageFile(None if self._job is None else self._job.pages)
            self._order = CrawlOrder(settings, pages, None if saved is None else saved["order"])
            queue = RequestQueue(settings, self._order, self._engine, self._dupefilter, spider)
            if saved is not None:
                queue.restore(saved["queue"])
                logger.info("Resuming crawl (%d requests scheduled)", len(queue), extra={"spider": spider})
        if self._job is not None:
            if not self._order.can_be_saved:
                raise UsageError(
                    f"JOBDIR cannot be used with relevance model {settings.relevance}, which cannot be saved: remove "
                    "it, or choose another model with SCENTHOUND_RELEVANCE."
                )
            self._job.begin()
        self._engine.install(SourceMiddleware(queue))
        self._crawler.signals.connect(self._response_received, signal=signals.response_received)
        self._queue = queue

    def _made_dupefilter(self) -> Any:
        from scrapy.utils.misc import build_from_crawler

        return build_from_crawler(load_object(self._crawler.settings["DUPEFILTER_CLASS"]), self._crawler)

    def close(self, reason: str) -> Any:
        with self._logged_errors():
            self._save(is_finished=reason == "finished")
        if self._order is not None:
            self._order.close()
        return None if self._dupefilter is None else self._dupefilter.close(reason)

    def _save(self, *, is_finished: bool) -> None:
        if self._queue is None or self._order is None:
            return
        self._queue.finish()
        self._count()
        if is_finished and len(self._queue):
            logger.info(
                "%d requests were never sent: the strategy has discarded their pages, as those with a limited depth or "
                "buffer do.",
                len(self._queue),
                extra={"spider": self._crawler.spider},
            )
        if self._job is None:
            return
        state, n_unsaved = self._queue.state()
        if n_unsaved:
            self._stats.inc_value("scheduler/unserializable", n_unsaved)
            logger.warning(
                "%d requests are not saved in JOBDIR, because their callbacks are not methods of the spider.", n_unsaved
            )
        self._job.save({"order": self._order.state(), "queue": state})

    def has_pending_requests(self) -> bool:
        with self._logged_errors():
            if self._queue is not None and self._queue.is_pending():
                return True
        return False

    def enqueue_request(self, request: Any) -> bool:
        """Queue a request; False if it is a duplicate, or after an error."""
        is_queued = False
        with self._logged_errors():
            is_queued = self._queue is not None and self._queue.add(request)
        if is_queued:
            self._stats.inc_value("scheduler/enqueued")
        return is_queued

    def next_request(self) -> Any:
        """The request to send now, or None."""
        request = None
        with self._logged_errors():
            request = None if self._queue is None else self._queue.next()
        if request is not None:
            self._stats.inc_value("scheduler/dequeued")
        if self._queue is None:
            self._engine.close_spider(CLOSE_REASON)
        self._count()
        return request

    def _response_received(self, response: Any, request: Any) -> None:
        with self._logged_errors():
            relevance = None if self._queue is None else self._queue.note_response(request, response)
            if relevance is not None:
                _RELEVANCE[response] = relevance

    def _count(self) -> None:
        if self._queue is None:
            return
        tally = self._queue.tally
        values = {
            "pages_visited": tally.n_visited,
            "pages_on_topic": tally.n_on_topic,
            "pages_dropped": tally.n_dropped,
            "queue_size": len(self._queue),
            "mean_relevance_recent": sum(tally.recent) / max(len(tally.recent), 1),
        }
        for name, value in values.items():
            self._stats.set_value(f"scenthound/{name}", value)

    @contextmanager
    def _logged_errors(self) -> Iterator[None]:
        """Log an error as one line. The spider is closed when the engine next asks for a request."""
        try:
            yield
        except ScenthoundError as error:
            logger.error("%s", error, extra={"spider": self._crawler.spider})
            self._queue = None
