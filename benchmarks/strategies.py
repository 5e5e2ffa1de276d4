"""CPU time that each strategy takes per page, and how it grows with the length of the crawl (estimated 20 minutes).

On a generated web with 20 links and 200 words per page, for the largest of 20 topics. Fetching and scoring are not
included. Printed is the mean over the last tenth of a crawl of each length, so that growing costs are visible.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import command_parser
from benchmarks.data import synthetic_web
from scenthound.model import FloatArray, IntArray
from scenthound.simulator.scores import Scores, TopicWords
from scenthound.simulator.simulator import simulate
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics

LENGTHS = (1_000, 10_000, 100_000)
N_PAGES = 300_000
LINKS_PER_PAGE = 20
WORDS_PER_PAGE = 200
N_TOPICS = 20
N_SEEDS = 10
#: Crawls that would take longer are skipped.
MAX_SECONDS = 120
#: Measured besides all strategies with their defaults: the bounds of the studies, and PageRank of all visited pages.
MORE = ("breadth_first:buffer=256", "best_first:buffer=256", "pagerank:pages=none")
#: Measured instead of the default, which ends early.
INSTEAD = {"infospiders": "infospiders:max_pages=100000"}


class RandomScores(Scores):
    """Scores drawn beforehand, so that only the strategy is measured."""

    def __init__(self, web: RecordedWeb, on_topic: IntArray) -> None:
        super().__init__(web)
        rng = np.random.default_rng(2)
        self.relevance = 0.2 + 0.4 * rng.random(web.n_pages)
        self.relevance[on_topic] += 0.4
        self._of_links: FloatArray = rng.random(web.n_links)

    def score_page(self, recorded_page: int) -> tuple[float, int]:
        return self.relevance[recorded_page], 0

    def score_links(self, recorded_page: int, window: int | None) -> tuple[FloatArray, int]:
        return self._of_links[self._link_offset[recorded_page] : self._link_offset[recorded_page + 1]], 0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("strategies", __doc__)
    parser.add_argument("--pages", type=int, default=N_PAGES, help="pages of the web")
    options = parser.parse_args(arguments)
    with synthetic_web(
        pages=options.pages,
        links_per_page=LINKS_PER_PAGE,
        words_per_page=WORDS_PER_PAGE,
        topics=N_TOPICS,
        dead_links=0,
    ) as folder:
        _compare(RecordedWeb.open(folder), folder / "topics.jsonl")


def _compare(web: RecordedWeb, topics: Path) -> None:
    topic = max(read_topics(topics), key=lambda topic: len(web.labelled(topic.id)))
    pages = web.labelled(topic.id)
    scores, words = RandomScores(web, pages), TopicWords(web.find_words(topic.keywords))
    seeds = pages[:N_SEEDS].tolist()
    print(f"  CPU microseconds per page after {', '.join(f'{length:,}' for length in LENGTHS)} pages")
    for choice in [*(INSTEAD.get(name, name) for name in STRATEGIES.names()), *MORE]:
        costs = _costs(choice, web, scores, words, seeds)
        print(f"  {choice:36} " + " ".join(f"{cost:>9}" for cost in costs), flush=True)


def _costs(choice: str, web: RecordedWeb, scores: RandomScores, topic: TopicWords, seeds: list[int]) -> list[str]:
    costs: list[str] = []
    last_us, last_length = 0.0, LENGTHS[0]
    for length in LENGTHS:
        # The expected time, if the cost of a page grows with the length of the crawl.
        if last_us * length / last_length * length / 1e6 > MAX_SECONDS and last_us * length / 1e6 > MAX_SECONDS / 4:
            costs.append("too long")
            continue
        crawl = simulate(
            web, STRATEGIES.make(choice), seeds, scores, rng=Random(1), page_budget=length, topic=topic, plain=True
        )
        if len(crawl.pages) < length:
            costs.append(f"end {len(crawl.pages):,}")
            continue
        last_us, last_length = float(crawl.cpu_us[-length // 10 :].mean()), length
        costs.append(f"{last_us:,.0f}")
    return costs


if __name__ == "__main__":
    main()
