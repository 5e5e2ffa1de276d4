"""Label files (pages or scores that a person has labelled as relevant or not), and the sample of pages to label.

Label files
- CSV or JSON Lines, also .gz and .zst. A file whose first character is { is JSON Lines. CSV may start with the names of
  its columns; without them, the page or score is first, then the label, then the weight.
- A line has a `url` or a `score`, like all lines of its file, and a `label`: yes, no, 1, 0, relevant, irrelevant, true
  or false. The only other field that is read is `weight`: how many pages this one represents, by default 1.
- Lines without a label are still to be labelled. They are counted and ignored.

The sample is stratified: most pages of a web have a low score, so a uniform sample would hardly separate thresholds.
Sorted by score, pages are divided into up to ten strata, each twice as large as the one above it, and the same number
of pages is drawn from each, as far as it has that many. The weight of a drawn page is its share of the stratum, so that
weighted precision and recall are those of all pages.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.files import compressed_as, text_of, write_atomic
from scenthound.model import FloatArray, LongArray

YES = ("yes", "y", "1", "true", "relevant")
NO = ("no", "n", "0", "false", "irrelevant")
COLUMNS = ("url", "label", "weight", "title")
#: Longer values are cut in messages.
MAX_PRINTED = 60
#: Larger numbers are typing errors, and have no digits to round.
MAX_NUMBER = 1e12
MAX_STRATA = 10
MIN_STRATUM = 4

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Label:
    """One line, with either `url` or `score`. `source` names the file and the line."""

    source: str
    url: str | None
    score: float | None
    is_relevant: bool
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LabelFile:
    labels: tuple[Label, ...]
    n_unlabelled: int

    @property
    def has_scores(self) -> bool:
        return any(label.score is not None for label in self.labels)


def read_labels(file: Path) -> LabelFile:
    """All lines of a label file; InvalidInput for the first that cannot be read."""
    text = text_of(file)
    lines = _json_lines(file, text) if text.lstrip().startswith("{") else _csv_lines(file, text)
    found = [_label(source, fields) for source, fields in lines]
    labels = tuple(label for label in found if label is not None)
    if len({label.score is None for label in labels}) > 1:
        raise InvalidInput(f"{printable(file)}: some lines have a score and some a URL; split it into two files.")
    return LabelFile(labels, len(found) - len(labels))


def write_pages_to_label(file: Path, pages: Iterable[tuple[str, str, float]]) -> None:
    """Write a label file with an empty column to fill in, from URL, title and weight of pages. It has no scores, which
    would influence the person who labels."""
    table = io.StringIO(newline="")
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([url, "", f"{weight:.6g}", printable(title)] for url, title, weight in pages)
    write_atomic(file, compressed_as(file, table.getvalue().encode("utf-8")))


def _json_lines(file: Path, text: str) -> Iterator[tuple[str, Fields]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        source = f"{printable(file)}, line {number}"
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InvalidInput(f"{source}: not JSON ({error.msg}); each line must be one object.") from error
        if not isinstance(fields, dict):
            raise InvalidInput(f'{source}: not an object; write lines such as {{"url": "http://...", "label": "yes"}}.')
        yield source, fields


def _csv_lines(file: Path, text: str) -> Iterator[tuple[str, Fields]]:
    rows = csv.reader(io.StringIO(text, newline=""))
    names: list[str] = []
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if not names:
                names = [cell.strip().lower() for cell in row]
                if "label" in names:
                    continue
                names = ["score" if _number(row[0]) is not None else "url", "label", "weight"]
            yield f"{printable(file)}, line {rows.line_num}", dict(zip(names, row, strict=False))
    except csv.Error as error:
        raise InvalidInput(f"{printable(file)}, line {rows.line_num}: not CSV ({error}); fix the line.") from error


def _label(source: str, fields: Fields) -> Label | None:
    """The label of a line; None if it has none yet."""
    text = _text(fields, "label").lower()
    if not text:
        return None
    if text not in YES and text not in NO:
        raise InvalidInput(f"{source}: the label is {printable(text, MAX_PRINTED)!r}; write yes or no.")
    weight = _finite(source, fields, "weight") if _text(fields, "weight") else 1.0
    if weight <= 0:
        raise InvalidInput(f"{source}: the weight is {weight:g}; it must be more than 0.")
    # A line with a score may also name its page.
    if _text(fields, "score"):
        return Label(source, None, _finite(source, fields, "score"), text in YES, weight)
    url = fields.get("url")
    if not isinstance(url, str) or not url.strip():
        raise InvalidInput(
            f"{source}: neither a url nor a score; write for example http://example.org/,yes or 0.31,no."
        )
    return Label(source, url.strip(), None, text in YES, weight)


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return "" if value is None else str(value).strip()


def _finite(source: str, fields: Fields, name: str) -> float:
    number = _number(fields[name])
    if number is None:
        value = printable(fields[name], MAX_PRINTED)
        raise InvalidInput(f"{source}: the {name} is {value!r}, which is not a valid number.")
    return number


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if math.isfinite(number) and abs(number) <= MAX_NUMBER else None


def draw_by_score(scores: FloatArray, n_pages: int, rng: Random) -> dict[int, float]:
    """The indices of pages to label, in random order, with the weight of each."""
    strata = _strata(scores, rng)
    weight_of: dict[int, float] = {}
    for stratum, n_drawn in zip(strata, _allocation(n_pages, [len(stratum) for stratum in strata]), strict=True):
        for page in rng.sample(stratum.tolist(), n_drawn):
            weight_of[page] = len(stratum) / n_drawn
    pages = list(weight_of)
    # The order must not reveal the scores to the person who labels.
    rng.shuffle(pages)
    return {page: weight_of[page] for page in pages}


def _strata(scores: FloatArray, rng: Random) -> list[LongArray]:
    """The pages of each stratum, the highest scores first; equal scores are in random order."""
    ties = np.array([rng.random() for _ in range(len(scores))])
    order = np.lexsort((ties, -scores))
    n_strata = min(MAX_STRATA, (len(scores) // MIN_STRATUM + 1).bit_length() - 1) or 1
    # Strata of 1, 2, 4, ... parts end after 1, 3, 7, ... of all 2^n - 1 parts.
    ends = [round(len(scores) * (2**number - 1) / (2**n_strata - 1)) for number in range(1, n_strata)]
    return np.split(order, ends)


def _allocation(n_pages: int, sizes: list[int]) -> list[int]:
    """Numbers of pages to draw, as equal as the sizes allow, and at least one from each stratum."""
    n_drawn = [0] * len(sizes)
    while sum(n_drawn) < min(max(n_pages, len(sizes)), sum(sizes)):
        # What cannot be divided equally is drawn from the strata with the highest scores.
        index = min((at for at, size in enumerate(sizes) if n_drawn[at] < size), key=lambda at: n_drawn[at])
        n_drawn[index] += 1
    return n_drawn
