"""What a running crawl does when somebody wishes something of it (`store/crawl_wishes`): it is asked at each look.

Rules
- A wish that cannot be carried out changes nothing, and those who watch are told why.
- A page budget and a guide are kept for later runs.
- A new guide scores the pages that come from then on; what was scored before stays as it is. To learn takes the crawl
  a moment, in which nothing is asked for.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scenthound.drivers.live.loop import LiveRun
from scenthound.drivers.live.moments import Moments
from scenthound.errors import BadInput, ScenthoundError, printable
from scenthound.lab.crawl_parts import CrawlParts
from scenthound.lab.crawl_plan import CrawlPlan, check_count
from scenthound.lab.crawl_sources import training_digest
from scenthound.lab.run_goals import RunGoals
from scenthound.lab.training_folder import training_files
from scenthound.relevance.base import RELEVANCE, trains
from scenthound.store.crawl_rows import GuideRow
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.crawl_wishes import CrawlWishes, WishReader
from scenthound.strategies.base import STRATEGIES

#: The model that learns where the crawl's own does not.
LEARNING_MODEL = "svm"


def with_guide(plan: CrawlPlan, folder: Path, goals: RunGoals) -> CrawlPlan:
    """The plan as the guide that was trained anew has it, if one was."""
    if goals.guide is None:
        return plan
    named = plan.relevance or STRATEGIES.make(plan.strategy).guide
    model = named if trains(RELEVANCE.make(named)) else LEARNING_MODEL
    return replace(plan, relevance=model, train_from=str(folder / goals.guide), train_digest=goals.guide_digest)


def note_guide(store: CrawlStore, plan: CrawlPlan, goals: RunGoals, first_visit: int, now_s: float) -> None:
    """Note that pages are scored by the guide of this plan from a visit on, unless that is noted already: what was
    scored before was scored by another."""
    guides = store.guides()
    if goals.guide is None or (guides and guides[-1].folder == goals.guide):
        return
    place = store.folder / goals.guide
    n_positive, n_negative = (len(training_files(place, kind)) for kind in ("positive", "negative"))
    name = plan.relevance or LEARNING_MODEL
    store.add_guide(GuideRow(first_visit, now_s, name, goals.guide, n_positive, n_negative))


class Obedience:
    """Looks for wishes and carries them out, on the loop of the run."""

    def __init__(
        self,
        run: LiveRun,
        parts: CrawlParts,
        plan: CrawlPlan,
        store: CrawlStore,
        *,
        wishes: WishReader,
        moments: Moments,
        clock: Callable[[], float],
    ) -> None:
        self._run = run
        self._parts = parts
        self._plan = plan
        self._store = store
        self._wishes = wishes
        self._moments = moments
        self._clock = clock
        self._heard = CrawlWishes(0)

    def look(self) -> None:
        wishes = self._wishes.news()
        if wishes is None:
            return
        before, self._heard = self._heard, wishes
        try:
            self._obey(wishes, before)
            self._moments.problem = ""
        except ScenthoundError as reason:
            self._moments.problem = str(reason)
        except OSError as reason:
            self._moments.problem = f"{printable(self._store.folder)} cannot be written: {reason.strerror}."

    def _obey(self, wishes: CrawlWishes, before: CrawlWishes) -> None:
        """Stopping and pausing first: nothing that fails may keep a crawl from that."""
        if wishes.stop and not before.stop:
            self._run.stop()
        if wishes.paused != before.paused:
            (self._run.pause if wishes.paused else self._run.go_on)()
        if wishes.page_budget is not None and wishes.page_budget != before.page_budget:
            check_count("pages", wishes.page_budget, least=1)
            self._keep(RunGoals.read(self._store.folder).updated(page_budget=wishes.page_budget))
            self._run.set_page_budget(wishes.page_budget)
        if wishes.guide is not None and wishes.guide != before.guide:
            self._learn(wishes.guide)

    def _learn(self, guide: str) -> None:
        folder = self._store.folder
        if not (folder / guide).resolve().is_relative_to(folder.resolve()):
            raise BadInput(f"{printable(guide)} is not in the folder of the crawl, so nothing is learnt from it.")
        digest = training_digest(folder / guide)
        goals = RunGoals.read(folder).updated(guide=guide, guide_digest=digest)
        plan = with_guide(self._plan, folder, goals)
        self._parts.score_by(plan)
        note_guide(self._store, plan, goals, self._parts.crawl.engine.n_visits, self._clock())
        self._keep(goals)

    def _keep(self, goals: RunGoals) -> None:
        goals.write(self._store.folder)
