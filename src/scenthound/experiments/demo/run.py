"""The demo: make a small web, crawl it live, simulate other strategies on it, and evaluate all crawls alike.

Rules of the live crawls
- The demo web is served on loopback, and crawled for each topic like any other web. A crawl starts from the pages that
  the simulated crawls for its topic start from, with the same page budget.
- There are two for each topic: one with the default settings, and one in strict order and without guards, which waits
  for the page that the strategy prefers, whatever the crawl delay of its host. That one should make the visits of its
  simulated twin.
- The crawls are polite, though on loopback nobody would mind: they fetch robots.txt, make one request to a host at a
  time, and keep a crawl delay. The delay is short, because a demo should be.
- There are few connections, because the pages of a topic are on few hosts here: many connections would take pages from
  whatever host is ready, and soon exhaust a small page budget.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from scenthound.crawler.options import DEFAULT_STRATEGY
from scenthound.crawler.runner import RunOptions, Watch
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import CrawlSummary, crawl
from scenthound.errors import InvalidInput
from scenthound.experiments.demo.web import DemoServer, at_demo_port, load_demo_topics, write_demo_pages
from scenthound.experiments.evaluate import Evaluation, chosen_metrics, evaluate
from scenthound.experiments.runs import RunFolder, require_parquet, simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import Start, Starts, TopicChoice
from scenthound.files import write_atomic
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Progress, Topic, Trace
from scenthound.reasons import EndReason
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.topics.files import write_topics

DELAY_S = 0.005
CONNECTIONS = 2
#: Without relevance, greedy, by the context of links, and the strategy of the live crawls.
DEMO_STRATEGIES = ("breadth_first", "best_first", "shark_search", "link_context")
DEMO_METRICS = ("target_recall", "precision")
#: Numbers of pages in the tables.
CHECKPOINTS = (25, 50, 100)
#: Few, so that there is something left to find in a small web.
N_START = 3
#: Marks a folder as one of the demo, which the next run may replace.
MARK = ".scenthound-demo"


class LiveMode(StrEnum):
    """The two kinds of live crawls, as they are called among the simulated strategies."""

    DEFAULT = "live"
    STRICT = "live, strict order"


DESCRIPTION = {
    LiveMode.DEFAULT: "With the default settings, fetching the best page of the hosts that are ready",
    LiveMode.STRICT: "In strict order, waiting for the best page of all, and without the guards that a simulation does "
    "not have (traps, throttling, near-duplicates, soft 404s)",
}
SUFFIX = {LiveMode.DEFAULT: "", LiveMode.STRICT: "-strict"}

Say = Callable[[str], None]
#: Shows the progress of the step with this title.
ShowProgress = Callable[[str], AbstractContextManager[Progress]]
#: Shows the live crawl for the topic with this id.
ShowCrawl = Callable[[str], AbstractContextManager[Watch]]


@dataclass(frozen=True, slots=True)
class DemoCrawl:
    """A finished live crawl."""

    topic: Topic
    summary: CrawlSummary
    trace: Trace
    n_targets: int
    n_targets_found: int
    a_target: str | None  #: the URL, with port, of a target that was found


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The result of the demo. `evaluation` is None if the user stopped it before all crawls were made."""

    crawls: tuple[DemoCrawl, ...]
    evaluation: Evaluation | None = None
    n_like_simulated: int = 0  #: topics for which the crawl in strict order made the visits of its simulated twin


@dataclass(frozen=True, slots=True)
class LiveCrawls:
    """Crawls the pages that the server serves; `web` has the same pages, recorded under URLs without a port."""

    server: DemoServer
    web: RecordedWeb
    page_budget: int

    def crawl(self, topic: Topic, start: Start, mode: LiveMode, folder: Path, show: ShowCrawl) -> DemoCrawl:
        with show(topic.id) as watch:
            options = RunOptions(watch=watch, handle_signals=True)
            summary = crawl(self._settings(topic, start, mode), folder, options, force=True)
        with StoredCrawl.open(folder) as stored:
            visits = list(stored.visits())
        port = f":{self.server.port}/"
        known = [self.web.page_of(visit.url.replace(port, "/", 1)) for visit in visits]
        pages = np.array([page for page in known if page is not None], np.int32)
        trace = Trace(topic.id, mode.value, start.seed, pages, np.array([visit.relevance for visit in visits]))
        found = [page for page in pages.tolist() if page in start.targets]
        a_target = self.server.url(self.web.url(found[-1])) if found else None
        return DemoCrawl(topic, summary, trace, len(start.targets), len(found), a_target)

    def _settings(self, topic: Topic, start: Start, mode: LiveMode) -> CrawlSettings:
        is_default = mode is LiveMode.DEFAULT
        return CrawlSettings(
            at_demo_port(topic, self.server.port),
            tuple(self.server.url(self.web.url(page)) for page in start.seeds),
            page_budget=self.page_budget,
            random_seed=start.seed,
            politeness=PolitenessSettings(delay_s=DELAY_S),
            connections=CONNECTIONS,
            strict_order=not is_default,
            traps=is_default,
            throttle=is_default,
            near_duplicates=is_default,
            soft_404s=is_default,
            allow_private=True,
            hosts=self.server.hosts,
            only_hosts=True,
        )


class RunWithLive(RunFolder):
    """A run folder with live crawls as additional strategies, which are the last in tables."""

    def __init__(self, run: RunFolder, live: Sequence[Trace]) -> None:
        names = list(dict.fromkeys(trace.strategy for trace in live))
        super().__init__(run.path, run.web, run.page_budget, [*run.strategies, *names])
        self._live = live

    def traces(self) -> Iterator[Trace]:
        topics: set[str] = set()
        for trace in super().traces():
            if trace.topic not in topics:
                yield from (live for live in self._live if live.topic == trace.topic)
                topics.add(trace.topic)
            yield trace

    def n_alike(self, strategy: str, live_name: str) -> int:
        """The number of topics for which a live crawl made the visits of a simulated one, in the same order."""
        simulated = {trace.topic: trace.pages.tolist() for trace in super().traces() if trace.strategy == strategy}
        live = {trace.topic: trace.pages.tolist() for trace in self._live if trace.strategy == live_name}
        return sum(pages == simulated.get(topic) for topic, pages in live.items())


class Demo:
    """Runs the demo in a folder. `say` prints lines of text."""

    def __init__(self, folder: Path, *, say: Say, show_progress: ShowProgress, show_crawl: ShowCrawl) -> None:
        require_parquet()
        self.folder = folder
        self._say = say
        self._show_progress = show_progress
        self._show_crawl = show_crawl
        self._pages, self._web, self._topics, self._crawls, self._run = (
            folder / name for name in ("pages.jsonl", "web", "topics.toml", "crawls", "run")
        )

    def make(self, *, page_budget: int) -> DemoResult:
        self._prepare_folder()
        self._make_web()
        topics = load_demo_topics()
        write_topics(self._topics, topics)
        crawls = tuple(self._crawl_live(topics, page_budget))
        if any(crawl.summary.ended is EndReason.STOPPED for crawl in crawls):
            return DemoResult(crawls)
        self._simulate(page_budget)
        self._say("4. Evaluating live and simulated crawls alike, by the pages that were held out.")
        metrics, _ = chosen_metrics(DEMO_METRICS)
        run = RunWithLive(RunFolder.open(self._run), [crawl.trace for crawl in crawls])
        checkpoints = [pages for pages in CHECKPOINTS if pages < run.page_budget]
        n_alike = run.n_alike(DEFAULT_STRATEGY, LiveMode.STRICT)
        return DemoResult(crawls, evaluate(run, metrics, checkpoints), n_alike)

    def serve(self, port: int = 0) -> DemoServer:
        """A server of the demo web, to be entered: with a recorded web, topics and a file of host addresses in the
        folder. A web that an earlier run has made is used again."""
        self._prepare_folder()
        if not (self._pages.exists() and self._web.exists()):
            self._make_web()
        write_topics(self._topics, load_demo_topics())
        server = DemoServer(self._pages, port)
        lines = (f"{address} {name}\n" for name, address in server.hosts.items())
        write_atomic(self.folder / "hosts", "".join(lines).encode())
        return server

    def _prepare_folder(self) -> None:
        if self.folder.exists() and not (self.folder / MARK).is_file():
            raise InvalidInput(f"{self.folder} exists and was not made by the demo: choose another folder with --out.")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARK).touch()

    def _make_web(self) -> None:
        self._say("1. Making a small web: the documentation of Python's standard library, which is on every machine.")
        with self._show_progress("rendering") as progress:
            rendered = write_demo_pages(self._pages, progress)
        with self._show_progress("recording") as progress:
            summary = record([self._pages], self._web, force=True, progress=progress)
        self._say(f"   {rendered.n_pages} pages on {summary.hosts} hosts, with {summary.links:,} links.")

    def _crawl_live(self, topics: list[Topic], page_budget: int) -> Iterator[DemoCrawl]:
        web = RecordedWeb.open(self._web)
        starts = Starts(web, n_start=N_START)
        server = DemoServer(self._pages)
        with server:
            self._say(
                f"2. Serving it on {len(set(server.hosts.values()))} loopback addresses, and crawling it live with "
                f"{DEFAULT_STRATEGY} for {len(topics)} topics:\n"
                f"   {page_budget} pages each, from {N_START} examples of the topic; one request to a host at a time, "
                f"with a crawl delay of {1000 * DELAY_S:g} ms."
            )
            live = LiveCrawls(server, web, page_budget)
            for mode in LiveMode:
                self._say(f"   {DESCRIPTION[mode]}:")
                for topic in topics:
                    folder = self._crawls / f"{topic.id}{SUFFIX[mode]}"
                    done = live.crawl(topic, starts.draw(topic, 0), mode, folder, self._show_crawl)
                    self._say(_line(done))
                    yield done
                    if done.summary.ended is EndReason.STOPPED:
                        return
            self._say(f"   {server.requests.total():,} requests were made, including those for robots.txt.")

    def _simulate(self, page_budget: int) -> None:
        self._say(f"3. Simulating {len(DEMO_STRATEGIES)} strategies on the same web, from the same pages.")
        setup = ExperimentSetup(
            web=self._web,
            topics=TopicChoice(self._topics, skip_missing=True),
            strategies=DEMO_STRATEGIES,
            page_budget=page_budget,
            n_start=N_START,
        )
        with self._show_progress("simulating") as progress:
            simulate_topics(setup, self._run, force=True, progress=progress)


def _line(done: DemoCrawl) -> str:
    status = done.summary.status
    return (
        f"   {done.topic.id:<11} {status.n_pages:>4} pages, {status.seconds:3.1f} s, "
        f"{done.n_targets_found:>2} of {done.n_targets} targets, "
        f"harvest {status.harvest:.3f}, {status.regret or 0:.1%} of scores given up"
    )
