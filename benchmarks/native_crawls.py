"""Visits per second of simulated crawls in C and in Python, on a web of a million pages (estimated 10 minutes).

The web is generated: 20 million links, first without dead links, then with a fifth of them dead, as in real
collections. Its pages are numbered at random, so that linked pages are not near each other in memory. Crawls in C
run until the web is exhausted, those in Python for some thousand pages, alternating in one process; traces must be
equal up to that length. Pages are scored beforehand by the relevance model of rank functions, and scores of links are
random, so that only crawling is measured, in CPU time. `start` is the time from the start of a process to the end of
its first crawl of a hundred pages.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time

import numpy as np

from benchmarks import command_parser, target
from benchmarks.data import synthetic_web
from benchmarks.strategies import RandomScores
from scenthound.experiments.starts import WANG2009, Starts, training_of
from scenthound.model import Topic
from scenthound.relevance.svm import LinearSvm
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.testing.topical_web import TOPICS_FILE
from scenthound.topics.files import read_topics

N_PAGES = 1_000_000
LINKS_PER_PAGE = 20
N_SEEDS = 100
N_ROUNDS = 3
PLAIN_PAGES = 20_000
#: Strategy, mode, and the target in visits per second on the web without dead links.
CHOICES = (
    ("breadth_first:buffer=none", "sequential", None),
    ("best_first:buffer=none", "sequential", 1_000_000),
    ("best_first:buffer=none", "roulette", None),
    ("opic", "sequential", None),
    ("otie", "sequential", None),
    ("rank_function:preset=johnson2003", "sequential", 500_000),
    ("rank_function:preset=johnson2003", "roulette", None),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("native_crawls", __doc__)
    parser.add_argument("pages", type=int, nargs="?", default=N_PAGES, help="pages of the web")
    n_pages = parser.parse_args(arguments).pages
    for dead_links in (0.0, 0.2):
        with synthetic_web(pages=n_pages, links_per_page=LINKS_PER_PAGE, dead_links=dead_links) as folder:
            _measure(folder, has_targets=dead_links == 0)
            if dead_links == 0:
                _measure_start(folder)


def _measure(folder: Path, *, has_targets: bool) -> None:
    web = RecordedWeb.open(folder)
    bench = _Bench(web, read_topics(folder / TOPICS_FILE))
    dead = float((web.url_page[web.link_url] < 0).mean())
    relevant = f"{bench.scores.share_relevant():.0%} of the pages relevant"
    print(f"  {web.n_pages:,} pages, {web.n_links:,} links, {dead:.0%} of them dead, {relevant}")
    for strategy, mode, min_speed in CHOICES:
        bench.crawl(strategy, mode, web.n_pages, plain=False)  # Allocates arrays.
        rounds = [bench.both(strategy, mode) for _ in range(N_ROUNDS)]
        fast, slow = (median(speeds) for speeds in zip(*rounds, strict=True))
        print(f"  {strategy:33} {mode:11} {fast:11,.0f}/s  in Python {slow:7,.0f}/s  {fast / slow:4.0f} times", end="")
        has_target = has_targets and min_speed is not None
        print("; " + target(f"at least {min_speed:,}/s", is_met=fast >= min_speed) if has_target else "")


class _Scores(RandomScores):
    """Scores of pages by a relevance model trained on the topic's examples; scores of links are random."""

    def __init__(self, web: RecordedWeb, topics: list[Topic]) -> None:
        super().__init__(web, web.labelled(topics[0].id))
        starts = Starts(web)
        positives = starts.example_pages(topics[0])[: WANG2009.positives]
        negatives = [page for topic in topics[1:] for page in starts.example_pages(topic)[:5]]
        relevance_model = scores_for(topics[0], LinearSvm(), web, training_of(web, positives, negatives))
        self.relevance = np.array([relevance_model.page(page) for page in range(web.n_pages)])

    def share_relevant(self) -> float:
        return float((self.relevance >= 0.5).mean())


class _Bench:
    """Crawls of one web."""

    def __init__(self, web: RecordedWeb, topics: list[Topic]) -> None:
        self._web = web
        self._links = VisibleLinks(web)
        self._seeds = web.labelled(topics[0].id)[:N_SEEDS].tolist()
        self.scores = _Scores(web, topics)

    def both(self, strategy: str, mode: str) -> tuple[float, float]:
        """Visits per second, in C and in Python."""
        (fast, fast_s), (slow, slow_s) = (
            self.crawl(strategy, mode, self._web.n_pages, plain=False),
            self.crawl(strategy, mode, PLAIN_PAGES, plain=True),
        )
        if fast.pages[: len(slow.pages)].tolist() != slow.pages.tolist():
            raise AssertionError(f"{strategy}, {mode}: the crawl in C and the one in Python differ.")
        return len(fast.pages) / fast_s, len(slow.pages) / slow_s

    def crawl(self, strategy: str, mode: str, page_budget: int, *, plain: bool) -> tuple[Crawl, float]:
        started_s = process_time()
        crawl = simulate(
            self._web,
            STRATEGIES.make(strategy),
            self._seeds,
            self.scores,
            rng=Random(1),
            page_budget=page_budget,
            links=self._links,
            mode=parse_mode(mode),
            plain=plain,
        )
        return crawl, process_time() - started_s


_START = """
import sys
from random import Random
from benchmarks import command_parser, target
from benchmarks.data import synthetic_web
from benchmarks.strategies import RandomScores
from scenthound.simulator.simulator import simulate
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
web = RecordedWeb.open(sys.argv[1])
on_topic = web.labelled("topic0")
simulate(web, STRATEGIES.make("rank_function"), on_topic[:9].tolist(), RandomScores(web, on_topic), rng=Random(1),
    page_budget=100, plain=sys.argv[2] == "python")
"""


def _measure_start(folder: Path) -> None:
    seconds = {}
    for kind in ("python", "c"):
        started_s = perf_counter()
        subprocess.run([sys.executable, "-c", _START, str(folder), kind], check=True)
        seconds[kind] = perf_counter() - started_s
    print(f"  start: in C {seconds['c']:.1f} s, in Python {seconds['python']:.1f} s, opening the web included")


if __name__ == "__main__":
    main()
