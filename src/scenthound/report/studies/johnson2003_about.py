"""What there is to say of a run of johnson2003: in `study.json`, in `findings.json`, and on the page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenthound.lab.studies.johnson2003.study import Johnson2003Study
from scenthound.report.studies.about import all_facts, common_findings, common_values, repeat_command, verdict_lines
from scenthound.report.studies.johnson2003_charts import figure_sections, win_losses
from scenthound.report.studies.page import StudyPage
from scenthound.report.studies.words import verdicts_told
from scenthound.report.validations.files import READING as READING_A_VALIDATION

#: What a reader of the findings must know.
READING = (
    f"{READING_A_VALIDATION} Which topics are dense is told among the topics searched on by themselves, and among the "
    "unseen ones."
)


def study_values(study: Johnson2003Study) -> dict[str, Any]:
    """Plain values for `study.json`."""
    settings = study.validation.settings
    return common_values(study) | {
        "strategies": dict(zip(study.labels, settings.all_strategies, strict=True)),
        "searches": [_search(study, place) for place in range(len(study.searches))],
        "topics": {"searched_on": [topic.id for topic in settings.trained], "unseen": [t.id for t in settings.unseen]},
        "page_budgets": list(settings.budgets),
    }


def _search(study: Johnson2003Study, place: int) -> dict[str, Any]:
    search = study.searches[place]
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
    """Plain values for `findings.json`."""
    return common_findings(study, len(study.validation.settings.topics), f"{study.names_told} {READING}")


def study_page(study: Johnson2003Study, settings_text: str, out: Path) -> StudyPage:
    """The page of the study, whose folder is `out`."""
    return StudyPage(
        title=f"{study.settings.study}: {study.settings.title}",
        summary=(
            f"{verdicts_told(study.findings)}.",
            study.names_told,
            *verdict_lines(study.findings),
            _setting_told(study),
        ),
        findings=study.findings,
        figures=tuple(figure_sections(study)),
        won=tuple(win_losses(study)),
        tables=study.tables,
        notes=tuple(note for note in study.notes if note != study.names_told),
        facts=tuple(all_facts(study, _facts(study))),
        reading=READING,
        settings=settings_text,
        command=repeat_command(study, out),
    )


def _setting_told(study: Johnson2003Study) -> str:
    settings = study.validation.settings
    budgets = ", ".join(f"{budget:,}" for budget in settings.budgets)
    n_searched, n_unseen = len(settings.trained), len(settings.unseen)
    return (
        f"On the recorded web {study.web.name}, {study.n_pages:,} pages: {n_searched} topics searched on and "
        f"{n_unseen} unseen ones, {settings.n_seeds} random seeds, crawls of {budgets} pages from two seed sets, "
        f"{study.n_crawls:,} crawls in all."
    )


def _facts(study: Johnson2003Study) -> Iterator[tuple[str, str]]:
    for label, spec in zip(study.labels, study.validation.settings.all_strategies, strict=True):
        yield f"strategy {label}", spec
