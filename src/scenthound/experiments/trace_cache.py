"""A cache of crawls, so that an experiment that is run again makes only the crawls that are new.

The name of a crawl is a digest of everything that decides it: the web, the topic's words, its start and training pages,
the strategy, the relevance model, the page budget, the mode, and the code that crawls. What changed has another name,
so that a cached crawl is never stale. A file that is damaged counts as missing.
"""

import hashlib
import io
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from scenthound.by_value import digest, is_importable, package_digest
from scenthound.caller_files import read_bytes, write_bytes
from scenthound.errors import InvalidInput, printable
from scenthound.experiments.results import versions
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start, random_seed_of
from scenthound.model import Topic
from scenthound.reasons import EndReason
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.web import Crawl
from scenthound.strategies.base import STRATEGIES

#: The packages whose code decides in which order pages are visited.
DECIDING_PACKAGES = (
    "simulator",
    "frontier",
    "native",
    "registry.py",
    "relevance",
    "strategies",
    "store",
    "text",
    "web",
)
SOURCE_FOLDER = Path(__file__).parents[1]
#: The files of these packages that count; the extension is a library.
SOURCES = (".py", ".so", ".gz", ".toml")
#: Classifiers that label pages after a crawl do not decide it.
EVALUATORS = "classifiers"
#: The libraries of relevance models and of the stemmer.
DECIDING_LIBRARIES = ("numpy", "scipy", "scikit-learn")


@cache
def code_digest(further_packages: tuple[str, ...] = ()) -> str:
    """The digest of all code that decides a trace, and of that in further packages."""
    installed = versions()
    digest = hashlib.sha256(" ".join(installed.get(library, "none") for library in DECIDING_LIBRARIES).encode())
    for package in (*DECIDING_PACKAGES, *further_packages):
        path = SOURCE_FOLDER / package
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix in SOURCES and EVALUATORS not in file.relative_to(path).parts:
                digest.update(file.name.encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def plug_in_digest(made: object) -> str:
    """The digest of the package that defines the class of an object, or of the class itself if a script or a notebook
    defines it; empty for Scenthound itself."""
    package = type(made).__module__.partition(".")[0]
    if package == "scenthound":
        return ""
    return package_digest(package) if is_importable(type(made)) else digest(type(made))


def folder_digest(folder: Path) -> str:
    """The digest of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(folder)).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


#: Increased when the format of the files changes.
FORM = 4


@dataclass(frozen=True, slots=True)
class Provenance:
    """What decides crawls besides the settings of their experiment: the web, the code, and the training folder if there
    is one. It is computed once per run, so that a run stays consistent while a file is edited."""

    web_fingerprint: str
    code: str
    training: str = ""

    @classmethod
    def of(cls, web_fingerprint: str, train_from: Path | None = None) -> "Provenance":
        return cls(web_fingerprint, code_digest(), "" if train_from is None else folder_digest(train_from))


def crawl_names(
    experiment: Experiment, provenance: Provenance, strategy: str, topic: Topic, start: Start
) -> tuple[str, ...]:
    """The name under which a new crawl is stored, followed by alternatives that may be loaded instead. A crawl in C
    visits the same pages as one in Python, but takes another time, which only a plain experiment needs."""
    decides = {
        "form": FORM,
        "code": provenance.code,
        "strategy": strategy,
        "strategy_code": _strategy_code(strategy),
        "relevance_model": experiment.relevance_model_of(strategy),
        "relevance_model_code": plug_in_digest(RELEVANCE.make(experiment.relevance_model_of(strategy))),
        "web": provenance.web_fingerprint,
        "topic": [topic.keywords, topic.description],
        "random": random_seed_of(start),
        "pages": [start.seeds, start.training, start.negatives],
        "training": provenance.training,
        "budget": experiment.page_budget,
        "mode": experiment.mode,
        "task": experiment.task,
        "closed_world": experiment.closed_world,
        "respect_nofollow": experiment.respect_nofollow,
    }
    plain, other = (
        hashlib.sha256(json.dumps({**decides, "plain": is_plain}, sort_keys=True).encode()).hexdigest()
        for is_plain in (True, False)
    )
    return (plain,) if experiment.plain else (other, plain)


def _strategy_code(strategy: str) -> str:
    """The digest of a plug-in, also as a member of a portfolio, or of the file of an evolved strategy; other strategies
    are in the code digest."""
    made = STRATEGIES.make(strategy)
    code = plug_in_digest(made) + "".join(map(_strategy_code, getattr(made, "members", ())))
    file = STRATEGIES.values(STRATEGIES.parse(strategy)).get("file")
    return f"{code}{hashlib.sha256(Path(file).read_bytes()).hexdigest()}" if isinstance(file, str) else code


class TraceCache:
    """A folder of crawls, one file each. Several processes may use it at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make_folder(self) -> None:
        """Create the folder before the first crawl, so that no crawl is made that cannot be stored."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            why = f"{reason.strerror or reason}. Choose another folder."
            raise InvalidInput(f"Cannot store crawls in {printable(self._folder)}: {why}") from None

    def first_of(self, names: Iterable[str]) -> Crawl | None:
        """The first of these crawls that is stored."""
        return next((crawl for name in names if (crawl := self.load(name)) is not None), None)

    def load(self, name: str) -> Crawl | None:
        """None if there is no such crawl, or if its file is damaged."""
        try:
            with np.load(io.BytesIO(read_bytes(self._path(name))), allow_pickle=False) as arrays:
                about = json.loads(str(arrays["about"]))
                return Crawl(
                    pages=arrays["pages"],
                    relevance=arrays["relevance"],
                    cpu_us=arrays["cpu_us"],
                    ended=EndReason(about["ended"]),
                    n_missing=int(about["n_missing"]),
                    n_repeated=int(about["n_repeated"]),
                    n_evicted=int(about["n_evicted"]),
                    diagnostics=about["diagnostics"],
                    time_s=arrays.get("time_s"),
                )
        except (OSError, ValueError, LookupError, EOFError, TypeError, RuntimeError, BadZipFile, zlib.error):
            return None

    def save(self, name: str, crawl: Crawl) -> None:
        """Write atomically, without waiting for the disk: what a power failure loses is crawled again."""
        counts = {name: getattr(crawl, name) for name in ("n_missing", "n_repeated", "n_evicted")}
        about = {"ended": crawl.ended.value, **counts, "diagnostics": dict(crawl.diagnostics)}
        arrays = {"pages": crawl.pages, "relevance": crawl.relevance, "cpu_us": crawl.cpu_us}
        if crawl.time_s is not None:
            arrays["time_s"] = crawl.time_s
        content = io.BytesIO()
        np.savez(content, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
        write_bytes(self._path(name), content.getvalue())

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.npz"
