"""Validation of evolved strategies, paired with Best-First, on topics trained on and unseen (johnson2003 section 3).

From files to measurements and verdicts; `report/validations/folder` writes them down.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.lab.planning import plan
from scenthound.lab.starts import Start, Starts, check_seeds
from scenthound.lab.validating.crawls import measured_rounds
from scenthound.lab.validating.measurements import Measurements
from scenthound.lab.validating.settings import ValidationSettings, check_large, fitting_budgets
from scenthound.lab.validating.topics import TopicsWanted, chosen_topics, record_notes, trained_on, untrained_notes
from scenthound.lab.validating.verdicts import ValidatedFinding, findings
from scenthound.model import Progress, silent
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.evolved import Evolved
from scenthound.strategies.rank_function import RankFunction
from scenthound.topics.files import read_topics


@dataclass(frozen=True, slots=True)
class Validation:
    """What a validation came to. `starts` are the large seed sets, in the order of the topics."""

    settings: ValidationSettings
    web: Path
    web_fingerprint: str
    n_pages: int
    starts: tuple[Start, ...]
    measurements: Measurements
    findings: tuple[ValidatedFinding, ...]
    notes: tuple[str, ...]


def prepared(
    web: Path, wanted: TopicsWanted, wished: ValidationSettings, progress: Progress = silent
) -> tuple[RecordedWeb, ValidationSettings, tuple[str, ...]]:
    """The web, the settings with its topics and with budgets that fit it, and what there is to say about that.

    `wished` has no topics yet. `web` is a recorded web, or a live crawl, whose pages are then recorded first.
    """
    recorded = open_web(web, progress)
    check_large(wished, recorded)
    listed = {topic.id: topic for topic in read_topics(wanted.file)}
    records = trained_on(wished.all_strategies)
    taken = chosen_topics(wanted, listed, records, Starts(recorded, n_start=wished.n_large))
    budgets = fitting_budgets(wished.budgets, recorded.n_pages)
    settings = replace(wished, trained=taken.trained, unseen=taken.unseen, other_topics=taken.others, budgets=budgets)
    trained = [topic.id for topic in taken.trained]
    of_records = (
        *record_notes(records, listed, recorded.fingerprint),
        *untrained_notes(wished.strategies, trained, records),
    )
    return recorded, settings, (*_notes(wished, budgets, recorded.n_pages), *of_records, *taken.notes)


def _notes(wished: ValidationSettings, budgets: tuple[int, ...], n_pages: int) -> list[str]:
    notes = []
    if budgets != wished.budgets:
        shown = ", ".join(f"{budget:,}" for budget in budgets)
        notes.append(
            f"The web has {n_pages:,} pages, of which the longest crawl may take half, so crawls of {shown} pages "
            "stand for those asked for."
        )
    for strategy in wished.strategies:
        made = STRATEGIES.make(strategy)
        if isinstance(made, RankFunction) and made.threshold != wished.threshold:
            notes.append(
                f"{strategy} calls pages good from a relevance of {made.threshold} on; it is judged by those from "
                f"{wished.threshold} on."
            )
        if made.guide != wished.relevance and isinstance(made, Evolved):
            notes.append(f"{strategy} was evolved with the guide {made.guide}; here {wished.relevance} guides it.")
    return notes


def validate(
    recorded: RecordedWeb,
    settings: ValidationSettings,
    *,
    notes: tuple[str, ...] = (),
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Make all crawls, measure them, and put the findings of the study to the test."""
    planned = plan(settings.experiment(recorded), recorded)
    for _, start in planned:
        check_seeds(start, settings.budgets[0], "--large")
    rounds = measured_rounds(recorded, settings, planned, workers=workers, progress=progress)
    measurements = Measurements.of(settings, rounds)
    return Validation(
        settings=settings,
        web=(recorded.path or Path()).resolve(),
        web_fingerprint=recorded.fingerprint,
        n_pages=recorded.n_pages,
        starts=tuple(start for _, start in planned),
        measurements=measurements,
        findings=tuple(findings(settings, measurements)),
        notes=notes,
    )
