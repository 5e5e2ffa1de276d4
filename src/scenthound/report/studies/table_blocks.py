"""Tables of a study on its page: which columns are figures, and which signs are marks."""

import re

from scenthound.lab.studies.pictures import Table
from scenthound.report.page.values import Cell, TableBlock

#: Numbers with what may stand around them: signs, units, an error, marks of significance.
FIGURE = re.compile(r"([<>] ?)?[-+]?[\d.,]+(e[-+]?\d+)?( ?%)?( ?± ?[\d.,]+(e[-+]?\d+)?)?([*†‡]*)|-|")
MARKS = "*†‡"


def table_block(table: Table) -> TableBlock:
    """The first column names the rows; from the one on after which there are figures only, columns are figures."""
    places = range(1, len(table.heads))
    n_words = max((place + 1 for place in places if not _has_figures(table, place)), default=1)
    rows = tuple(tuple(map(_cell, row)) for row in table.rows)
    return TableBlock(table.name, table.caption, table.heads, rows, n_words, table.note)


def _has_figures(table: Table, place: int) -> bool:
    return all(FIGURE.fullmatch(row[place]) for row in table.rows)


def _cell(text: str) -> Cell:
    """Marks behind a figure are told from it."""
    figure = text.rstrip(MARKS)
    is_marked = figure != text and bool(figure) and FIGURE.fullmatch(text) is not None
    return Cell(figure, mark=text[len(figure) :]) if is_marked else Cell(text)
