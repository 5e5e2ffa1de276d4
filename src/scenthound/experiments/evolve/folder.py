"""The folder of a search: what was asked for, every evaluation as soon as it is known, and the best rules so far.

search.json         format, version, settings, and the web with its fingerprint; never changes
topics.jsonl        all topics of the file, those that were not searched for included: guides learn from their examples
evaluations.jsonl   one line per evaluation, in the order of the search: round, place, genes, fitness, crawls, visits
compared.json       the fitness of known strategies on the same crawls, by their names; the last that a search does
evolved.toml        the best rules, written anew after each round; a strategy

Rules
- A search follows from its settings and from the fitnesses it is told, so the evaluations (`search_log`) are all its
  state: taken up again, it asks the same questions, and is told what is known.
- The result stays as it was until the whole log has been told.
- One process at a time works on a folder.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import isclose, isfinite
from pathlib import Path
from typing import Any

from scenthound.crawler.assembly import training_digest
from scenthound.errors import InvalidInput, printable
from scenthound.experiments.evolve.evaluation import Evaluation
from scenthound.experiments.evolve.settings import EvolutionSettings
from scenthound.experiments.search.base import Genes
from scenthound.files import open_regular, write_atomic
from scenthound.model import Topic
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import check_replaceable, new_folder
from scenthound.store.locks import try_lock
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics, write_topics

# The log of a search: one line per evaluation, believed only if a search can have written it.
#
# Rules
# - A line is on the disk before anybody is told of it. The last one, if a kill tore it, is cut off.
# - Any other line that no search writes is refused by its number. What follows it was asked for because of it, so
#   that both have to go.
# - A fitness is the mean of its crawls, so neither can be changed without the other.

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


def bad_line(log: Path, number: int, reason: str) -> InvalidInput:
    """The refusal of a line, with what helps."""
    return InvalidInput(
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


FORMAT = "scenthound search"
VERSION = 1
ABOUT_FILE = "search.json"
TOPICS_FILE = "topics.jsonl"
LOG_FILE = "evaluations.jsonl"
COMPARED_FILE = "compared.json"
RESULT_FILE = "evolved.toml"


class SearchFolder:
    """A search folder that this process works on."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def result(self) -> Path:
        return self.path / RESULT_FILE

    @classmethod
    @contextmanager
    def new(
        cls, out: Path, settings: EvolutionSettings, web: RecordedWeb, force: bool = False
    ) -> Iterator["SearchFolder"]:
        """Make a folder, whole or not at all, and hold it."""
        check_new(out, force)
        with new_folder(out, force, is_search_folder) as folder:
            _write_about(folder, out, settings, web)
        with _held(out):
            yield cls(out)

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["SearchFolder"]:
        """Hold a folder that a search left."""
        read_about(path)
        with _held(path):
            yield cls(path)

    def settings(self, web: Path | None = None) -> tuple[EvolutionSettings, RecordedWeb]:
        """What was asked for, and the web; refused if it is not the same web. `web` is where that is now, if moved."""
        about = read_about(self.path)
        try:
            place = web or _place_of_web(self.path, about["settings"]["crawls_of"]["web"], about["web_from_here"])
            fingerprint, digest, values = about["web_fingerprint"], about["train_digest"], about["settings"]
        except (KeyError, TypeError):
            raise InvalidInput(f"{printable(self.path / ABOUT_FILE)} is damaged: begin a new search.") from None
        if not place.is_dir():
            raise InvalidInput(
                f"The web that {printable(self.path)} searches on is not at {printable(place)}: name --web."
            )
        recorded = open_web(place)
        if recorded.fingerprint != fingerprint:
            raise InvalidInput(
                f"The search in {printable(self.path)} belongs to another web than {printable(place)} holds: name the "
                "right one with --web, or begin a new search."
            )
        settings = EvolutionSettings.from_json(values, self._topics(), (recorded.path or place).resolve())
        _check_digest(settings, digest)
        return settings, recorded

    def _topics(self) -> list[Topic]:
        return read_topics(self.path / TOPICS_FILE)

    @property
    def log(self) -> Path:
        return self.path / LOG_FILE

    def logged(self) -> list[Logged]:
        """All evaluations that are known; BadInput if the log cannot be that of a search."""
        return read_log(self.log)

    def append(self, evaluated: Logged) -> None:
        append_to_log(self.log, evaluated)

    def write_result(self, text: str) -> None:
        """Write the rules, unless they are there already."""
        if not self.result.is_file() or self.result.read_bytes() != text.encode():
            write_atomic(self.result, text.encode())

    def compared(self) -> dict[str, float]:
        """The fitness of known strategies; empty if it is not known yet, or no longer."""
        try:
            with open_regular(self.path / COMPARED_FILE) as file:
                told = json.loads(file.read())
            return {str(name): float(fitness) for name, fitness in told.items() if isfinite(fitness)}
        except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return {}

    def write_compared(self, fitnesses: Mapping[str, float]) -> None:
        write_atomic(self.path / COMPARED_FILE, (json.dumps(dict(fitnesses), indent=2) + "\n").encode())


def check_new(out: Path, force: bool) -> None:
    """BadInput if no folder may be made here."""
    if not force and is_search_folder(out):
        raise InvalidInput(
            f"{printable(out)} exists already and holds a search: go on with it by --resume {printable(out)}, choose "
            "another name, or replace it with --force."
        )
    check_replaceable(out, force, is_search_folder)
    if out.exists():
        with _held(out):
            return


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    with try_lock(folder) as is_ours:
        if not is_ours:
            raise InvalidInput(f"Another process is searching in {printable(folder)}: wait for it, or end it first.")
        yield


def _write_about(folder: Path, out: Path, settings: EvolutionSettings, web: RecordedWeb) -> None:
    experiment = settings.experiment
    write_topics(folder / TOPICS_FILE, experiment.all_topics())
    about = {
        "format": FORMAT,
        "version": VERSION,
        "scenthound": version("scenthound"),
        "web_fingerprint": web.fingerprint,
        # Found again when search and web are moved together.
        "web_from_here": os.path.relpath(experiment.web.resolve(), out.resolve()),
        "train_digest": None if experiment.train_from is None else training_digest(experiment.train_from),
        "settings": settings.as_json(),
    }
    (folder / ABOUT_FILE).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _place_of_web(folder: Path, absolute: str, from_here: str) -> Path:
    beside = folder / from_here
    return beside if beside.is_dir() and not Path(absolute).is_dir() else Path(absolute)


def _check_digest(settings: EvolutionSettings, digest: str | None) -> None:
    folder = settings.experiment.train_from
    if folder is not None and training_digest(folder) != digest:
        raise InvalidInput(
            f"The training pages in {printable(folder)} were changed since the search began: bring back what they "
            "were, or begin a new search."
        )


def read_about(folder: Path) -> dict[str, Any]:
    """What `search.json` says; BadInput if the folder is no search, or one that this version cannot read."""
    try:
        about = json.loads((folder / ABOUT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInput(f"{printable(folder)} is not the folder of a search: make one with `scenthound evolve`.")
    if about.get("version") != VERSION:
        said = printable(about.get("version"), 40)
        raise InvalidInput(
            f"{printable(folder)} has version {said} of the format and this Scenthound reads {VERSION}: install the "
            "Scenthound that made it."
        )
    return about


def is_search_folder(folder: Path) -> bool:
    """Whether a folder is that of a search, and so may be replaced when told to."""
    try:
        read_about(folder)
    except InvalidInput:
        return False
    return True
