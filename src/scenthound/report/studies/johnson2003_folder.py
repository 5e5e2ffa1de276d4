"""johnson2003 from files to a folder: searches, measurements, findings, figures, tables and the page that shows them.

The folder is that of other studies (`place`), with two more within it: `search/` has a folder for each search,
`measured/` what was measured of the crawls that judge. What is there already is not made again. In the place of
measures.csv and topics.csv it has `crawls.csv`, with a row for each crawl and length.
"""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from scenthound.lab.studies.finished import Timing
from scenthound.lab.studies.johnson2003.study import Johnson2003Study, run_johnson2003
from scenthound.lab.studies.settings import StudySettings
from scenthound.model import Progress, silent
from scenthound.report.page.html import page_html
from scenthound.report.studies.files import table_files
from scenthound.report.studies.folder import SHARE_OF_CRAWLS
from scenthound.report.studies.johnson2003_about import findings_values, study_page, study_values
from scenthound.report.studies.johnson2003_figures import FEATURE, DrawnFigure, draw_study
from scenthound.report.studies.page import page_of
from scenthound.report.studies.place import REPORT_FILE, SETTINGS_FILE, study_place, write_results
from scenthound.report.studies.settings_text import settings_toml
from scenthound.report.styles import require_figures
from scenthound.report.validations.files import CRAWLS_FILE, crawls_csv
from scenthound.store.crawl_web import open_web


def johnson2003_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Run the study, and leave all that came of it in the folder `out`. Run again, it does only what is new."""
    require_figures(FEATURE)
    with study_place(out, settings.study, open_web(web, progress).fingerprint):
        study = run_johnson2003(
            settings,
            web,
            topics,
            out,
            workers=workers,
            progress=lambda share, words: progress(SHARE_OF_CRAWLS * share, words),
        )
        before = perf_counter()
        progress(SHARE_OF_CRAWLS, "drawing figures")
        drawn = list(draw_study(study))
        timed = replace(study, timings=(*study.timings, Timing("drawing figures", perf_counter() - before)))
        _write(out, timed, drawn)
    progress(1.0, "done")
    return timed


def _write(out: Path, study: Johnson2003Study, drawn: list[DrawnFigure]) -> None:
    settings_text = settings_toml(study.settings)
    texts = {
        SETTINGS_FILE: settings_text,
        CRAWLS_FILE: crawls_csv(study.validation),
        REPORT_FILE: page_html(page_of(study_page(study, settings_text, out))),
    }
    texts |= table_files(study.tables)
    contents = {name: text.encode("utf-8") for name, text in texts.items()}
    for each in drawn:
        contents |= {f"figures/{each.name}.svg": each.svg, f"figures/{each.name}.png": each.png}
    write_results(out, contents, study_values(study), findings_values(study))
