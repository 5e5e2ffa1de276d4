"""What shards cost: target recall and harvest of crawls in shards, compared with one frontier (estimated 40 minutes).

Crawls of 1,000 pages from 5 start pages, in 4, 16 and 64 shards that exchange what they found every 16, 64 or 256
requests. wpschools is one host, so its pages are assigned to shards one by one, which is the worst case: nearly all
links lead to other shards. The other web is made up: about 500 hosts with 30% dead links, assigned by domain. The
relevance model has learned from the keywords and the start pages, and is the same in all shards and crawls. Target
recall is the share of the labelled pages of a topic that were visited, without start pages; harvest is the share of
visited pages that are labelled. The lease of a shard is a number of requests; with exchanges every 64 requests also a
number of pages.

Results are appended to a file, one line for each topic and strategy, and what is in the file is not crawled again. The
tables have mean differences from one frontier over topics, with 95% intervals (BCa bootstrap).
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks import command_parser
from benchmarks.data import collection, recorded, synthetic_web
from benchmarks.simulated_shards import Split, simulate_shards
from scenthound.experiments.statistics import bca_interval
from scenthound.model import FloatArray, IntArray, Topic
from scenthound.relevance.base import LearningRelevance
from scenthound.relevance.rocchio import Rocchio
from scenthound.simulator.scores import PageScores, TopicWords, without_pages
from scenthound.simulator.shards import AssignedBy
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import Crawl, VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import read_topics
from scenthound.ui.figures import add_legend, image_bytes, line_styles, new_drawing, plain_axes

RESULTS = Path(__file__).with_name("results") / "shard_quality.jsonl"
ONE_HOST, MANY_HOSTS = "wpschools", "500 hosts"
ASSIGNED_BY: Mapping[str, AssignedBy] = {ONE_HOST: "page", MANY_HOSTS: "domain"}
MADE_UP = {"pages": 40_000, "pages_per_host": 80, "topics": 100, "dead_links": 0.3, "seed": 21}
STRATEGY_NAMES = ("best_first", "link_context", "shark_search", "opic", "otie", "scent")
SHARDS = (4, 16, 64)
EXCHANGES = (16, 64, 256)
CHECKPOINTS = (100, 1000)
N_TOPICS = 36
N_SEEDS = 5
MIN_TARGETS = 20
#: One frontier, and the mark of crawls in which a lease is a number of pages.
WHOLE, BY_PAGES = "1", "/pages"
BY_PAGES_EXCHANGE = 64
#: Shards, and requests from one exchange to the next.
CONDITIONS = (
    WHOLE,
    *(f"{n_shards}/{exchange}" for n_shards in SHARDS for exchange in EXCHANGES),
    *(f"{n_shards}/{BY_PAGES_EXCHANGE}{BY_PAGES}" for n_shards in SHARDS),
)
MEASURES = ("target recall", "harvest")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("shard_quality", __doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of the results")
    parser.add_argument("--topics", type=int, default=N_TOPICS, help="topics per web")
    parser.add_argument("--strategy", action="append", choices=STRATEGY_NAMES, help="crawl with these only")
    parser.add_argument("--figure", type=Path, help="draw the differences into this file (.svg or .png)")
    parser.add_argument("--table", action="store_true", help="print what the file has, and crawl nothing")
    options = parser.parse_args(arguments)
    if not options.table:
        for name, by in ASSIGNED_BY.items():
            with _web(name) as files:
                if files is not None:
                    web, topics = RecordedWeb.open(files[0]), files[1]
                    tasks = _tasks(web, by, topics, options.topics)
                    _crawl_all(name, tasks, options.strategy or STRATEGY_NAMES, options.results)
    results = Results.read(options.results)
    _print_tables(results)
    if options.figure:
        _draw(results, options.figure)
    return 0


@contextmanager
def _web(name: str) -> Iterator[tuple[Path, Path] | None]:
    """A temporary recorded web and its topic file, or None if the collection is absent."""
    if name == MANY_HOSTS:
        with synthetic_web(**MADE_UP) as web:
            yield web, web / "topics.jsonl"
        return
    source = collection(name)
    if source is None:
        yield None
        return
    with recorded(source) as web:
        yield web, source / "topics.jsonl"


@dataclass(frozen=True, slots=True)
class Start:
    """A topic, its start pages, and its other labelled pages."""

    topic: Topic
    seeds: list[int]
    targets: IntArray

    @classmethod
    def of(cls, topic: Topic, web: RecordedWeb) -> "Start | None":
        labelled = web.labelled(topic.id)
        if len(labelled) < MIN_TARGETS + N_SEEDS:
            return None
        seeds = Random(topic.id).sample(labelled.tolist(), N_SEEDS)
        return cls(topic, seeds, np.setdiff1d(labelled, seeds).astype(np.int32))


class FixedRelevance:
    """A relevance model that has learned from the start pages, and learns nothing else."""

    def __init__(self, learned: LearningRelevance) -> None:
        self.page: Callable[[IntArray, float], float] = learned.page
        self.contexts: Callable[[IntArray, IntArray, IntArray], FloatArray] = learned.contexts

    @classmethod
    def of(cls, start: Start, web: RecordedWeb) -> "FixedRelevance":
        learning = Rocchio().for_topic(without_pages(start.topic), web.word_index).for_crawl()
        for page in start.seeds:
            learning.learn(web.words_copy(page), is_start=True)
        return cls(learning)


@dataclass(frozen=True, slots=True)
class Task:
    """A topic of a recorded web, and what all of its crawls share."""

    web: RecordedWeb
    by: AssignedBy
    links: VisibleLinks
    start: Start
    scores: PageScores
    words: TopicWords

    def crawl(self, strategy: str, condition: str) -> Crawl:
        seeds, rng, budget = self.start.seeds, Random(f"{self.start.topic.id}/{condition}"), CHECKPOINTS[-1]
        if condition == WHOLE:
            return simulate(
                self.web,
                STRATEGIES.make(strategy),
                seeds,
                self.scores,
                rng=rng,
                page_budget=budget,
                links=self.links,
                topic=self.words,
            )
        n_shards, exchange = condition.split("/")[:2]
        return simulate_shards(
            self.web,
            lambda: STRATEGIES.make(strategy),
            seeds,
            self.scores,
            Split(int(n_shards), int(exchange), self.by, "pages" if condition.endswith(BY_PAGES) else "requests"),
            rng=rng,
            page_budget=budget,
            links=self.links,
            topic=self.words,
        )


def _tasks(web: RecordedWeb, by: AssignedBy, topics: Path, n_topics: int) -> Iterator[Task]:
    """Random topics with enough labelled pages, the same in every run."""
    starts = [start for topic in read_topics(topics) if (start := Start.of(topic, web)) is not None]
    links = VisibleLinks(web)
    for start in Random(0).sample(starts, min(n_topics, len(starts))):
        scores = PageScores(web, FixedRelevance.of(start, web))
        yield Task(web, by, links, start, scores, TopicWords.of(start.topic, web))


def _crawl_all(name: str, tasks: Iterable[Task], strategies: Sequence[str], results: Path) -> None:
    """Crawl what is not in the file of results yet."""
    done = Results.read(results).lines
    results.parent.mkdir(parents=True, exist_ok=True)
    for number, task in enumerate(tasks, 1):
        start = task.start
        for strategy in strategies:
            if (name, start.topic.id, strategy) in done:
                continue
            counts = {condition: _counts(task.crawl(strategy, condition), start) for condition in CONDITIONS}
            line = {"web": name, "topic": start.topic.id, "strategy": strategy, "targets": len(start.targets)}
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**line, "counts": counts}, separators=(",", ":")) + "\n")
        print(f"  {name}: topic {number}", flush=True)


def _counts(crawl: Crawl, start: Start) -> list[int]:
    """Targets, then start pages, among the first pages: two numbers for each checkpoint."""
    counts = []
    for n_pages in CHECKPOINTS:
        pages = crawl.pages[:n_pages]
        counts += [int(np.isin(pages, start.targets).sum()), int(np.isin(pages, start.seeds).sum())]
    return counts


class Results:
    """The file of results: for each web, topic and strategy the counts under each condition."""

    def __init__(self, lines: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> None:
        self.lines = lines

    @classmethod
    def read(cls, file: Path) -> "Results":
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
        return cls({(line["web"], line["topic"], line["strategy"]): line for line in lines})

    def webs(self) -> list[str]:
        return list(dict.fromkeys(web for web, _, _ in self.lines))

    def values(self, web: str, strategy: str, condition: str) -> FloatArray:
        """One row for each topic: target recall, then harvest, at each checkpoint."""
        lines = [line for (of_web, _, by), line in sorted(self.lines.items()) if (of_web, by) == (web, strategy)]
        rows = []
        for line in lines:
            found, seeds = np.array(line["counts"][condition]).reshape(-1, 2).T
            rows.append([*(found / line["targets"]), *((found + seeds) / np.array(CHECKPOINTS))])
        return np.array(rows)

    def differences(self, web: str, strategy: str, condition: str) -> FloatArray:
        """The same, less that of one frontier."""
        return self.values(web, strategy, condition) - self.values(web, strategy, WHOLE)


def _print_tables(results: Results) -> None:
    for web in results.webs():
        columns = [f"{measure} @{n:,}" for measure in MEASURES for n in CHECKPOINTS]
        for strategy in STRATEGY_NAMES:
            whole = results.values(web, strategy, WHOLE)
            if not len(whole):
                continue
            print(f"\n  {web}, {strategy}, {len(whole)} topics")
            print(f"  {'shards':>6} {'every':>6}" + "".join(f"{column:>24}" for column in columns))
            print(f"  {1:6} {'':6}" + "".join(f"{mean:24.3f}" for mean in whole.mean(axis=0)))
            for condition in CONDITIONS[1:]:
                n_shards, every, *by_pages = condition.split("/")
                cells = [_cell(column) for column in results.differences(web, strategy, condition).T]
                note = "  leases in pages" if by_pages else ""
                print(f"  {n_shards:>6} {every:>6}" + "".join(f"{cell:>24}" for cell in cells) + note)


def _cell(differences: FloatArray) -> str:
    low, high = bca_interval(differences)
    return f"{differences.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def _draw(results: Results, file: Path) -> None:
    """Differences from one frontier: a row of panels for each web and measure, a panel for each checkpoint, and the
    strategies side by side."""
    rows = [(web, measure) for web in results.webs() for measure in MEASURES]
    drawing = new_drawing(11.0, 2.9 * len(rows) + 0.5)
    conditions = [condition for condition in CONDITIONS[1:] if not condition.endswith(BY_PAGES)]
    for row, (web, measure) in enumerate(rows):
        first = None
        for column, n_pages in enumerate(CHECKPOINTS):
            position = row * len(CHECKPOINTS) + column + 1
            # Panels side by side have the same scale.
            axes = drawing.add_subplot(len(rows), len(CHECKPOINTS), position, sharey=first)
            first = first or axes
            axes.axhline(0, color="0.45", linewidth=0.8, zorder=1)
            value = MEASURES.index(measure) * len(CHECKPOINTS) + column
            for strategy in STRATEGY_NAMES:
                if len(results.values(web, strategy, WHOLE)):
                    differences = [results.differences(web, strategy, each)[:, value] for each in conditions]
                    _draw_strategy(axes, strategy, differences)
            _label(axes, conditions)
            axes.set_title(f"{web}, after {n_pages:,} pages", fontsize="medium")
            axes.set_ylabel(f"difference in {measure}", fontsize="small")
            plain_axes(axes, grid="y")
    add_legend(drawing)
    file.write_bytes(image_bytes(drawing, "svg" if file.suffix == ".svg" else "png"))


def _draw_strategy(axes: Any, strategy: str, differences: Sequence[FloatArray]) -> None:
    """The mean difference under each condition, with its interval."""
    style = line_styles(STRATEGY_NAMES)[strategy]
    means = np.array([each.mean() for each in differences])
    low, high = np.array([bca_interval(each) for each in differences]).T
    offset = (STRATEGY_NAMES.index(strategy) - (len(STRATEGY_NAMES) - 1) / 2) * 0.13
    axes.errorbar(
        np.arange(len(differences)) + offset,
        means,
        yerr=[means - low, high - means],
        fmt=style.marker,
        color=style.colour,
        markersize=3.5,
        elinewidth=1.0,
        label=strategy,
    )


def _label(axes: Any, conditions: Sequence[str]) -> None:
    """Exchange intervals at the ticks, and the number of shards below the middle one of each group."""
    # All have two lines, so that the first ones are aligned.
    labels = [f"{condition.split('/')[1]}\n" for condition in conditions]
    for number, n_shards in enumerate(SHARDS):
        labels[number * len(EXCHANGES) + len(EXCHANGES) // 2] += f"{n_shards} shards"
    axes.set_xticks(range(len(conditions)), labels)
    for at in range(len(EXCHANGES), len(conditions), len(EXCHANGES)):
        axes.axvline(at - 0.5, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlim(-0.5, len(conditions) - 0.5)
    axes.set_xlabel("requests from one exchange to the next", fontsize="small")


if __name__ == "__main__":
    sys.exit(main())
