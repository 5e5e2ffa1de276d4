"""A run of a live crawl, as the command line has it: watched while it runs, summed up at its end."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from scenthound.cli import INTERRUPTED
from scenthound.cli.crawl_output import print_event, summary_values, watcher
from scenthound.cli.crawl_tables import print_summary
from scenthound.crawler.plan import CrawlSettings
from scenthound.crawler.start import RunOptions
from scenthound.crawler.start import crawl as crawl_live
from scenthound.crawler.start import resume as resume_crawl
from scenthound.reasons import EndReason
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.ui.formats import json_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scenthound.crawler.start import CrawlSummary


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked of this run, as against the crawl."""

    page_budget: int | None
    time_s: float | None
    harvest_floor: float | None
    log_json: bool
    as_json: bool


def start(plan: CrawlSettings, folder: Path, wishes: Wishes, *, force: bool) -> None:
    _run(plan, wishes, lambda options: crawl_live(plan, folder, options, force=force))


def go_on_with(folder: Path, wishes: Wishes) -> None:
    plan = CrawlSettings.from_settings(CrawlAbout.read(folder).settings)
    _run(plan, wishes, lambda options: resume_crawl(folder, options))


def _run(plan: CrawlSettings, wishes: Wishes, run: Callable[[RunOptions], CrawlSummary]) -> None:
    with watcher(f"{plan.topic.id} by {plan.strategy}", wishes.time_s, log_json=wishes.log_json) as watching:
        summary = run(
            RunOptions(
                page_budget=wishes.page_budget,
                time_s=wishes.time_s,
                harvest_floor=wishes.harvest_floor,
                watch=watching.watch,
                progress=watching.progress,
                obey_signals=True,
            )
        )
    _tell(summary, wishes)
    if summary.ended is EndReason.STOPPED:
        sys.exit(INTERRUPTED)


def _tell(summary: CrawlSummary, wishes: Wishes) -> None:
    if wishes.log_json:
        print_event("ended", summary_values(summary))
    elif wishes.as_json:
        typer.echo(json_text(summary_values(summary), indent=1))
    else:
        print_summary(summary)
