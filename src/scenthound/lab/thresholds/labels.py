"""Label files: pages, or scores, that a person has called relevant or not; CSV or JSON Lines, also .gz and .zst.

Rules
- A line has a `url` or a `score`, as all lines of its file, and a `label`: yes, no, 1, 0, relevant, irrelevant, true or
  false. Of what stands beside them only `weight` is read: how many pages this one stands for, 1 unless told.
- A file whose first sign is { is JSON Lines. CSV may begin with the names of its columns; without them, the page or
  score comes first, then the label, then the weight.
- Lines without a label are still to be labelled. They are counted and left out.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from scenthound.errors import BadInput, printable
from scenthound.files import compressed_as, text_of, write_whole

YES = ("yes", "y", "1", "true", "relevant")
NO = ("no", "n", "0", "false", "irrelevant")
COLUMNS = ("url", "label", "weight", "title")
#: Longer values are not shown whole in an error.
SHOWN_LETTERS = 60
#: Beyond it a number is a slip of the pen, and has no digits to round.
LARGEST_NUMBER = 1e12

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Label:
    """One line: `place` says where it stands; either `url` or `score` is given."""

    place: str
    url: str | None
    score: float | None
    is_relevant: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelFile:
    """`n_open` lines are still to be labelled."""

    labels: tuple[Label, ...]
    n_open: int

    @property
    def has_scores(self) -> bool:
        return any(label.score is not None for label in self.labels)


@dataclass(frozen=True, slots=True)
class PageToLabel:
    """A line for a person to fill in. It shows no score: who sees one is led by it."""

    url: str
    title: str
    weight: float


def read_labels(file: Path) -> LabelFile:
    """All lines of a label file; BadInput for the first that cannot be read."""
    text = text_of(file)
    lines = _json_lines(file, text) if text.lstrip().startswith("{") else _csv_lines(file, text)
    found = [_label(place, fields) for place, fields in lines]
    labels = tuple(label for label in found if label is not None)
    if len({label.score is None for label in labels}) > 1:
        raise BadInput(f"{printable(file)}: some lines have a score and some a URL; make two files of it.")
    return LabelFile(labels, len(found) - len(labels))


def write_pages_to_label(file: Path, pages: Iterable[PageToLabel]) -> None:
    """A label file with an empty column to fill in."""
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([page.url, "", f"{page.weight:.6g}", printable(page.title)] for page in pages)
    write_whole(file, compressed_as(file, table.getvalue().encode("utf-8")))


def _json_lines(file: Path, text: str) -> Iterator[tuple[str, Fields]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{printable(file)}, line {number}"
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(f"{place}: not JSON ({error.msg}); each line must be one object.") from error
        if not isinstance(fields, dict):
            raise BadInput(f'{place}: no object; write lines such as {{"url": "http://...", "label": "yes"}}.')
        yield place, fields


def _csv_lines(file: Path, text: str) -> Iterator[tuple[str, Fields]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    names: list[str] | None = None
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            place = f"{printable(file)}, line {rows.line_num}"
            if names is None:
                names = _column_names(row)
                if _is_heading(row):
                    continue
            yield place, dict(zip(names, row, strict=False))
    except csv.Error as error:
        raise BadInput(f"{printable(file)}, line {rows.line_num}: not CSV ({error}); mend the line.") from error


def _is_heading(row: list[str]) -> bool:
    return "label" in [cell.strip().lower() for cell in row]


def _column_names(row: list[str]) -> list[str]:
    if _is_heading(row):
        return [cell.strip().lower() for cell in row]
    return ["score" if _number(row[0]) is not None else "url", "label", "weight"]


def _label(place: str, fields: Fields) -> Label | None:
    """What a line says; None if it has no label yet."""
    answer = _answer(place, fields.get("label"))
    if answer is None:
        return None
    # A score decides: a file may say beside it which page it is of.
    if _is_given(fields.get("score")):
        return Label(place, None, _finite(place, "score", fields["score"]), answer, _weight(place, fields))
    url = fields.get("url")
    if not isinstance(url, str) or not url.strip():
        raise BadInput(f"{place}: neither a url nor a score; write for example http://example.org/,yes or 0.31,no.")
    return Label(place, url.strip(), None, answer, _weight(place, fields))


def _answer(place: str, value: object) -> bool | None:
    word = "" if value is None else str(value).strip().lower()
    if word in YES or word in NO:
        return word in YES
    if not word:
        return None
    raise BadInput(f"{place}: the label is {printable(word, SHOWN_LETTERS)!r}; write yes or no.")


def _weight(place: str, fields: Fields) -> float:
    if not _is_given(fields.get("weight")):
        return 1.0
    weight = _finite(place, "weight", fields["weight"])
    if weight <= 0:
        raise BadInput(f"{place}: the weight is {weight:g}; it must be more than 0.")
    return weight


def _is_given(value: object) -> bool:
    return value is not None and str(value).strip() != ""


def _finite(place: str, name: str, value: object) -> float:
    number = _number(value)
    if number is None:
        raise BadInput(
            f"{place}: the {name} is {printable(value, SHOWN_LETTERS)!r}, which is no usable number; mend it."
        )
    return number


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= LARGEST_NUMBER else None
