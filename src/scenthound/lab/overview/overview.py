"""All that a page about a crawl tells of it, read from its folder in one go."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_state import CrawlState, crawl_state
from scenthound.lab.overview.curves import CrawlCurves, crawl_curves, shown_curves, working_time
from scenthound.lab.overview.link_graph import CrawlGraph, crawl_graph
from scenthound.lab.overview.scorers import Scorer, guide_name, scored_by, scorers_of
from scenthound.lab.overview.top_hosts import HostPages, HostTally
from scenthound.lab.overview.working_time import Pause
from scenthound.lab.run_goals import RunGoals
from scenthound.model import FloatArray
from scenthound.store.crawl_rows import GuideRow, RunRow
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import RefusedExamples, VisitColumns, VisitLine

MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class CrawlOverview:
    """`relevance` and `regrets` are those of every page, in order of the visits; what is not known is not-a-number.
    `guide` is the model that scored at first, and `guides` are those that were trained while the crawl ran."""

    folder: Path
    crawl_id: str
    user_agent: str
    plan: CrawlPlan
    goals: RunGoals
    guide: str
    state: CrawlState
    runs: tuple[RunRow, ...]
    guides: tuple[GuideRow, ...]
    scored_by: str  #: crawls that were scored alike have the same
    curves: CrawlCurves
    seconds: float  #: that the crawl was at work, all runs together, without pauses
    pauses: tuple[Pause, ...]
    relevance: FloatArray
    regrets: FloatArray
    began_s: float | None
    last_s: float | None  #: when the last page was taken
    best: tuple[VisitLine, ...]
    latest: tuple[VisitLine, ...]
    hosts: tuple[HostPages, ...]
    n_hosts: int
    refused: tuple[RefusedExamples, ...]
    graph: CrawlGraph

    @property
    def n_pages(self) -> int:
        return len(self.relevance)

    @property
    def page_budget(self) -> int:
        return self.goals.page_budget or self.plan.page_budget

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        """The guides that scored a page, in their order."""
        return scorers_of(self.guide, self.guides, self.n_pages)

    @property
    def n_waiting(self) -> int:
        """Pages found and not asked for. Of an older version's crawl that is known of its last visit only."""
        if self.state.status is not None and isinstance(said := self.state.status.get("frontier"), int):
            return said
        return int(self.curves.frontier[-1]) if len(self.curves) else 0

    @property
    def n_refused(self) -> int:
        return sum(each.n_pages for each in self.refused)

    @property
    def name(self) -> str:
        return self.folder.resolve().name


def overview_of(folder: str | Path) -> CrawlOverview:
    """Of a crawl, running or not; BadInput if the folder is none that can be read."""
    place = Path(folder)
    with VisitColumns.open(place) as crawl:
        plan = CrawlPlan.from_settings(crawl.about.settings)
        state, runs, guides = crawl_state(crawl), crawl.runs(), crawl.guides()
        n_pages = crawl.n_visits()
        time_s, relevance, regrets = crawl.numbers(("time_s", "relevance", "regret"), n_pages)
        hosts = _all_hosts(crawl)
        curves, seconds = _curves(crawl, state)
        return CrawlOverview(
            folder=place,
            crawl_id=str(crawl.about.crawl_id),
            user_agent=crawl.about.archive.user_agent,
            plan=plan,
            goals=RunGoals.read(place),
            guide=guide_name(plan),
            state=state,
            runs=tuple(runs),
            guides=tuple(guides),
            scored_by=scored_by(plan, crawl.about.crawl_id, guides),
            curves=curves,
            seconds=seconds,
            pauses=_pauses(crawl, runs, curves),
            relevance=relevance,
            regrets=regrets,
            began_s=runs[0].began_s if runs and not runs[0].n_pages_before else next(iter(time_s.tolist()), None),
            last_s=float(time_s.max()) if n_pages else None,
            best=tuple(crawl.best(MOST_LISTED)),
            latest=tuple(crawl.latest(MOST_LISTED)),
            hosts=tuple(hosts.top(MOST_LISTED)),
            n_hosts=hosts.n_hosts,
            refused=tuple(crawl.refused()),
            graph=crawl_graph(crawl),
        )


def _curves(crawl: StoredCrawl, state: CrawlState) -> tuple[CrawlCurves, float]:
    """The curves to draw, and how long the crawl was at work: longer than until its last page, maybe."""
    curves, drawn = crawl_curves(crawl), shown_curves(crawl, is_alive=state.is_alive)
    return drawn, max((float(each.seconds[-1]) for each in (curves, drawn) if len(each)), default=0.0)


def _pauses(crawl: VisitColumns, runs: list[RunRow], curves: CrawlCurves) -> tuple[Pause, ...]:
    """Behind the time of what an older version crawled, which noted no runs."""
    found = working_time(crawl, runs, [moment for _, moment in crawl.moments()]).pauses
    n_before = runs[0].n_pages_before if runs else 0
    before_s = float(np.interp(n_before, curves.pages, curves.seconds)) if n_before and len(curves) else 0.0
    return tuple(Pause(before_s + pause.after_s, pause.lasted_s) for pause in found)


def _all_hosts(crawl: StoredCrawl) -> HostTally:
    tally = HostTally()
    while not tally.read_on(crawl):
        continue
    return tally
