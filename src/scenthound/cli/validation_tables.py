"""The tables of a validation: what was measured, and what that says of the study's findings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import typer

from scenthound.cli.tables import print_table
from scenthound.cli.terminal import say
from scenthound.experiments.statistics import spread_told
from scenthound.experiments.validate.crawls import MEASURES, SEED_SETS
from scenthound.ui.reports.validation_folder import READING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenthound.experiments.statistics import Effect, PairedSample
    from scenthound.experiments.validate.validation import ValidatedFinding, Validation

#: What the second table shows, under heads that are short enough for a column.
OTHER_MEASURES = {
    "precision": "precision",
    "recall": "recall",
    "community_cohesiveness": "community cohesive",
    "overall_cohesiveness": "overall cohesive",
    "mean_distance": "mean links away",
    "maximum_distance": "most links away",
}


def print_validation(validation: Validation) -> None:
    """Who is who, for each group of topics what was measured, the verdicts, and what a reader must know."""
    for note in validation.notes:
        typer.echo(f"Note: {note}")
    for label, strategy in zip(validation.settings.labels, validation.settings.all_strategies, strict=True):
        typer.echo(f"{label}: {strategy}")
    last = len(validation.settings.budgets) - 1
    for group, topics in validation.settings.groups().items():
        told = f"{_told(validation, topics)} {group}"
        at = {f"@{budget}": ("fitness", place) for place, budget in enumerate(validation.settings.budgets)}
        _print_measures(validation, f"{MEASURES['fitness']}, {told}", topics, at)
        others = {head: (name, last) for name, head in OTHER_MEASURES.items()}
        _print_measures(validation, f"after {validation.settings.budgets[last]:,} pages, {told}", topics, others)
    for strategy in validation.settings.strategies:
        _print_findings(validation, strategy)
    say(f"Effects are differences to {validation.settings.against}. {READING}")


def _print_measures(
    validation: Validation, title: str, topics: Sequence[int], columns: Mapping[str, tuple[str, int]]
) -> None:
    """A row for each strategy and seed set; a column is a measure at the place of a budget."""
    measured = validation.measurements
    rows: dict[tuple[str, str], list[PairedSample]] = {
        (label, seed_set): [measured.sample(name, place, topics, seed_set, at) for name, at in columns.values()]
        for place, label in enumerate(validation.settings.labels)
        for seed_set in SEED_SETS
    }
    told = spread_told(sample for samples in rows.values() for sample in samples)
    cells = [[*row, *map(_shown, samples)] for row, samples in rows.items()]
    print_table(f"{title}: {told}", ["", "seed set", *columns], cells, n_words=2)


def _told(validation: Validation, topics: Sequence[int]) -> str:
    if len(topics) == 1:
        return f"topic {validation.settings.topics[topics[0]].id}"
    return f"{len(topics)} topics"


def _shown(sample: PairedSample) -> str:
    if math.isnan(sample.mean):
        return "-"
    error = sample.standard_error
    return f"{sample.mean:.3f}" if math.isnan(error) else f"{sample.mean:.3f} ± {error:.3f}"


def _print_findings(validation: Validation, strategy: str) -> None:
    print_table(
        f"findings of johnson2003 by {strategy}",
        ["finding", "topics", "claim", "effect", "95 % interval", "over", "corrected p", "verdict"],
        [row for finding in validation.findings if finding.strategy == strategy for row in _rows(finding)],
        n_words=3,
    )


def _rows(finding: ValidatedFinding) -> list[list[str]]:
    """A line for each claim; what they come to stands in the first, if there are several."""
    claims = [
        ["", "", claim.says, *_interval(claim.effect), _p(claim.p_corrected), str(claim.verdict)]
        for claim in finding.claims
    ]
    head = [finding.name, finding.topics or "-"]
    if len(claims) == 1:
        return [[*head, *claims[0][2:]]]
    return [[*head, "all of:", "", "", "", "", str(finding.verdict)], *claims]


def _p(p_corrected: float) -> str:
    return "" if math.isnan(p_corrected) else f"{p_corrected:.3g}"


def _interval(effect: Effect | None) -> list[str]:
    if effect is None:
        return ["", "", ""]
    low, high = effect.low, effect.high
    interval = "-" if math.isnan(low) else f"{low:+.4f} to {high:+.4f}"
    n_units = effect.n_topics if effect.over == "topics" else effect.n_seeds
    units = effect.over if n_units != 1 else effect.over.removesuffix("s")
    return ["-" if math.isnan(effect.mean) else f"{effect.mean:+.4f}", interval, f"{n_units} {units}"]
