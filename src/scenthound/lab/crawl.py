"""A live crawl from a plan to its end: made in a folder, or taken up where its folder says it stood."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from scenthound.drivers.ended import Ended
from scenthound.drivers.live.loop import RunLimits
from scenthound.drivers.live.replay import Replay, TakenUp
from scenthound.drivers.live.status import CrawlStatus
from scenthound.errors import BadInput, printable
from scenthound.lab.crawl_parts import CrawlParts, check
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_running import Running, Watch, run_to_end
from scenthound.lab.crawl_sources import pinned
from scenthound.lab.obeying import with_guide
from scenthound.lab.run_goals import RunGoals
from scenthound.model import Progress, silent
from scenthound.reasons import Reason
from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_store import CrawlStore


def unwatched(_status: CrawlStatus) -> None:
    """Nobody looks."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How this run of a crawl ends and is watched. Budget and floor are kept for later runs that are told none."""

    page_budget: int | None = None  #: other than the plan's
    time_s: float | None = None
    harvest_floor: float | None = None
    commit_s: float = 1.0
    watch: Watch = unwatched
    watch_s: float = 0.5
    progress: Progress = silent  #: of taking up what was done before
    obey_signals: bool = False  #: let Ctrl-C and SIGTERM end the crawl in good order


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """What a crawl came to, all its runs together; `seconds` and the speed are those of the last run."""

    folder: Path
    ended: Ended
    status: CrawlStatus
    page_budget: int
    reasons: dict[Reason, int]
    n_recorded: int = 0  #: pages that were read from a recording, and are not in the crawl's archive
    recording: str | None = None  #: where that is


def crawl(plan: CrawlPlan, folder: Path, options: RunOptions | None = None, *, force: bool = False) -> CrawlSummary:
    """Crawl into a new folder. `force` replaces an earlier crawl there."""
    options = options or RunOptions()
    goals = RunGoals(options.page_budget, options.harvest_floor)
    archive = ArchiveSettings(plan.user_agent, software=plan.user_agent.split(" ")[0])
    plan = pinned(plan)
    check(plan)
    with closing(CrawlStore.create(folder, plan.as_settings(), archive, force=force)) as store:
        return _run(plan, store, options, goals)


def resume(folder: Path, options: RunOptions | None = None) -> CrawlSummary:
    """Go on with a crawl, however it was stopped. What the options leave open is as the last run was told."""
    with closing(CrawlStore.open(folder)) as store:
        options = options or RunOptions()
        goals = RunGoals.read(folder).updated(page_budget=options.page_budget, harvest_floor=options.harvest_floor)
        return _run(CrawlPlan.from_settings(store.about.settings), store, options, goals)


def _run(plan: CrawlPlan, store: CrawlStore, options: RunOptions, goals: RunGoals) -> CrawlSummary:
    guided = with_guide(plan, store.folder, goals)
    with closing(CrawlParts(guided, store)) as parts:
        if goals != RunGoals():
            goals.write(store.folder)
        stands = take_up(parts, plan, store, options.progress)
        page_budget = goals.page_budget or plan.page_budget
        limits = RunLimits(page_budget, options.time_s, goals.harvest_floor, options.commit_s, options.watch_s)
        running = Running(parts, plan, guided, goals, store, stands, limits, options.watch, options.obey_signals)
        ended, status = run_to_end(running)
        return CrawlSummary(
            store.folder, ended, status, status.page_budget, store.reasons(), store.n_recorded(), plan.web
        )


def take_up(parts: CrawlParts, plan: CrawlPlan, store: CrawlStore, progress: Progress = silent) -> TakenUp:
    """Start the crawl, and tell it what its folder holds."""
    crawl = parts.crawl
    crawl.engine.start(plan.seeds, Random(plan.random_seed))
    try:
        stands = Replay(crawl.engine, store, crawl.note_visit, crawl.note_refusal).run(progress)
    except (TypeError, ValueError, LookupError) as reason:
        raise BadInput(
            f"{printable(store.folder)} cannot be taken up: its journal does not fit its rows, or not this strategy "
            f"({type(reason).__name__}: {printable(reason, 100)}). Bring back the folder from a copy."
        ) from reason
    crawl.reasons.update(store.reasons())
    crawl.begin_journal()
    return stands
