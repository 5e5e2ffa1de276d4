"""A Scenthound crawl of the live benchmarks: its settings, and the separate process that runs it.

Run as `python -m benchmarks.live_crawl JSON`, where the argument is a `LiveCrawl`, it crawls and prints the lines that
`processes.measure_crawl` reads. Pages are reported after they are on disk. The process starts and ends like that of
the command `scenthound` (`cli.process`).
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.live_stages import StageSampler
from benchmarks.processes import MeasuredCrawl, measure_crawl
from scenthound.blas import ONE_THREAD
from scenthound.cli.process import without_last_collection
from scenthound.crawler.checkpointing import Checkpointer
from scenthound.crawler.control import Controller
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import crawl, resume
from scenthound.crawler.state import SampleRecorder
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.folder import is_kind

#: Like the queue of the Scrapy spider: all links are queued, those of better pages first.
STRATEGY = "best_first:buffer=none"
#: Like the score of the Scrapy spider. None is the default model.
RELEVANCE = "cosine"
#: Functions that are reported with `stages`.
N_FUNCTIONS = 25


@dataclass(frozen=True, slots=True)
class LiveCrawl:
    """A crawl into a folder; an existing crawl there is resumed.

    With `shards` it is split on a local cluster. With `time_monitoring` the CPU time of status samples and of reading
    commands is reported, too; with `stages` that of each stage.
    """

    folder: str
    seeds: list[str]
    keywords: list[str]
    n_pages: int
    connections: int
    delay_s: float = 0.0
    time_s: float | None = None
    commit_s: float = 1.0
    watch_s: float = 0.5
    strategy: str = STRATEGY
    relevance: str | None = RELEVANCE
    time_monitoring: bool = False
    stages: bool = False
    commit_log: str | None = None
    #: 0: without a cluster.
    shards: int = 0

    def command(self) -> list[str]:
        """The command line that runs the crawl in a separate process."""
        return [sys.executable, "-m", "benchmarks.live_crawl", json.dumps(asdict(self))]

    def measure(self) -> MeasuredCrawl:
        return measure_crawl(self.command(), "Scenthound", ONE_THREAD)

    def settings(self) -> CrawlSettings:
        return CrawlSettings(
            topic=Topic("benchmark", tuple(self.keywords)),
            seeds=tuple(self.seeds),
            strategy=self.strategy,
            relevance=self.relevance,
            page_budget=self.n_pages,
            # Responses from loopback are immediate, so there is no delay besides the requested one.
            politeness=PolitenessSettings(delay_s=self.delay_s, delay_factor=0.0),
            # Speed is measured, not order.
            patience=0.0,
            connections=self.connections,
            allow_private=True,
            shards=max(1, self.shards),
        )


class _Stopwatch:
    """Sums the CPU time of calls, all of which one thread makes, and keeps the time of the longest one."""

    def __init__(self) -> None:
        self.cpu_s = self.longest_s = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            started_s, started_cpu_s = time.monotonic(), time.thread_time()
            try:
                return function(*arguments, **keywords)
            finally:
                self.cpu_s += time.thread_time() - started_cpu_s
                self.longest_s = max(self.longest_s, time.monotonic() - started_s)

        return call


def main() -> None:
    task = LiveCrawl(**json.loads(sys.argv[1]))
    monitoring, checkpoints = _Stopwatch(), _Stopwatch()
    Checkpointer.begin_if_due = checkpoints.timed(Checkpointer.begin_if_due)  # type: ignore[method-assign]
    sampler = StageSampler() if task.stages else None
    if task.time_monitoring:
        SampleRecorder.record = monitoring.timed(SampleRecorder.record)  # type: ignore[method-assign]
        Controller.poll = monitoring.timed(Controller.poll)  # type: ignore[method-assign]

    def report(status: CrawlStatus, **more: object) -> None:
        values = {
            "pages": status.n_pages,
            "relevance": status.harvest,
            "regret": status.regret,
            "in_flight": status.in_flight,
            "cpu_s": time.process_time(),
            "monitoring_cpu_s": monitoring.cpu_s,
            "checkpoint_pause_s": checkpoints.longest_s,
        }
        print(json.dumps(values | more), flush=True)

    options = RunOptions(
        time_s=task.time_s, commit_s=task.commit_s, watch=report, watch_s=task.watch_s, handle_signals=True
    )
    folder = Path(task.folder)
    if task.shards:
        from scenthound.shards.crawl import ClusterChoice, crawl_in_shards

        summary = crawl_in_shards(task.settings(), folder, options, ClusterChoice("local"))
    elif is_kind(folder, "crawl"):
        summary = resume(folder, replace(options, page_budget=task.n_pages))
    else:
        summary = crawl(task.settings(), folder, options, commit_log=task.commit_log)
    reasons = {reason.value: count for reason, count in summary.reasons.items()}
    stages: dict[str, object] = {}
    if sampler is not None:
        sampler.end()
        stages = {"stages": sampler.cpu_s(), "functions": sampler.functions(N_FUNCTIONS)}
    report(summary.status, ended=summary.ended, reasons=reasons, **stages)


if __name__ == "__main__":
    with without_last_collection():
        main()
