"""Steer a crawl from outside: pause it, let it go on, stop it, give it another page budget or guide.

A running crawl carries out what is wished within a second. Of a crawl that is not running, or about to end, page budget
and guide can be set: the next run takes them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scenthound.errors import BadInput, WrongUse, printable
from scenthound.lab.crawl_plan import check_count
from scenthound.lab.crawl_sources import training_digest
from scenthound.lab.crawl_state import CrawlState, State, crawl_state
from scenthound.lab.run_goals import RunGoals
from scenthound.store.crawl_wishes import CrawlWishes
from scenthound.store.folder_lock import locked_unless_taken
from scenthound.store.stored_crawl import StoredCrawl

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
    RunGoals.read(folder).updated(page_budget=pages).write(folder)
    return f"The next run has a budget of {pages:,} pages: resume the crawl."


def use_guide(folder: Path, guide: str) -> str:
    """`guide` is a folder of pages to learn from, in that of the crawl, written as `guides/2`."""
    place = folder / guide
    if not place.resolve().is_relative_to(folder.resolve()):
        raise WrongUse(f"{printable(guide)} is not in the folder of the crawl: copy it there.")
    digest = training_digest(place)
    if _hears(_state(folder)):
        _wish(folder, lambda wishes: replace(wishes, guide=guide))
        return f"The crawl scores pages by the new guide, {SOON}."
    RunGoals.read(folder).updated(guide=guide, guide_digest=digest).write(folder)
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
        raise WrongUse(f"The crawl in {printable(folder)} is not running ({stands.state}): resume it first.")
    if stands.state is State.ENDING:
        raise WrongUse(f"The crawl in {printable(folder)} is about to end: resume it when it has.")
    with _alone(folder):
        before = CrawlWishes.read(folder)
        if before is None or before.run != stands.run.run:
            before = CrawlWishes(stands.run.run)
        try:
            changed(before).write(folder)
        except OSError as reason:
            raise BadInput(f"{printable(folder)} cannot be written: {reason.strerror}; check its rights.") from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """What one changes, nobody else changes meanwhile."""
    for _ in range(MOST_TRIES):
        with locked_unless_taken(folder) as is_ours:
            if is_ours:
                yield
                return
    raise BadInput(f"Another program holds {printable(folder)}: try again in a moment.")
