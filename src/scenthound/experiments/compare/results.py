"""The result of a comparison as files: `comparison.json` with the ranking, and `comparison.csv` with a row per crawl.

`ComparisonResult` is what reports and tables show. It is read from `comparison.json`, so that they can be made again at
any time. Older files may lack curves, observations and the reproduce command. NaN is null in JSON.

Rules of the folder
- It may hold nothing but the files of a comparison. The folder of training pages is replaced by every run.
- Only one process at a time works in it.
- A new folder in which not even a crawl was stored is removed again.
- `comparison.json` is removed before anything is replaced, and written last: where it is, all files belong together.
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from scenthound.command_line import command_line, unless
from scenthound.errors import InvalidInput, printable
from scenthound.experiments.compare.comparison import StrategyComparison, compare_strategies
from scenthound.experiments.compare.ranking import MARGIN_SHARE, Mark, Placed, mark_of, row_name
from scenthound.experiments.compare.settings import ComparisonSettings
from scenthound.experiments.results import REPORT_FILE, Renderer, csv_number, csv_text, versions
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import Task
from scenthound.files import write_atomic
from scenthound.model import FloatArray, Progress, silent
from scenthound.records import to_json
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.store.folder import KNOWN_KINDS, ResultFolder, cannot_read, cannot_write

RANKING_FILE = "comparison.json"
TABLE_FILE = "comparison.csv"
CRAWLS_FOLDER = "crawls"
TRAINING_FOLDER = "training"
PICTURES = {f"{name}.{form}" for name in ("ranking", "sweep") for form in ("svg", "png")}
FILES = {RANKING_FILE, TABLE_FILE, REPORT_FILE, *PICTURES}
FOLDERS = {CRAWLS_FOLDER, TRAINING_FOLDER}


@contextmanager
def comparison_folder(out: Path, train_from: Path | None = None) -> Iterator[None]:
    """Create the folder of a comparison, or open it, and hold its lock. InvalidInput if it holds something else, or if
    the pages of `train_from` would be removed from it."""
    is_new = not os.path.lexists(out)
    if not is_new:
        _check(out)
    _check_training(out, train_from)
    _make(out)
    with ResultFolder(out, "comparison").hold():
        try:
            yield
        except BaseException:
            if is_new:
                _remove_if_unused(out)
            raise


def _check(out: Path) -> None:
    if not out.is_dir():
        raise InvalidInput(f"{printable(out)} is not a folder: choose another folder with --out.")
    try:
        found = sorted(entry.name for entry in out.iterdir() if not entry.name.startswith("."))
    except OSError as reason:
        raise InvalidInput(cannot_read(out, reason)) from None
    others = [name for name in found if not _is_ours(out, name)]
    if others:
        raise InvalidInput(
            f"{printable(out)} holds files that are not part of a comparison, such as {printable(others[0])}: choose "
            "another folder with --out."
        )


def _is_ours(out: Path, name: str) -> bool:
    path = out / name
    if name == RANKING_FILE:
        return path.is_file() and _has_format(path)
    if name == TRAINING_FOLDER:
        # It is written after the crawls, and is removed with all its content.
        return path.is_dir() and not path.is_symlink() and (out / CRAWLS_FOLDER).is_dir()
    return path.is_dir() if name in FOLDERS else name in FILES and path.is_file()


def _has_format(ranking: Path) -> bool:
    try:
        about = json.loads(ranking.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(about, dict) and about.get("format") == "scenthound comparison"


def _check_training(out: Path, train_from: Path | None) -> None:
    """Pages in the folder for training are made anew by every run."""
    if train_from is None:
        return
    folder = (out / TRAINING_FOLDER).resolve()
    if folder in (train_from.resolve(), *train_from.resolve().parents):
        raise InvalidInput(
            f"--train-from {printable(train_from)} is inside --out and would be removed: move it, or choose another "
            "folder with --out."
        )


def _make(out: Path) -> None:
    try:
        (out / CRAWLS_FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InvalidInput(cannot_write(out, reason)) from None
    if not os.access(out, os.W_OK):
        raise InvalidInput(cannot_write(out, PermissionError("permission denied")))


def _remove_if_unused(out: Path) -> None:
    with suppress(OSError):
        (out / CRAWLS_FOLDER).rmdir()
        out.rmdir()


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A row of the ranking; `low` and `high` are the interval of its difference to the best."""

    place: int
    strategy: str
    name: str  #: with the values of a sweep that share the row
    mean: float
    standard_error: float
    difference: float
    low: float
    high: float
    p_corrected: float
    mark: str
    precision: float
    recall: float
    gap_closed: float
    chosen_share: float
    cpu_us_per_page: float
    missing_per_page: float
    observations: FloatArray


@dataclass(frozen=True, slots=True)
class RankedContestant:
    """One that took part, and the place of its row."""

    strategy: str
    base: str
    swept: tuple[object, ...]
    place: int


@dataclass(frozen=True, slots=True)
class RankingCurves:
    """By row of the ranking and place on the axis; the bounds by place."""

    pages: FloatArray
    mean: FloatArray
    standard_error: FloatArray
    random: FloatArray
    oracle: FloatArray


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """A comparison as its file has it. `observed` names the single observations: topics, or the starts of one topic.
    `values` is the whole content of the file."""

    by: str
    lower_is_better: bool
    topics: tuple[str, ...]
    says: str
    rows: tuple[RankingRow, ...]
    contestants: tuple[RankedContestant, ...]
    sweeps: tuple[str, ...]
    observed: tuple[str, ...]
    curves: RankingCurves | None
    random: float
    oracle: float
    held_out: float
    topics_won: tuple[int, int, int] | None
    notes: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def metric(self) -> str:
        """The name of the metric, without the number of pages."""
        return self.by.partition("@")[0].replace("_", " ")

    @property
    def pages(self) -> int:
        """The number of pages after which the metric decides."""
        return int(self.by.rpartition("@")[2])


def read_comparison(folder: Path) -> ComparisonResult:
    """Read `comparison.json` of a folder; InvalidInput if there is none, or if it cannot be read."""
    values = ResultFolder.open(folder, kind="comparison").about
    try:
        return parse_comparison(values)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InvalidInput(f"{printable(folder / RANKING_FILE)} is corrupt: compare again.") from None


def parse_comparison(values: Mapping[str, Any]) -> ComparisonResult:
    """From the content of the file."""
    bounds, won = values["bounds"], values["topics_won"]
    return ComparisonResult(
        by=str(values["by"]),
        lower_is_better=bool(values["lower_is_better"]),
        topics=tuple(map(str, values["topics"])),
        says=str(values["says"]),
        rows=tuple(map(_row, values["ranking"])),
        contestants=tuple(map(_contestant, values.get("contestants", ()))),
        sweeps=tuple(map(str, values["sweeps"])),
        observed=tuple(map(str, values.get("observed", {}).get("names", ()))),
        curves=_read_curves(values["curves"]) if "curves" in values else None,
        random=_number(bounds["random"]),
        oracle=_number(bounds["oracle"]),
        held_out=_number(values["held_out"]),
        topics_won=(int(won["wins"]), int(won["ties"]), int(won["losses"])) if won else None,
        notes=tuple(map(str, values["notes"])),
        values=values,
    )


def _row(row: Mapping[str, Any]) -> RankingRow:
    difference = row["difference"] or {}
    return RankingRow(
        place=int(row["place"]),
        strategy=str(row["strategy"]),
        name=str(row.get("name", row["strategy"])),
        difference=_number(difference.get("mean")),
        low=_number(difference.get("low")),
        high=_number(difference.get("high")),
        mark=mark_of(str(row["mark"])),
        observations=_array(row.get("observations", ())),
        **{name: _number(row[name]) for name in _NUMBERS},
    )


_NUMBERS = (
    "mean",
    "standard_error",
    "p_corrected",
    "precision",
    "recall",
    "gap_closed",
    "chosen_share",
    "cpu_us_per_page",
    "missing_per_page",
)


def _contestant(each: Mapping[str, Any]) -> RankedContestant:
    return RankedContestant(str(each["strategy"]), str(each["base"]), tuple(each["swept"]), int(each["place"]))


def _read_curves(values: Mapping[str, Any]) -> RankingCurves:
    means, errors = (np.array([_array(row) for row in values[name]]) for name in ("mean", "standard_error"))
    return RankingCurves(_array(values["pages"]), means, errors, _array(values["random"]), _array(values["oracle"]))


def _array(values: Iterable[Any]) -> FloatArray:
    return np.array([_number(value) for value in values], np.float64)


def _number(value: Any) -> float:
    return nan if value is None else float(value)


def reproduce_command(done: StrategyComparison) -> str:
    """The `scenthound compare` command that repeats the comparison; empty if it cannot be written as a command line.
    Topics are listed by id, so that topics added to the file later change nothing."""
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


#: What the marks mean.
MARKS = {
    Mark.WORSE: "clearly worse than the best",
    Mark.ALIKE: f"as good as the best: shown to differ by less than {100 * MARGIN_SHARE:.0f} % of it",
    Mark.UNCLEAR: "not clear either way",
}
#: How to read the ranking.
READING = (
    "Differences are to the best, in pairs of crawls from the same start; intervals are 95 % BCa bootstrap intervals. "
    "p is of a permutation test, corrected by Holm's method for all comparisons with the best."
)


def as_json(done: StrategyComparison) -> dict[str, Any]:
    """The content of `comparison.json`: plain values, null for NaN."""
    experiment, columns = done.experiment, _Columns(done)
    values = {
        "format": KNOWN_KINDS["comparison"].format,
        "version": KNOWN_KINDS["comparison"].version,
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
    plain: dict[str, Any] = to_json(values)
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
    """The single observations of each row: a mean for each topic, or the starts of a single topic."""

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
    """All contestants, also those that share a row, in the order in which they were given."""
    rank_of = {each: placed.place for placed in done.ranking for each in (placed.contestant, *placed.also)}
    for each in done.contestants:
        yield {"strategy": each.spec, "base": each.base, "swept": list(each.swept), "place": rank_of[each]}


def _curves(done: StrategyComparison) -> dict[str, Any]:
    """The curves of the deciding metric, in the order of the ranking."""
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
    """One row for each strategy, topic and random seed; control characters in names are escaped."""
    header = ["strategy", "topic", "seed", done.by, "precision", "recall", "pages", "not_recorded"]
    return csv_text(header, _crawl_rows(done))


def _crawl_rows(done: StrategyComparison) -> Iterator[list[Any]]:
    measured = done.measured
    columns = (measured.values, measured.precision, measured.recall, measured.n_pages, measured.n_missing)
    for index, contestant in enumerate(done.contestants):
        for at, topic in enumerate(measured.topics):
            for seed in range(done.experiment.repeats):
                numbers = [csv_number(float(column[index, at, seed])) for column in columns]
                yield [printable(contestant.spec), printable(topic), seed, *numbers]


def compare_into(
    out: Path | None,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    *,
    render: Renderer[ComparisonResult] | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> StrategyComparison:
    """Compare strategies, and write the result to the folder `out`; without one, nothing is kept."""
    learnt_from = out / TRAINING_FOLDER if out is not None else None
    with _crawls_folder(out, setup, render) as crawls:
        done = compare_strategies(setup, settings, crawls, learnt_from=learnt_from, workers=workers, progress=progress)
        if out is not None:
            _write(done, out, render)
    return done


@contextmanager
def _crawls_folder(
    out: Path | None, setup: ExperimentSetup, render: Renderer[ComparisonResult] | None
) -> Iterator[Path]:
    if out is None:
        with TemporaryDirectory(prefix="scenthound-compare-") as folder:
            yield Path(folder)
        return
    if render is not None:
        render.check()
    with comparison_folder(out, setup.train_from):
        yield out / CRAWLS_FOLDER


def _write(done: StrategyComparison, out: Path, render: Renderer[ComparisonResult] | None) -> None:
    """Render everything before the result of an earlier run is touched."""
    values = as_json(done)
    contents = {TABLE_FILE: crawls_csv(done).encode("utf-8")}
    if render is not None:
        result = parse_comparison(values)
        contents |= render.files(result, out, render.figures(result, silent))
    training = done.model_pages.files() if done.model_pages else {}
    (out / RANKING_FILE).unlink(missing_ok=True)
    for name, content in contents.items():
        write_atomic(out / name, content)
    for name in {*PICTURES, REPORT_FILE}.difference(contents):
        (out / name).unlink(missing_ok=True)
    _write_training(training, out / TRAINING_FOLDER)
    ResultFolder(out, "comparison").write_json(RANKING_FILE, values)


def _write_training(texts: Mapping[str, str], folder: Path) -> None:
    """Replace the training pages of an earlier run."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / name, text.encode("utf-8"))
