"""Crawls kept by their content, so that a study that is run again only makes those that are new.

The name of a crawl is a digest of all that decides it: the web, the topic's words, the pages it starts and learns from,
strategy, guide, budget, mode, and the code that crawls (`code_digests`). So nothing stale is ever found: what changed
has another name. A file that is damaged or half written is as good as none.
"""

import hashlib
import io
import json
import os
import secrets
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from scenthound.drivers.ended import Ended
from scenthound.drivers.simulated_crawl import Crawl
from scenthound.errors import BadInput, printable
from scenthound.lab.experiment import Experiment, random_seed_of
from scenthound.lab.starts import Start
from scenthound.lab.studies.code_digests import code_digest, folder_digest, plug_in_digest
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE
from scenthound.strategies.base import STRATEGIES

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
        "guide": experiment.guide_of(strategy),
        "guide_code": plug_in_digest(RELEVANCE.make(experiment.guide_of(strategy))),
        "web": ground.web_fingerprint,
        "topic": [topic.keywords, topic.description],
        "random": random_seed_of(start),
        "pages": [start.seeds, start.training, start.negatives],
        "training": ground.training,
        "budget": experiment.page_budget,
        "mode": experiment.mode,
        "closed_world": experiment.closed_world,
        "obey_nofollow": experiment.obey_nofollow,
    }
    timed, untimed = (_named({**decides, "timed": is_timed}) for is_timed in (True, False))
    if experiment.plain:
        return (timed,)
    return (untimed, timed) if experiment.may_compile else (timed, untimed)


def _named(decides: Mapping[str, Any]) -> CrawlName:
    return CrawlName(hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest())


def _strategy_code(strategy: str) -> str:
    """Of a strategy that is a plug-in, and of the file that an evolved one reads; others are in the code digest."""
    digest = plug_in_digest(STRATEGIES.make(strategy))
    file = STRATEGIES.values(STRATEGIES.parse(strategy)).get("file")
    return f"{digest}{hashlib.sha256(Path(file).read_bytes()).hexdigest()}" if isinstance(file, str) else digest


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
            raise BadInput(
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
                    ended=Ended(about["ended"]),
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
