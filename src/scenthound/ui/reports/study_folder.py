"""A study from files to a folder: crawls, measures, findings, figures, tables and the page that shows them."""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from scenthound.experiments.study.results import (
    CRAWLS_FOLDER,
    REPORT_FILE,
    SETTINGS_FILE,
    measures_csv,
    settings_toml,
    study_folder,
    table_files,
    topics_csv,
    write_results,
)
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.study.study import Study, Timing, run_study
from scenthound.model import Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import ResultFolder
from scenthound.ui.figures import figure_files, require_figures
from scenthound.ui.html import document_html
from scenthound.ui.reports.study import findings_values, study_figures, study_report, study_values

#: Of the progress that is told, crawling and judging have this share, drawing has the rest.
SHARE_OF_CRAWLS = 0.95


def study_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    cache: Path | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Study:
    """Run a study, and leave all that came of it in the folder `out`. Run again, it makes only crawls that are new.

    Crawls are kept in the folder `cache`, which several studies may share, or else within `out`.
    """
    require_figures("Drawing a study")
    with study_folder(out, settings.study, open_web(web, progress).fingerprint) as folder:
        study = run_study(
            settings,
            web,
            topics,
            cache or out / CRAWLS_FOLDER,
            workers=workers,
            progress=lambda share, words: progress(SHARE_OF_CRAWLS * share, words),
        )
        before = perf_counter()
        images = _images(study, progress)
        timed = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
        write_study(folder, timed, images)
    progress(1.0, "done")
    return timed


def _images(study: Study, progress: Progress) -> dict[str, bytes]:
    images: dict[str, bytes] = {}
    figures = study_figures(study)
    for number, figure in enumerate(figures):
        progress(SHARE_OF_CRAWLS + (1 - SHARE_OF_CRAWLS) * number / len(figures), f"drawing {figure.name}")
        images |= figure_files([figure], "figures/")
    return images


def write_study(folder: ResultFolder, study: Study, images: dict[str, bytes]) -> None:
    """Write all files but the crawls."""
    texts = {
        SETTINGS_FILE: settings_toml(study.settings),
        "measures.csv": measures_csv(study.arms),
        "topics.csv": topics_csv(study.arms),
        REPORT_FILE: document_html(study_report(study, folder.path)),
        **table_files(study.tables),
    }
    contents = {name: text.encode("utf-8") for name, text in texts.items()}
    write_results(folder, contents | images, study_values(study), findings_values(study))
