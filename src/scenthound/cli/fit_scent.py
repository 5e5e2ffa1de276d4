"""`scenthound fit-scent`: fits the weights of the strategy `scent`, and prints them with their intervals."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.options import Printed, note_missing_pages, with_options
from scenthound.errors import printable
from scenthound.experiments.options import FitScentOptions
from scenthound.ui.formats import counted
from scenthound.ui.terminal import print_commands, print_rows, say

if TYPE_CHECKING:
    from scenthound.api.searches import FeatureWeight, ScentFit

#: With fewer topics, the intervals hold the true weight in clearly fewer than 95 of 100 cases.
FEW_TOPICS = 20


def fit_scent(options: FitScentOptions, printed: Printed) -> None:
    """Fit the weights of the strategy scent on recorded webs with known topics.

    scenthound fit-scent --web web --topics topics.jsonl --out scent.toml

    scenthound fit-scent --web a --topics a.jsonl --web b --topics b.jsonl --out scent.toml --topics-max 100
    """
    from scenthound.api import searches

    for each in options.web:
        note_missing_pages(each)
    printed.show(with_options(searches.fit_scent, options), _values, _print)


def _print(done: ScentFit) -> None:
    print_rows(
        "Weights of the features of a URL, with 95 % intervals over topics, and limits of the features",
        ["feature", "weight", "interval", "low", "high"],
        map(_cells, done.features),
    )
    fit = done.finished
    say(
        f"Fitted on {counted(fit.n_urls, 'URL')} in {counted(fit.n_snapshots, 'snapshot')} of crawls for "
        f"{counted(fit.n_topics, 'topic')}. Features have different ranges, so weights cannot be compared directly."
    )
    if fit.n_topics < FEW_TOPICS:
        say(
            f"Note: with {counted(fit.n_topics, 'topic')} only, the intervals are too narrow; use {FEW_TOPICS} or more."
        )
    say(f"The weights and what each feature is: {printable(done.file)}")
    typer.echo("Next:")
    strategy = shlex.quote(done.strategy)
    print_commands(
        {
            f"scenthound simulate ... --strategy {strategy}": "evaluate them, on topics that they were not fitted on",
            f"scenthound crawl ... --strategy {strategy}": "crawl the live web with them",
        }
    )


def _cells(row: FeatureWeight) -> list[str]:
    interval = "" if row.interval_low is None else f"{row.interval_low:.3f} to {row.interval_high:.3f}"
    return [row.feature, f"{row.weight:.3f}", interval, f"{row.low:.3f}", f"{row.high:.3f}"]


def _values(done: ScentFit) -> dict[str, Any]:
    fit = done.finished
    return {
        "file": str(done.file),
        "strategy": done.strategy,
        "n_topics": fit.n_topics,
        "n_snapshots": fit.n_snapshots,
        "n_urls": fit.n_urls,
        "features": {name: asdict(each) for name, each in fit.file.features.items()},
    }
