"""What a running crawl does when somebody wishes something of it (`store/crawl_wishes`): it is asked at each look.

Rules
- A wish that cannot be carried out changes nothing, and those who watch are told why.
- A page budget and a guide are kept for later runs.
- A new guide scores the pages that come from then on; what was scored before stays as it is. To learn takes the crawl
  a moment, in which nothing is asked for.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import orjson

from scenthound.crawler.assembly import CrawlParts, training_digest
from scenthound.crawler.plan import CrawlSettings, StopConditions, check_count
from scenthound.crawler.runner import LiveRun
from scenthound.crawler.state import CrawlState, State, crawl_state
from scenthound.crawler.status import SampleRecorder
from scenthound.errors import InvalidInput, ScenthoundError, UsageError, printable
from scenthound.files import regular_bytes, write_atomic
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.crawl_rows import RelevanceRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.locks import try_lock
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.training_folder import training_files
from scenthound.strategies.base import STRATEGIES

# What somebody else wants of a crawl that is running: `wishes.json` in its folder, which the crawl looks at.
#
# Rules
# - The file is written whole, and says which run it is for: wishes for an earlier run are not heard.
# - Wishes are a state, not a list of orders: what is wanted now, whoever wanted it. Whoever writes last is heard.
# - Who may write into the folder may have wishes; nobody else can.

WISHES_FILE = "wishes.json"
#: A longer file is none of ours.
MOST_BYTES = 10_000
_FOLDER = re.compile(r"[\w-]+(/[\w-]+)*")


@dataclass(frozen=True, slots=True)
class CrawlWishes:
    """None leaves as it is. `relevance_model` is a folder of pages to learn from, in the folder of the crawl."""

    run: int
    paused: bool = False
    stop: bool = False
    page_budget: int | None = None
    relevance_model: str | None = None

    def __post_init__(self) -> None:
        """TypeError or ValueError for values that are none of ours: the file may hold anything."""
        kinds = {"run": int, "paused": bool, "stop": bool, "page_budget": int | None, "relevance_model": str | None}
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is no {kind}")
        if self.relevance_model is not None and not _FOLDER.fullmatch(self.relevance_model):
            raise ValueError(f"{self.relevance_model!r} is no folder in that of the crawl")

    @classmethod
    def read(cls, folder: Path) -> "CrawlWishes | None":
        """None if there are none, or none that can be read."""
        try:
            return cls(**orjson.loads(regular_bytes(folder / WISHES_FILE, MOST_BYTES)))
        except (OSError, TypeError, ValueError):
            return None

    def write(self, folder: Path) -> None:
        write_atomic(folder / WISHES_FILE, orjson.dumps(asdict(self)) + b"\n", follow_link=False)


class WishReader:
    """Looks at the file when it was changed; a glance costs a few microseconds."""

    def __init__(self, folder: Path, run: int) -> None:
        self._folder = folder
        self._run = run
        self._seen: tuple[int, int] | None = None

    def news(self) -> CrawlWishes | None:
        """The wishes for this run, if they were written since the last glance."""
        try:
            stat = (self._folder / WISHES_FILE).stat()
        except OSError:
            return None
        if (stat.st_mtime_ns, stat.st_ino) == self._seen:
            return None
        self._seen = stat.st_mtime_ns, stat.st_ino
        wishes = CrawlWishes.read(self._folder)
        return wishes if wishes is not None and wishes.run == self._run else None


#: The model that learns where the crawl's own does not.
LEARNING_MODEL = "svm"


def with_relevance_model(plan: CrawlSettings, folder: Path, goals: StopConditions) -> CrawlSettings:
    """The plan as the guide that was trained anew has it, if one was."""
    if goals.relevance_model is None:
        return plan
    named = plan.relevance or STRATEGIES.make(plan.strategy).relevance_model
    model = named if trains(RELEVANCE.make(named)) else LEARNING_MODEL
    return replace(
        plan, relevance=model, train_from=str(folder / goals.relevance_model), train_digest=goals.relevance_digest
    )


def record_relevance_model(
    store: CrawlStore, plan: CrawlSettings, goals: StopConditions, first_visit: int, now_s: float
) -> None:
    """Note that pages are scored by the guide of this plan from a visit on, unless that is noted already: what was
    scored before was scored by another."""
    relevance_models = store.relevance_models()
    if goals.relevance_model is None or (relevance_models and relevance_models[-1].folder == goals.relevance_model):
        return
    place = store.folder / goals.relevance_model
    n_positive, n_negative = (len(training_files(place, kind)) for kind in ("positive", "negative"))
    name = plan.relevance or LEARNING_MODEL
    store.add_relevance_model(RelevanceRecord(first_visit, now_s, name, goals.relevance_model, n_positive, n_negative))


class Obedience:
    """Looks for wishes and carries them out, on the loop of the run."""

    def __init__(
        self,
        run: LiveRun,
        parts: CrawlParts,
        plan: CrawlSettings,
        store: CrawlStore,
        *,
        wishes: WishReader,
        samples: SampleRecorder,
        clock: Callable[[], float],
    ) -> None:
        self._run = run
        self._parts = parts
        self._plan = plan
        self._store = store
        self._wishes = wishes
        self._samples = samples
        self._clock = clock
        self._heard = CrawlWishes(0)

    def look(self) -> None:
        wishes = self._wishes.news()
        if wishes is None:
            return
        before, self._heard = self._heard, wishes
        try:
            self._obey(wishes, before)
            self._samples.problem = ""
        except ScenthoundError as reason:
            self._samples.problem = str(reason)
        except OSError as reason:
            self._samples.problem = f"{printable(self._store.folder)} cannot be written: {reason.strerror}."

    def _obey(self, wishes: CrawlWishes, before: CrawlWishes) -> None:
        """Stopping and pausing first: nothing that fails may keep a crawl from that."""
        if wishes.stop and not before.stop:
            self._run.stop()
        if wishes.paused != before.paused:
            (self._run.pause if wishes.paused else self._run.go_on)()
        if wishes.page_budget is not None and wishes.page_budget != before.page_budget:
            check_count("pages", wishes.page_budget, least=1)
            self._keep(StopConditions.read(self._store.folder).updated(page_budget=wishes.page_budget))
            self._run.set_page_budget(wishes.page_budget)
        if wishes.relevance_model is not None and wishes.relevance_model != before.relevance_model:
            self._learn(wishes.relevance_model)

    def _learn(self, relevance_model: str) -> None:
        folder = self._store.folder
        if not (folder / relevance_model).resolve().is_relative_to(folder.resolve()):
            raise InvalidInput(
                f"{printable(relevance_model)} is not in the folder of the crawl, so nothing is learnt from it."
            )
        digest = training_digest(folder / relevance_model)
        goals = StopConditions.read(folder).updated(relevance_model=relevance_model, relevance_digest=digest)
        plan = with_relevance_model(self._plan, folder, goals)
        self._parts.score_by(plan)
        record_relevance_model(self._store, plan, goals, self._parts.crawl.engine.n_visits, self._clock())
        self._keep(goals)

    def _keep(self, goals: StopConditions) -> None:
        goals.write(self._store.folder)


# Steer a crawl from outside: pause it, let it go on, stop it, give it another page budget or guide.
#
# A running crawl carries out what is wished within a second. Of a crawl that is not running, or about to end, page
# budget and guide can be set: the next run takes them.

SOON = "within a second or so"
#: Each takes a twentieth of a second.
MOST_TRIES = 40


def pause(folder: Path) -> str:
    """Each of these says what will happen."""
    _wish(folder, lambda wishes: replace(wishes, paused=True))
    return f"The crawl takes up no new page, {SOON}. What is in flight is finished."


def go_on(folder: Path) -> str:
    _wish(folder, lambda wishes: replace(wishes, paused=False))
    return f"The crawl goes on, {SOON}."


def stop(folder: Path) -> str:
    _wish(folder, lambda wishes: replace(wishes, stop=True))
    return "The crawl finishes what is in flight, saves, and ends. It can be resumed."


def set_page_budget(folder: Path, pages: int) -> str:
    check_count("pages", pages, least=1)
    stands = _state(folder)
    if _hears(stands):
        _wish(folder, lambda wishes: replace(wishes, page_budget=pages))
        if stands.status is not None and stands.status["pages"] >= pages:
            return f"The crawl has {stands.status['pages']:,} pages already: it finishes what is in flight, and ends."
        return f"The crawl has a budget of {pages:,} pages, {SOON}."
    StopConditions.read(folder).updated(page_budget=pages).write(folder)
    return f"The next run has a budget of {pages:,} pages: resume the crawl."


def use_relevance_model(folder: Path, relevance_model: str) -> str:
    """`relevance_model` is a folder of pages to learn from, in that of the crawl, written as `guides/2`."""
    place = folder / relevance_model
    if not place.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{printable(relevance_model)} is not in the folder of the crawl: copy it there.")
    digest = training_digest(place)
    if _hears(_state(folder)):
        _wish(folder, lambda wishes: replace(wishes, relevance_model=relevance_model))
        return f"The crawl scores pages by the new guide, {SOON}."
    StopConditions.read(folder).updated(relevance_model=relevance_model, relevance_digest=digest).write(folder)
    return "The next run scores pages by the new guide: resume the crawl."


def _hears(stands: CrawlState) -> bool:
    """Whether a run is at work that is not about to end."""
    return stands.is_alive and stands.run is not None and stands.state is not State.ENDING


def _state(folder: Path) -> CrawlState:
    with StoredCrawl.open(folder) as crawl:
        return crawl_state(crawl)


def _wish(folder: Path, changed: Callable[[CrawlWishes], CrawlWishes]) -> None:
    """Change what is wished of the run; WrongUse if there is none that could hear it."""
    stands = _state(folder)
    if not stands.is_alive or stands.run is None:
        raise UsageError(f"The crawl in {printable(folder)} is not running ({stands.state}): resume it first.")
    if stands.state is State.ENDING:
        raise UsageError(f"The crawl in {printable(folder)} is about to end: resume it when it has.")
    with _alone(folder):
        before = CrawlWishes.read(folder)
        if before is None or before.run != stands.run.run:
            before = CrawlWishes(stands.run.run)
        try:
            changed(before).write(folder)
        except OSError as reason:
            raise InvalidInput(f"{printable(folder)} cannot be written: {reason.strerror}; check its rights.") from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """What one changes, nobody else changes meanwhile."""
    for _ in range(MOST_TRIES):
        with try_lock(folder) as is_ours:
            if is_ours:
                yield
                return
    raise InvalidInput(f"Another program holds {printable(folder)}: try again in a moment.")
