"""Which strategy should be the default? Target recall of all strategies with the default relevance model (30 minutes).

Crawls of 500 pages start at 1, 3 or 10 pages of a topic, which is given by keywords only (the start pages are not
learned), by start pages only, or by both. Each topic has three of these nine conditions, so that every 3 topics have
each condition once; all strategies crawl from the same starts. Targets are the labelled pages of the topic without the
start pages. The web `dead links` is made up: several hundred hosts, and more than half of its links are dead. Webs of
many hosts are crawled once more in the mode `polite`, with the default patience.

The mean is the target recall, averaged over the first 500 pages, conditions and webs, without debdocs, where topic is
nearly site. Constants of `rocchio` were chosen on wpschools, so that the other webs count more for the decision.
Document frequencies are counted without the judged collection.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks import command_parser
from benchmarks.data import COLLECTIONS
from benchmarks.relevance import NAMES, Task, background_without, recorded_webs, tasks
from scenthound.crawler.options import DEFAULT_PATIENCE
from scenthound.experiments.bounds import greedy_oracle, page_graph, random_bound
from scenthound.experiments.starts import Start
from scenthound.metrics.page_graph import PageGraph
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.relevance.rocchio import Rocchio
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import TopicWords, scores_for
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import topical_web

N_PAGES = 500
#: `pagerank` takes too long, and `evolved` without a file is `rank_function`. A threshold of 0.5 is that of the model.
STRATEGY_NAMES = (
    "breadth_first",
    "best_first",
    "best_n_first:n=16",
    "best_n_first:n=64",
    "adaptive_n_first",
    "keyword_pagerank",
    "fish_search:threshold=0.5",
    "shark_search",
    "shark_search:threshold=0.5",
    "link_context",
    "infospiders:max_pages=500",
    "opic",
    "otie",
    "hub_otie",
    "rank_function",
    "rank_function:preset=best_first",
)
STARTS = (1, 3, 10)
GIVEN = ("keywords", "pages", "both")
SEQUENTIAL, POLITE = "sequential", "polite"
MODES = {SEQUENTIAL: "sequential", POLITE: f"polite:workers=16,patience={DEFAULT_PATIENCE:g}"}
DEAD_LINKS = "dead links"
DEAD_LINKS_WEB: dict[str, Any] = {"pages": 40_000, "pages_per_host": 80, "topics": 200, "dead_links": 0.55, "seed": 11}
UNRANKED = "debdocs"
MANY_HOSTS = (DEAD_LINKS, UNRANKED)
#: Topics per web: as many as conditions; fewer in polite crawls and on debdocs, which are slow.
N_TOPICS, N_POLITE_TOPICS, N_UNRANKED_TOPICS = 9, 6, 2


@dataclass(frozen=True, slots=True)
class Condition:
    n_starts: int
    given: str
    mode: str


@dataclass(frozen=True, slots=True)
class Case:
    """A start, and the results of all strategies: in each row the mean recall, the recall at the end, and the mean
    recall as a share of the way from a random crawl to the oracle."""

    web: str
    condition: Condition
    results: FloatArray

    @property
    def column(self) -> str:
        return self.web if self.condition.mode == SEQUENTIAL else f"{self.web}, polite"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("default_strategy", __doc__)
    parser.add_argument("--webs", type=Path, help="folder of recorded webs, made if they are missing")
    parser.add_argument("--topics", type=int, default=N_TOPICS, help="topics per web, best a multiple of 3")
    parser.add_argument("--quick", action="store_true", help="3 topics, 200 pages, without debdocs")
    options = parser.parse_args(arguments)
    available = [name for name in NAMES if (COLLECTIONS / name).is_dir()]
    if len(available) < 2:
        print("  skipped: needs two collections in ../shared/data")
        return 0
    n_topics, n_pages = (3, 200) if options.quick else (options.topics, N_PAGES)
    cases: list[Case] = []
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        for judged in _judged_webs(available, options.webs, Path(temporary)):
            if not (options.quick and judged.name == UNRANKED):
                cases += judged.cases(n_topics, n_pages)
    _print_table(cases)
    _print_conditions(cases)
    return 0


def _judged_webs(names: Sequence[str], folder: Path | None, temporary: Path) -> Iterator["JudgedWeb"]:
    made_up = temporary / "dead_links"
    topical_web(made_up, **DEAD_LINKS_WEB)
    yield JudgedWeb(DEAD_LINKS, made_up, made_up / "topics.jsonl", None)
    webs = recorded_webs(names, folder or temporary)
    for name, web in webs.items():
        yield JudgedWeb(name, web, COLLECTIONS / name / "topics.jsonl", background_without(name, webs, temporary))


class JudgedWeb:
    """A recorded web with its topics, and document frequencies that were counted without it."""

    def __init__(self, name: str, folder: Path, topics: Path, background: Path | None) -> None:
        self.name = name
        self._topics = topics
        self._model = Rocchio(None if background is None else str(background))
        self._web = RecordedWeb.open(folder)
        self._links = VisibleLinks(self._web)
        self._graph: PageGraph = page_graph(self._web, self._links)

    def cases(self, n_topics: int, n_pages: int) -> Iterator[Case]:
        n_topics = min(n_topics, N_UNRANKED_TOPICS) if self.name == UNRANKED else n_topics
        found = tasks(self._topics, self._web, n_topics)
        for mode in MODES if self.name in MANY_HOSTS else (SEQUENTIAL,):
            for number, task in enumerate(found if mode == SEQUENTIAL else found[:N_POLITE_TOPICS]):
                for index, n_starts in enumerate(STARTS):
                    condition = Condition(n_starts, GIVEN[(number + index) % len(GIVEN)], mode)
                    yield Case(self.name, condition, self._results(task, condition, n_pages))
                    print(".", end="", file=sys.stderr, flush=True)

    def _results(self, task: Task, condition: Condition, n_pages: int) -> FloatArray:
        topic, n_starts = task.topic, condition.n_starts
        seeds = sorted(Random(f"{topic.id}/{n_starts}").sample(task.examples, n_starts))
        targets = np.setdiff1d(np.flatnonzero(task.relevant), seeds).astype(np.int32)
        low, high = self._bounds(topic.id, seeds, targets, n_pages)
        rows = []
        for name in STRATEGY_NAMES:
            pages = self._crawl(name, topic, seeds, condition, n_pages)
            curve = recall_curve(np.isin(pages, targets), len(targets), n_pages)
            rows.append([curve.mean(), curve[-1], (curve.mean() - low) / max(high - low, 1e-9)])
        return np.array(rows)

    def _crawl(self, name: str, topic: Topic, seeds: list[int], condition: Condition, n_pages: int) -> IntArray:
        about = Topic(topic.id, () if condition.given == "pages" else topic.keywords)
        crawl = simulate(
            self._web,
            STRATEGIES.make(name),
            seeds,
            scores_for(about, self._model, self._web, learn_seeds=condition.given != "keywords"),
            rng=Random(f"{topic.id}/{len(seeds)}"),
            page_budget=n_pages,
            links=self._links,
            topic=TopicWords.of(about, self._web),
            mode=parse_mode(MODES[condition.mode]),
        )
        return crawl.pages

    def _bounds(self, topic: str, seeds: list[int], targets: IntArray, n_pages: int) -> tuple[float, float]:
        """The mean recall of a random crawl and of the greedy oracle."""
        start = Start(topic, 0, tuple(seeds), tuple(targets.tolist()))
        crawls = random_bound(self._web, self._links, start, targets, page_budget=n_pages)
        oracle = greedy_oracle(self._graph, start, targets, page_budget=n_pages)
        *low, high = (recall_curve(trace.relevance > 0, len(targets), n_pages).mean() for trace in (*crawls, oracle))
        return float(np.mean(low)), float(high)


def recall_curve(is_target: BoolArray, n_targets: int, n_pages: int) -> FloatArray:
    """The recall after each page; that of a crawl that ended early stays as it was."""
    found = np.zeros(n_pages)
    found[: len(is_target)] = is_target
    curve: FloatArray = np.cumsum(found) / n_targets
    return curve


def ranks(values: FloatArray) -> FloatArray:
    """The rank of each value, 1 for the highest; equal values share the mean of their ranks."""
    above = (values[None, :] > values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    shared: FloatArray = above + (equal + 1) / 2
    return shared


def _mean(cases: list[Case]) -> FloatArray:
    """The mean results of the strategies, and their mean ranks by mean recall."""
    rows = [np.column_stack((case.results, ranks(np.round(case.results[:, 0], 9)))) for case in cases]
    mean: FloatArray = np.mean(rows, axis=0)
    return mean


def _mean_over_webs(cases: list[Case]) -> FloatArray:
    """As `_mean`, but every web and mode counts the same, and debdocs does not count."""
    columns = dict.fromkeys(case.column for case in cases if case.web != UNRANKED)
    mean: FloatArray = np.mean([_mean([case for case in cases if case.column == name]) for name in columns], axis=0)
    return mean


def _print_table(cases: list[Case]) -> None:
    columns = list(dict.fromkeys(case.column for case in cases))
    for name in columns:
        n_cases = sum(case.column == name for case in cases)
        print(f"  {name}: {n_cases} starts")
    print("  Mean target recall in percent, by web; then the means without debdocs: mean recall, recall at the end,")
    print("  share of the way from a random crawl to the oracle, and rank")
    header = (*columns, "mean", "end", "share", "rank")
    print(f"| strategy | {' | '.join(header)} |")
    print(f"|---|{'---|' * len(header)}")
    total = _mean_over_webs(cases)
    by_web = np.array([_mean([case for case in cases if case.column == name])[:, 0] for name in columns])
    for i in np.argsort(-total[:, 0], kind="stable").tolist():
        percent = [f"{100 * value:.1f}" for value in (*by_web[:, i], *total[i, :3])]
        print(f"| `{STRATEGY_NAMES[i]}` | {' | '.join(percent)} | {total[i, 3]:.1f} |")


def _print_conditions(cases: list[Case]) -> None:
    groups = {
        f"{n} start page{'s' * (n > 1)}": [case for case in cases if case.condition.n_starts == n] for n in STARTS
    }
    groups |= {f"topic by {given}": [case for case in cases if case.condition.given == given] for given in GIVEN}
    print("  Mean target recall in percent by condition, over the same webs")
    print(f"| strategy | {' | '.join(groups)} |")
    print(f"|---|{'---|' * len(groups)}")
    by_group = np.array([_mean_over_webs(group)[:, 0] for group in groups.values()])
    for i in np.argsort(-_mean_over_webs(cases)[:, 0], kind="stable").tolist():
        print(f"| `{STRATEGY_NAMES[i]}` | {' | '.join(f'{100 * value:.1f}' for value in by_group[:, i])} |")


if __name__ == "__main__":
    sys.exit(main())
