"""The crawls of one arm of a study, in parallel processes; those that were made before are found and not made again.

A piece of work is one topic and one random seed, with a crawl by every strategy. Crawls stay in the cache's folder;
what comes back is only which pages were visited, and how many crawls were made.
"""

import hashlib
import io
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from scenthound.by_value import digest, is_importable, package_digest
from scenthound.errors import Failure, InvalidInput, printable
from scenthound.experiments.experiment import Bench, Experiment, random_seed_of
from scenthound.experiments.starts import Start
from scenthound.model import IntArray, Progress, Topic, Trace, silent
from scenthound.processes import in_order, processors
from scenthound.reasons import EndReason
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.web import Crawl
from scenthound.strategies.base import STRATEGIES

# Digests of what decides a crawl beside its settings: code, plug-ins, libraries, folders of pages.
#
# They change with every version that may crawl otherwise.

#: The rooms whose code decides in which order pages are visited.
DECIDING_ROOMS = ("simulator", "frontier", "registry.py", "relevance", "strategies", "store", "text", "web")
#: Not even if it stands in one of them: what judges crawls afterwards.
JUDGES = "classifiers"
#: The libraries that guides are made with, or that cut words.
DECIDING_LIBRARIES = ("numpy", "scipy", "scikit-learn", "PyStemmer")


@cache
def code_digest(further_rooms: tuple[str, ...] = ()) -> str:
    """Of all code that decides a trace, and of that in further rooms."""
    digest = hashlib.sha256(" ".join(map(_version, DECIDING_LIBRARIES)).encode())
    for room in (*DECIDING_ROOMS, *further_rooms):
        for file in _sources(files("scenthound").joinpath(room)):
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"


def _sources(folder: Traversable) -> list[Traversable]:
    if folder.is_file():
        return [folder]
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != JUDGES:
            found += _sources(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found


def plug_in_digest(made: object) -> str:
    """Of the package that an object's class is defined in, or of its code if that is a script or a notebook; empty for
    what is part of Scenthound."""
    package = type(made).__module__.partition(".")[0]
    if package == "scenthound":
        return ""
    return package_digest(package) if is_importable(type(made)) else digest(type(made))


def folder_digest(folder: Path) -> str:
    """Of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(folder)).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


# Crawls kept by their content, so that a study that is run again only makes those that are new.
#
# The name of a crawl is a digest of all that decides it: the web, the topic's words, the pages it starts and learns
# from, strategy, guide, budget, mode, and the code that crawls (`code_digests`). So nothing stale is ever found: what
# changed has another name. A file that is damaged or half written is as good as none.

#: Raised when the files' form changes.
FORM = 2


@dataclass(frozen=True, slots=True)
class CrawlName:
    """The digest that a crawl is kept under."""

    digest: str


@dataclass(frozen=True, slots=True)
class Ground:
    """What the crawls of a run have in common beside their experiment: the web, the code that crawls, and the folder
    that guides learn from, if there is one. It is found out once, so that a run is of one piece even if a file is
    edited meanwhile."""

    web_fingerprint: str
    code: str
    training: str = ""

    @classmethod
    def of(cls, web_fingerprint: str, train_from: Path | None = None) -> "Ground":
        return cls(web_fingerprint, code_digest(), "" if train_from is None else folder_digest(train_from))


def crawl_names(
    experiment: Experiment, ground: Ground, strategy: str, topic: Topic, start: Start
) -> tuple[CrawlName, ...]:
    """The name that a crawl is kept under when it is made, and after it another that serves as well: compiled crawls
    are the same, but nobody measured their CPU time, which only an experiment that is plain asks for."""
    decides = {
        "form": FORM,
        "code": ground.code,
        "strategy": strategy,
        "strategy_code": _strategy_code(strategy),
        "relevance_model": experiment.relevance_model_of(strategy),
        "guide_code": plug_in_digest(RELEVANCE.make(experiment.relevance_model_of(strategy))),
        "web": ground.web_fingerprint,
        "topic": [topic.keywords, topic.description],
        "random": random_seed_of(start),
        "pages": [start.seeds, start.training, start.negatives],
        "training": ground.training,
        "budget": experiment.page_budget,
        "mode": experiment.mode,
        "closed_world": experiment.closed_world,
        "respect_nofollow": experiment.respect_nofollow,
    }
    timed, untimed = (_named({**decides, "timed": is_timed}) for is_timed in (True, False))
    if experiment.plain:
        return (timed,)
    return (untimed, timed) if experiment.may_compile else (timed, untimed)


def _named(decides: Mapping[str, Any]) -> CrawlName:
    return CrawlName(hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest())


def _strategy_code(strategy: str) -> str:
    """Of a strategy that is a plug-in, and of the file that an evolved one reads; others are in the code digest."""
    code = plug_in_digest(STRATEGIES.make(strategy))
    file = STRATEGIES.values(STRATEGIES.parse(strategy)).get("file")
    return f"{code}{hashlib.sha256(Path(file).read_bytes()).hexdigest()}" if isinstance(file, str) else code


class TraceCache:
    """A folder of crawls, one file each, which several processes may use at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make_folder(self) -> None:
        """Before the first crawl, so that nothing is crawled for that cannot be kept."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            why = reason.strerror or reason
            raise InvalidInput(
                f"Crawls cannot be kept in {printable(self._folder)} ({why}); choose another place."
            ) from None

    def first_of(self, names: Iterable[CrawlName]) -> Crawl | None:
        """The first crawl of these that there is."""
        return next((crawl for name in names if (crawl := self.load(name)) is not None), None)

    def load(self, name: CrawlName) -> Crawl | None:
        """None if there is no such crawl, or none that can be read."""
        try:
            with self._place(name).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                return Crawl(
                    pages=arrays["pages"],
                    relevance=arrays["relevance"],
                    cpu_us=arrays["cpu_us"],
                    ended=EndReason(about["ended"]),
                    n_missing=int(about["n_missing"]),
                    n_repeated=int(about["n_repeated"]),
                    time_s=arrays.get("time_s"),
                )
        except (OSError, ValueError, LookupError, EOFError, TypeError, RuntimeError, BadZipFile, zlib.error):
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


Planned = tuple[Topic, Start]


@dataclass(frozen=True, slots=True)
class Crawled:
    """What one piece of work came to."""

    visited: IntArray  #: by any of the strategies, each page once
    n_made: int  #: crawls that were not found ready


def crawl_all(
    experiment: Experiment,
    ground: Ground,
    planned: list[Planned],
    cache: Path,
    *,
    workers: int | None = None,
    progress: Progress = silent,
) -> Iterator[Crawled]:
    """Make the crawls that the cache lacks, in the order of topics and seeds."""
    TraceCache(cache).make_folder()
    n_workers = min(workers or processors(), len(planned))
    make = partial(CachedBench, experiment, ground, cache)
    with closing(in_order(make, planned, n_workers)) as pieces:
        for done, piece in enumerate(pieces, 1):
            n_crawls = len(experiment.strategies)
            progress(done / len(planned), f"{done * n_crawls:,} of {len(planned) * n_crawls:,} crawls")
            yield piece


class CachedBench:
    """Where the crawls of one experiment run, in one process. What crawls is made when a crawl is missing."""

    def __init__(self, experiment: Experiment, ground: Ground, cache: Path) -> None:
        self._experiment = experiment
        self._ground = ground
        self._cache = TraceCache(cache)
        self._bench: Bench | None = None

    def __call__(self, planned: Planned) -> Crawled:
        crawls = [self._crawl(strategy, planned) for strategy in self._experiment.strategies]
        visited = np.unique(np.concatenate([crawl.pages for crawl, _ in crawls]))
        return Crawled(visited, sum(is_new for _, is_new in crawls))

    def _crawl(self, strategy: str, planned: Planned) -> tuple[Crawl, bool]:
        names = crawl_names(self._experiment, self._ground, strategy, *planned)
        kept = self._cache.first_of(names)
        if kept is not None:
            return kept, False
        self._bench = self._bench or Bench(self._experiment)
        crawl = self._bench.crawl(strategy, *planned)
        self._cache.save(names[0], crawl)
        return crawl, True


@dataclass(frozen=True, slots=True)
class KeptCrawl:
    """A crawl with what it was for."""

    trace: Trace
    crawl: Crawl


class KeptCrawls:
    """The crawls of one experiment, as the cache has them."""

    def __init__(self, experiment: Experiment, ground: Ground, cache: Path) -> None:
        self._experiment = experiment
        self._ground = ground
        self._cache = TraceCache(cache)

    def of(self, topic: Topic, start: Start) -> list[KeptCrawl]:
        """One by each strategy."""
        return [self._kept(strategy, topic, start) for strategy in self._experiment.strategies]

    def _kept(self, strategy: str, topic: Topic, start: Start) -> KeptCrawl:
        crawl = self._cache.first_of(crawl_names(self._experiment, self._ground, strategy, topic, start))
        if crawl is None:
            who = f"{strategy} for topic {topic.id!r}"
            raise Failure(f"A crawl of {who} was removed from the cache meanwhile; run the same command again.")
        trace = Trace(topic.id, strategy, start.seed, crawl.pages, crawl.relevance, crawl.cpu_us)
        return KeptCrawl(trace, crawl)
