"""The demo from end to end: make a small web, crawl it live, simulate other strategies on it, judge them all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from scenthound.drivers.ended import Ended
from scenthound.errors import BadInput
from scenthound.lab.crawl_plan import DEFAULT_STRATEGY
from scenthound.lab.demo_crawl import DELAY_S, GUIDE, DemoCrawl, LiveDemo, Manner, Watched
from scenthound.lab.demo_run import RunWithLive
from scenthound.lab.demo_server import DemoServer
from scenthound.lab.demo_web import load_demo_topics, write_demo_pages
from scenthound.lab.evaluate import Evaluation, chosen_metrics, evaluate
from scenthound.lab.run_folder import RunFolder, require_parquet
from scenthound.lab.simulation import TopicChoice, simulate_topics
from scenthound.lab.starts import Starts
from scenthound.model import Progress, Topic
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import write_topics

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
        if any(crawl.summary.ended is Ended.STOPPED for crawl in crawls):
            return DemoResult(crawls)
        self._simulate(page_budget)
        self._say("4. Judging live and simulated crawls alike, by the pages that were held back.")
        metrics, _ = chosen_metrics(DEMO_METRICS)
        run = RunWithLive(RunFolder.open(self._run), [crawl.trace for crawl in crawls])
        marks = [mark for mark in CHECKPOINTS if mark < run.page_budget]
        return DemoResult(crawls, evaluate(run, metrics, marks), run.n_alike(DEFAULT_STRATEGY, Manner.STRICT))

    def _take_folder(self) -> None:
        if self.folder.exists() and not (self.folder / MARK).is_file():
            raise BadInput(f"{self.folder} exists and is not a demo's, so it is left alone: choose another with --out.")
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
                    if done.summary.ended is Ended.STOPPED:
                        return
            self._say(f"   {server.n_requests:,} requests were made, those for robots.txt included.")

    def _simulate(self, page_budget: int) -> None:
        self._say(f"3. Simulating {len(DEMO_STRATEGIES)} strategies on the same web, from the same pages.")
        with self._shown("simulating") as progress:
            simulate_topics(
                self._web,
                TopicChoice(self._topics, skip_missing=True),
                self._run,
                strategies=DEMO_STRATEGIES,
                relevance=GUIDE,
                page_budget=page_budget,
                n_start=N_START,
                force=True,
                progress=progress,
            )


def _line(done: DemoCrawl) -> str:
    status = done.summary.status
    return (
        f"   {done.topic.id:<11} {status.n_pages:>4} pages, {status.seconds:3.1f} s, "
        f"{done.n_targets_found:>2} of {done.n_targets} targets, "
        f"harvest {status.harvest:.3f}, regret {status.regret or 0:.3f}"
    )
