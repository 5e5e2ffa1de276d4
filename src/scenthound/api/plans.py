"""What a crawl would do first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenthound.api.arguments import called_with
from scenthound.api.progress import show_progress
from scenthound.api.results import Result, Table
from scenthound.api.runs import CrawlRun, new_run, resumed_run
from scenthound.crawler.options import CrawlArguments, ResumeArguments
from scenthound.crawler.plan import PlannedStart, RankedPage, StartPage, plan_new, plan_resumed
from scenthound.ui.formats import counted


@dataclass(frozen=True, repr=False)
class CrawlPlan(Result):
    """The start pages of a new crawl, and a ranking of its queue with reasons; `start` has more about it."""

    folder: Path
    is_new: bool
    start: PlannedStart

    @property
    def start_pages(self) -> Table[StartPage]:
        """The first start pages, as they were found; empty for a crawl to be resumed."""
        return Table.of(StartPage, self.start.start_pages, "start pages")

    @property
    def ranking(self) -> Table[RankedPage]:
        """The best queued pages, those with the highest scores first."""
        return Table.of(RankedPage, self.start.ranking, "queued pages")

    def _headline(self) -> str:
        settings = self.start.settings
        what = "New crawl" if self.is_new else f"Crawl of {counted(self.start.n_visits, 'page')}, resumed,"
        return f"{what} for {settings.topic.id} by {settings.strategy} in {self.folder}. No folder was made or changed."

    def _tables(self) -> list[Table[Any]]:
        return [self.start_pages, self.ranking] if self.is_new else [self.ranking]


@called_with(CrawlArguments)
def plan(options: CrawlArguments) -> CrawlPlan:
    """What `crawl` would do with these arguments: its start pages, and a ranking of their links with reasons.

    Only start pages and their robots.txt files are requested, and no folder is made; `Crawl.plan` ranks the queue of a
    crawl to be resumed.
    """
    return planned(new_run(options))


@called_with(ResumeArguments)
def plan_again(options: ResumeArguments) -> CrawlPlan:
    """What `resume` would do with these arguments."""
    return planned(resumed_run(options))


def planned(run: CrawlRun) -> CrawlPlan:
    """The plan of a run whose arguments have been checked."""
    with show_progress("planning", run.progress) as report:
        if run.is_new:
            start = plan_new(run.settings, run.folder, run.options, force=run.force, progress=report)
        else:
            start = plan_resumed(run.folder, run.options, progress=report)
        return CrawlPlan(run.folder, run.is_new, start)
