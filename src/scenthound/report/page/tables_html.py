"""Tables and per-topic grids within a page, whole without scripts: those only sort them, and say more of a cell."""

from math import ceil

import numpy as np

from scenthound.model import FloatArray
from scenthound.report.page.figure_data import rounded, win_loss_data
from scenthound.report.page.texts import MINUS, data_json, link_html, number_text, text_html
from scenthound.report.page.values import Cell, TableBlock, WinLoss

#: A grid of more topics has no room for their names; they are told when pointed at.
MOST_NAMED_TOPICS = 14
#: A grid of more topics has no room for signs: bars above and below a middle tell the same.
MOST_SIGNED_TOPICS = 40
#: Differences are shown in so many steps up to the size that all but a few of them keep below: one topic out of the
#: common would make all others look even.
STEPS = 4
COMMON = 0.95
#: Less is no difference: sums of the same numbers in another order differ by as much.
EVEN = 1e-12


def table_html(table: TableBlock, anchor: str) -> str:
    heads = "".join(
        f'<th scope="col"{_figure_class(place, table)}>{text_html(head)}</th>' for place, head in enumerate(table.heads)
    )
    rows = "\n".join(_row(row, table) for row in table.rows)
    marked = " marked" if any(cell.mark for row in table.rows for cell in row) else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{text_html(table.caption)}">\n'
        f'<table class="sortable{marked}" id="{anchor}">\n<caption>{text_html(table.caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>{_note(table.note)}"
    )


def _row(cells: tuple[Cell, ...], table: TableBlock) -> str:
    return f"<tr>{''.join(_cell(cell, place, table) for place, cell in enumerate(cells))}</tr>"


def _cell(cell: Cell, place: int, table: TableBlock) -> str:
    words = link_html(cell.text, cell.link) if cell.link else text_html(cell.text)
    words = f"<strong>{words}</strong>" if cell.emphasis else words
    mark = f'<sup class="mark">{text_html(cell.mark)}</sup>' if cell.mark else ""
    value = None if cell.value is None else rounded(cell.value)
    sorted_by = "" if value is None else f' data-value="{value}"'
    tag, scope = ("th", ' scope="row"') if place == 0 and table.n_words else ("td", "")
    return f"<{tag}{scope}{_figure_class(place, table)}{sorted_by}>{words}{mark}</{tag}>"


def _figure_class(place: int, table: TableBlock) -> str:
    return ' class="figure"' if place >= table.n_words else ""


def win_loss_html(grid: WinLoss, anchor: str) -> str:
    """A row for each contestant: a cell for each topic, then how many topics were won, even and lost."""
    sizes = np.abs(grid.differences[np.isfinite(grid.differences) & (np.abs(grid.differences) > EVEN)])
    largest = float(np.quantile(sizes, COMMON, method="higher")) if len(sizes) else 0.0
    rows = "\n".join(
        _contestant(name, values, largest) for name, values in zip(grid.rows, grid.differences, strict=True)
    )
    dense = "" if len(grid.topics) <= MOST_SIGNED_TOPICS else " dense"
    return (
        f'<figure class="win-loss{dense}" id="{anchor}">\n<figcaption>{text_html(grid.caption)}</figcaption>\n'
        f'<div class="wide" tabindex="0" role="region" aria-label="{text_html(grid.caption)}">\n'
        f'<table class="grid">\n<thead>{_topic_heads(grid)}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>\n'
        f"{_key(grid, largest)}{_note(grid.note)}\n"
        f'<script type="application/json">{data_json(win_loss_data(grid))}</script>\n</figure>'
    )


def _topic_heads(grid: WinLoss) -> str:
    if len(grid.topics) <= MOST_NAMED_TOPICS:
        topics = "".join(f'<th scope="col" class="topic"><span>{text_html(topic)}</span></th>' for topic in grid.topics)
    else:
        topics = f'<th scope="colgroup" colspan="{len(grid.topics)}">{len(grid.topics)} topics</th>'
    counts = "".join(f'<th scope="col" class="figure">{head}</th>' for head in ("won", "even", "lost"))
    return f"<tr><td></td>{topics}{counts}</tr>"


def _contestant(name: str, values: FloatArray, largest: float) -> str:
    cells = "".join(_topic_cell(float(value), largest) for value in values)
    counts = (values > EVEN, np.abs(values) <= EVEN, values < -EVEN)
    told = "".join(f'<td class="figure">{np.count_nonzero(count)}</td>' for count in counts)
    return f'<tr><th scope="row">{text_html(name)}</th>{cells}{told}</tr>'


def _topic_cell(value: float, largest: float) -> str:
    if not np.isfinite(value):
        return '<td class="unknown"></td>'
    if abs(value) <= EVEN:
        return '<td class="even">=</td>'
    step = min(STEPS, ceil(abs(value) / largest * STEPS))
    return f'<td class="up-{step}">+</td>' if value > 0 else f'<td class="down-{step}">{MINUS}</td>'


def _key(grid: WinLoss, largest: float) -> str:
    """What the signs and bars say."""
    against, most = text_html(grid.against), number_text(largest)
    if len(grid.topics) > MOST_SIGNED_TOPICS:
        ups, downs, even = "", "", ""
        told = f"The tallest bar is a difference of {most} or more."
    else:
        ups, downs, even = "+", MINUS, "="
        told = f"The larger the difference, the stronger the colour; the strongest is {most} or more."
    return (
        f'<p class="key"><span class="up-3">{ups}</span> better than {against} '
        f'<span class="down-3">{downs}</span> worse <span class="even">{even}</span> even. {told}</p>'
    )


def _note(note: str) -> str:
    return f'\n<p class="note">{text_html(note)}</p>' if note else ""
