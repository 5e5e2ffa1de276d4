"""A comparison from files to a folder: ranking, table of crawls, pictures, page; crawls are kept for the next run.

comparison.json  removed before anything is written, and written last: where it is, all files belong together
report.html      the page that shows it all
comparison.csv, ranking.svg, ranking.png; of a sweep also sweep.svg, sweep.png
training/        the pages that the winner's guide learnt from, if it did: made anew by every run
crawls/          the crawls that were made, so that the next run need not make them

All is drawn and told before the result of an earlier run is touched.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from scenthound.experiments.compare.comparison import StrategyComparison, compare_strategies
from scenthound.experiments.compare.results import (
    CRAWLS_FOLDER,
    PICTURES,
    RANKING_FILE,
    REPORT_FILE,
    TABLE_FILE,
    TRAINING_FOLDER,
    ComparisonResult,
    as_json,
    comparison_folder,
    crawls_csv,
    parse_comparison,
)
from scenthound.experiments.compare.settings import ComparisonSettings
from scenthound.experiments.setup import ExperimentSetup
from scenthound.files import write_atomic
from scenthound.model import Progress, silent
from scenthound.ui.figures import Format, figure_files, image_bytes, require_figures
from scenthound.ui.formats import json_text
from scenthound.ui.html import document_html
from scenthound.ui.reports.comparison import comparison_report, draw_ranking, sweep_figure


def compare_into(
    out: Path | None,
    setup: ExperimentSetup,
    settings: ComparisonSettings,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> StrategyComparison:
    """Compare, and leave all that came of it in the folder `out`; without one, crawls are kept nowhere."""
    learnt_from = out / TRAINING_FOLDER if out is not None else None
    with _crawls_of(out, setup) as crawls:
        done = compare_strategies(setup, settings, crawls, learnt_from=learnt_from, workers=workers, progress=progress)
        if out is not None:
            _write(done, out)
    return done


@contextmanager
def _crawls_of(out: Path | None, setup: ExperimentSetup) -> Iterator[Path]:
    if out is None:
        with TemporaryDirectory(prefix="scenthound-compare-") as folder:
            yield Path(folder)
        return
    require_figures("Drawing a comparison")
    with comparison_folder(out, setup.train_from):
        yield out / CRAWLS_FOLDER


def _write(done: StrategyComparison, out: Path) -> None:
    values = as_json(done)
    ranking = (json_text(values, indent=1) + "\n").encode("utf-8")
    compared = parse_comparison(values)
    texts = {TABLE_FILE: crawls_csv(done), REPORT_FILE: document_html(comparison_report(compared))}
    contents = {**{name: text.encode("utf-8") for name, text in texts.items()}, **_images(compared)}
    training = done.model_pages.files() if done.model_pages else {}
    (out / RANKING_FILE).unlink(missing_ok=True)
    for name, content in contents.items():
        write_atomic(out / name, content)
    for name in PICTURES.difference(contents):
        (out / name).unlink(missing_ok=True)
    _write_training(training, out / TRAINING_FOLDER)
    write_atomic(out / RANKING_FILE, ranking)


def _write_training(texts: Mapping[str, str], folder: Path) -> None:
    """Pages of an earlier run would teach the guide something else."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / name, text.encode("utf-8"))


def _images(compared: ComparisonResult) -> dict[str, bytes]:
    drawing = draw_ranking(compared)
    forms: tuple[Format, ...] = ("svg", "png")
    ranking = {f"ranking.{form}": image_bytes(drawing, form) for form in forms}
    return ranking | (figure_files([sweep_figure(compared)]) if compared.sweeps else {})
