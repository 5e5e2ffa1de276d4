"""A crawl of the live benchmarks as work to be done: told to a process of its own, which is `live_scenthound`."""

import json
import sys
from dataclasses import asdict, dataclass

from benchmarks.live_process import Measured, measured

#: What Scrapy's queue does as well: all links wait, those of better pages come first.
STRATEGY = "best_first:buffer=none"


@dataclass(frozen=True, slots=True)
class Work:
    """A crawl into a folder; where the folder holds one, it is taken up."""

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


def command(work: Work) -> list[str]:
    """What runs the work in a process of its own."""
    return [sys.executable, "-m", "benchmarks.live_scenthound", json.dumps(asdict(work))]


def crawl_measured(work: Work) -> Measured:
    return measured(command(work), "Scenthound")
