"""Settings of comparisons in tests."""

from dataclasses import dataclass, field
from pathlib import Path

from scenthound.experiments.compare.settings import ComparisonSettings, Sweeps
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import Task, TopicChoice


@dataclass(frozen=True)
class WantedComparison:
    """The settings that tests vary."""

    strategies: tuple[str, ...] = ()
    sweeps: Sweeps = field(default_factory=dict)
    by: str = "target_recall"
    page_budget: int = 2000
    repeats: int | None = None
    task: Task = Task.EXAMPLES
    n_start: int = 10
    relevance: str | None = None
    n_judge: int = 0
    n_train: int = 0
    train_from: Path | None = None
    respect_nofollow: bool = True

    def on(self, web: Path, topics: TopicChoice) -> tuple[ExperimentSetup, ComparisonSettings]:
        values = {name: value for name, value in vars(self).items() if name not in ("by", "sweeps")}
        return ExperimentSetup(web=web, topics=topics, **values), ComparisonSettings(self.by, self.sweeps)
