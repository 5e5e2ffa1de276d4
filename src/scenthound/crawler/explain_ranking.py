"""What speaks for a page, in the words of the strategy.

The visits before that of the page, or all visits if it is queued, are passed to a new strategy object, which then gives
its reasons. All of it is read from the crawl folder, also while the crawl is running.

Rules
- Only strategies that implement `reasons` are replayed, and at most `MAX_REPLAYED` visits.
- Pages are read in their first versions, which are those that the strategy has seen.
- The page is explained as of just before its visit. It was requested earlier, when pages that were in flight together
  with it had not been visited yet, so that its score at that time was another one.
- The strategy is not asked for pages: visited and skipped pages stay in its queue, and what it does after some number
  of queued pages may happen at another time than in the crawl.
- In the folder of a shard, what other shards have sent is passed to the strategy, too, by the times of the journal.
- If something cannot be read back, the page is explained without reasons.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import islice
from math import inf
from pathlib import Path
from random import Random

from scenthound.crawler.assembly import READ_BACK_TIMEOUT_S, check_inputs, open_recording
from scenthound.crawler.explain import ExplainedReason, Explanation, Outcome, anchor_of, explain
from scenthound.crawler.journal import ParcelArrived, read_journal
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.reader import StoredPages
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import Parcel, ShardMap
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import CorruptData, PluginError, ScenthoundError, printable
from scenthound.frontier.url_table import new_url_table
from scenthound.model import Progress, Visit, silent
from scenthound.simulator.scores import TopicWords
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.crawl_records import VisitRecord
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.base import STRATEGIES, LinkReason, Strategy
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parser_process import GuardedParser

#: Visits that are replayed: their pages are parsed again, which takes seconds for each thousand.
MAX_REPLAYED = 20_000
VISITS_PER_REPORT = 100
MAX_ANCHOR_CHARACTERS = 60
_WORD = re.compile(r"[^\W_]+")


def explain_with_reasons(folder: str | Path, url: str, progress: Progress = silent) -> Explanation:
    """Explain a URL from a crawl folder, with the reasons of the strategy if it was visited or is queued."""
    explained = explain(folder, url)
    return with_reasons(explained, folder, progress) if may_have_reasons(explained, folder) else explained


def may_have_reasons(explained: Explanation, folder: str | Path) -> bool:
    """Whether the strategy of the crawl in a folder may have reasons for a page."""
    is_ranked = not explained.is_seed and explained.outcome in (Outcome.VISITED, Outcome.QUEUED)
    return is_ranked and _gives_reasons(CrawlAbout.read(Path(folder)).settings.get("strategy"))


def with_reasons(explained: Explanation, folder: str | Path, progress: Progress = silent) -> Explanation:
    """With the reasons of the strategy, replayed from a folder: that of the crawl, or of the shard with the page."""
    requested = explained.requested_url or explained.url
    with _FirstVersions.open(folder) as crawl:
        n_before = _n_visits_before(crawl, requested)
        if n_before > MAX_REPLAYED:
            why = f"{n_before:,} pages were visited before, and at most {MAX_REPLAYED:,} are read again for this."
            return replace(explained, no_reasons=why)
        try:
            with CorruptData.wrapping(folder), _replay_of(crawl) as replay:
                reasons = replay.reasons(requested, n_before, progress)
        except ScenthoundError as error:
            return replace(explained, no_reasons=error.message)
    return replace(explained, reasons=reasons)


def _n_visits_before(crawl: StoredCrawl, url: str) -> int:
    """Those before that of a requested URL; all if it was not visited."""
    urls = crawl.urls()
    visit = crawl.visit_of_page(urls.index(url)) if url in urls else None
    return crawl.n_visits() if visit is None else visit.visit


class _FirstVersions(StoredCrawl):
    reads_latest = False


def _gives_reasons(strategy: object) -> bool:
    """Whether the strategy of a crawl implements `reasons`; False if it is not installed."""
    try:
        factory = STRATEGIES.factory(STRATEGIES.parse(str(strategy)).name)
    except ScenthoundError:
        return False
    return getattr(factory, "reasons", Strategy.reasons) is not Strategy.reasons


@contextmanager
def _replay_of(crawl: StoredCrawl) -> Iterator["_Replay"]:
    settings = CrawlSettings.from_settings(crawl.about.settings)
    # Relevance is read from the visits, and nothing is requested.
    check_inputs(replace(settings, train_from=None, cookie_file=None))
    scanner = WordScanner()
    scanner.load(crawl.stem_texts())
    parser = GuardedParser(scanner, agent=settings.agent, timeout_s=READ_BACK_TIMEOUT_S)
    try:
        yield _Replay(crawl, settings, scanner, parser)
    finally:
        parser.close()


class _Replay:
    """A strategy and what it has seen, from the start of a crawl on."""

    def __init__(
        self, crawl: StoredCrawl, settings: CrawlSettings, scanner: WordScanner, parser: GuardedParser
    ) -> None:
        self._crawl = crawl
        self._settings = settings
        self._scanner = scanner
        self._strategy = STRATEGIES.make(settings.strategy)
        self._is_shard = settings.shards > 1
        recorded = None if settings.web is None else open_recording(settings.web)
        visits = VisitNumbers()
        stored = StoredPages(crawl, parser, visits, settings, scope=ScopeFilter(settings.scope), recorded=recorded)
        table = new_url_table()
        table.load(crawl.url_texts())
        self._web = LiveWeb(
            TopicWords.of(settings.topic, scanner),
            table,
            visits,
            load_links=stored.links,
            load_text=stored.text,
            load_robots=crawl.robots_file,
            max_depth=settings.scope.max_depth,
        )

    def reasons(self, url: str, n_visits: int, progress: Progress) -> tuple[ExplainedReason, ...]:
        """What speaks for a URL after so many visits."""
        page = self._web.table.find(url)
        if page is None:
            return ()
        self._start()
        parent = self._replay_until(page, n_visits, progress)
        with self._strategy_fails_in("reasons"):
            reasons = self._strategy.reasons(page)
        named = {word for reason in reasons for word in reason.words}
        anchor = text = ""
        if named and parent is not None:
            anchor, text = anchor_of(self._crawl, parent, url) or "", self._crawl.text_of(parent)
        names = self._names(named, f"{anchor} {text}")
        return tuple(_explained(reason, names, anchor) for reason in reasons)

    def _replay_until(self, page: int, n_visits: int, progress: Progress) -> VisitRecord | None:
        """Replay so many visits, or those before the page was visited. Returns the parent with the best link: the one
        whose context has the highest score."""
        best_parent, best_context = None, -inf
        arrivals = _Arrivals(self._crawl)
        for row in islice(self._crawl.visits(), n_visits):
            if row.page == page:
                break
            if row.visit % VISITS_PER_REPORT == 0:
                progress(row.visit / n_visits, f"{row.visit:,} of {n_visits:,} visits replayed")
            self._receive(arrivals.until(row.time_s))
            self._tell(row)
            context = _best_context(row, page)
            if context > best_context:
                best_parent, best_context = row, context
        end_s = next((row.time_s for row in self._crawl.visits(n_visits)), inf)
        self._receive(arrivals.until(end_s))
        return best_parent

    def _start(self) -> None:
        seeds, rng = self._web.seeds(self._settings.seeds), Random(self._settings.generator_seed)
        if self._is_shard:
            shards = ShardMap(self._settings.shards, self._settings.shard, self._web.table)
            with self._strategy_fails_in("split"):
                self._strategy.split(shards.is_home)
        with self._strategy_fails_in("start"):
            self._strategy.start(seeds, rng, self._web.seen)

    def _receive(self, parcels: Iterable[Parcel]) -> None:
        table = self._web.table
        for parcel in parcels:
            if parcel.urls:
                pages = table.add_all(list(parcel.urls))
                with self._strategy_fails_in("receive"):
                    self._strategy.receive(pages, table.hosts(pages), parcel.values)

    def _tell(self, row: VisitRecord) -> None:
        _, links = self._web.visit(row.page, None, row.links, (row.predicted, row.anchors))
        with self._strategy_fails_in("tell"):
            self._strategy.tell(Visit(row.page, row.relevance, links))
        if self._is_shard:
            with self._strategy_fails_in("take_departures"):
                self._strategy.take_departures()

    def _names(self, words: set[int], text: str) -> dict[int, str]:
        """The words of some numbers as they are first written in a text; the stems of those that are not in it."""
        names: dict[int, str] = {}
        for form in dict.fromkeys(_WORD.findall(text.lower())):
            numbers = self._scanner.scan(form).tolist()
            if len(numbers) == 1 and numbers[0] in words:
                names.setdefault(numbers[0], form)
        return {word: names.get(word) or self._scanner.stem(word) for word in words}

    def _strategy_fails_in(self, method: str) -> AbstractContextManager[None]:
        return PluginError.wrapping(f"Strategy {self._settings.strategy} failed in `{method}`")


class _Arrivals:
    """The parcels of other shards, in the order of their arrival."""

    def __init__(self, crawl: StoredCrawl) -> None:
        events = (event for written in crawl.events() for event in read_journal(written))
        times_s = (event.now_s for event in events if isinstance(event, ParcelArrived))
        # Without parcels the journal need not be read.
        self._left = zip(times_s, crawl.arrivals(), strict=False) if crawl.received() else iter(())
        self._next = next(self._left, None)

    def until(self, time_s: float) -> Iterator[Parcel]:
        """Those that have arrived up to a time, and were not returned before."""
        while self._next is not None and self._next[0] <= time_s:
            yield Parcel.from_bytes(self._next[1].content)
            self._next = next(self._left, None)


def _explained(reason: LinkReason, names: Mapping[int, str], anchor: str) -> ExplainedReason:
    text = reason.text
    if reason.words:
        text += f": {', '.join(names[word] for word in reason.words)}"
        text += f' (anchor "{printable(anchor, MAX_ANCHOR_CHARACTERS)}")' if anchor else ""
    return ExplainedReason(text, reason.contribution)


def _best_context(row: VisitRecord, page: int) -> float:
    """The highest score of the context of a link to a page; -inf if there is none, or if it is not known."""
    scores = [] if row.predicted is None else row.predicted[row.links == page].tolist()
    return max(scores, default=-inf)
