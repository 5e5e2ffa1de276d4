"""What patience costs and brings: on-topic pages and time of polite crawls, by strategy (estimated 30 minutes).

16 connections, a crawl delay of 1 s and fetches of 0.5 s, in simulated time, with the default relevance model. The
default patience was chosen on the two synthetic webs, of about 600 and 90 hosts, in which more than half of the links
are dead; debdocs, with several hundred hosts, is for judging. On-topic pages are those labelled with the topic, as
means over topics; the first row of each strategy is the crawl without politeness. The rows of `focused strategies` are
means over all strategies but `breadth_first`: on-topic pages as a share of those without politeness, and time as a
multiple of that without patience. `--figure FILE` draws them.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import command_parser
from benchmarks.data import collection, synthetic_web
from scenthound.crawler.options import DEFAULT_PATIENCE
from scenthound.model import FloatArray, Topic
from scenthound.relevance.rocchio import Rocchio
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics
from scenthound.ui.figures import add_legend, image_bytes, line_styles, new_drawing, plain_axes

WEBS = {
    "wide": {"pages": 60_000, "pages_per_host": 100, "topics": 40, "dead_links": 0.55, "seed": 3},
    "narrow": {"pages": 30_000, "pages_per_host": 330, "topics": 20, "dead_links": 0.55, "seed": 4},
}
JUDGED = "debdocs"
STRATEGY_NAMES = ("otie", "best_first", "shark_search", "link_context", "breadth_first")
FOCUSED = STRATEGY_NAMES[:-1]
PATIENCES = (0.0, 0.2, 0.4, 0.6, 0.7, 0.85, 1.0)
CHECKPOINTS = (500, 2000)
MODE = "polite:workers=16,delay_s=1,fetch_s=0.5"
N_SEEDS = 5
#: Topics with fewer labelled pages are left out.
MIN_LABELLED = 400


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("patience", __doc__)
    parser.add_argument("webs", nargs="*", metavar="WEB", help="which webs, by default all")
    parser.add_argument("--topics", type=int, default=5, help="topics per web")
    parser.add_argument("--figure", type=Path, help="draw the curves into this file (.svg or .png)")
    options = parser.parse_args(arguments)
    curves = {}
    for name in options.webs or [*WEBS, JUDGED]:
        with _web(name) as folder:
            if folder is not None:
                curves[name] = _print_rows(name, folder, options.topics)
    if options.figure:
        _draw(curves, options.figure)
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


def _print_rows(name: str, folder: Path, n_topics: int) -> FloatArray:
    """Print the rows of a web, and return those of the focused strategies, by patience: for each checkpoint the share
    of on-topic pages and the multiple of the time."""
    web = RecordedWeb.open(folder)
    topics = _topics(web, folder, n_topics)
    print(f"  {name}: {web.n_pages:,} pages on {_n_hosts(web):,} hosts, {len(topics)} topics", flush=True)
    ends = "".join(f" {f'on topic @{n:,}':>16} {'minutes':>8}" for n in CHECKPOINTS)
    print(f"  {'strategy':18} {'patience':>9}{ends}")
    relative = []
    for strategy in STRATEGY_NAMES:
        modes = ["sequential", *(f"{MODE},patience={patience:g}" for patience in PATIENCES)]
        rows = []
        for mode, patience in zip(modes, ["-", *(f"{patience:g}" for patience in PATIENCES)], strict=True):
            row = np.array([_row(web, topic, _crawl(web, topic, strategy, mode)) for topic in topics]).mean(axis=0)
            values = "".join(f" {row[i]:16.1f} {row[i + 1]:8.1f}" for i in range(0, len(row), 2))
            print(f"  {strategy:18} {patience:>9}{values}", flush=True)
            rows.append(row)
        if strategy in FOCUSED:
            sequential, polite = rows[0], np.array(rows[1:])
            unit = polite[0].copy()
            unit[::2] = sequential[::2]
            relative.append(polite / unit)
    mean: FloatArray = np.mean(relative, axis=0)
    for each, row in zip(PATIENCES, mean, strict=True):
        values = "".join(f" {row[i]:16.0%} {row[i + 1]:7.1f}x" for i in range(0, len(row), 2))
        print(f"  {'focused strategies':18} {each:9g}{values}", flush=True)
    return mean


def _draw(curves: Mapping[str, FloatArray], file: Path) -> None:
    """On-topic pages against time, a line for each web and a point for each patience."""
    drawing = new_drawing(9.0, 3.8)
    styles = line_styles([*curves])
    for i, n_pages in enumerate(CHECKPOINTS):
        axes = drawing.add_subplot(1, len(CHECKPOINTS), i + 1)
        for name, rows in curves.items():
            time, on_topic = rows[:, 2 * i + 1], 100 * rows[:, 2 * i]
            style = styles[name]
            axes.plot(time, on_topic, style.line, color=style.colour, marker=style.marker, markersize=4, label=name)
            chosen = PATIENCES.index(DEFAULT_PATIENCE)
            axes.plot(time[chosen], on_topic[chosen], "o", markersize=11, markerfacecolor="none", color=style.colour)
        axes.set_title(f"after {n_pages:,} pages", fontsize="medium")
        axes.set_xlabel("time, relative to patience 0")
        axes.set_ylabel("on-topic pages, %")
        plain_axes(axes)
    add_legend(drawing)
    file.write_bytes(image_bytes(drawing, "svg" if file.suffix == ".svg" else "png"))


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
        scores_for(topic, Rocchio(), web),
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
