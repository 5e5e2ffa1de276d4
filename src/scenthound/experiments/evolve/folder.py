"""The folder of a search: its settings, a log of all evaluations, and the best rules so far.

search.json         format, version, settings, and the web with its fingerprint; never changes
topics.jsonl        all topics of the topic file: relevance models also learn from examples of other topics
evaluations.jsonl   one line per evaluation, in the order of the search: round, place, genes, fitness, crawls, visits
compared.json       the fitness of known strategies on the same crawls, by name; written at the end
evolved.toml        the best rules, replaced after each round; a strategy

Rules
- A search is determined by its settings and the fitness values it receives, so the log is its complete state. A resumed
  search asks for the same individuals, and receives what is logged.
- The result is not changed before the whole log has been replayed.
- Only one process at a time works in a folder.
- A line of the log is on disk before the search receives it. An incomplete last line is cut off. Any other line that no
  search writes is rejected, with its number: all lines after it depend on it.
- A fitness is the mean of its crawls, so neither can be changed without the other.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from math import isclose, isfinite
from pathlib import Path
from typing import Any

from scenthound.crawler.assembly import training_digest
from scenthound.errors import InvalidInput, printable
from scenthound.experiments.evolve.evaluation import Evaluation
from scenthound.experiments.evolve.settings import EvolutionSettings
from scenthound.experiments.runs import web_path
from scenthound.experiments.search.base import Genes
from scenthound.experiments.setup import with_new_names
from scenthound.files import open_regular, write_atomic
from scenthound.model import Topic
from scenthound.store.crawl_web import open_web
from scenthound.store.folder import ResultFolder, check_replaceable, is_kind
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics, write_topics

#: Largest relative difference of a mean computed on another machine.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the log: the evaluation of an individual, by round and index within the round."""

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
        """Parse a line; ValueError, with the reason, if `line` cannot have written it."""
        values = _object(line)
        genes = _numbers(values, "genes")
        return cls(_whole(values, "round"), _whole(values, "place"), genes, _evaluation(values))


def read_log(log: Path) -> list[Logged]:
    """All logged evaluations. An incomplete last line is removed from the file."""
    content = log.read_bytes() if log.is_file() else b""
    whole = content[: content.rfind(b"\n") + 1]
    known = [_read(log, number, line) for number, line in enumerate(whole.splitlines(), 1)]
    if len(whole) < len(content):
        os.truncate(log, len(whole))
    return known


def append_to_log(log: Path, evaluated: Logged) -> None:
    """Append an evaluation and sync the file."""
    with log.open("a", encoding="utf-8") as file:
        file.write(evaluated.line())
        file.flush()
        os.fsync(file.fileno())


def invalid_line(log: Path, number: int, reason: str) -> InvalidInput:
    """The error for an invalid line."""
    return InvalidInput(
        f"{printable(log)}, line {number:,}: {reason}. Delete this line and all lines after it, which are then "
        "evaluated again, or start a new search."
    )


def _read(log: Path, number: int, line: bytes) -> Logged:
    try:
        return Logged.read(line)
    except ValueError as error:
        raise invalid_line(log, number, f"corrupt, {error}") from None


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ValueError("not a JSON object")
    return values


def _evaluation(values: Mapping[str, Any]) -> Evaluation:
    topics = values.get("crawls")
    if not isinstance(topics, list) or not topics:
        raise ValueError("crawls is not a list of lists")
    crawls = tuple(_numbers({"crawls": topic}, "crawls") for topic in topics)
    (fitness,) = _numbers({"fitness": [values.get("fitness")]}, "fitness")
    evaluation = Evaluation.of(crawls, _whole(values, "visits"))
    if not isclose(fitness, evaluation.fitness, rel_tol=ROUNDING):
        raise ValueError(f"fitness {fitness:g} is not the mean of its crawls, {evaluation.fitness:g}")
    return Evaluation(fitness, crawls, evaluation.n_visits)


def _whole(values: Mapping[str, Any], key: str) -> int:
    value = values.get(key)
    if type(value) is not int or value < 0:
        raise ValueError(f"{key} is not a non-negative integer")
    return value


def _numbers(values: Mapping[str, Any], key: str) -> tuple[float, ...]:
    numbers = values.get(key)
    if not isinstance(numbers, list) or not numbers or not all(map(_is_number, numbers)):
        raise ValueError(f"{key} has a value that is not a finite non-negative number")
    return tuple(numbers)


def _is_number(value: object) -> bool:
    # Not `isfinite`: JSON integers can be larger than any float.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max


ABOUT_FILE = "search.json"
TOPICS_FILE = "topics.jsonl"
LOG_FILE = "evaluations.jsonl"
COMPARED_FILE = "compared.json"
RESULT_FILE = "evolved.toml"


class SearchFolder:
    """A search folder whose lock this process holds."""

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
        """Create a folder atomically, and hold its lock."""
        check_new(out, force)
        with ResultFolder.create(out, kind="search", force=force) as folder:
            write_topics(folder.path / TOPICS_FILE, settings.experiment.all_topics())
            folder.write_json(ABOUT_FILE, _about(out, settings, web))
        with _held(out):
            yield cls(out)

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator["SearchFolder"]:
        """Open a folder of an earlier search, and hold its lock."""
        with ResultFolder.open(path, kind="search").hold():
            yield cls(path)

    def settings(self, web: Path | None = None) -> tuple[EvolutionSettings, RecordedWeb]:
        """The settings and the web; InvalidInput if it is another web. `web` is its path if it was moved."""
        about = read_about(self.path)
        try:
            path = web or web_path(self.path, about["settings"]["crawls_of"]["web"], about["web_from_here"])
            fingerprint, digest, values = about["web_fingerprint"], about["train_digest"], about["settings"]
        except (KeyError, TypeError):
            raise InvalidInput(f"{printable(self.path / ABOUT_FILE)} is corrupt: start a new search.") from None
        if not path.is_dir():
            raise InvalidInput(
                f"Cannot find the web of {printable(self.path)} at {printable(path)}: give its path with --web."
            )
        recorded = open_web(path)
        if recorded.fingerprint != fingerprint:
            raise InvalidInput(
                f"The search in {printable(self.path)} was started on another web than {printable(path)}: give the "
                "right one with --web, or start a new search."
            )
        settings = EvolutionSettings.from_json(values, self._topics(), (recorded.path or path).resolve())
        _check_digest(settings, digest)
        return settings, recorded

    def _topics(self) -> list[Topic]:
        return read_topics(self.path / TOPICS_FILE)

    @property
    def log(self) -> Path:
        return self.path / LOG_FILE

    def logged(self) -> list[Logged]:
        """All logged evaluations; InvalidInput if the log is corrupt."""
        return read_log(self.log)

    def append(self, evaluated: Logged) -> None:
        append_to_log(self.log, evaluated)

    def write_result(self, text: str) -> None:
        """Write the rules, unless the file has them already."""
        if not self.result.is_file() or self.result.read_bytes() != text.encode():
            write_atomic(self.result, text.encode())

    def compared(self) -> dict[str, float]:
        """The fitness of known strategies; empty if there is none yet or the file is corrupt."""
        try:
            with open_regular(self.path / COMPARED_FILE) as file:
                values = json.loads(file.read())
            return {str(name): float(fitness) for name, fitness in values.items() if isfinite(fitness)}
        except (OSError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return {}

    def write_compared(self, fitnesses: Mapping[str, float]) -> None:
        write_atomic(self.path / COMPARED_FILE, (json.dumps(dict(fitnesses), indent=2) + "\n").encode())


def check_new(out: Path, force: bool) -> None:
    """InvalidInput if no search folder may be created here."""
    if not force and is_search_folder(out):
        raise InvalidInput(
            f"{printable(out)} has a search already: continue it with --resume {printable(out)}, choose another name, "
            "or replace it with --force."
        )
    check_replaceable(out, force, is_search_folder)
    if out.exists():
        with _held(out):
            return


def _held(folder: Path) -> AbstractContextManager[None]:
    return ResultFolder(folder, "search").hold()


def _about(out: Path, settings: EvolutionSettings, web: RecordedWeb) -> dict[str, Any]:
    experiment = settings.experiment
    return {
        "scenthound": version("scenthound"),
        "web_fingerprint": web.fingerprint,
        # Still valid when search and web are moved together.
        "web_from_here": os.path.relpath(experiment.web.resolve(), out.resolve()),
        "train_digest": None if experiment.train_from is None else training_digest(experiment.train_from),
        "settings": settings.as_json(),
    }


def _check_digest(settings: EvolutionSettings, digest: str | None) -> None:
    folder = settings.experiment.train_from
    if folder is not None and training_digest(folder) != digest:
        raise InvalidInput(
            f"The training pages in {printable(folder)} have changed since the search was started: restore them, or "
            "start a new search."
        )


def read_about(folder: Path) -> dict[str, Any]:
    """The content of `search.json`; InvalidInput if the folder is not a search, or of a version that cannot be read."""
    about = ResultFolder.open(folder, kind="search").about
    settings = about.get("settings")
    if isinstance(settings, dict) and isinstance(settings.get("crawls_of"), dict):
        settings["crawls_of"] = with_new_names(settings["crawls_of"])
    return about


def is_search_folder(folder: Path) -> bool:
    """Whether a folder is that of a search, which --force may replace."""
    return is_kind(folder, "search")
