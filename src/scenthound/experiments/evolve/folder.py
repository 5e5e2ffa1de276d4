"""The folder of a search: its settings, a log of all evaluations, and the best rules so far.

search.json         format, version, settings, and the web with its fingerprint; never changes
topics.jsonl        all topics of the topic file: relevance models also learn from examples of other topics
evaluations.jsonl   one line per evaluation, in the order of the search: round, place (index in the round), genes,
                    fitness, crawls, visits
compared.json       the fitness of known strategies on the same crawls, by name; written at the end
evolved.toml        the best rules, replaced after each round; a strategy
evolved-2.toml      the second best, and so on, if more than the best are wanted; written at the end

Rules
- A search is determined by its settings and the fitness values it receives, so the log is its complete state. A resumed
  search requests the same individuals, and receives what is logged.
- The result is not changed before the entire log has been replayed.
- Only one process at a time works in a folder.
- A line of the log is on disk before the search receives it. An incomplete last line is cut off. Any other line that no
  search writes is rejected, with its number: all lines after it depend on it.
- A fitness is the mean of its crawls, so neither can be changed without the other.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from math import isclose, isfinite
from pathlib import Path
from typing import Any

from scenthound.errors import CorruptData, InvalidInput, printable
from scenthound.experiments.evolve.evaluation import Evaluation
from scenthound.experiments.evolve.settings import EvolutionSettings
from scenthound.experiments.runs import about_web, web_of
from scenthound.experiments.search.base import Genes
from scenthound.files import write_atomic
from scenthound.records import from_json
from scenthound.store.folder import ResultFolder, check_replaceable, is_kind
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import training_digest
from scenthound.topics.files import read_topics, write_topics

ABOUT_FILE = "search.json"
TOPICS_FILE = "topics.jsonl"
LOG_FILE = "evaluations.jsonl"
COMPARED_FILE = "compared.json"
RESULT_FILE = "evolved.toml"
#: Largest relative difference of a mean computed on another machine.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the log: the evaluation of an individual, by round and index within the round."""

    round: int
    index: int
    genes: Genes
    evaluation: Evaluation

    def line(self) -> str:
        about = {"round": self.round, "place": self.index, "genes": self.genes}
        return json.dumps(about | asdict(self.evaluation)) + "\n"

    @classmethod
    def read(cls, line: bytes) -> "Logged":
        """Parse a line; CorruptData if `line` cannot have written it."""
        with CorruptData.wrapping("The line", "search"):
            values = json.loads(line)
            logged = from_json(cls, {**values, "index": values["place"], "evaluation": values})
            done = logged.evaluation
            single = {"round": logged.round, "place": logged.index, "fitness": done.fitness, "visits": done.visits}
            crawls = tuple(chain.from_iterable(done.crawls)) if all(done.crawls) else ()
            several = {"genes": logged.genes, "crawls": crawls, **{name: (each,) for name, each in single.items()}}
            for name, numbers in several.items():
                if not numbers or not all(0 <= number <= sys.float_info.max for number in numbers):
                    raise ValueError(f"{name} has a value that is not a finite non-negative number")
            mean = Evaluation.of(done.crawls, done.visits).fitness
            if not isclose(done.fitness, mean, rel_tol=ROUNDING):
                raise ValueError(f"fitness {done.fitness:g} is not the mean of its crawls, {mean:g}")
        return logged


class SearchFolder:
    """A search folder. A process that writes to it holds its lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.result = path / RESULT_FILE
        self.log = path / LOG_FILE
        self._files = ResultFolder(path, "search")

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
        with ResultFolder(out, "search").hold():
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
            digest, values = about["train_digest"], about["settings"]
            recorded = web_of(self.path, about, values["crawls_of"]["web"], web)
        except (KeyError, TypeError):
            raise InvalidInput(f"{printable(self.path / ABOUT_FILE)} is corrupt: start a new search.") from None
        assert recorded.path is not None
        settings = EvolutionSettings.from_json(values, read_topics(self.path / TOPICS_FILE), recorded.path.resolve())
        training = settings.experiment.train_from
        if training is not None and training_digest(training) != digest:
            raise InvalidInput(
                f"The training pages in {printable(training)} have changed since the search was started: restore "
                "them, or start a new search."
            )
        return settings, recorded

    def logged(self) -> list[Logged]:
        """All logged evaluations; an incomplete last line is removed from the file. InvalidInput if a line is
        corrupt."""
        content = self.log.read_bytes() if self.log.is_file() else b""
        complete = content[: content.rfind(b"\n") + 1]
        known = []
        for number, line in enumerate(complete.splitlines(), 1):
            try:
                known.append(Logged.read(line))
            except CorruptData as error:
                raise self.invalid_line(number, f"corrupt, {printable(error.__cause__, 70)}") from None
        if len(complete) < len(content):
            os.truncate(self.log, len(complete))
        return known

    def invalid_line(self, number: int, reason: str) -> InvalidInput:
        return InvalidInput(
            f"{printable(self.log)}, line {number:,}: {reason}. Delete this line and all lines after "
            "it, which are then evaluated again, or start a new search."
        )

    def append(self, evaluated: Logged) -> None:
        """Log an evaluation and sync the file."""
        with self.log.open("a", encoding="utf-8") as file:
            file.write(evaluated.line())
            file.flush()
            os.fsync(file.fileno())

    def file_of(self, rank: int) -> Path:
        """The file of the best rules (1), the second best (2) and so on."""
        return self.result if rank == 1 else self.path / f"{self.result.stem}-{rank}{self.result.suffix}"

    def write_rules(self, rank: int, text: str) -> None:
        """Write a file of rules, unless it has them already."""
        file = self.file_of(rank)
        if not file.is_file() or file.read_bytes() != text.encode():
            write_atomic(file, text.encode())

    def compared(self) -> dict[str, float]:
        """The fitness of known strategies; empty if there is none yet or the file is corrupt."""
        try:
            values = self._files.read_json(COMPARED_FILE, dict[str, float])
        except InvalidInput:
            return {}
        return {name: fitness for name, fitness in values.items() if isfinite(fitness)}

    def write_compared(self, fitnesses: Mapping[str, float]) -> None:
        self._files.write_json(COMPARED_FILE, fitnesses)


def check_new(out: Path, force: bool) -> None:
    """InvalidInput if no search folder may be created here."""
    if not force and is_kind(out, "search"):
        raise InvalidInput(
            f"{printable(out)} has a search already: continue it with --resume {printable(out)}, choose another name, "
            "or replace it with --force."
        )
    check_replaceable(out, "search", force=force)
    if out.exists():
        with ResultFolder(out, "search").hold():
            return


def _about(out: Path, settings: EvolutionSettings, web: RecordedWeb) -> dict[str, Any]:
    experiment, content = settings.experiment, settings.as_json()
    path = web.crawl or experiment.web.resolve()
    content["crawls_of"]["web"] = str(path)
    digest = None if experiment.train_from is None else training_digest(experiment.train_from)
    return {**about_web(web, path, out), "train_digest": digest, "settings": content}


def read_about(folder: Path) -> dict[str, Any]:
    """The content of `search.json`; InvalidInput if the folder is not a search, or of a version that cannot be read."""
    return ResultFolder.open(folder, kind="search").about
