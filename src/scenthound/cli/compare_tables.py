"""The tables of a comparison: the ranking, what else was measured, and what the winner is worth."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import typer

from scenthound.cli.tables import print_table
from scenthound.cli.terminal import columns, filled_command, say
from scenthound.errors import printable
from scenthound.experiments.compare.ranking import row_name
from scenthound.experiments.compare.results import MARKS, READING, as_json, parse_comparison
from scenthound.experiments.statistics import PairedSample, spread_told
from scenthound.ui.formats import interval_told, mean_told, number_told, percent_told
from scenthound.ui.reports.comparison import answer_lines, bounds_told

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenthound.experiments.compare.comparison import StrategyComparison
    from scenthound.experiments.compare.ranking import Placed
    from scenthound.experiments.statistics import Effect


#: In a narrower terminal names take several lines.
ROOM_FOR_NAMES = 120
#: As many letters of a name then stand in a line, so that all columns have room in 80.
LETTERS_PER_LINE = 16


def print_comparison(done: StrategyComparison) -> None:
    """Notes, the two tables, and the answer."""
    for note in done.notes:
        say(f"Note: {note}")
    _print_ranking(done)
    say("  ".join(f"{mark} {words}." for mark, words in MARKS.items()))
    _print_others(done)
    say(f"{done.says} {READING}")
    typer.echo()
    for line in answer_lines(parse_comparison(as_json(done))):
        say(line)
    if done.command:
        typer.echo(f"\nStart it live:\n{_command_lines(done.command)}")
    if done.command_note:
        say(done.command_note)


def _print_ranking(done: StrategyComparison) -> None:
    better = "less is better" if done.lower_is_better else "more is better"
    spread = spread_told([PairedSample(done.measured.values[0])])
    print_table(
        f"{done.by} ({better}): {spread}",
        ["", "strategy", "mean", "difference", "95 % interval", "corrected p", "mark"],
        [
            [
                str(each.place),
                _in_lines(row_name(each)),
                mean_told(each.mean, each.standard_error),
                *_difference(each.difference),
                _p(each.p_corrected),
                each.mark,
            ]
            for each in done.ranking
        ],
        n_words=2,
    )


def _in_lines(name: str) -> str:
    """A name for a narrow table, broken where a word, a parameter or its name ends and not within."""
    width = columns()
    if width is None or width >= ROOM_FOR_NAMES:
        return name
    lines = [""]
    for piece in re.findall(r"[^:,=\s]+[:,=\s]*", printable(name)):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > LETTERS_PER_LINE:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _command_lines(command: str) -> str:
    """In one line if there are quotes: within them a line must not be broken."""
    return f"  {command}" if "'" in command else filled_command(command, "  ", "    ")


def _print_others(done: StrategyComparison) -> None:
    columns: dict[str, Callable[[Placed], float]] = {
        "precision": lambda each: each.precision,
        "recall": lambda each: each.recall,
        "gap closed": lambda each: each.gap_closed,
        "chosen by halves": done.chosen_share,
        "CPU µs per page": lambda each: done.cpu_us.get(each.contestant.spec, math.nan),
        "not recorded per page": lambda each: each.missing_per_page,
    }
    cells = {name: [value(each) for each in done.ranking] for name, value in columns.items()}
    known = {name: values for name, values in cells.items() if not all(map(math.isnan, values))}
    print_table(
        f"the same crawls, after {done.by.rpartition('@')[2]} pages",
        ["strategy", *known],
        [
            [_in_lines(each.contestant.spec), *(_figure(name, values[place]) for name, values in known.items())]
            for place, each in enumerate(done.ranking)
        ],
    )
    say(" ".join(words for name, words in _column_words(done).items() if name in known))


def _column_words(done: StrategyComparison) -> dict[str, str]:
    return {
        "gap closed": bounds_told(parse_comparison(as_json(done))),
        "chosen by halves": "Chosen by halves: how often it is the best in one half of the observations.",
        "CPU µs per page": "CPU: of one short crawl by plain code.",
        "not recorded per page": "Not recorded: pages that crawls wanted and the web lacks, for each page visited.",
    }


def _figure(column: str, value: float) -> str:
    if math.isnan(value):
        return "-"
    if column in {"gap closed", "chosen by halves"}:
        return percent_told(value)
    return f"{value:.0f}" if column.startswith("CPU") else f"{value:.3f}"


def _difference(effect: Effect | None) -> list[str]:
    if effect is None:
        return ["", ""]
    return [number_told(effect.mean, "+"), interval_told(effect.low, effect.high)]


def _p(p_corrected: float) -> str:
    return "" if math.isnan(p_corrected) else f"{p_corrected:.3f}"
