"""The parts of a live crawl, made from its settings.

Besides the web a crawl may read a recorded web, training pages of its relevance model, a file of its strategy (the
parameter `file`), and cookies. When a crawl starts, their absolute paths and digests are written to its settings. It is
resumed only if they are unchanged, because its journal is replayed with them.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scenthound.crawler.engine import Engine
from scenthound.crawler.live_crawl import LiveCrawl
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.reader import PageFilter, PageScorer, Reader, StoredPages
from scenthound.crawler.scope import ScopeFilter
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.shard import ShardMap
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import InvalidInput, InvalidTopic, UsageError, printable
from scenthound.files import DAMAGE, opened
from scenthound.frontier.url_table import UrlTable
from scenthound.model import Progress, Topic
from scenthound.relevance.base import RELEVANCE, Relevance, accepts_training, on_topic_from, trains
from scenthound.simulator.scores import TopicWords
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import DIGEST_CHARACTERS, read_training, training_digest
from scenthound.strategies.base import STRATEGIES, Strategy
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import PageParser


def open_recording(path: str | Path) -> RecordedWeb:
    # Loading the readers of all input formats takes time, and few crawls use a recorded web.
    from scenthound.store.record import open_web

    return open_web(path)


def with_digests(settings: CrawlSettings) -> CrawlSettings:
    """The settings with absolute paths and digests of what the crawl reads. UsageError for unused training pages."""
    if settings.web is not None:
        web = open_recording(settings.web)
        settings = replace(settings, web=str(Path(settings.web).resolve()), web_fingerprint=web.fingerprint)
    if settings.train_from is not None:
        check_trains(relevance_model_of(settings), settings.strategy)
        folder = Path(settings.train_from).resolve()
        settings = replace(settings, train_from=str(folder), train_digest=training_digest(folder))
    if (file := strategy_file(settings.strategy)) is not None:
        strategy = _with_file(settings.strategy, file.resolve())
        settings = replace(settings, strategy=strategy, strategy_digest=file_digest(file))
    if settings.cookie_file is not None:
        cookies = Path(settings.cookie_file).resolve()
        settings = replace(settings, cookie_file=str(cookies), cookie_digest=file_digest(cookies))
    return settings


def strategy_file(strategy: str) -> Path | None:
    """The file that a strategy reads, if any."""
    file = dict(STRATEGIES.parse(strategy).parameters).get("file")
    return Path(file) if isinstance(file, str) else None


def _with_file(strategy: str, file: Path) -> str:
    choice, path = STRATEGIES.parse(strategy), str(file)
    if "," in path or path != path.strip():
        raise UsageError(
            f"{choice.name} cannot read {printable(file)!r}: a path in a parameter must not contain commas, or start "
            "or end with blanks. Rename or move the file."
        )
    parameters = tuple((name, path if name == "file" else value) for name, value in choice.parameters)
    return str(replace(choice, parameters=parameters))


def file_digest(file: Path) -> str:
    """A digest of the content of a file."""
    with opened(file) as source:
        try:
            return hashlib.sha256(source.content.read()).hexdigest()[:DIGEST_CHARACTERS]
        except DAMAGE as reason:
            raise InvalidInput(
                f"Cannot read {printable(file)}: {printable(reason)}. Restore it from a backup."
            ) from None


def check_trains(model: str, strategy: str) -> None:
    """UsageError if the relevance model of a crawl does not use training pages."""
    if not accepts_training(RELEVANCE.make(model)):
        raise UsageError(
            f"--train-from has no effect: {model}, the relevance model of {printable(strategy)}, is not trained. "
            "Remove the option, or choose a model that is, for example --relevance svm."
        )


def check_inputs(settings: CrawlSettings) -> None:
    """InvalidInput if something that the crawl reads has changed since it started."""
    inputs: tuple[tuple[str, str | Path | None, str | None, Callable[[Path], str]], ...] = (
        ("The recorded web", settings.web, settings.web_fingerprint, lambda path: open_recording(path).fingerprint),
        ("The training pages", settings.train_from, settings.train_digest, training_digest),
        ("The file of the strategy", strategy_file(settings.strategy), settings.strategy_digest, file_digest),
        ("The cookie file", settings.cookie_file, settings.cookie_digest, file_digest),
    )
    for what, given, digest, digest_of in inputs:
        if given is None or digest is None:
            continue
        path = Path(given)
        if not path.exists():
            raise InvalidInput(f"{what} of this crawl, {printable(path)}, is missing: restore it.")
        if digest_of(path) != digest:
            raise InvalidInput(
                f"{what} of this crawl, {printable(path)}, changed after it started: restore the original, or start a "
                "new crawl."
            )


class CrawlParts:
    """A crawl in a folder. URLs and words have the numbers that they have there."""

    def __init__(self, settings: CrawlSettings, store: CrawlStore) -> None:
        check_inputs(settings)
        recorded = None if settings.web is None else open_recording(settings.web)
        self._scanner = scanner = scanner_of(store, recorded)
        self._strategy = strategy = STRATEGIES.make(settings.strategy)
        relevance = relevance_of(settings, scanner)
        table = UrlTable()
        table.load(store.url_texts())
        visits = VisitNumbers()
        scope = ScopeFilter(settings.scope)
        self._stored = stored = StoredPages(
            store, PageParser(scanner, settings.agent), visits, settings, scope=scope, recorded=recorded
        )
        words = TopicWords.of(settings.topic, scanner)
        web = LiveWeb(
            words,
            table,
            visits,
            load_links=stored.links,
            load_text=stored.text,
            load_robots=store.robots_file,
            max_depth=settings.scope.max_depth,
        )
        page_filter = PageFilter(near_duplicates=settings.near_duplicates, soft_404s=settings.soft_404s)
        self._reader = Reader(
            PageParser(scanner, settings.agent, table),
            PageScorer(relevance, strategy, _model_id(settings)),
            page_filter,
            settings,
            scope=scope,
            recorded=recorded,
        )
        shards = ShardMap(settings.shards, settings.shard, table) if settings.shards > 1 else None
        engine = Engine(strategy, web, settings, scope, self._reader.is_recorded, shards=shards)
        self.crawl = LiveCrawl(engine, self._reader, page_filter, store, scanner)

    def set_relevance_model(self, settings: CrawlSettings) -> None:
        """Score further pages with the relevance model of these settings; it learns only from pages to come."""
        relevance = relevance_of(settings, self._scanner)
        self._reader.scorer = PageScorer(relevance, self._strategy, _model_id(settings))
        self.crawl.recall.has_several_models = True

    def relearn(self, progress: Progress, first: int = 0) -> None:
        """Let the relevance model learn from the pages that were visited before the crawl was resumed, from number
        `first` on, and from start pages that other shards have visited."""
        arrived = self.crawl.arrived_starts
        self._reader.relearn(self.crawl.engine.web.visits, self._stored, progress, first, arrived)


def _model_id(settings: CrawlSettings) -> str:
    """Identifies a relevance model and its training pages."""
    return f"{relevance_model_of(settings)} {settings.train_digest or settings.train_from or ''}"


def scanner_of(store: CrawlStore, recorded: RecordedWeb | None) -> WordScanner:
    """With the vocabulary of the crawl, which starts with that of the recorded web."""
    scanner = WordScanner()
    scanner.load(store.stem_texts())
    if scanner.n_words == 1 and recorded is not None:
        scanner.find_words(list(recorded.vocabulary))
    return scanner


def with_relevance(settings: CrawlSettings) -> CrawlSettings:
    """The settings of a new crawl with the name of its relevance model: that of the strategy, if none was chosen, or
    the default one, if that needs training pages and there are none."""
    name = chosen_model(settings.relevance, settings.strategy, is_trained=settings.train_from is not None)
    return replace(settings, relevance=name, on_topic_from=on_topic_from(RELEVANCE.make(name)))


def chosen_model(relevance: str | None, strategy: str, *, is_trained: bool) -> str:
    """The relevance model of a new crawl; InvalidTopic if the chosen one needs training pages and there are none."""
    name = relevance or STRATEGIES.make(strategy).relevance_model
    if trains(RELEVANCE.make(name)) and not is_trained:
        if relevance is not None:
            raise InvalidTopic(f"Relevance model {name} needs training pages: name their folder with --train-from.")
        name = Strategy.relevance_model
    return name


def relevance_model_of(settings: CrawlSettings) -> str:
    """The relevance model of a crawl; of settings that name none, that of the strategy."""
    return settings.relevance or STRATEGIES.make(settings.strategy).relevance_model


def relevance_of(settings: CrawlSettings, words: WordScanner) -> Relevance:
    return made_relevance(relevance_model_of(settings), settings.topic, settings.train_from, words)


def made_relevance(name: str, topic: Topic, train_from: str | None, words: WordScanner) -> Relevance:
    """A relevance model for a topic, trained on the pages of a folder if there is one and the model uses them."""
    model = RELEVANCE.make(name)
    if not accepts_training(model) or train_from is None:
        return model.for_topic(topic, words)
    return model.for_topic(topic, words, read_training(Path(train_from), words))
