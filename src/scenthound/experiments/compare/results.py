"""The result of a comparison as files: `comparison.json` with the result, and `comparison.csv` with a row per crawl.

Rules of the folder
- It may hold nothing but the files of a comparison. The folder of training pages is replaced by every run.
- Only one process at a time works in it.
- A new folder in which not even a crawl was stored is removed again.
- `comparison.json` is removed before anything is replaced, and written last: where it is, all files belong together.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.compare.comparison import ComparisonResult, StrategyComparison, compare_strategies
from scenthound.experiments.compare.settings import ComparisonSettings
from scenthound.experiments.results import REPORT_FILE, Renderer, csv_number, csv_text, replace_files
from scenthound.experiments.setup import ExperimentSetup
from scenthound.model import Progress, silent
from scenthound.processes import WorkersLike
from scenthound.store.folder import ResultFolder, cannot_read, cannot_write, is_kind

RESULT_FILE = "comparison.json"
TABLE_FILE = "comparison.csv"
CRAWLS_FOLDER = "crawls"
TRAINING_FOLDER = "training"
#: The figure, and those that version 0.8 drew.
FIGURES = {f"{name}.{form}" for name in ("curves", "ranking", "sweep") for form in ("svg", "png")}


def read_comparison(folder: Path) -> ComparisonResult:
    """Read `comparison.json` of a folder; InvalidInput if there is none, or if it cannot be read."""
    return ResultFolder.open(folder, kind="comparison").read_json(RESULT_FILE, ComparisonResult)


@contextmanager
def comparison_folder(out: Path, train_from: Path | None = None) -> Iterator[None]:
    """Create the folder of a comparison, or open it, and hold its lock. InvalidInput if it holds something else, or if
    the pages of `train_from` would be removed from it."""
    is_new = not os.path.lexists(out)
    if not is_new:
        _check_content(out)
    if train_from is not None:
        training = train_from.resolve()
        if (out / TRAINING_FOLDER).resolve() in (training, *training.parents):
            raise InvalidInput(
                f"--train-from {printable(train_from)} is inside --out and would be removed: move it, or choose "
                "another folder with --out."
            )
    try:
        (out / CRAWLS_FOLDER).mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InvalidInput(cannot_write(out, reason)) from None
    if not os.access(out, os.W_OK):
        raise InvalidInput(cannot_write(out, PermissionError("permission denied")))
    with ResultFolder(out, "comparison").hold():
        try:
            yield
        except BaseException:
            if is_new:
                with suppress(OSError):
                    (out / CRAWLS_FOLDER).rmdir()
                    out.rmdir()
            raise


def _check_content(out: Path) -> None:
    if not out.is_dir():
        raise InvalidInput(f"{printable(out)} is not a folder: choose another folder with --out.")
    try:
        found = sorted(entry.name for entry in out.iterdir() if not entry.name.startswith("."))
    except OSError as reason:
        raise InvalidInput(cannot_read(out, reason)) from None
    foreign = next((name for name in found if not _is_ours(out, name)), None)
    if foreign is not None:
        raise InvalidInput(
            f"{printable(out)} holds files that are not part of a comparison, such as {printable(foreign)}: choose "
            "another folder with --out."
        )


def _is_ours(out: Path, name: str) -> bool:
    path = out / name
    if name == RESULT_FILE:
        return is_kind(out, "comparison")
    if name == TRAINING_FOLDER:
        # It is written after the crawls, and is removed with all its content.
        return path.is_dir() and not path.is_symlink() and (out / CRAWLS_FOLDER).is_dir()
    return path.is_dir() if name == CRAWLS_FOLDER else name in {TABLE_FILE, REPORT_FILE, *FIGURES} and path.is_file()


def compare_into(
    out: Path | None,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    *,
    render: Renderer[ComparisonResult] | None = None,
    workers: WorkersLike = None,
    progress: Progress = silent,
) -> ComparisonResult:
    """Compare strategies, and write the result to the folder `out`; without one, nothing is kept."""
    if out is None:
        with TemporaryDirectory(prefix="scenthound-compare-") as crawls:
            return compare_strategies(setup, settings, Path(crawls), workers=workers, progress=progress).result
    if render is not None:
        render.check()
    with comparison_folder(out, setup.train_from):
        done = compare_strategies(
            setup,
            settings,
            out / CRAWLS_FOLDER,
            training_folder=out / TRAINING_FOLDER,
            workers=workers,
            progress=progress,
        )
        _write(done, out, render)
    return done.result


def _write(done: StrategyComparison, out: Path, render: Renderer[ComparisonResult] | None) -> None:
    """Render everything before the result of an earlier run is touched."""
    contents = {TABLE_FILE: crawls_csv(done).encode("utf-8")}
    if render is not None:
        contents |= render.files(done.result, out, render.figures(done.result, silent))
    if done.model_pages is not None:
        texts = done.model_pages.files().items()
        contents |= {f"{TRAINING_FOLDER}/{name}": text.encode("utf-8") for name, text in texts}
    (out / RESULT_FILE).unlink(missing_ok=True)
    if (out / TRAINING_FOLDER).exists():
        shutil.rmtree(out / TRAINING_FOLDER)
    replace_files(out, contents, FIGURES | {REPORT_FILE})
    ResultFolder(out, "comparison").write_json(RESULT_FILE, done.result)


def crawls_csv(done: StrategyComparison) -> str:
    """One row for each strategy, topic and random seed; control characters in names are escaped."""
    header = ["strategy", "topic", "seed", done.result.by, "precision", "recall", "pages", "not_recorded"]
    measured = done.measured
    columns = (measured.values, measured.precision, measured.recall, measured.n_pages, measured.n_missing)
    rows = (
        [printable(crawler.spec), printable(topic), k, *(csv_number(float(column[i, j, k])) for column in columns)]
        for i, crawler in enumerate(done.crawlers)
        for j, topic in enumerate(measured.topics)
        for k in range(done.experiment.repeats)
    )
    return csv_text(header, rows)
