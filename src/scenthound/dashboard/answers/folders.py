"""What the API tells of folders: which there are, and what experiments came to."""

from dataclasses import dataclass
from typing import Literal

from scenthound.dashboard.answers.shared import Fact, Problem

Kind = Literal["crawl", "run", "comparison", "study", "search", "validation", "web", "unreadable"]
#: `died`: the process ended without a word. `stopped`: it was told to stop, and can go on. `ended`: by itself.
State = Literal["running", "paused", "ending", "ended", "stopped", "died", "not begun"]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that the dashboard was given, or found in one. `id` stands in addresses."""

    id: str
    name: str
    path: str
    kind: Kind
    title: str  #: what it is about, in a few words
    state: State | None  #: of a crawl, or of a search
    pages: int | None
    page_budget: int | None
    harvest: float | None
    problem: Problem | None


@dataclass(frozen=True, slots=True)
class Folders:
    version: str
    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """A genetic search after each generation: the best fitness so far, and the mean of its population. Generation
    0, where there is one, is what it began with."""

    generation: tuple[int, ...]
    best: tuple[float, ...]
    mean: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A folder of the laboratory. `report` is the address of its page, if it has one yet."""

    id: str
    name: str
    path: str
    kind: Kind
    title: str
    summary: tuple[str, ...]
    facts: tuple[Fact, ...]
    report: str | None
    search: SearchProgress | None
