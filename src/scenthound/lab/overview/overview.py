"""All that a page about a crawl tells of it, read from its folder in one go."""

from dataclasses import dataclass
from pathlib import Path

from scenthound.errors import ScenthoundError
from scenthound.lab.crawl_parts import guide_of
from scenthound.lab.crawl_plan import CrawlPlan
from scenthound.lab.crawl_state import CrawlState, crawl_state
from scenthound.lab.overview.curves import CrawlCurves, crawl_curves, visit_curves
from scenthound.lab.overview.link_graph import CrawlGraph, crawl_graph
from scenthound.lab.overview.top_hosts import HostPages, HostTally
from scenthound.lab.run_goals import RunGoals
from scenthound.model import FloatArray
from scenthound.store.crawl_rows import GuideRow, RunRow
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.visit_columns import RefusedExamples, VisitColumns, VisitLine
from scenthound.strategies.base import STRATEGIES

MOST_LISTED = 20
#: Curves of fewer moments are drawn by visits instead.
LEAST_MOMENTS = 20


@dataclass(frozen=True, slots=True)
class CrawlOverview:
    """`relevance` is that of every page, in order of the visits; `guide` is the model that gave it at first, and
    `guides` are those that were trained while the crawl ran."""

    folder: Path
    crawl_id: str
    user_agent: str
    plan: CrawlPlan
    goals: RunGoals
    guide: str
    state: CrawlState
    runs: tuple[RunRow, ...]
    guides: tuple[GuideRow, ...]
    curves: CrawlCurves
    relevance: FloatArray
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
    def seconds(self) -> float:
        """That the crawl was at work, all runs together."""
        return float(self.curves.seconds[-1]) if len(self.curves) else 0.0

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
        state, runs = crawl_state(crawl), tuple(crawl.runs())
        n_pages = crawl.n_visits()
        time_s, relevance = crawl.numbers(("time_s", "relevance"), n_pages)
        hosts = _all_hosts(crawl)
        return CrawlOverview(
            folder=place,
            crawl_id=str(crawl.about.crawl_id),
            user_agent=crawl.about.archive.user_agent,
            plan=plan,
            goals=RunGoals.read(place),
            guide=guide_name(plan),
            state=state,
            runs=runs,
            guides=tuple(crawl.guides()),
            curves=_curves(crawl),
            relevance=relevance,
            began_s=runs[0].began_s if runs and not runs[0].n_pages_before else next(iter(time_s.tolist()), None),
            last_s=float(time_s.max()) if n_pages else None,
            best=tuple(crawl.best(MOST_LISTED)),
            latest=tuple(crawl.latest(MOST_LISTED)),
            hosts=tuple(hosts.top(MOST_LISTED)),
            n_hosts=hosts.n_hosts,
            refused=tuple(crawl.refused()),
            graph=crawl_graph(crawl),
        )


def guide_name(plan: CrawlPlan) -> str:
    """The model that scored pages when the crawl began. A strategy or model that is not installed here cannot be asked
    which that is."""
    try:
        return guide_of(plan, STRATEGIES.make(plan.strategy))
    except ScenthoundError:
        return plan.relevance or "the strategy's own"


def _curves(crawl: StoredCrawl) -> CrawlCurves:
    curves = crawl_curves(crawl)
    return curves if len(curves) >= LEAST_MOMENTS else visit_curves(crawl)


def _all_hosts(crawl: StoredCrawl) -> HostTally:
    tally = HostTally()
    while not tally.read_on(crawl):
        continue
    return tally
