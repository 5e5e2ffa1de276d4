"""Simulated visits per second of compiled crawls beside their plain twins, on a web of a million pages; CPU time.

The web is made up: 20 million links, once all of them to recorded pages and once a fifth of them dead, as in real
collections. Its pages are numbered by lot, so that nothing lies near in memory by chance. Compiled crawls run until the
web is exhausted, plain ones for some thousand pages, in the same process and in turns; their traces must be the same as
far as they go. Pages are scored beforehand, by the guide that rank functions have, so that crawling is measured and
nothing else; what links promise is drawn by lot. `start` is how long a new process takes
until its first crawl of a hundred pages is done, with the compiled code found on disk.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time

import numpy as np

from benchmarks.strategies import DrawnScores
from scenthound.experiments.starts import WANG2009_POSITIVES, Starts, training_of
from scenthound.model import Topic
from scenthound.relevance.svm import LinearSvm
from scenthound.simulator.compiled.driver import known_scores
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import topical_web
from scenthound.testing.topical_web import TOPICS_FILE
from scenthound.topics.files import read_topics

N_PAGES = 1_000_000
LINKS_PER_PAGE = 20
N_SEEDS = 100
N_ROUNDS = 3
PLAIN_PAGES = 20_000
#: Strategy, mode, and what is asked of it: visits per second on the web without dead links.
CHOICES = (
    ("breadth_first:buffer=none", "sequential", None),
    ("best_first:buffer=none", "sequential", 1_000_000),
    ("best_first:buffer=none", "roulette", None),
    ("opic", "sequential", None),
    ("otie", "sequential", None),
    ("rank_function:preset=johnson2003", "sequential", 500_000),
    ("rank_function:preset=johnson2003", "roulette", None),
)


def main(n_pages: int = N_PAGES) -> None:
    for dead_links in (0.0, 0.2):
        with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
            folder = Path(place) / "web"
            topical_web(folder, pages=n_pages, links_per_page=LINKS_PER_PAGE, dead_links=dead_links)
            _measure(folder, judged=dead_links == 0)
            if dead_links == 0:
                _measure_start(folder)


def _measure(folder: Path, *, judged: bool) -> None:
    web = RecordedWeb.open(folder)
    bench = _Bench(web, read_topics(folder / TOPICS_FILE))
    dead = float((web.url_page[web.link_url] < 0).mean())
    good = f"{bench.share_of_good:.0%} of the pages good"
    print(f"  {web.n_pages:,} pages, {web.n_links:,} links, {dead:.0%} of them dead, {good}")
    for strategy, mode, wanted in CHOICES:
        bench.crawl(strategy, mode, web.n_pages, plain=False)  # Compiles, if it is the first time, and makes room.
        rounds = [bench.both(strategy, mode) for _ in range(N_ROUNDS)]
        fast, slow = (median(speeds) for speeds in zip(*rounds, strict=True))
        asked = f"   asked: {wanted:,}" if wanted and judged else ""
        print(f"  {strategy:33} {mode:11} {fast:11,.0f}/s  plain {slow:7,.0f}/s  {fast / slow:4.0f} times{asked}")


class _Scores(DrawnScores):
    """The guide's scores of pages, trained on the topic's examples; those of links are drawn."""

    def __init__(self, web: RecordedWeb, topics: list[Topic]) -> None:
        super().__init__(web, web.labelled(topics[0].id))
        starts = Starts(web)
        positives = starts.example_pages(topics[0])[:WANG2009_POSITIVES]
        negatives = [page for topic in topics[1:] for page in starts.example_pages(topic)[:5]]
        relevance_model = scores_for(topics[0], LinearSvm(), web, training_of(web, positives, negatives))
        self._relevance = [relevance_model.page(page) for page in range(web.n_pages)]
        known = known_scores(self, web)
        known.learn_pages(self, np.arange(web.n_pages, dtype=np.int32))

    def share_of_good(self) -> float:
        return sum(relevance >= 0.5 for relevance in self._relevance) / len(self._relevance)


class _Bench:
    """Crawls of one web."""

    def __init__(self, web: RecordedWeb, topics: list[Topic]) -> None:
        self._web = web
        self._shown = VisibleLinks(web)
        self._seeds = web.labelled(topics[0].id)[:N_SEEDS].tolist()
        self._scores = _Scores(web, topics)
        self.share_of_good = self._scores.share_of_good()

    def both(self, strategy: str, mode: str) -> tuple[float, float]:
        """Visits per second, compiled and plain."""
        (fast, fast_s), (slow, slow_s) = (
            self.crawl(strategy, mode, self._web.n_pages, plain=False),
            self.crawl(strategy, mode, PLAIN_PAGES, plain=True),
        )
        if fast.pages[: len(slow.pages)].tolist() != slow.pages.tolist():
            raise AssertionError(f"{strategy}, {mode}: the compiled crawl is another one than the plain one.")
        return len(fast.pages) / fast_s, len(slow.pages) / slow_s

    def crawl(self, strategy: str, mode: str, page_budget: int, *, plain: bool) -> tuple[Crawl, float]:
        before_s = process_time()
        crawl = simulate(
            self._web,
            STRATEGIES.make(strategy),
            self._seeds,
            self._scores,
            rng=Random(1),
            page_budget=page_budget,
            links=self._shown,
            mode=parse_mode(mode),
            plain=plain,
        )
        return crawl, process_time() - before_s


_START = """
import sys
from random import Random
from benchmarks.strategies import DrawnScores
from scenthound.simulator.simulator import simulate
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
web = RecordedWeb.open(sys.argv[1])
on_topic = web.labelled("topic0")
simulate(web, STRATEGIES.make("rank_function"), on_topic[:9].tolist(), DrawnScores(web, on_topic), rng=Random(1),
    page_budget=100, plain=sys.argv[2] == "plain")
"""


def _measure_start(folder: Path) -> None:
    seconds = {}
    for kind in ("plain", "compiled"):
        before_s = perf_counter()
        subprocess.run([sys.executable, "-c", _START, str(folder), kind], check=True)
        seconds[kind] = perf_counter() - before_s
    print(f"  start: compiled {seconds['compiled']:.1f} s, plain {seconds['plain']:.1f} s, opening the web included")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N_PAGES)
