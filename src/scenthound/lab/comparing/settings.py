"""What a comparison is to be: who takes part, for how long, from what starts, and what decides."""

from dataclasses import dataclass
from pathlib import Path

from scenthound.drivers.modes import SEQUENTIAL
from scenthound.errors import BadParameter
from scenthound.lab.comparing.contestants import Sweep
from scenthound.lab.starts import DEFAULT_START, Task
from scenthound.lab.statistics import LEAST_TOPICS
from scenthound.metrics.base import Metric, Point, parse_metric

#: Random starts of each topic, unless told: enough to tell fifteen strategies apart.
DEFAULT_SEEDS = 10


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """No strategies named are all that are installed. `by` is a metric, or one after some pages (`precision@500`).
    `n_seeds` None is ten for a few topics; from five topics on, which are then the observations, ten shared out among
    them. The other fields are those of an `Experiment`."""

    strategies: tuple[str, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    by: str = "target_recall"
    page_budget: int = 2000
    n_seeds: int | None = None
    task: str = Task.EXAMPLES
    n_start: int = DEFAULT_START
    relevance: str | None = None
    n_train: int = 0
    n_judge: int = 0
    train_from: Path | None = None
    mode: str = str(SEQUENTIAL)
    closed_world: bool = False
    obey_nofollow: bool = True

    def seeds_for(self, n_topics: int) -> int:
        """The random starts of each topic."""
        if self.n_seeds is not None:
            return self.n_seeds
        return DEFAULT_SEEDS if n_topics < LEAST_TOPICS else max(1, DEFAULT_SEEDS // n_topics)


def deciding_point(by: str, page_budget: int) -> Point:
    """The metric that decides, after the pages named with it or at the end of the crawls."""
    parsed: Metric | Point = parse_metric(by)
    if not isinstance(parsed, Point):
        return parsed @ page_budget
    if parsed.step > page_budget:
        raise BadParameter(f"--by {by}: the crawls have {page_budget:,} pages; choose a smaller number after the @.")
    return parsed
