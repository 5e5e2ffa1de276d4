"""A comparison from files to a folder: ranking, table of crawls, pictures; crawls are kept for the next run.

comparison.json  removed first and written last: where it is, all files belong together
comparison.csv, ranking.svg, ranking.png; of a sweep also sweep.svg, sweep.png
training/        the pages that the winner's guide learnt from, if it did: made anew by every run
crawls/          the crawls that were made, so that the next run need not make them
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from scenthound.errors import BadInput, printable
from scenthound.files import write_whole
from scenthound.lab.comparing.comparison import StrategyComparison, compare_strategies
from scenthound.lab.comparing.guide_pages import GuidePages
from scenthound.lab.comparing.settings import ComparisonSettings
from scenthound.lab.topic_choice import TopicChoice
from scenthound.model import Progress, silent
from scenthound.report.compare_figures import FEATURE, ranking_figure, sweep_figure
from scenthound.report.compare_files import as_json, crawls_csv
from scenthound.report.json_text import json_text
from scenthound.report.styles import picture_bytes, require_figures

RANKING_FILE = "comparison.json"
TABLE_FILE = "comparison.csv"
CRAWLS_FOLDER = "crawls"
TRAINING_FOLDER = "training"
PICTURES = {f"{name}.{form}" for name in ("ranking", "sweep") for form in ("svg", "png")}
OWN_NAMES = {RANKING_FILE, TABLE_FILE, CRAWLS_FOLDER, TRAINING_FOLDER, *PICTURES}


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
    if out is not None:
        require_figures(FEATURE)
        _check_place(out)
    with _crawls_of(out) as crawls:
        learnt_from = out / TRAINING_FOLDER if out is not None else None
        done = compare_strategies(
            web, topics, settings, crawls, learnt_from=learnt_from, workers=workers, progress=progress
        )
    if out is not None:
        _write(done, out)
    return done


@contextmanager
def _crawls_of(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out / CRAWLS_FOLDER
        return
    with TemporaryDirectory(prefix="scenthound-compare-") as folder:
        yield Path(folder)


def _check_place(out: Path) -> None:
    """A folder with anything else in it is not ours to write into."""
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise BadInput(f"{printable(out)} is no folder: choose another --out.")
    others = sorted({entry.name for entry in out.iterdir() if not entry.name.startswith(".")} - OWN_NAMES)
    if others:
        raise BadInput(
            f"{printable(out)} has something else in it than a comparison, {printable(others[0])} for one: "
            "choose another --out."
        )


def _write(done: StrategyComparison, out: Path) -> None:
    (out / RANKING_FILE).unlink(missing_ok=True)
    pictures = _pictures(done)
    for name, content in {TABLE_FILE: crawls_csv(done).encode("utf-8"), **pictures}.items():
        write_whole(out / name, content)
    for name in PICTURES - set(pictures):
        (out / name).unlink(missing_ok=True)
    _write_training(done.guide_pages, out / TRAINING_FOLDER)
    write_whole(out / RANKING_FILE, (json_text(as_json(done), indent=1) + "\n").encode("utf-8"))


def _write_training(pages: GuidePages | None, folder: Path) -> None:
    """Pages of an earlier run would teach the guide something else."""
    if folder.exists():
        shutil.rmtree(folder)
    if pages is None:
        return
    for name, text in pages.files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, text.encode("utf-8"))


def _pictures(done: StrategyComparison) -> dict[str, bytes]:
    figures = {"ranking": ranking_figure(done)}
    if done.settings.sweeps:
        figures["sweep"] = sweep_figure(done)
    return {
        f"{name}.{form}": picture_bytes(figure, form) for name, figure in figures.items() for form in ("svg", "png")
    }
