"""Tables within the page of a study."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from scenthound.lab.studies.pictures import Table

#: Numbers with what may stand around them: signs, units, an error, marks of significance.
FIGURE = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?( ?%)?( ?± ?[\d.,]+(e[-+]?\d+)?)?[*†‡]*|-|")


def table_html(table: Table) -> str:
    """A table with its caption above and its note below; columns of figures stand to the right."""
    is_figures = [_has_figures(table, place) for place in range(len(table.heads))]
    rows = "\n".join(_row(row, is_figures) for row in table.rows)
    heads = "".join(
        f'<th scope="col"{_class(right)}>{escape(head)}</th>'
        for head, right in zip(table.heads, is_figures, strict=True)
    )
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="wide">\n<table id="{escape(table.name)}">\n<caption>{escape(table.caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>{note}"
    )


def _has_figures(table: Table, place: int) -> bool:
    return place > 0 and all(FIGURE.fullmatch(row[place]) for row in table.rows)


def _row(cells: Sequence[str], is_figures: Iterable[bool]) -> str:
    told = (f"<td{_class(right)}>{escape(cell)}</td>" for cell, right in zip(cells, is_figures, strict=True))
    return f"<tr>{''.join(told)}</tr>"


def _class(is_figure: bool) -> str:
    return ' class="figure"' if is_figure else ""
