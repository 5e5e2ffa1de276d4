"""What patience costs and brings: on-topic pages and time of polite crawls, by strategy (estimated 15 minutes).

16 connections, a crawl delay of 1 s and fetches of 0.5 s, in simulated time. The default patience was chosen on the two
synthetic webs, of about 600 and 90 hosts, in which more than half of the links are dead; debdocs, with several hundred
hosts, is for judging. On-topic pages are those labelled with the topic, as means over topics; the first row
of each strategy is the crawl without politeness.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import command_parser
from benchmarks.data import collection, synthetic_web
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics

WEBS = {
    "wide": {"pages": 60_000, "pages_per_host": 100, "topics": 40, "dead_links": 0.55, "seed": 3},
    "narrow": {"pages": 30_000, "pages_per_host": 330, "topics": 20, "dead_links": 0.55, "seed": 4},
}
JUDGED = "debdocs"
STRATEGY_NAMES = ("otie", "best_first", "shark_search", "link_context", "breadth_first")
PATIENCES = (0.0, 0.4, 0.6, 0.7, 0.75, 0.85, 0.9, 1.0)
CHECKPOINTS = (500, 2000)
MODE = "polite:workers=16,delay_s=1,fetch_s=0.5"
N_SEEDS = 5
#: Topics with fewer labelled pages are left out.
MIN_LABELLED = 400


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("patience", __doc__)
    parser.add_argument("webs", nargs="*", metavar="WEB", help="which webs, by default all")
    parser.add_argument("--topics", type=int, default=3, help="topics per web")
    options = parser.parse_args(arguments)
    for name in options.webs or [*WEBS, JUDGED]:
        with _web(name) as folder:
            if folder is not None:
                _print_curves(name, folder, options.topics)
    return 0


@contextmanager
def _web(name: str) -> Iterator[Path | None]:
    """A temporary recorded web with its topic file, or None if the collection is absent."""
    if name in WEBS:
        with synthetic_web(**WEBS[name]) as folder:
            yield folder
        return
    source = collection(name)
    if source is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        web = Path(temporary) / "web"
        record(sorted(source.glob("pages*.jsonl.zst")), web, without_leaks=True)
        (web / "topics.jsonl").write_bytes((source / "topics.jsonl").read_bytes())
        yield web


def _print_curves(name: str, folder: Path, n_topics: int) -> None:
    web = RecordedWeb.open(folder)
    topics = _topics(web, folder, n_topics)
    print(f"  {name}: {web.n_pages:,} pages on {_n_hosts(web):,} hosts, {len(topics)} topics", flush=True)
    ends = "".join(f" {f'on topic @{n:,}':>16} {'minutes':>8}" for n in CHECKPOINTS)
    print(f"  {'strategy':14} {'patience':>9}{ends}")
    for strategy in STRATEGY_NAMES:
        for patience in (None, *PATIENCES):
            mode = "sequential" if patience is None else f"{MODE},patience={patience:g}"
            rows = np.array([_row(web, topic, _crawl(web, topic, strategy, mode)) for topic in topics]).mean(axis=0)
            values = "".join(f" {rows[i]:16.1f} {rows[i + 1]:8.1f}" for i in range(0, len(rows), 2))
            print(f"  {strategy:14} {'-' if patience is None else f'{patience:g}':>9}{values}", flush=True)


def _topics(web: RecordedWeb, folder: Path, n_topics: int) -> list[Topic]:
    """A random sample of the topics that have enough labelled pages, the same in every run."""
    large = [topic for topic in read_topics(folder / "topics.jsonl") if len(web.labelled(topic.id)) >= MIN_LABELLED]
    return Random(1).sample(large, min(n_topics, len(large)))


def _n_hosts(web: RecordedWeb) -> int:
    return len(np.unique(web.url_host[: web.n_pages]))


def _crawl(web: RecordedWeb, topic: Topic, strategy: str, mode: str) -> Crawl:
    seeds = Random(topic.id).sample(web.labelled(topic.id).tolist(), N_SEEDS)
    return simulate(
        web,
        STRATEGIES.make(strategy),
        seeds,
        scores_for(topic, RELEVANCE.make("cosine"), web),
        rng=Random(5),
        page_budget=CHECKPOINTS[-1],
        topic=TopicWords.of(topic, web),
        mode=parse_mode(mode),
    )


def _row(web: RecordedWeb, topic: Topic, crawl: Crawl) -> list[float]:
    """On-topic pages and minutes at each checkpoint."""
    on_topic = np.isin(crawl.pages, web.labelled(topic.id))
    row: list[float] = []
    for n_pages in CHECKPOINTS:
        times_s = np.zeros(1) if crawl.time_s is None else crawl.time_s[:n_pages]
        row += [float(np.count_nonzero(on_topic[:n_pages])), float(times_s[-1]) / 60]
    return row


if __name__ == "__main__":
    sys.exit(main())
