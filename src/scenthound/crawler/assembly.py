"""The parts of a live crawl, made from its plan and put together."""

import hashlib
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from scenthound.crawler.engine import Engine
from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.page_sources import RecordedPages, StoredPages
from scenthound.crawler.plan import CrawlSettings
from scenthound.crawler.reader import PageGuards, PageScorer, Reader
from scenthound.crawler.tasks import CrawlRules
from scenthound.errors import Failure, InvalidInput, InvalidTopic, UsageError, printable
from scenthound.files import DAMAGE, open_regular, opened
from scenthound.frontier.base import ReadyHosts
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.frontier.url_table import UrlTable
from scenthound.reasons import SkipReason
from scenthound.relevance.base import RELEVANCE, Relevance, trains
from scenthound.simulator.scores import TopicWords
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training, training_files
from scenthound.strategies.base import STRATEGIES, Strategy
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vectors import total_weight, word_norm
from scenthound.web.near_duplicates import fingerprint_of
from scenthound.web.parser_process import GuardedParser

# The compiled code of a live crawl, loaded before its first page comes.
#
# The first time in an installation it is compiled, which takes some twenty seconds: hosts that wait for an answer
# should not have to. Without numba (the extra `fast`) there is nothing to load, and nothing is.

#: An ordinary page, and one that is not: both are read by compiled code, each in its own way. Their word is a stop
#: word, so the vocabulary stays as it is.
_PAGES = b"<p>x</p>", b"<p>x<svg></svg>"


def load_compiled(parser: GuardedParser) -> None:
    """Failure if it cannot be used."""
    for html in _PAGES:
        page = parser.parse_now(html, "http://page.invalid/", None)
        if isinstance(page, SkipReason):
            raise Failure(
                "The compiled code that reads pages does not work here: install another version of numba, or none; "
                "a crawl takes longer without it."
            )
        word_norm(page.words)
        total_weight(page.words, np.zeros(1))
        fingerprint_of(page.words)
    _use(UnboundedFrontier(Random(0)))


def _use(frontier: UnboundedFrontier) -> None:
    """Do with a frontier once what a crawl does all the time."""
    pages = np.arange(3, dtype=np.int32)
    frontier.push_max(pages, pages, np.ones(3))
    for _ in range(2):
        # Host 0 rests, so it is set aside and found there again.
        frontier.pop_one_per_host(1, ReadyHosts(lambda host: host > 0))
    frontier.pop(1)


# What a crawl reads beside the web: a recording, pages that a classifier learns from, and the file of a strategy.
#
# Rules
# - When a crawl begins, the place and the content of each are noted in its plan, as a path that holds wherever the
#   crawl is resumed from and as a digest.
# - A crawl goes on only if they still hold what they held then: its journal is told again with their help, and other
#   words, scores or ranks would make another crawl of it.
# - A strategy that reads a file has its path in its parameter `file`.

_DIGEST_LETTERS = 32
#: The parameter in which a strategy has the path of a file that it reads.
_FILE = "file"


def pinned(plan: CrawlSettings) -> CrawlSettings:
    """The plan with what it reads noted; one that names pages nobody would learn from is refused."""
    if plan.web is not None:
        plan = replace(plan, web=str(Path(plan.web).resolve()), web_fingerprint=open_web(plan.web).fingerprint)
    if plan.train_from is not None:
        _check_is_needed(plan)
        folder = Path(plan.train_from).resolve()
        plan = replace(plan, train_from=str(folder), train_digest=training_digest(folder))
    if (file := strategy_file(plan.strategy)) is not None:
        plan = replace(plan, strategy=_with_file(plan.strategy, file.resolve()), strategy_digest=file_digest(file))
    return plan


def strategy_file(strategy: str) -> Path | None:
    """The file that a strategy reads; None if it reads none."""
    file = dict(STRATEGIES.parse(strategy).parameters).get(_FILE)
    return Path(file) if isinstance(file, str) else None


def _with_file(strategy: str, file: Path) -> str:
    choice, place = STRATEGIES.parse(strategy), str(file)
    if "," in place or place != place.strip():
        raise UsageError(
            f"{printable(file)!r}, which {choice.name} reads, cannot be kept as a parameter: a comma would end it, and "
            "blanks around it would be lost. Rename or move the file."
        )
    return str(
        replace(
            choice, parameters=tuple((name, place if name == _FILE else value) for name, value in choice.parameters)
        )
    )


def file_digest(file: Path) -> str:
    """A short name for what a file holds."""
    with opened(file) as source:
        try:
            return hashlib.sha256(source.content.read()).hexdigest()[:_DIGEST_LETTERS]
        except DAMAGE as reason:
            raise InvalidInput(
                f"{printable(file)} cannot be read: {printable(reason)}; check that it is whole."
            ) from None


def recording_of(plan: CrawlSettings) -> RecordedWeb | None:
    """The recorded web that the crawl reads; BadInput if it is no longer what it was when the crawl began."""
    if plan.web is None:
        return None
    place = printable(plan.web)
    if plan.web_fingerprint is not None and not Path(plan.web).exists():
        raise InvalidInput(f"The recorded web that this crawl reads is no longer at {place}: bring it back there.")
    web = open_web(plan.web)
    if plan.web_fingerprint not in (None, web.fingerprint):
        raise InvalidInput(
            f"The recorded web at {place} was changed since the crawl began: bring back what it was, or begin a new "
            "crawl."
        )
    return web


def check_training(plan: CrawlSettings) -> None:
    """BadInput if what was trained, or is learned from now, is not what the crawl began with: the file of its strategy
    and the pages of its classifier."""
    _check_strategy_file(plan)
    if plan.train_from is None or plan.train_digest is None:
        return
    if training_digest(Path(plan.train_from)) != plan.train_digest:
        raise InvalidInput(
            f"The training pages in {printable(plan.train_from)} were changed since the crawl began: bring back what "
            "they were, or begin a new crawl."
        )


def _check_strategy_file(plan: CrawlSettings) -> None:
    file = strategy_file(plan.strategy)
    if file is None or plan.strategy_digest is None:
        return
    place = printable(file)
    if not file.exists():
        raise InvalidInput(f"The file that this crawl's strategy reads is no longer at {place}: bring it back there.")
    if file_digest(file) != plan.strategy_digest:
        raise InvalidInput(
            f"The file {place}, which the strategy reads, was changed since the crawl began: bring back what it was, "
            "or begin a new crawl."
        )


def training_digest(folder: Path) -> str:
    """A short name for the pages in a folder and their names; its place does not matter."""
    if not folder.is_dir():
        raise InvalidInput(f"There is no folder {printable(folder)} to train from: name another with --train-from.")
    digest = hashlib.sha256()
    for file in sorted(file for kind in ("positive", "negative") for file in training_files(folder, kind)):
        try:
            with open_regular(file) as page:
                content = page.read()
        except DAMAGE as reason:
            raise InvalidInput(f"{printable(file)} cannot be read: {printable(reason)}; check its rights.") from None
        digest.update(f"{file.relative_to(folder).as_posix()!r}:{len(content)};".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGEST_LETTERS]


def _check_is_needed(plan: CrawlSettings) -> None:
    model = plan.relevance or STRATEGIES.make(plan.strategy).relevance_model
    if not trains(RELEVANCE.make(model)):
        raise UsageError(
            f"--train-from is of no use: {model}, which scores for {printable(plan.strategy)}, learns from no pages. "
            "Take it away, or choose a model that does, as in --relevance svm."
        )


FALLBACK_GUIDE = "cosine"
#: For so many pages it pays to load compiled code.
MANY_PAGES = 2_000
#: A page that could be parsed once can be parsed again, be the machine as busy as it may.
READ_BACK_S = 60.0


class CrawlParts:
    """What a crawl is made of. The numbers of URLs and words are those that the folder has already."""

    def __init__(self, plan: CrawlSettings, store: CrawlStore) -> None:
        recording = recording_of(plan)
        check_training(plan)
        scanner = _scanner(store, recording)
        strategy = STRATEGIES.make(plan.strategy)
        relevance = relevance_of(plan, strategy, scanner)
        is_large = plan.page_budget >= MANY_PAGES
        if is_large:
            scanner.use_compiled()
        table = UrlTable(compiled=scanner.is_compiled)
        table.add_all(store.urls())
        self._parser = GuardedParser(scanner, agent=plan.agent, table=table)
        if is_large:
            load_compiled(self._parser)
        guards = PageGuards(near_duplicates=plan.near_duplicates, soft_404s=plan.soft_404s)
        scorer = PageScorer(relevance, strategy)
        self._strategy, self._words, self._scanner = strategy, scanner, scanner
        self._reader = reader = Reader(
            self._parser, scorer, guards, agent=plan.agent, respect_nofollow=plan.respect_nofollow
        )
        recorded = None if recording is None else RecordedPages(recording, reader, offline=plan.offline)
        web = self._web(plan, store, scanner, recording, table)
        is_recorded = None if recorded is None else recorded.is_recorded
        engine = Engine(strategy, web, _rules(plan), is_recorded)
        self.crawl = LiveCrawl(engine, reader, guards=guards, store=store, scanner=scanner, recorded=recorded)

    def _web(
        self,
        plan: CrawlSettings,
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
            respect_nofollow=plan.respect_nofollow,
            body_bytes=plan.limits.body_bytes,
            recorded=recording,
        )
        words = TopicWords.of(plan.topic, scanner)
        return LiveWeb(words, table, visits, load_links=pages.links, load_text=pages.text)

    def score_by(self, plan: CrawlSettings) -> None:
        """Score the pages that come from now on by another guide: the one of this plan."""
        self._reader.scorer = PageScorer(relevance_of(plan, self._strategy, self._words), self._strategy)

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code reads the pages."""
        return self._scanner.is_compiled

    def close(self) -> None:
        self._parser.close()
        self._parser_of_stored.close()


def relevance_model_of(plan: CrawlSettings, strategy: Strategy) -> str:
    """The relevance model that scores: the one named, else the strategy's own; but a model that learns needs pages to
    learn from, and without them the cosine stands in."""
    name = plan.relevance or strategy.relevance_model
    if not trains(RELEVANCE.make(name)) or plan.train_from is not None:
        return name
    if plan.relevance is not None:
        raise InvalidTopic(f"Relevance model {name} learns from pages: name a folder with --train-from.")
    return FALLBACK_GUIDE


def relevance_of(plan: CrawlSettings, strategy: Strategy, words: WordScanner) -> Relevance:
    model = RELEVANCE.make(relevance_model_of(plan, strategy))
    if not trains(model) or plan.train_from is None:
        return model.for_topic(plan.topic, words)
    return model.for_topic(plan.topic, words, read_training(Path(plan.train_from), words))


def _scanner(store: CrawlStore, recording: RecordedWeb | None) -> WordScanner:
    scanner = WordScanner()
    stems = store.stems()
    if not stems and recording is not None:
        stems = list(recording.vocabulary)
    scanner.find_words(stems)
    return scanner


def _rules(plan: CrawlSettings) -> CrawlRules:
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


def check(plan: CrawlSettings) -> None:
    """Refuse a plan that no crawl can be made of, before a folder is made for it."""
    strategy = STRATEGIES.make(plan.strategy)
    words = WordScanner()
    relevance_of(plan, strategy, words)
