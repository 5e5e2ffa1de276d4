"""The demo from end to end: make a small web, crawl it live, simulate other strategies on it, judge them all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from scenthound.crawler.plan import DEFAULT_STRATEGY, CrawlSettings
from scenthound.crawler.start import CrawlSummary, RunOptions, Watch, crawl
from scenthound.errors import InvalidInput
from scenthound.experiments.demo.server import DemoServer, at_demo_port
from scenthound.experiments.demo.web import load_demo_topics, write_demo_pages
from scenthound.experiments.evaluate import Evaluation, chosen_metrics, evaluate
from scenthound.experiments.runs import RunFolder, require_parquet, simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import Start, Starts, TopicChoice, random_seed_of
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Progress, Topic, Trace
from scenthound.reasons import EndReason
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.topics.files import write_topics
from scenthound.web.static_server import at_port

# The live part of the demo: its web is served on loopback, and crawled for each topic as any web would be.
#
# Rules
# - A crawl starts from the pages that the simulated crawls for its topic start from, with the same page budget.
# - For each topic there are two: a usual one, and one in strict order and without guards, which waits for the page
#   that the strategy wants most, however long its host rests. That one should make the visits of its simulated twin.
# - The crawls are polite, though on loopback nobody would mind: robots.txt is asked for, one request to a host at a
#   time, and a rest after each. The rest is short, because a demo should be.
# - Few connections, because the pages of a topic are on few hosts here: who keeps many connections busy takes pages
#   of whatever host is ready, and a small page budget is soon spent on those.

DELAY_S = 0.005
CONNECTIONS = 2
#: Scores for all crawls alike, live and simulated; it need not learn.
GUIDE = "cosine"


class Manner(StrEnum):
    """How a live crawl goes about; named so among the simulated strategies."""

    USUAL = "live"
    STRICT = "live, strict order"


#: Shows a crawl while it runs; the title says what it is for.
Watched = Callable[[str], AbstractContextManager[Watch]]


@dataclass(frozen=True, slots=True)
class DemoCrawl:
    """A live crawl that was made, beside what it should have found."""

    topic: Topic
    manner: Manner
    summary: CrawlSummary
    trace: Trace
    n_targets: int
    n_targets_found: int
    a_target: str | None  #: a target that was found, at the address it was served at


class LiveDemo:
    """Crawls what the server serves; `web` has the same pages recorded, under addresses without a port."""

    def __init__(self, server: DemoServer, web: RecordedWeb, page_budget: int) -> None:
        self._server = server
        self._web = web
        self._page_budget = page_budget

    def crawl(self, topic: Topic, start: Start, manner: Manner, folder: Path, watched: Watched) -> DemoCrawl:
        plan = self._plan(topic, start, manner)
        with watched(topic.id) as watch:
            summary = crawl(plan, folder, RunOptions(watch=watch, obey_signals=True), force=True)
        trace = self._trace(topic, start, manner, folder)
        found = [page for page in trace.pages.tolist() if page in start.targets]
        a_target = at_port(self._web.url(found[-1]), self._server.port) if found else None
        return DemoCrawl(topic, manner, summary, trace, len(start.targets), len(found), a_target)

    def _plan(self, topic: Topic, start: Start, manner: Manner) -> CrawlSettings:
        port, is_usual = self._server.port, manner is Manner.USUAL
        return CrawlSettings(
            at_demo_port(topic, port),
            tuple(at_port(self._web.url(page), port) for page in start.seeds),
            relevance=GUIDE,
            page_budget=self._page_budget,
            random_seed=random_seed_of(start),
            politeness=PolitenessSettings(delay_s=DELAY_S),
            connections=CONNECTIONS,
            strict_order=not is_usual,
            traps=is_usual,
            near_duplicates=is_usual,
            soft_404s=is_usual,
            allow_private=True,
            hosts=self._server.hosts,
            only_hosts=True,
        )

    def _trace(self, topic: Topic, start: Start, manner: Manner, folder: Path) -> Trace:
        with StoredCrawl.open(folder) as stored:
            visits = [(self._page_of(visit.url), visit.relevance) for visit in stored.visits()]
        pages = np.array([page for page, _ in visits], np.int32)
        return Trace(topic.id, manner.value, start.seed, pages, np.array([relevance for _, relevance in visits]))

    def _page_of(self, url: str) -> int:
        page = self._web.page_of(url.replace(f":{self._server.port}/", "/", 1))
        assert page is not None, "the demo web serves what was recorded, and nothing else"
        return page


# The demo's live crawls among the simulated ones, so that one judge judges all of them alike.


class RunWithLive(RunFolder):
    """A run folder that also has live crawls, which are the last in tables."""

    def __init__(self, run: RunFolder, live: Sequence[Trace]) -> None:
        names = list(dict.fromkeys(trace.strategy for trace in live))
        super().__init__(run.path, run.web, run.page_budget, [*run.strategies, *names])
        self._live = live

    def traces(self) -> Iterator[Trace]:
        told: set[str] = set()
        for trace in super().traces():
            if trace.topic not in told:
                yield from (live for live in self._live if live.topic == trace.topic)
                told.add(trace.topic)
            yield trace

    def n_alike(self, strategy: str, live_name: str) -> int:
        """For how many topics a live crawl made the visits of a simulated one, in the same order."""
        simulated = {trace.topic: trace.pages.tolist() for trace in super().traces() if trace.strategy == strategy}
        live = {trace.topic: trace.pages.tolist() for trace in self._live if trace.strategy == live_name}
        return sum(pages == simulated.get(topic) for topic, pages in live.items())


#: No guidance, greedy, by the surroundings of links, and the live crawls' own.
DEMO_STRATEGIES = ("breadth_first", "best_first", "shark_search", "otie")
DEMO_METRICS = ("target_recall", "precision")
#: Where the tables show the curves.
CHECKPOINTS = (25, 50, 100)
#: Few, so that there is something left to find in a small web.
N_START = 3
#: Marks a folder as the demo's own, to be replaced by the next one.
MARK = ".scenthound-demo"
HOW = {
    Manner.USUAL: "As usual, taking the best page of the hosts that are ready",
    Manner.STRICT: "In strict order, waiting for the best page of all, and with the guards off that a simulation "
    "does not have (traps, near-duplicates, soft 404s)",
}
SUFFIX = {Manner.USUAL: "", Manner.STRICT: "-strict"}

Shown = Callable[[str], AbstractContextManager[Progress]]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo made. `evaluation` is None if the user stopped it before all crawls were there."""

    crawls: tuple[DemoCrawl, ...]
    evaluation: Evaluation | None = None
    n_like_simulated: int = 0  #: topics for which the crawl in strict order made the visits of its simulated twin


class Demo:
    """Tells people what it does through `say`, shows the progress of each step through `shown`, and that of the live
    crawls through `watched`."""

    def __init__(self, folder: Path, *, say: Say, shown: Shown, watched: Watched) -> None:
        require_parquet()
        self.folder = folder
        self._say = say
        self._shown = shown
        self._watched = watched
        self._pages, self._web, self._topics, self._crawls, self._run = (
            folder / name for name in ("pages.jsonl", "web", "topics.toml", "crawls", "run")
        )

    def make(self, *, page_budget: int) -> DemoResult:
        self._take_folder()
        self._make_web()
        topics = load_demo_topics()
        write_topics(self._topics, topics)
        crawls = tuple(self._crawl_live(topics, page_budget))
        if any(crawl.summary.ended is EndReason.STOPPED for crawl in crawls):
            return DemoResult(crawls)
        self._simulate(page_budget)
        self._say("4. Judging live and simulated crawls alike, by the pages that were held back.")
        metrics, _ = chosen_metrics(DEMO_METRICS)
        run = RunWithLive(RunFolder.open(self._run), [crawl.trace for crawl in crawls])
        marks = [mark for mark in CHECKPOINTS if mark < run.page_budget]
        return DemoResult(crawls, evaluate(run, metrics, marks), run.n_alike(DEFAULT_STRATEGY, Manner.STRICT))

    def _take_folder(self) -> None:
        if self.folder.exists() and not (self.folder / MARK).is_file():
            raise InvalidInput(
                f"{self.folder} exists and is not a demo's, so it is left alone: choose another with --out."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARK).touch()

    def _make_web(self) -> None:
        self._say("1. Making a small web: the documentation of Python's standard library, which is on every machine.")
        with self._shown("rendering") as progress:
            rendered = write_demo_pages(self._pages, progress)
        with self._shown("recording") as progress:
            summary = record([self._pages], self._web, force=True, progress=progress)
        self._say(f"   {rendered.n_pages} pages on {summary.hosts} hosts, with {summary.links:,} links.")

    def _crawl_live(self, topics: list[Topic], page_budget: int) -> Iterator[DemoCrawl]:
        web = RecordedWeb.open(self._web)
        starts = Starts(web, n_start=N_START)
        with DemoServer(self._pages) as server:
            self._say(
                f"2. Serving it on {len(set(server.hosts.values()))} loopback addresses, and crawling it live with "
                f"{DEFAULT_STRATEGY} for {len(topics)} topics:\n"
                f"   {page_budget} pages each, from {N_START} examples of the topic; one request to a host at a time, "
                f"then {1000 * DELAY_S:g} ms of rest."
            )
            live = LiveDemo(server, web, page_budget)
            for manner in Manner:
                self._say(f"   {HOW[manner]}:")
                for topic in topics:
                    folder = self._crawls / f"{topic.id}{SUFFIX[manner]}"
                    done = live.crawl(topic, starts.draw(topic, 0), manner, folder, self._watched)
                    self._say(_line(done))
                    yield done
                    if done.summary.ended is EndReason.STOPPED:
                        return
            self._say(f"   {server.n_requests:,} requests were made, those for robots.txt included.")

    def _simulate(self, page_budget: int) -> None:
        self._say(f"3. Simulating {len(DEMO_STRATEGIES)} strategies on the same web, from the same pages.")
        with self._shown("simulating") as progress:
            setup = ExperimentSetup(
                web=self._web,
                topics=TopicChoice(self._topics, skip_missing=True),
                strategies=DEMO_STRATEGIES,
                relevance=GUIDE,
                page_budget=page_budget,
                n_start=N_START,
            )
            simulate_topics(setup, self._run, force=True, progress=progress)


def _line(done: DemoCrawl) -> str:
    status = done.summary.status
    return (
        f"   {done.topic.id:<11} {status.n_pages:>4} pages, {status.seconds:3.1f} s, "
        f"{done.n_targets_found:>2} of {done.n_targets} targets, "
        f"harvest {status.harvest:.3f}, regret {status.regret or 0:.3f}"
    )
