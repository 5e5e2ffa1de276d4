"""`scenthound threshold`: a relevance threshold from labelled pages, its uncertainty, and how to use it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenthound.cli.options import Printed, print_json, with_options
from scenthound.errors import UsageError
from scenthound.experiments.options import Drawing, LabelOptions, Scoring, ThresholdOptions
from scenthound.options import Option, part
from scenthound.ui.formats import counted
from scenthound.ui.terminal import print_commands, print_rows, say

if TYPE_CHECKING:
    from scenthound.experiments.threshold.curve import Choice, ThresholdRow
    from scenthound.experiments.threshold.suggestion import Suggestion

MAX_ROWS = 24
#: If an interval is wider, there are too few labels.
WIDE_INTERVAL = 0.4


@dataclass(frozen=True, kw_only=True)
class Labelling(Drawing):
    """Pages to label, and figures of the result.

    suggest: Write N pages to label to LABELS, spread over the scores, and exit.
    out: Draw the curves: .svg, .png or .pdf; repeatable.
    """

    suggest: Annotated[int | None, Option(metavar="N", ge=10)] = None
    out: Annotated[Sequence[Path], Option(metavar="FILE", type=list[Path])] = ()


def threshold(options: ThresholdOptions, labelling: Labelling, printed: Printed) -> None:
    """Suggest a relevance threshold from 20 to 50 labelled pages: by default the one with the best F1.

    scenthound threshold labels.csv --web web --topics topics.jsonl --topic chess --relevance svm --out curve.svg
    """
    from scenthound.api import searches
    from scenthound.ui.figures import check_figure_file

    if labelling.suggest is not None:
        _suggest(options, labelling, as_json=printed.as_json)
        return
    for figure in labelling.out:
        check_figure_file(figure)
    found = with_options(searches.threshold, options)
    for figure in labelling.out:
        found.draw(figure)
    printed.show(found.suggestion, _values, lambda suggestion: _print(suggestion, labelling.out))


def _suggest(options: ThresholdOptions, labelling: Labelling, *, as_json: bool) -> None:
    """Write pages to label."""
    from scenthound.api import searches

    if options.cross_validate:
        raise UsageError("There are no labels to cross-validate with yet: use --suggest without --cross-validate.")
    chosen = {**vars(part(Scoring, options)), **vars(part(Drawing, labelling)), "progress": True}
    n_pages = with_options(searches.pages_to_label, LabelOptions(options.labels, labelling.suggest or 0, **chosen))
    if as_json:
        print_json({"file": str(options.labels), "n_pages": n_pages})
        return
    say(
        f"{counted(n_pages, 'page')} to label in {options.labels}. Write yes or no into the column `label`, leave the "
        "others unchanged; then run the command again without --suggest."
    )


def _print(found: Suggestion, figures: Sequence[Path]) -> None:
    choice = found.choice
    print_rows(_title(found), ["threshold", "accepted", "precision", "recall", "F1"], _table(choice))
    row = choice.row
    say(f"Threshold: {row.threshold}, {choice.goal}.")
    say(
        f"On these pages its precision is {row.precision.value:.2f}, its recall {row.recall.value:.2f} and its F1 "
        f"{row.f1.value:.2f}. {_expectation(choice)}"
    )
    for rate in choice.perfect_rates:
        say(_unknown_decrease(rate, found))
    say(_certainty(choice))
    if found.trained_on:
        say(f"{found.relevance} was trained on {found.trained_on}.")
    n_labels = found.n_relevant + found.n_irrelevant
    if round(found.n_represented) != n_labels:
        say(f"By their weights the {n_labels} pages represent {found.n_represented:,.0f} pages; values refer to those.")
    if found.n_unlabelled:
        say(f"{counted(found.n_unlabelled, 'line')} without a label: ignored.")
    if found.n_repeated:
        say(f"{counted(found.n_repeated, 'line')} repeated a page: ignored.")
    for figure in figures:
        typer.echo(f"Curves: {figure}")
    _print_next(found)


def _values(found: Suggestion) -> dict[str, Any]:
    """Values for `--json`: the suggestion first, then all thresholds."""
    choice = found.choice
    about = asdict(found)
    del about["choice"]
    return {
        "threshold": choice.row.threshold,
        "goal": str(choice.goal),
        **asdict(choice.goal),
        "low": choice.low,
        "high": choice.high,
        "at_threshold": asdict(choice.row),
        "expected_elsewhere": asdict(choice.expected),
        "perfect_rates": list(choice.perfect_rates),
        **about,
        "thresholds": [asdict(row) for row in choice.rows],
    }


def _title(found: Suggestion) -> str:
    n_labels = found.n_relevant + found.n_irrelevant
    of_model = f" by {found.relevance} for {found.topic}" if found.relevance else ""
    return (
        f"{n_labels} labelled pages{of_model}, {found.n_relevant} of them relevant: values with 95 % intervals; "
        "* suggested"
    )


def _table(choice: Choice) -> list[list[str]]:
    step = max(1, math.ceil(len(choice.rows) / MAX_ROWS))
    return [
        _cells(row, is_chosen=at == choice.index)
        for at, row in enumerate(choice.rows)
        if at % step == 0 or at == choice.index
    ]


def _cells(row: ThresholdRow, *, is_chosen: bool) -> list[str]:
    rates = [f"{each.value:.2f} ({each.low:.2f} to {each.high:.2f})" for each in (row.precision, row.recall, row.f1)]
    return [f"{row.threshold}{' *' if is_chosen else ''}", f"{row.n_accepted:,}", *rates]


def _expectation(choice: Choice) -> str:
    """What to expect on other pages."""
    expected = {"precision": choice.expected.precision, "recall": choice.expected.recall}
    rates = {rate: value for rate, value in expected.items() if rate not in choice.perfect_rates}
    if len(rates) == len(expected):
        rates["F1"] = choice.expected.f1
    if not rates:
        return "It was selected on them, so expect lower values on others; how much lower is unknown."
    values = ", ".join(f"{rate} {value:.2f}" for rate, value in rates.items())
    return f"It was selected on them, so expect slightly lower values on others: {values}."


def _unknown_decrease(rate: str, found: Suggestion) -> str:
    """Why the expected decrease of a rate is unknown, and which value is safe to assume."""
    row = found.choice.row
    is_precision = rate == "precision"
    n_pages, kind = (row.n_accepted, "accepted") if is_precision else (found.n_relevant, "relevant")
    every = f"The one {kind} page is" if n_pages == 1 else f"All {n_pages} {kind} pages are"
    low = row.precision.low if is_precision else row.recall.low
    return (
        f"{every} {'relevant' if is_precision else 'accepted'}, so these labels do not show by how much {rate} "
        f"will decrease: assume no more than {low:.2f}, the lower end of its interval."
    )


def _certainty(choice: Choice) -> str:
    row = choice.row
    widest = max(row.precision.high - row.precision.low, row.recall.high - row.recall.low)
    moved = f"With as many other labels it would have been between {choice.low} and {choice.high} in 95 of 100 cases"
    if choice.low == choice.high:
        moved = "With as many other labels it would hardly have changed"
    if widest > WIDE_INTERVAL:
        return (
            f"{moved}; its true precision is likely between {row.precision.low:.2f} and {row.precision.high:.2f}, its "
            f"recall between {row.recall.low:.2f} and {row.recall.high:.2f}. That is wide: label more pages, "
            f"especially with scores near {row.threshold}."
        )
    return f"{moved}. All this applies to pages like those that you labelled."


def _print_next(found: Suggestion) -> None:
    """Commands that take such a threshold."""
    value = found.choice.row.threshold
    if not 0 < value < 1:
        say("Strategies take thresholds between 0 and 1 only; use this one in your own programs.")
        return
    model = f"--relevance {found.relevance or 'MODEL'}"
    pages = " --train-from DIR" if found.trained_on else ""
    typer.echo("Next:")
    print_commands(
        {
            f"scenthound crawl ... {model}{pages} --strategy fish_search:threshold={value}": (
                "follow links of relevant pages; also for shark_search and rank_function"
            ),
            f"scenthound evolve ... {model} --threshold {value}": "evolve rank functions that find such pages",
            f"scenthound validate ... {model} --threshold {value}": "evaluate strategies by such pages",
        }
    )
