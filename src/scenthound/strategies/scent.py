"""Scent: the URL that looks most relevant by all that visited pages say of it (our design).

Each URL is scored by a weighted sum of fifteen features, collected over all visited pages that link to it
(`link_evidence`): the scores of these pages, of the words around the links and of their anchors; how many of the pages
are relevant, and how many were to be expected; the relevance of visited pages that are linked next to it or from the
same pages; how much the words around its best link speak for relevance in this crawl (`word_odds`); and its cash as in
OPIC, which is high near the start pages. The weights are fixed during a crawl. They were fitted on frontiers of crawls
for other topics (`scenthound fit-scent`).

When a URL is scored
- When a visited page links to it, and when a page is visited that was linked next to it.
- All queued URLs, with new log-odds of words, when the crawl has `GROWTH` times as many pages as the last time, and
  has scored `RESCORING` times as many URLs as are queued. So the time for this stays proportional to the number of
  links, however long the queue is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated

import numpy as np

from scenthound.frontier.base import UpdateRule
from scenthound.model import FloatArray, IntArray, Seed, Visit
from scenthound.registry import Bounds
from scenthound.strategies.base import SeenWeb, Sharding
from scenthound.strategies.frontier_strategy import (
    Buffer,
    FrontierStrategy,
    RoundSize,
    best_links,
    best_of_repeats,
    seed_arrays,
)
from scenthound.strategies.link_evidence import FoundLinks, LinkEvidence, WordScores, log_odds
from scenthound.strategies.per_url import Window, anchor_scores, context_scores
from scenthound.strategies.scent_weights import default_weights, read_weights
from scenthound.strategies.word_odds import WordOdds
from scenthound.text.windows import context_bounds

#: The least divisor of scores: with a lower one, an irrelevant start page would count as relevant.
LEAST_HIGHEST = 0.25
#: All queued URLs are scored again when the crawl has this many times more pages than the last time.
GROWTH = 1.3
#: And only if this many URLs were scored since then, for each queued one.
RESCORING = 1.0

#: Words with higher numbers are ignored. A live crawl numbers words in the order in which it meets them.
MaxWords = Annotated[int, Bounds(0, 1 << 24)]
MAX_WORDS = 1 << 18


@dataclass(eq=False)
class Scent(FrontierStrategy):
    """`file` has the weights of the features; without it, those that ship with the package. `window` is the number of
    words around a link, `max_words` the number of words whose log-odds are learned; `n` and `buffer` are those of
    Best-N-First."""

    summary = "the n links that look most relevant by all pages that link to them, words and neighbours"
    needs_anchors = True
    update_rule = UpdateRule.LATEST
    saved = ("_evidence", "_context_odds", "_page_odds", "_highest", "_n_scored", "_n_when_rescored")
    bytes_per_url = 170  # the evidence, in an array that is at most a sixteenth longer than needed

    file: str | None = None
    window: Window = 20
    max_words: MaxWords = MAX_WORDS
    n: RoundSize = 1
    buffer: Buffer = None

    def __post_init__(self) -> None:
        self.context_words = self.window
        self._weights = default_weights() if self.file is None else read_weights(self.file)

    def _begin(self, rng: Random, seen: SeenWeb) -> None:
        super()._begin(rng, seen)
        self._evidence = LinkEvidence()
        self._context_odds = WordOdds(self.max_words)
        self._page_odds = WordOdds(self.max_words)
        #: The highest relevance of a context, an anchor and a page.
        self._highest = [LEAST_HIGHEST] * 3
        self._n_scored = 0
        self._n_when_rescored = 0

    def start(self, seeds: Sequence[Seed], rng: Random, seen: SeenWeb) -> None:
        super().start(seeds, rng, seen)
        self._evidence.start(seed_arrays(seeds)[0])

    @property
    def sharding(self) -> Sharding:
        reason = (
            "a URL has the highest score of the shards where it was found; each collects evidence from its own pages"
        )
        return self._in_shards("approximate", reason)

    def receive(self, pages: IntArray, hosts: IntArray, values: FloatArray) -> None:
        self._evidence.reach(int(pages.max(initial=-1)) + 1)
        # What was found at home counts until another shard knows better.
        self._frontier.push_max(pages, hosts, values[:, 0])

    def tell(self, visit: Visit) -> None:
        super().tell(visit)
        words = self._seen.words(visit.page)
        scores = self._scaled_scores(visit)
        relevance = float(scores[-1])
        neighbours = self._learn(visit.page, relevance, words)
        found = self._found_links(visit, scores, len(words))
        self._evidence.add_links(visit.page, relevance, found, words)
        self._score(np.concatenate((found.pages, neighbours)))
        if self._evidence.n_visited >= GROWTH * self._n_when_rescored and self._n_scored >= RESCORING * len(self):
            self._rescore()

    def _scaled_scores(self, visit: Visit) -> FloatArray:
        """The scores of the contexts and of the anchors of all links, and that of the page. Each kind is relative to
        its highest score in the crawl so far, because the ranges of relevance models differ."""
        contexts, anchors = context_scores(visit.links), anchor_scores(visit.links)
        n_links = len(contexts)
        scores = np.concatenate((contexts, anchors, (visit.relevance,)))
        kinds = (0, n_links, 2 * n_links) if n_links else (0,)
        highest = np.maximum.reduceat(scores, kinds).tolist()
        # A page without links has only its own score.
        self._highest = [*map(max, self._highest, [0.0] * (3 - len(highest)) + highest)]
        context, anchor, page = self._highest
        scores[:n_links] /= context
        scores[n_links:-1] /= anchor
        scores[-1] /= page
        return scores

    def _learn(self, page: int, relevance: float, words: IntArray) -> IntArray:
        """Learn from a visited page; returns the URLs that were linked next to it."""
        neighbours = self._evidence.visit(page, relevance)
        self._context_odds.learn(self._evidence.words(page), relevance)
        self._page_odds.learn(words, relevance)
        return neighbours

    def _found_links(self, visit: Visit, scores: FloatArray, n_words: int) -> FoundLinks:
        links = visit.links
        n_links = len(links)
        # One call for all: each takes longer than the work on a page's links.
        odds = log_odds(scores)
        distinct, context, best = best_links(links.pages, odds[:n_links])
        _, anchor = best_of_repeats(links.pages, odds[n_links:-1])
        first, last = self._windows(visit.page, n_links, n_words)
        return FoundLinks(
            links.pages[distinct],
            links.hosts[distinct],
            context,
            anchor,
            first[best],
            last[best],
            float(odds[-1]),
        )

    def _windows(self, page: int, n_links: int, n_words: int) -> tuple[IntArray, IntArray]:
        """The words around each link of a visit. Links of earlier pages that a shorter path brought into reach of the
        maximum depth have none: they count as links of this page, since the driver does not say whose they are."""
        first, last = context_bounds(*self._seen.link_positions(page), n_words, self.window)
        if len(first) < n_links:
            elsewhere = np.full(n_links - len(first), n_words, np.int32)
            first, last = np.concatenate((first, elsewhere)), np.concatenate((last, elsewhere))
        return first, last

    def _score(self, pages: IntArray) -> None:
        """Score URLs that can be visited; others are left out."""
        self._frontier.push_latest(*self._evidence.scored(pages, self._words(), self._weights))
        self._n_scored += len(pages)

    def _rescore(self) -> None:
        for odds in (self._context_odds, self._page_odds):
            odds.update(self._evidence.mean_relevance)
        self._score(np.sort(self._frontier.queued_pages()))
        self._n_scored = 0
        self._n_when_rescored = self._evidence.n_visited

    def queued_features(self) -> tuple[IntArray, FloatArray]:
        """The queued URLs that have a score, and their features."""
        queued = np.sort(self._frontier.queued_pages())
        queued = queued[self._evidence.has_score(queued)]
        return queued, self._evidence.features(queued, self._words())

    def _words(self) -> WordScores:
        return WordScores(self._context_odds.log_odds, self._page_odds.log_odds)
