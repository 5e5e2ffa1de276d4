"""The parts of a live crawl, made from its plan and put together."""

from pathlib import Path

from scenthound.drivers.live.crawl import LiveCrawl
from scenthound.drivers.live.engine import Engine
from scenthound.drivers.live.guards import PageGuards
from scenthound.drivers.live.live_web import LiveWeb
from scenthound.drivers.live.reading import Reader
from scenthound.drivers.live.recorded_pages import RecordedPages
from scenthound.drivers.live.rules import CrawlRules
from scenthound.drivers.live.scoring import PageScorer
from scenthound.drivers.live.stored_pages import StoredPages
from scenthound.drivers.telling import TopicWords
from scenthound.errors import BadTopic
from scenthound.frontier.url_table import UrlTable
from scenthound.lab.compiled_parts import load_compiled
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_sources import check_training, recording_of
from scenthound.lab.training_folder import read_training
from scenthound.relevance.base import RELEVANCE, Relevance, trains
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES, Strategy
from scenthound.text.live_words import LiveWords
from scenthound.text.words import WordScanner
from scenthound.web.guarded_parser import GuardedParser

FALLBACK_GUIDE = "cosine"
#: For so many pages it pays to load compiled code.
MANY_PAGES = 2_000
#: A page that could be parsed once can be parsed again, be the machine as busy as it may.
READ_BACK_S = 60.0


class CrawlParts:
    """What a crawl is made of. The numbers of URLs and words are those that the folder has already."""

    def __init__(self, plan: CrawlPlan, store: CrawlStore) -> None:
        recording = recording_of(plan)
        check_training(plan)
        scanner = _scanner(store, recording)
        strategy = STRATEGIES.make(plan.strategy)
        relevance = relevance_of(plan, strategy, LiveWords(scanner))
        is_large = plan.page_budget >= MANY_PAGES
        if is_large:
            scanner.expect_much()
        table = UrlTable(compiled=scanner.is_compiled)
        table.add_all(store.urls())
        self._parser = GuardedParser(scanner, agent=plan.agent, table=table)
        if is_large:
            load_compiled(self._parser)
        guards = PageGuards(near_duplicates=plan.near_duplicates, soft_404s=plan.soft_404s)
        scorer = PageScorer(relevance, strategy)
        self._strategy, self._words = strategy, LiveWords(scanner)
        self._reader = reader = Reader(self._parser, scorer, guards, agent=plan.agent, obey_nofollow=plan.obey_nofollow)
        recorded = None if recording is None else RecordedPages(recording, reader, offline=plan.offline)
        web = self._web(plan, store, scanner, recording, table)
        at_hand = None if recorded is None else recorded.at_hand
        engine = Engine(strategy, web, _rules(plan), at_hand)
        self.crawl = LiveCrawl(engine, reader, guards=guards, store=store, scanner=scanner, recorded=recorded)

    def _web(
        self,
        plan: CrawlPlan,
        store: CrawlStore,
        scanner: WordScanner,
        recording: RecordedWeb | None,
        table: UrlTable,
    ) -> LiveWeb:
        visits: dict[int, int] = {}
        # Of its own: what is read back is parsed at once, whatever waits to be parsed on the loop.
        self._parser_of_stored = GuardedParser(scanner, agent=plan.agent, timeout_s=READ_BACK_S)
        pages = StoredPages(
            store,
            self._parser_of_stored,
            visits,
            agent=plan.agent,
            obey_nofollow=plan.obey_nofollow,
            body_bytes=plan.limits.body_bytes,
            recorded=recording,
        )
        words = TopicWords.of(plan.topic, LiveWords(scanner))
        return LiveWeb(words, table, visits, load_links=pages.links, load_text=pages.text)

    def score_by(self, plan: CrawlPlan) -> None:
        """Score the pages that come from now on by another guide: the one of this plan."""
        self._reader.scorer = PageScorer(relevance_of(plan, self._strategy, self._words), self._strategy)

    def close(self) -> None:
        self._parser.close()
        self._parser_of_stored.close()


def guide_of(plan: CrawlPlan, strategy: Strategy) -> str:
    """The relevance model that scores: the one named, else the strategy's own; but a model that learns needs pages to
    learn from, and without them the cosine stands in."""
    name = plan.relevance or strategy.guide
    if not trains(RELEVANCE.make(name)) or plan.train_from is not None:
        return name
    if plan.relevance is not None:
        raise BadTopic(f"Relevance model {name} learns from pages: name a folder with --train-from.")
    return FALLBACK_GUIDE


def relevance_of(plan: CrawlPlan, strategy: Strategy, words: LiveWords) -> Relevance:
    model = RELEVANCE.make(guide_of(plan, strategy))
    if not trains(model) or plan.train_from is None:
        return model.for_topic(plan.topic, words)
    return model.for_topic(plan.topic, words, read_training(Path(plan.train_from), words))


def _scanner(store: CrawlStore, recording: RecordedWeb | None) -> WordScanner:
    scanner = WordScanner()
    stems = store.stems()
    if not stems and recording is not None:
        stems = list(recording.vocabulary)
    scanner.add_stems(stems)
    return scanner


def _rules(plan: CrawlPlan) -> CrawlRules:
    return CrawlRules(
        plan.agent,
        plan.politeness,
        connections=plan.connections,
        redirects=plan.redirects,
        tries=plan.tries,
        strict_order=plan.strict_order,
        traps=plan.traps,
        sitemaps=plan.sitemaps,
    )


def check(plan: CrawlPlan) -> None:
    """Refuse a plan that no crawl can be made of, before a folder is made for it."""
    strategy = STRATEGIES.make(plan.strategy)
    words = LiveWords(WordScanner())
    relevance_of(plan, strategy, words)
