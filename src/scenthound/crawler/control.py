"""Control of a running crawl: pause, resume, stop, page budget and relevance model.

Commands are written to `control.json` in the crawl folder, and the running crawl polls that file.

Rules
- The file holds the wanted state, not a list of commands: the last writer wins. It is replaced atomically, and names
  the run that it is for; a later run ignores it.
- A command that cannot be carried out changes nothing, and the status says why.
- Page budget and relevance model are kept for later runs. They can also be set while no process crawls.
- A retrained relevance model scores pages visited from then on. Earlier scores stay.
- Crawls in shards take no commands.
"""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import orjson

from scenthound.crawler.assembly import CrawlParts
from scenthound.crawler.runner import LiveRun
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import CrawlState, SampleRecorder, State, crawl_state
from scenthound.errors import CorruptData, InvalidInput, ScenthoundError, UsageError, printable
from scenthound.files import regular_bytes, write_atomic
from scenthound.records import from_json
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.crawl_folder import RUN_FILE, refuse_shards
from scenthound.store.crawl_records import RelevanceRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.folder import cannot_write
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.training_folder import training_digest, training_files

CONTROL_FILE = "control.json"
MAX_CONTROL_BYTES = 10_000
#: How long to wait for another process that writes commands.
LOCK_TIMEOUT_S = 2.0
SOON = "within about a second"
_FOLDER = re.compile(r"[\w-]+(/[\w-]+)*")


@dataclass(frozen=True, slots=True)
class Control:
    """The wanted state of a run; None leaves it unchanged. `relevance_model` is a folder of training pages, inside the
    crawl folder."""

    run: int
    paused: bool = False
    stop: bool = False
    page_budget: int | None = None
    relevance_model: str | None = None

    def __post_init__(self) -> None:
        """ValueError for other paths: the file may contain anything."""
        if self.relevance_model is not None and not _FOLDER.fullmatch(self.relevance_model):
            raise ValueError(f"{self.relevance_model!r} is not a folder in the crawl folder")

    @classmethod
    def read(cls, folder: Path) -> "Control | None":
        """None if there is no file, or an unreadable one."""
        try:
            values = orjson.loads(regular_bytes(folder / CONTROL_FILE, MAX_CONTROL_BYTES))
            return from_json(cls, values) if {each.name for each in fields(cls)}.issuperset(values) else None
        except (OSError, TypeError, ValueError, CorruptData):
            return None

    def write(self, folder: Path) -> None:
        write_atomic(folder / CONTROL_FILE, orjson.dumps(asdict(self)) + b"\n", follow_link=False)


#: Used where the crawl's own relevance model cannot be trained.
TRAINABLE_MODEL = "svm"


def with_relevance_model(settings: CrawlSettings, folder: Path, conditions: StopConditions) -> CrawlSettings:
    """The settings with the retrained relevance model, if there is one."""
    if conditions.relevance_model is None:
        return settings
    named = settings.relevance or TRAINABLE_MODEL
    model = named if trains(RELEVANCE.make(named)) else TRAINABLE_MODEL
    return replace(
        settings,
        relevance=model,
        train_from=str(folder / conditions.relevance_model),
        train_digest=conditions.relevance_digest,
    )


def record_relevance_model(
    store: CrawlStore, settings: CrawlSettings, conditions: StopConditions, first_visit: int, now_s: float
) -> None:
    """Record from which visit on the retrained relevance model scores pages, unless that is recorded already."""
    relevance_models = store.relevance_models()
    if conditions.relevance_model is None or (
        relevance_models and relevance_models[-1].folder == conditions.relevance_model
    ):
        return
    training = store.folder / conditions.relevance_model
    positive, negative = (training_files(training, kind) for kind in ("positive", "negative"))
    for file in (*positive, *negative):
        store.log_file(file)
    name = settings.relevance or TRAINABLE_MODEL
    store.add(RelevanceRecord(first_visit, now_s, name, conditions.relevance_model, len(positive), len(negative)))


@dataclass
class Controller:
    """Polls for commands and carries them out, on the event loop of the run. A poll costs a few microseconds."""

    run: LiveRun
    parts: CrawlParts
    settings: CrawlSettings
    store: CrawlStore
    samples: SampleRecorder
    clock: Callable[[], float]
    _last: Control = Control(0)
    #: When the file was changed last, and its number.
    _seen: tuple[int, int] | None = None

    def poll(self) -> None:
        try:
            stat = (self.store.folder / CONTROL_FILE).stat()
        except OSError:
            return
        seen, self._seen = self._seen, (stat.st_mtime_ns, stat.st_ino)
        control = None if seen == self._seen else Control.read(self.store.folder)
        if control is None or control.run != self.samples.run:
            return
        before, self._last = self._last, control
        try:
            self._apply(control, before)
            self.samples.problem = ""
        except ScenthoundError as reason:
            self.samples.problem = str(reason)
        except OSError as reason:
            self.samples.problem = cannot_write(self.store.folder, reason)

    def _apply(self, control: Control, before: Control) -> None:
        """Stop and pause first: a command that fails must not prevent them."""
        if control.stop and not before.stop:
            self.run.stop()
        if control.paused != before.paused:
            (self.run.pause if control.paused else self.run.resume)()
        if control.page_budget is not None and control.page_budget != before.page_budget:
            StopConditions.read(self.store.folder).updated(page_budget=control.page_budget).write(self.store.folder)
            self.store.log_file(self.store.folder / RUN_FILE)
            self.run.set_page_budget(control.page_budget)
        if control.relevance_model is not None and control.relevance_model != before.relevance_model:
            self._use_relevance_model(control.relevance_model)

    def _use_relevance_model(self, relevance_model: str) -> None:
        folder = self.store.folder
        _check_inside(folder, relevance_model)
        digest = training_digest(folder / relevance_model)
        conditions = StopConditions.read(folder).updated(relevance_model=relevance_model, relevance_digest=digest)
        settings = with_relevance_model(self.settings, folder, conditions)
        self.parts.set_relevance_model(settings)
        record_relevance_model(self.store, settings, conditions, self.parts.crawl.engine.n_visits, self.clock())
        conditions.write(folder)
        self.store.log_file(folder / RUN_FILE)


def pause(folder: Path) -> str:
    """Each of these commands returns a sentence that says what will happen."""
    _command(folder, paused=True)
    return f"The crawl starts no new request, {SOON}. Requests in flight are finished."


def resume(folder: Path) -> str:
    _command(folder, paused=False)
    return f"The crawl resumes, {SOON}."


def stop(folder: Path) -> str:
    _command(folder, stop=True)
    return "The crawl finishes requests in flight, saves and ends. It can be resumed."


def set_page_budget(folder: Path, pages: int) -> str:
    StopConditions(pages)  # Checks it.
    _refuse_shards(folder)
    state = _state(folder)
    if _takes_commands(state):
        _command(folder, page_budget=pages)
        if state.status is not None and state.status.n_pages >= pages:
            return f"The crawl has {state.status.n_pages:,} pages already: it finishes requests in flight and ends."
        return f"The crawl has a budget of {pages:,} pages, {SOON}."
    StopConditions.read(folder).updated(page_budget=pages).write(folder)
    return f"The next run has a budget of {pages:,} pages: resume the crawl."


def use_relevance_model(folder: Path, relevance_model: str) -> str:
    """`relevance_model` is a folder of training pages in the crawl folder, such as `relevance_models/2`."""
    _refuse_shards(folder)
    _check_inside(folder, relevance_model)
    digest = training_digest(folder / relevance_model)
    if _takes_commands(_state(folder)):
        _command(folder, relevance_model=relevance_model)
        return f"The crawl scores pages with the retrained relevance model, {SOON}."
    StopConditions.read(folder).updated(relevance_model=relevance_model, relevance_digest=digest).write(folder)
    return "The next run scores pages with the retrained relevance model: resume the crawl."


def _refuse_shards(folder: Path) -> None:
    refuse_shards(folder, "stop it with Ctrl-C where it runs, and change it when you resume it with --cluster")


def _check_inside(folder: Path, relevance_model: str) -> None:
    if not (folder / relevance_model).resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{printable(relevance_model)} is not in the crawl folder: copy it there.")


def _takes_commands(state: CrawlState) -> bool:
    """Whether a process crawls and is not about to end."""
    return state.is_alive and state.run is not None and state.state is not State.ENDING


def _state(folder: Path) -> CrawlState:
    with StoredCrawl.open(folder) as crawl:
        return crawl_state(crawl)


def _command(folder: Path, **changes: Any) -> None:
    """Change the wanted state of the run; UsageError if no run takes commands."""
    _refuse_shards(folder)
    state = _state(folder)
    if not state.is_alive or state.run is None:
        raise UsageError(f"The crawl in {printable(folder)} is not running ({state.state}): resume it first.")
    if state.state is State.ENDING:
        raise UsageError(f"The crawl in {printable(folder)} is about to end: resume it afterwards.")
    with try_lock(folder, LOCK_TIMEOUT_S) as is_free:
        if not is_free:
            raise InvalidInput(f"Another program has locked {printable(folder)}: try again.")
        before = Control.read(folder)
        if before is None or before.run != state.run.run:
            before = Control(state.run.run)
        try:
            replace(before, **changes).write(folder)
        except OSError as reason:
            raise InvalidInput(cannot_write(folder, reason)) from None
