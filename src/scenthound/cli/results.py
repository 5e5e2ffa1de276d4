"""What `evaluate`, `compare`, `study` and `validate` print; the tables are those of the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from scenthound import jit
from scenthound.errors import printable
from scenthound.ui.terminal import filled_command, print_table, say

if TYPE_CHECKING:
    from pathlib import Path

    from scenthound.experiments.compare.comparison import StrategyComparison
    from scenthound.experiments.evaluate import Evaluation
    from scenthound.experiments.study.study import FinishedStudy
    from scenthound.experiments.validate.validation import Validation


def print_compiled_code() -> None:
    """Whether compiled code made crawls of this run."""
    typer.echo(f"Compiled code: {'yes' if jit.was_used() else 'no'}.")


def print_evaluation(evaluation: Evaluation) -> None:
    """The metrics, what the crawls cost, and the pages missing from the recording."""
    from scenthound.ui.reports.run import cost_table, missing_table

    print_metrics(evaluation)
    print_table(cost_table(evaluation))
    missing = missing_table(evaluation)
    if missing is not None:
        print_table(missing)


def print_metrics(evaluation: Evaluation) -> None:
    from scenthound.ui.reports.run import defined_metrics, marks_note, metric_table, undefined_notes

    metrics = defined_metrics(evaluation)
    for metric in metrics:
        print_table(metric_table(evaluation, metric))
    if metrics and len(evaluation.results) > 1:
        say(marks_note(evaluation, best=""))
    for note in undefined_notes(evaluation):
        say(note[:1].upper() + note[1:])


def print_comparison(done: StrategyComparison) -> None:
    """Notes, the two tables, and the answer."""
    from scenthound.experiments.compare.results import as_json, parse_comparison
    from scenthound.ui.reports.comparison import answer_lines, measurements_table, ranking_table

    compared = parse_comparison(as_json(done))
    for note in done.notes:
        say(f"Note: {note}")
    print_table(ranking_table(compared))
    print_table(measurements_table(compared))
    say(done.says)
    typer.echo()
    for line in answer_lines(compared):
        say(line)
    print_compiled_code()
    if done.command:
        typer.echo(f"\nStart it live:\n{filled_command(done.command, '  ', '    ')}")
    if done.command_note:
        say(done.command_note)


def print_study(study: FinishedStudy, out: Path) -> None:
    from scenthound.ui.reports.findings import findings_table, verdict_lines

    for note in study.notes:
        say(f"Note: {printable(note)}")
    print_table(findings_table(study.findings, f"Findings of {study.settings.study}"))
    for line in verdict_lines(study.findings):
        say(line)
    parts = "; ".join(f"{timing.part} {timing.seconds:,.1f} s" for timing in study.timings)
    total_s = sum(timing.seconds for timing in study.timings)
    n_reused = study.n_crawls - study.n_made
    crawls = f"{study.n_made:,} crawls made" + (f", {n_reused:,} reused" if n_reused else "")
    say(f"{crawls}. {total_s:,.1f} s in total: {parts}.")
    print_compiled_code()
    typer.echo(f"Report: {printable(out / 'report.html')}")


def print_validation(validation: Validation) -> None:
    """The strategies, the measurements on each group of topics, the verdicts, and how to read them."""
    from scenthound.experiments.validate.results import READING
    from scenthound.ui.reports.findings import claims_table
    from scenthound.ui.reports.validation import measures_tables, named_finding

    settings = validation.settings
    label_of = dict(zip(settings.all_strategies, settings.labels, strict=True))
    for note in validation.notes:
        say(f"Note: {note}")
    for strategy, label in label_of.items():
        say(f"{label}: {strategy}")
    for group, topics in settings.groups().items():
        of = f"topic {settings.topics[topics[0]].id}" if len(topics) == 1 else f"{len(topics)} topics"
        for table in measures_tables(
            validation.measurements, settings.labels, settings.budgets, topics, f"{of} {group}".strip()
        ):
            print_table(table)
    findings = [
        named_finding(each.name, each.says, label_of[each.strategy], each.topics, each.claims)
        for each in validation.findings
    ]
    print_table(claims_table(findings))
    say(f"Effects are differences to {settings.against}. {READING}")
    print_compiled_code()
