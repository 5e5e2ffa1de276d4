"""What a study came to, on the terminal: a line for each finding, what there is to note, and how long it took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from scenthound.cli.tables import print_table
from scenthound.cli.terminal import say
from scenthound.errors import printable
from scenthound.ui.reports.study import deciding_claim, effect_told, interval_told, p_told, protocol_told, side_by_side
from scenthound.ui.reports.study_about import verdict_lines

if TYPE_CHECKING:
    from pathlib import Path

    from scenthound.experiments.findings import Finding
    from scenthound.experiments.study.study import FinishedStudy

HEADS = ["finding", "says", "protocol", "verdict", "effect", "95 % interval", "corrected p"]
PROTOCOL = HEADS.index("protocol")
#: Columns that are words.
N_WORDS = 4


def print_study(study: FinishedStudy, out: Path) -> None:
    for note in study.notes:
        say(f"Note: {printable(note)}")
    _print_findings(study)
    for line in verdict_lines(study.findings):
        say(line)
    say("Effect, interval and p are those of the first claim with the verdict of its finding; the report has all.")
    say(_cost_told(study))
    typer.echo(f"Report: {printable(out / 'report.html')}")


def _print_findings(study: FinishedStudy) -> None:
    """Without the column of protocols where all findings have the same one."""
    told = side_by_side(study.findings)
    is_shown = [place != PROTOCOL or _has_protocols(study) for place in range(len(HEADS))]
    rows = [[cell for cell, shown in zip(_row(each), is_shown, strict=True) if shown] for each in told]
    heads = [head for head, shown in zip(HEADS, is_shown, strict=True) if shown]
    title = f"findings of {study.settings.study}"
    print_table(title, heads, rows, n_words=N_WORDS - is_shown.count(False))


def _has_protocols(study: FinishedStudy) -> bool:
    return any(finding.protocol for finding in study.findings)


def _row(finding: Finding) -> list[str]:
    claim = deciding_claim(finding)
    effect = None if claim is None else claim.effect
    p = p_told(float("nan") if claim is None else claim.p_corrected)
    head = [finding.name, finding.says, protocol_told(finding.protocol), str(finding.verdict)]
    return [*head, effect_told(effect), interval_told(effect), p]


def _cost_told(study: FinishedStudy) -> str:
    parts = "; ".join(f"{timing.part} {timing.seconds:,.1f} s" for timing in study.timings)
    total_s = sum(timing.seconds for timing in study.timings)
    n_kept = study.n_crawls - study.n_made
    crawls = f"{study.n_made:,} crawls made" + (f", {n_kept:,} found ready" if n_kept else "")
    return f"{crawls}. {total_s:,.1f} s in all: {parts}."
