"""What a crawl would do first, without doing it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenthound.api.arguments import public, with_arguments_of
from scenthound.api.crawls import CrawlRun, new_run
from scenthound.api.progress import show_progress
from scenthound.api.results import Result, Table

if TYPE_CHECKING:
    from scenthound.crawler.plan import PlannedRequest, PlannedStart


@dataclass(frozen=True, repr=False)
class CrawlPlan(Result):
    """The first requests of a crawl in its folder, in order, with reasons; `start` has more about it."""

    folder: Path
    is_new: bool
    start: PlannedStart

    @property
    def requests(self) -> Table[PlannedRequest]:
        """The first requests, in order. Pages of an offline crawl are read, not requested."""
        from scenthound.crawler.plan import PlannedRequest

        return Table.of(PlannedRequest, self.start.requests, "first requests", formats={"seconds": "{:g}".format})

    def _headline(self) -> str:
        from scenthound.ui.formats import counted

        settings = self.start.settings
        what = "New crawl" if self.is_new else f"Crawl of {counted(self.start.n_visits, 'page')}, resumed,"
        nothing = "Nothing was requested, and no folder was made or changed."
        return f"{what} for {settings.topic.id} by {settings.strategy} in {self.folder}. {nothing}"

    def _tables(self) -> list[Table[Any]]:
        return [self.requests]


@public
@with_arguments_of(new_run)
def plan(run: CrawlRun) -> CrawlPlan:
    """What `crawl` would request first with these arguments, and why. All of them are checked as `crawl` does.

    Nothing is requested and no folder is made; `Crawl.plan` does the same for a crawl to be resumed.
    """
    return planned(run)


def planned(run: CrawlRun) -> CrawlPlan:
    """The plan of a run whose arguments have been checked."""
    from scenthound.crawler.plan import plan_new, plan_resumed

    if run.is_new:
        return CrawlPlan(run.folder, True, plan_new(run.settings, run.folder, run.options, force=run.force))
    with show_progress("reading", run.progress) as report:
        return CrawlPlan(run.folder, False, plan_resumed(run.folder, run.options, progress=report))
