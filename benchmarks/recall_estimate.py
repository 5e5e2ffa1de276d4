"""Is the estimate of recall right? Coverage of its interval where the truth is known, and what `--until-recall` does
(estimated 15 minutes; with --quick 2).

Recorded webs are crawled until nothing is left, so it is known how many pages on topic a crawl would have found. At
10, 20, ... 90 % of them the estimate is compared with three truths:

- counted: pages that the crawl counts as on topic, by the model as it is when they are visited;
- final: all pages scored again by the model as it is in the end;
- labelled: pages that belong to the topic by the labels of the collection, whatever the model says.

The constants of the estimate were chosen on wpschools and mdn, its rows there are for webs that it has seen. On nlab,
debdocs and the made-up web nothing was chosen. Links that leave a recording are hidden. The last table is for other
estimators: capture-recapture (Chapman) with the links of two random halves of the visited pages, the lower bound of
Chao by the number of links to each page, and the recent share of pages on topic for all queued pages.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import command_parser
from benchmarks.data import COLLECTIONS
from benchmarks.relevance import recorded_webs
from scenthound.experiments.starts import Starts, known_relevant
from scenthound.metrics.recall_estimate import CannotTell, RecallEstimate, RecallHistory
from scenthound.model import BoolArray, IntArray, LongArray, Topic
from scenthound.relevance.base import RELEVANCE, LearningRelevance
from scenthound.relevance.rocchio import MAX_LEARNED_PAGES, ON_TOPIC
from scenthound.simulator.scores import CrawlScores, TopicWords, without_pages
from scenthound.simulator.simulator import simulate
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.testing import topical_web
from scenthound.topics.files import read_topics

DEVELOPMENT = ("wpschools", "mdn")
MADE_UP = "made-up"
WEBS = (*DEVELOPMENT, "nlab", "debdocs", MADE_UP)
MADE_UP_WEB = {"pages": 20_000, "pages_per_host": 100, "topics": 40, "seed": 3}
STRATEGY_NAMES = ("link_context", "best_first", "scent", "breadth_first")
#: Crawls start from this many pages, in turn.
STARTS = (1, 3, 10)
N_TOPICS = {"wpschools": 45, "mdn": 40, "nlab": 24, "debdocs": 20, MADE_UP: 24}
N_TOPICS_QUICK = {"wpschools": 6, "mdn": 3, "nlab": 3, MADE_UP: 3}
STAGES = tuple(tenth / 10 for tenth in range(1, 10))
GOALS = (0.5, 0.8, 0.9)
#: Topics have at least this many labelled pages, and crawls must find this many that the model says are on topic.
MIN_PAGES = 20
#: Visits between two checks of the goal, as a share of all visits.
CHECK_SHARE = 0.01
TOO_EARLY = 0.1


@dataclass(frozen=True, slots=True)
class WholeCrawl:
    """A crawl of everything reachable: of each visit whether its page is on topic by each truth, and the pages queued
    after it."""

    web: str
    strategy: str
    pages: IntArray
    queue_sizes: LongArray
    truths: dict[str, BoolArray]

    @property
    def on_topic(self) -> BoolArray:
        return self.truths["counted"]

    def recall(self, truth: str, n_visits: int) -> float:
        relevant = self.truths[truth]
        return float(relevant[:n_visits].sum() / max(relevant.sum(), 1))

    def history(self) -> RecallHistory:
        return RecallHistory(is_focused=STRATEGIES.make(self.strategy).needs_relevance)

    def stages(self) -> Iterator[tuple[float, int]]:
        """Each true recall, and the visits after which it is reached."""
        found = np.cumsum(self.on_topic)
        for stage in STAGES:
            yield stage, int(np.searchsorted(found, stage * found[-1])) + 1


class _WholeScores(CrawlScores):
    """The scores of one crawl, whose model can be used afterwards."""

    def for_crawl(self, seeds: Sequence[int]) -> "_WholeScores":
        return self

    def final(self, pages: Iterable[int]) -> list[float]:
        web = self._web
        return [self._learning.page(web.words_copy(page), float(web.page_norm[page])) for page in pages]


class Judge:
    """Makes whole crawls of one recorded web."""

    def __init__(self, name: str, web: RecordedWeb) -> None:
        self.name = name
        self.web = web
        self.visible = VisibleLinks(web, closed_world=True)
        targets = web.url_page[self.visible.url]
        self.links = [np.unique(targets[self.visible.range_of(page)]) for page in range(web.n_pages)]

    def crawl(self, topic: Topic, seeds: Sequence[int], strategy: str) -> WholeCrawl:
        words = self.web.word_index
        model = RELEVANCE.make("rocchio").for_topic(without_pages(topic), words)
        assert isinstance(model, LearningRelevance)
        scores = _WholeScores(self.web, model.for_crawl(), seeds)
        crawl = simulate(
            self.web,
            STRATEGIES.make(strategy),
            seeds,
            scores,
            rng=Random(1),
            page_budget=self.web.n_pages,
            links=self.visible,
            topic=TopicWords.of(topic, words),
        )
        final = crawl.relevance.copy()
        # Later pages were scored by the final model.
        n_early = min(len(final), MAX_LEARNED_PAGES + len(seeds) + 1)
        final[:n_early] = scores.final(crawl.pages[:n_early].tolist())
        truths = {
            "counted": crawl.relevance >= ON_TOPIC,
            "final": final >= ON_TOPIC,
            "labelled": np.isin(crawl.pages, known_relevant(self.web, topic)),
        }
        return WholeCrawl(self.name, strategy, crawl.pages, self._queue_sizes(crawl.pages, seeds), truths)

    def _queue_sizes(self, pages: IntArray, seeds: Sequence[int]) -> LongArray:
        is_known = np.zeros(self.web.n_pages, np.bool_)
        is_known[list(seeds)] = True
        n_known, sizes = int(is_known.sum()), []
        for visit, page in enumerate(pages.tolist(), 1):
            linked = self.links[page]
            new = linked[~is_known[linked]]
            is_known[new] = True
            n_known += len(new)
            sizes.append(n_known - visit)
        return np.array(sizes, np.int64)

    def other_estimates(self, crawl: WholeCrawl, wanted: Sequence[int]) -> Iterator[dict[str, float]]:
        """The recall by other estimators, after the wanted numbers of visits."""
        halves = np.zeros((2, self.web.n_pages), np.int64)
        is_found = np.zeros(self.web.n_pages, np.bool_)
        visit = 0
        for n_visits in wanted:
            for page in crawl.pages[visit:n_visits].tolist():
                halves[page * 2654435761 % (1 << 32) >> 31, self.links[page]] += 1
                is_found[page] = crawl.on_topic[visit]
                visit += 1
            first, second = halves[:, is_found]
            n_found = int(is_found.sum())
            recent = crawl.on_topic[n_visits * 3 // 4 : n_visits].mean()
            estimates = {
                "Chapman": chapman(*(int(np.count_nonzero(each)) for each in (first, second, first * second))),
                "Chao": n_found + chao_unseen(first + second),
                "recent share": n_found + float(recent) * float(crawl.queue_sizes[n_visits - 1]),
            }
            yield {name: min(1.0, n_found / max(total, 1.0)) for name, total in estimates.items()}


def whole_crawls(judge: Judge, topics: Sequence[Topic], n_topics: int) -> Iterator[WholeCrawl]:
    """Crawls of random topics that have enough pages, by all strategies."""
    chosen = [topic for topic in topics if len(known_relevant(judge.web, topic)) >= MIN_PAGES]
    Random(9).shuffle(chosen)
    for number, topic in enumerate(chosen[:n_topics]):
        starts = Starts(judge.web, n_start=STARTS[number % len(STARTS)], trains=False)
        if starts.problem(topic):
            continue
        seeds = starts.draw(topic, 0).seeds
        for strategy in STRATEGY_NAMES:
            crawl = judge.crawl(topic, seeds, strategy)
            if crawl.on_topic.sum() >= MIN_PAGES:
                yield crawl


def estimates(crawl: WholeCrawl, wanted: Sequence[int]) -> Iterator[RecallEstimate | CannotTell]:
    """After each of the wanted numbers of visits, which ascend."""
    history, visit = crawl.history(), 0
    for n_visits in wanted:
        for is_on_topic, size in zip(
            crawl.on_topic[visit:n_visits].tolist(), crawl.queue_sizes[visit:n_visits].tolist(), strict=True
        ):
            history.add(is_on_topic=is_on_topic, queue_size=size)
        visit = n_visits
        yield history.estimate()


@dataclass(frozen=True, slots=True)
class Stop:
    """The true recall, counted, where a crawl stopped, and the share of pages that it did not visit."""

    recall: float
    saved: float


def stop(crawl: WholeCrawl, goal: float) -> Stop:
    """Where `--until-recall` ends the crawl."""
    n_all = len(crawl.pages)
    checks = sorted({min(n_all, round(50 * (1 + CHECK_SHARE) ** power)) for power in range(2_000)})
    for n_visits, estimate in zip(checks, estimates(crawl, checks), strict=True):
        if isinstance(estimate, RecallEstimate) and estimate.reaches(goal):
            return Stop(crawl.recall("counted", n_visits), 1 - n_visits / n_all)
    return Stop(1.0, 0.0)


class Results:
    """What is printed, by web."""

    def __init__(self) -> None:
        #: By web, and by strategy or stage.
        self.rows: dict[tuple[str, str], list[tuple[WholeCrawl, int, RecallEstimate | CannotTell]]] = defaultdict(list)
        self.stops: dict[tuple[str, float], list[Stop]] = defaultdict(list)
        self.others: dict[tuple[str, str], list[float]] = defaultdict(list)

    def add(self, judge: Judge, crawl: WholeCrawl) -> None:
        stages = list(crawl.stages())
        wanted = [n_visits for _, n_visits in stages]
        found = list(estimates(crawl, wanted))
        for (stage, n_visits), estimate in zip(stages, found, strict=True):
            for key in (crawl.strategy, f"{stage:.0%} found", "all"):
                self.rows[crawl.web, key].append((crawl, n_visits, estimate))
        for goal in GOALS:
            self.stops[crawl.web, goal].append(stop(crawl, goal))
        for n_visits, estimate, others in zip(wanted, found, judge.other_estimates(crawl, wanted), strict=True):
            truth = crawl.recall("counted", n_visits)
            if isinstance(estimate, RecallEstimate):
                for name, recall in {"the estimate": estimate.recall, **others}.items():
                    self.others[crawl.web, name].append(recall - truth)

    def print_web(self, web: str) -> None:
        seen = ", seen before" if web in DEVELOPMENT else ""
        print(f"\n{web}{seen}: {len(self.stops[web, GOALS[0]])} crawls\n")
        print("| | estimates | no estimate | counted | final | labelled | bias | width |\n|---|" + "---|" * 7)
        for key in (*STRATEGY_NAMES, *(f"{stage:.0%} found" for stage in STAGES), "all"):
            if rows := self.rows.get((web, key)):
                print(f"| {key} | {' | '.join(coverage_row(rows))} |")
        print("\n| goal | median recall | lowest tenth | too early | pages saved |\n|---|" + "---|" * 4)
        for goal in GOALS:
            print(f"| {goal:g} | {' | '.join(stop_row(self.stops[web, goal], goal))} |")
        print("\n| estimator | bias | mean absolute error |\n|---|---|---|")
        for (of_web, name), errors in self.others.items():
            if of_web == web:
                print(f"| {name} | {np.median(errors):+.2f} | {np.abs(errors).mean():.2f} |")


def coverage_row(rows: list[tuple[WholeCrawl, int, RecallEstimate | CannotTell]]) -> list[str]:
    """Coverage by each truth; bias and width of the interval are medians."""
    known = [(crawl, n_visits, each) for crawl, n_visits, each in rows if isinstance(each, RecallEstimate)]
    row = [f"{len(known):,}", f"{1 - len(known) / len(rows):.0%}"]
    if not known:
        return [*row, *[""] * 5]
    for truth in ("counted", "final", "labelled"):
        inside = [
            each.low - 1e-9 <= crawl.recall(truth, n_visits) <= each.high + 1e-9
            for crawl, n_visits, each in known
            if crawl.truths[truth].any()
        ]
        row.append(f"{np.mean(inside):.0%}" if inside else "")
    bias = [each.recall - crawl.recall("counted", n_visits) for crawl, n_visits, each in known]
    return [*row, f"{np.median(bias):+.2f}", f"{np.median([each.high - each.low for _, _, each in known]):.2f}"]


def stop_row(stops: list[Stop], goal: float) -> list[str]:
    recalls = np.array([each.recall for each in stops])
    early, saved = np.mean(recalls < goal - TOO_EARLY), np.median([each.saved for each in stops])
    return [f"{np.median(recalls):.2f}", f"{np.quantile(recalls, 0.1):.2f}", f"{early:.0%}", f"{saved:.0%}"]


def prepared(name: str, folder: Path) -> tuple[Path, Path] | None:
    """A recorded web, made if it is missing, and its topics; None if its collection is absent."""
    if name == MADE_UP:
        if not (folder / MADE_UP).exists():
            topical_web(folder / MADE_UP, **MADE_UP_WEB)  # type: ignore[arg-type]
        return folder / MADE_UP, folder / MADE_UP / "topics.jsonl"
    if not (COLLECTIONS / name).is_dir():
        return None
    return recorded_webs([name], folder)[name], COLLECTIONS / name / "topics.jsonl"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("recall_estimate", __doc__)
    parser.add_argument("--webs", nargs="+", choices=WEBS, default=WEBS, metavar="WEB")
    parser.add_argument("--topics", type=int, help="topics per web")
    parser.add_argument("--folder", type=Path, help="folder of recorded webs, made if they are missing")
    parser.add_argument("--quick", action="store_true", help="few topics, without debdocs")
    options = parser.parse_args(arguments)
    n_topics = N_TOPICS_QUICK if options.quick else N_TOPICS
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        for name in options.webs:
            if options.topics is None and name not in n_topics:
                continue
            found = prepared(name, options.folder or Path(temporary))
            if found is None:
                print(f"  skipped: collection {name} not found in ../shared/data")
                continue
            judge, results = Judge(name, RecordedWeb.open(found[0])), Results()
            for crawl in whole_crawls(judge, read_topics(found[1]), options.topics or n_topics[name]):
                results.add(judge, crawl)
            if results.rows:
                results.print_web(name)


def chapman(n_first: int, n_second: int, n_both: int) -> float:
    """The size of a population of which two independent samples have this many members in common (Chapman, "Some
    properties of the hypergeometric distribution", 1951)."""
    return (n_first + 1) * (n_second + 1) / (n_both + 1) - 1


def chao_unseen(captures: LongArray) -> float:
    """A lower bound of the members that were never captured, by how often each of the others was (Chao,
    "Nonparametric estimation of the number of classes in a population", 1984; bias-corrected)."""
    once, twice = np.count_nonzero(captures == 1), np.count_nonzero(captures == 2)
    return float(once * (once - 1) / (2 * (twice + 1)))


if __name__ == "__main__":
    main()
