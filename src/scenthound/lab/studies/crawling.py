"""The crawls of one arm of a study, in parallel processes; those that were made before are found and not made again.

A piece of work is one topic and one random seed, with a crawl by every strategy. Crawls stay in the cache's folder;
what comes back is only which pages were visited, and how many crawls were made.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from scenthound.drivers.simulated_crawl import Crawl
from scenthound.errors import Failure
from scenthound.lab.experiment import Bench, Experiment
from scenthound.lab.starts import Start
from scenthound.lab.studies.trace_cache import Ground, TraceCache, crawl_names
from scenthound.model import IntArray, Progress, Topic, Trace, silent
from scenthound.processes import in_order, processors

Planned = tuple[Topic, Start]


@dataclass(frozen=True, slots=True)
class Crawled:
    """What one piece of work came to."""

    visited: IntArray  #: by any of the strategies, each page once
    n_made: int  #: crawls that were not found ready


def crawl_all(
    experiment: Experiment,
    ground: Ground,
    planned: list[Planned],
    cache: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Iterator[Crawled]:
    """Make the crawls that the cache lacks, in the order of topics and seeds."""
    TraceCache(cache).make_folder()
    n_workers = min(workers or processors(), len(planned))
    make = partial(CachedBench, experiment, ground, cache)
    with closing(in_order(make, planned, n_workers)) as pieces:
        for done, piece in enumerate(pieces, 1):
            n_crawls = len(experiment.strategies)
            progress(done / len(planned), f"{done * n_crawls:,} of {len(planned) * n_crawls:,} crawls")
            yield piece


class CachedBench:
    """Where the crawls of one experiment run, in one process. What crawls is made when a crawl is missing."""

    def __init__(self, experiment: Experiment, ground: Ground, cache: Path) -> None:
        self._experiment = experiment
        self._ground = ground
        self._cache = TraceCache(cache)
        self._bench: Bench | None = None

    def __call__(self, planned: Planned) -> Crawled:
        crawls = [self._crawl(strategy, planned) for strategy in self._experiment.strategies]
        visited = np.unique(np.concatenate([crawl.pages for crawl, _ in crawls]))
        return Crawled(visited, sum(is_new for _, is_new in crawls))

    def _crawl(self, strategy: str, planned: Planned) -> tuple[Crawl, bool]:
        names = crawl_names(self._experiment, self._ground, strategy, *planned)
        kept = self._cache.first_of(names)
        if kept is not None:
            return kept, False
        self._bench = self._bench or Bench(self._experiment)
        crawl = self._bench.crawl(strategy, *planned)
        self._cache.save(names[0], crawl)
        return crawl, True


@dataclass(frozen=True, slots=True)
class KeptCrawl:
    """A crawl with what it was for."""

    trace: Trace
    crawl: Crawl


class KeptCrawls:
    """The crawls of one experiment, as the cache has them."""

    def __init__(self, experiment: Experiment, ground: Ground, cache: Path) -> None:
        self._experiment = experiment
        self._ground = ground
        self._cache = TraceCache(cache)

    def of(self, topic: Topic, start: Start) -> list[KeptCrawl]:
        """One by each strategy."""
        return [self._kept(strategy, topic, start) for strategy in self._experiment.strategies]

    def _kept(self, strategy: str, topic: Topic, start: Start) -> KeptCrawl:
        crawl = self._cache.first_of(crawl_names(self._experiment, self._ground, strategy, topic, start))
        if crawl is None:
            who = f"{strategy} for topic {topic.id!r}"
            raise Failure(f"A crawl of {who} was removed from the cache meanwhile; run the same command again.")
        trace = Trace(topic.id, strategy, start.seed, crawl.pages, crawl.relevance, crawl.cpu_us)
        return KeptCrawl(trace, crawl)
