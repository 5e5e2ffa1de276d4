"""A comparison as files: `comparison.json` with the ranking, and `comparison.csv` with a row for each crawl.

The JSON has all that the page of a comparison shows (`told` reads it), so that the page can be made anew from it.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from math import isnan
from typing import Any

from scenthound.command_line import command_line, unless
from scenthound.errors import printable
from scenthound.experiments.compare.comparison import StrategyComparison
from scenthound.experiments.compare.ranking import MARGIN_SHARE, Mark, Placed, row_name
from scenthound.experiments.starts import Task
from scenthound.model import FloatArray
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.ui.formats import finite, versions

# The command line that makes a comparison again: on the same web and topics, with the same starts.


def reproduce_command(done: StrategyComparison) -> str:
    """`scenthound compare` with all that decides, and nothing that is so anyway; empty if no command line can say it.
    Topics are named, so that it is the same ones whatever is added to their file."""
    setup, settings, experiment = done.setup, done.settings, done.experiment
    return command_line(
        ("scenthound", "compare"),
        [
            ("--web", experiment.web),
            ("--topics", done.topics_file.absolute()),
            ("--topic", tuple(topic.id for topic in experiment.topics)),
            ("--strategy", setup.strategies),
            ("--sweep", tuple(f"{each.parameter}={','.join(each.values)}" for each in settings.sweeps)),
            ("--by", settings.by),
            ("--pages", setup.page_budget),
            ("--repeats", experiment.repeats),
            ("--task", unless(setup.task.value, Task.EXAMPLES.value)),
            ("--start", setup.n_start),
            ("--relevance", setup.relevance),
            ("--train", unless(setup.n_train, 0)),
            ("--train-from", experiment.train_from),
            ("--judge", unless(setup.n_judge, 0)),
            ("--mode", unless(setup.mode, str(SEQUENTIAL))),
            ("--closed-world", setup.closed_world),
            ("--follow-nofollow", not setup.respect_nofollow),
        ],
    )


FORMAT = "scenthound comparison"
VERSION = 1

#: What the marks say, in words.
MARKS = {
    Mark.WORSE: "clearly worse than the best",
    Mark.ALIKE: f"as good as the best: shown to differ by less than {100 * MARGIN_SHARE:.0f} % of it",
    Mark.UNCLEAR: "not clear either way",
}
#: What a reader of the ranking must know.
READING = (
    "Differences are to the best, in pairs of crawls from the same start; intervals are 95 % BCa bootstrap intervals. "
    "p is of a permutation test, corrected by Holm's method for all that are held against the best."
)


def as_json(done: StrategyComparison) -> dict[str, Any]:
    """Plain values; what is no number is null."""
    experiment, columns = done.experiment, _Columns(done)
    values = {
        "format": FORMAT,
        "version": VERSION,
        "scenthound": version("scenthound"),
        "versions": versions(),
        "web": str(experiment.web),
        "web_fingerprint": done.web_fingerprint,
        "topics_file": str(done.topics_file),
        "topics": list(done.measured.topics),
        "by": done.by,
        "lower_is_better": done.lower_is_better,
        "pages": experiment.page_budget,
        "seeds": experiment.repeats,
        "task": experiment.task.value,
        "start": experiment.n_start,
        "mode": experiment.mode,
        "relevance": experiment.relevance,
        "sweeps": {sweep.parameter: list(sweep.values) for sweep in done.settings.sweeps},
        "says": done.says,
        "reading": READING,
        "marks": {mark.value: words for mark, words in MARKS.items()},
        "notes": list(done.notes),
        "observed": {"of": columns.of, "names": columns.names},
        "ranking": [_placed(done, placed) | columns.of_row(placed) for placed in done.ranking],
        "contestants": list(_contestants(done)),
        "curves": _curves(done),
        "bounds": {"random": float(done.measured.random.mean()), "oracle": float(done.measured.oracle.mean())},
        "held_out": done.held_out.mean if done.held_out else None,
        "topics_won": asdict(done.topics_won) if done.topics_won else None,
        "winner": done.winner.contestant.spec,
        "command": done.command,
        "command_note": done.command_note,
        "repeat": reproduce_command(done),
        "crawls_made": done.n_made,
    }
    plain: dict[str, Any] = finite(values)
    return plain


def _placed(done: StrategyComparison, placed: Placed) -> dict[str, Any]:
    parameters = [sweep.parameter for sweep in done.settings.sweeps]
    return {
        "place": placed.place,
        "strategy": placed.contestant.spec,
        "name": row_name(placed),
        "also": [other.spec for other in placed.also],
        "swept": dict(zip(parameters, placed.contestant.swept, strict=True)),
        "relevance_model": done.experiment.relevance_models()[placed.contestant.spec],
        "mean": placed.mean,
        "standard_error": placed.standard_error,
        "difference": asdict(placed.difference) if placed.difference else None,
        "p": placed.p,
        "p_corrected": placed.p_corrected,
        "p_equivalence_corrected": placed.p_alike,
        "mark": placed.mark.value,
        "precision": placed.precision,
        "recall": placed.recall,
        "gap_closed": placed.gap_closed,
        "chosen_share": done.chosen_share(placed),
        "cpu_us_per_page": done.cpu_us.get(placed.contestant.spec),
        "missing_per_page": placed.missing_per_page,
    }


class _Columns:
    """What is told of each row one by one: a mean for each topic, or the random starts of a single one."""

    def __init__(self, done: StrategyComparison) -> None:
        measured = done.measured
        self._done = done
        self._values = measured.values.mean(axis=2) if len(measured.topics) > 1 else measured.values[:, 0]
        self.of = "topics" if len(measured.topics) > 1 else "starts"
        starts = [f"start {seed + 1}" for seed in range(measured.values.shape[2])]
        self.names = list(measured.topics) if len(measured.topics) > 1 else starts

    def of_row(self, placed: Placed) -> dict[str, Any]:
        contestant = self._done.contestants.index(placed.contestant)
        return {"observations": _rounded(self._values[contestant])}


def _contestants(done: StrategyComparison) -> Iterator[dict[str, Any]]:
    """Every one, also those that share a row, in the order in which they were named."""
    place_of = {each: placed.place for placed in done.ranking for each in (placed.contestant, *placed.also)}
    for each in done.contestants:
        yield {"strategy": each.spec, "base": each.base, "swept": list(each.swept), "place": place_of[each]}


def _curves(done: StrategyComparison) -> dict[str, Any]:
    """Of the metric that decides, over the pages visited, in the order of the ranking."""
    curves = done.measured.curves
    in_order = [done.contestants.index(placed.contestant) for placed in done.ranking]
    return {
        "pages": curves.steps.tolist(),
        "mean": [_rounded(curves.mean[place]) for place in in_order],
        "standard_error": [_rounded(curves.standard_error[place]) for place in in_order],
        "random": _rounded(curves.random),
        "oracle": _rounded(curves.oracle),
    }


def _rounded(values: FloatArray) -> list[float]:
    return [float(f"{value:.6g}") for value in values.tolist()]


def crawls_csv(done: StrategyComparison) -> str:
    """One row for each strategy, topic and random seed; control characters in names are spelled out."""
    measured = done.measured
    table = io.StringIO(newline="")
    rows = csv.writer(table)
    rows.writerow(["strategy", "topic", "seed", done.by, "precision", "recall", "pages", "not_recorded"])
    columns = (measured.values, measured.precision, measured.recall, measured.n_pages, measured.n_missing)
    for place, contestant in enumerate(done.contestants):
        for at, topic in enumerate(measured.topics):
            for seed in range(done.experiment.repeats):
                numbers = [float(column[place, at, seed]) for column in columns]
                cells = ["" if isnan(each) else f"{each:.6g}" for each in numbers]
                rows.writerow([printable(contestant.spec), printable(topic), seed, *cells])
    return table.getvalue()
