"""A study from files to a folder: crawls, measures, findings, figures, tables and the page that shows them."""

from dataclasses import dataclass, replace
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
from scenthound.experiments.study.tables import Picture
from scenthound.model import Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import ResultFolder
from scenthound.ui.figures import picture_bytes, require_figures
from scenthound.ui.html import page_html
from scenthound.ui.reports.study import page_of
from scenthound.ui.reports.study_about import FEATURE, draw_picture, findings_values, study_page, study_values

#: Of the progress that is told, crawling and judging have this share, drawing has the rest.
SHARE_OF_CRAWLS = 0.95


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture in both formats."""

    picture: Picture
    svg: bytes
    png: bytes


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
    require_figures(FEATURE)
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
        drawn = _drawn(study, progress)
        timed = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
        write_study(folder, timed, drawn)
    progress(1.0, "done")
    return timed


def _drawn(study: Study, progress: Progress) -> list[DrawnPicture]:
    drawn: list[DrawnPicture] = []
    for picture in study.pictures:
        share = SHARE_OF_CRAWLS + (1 - SHARE_OF_CRAWLS) * len(drawn) / len(study.pictures)
        progress(share, f"drawing {picture.name}")
        figure = draw_picture(picture, study.arms)
        drawn.append(DrawnPicture(picture, picture_bytes(figure, "svg"), picture_bytes(figure, "png")))
    return drawn


def write_study(folder: ResultFolder, study: Study, drawn: list[DrawnPicture]) -> None:
    """Write all files but the crawls."""
    settings_text = settings_toml(study.settings)
    texts = {
        SETTINGS_FILE: settings_text,
        "measures.csv": measures_csv(study.arms),
        "topics.csv": topics_csv(study.arms),
        REPORT_FILE: page_html(page_of(study_page(study, settings_text, folder.path))),
    }
    texts |= table_files(study.tables)
    contents = {name: text.encode("utf-8") for name, text in texts.items()}
    for each in drawn:
        contents |= {f"figures/{each.picture.name}.svg": each.svg, f"figures/{each.picture.name}.png": each.png}
    write_results(folder, contents, study_values(study), findings_values(study))
