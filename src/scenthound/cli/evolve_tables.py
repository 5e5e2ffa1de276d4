"""What a search came to, on the terminal or as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.json_text import json_text
from scenthound.cli.tables import print_table
from scenthound.strategies.evolved import choice_of
from scenthound.strategies.parts.rank_formula import formula_of

if TYPE_CHECKING:
    from scenthound.lab.evolving.evolution import Compared, Evolution


def print_evolution(done: Evolution, seconds: float, as_json: bool) -> None:
    """`seconds` is how long this run took."""
    if as_json:
        typer.echo(json_text(_values(done, seconds), indent=1))
        return
    settings, pages = done.settings, done.settings.experiment.page_budget
    rows = [[each.name, f"{each.fitness:.4f}", _formula(each)] for each in (done.best, *done.others)]
    n_crawls, n_topics = settings.n_crawls, len(settings.experiment.topics)
    print_table(
        f"{settings.fitness}: mean of {n_crawls} x {pages:,} pages on {n_topics} topic{'s' if n_topics != 1 else ''}",
        ["rank function", "fitness", "formula"],
        rows,
        n_words=3,
    )
    if done.pages_wanted > pages:
        typer.echo(f"--pages {done.pages_wanted:,}: the web has {pages:,}, so no crawl can get more.")
    for reason in done.skipped_topics:
        typer.echo(f"Left out: {reason}")
    for line in (_work(done, seconds), *_next_steps(done)):
        typer.echo(line)


def _work(done: Evolution, seconds: float) -> str:
    per_s = done.n_visits_now / seconds if seconds > 0 else 0.0
    return (
        f"{done.settings.search}: {done.summary.n_evaluated:,} evaluations of {done.n_distinct:,} distinct "
        f"individuals, {done.n_visits:,} visits; this run: {done.n_visits_now:,} visits in {seconds:,.1f} s, "
        f"{per_s:,.0f} visits/s."
    )


def _next_steps(done: Evolution) -> list[str]:
    strategy = shlex.quote(choice_of(done.result))
    web = shlex.quote(str(done.settings.experiment.web))
    return [
        f"The formula, its weights and how they were found: {done.result}",
        f"Next: scenthound simulate --web {web} --topics TOPICS --strategy {strategy} --mode "
        f"{done.settings.experiment.mode} --out RUN",
        f"Or on the live web: scenthound crawl TOPIC --strategy {strategy}",
    ]


def _formula(rank_function: Compared) -> str:
    """One line for each rule, with the URLs that it is for."""
    rules = rank_function.rules
    lines = [formula_of(row) for row in rules.weights]
    if len(lines) == 1:
        return lines[0]
    ends = [f"up to {rules.split_by} {bound}" for bound in rules.bounds] + ["beyond"]
    return "\n".join(f"{end}: {line}" for end, line in zip(ends, lines, strict=True))


def _values(done: Evolution, seconds: float) -> dict[str, Any]:
    return {
        "folder": str(done.folder),
        "file": str(done.result),
        "settings": done.settings.as_json(),
        "pages_wanted": done.pages_wanted,
        "evaluations": done.summary.n_evaluated,
        "distinct": done.n_distinct,
        "generations": done.summary.generation,
        "visits": done.n_visits,
        "visits_of_this_run": done.n_visits_now,
        "seconds_of_this_run": round(seconds, 3),
        "results": [
            {"name": each.name, "fitness": each.fitness, "formula": _formula(each), "rules": asdict(each.rules)}
            for each in (done.best, *done.others)
        ],
    }
