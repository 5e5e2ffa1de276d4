"""The order of a crawl whose pages somebody else fetches: strategy, relevance model, and what they have seen.

It is the part of a live crawl that decides, without Scrapy and without a network. Pages are read, scored and learned
from as in `crawler.reader`, and numbered in order of discovery, so that one page at a time gives the order of a
simulated crawl.

Rules
- The links of a visit are those that the spider has requested from its response. Their order, anchors and contexts are
  those of the page. A link that the page does not have comes last, and scores as the others do on average.
- Start pages are learned before they are scored, other pages after they were visited.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from random import Random

import numpy as np

from scenthound.crawler.assembly import made_relevance
from scenthound.crawler.live_web import LiveWeb
from scenthound.crawler.reader import PageScorer
from scenthound.crawler.settings import AGENT
from scenthound.crawler.sitemap_links import with_positions_at_end
from scenthound.crawler.tasks import PageText
from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.errors import PluginError
from scenthound.frontier.base import Ready
from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray, FloatArray, Visit, generator_seed
from scenthound.reasons import SkipReason
from scenthound.relevance.base import RELEVANCE, on_topic_from
from scenthound.saved_state import State
from scenthound.scrapy.page_file import PageFile
from scenthound.scrapy.settings import SchedulerSettings
from scenthound.simulator.scores import TopicWords
from scenthound.strategies.base import STRATEGIES
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import PageParser
from scenthound.web.urls import canonical


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that was read and scored, with all of its links."""

    url: str
    relevance: float
    text: PageText
    links: list[str]
    predicted: FloatArray | None
    anchors: FloatArray | None


class CrawlOrder:
    """Asks the strategy for pages and tells it what became of them. `saved` is the state of a crawl to continue."""

    def __init__(self, settings: SchedulerSettings, pages: PageFile, saved: State | None = None) -> None:
        self._settings = settings
        scanner = self._scanner = WordScanner()
        self.table = UrlTable()
        if saved is not None:
            scanner.load(_lines(saved["stems"]))
            self.table.load(_lines(saved["urls"]))
        self._strategy = STRATEGIES.make(settings.strategy)
        relevance = made_relevance(settings.relevance, settings.topic, settings.train_from, scanner)
        self._scorer = PageScorer(relevance, self._strategy, f"{settings.relevance} {settings.train_from or ''}")
        self._parser = PageParser(scanner, AGENT)
        self._pages = pages
        visits = VisitNumbers()
        self._web = LiveWeb(
            TopicWords.of(settings.topic, scanner),
            self.table,
            visits,
            load_links=lambda page: pages.links(visits[page]),
            load_text=lambda page: pages.text(visits[page]),
            load_robots=lambda _number: None,
        )
        self.on_topic_from = on_topic_from(RELEVANCE.make(settings.relevance))
        self._n_seeds = 0
        if saved is not None:
            self._restore(saved)

    def __len__(self) -> int:
        """The number of pages in the frontier of the strategy."""
        return len(self._strategy)

    @property
    def can_be_saved(self) -> bool:
        return self._scorer.is_saved

    def start(self, urls: Sequence[str]) -> list[int]:
        """Begin the crawl; returns the numbers of the seeds, which are all different."""
        seeds = self._web.seeds(urls)
        self._n_seeds = len(seeds)
        rng = Random(generator_seed(self._settings.random_seed, self._settings.topic.id))
        with self._strategy_fails_in("start"):
            self._strategy.start(seeds, rng, self._web.seen)
        return [seed.page for seed in seeds]

    def is_seed(self, page: int) -> bool:
        return page < self._n_seeds

    def add(self, url: str) -> int:
        """The number of a URL that no page links to."""
        return int(self.table.add_all([url])[0])

    def ask(self, ready: Ready | None = None) -> int | None:
        """The next page of the strategy, if there is one on a host that is ready; None for `ready` means all hosts."""
        with self._strategy_fails_in("ask"):
            pages = self._strategy.ask(1, ready)
        return pages[0] if pages else None

    def read(self, page: int, content: bytes, url: str, charset: str | None) -> ReadPage | None:
        """Read and score a page that was fetched; None if it cannot be parsed."""
        url = canonical(url) or url
        parsed = self._parser.parse(content, url, charset)
        if isinstance(parsed, SkipReason):
            return None
        text = PageText(parsed.words, parsed.link_start, parsed.link_end)
        if self.is_seed(page):
            self._scorer.learn(text.words, is_start=True)
        relevance, predicted, anchors = self._scorer.score(text)
        assert isinstance(parsed.links, list), "no URL table is used here"
        return ReadPage(url, relevance, text, parsed.links, predicted, anchors)

    def visit(self, page: int, read: ReadPage, found: Sequence[str], *, was_asked: bool = True) -> list[int]:
        """Tell the strategy of a visit; returns the numbers of the URLs that the spider has requested from it. A
        strategy may ignore a page that it has not asked for."""
        wanted = set(found)
        is_kept = np.fromiter((url in wanted for url in read.links), np.bool_, len(read.links))
        on_page = [url for url in read.links if url in wanted]
        elsewhere = wanted.difference(on_page)
        links = [*on_page, *dict.fromkeys(url for url in found if url in elsewhere)]
        n_more = len(links) - len(on_page)
        text = PageText(read.text.words, read.text.link_start[is_kept], read.text.link_end[is_kept])
        text = with_positions_at_end(text, len(links))
        predicted = _selected(read.predicted, is_kept, n_more, read.relevance)
        anchors = _selected(read.anchors, is_kept, n_more, read.relevance)
        self._web.texts.add(page, text)
        redirected_to = None if read.url == self.table.url(page) else read.url
        numbers, visible_links = self._web.visit(page, redirected_to, links, (predicted, anchors))
        self._pages.append((numbers, predicted, anchors), text)
        self._tell(Visit(page, read.relevance, visible_links), was_asked=was_asked)
        if not self.is_seed(page):
            self._scorer.learn(text.words, is_start=False)
        number_of = dict(zip(links, numbers.tolist(), strict=True))
        return [number_of[url] for url in found]

    def _tell(self, visit: Visit, *, was_asked: bool) -> None:
        if was_asked:
            with self._strategy_fails_in("tell"):
                self._strategy.tell(visit)
            return
        # A strategy may know only pages that it has requested. It then learns of the links from other pages.
        with suppress(PluginError), self._strategy_fails_in("tell"):
            self._strategy.tell(visit)

    def drop(self, page: int) -> None:
        """There is no page at a requested URL."""
        with self._strategy_fails_in("drop"):
            self._strategy.drop(page)

    def state(self) -> State:
        """For the constructor of a crawl that continues this one."""
        with self._strategy_fails_in("state"):
            strategy = dict(self._strategy.state())
        return {
            "strategy": strategy,
            "web": self._web.state(),
            "scorer": self._scorer.state(),
            "urls": self.table.urls(0, len(self.table)),
            "stems": self._scanner.stems_from(1),
            "page_ends": self._pages.ends(),
            "n_seeds": self._n_seeds,
        }

    def _restore(self, saved: State) -> None:
        self._n_seeds = saved["n_seeds"]
        self._pages.restore(saved["page_ends"])
        self._web.restore(saved["web"])
        self._scorer.restore(saved["scorer"])
        with self._strategy_fails_in("restore"):
            self._strategy.restore(saved["strategy"], self._web.seen)

    def close(self) -> None:
        self._pages.close()

    def _strategy_fails_in(self, method: str) -> AbstractContextManager[None]:
        return PluginError.wrapping(f"Strategy {self._settings.strategy} failed in `{method}`")


def _lines(texts: Sequence[str]) -> list[bytes]:
    return ["\n".join(texts).encode("utf-8", "surrogatepass")] if texts else []


def _selected(scores: FloatArray | None, is_kept: BoolArray, n_more: int, relevance: float) -> FloatArray | None:
    """The scores of the kept links, and for others the mean of the page's links or, if it has none, its relevance."""
    if scores is None:
        return None
    mean = float(scores.mean()) if len(scores) else relevance
    return np.concatenate((scores[is_kept], np.full(n_more, mean)))
