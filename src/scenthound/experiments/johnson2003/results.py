"""The result of johnson2003 as files.

The folder is that of other studies with two more folders: `search/` has one for each search, `measured/` the measured
rounds. Instead of measures.csv and topics.csv it has `crawls.csv`, with a row for each crawl and length.
"""

from pathlib import Path
from typing import Any

from scenthound.experiments.johnson2003.study import Johnson2003Study, run_johnson2003
from scenthound.experiments.results import Renderer
from scenthound.experiments.study.results import StudyFiles, common_findings, common_values, run_into
from scenthound.experiments.study.settings import StudySettings
from scenthound.experiments.validate.results import CRAWLS_FILE, crawls_csv
from scenthound.experiments.validate.results import READING as READING_A_VALIDATION
from scenthound.model import Progress, silent

READING = (
    f"{READING_A_VALIDATION} Whether a topic is dense is decided separately among the topics searched on and among the "
    "unseen ones."
)


def study_values(study: Johnson2003Study) -> dict[str, Any]:
    """The values of `study.json`."""
    settings = study.validation.settings
    return common_values(study) | {
        "strategies": dict(zip(study.labels, settings.all_strategies, strict=True)),
        "searches": [_search_values(study, at) for at in range(len(study.searches))],
        "topics": {"searched_on": [topic.id for topic in settings.trained], "unseen": [t.id for t in settings.unseen]},
        "page_budgets": list(settings.budgets),
    }


def _search_values(study: Johnson2003Study, at: int) -> dict[str, Any]:
    search = study.searches[at]
    evolution = search.evolution
    return {
        "topic": search.topic,
        "folder": evolution.folder.name,
        "individuals": evolution.summary.n_evaluated,
        "crawled_for": evolution.n_evaluated,
        "visits": evolution.n_visits,
        "visits_now": evolution.n_visits_now,
        "best_fitness": evolution.best.fitness,
    }


def findings_values(study: Johnson2003Study) -> dict[str, Any]:
    """The values of `findings.json`."""
    return common_findings(study, len(study.validation.settings.topics), f"{study.names_told} {READING}")


def johnson2003_into(
    out: Path,
    settings: StudySettings,
    web: Path,
    topics: Path,
    *,
    render: Renderer[Johnson2003Study] | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> Johnson2003Study:
    """Run the study, and write the result to the folder `out`. Run again, it only does what is missing."""

    def run(part: Progress) -> Johnson2003Study:
        return run_johnson2003(settings, web, topics, out, workers=workers, progress=part)

    files = StudyFiles(lambda study: {CRAWLS_FILE: crawls_csv(study.validation)}, study_values, findings_values)
    return run_into(out, settings, web, run, files, render=render, progress=progress)
