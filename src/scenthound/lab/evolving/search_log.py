"""The log of a search: one line per evaluation, believed only if a search can have written it.

Rules
- A line is on the disk before anybody is told of it. The last one, if a kill tore it, is cut off.
- Any other line that no search writes is refused by its number. What follows it was asked for because of it, so that
  both have to go.
- A fitness is the mean of its crawls, so neither can be changed without the other.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

from scenthound.errors import BadInput, printable
from scenthound.evolve.genome import Genes
from scenthound.lab.evolving.evaluation import Evaluation

#: How far a mean may be from that of another machine.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Logged:
    """One evaluation of a search: the individual asked for at this place of this round."""

    round: int
    place: int
    genes: Genes
    evaluation: Evaluation

    def line(self) -> str:
        done = self.evaluation
        values = {"round": self.round, "place": self.place, "genes": self.genes, "fitness": done.fitness}
        return json.dumps({**values, "crawls": done.crawls, "visits": done.n_visits}) + "\n"

    @classmethod
    def read(cls, line: bytes) -> "Logged":
        """ValueError, which says what is wrong, for a line that `line` does not write."""
        values = _object(line)
        genes = _numbers(values, "genes")
        return cls(_whole(values, "round"), _whole(values, "place"), genes, _evaluation(values))


def read_log(log: Path) -> list[Logged]:
    """All evaluations that are known. A torn last line goes for good, so that the next one starts anew."""
    content = log.read_bytes() if log.is_file() else b""
    whole = content[: content.rfind(b"\n") + 1]
    known = [_read(log, number, line) for number, line in enumerate(whole.splitlines(), 1)]
    if len(whole) < len(content):
        os.truncate(log, len(whole))
    return known


def append_to_log(log: Path, evaluated: Logged) -> None:
    """Write an evaluation, and wait until it is on the disk."""
    with log.open("a", encoding="utf-8") as file:
        file.write(evaluated.line())
        file.flush()
        os.fsync(file.fileno())


def bad_line(log: Path, number: int, reason: str) -> BadInput:
    """The refusal of a line, with what helps."""
    return BadInput(
        f"{printable(log)}, line {number:,}: {reason}; delete this line and all after it, which will then be crawled "
        "for again, or begin a new search."
    )


def _read(log: Path, number: int, line: bytes) -> Logged:
    try:
        return Logged.read(line)
    except ValueError as error:
        raise bad_line(log, number, f"damaged, {error}") from None


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ValueError("no JSON object")
    return values


def _evaluation(values: Mapping[str, Any]) -> Evaluation:
    topics = values.get("crawls")
    if not isinstance(topics, list) or not topics:
        raise ValueError("crawls is no list of lists")
    crawls = tuple(_numbers({"crawls": topic}, "crawls") for topic in topics)
    (fitness,) = _numbers({"fitness": [values.get("fitness")]}, "fitness")
    evaluation = Evaluation.of(crawls, _whole(values, "visits"))
    if not isclose(fitness, evaluation.fitness, rel_tol=ROUNDING):
        raise ValueError(f"fitness {fitness:g} is not the mean of its crawls, {evaluation.fitness:g}")
    return Evaluation(fitness, crawls, evaluation.n_visits)


def _whole(values: Mapping[str, Any], key: str) -> int:
    value = values.get(key)
    if type(value) is not int or value < 0:
        raise ValueError(f"{key} is no whole number from 0 on")
    return value


def _numbers(values: Mapping[str, Any], key: str) -> tuple[float, ...]:
    numbers = values.get(key)
    if not isinstance(numbers, list) or not numbers or not all(map(_is_number, numbers)):
        raise ValueError(f"{key} has what is no finite number from 0 on")
    return tuple(numbers)


def _is_number(value: object) -> bool:
    # Not `isfinite`: JSON has whole numbers that are larger than any float.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max
