"""Crawls kept by their content, so that a study that is run again only makes those that are new.

The name of a crawl is a digest of all that decides it: the web, the topic's words, the pages it starts and learns from,
strategy, guide, budget, mode, and the code that crawls. So nothing stale is ever found: what changed has another name.
A file that is damaged or half written is as good as none.
"""

import hashlib
import io
import json
import os
import secrets
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from scenthound.drivers.ended import Ended
from scenthound.drivers.simulated_crawl import Crawl
from scenthound.lab.experiment import Experiment, random_seed_of
from scenthound.lab.starts import Start
from scenthound.model import Topic
from scenthound.strategies.base import STRATEGIES

#: The rooms whose code decides in which order pages are visited.
DECIDING_ROOMS = ("drivers", "frontier", "registry", "relevance", "strategies", "store", "text", "web")
#: Not even if it stands in one of them: what judges crawls afterwards.
JUDGES = "judging"
#: Raised when the files' form changes.
FORM = 1


@dataclass(frozen=True, slots=True)
class CrawlName:
    """The digest that a crawl is kept under."""

    digest: str


def _crawling_code() -> str:
    return code_digest()


@dataclass(frozen=True, slots=True)
class Ground:
    """What the crawls of a run have in common beside their experiment: the web, and the code that crawls. It is found
    out once, so that a run is of one piece even if a file of the code is edited meanwhile."""

    web_fingerprint: str
    code: str = field(default_factory=_crawling_code)


def crawl_name(experiment: Experiment, ground: Ground, strategy: str, topic: Topic, start: Start) -> CrawlName:
    """What decides a crawl, as one name."""
    decides = {
        "form": FORM,
        "code": ground.code,
        "strategy": strategy,
        "strategy_code": _own_code(strategy),
        "guide": experiment.guide_of(strategy),
        "web": ground.web_fingerprint,
        "topic": [topic.keywords, topic.description],
        "random": random_seed_of(start),
        "pages": [start.seeds, start.training, start.negatives],
        "budget": experiment.page_budget,
        "mode": experiment.mode,
        "closed_world": experiment.closed_world,
        "obey_nofollow": experiment.obey_nofollow,
        # Compiled crawls are the same, but nobody measured their CPU time.
        "timed": not experiment.may_compile,
    }
    return CrawlName(hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest())


@cache
def code_digest(further_rooms: tuple[str, ...] = ()) -> str:
    """Of all code that decides a trace, and of that in further rooms; it changes with every version of Scenthound that
    may crawl otherwise."""
    digest = hashlib.sha256()
    for room in (*DECIDING_ROOMS, *further_rooms):
        for file in _sources(files("scenthound").joinpath(room)):
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != JUDGES:
            found += _sources(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found


def _own_code(strategy: str) -> str:
    """The source of a strategy that came as a plug-in, and the file that an evolved one reads; built-in ones are in the
    code digest."""
    made = STRATEGIES.make(strategy)
    parts = []
    module = type(made).__module__
    if not module.startswith("scenthound."):
        parts.append(Path(str(import_module(module).__file__)))
    file = STRATEGIES.values(STRATEGIES.parse(strategy)).get("file")
    if isinstance(file, str):
        parts.append(Path(file))
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest() if parts else ""


class TraceCache:
    """A folder of crawls, one file each, which several processes may use at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, name: CrawlName) -> bool:
        return self._place(name).is_file()

    def load(self, name: CrawlName) -> Crawl | None:
        """None if there is no such crawl, or none that can be read."""
        try:
            with self._place(name).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                return Crawl(
                    pages=arrays["pages"],
                    relevance=arrays["relevance"],
                    cpu_us=arrays["cpu_us"],
                    ended=Ended(about["ended"]),
                    n_missing=int(about["n_missing"]),
                    n_repeated=int(about["n_repeated"]),
                    time_s=arrays.get("time_s"),
                )
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None

    def save(self, name: CrawlName, crawl: Crawl) -> None:
        """Whole or not at all. What is lost in a power cut is crawled again, so nothing waits for the disk."""
        about = {"ended": crawl.ended.value, "n_missing": crawl.n_missing, "n_repeated": crawl.n_repeated}
        arrays = {"pages": crawl.pages, "relevance": crawl.relevance, "cpu_us": crawl.cpu_us}
        if crawl.time_s is not None:
            arrays["time_s"] = crawl.time_s
        content = io.BytesIO()
        np.savez(content, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
        unfinished.write_bytes(content.getvalue())
        os.replace(unfinished, place)

    def _place(self, name: CrawlName) -> Path:
        return self._folder / name.digest[:2] / f"{name.digest}.npz"
