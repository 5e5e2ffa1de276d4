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

from scenthound.files import write_whole
from scenthound.lab.comparing.comparison import StrategyComparison, compare_strategies
from scenthound.lab.comparing.settings import ComparisonSettings
from scenthound.lab.topic_choice import TopicChoice
from scenthound.model import Progress, silent
from scenthound.report.comparisons.figures import FEATURE, ranking_figure, sweep_figure
from scenthound.report.comparisons.files import as_json, crawls_csv
from scenthound.report.comparisons.page import comparison_page
from scenthound.report.comparisons.place import (
    CRAWLS_FOLDER,
    PICTURES,
    RANKING_FILE,
    REPORT_FILE,
    TABLE_FILE,
    TRAINING_FOLDER,
    comparison_place,
)
from scenthound.report.comparisons.told import told_comparison
from scenthound.report.json_text import json_text
from scenthound.report.page.html import page_html
from scenthound.report.styles import picture_bytes, require_figures


def compare_into(
    out: Path | None,
    web: Path,
    topics: TopicChoice,
    settings: ComparisonSettings,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> StrategyComparison:
    """Compare, and leave all that came of it in the folder `out`; without one, crawls are kept nowhere."""
    learnt_from = out / TRAINING_FOLDER if out is not None else None
    with _crawls_of(out, settings) as crawls:
        done = compare_strategies(
            web, topics, settings, crawls, learnt_from=learnt_from, workers=workers, progress=progress
        )
        if out is not None:
            _write(done, out)
    return done


@contextmanager
def _crawls_of(out: Path | None, settings: ComparisonSettings) -> Iterator[Path]:
    if out is None:
        with TemporaryDirectory(prefix="scenthound-compare-") as folder:
            yield Path(folder)
        return
    require_figures(FEATURE)
    with comparison_place(out, settings.train_from):
        yield out / CRAWLS_FOLDER


def _write(done: StrategyComparison, out: Path) -> None:
    values = as_json(done)
    ranking = (json_text(values, indent=1) + "\n").encode("utf-8")
    page = page_html(comparison_page(told_comparison(values)))
    texts = {TABLE_FILE: crawls_csv(done), REPORT_FILE: page}
    contents = {**{name: text.encode("utf-8") for name, text in texts.items()}, **_pictures(done)}
    training = done.guide_pages.files() if done.guide_pages else {}
    (out / RANKING_FILE).unlink(missing_ok=True)
    for name, content in contents.items():
        write_whole(out / name, content)
    for name in PICTURES.difference(contents):
        (out / name).unlink(missing_ok=True)
    _write_training(training, out / TRAINING_FOLDER)
    write_whole(out / RANKING_FILE, ranking)


def _write_training(texts: Mapping[str, str], folder: Path) -> None:
    """Pages of an earlier run would teach the guide something else."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode("utf-8"))


def _pictures(done: StrategyComparison) -> dict[str, bytes]:
    figures = {"ranking": ranking_figure(done)}
    if done.settings.sweeps:
        figures["sweep"] = sweep_figure(done)
    return {
        f"{name}.{form}": picture_bytes(figure, form) for name, figure in figures.items() for form in ("svg", "png")
    }
