"""What `crawl` prints at its end, and what `explain` prints about a page."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli import crawl_progress as progress
from scenthound.errors import printable
from scenthound.reasons import EndReason
from scenthound.records import columns_of, to_json
from scenthound.store.archive import file_name
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_records import CheckOutcome, HostState, PageVisit
from scenthound.ui.endings import ending_text
from scenthound.ui.explanations import explanation_sentences
from scenthound.ui.formats import counted, renders_text, sitemaps_text
from scenthound.ui.reports.crawl_summary import format_time
from scenthound.ui.terminal import print_commands, print_facts, print_rows, say
from scenthound.ui.topic_notes import seed_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenthound.crawler.explain import Explanation, Parent
    from scenthound.crawler.start import CrawlSummary
    from scenthound.store.crawl_records import ArchiveLocation, CheckRecord

NAME = "scenthound"
MAX_ANCHOR_CHARACTERS = 60


def print_summary(summary: CrawlSummary) -> None:
    status = summary.status
    sitemaps = sitemaps_text(status.skipped_sitemaps, status.n_sitemap_links_elsewhere)
    renders = renders_text(status)
    n_disabled = status.hosts.get(HostState.DISABLED)
    disabled = f", {n_disabled:,} of them disabled" if n_disabled else ""
    typer.echo(f"The crawl ended: {summary.ended}.")
    if summary.ending.is_failure:
        typer.echo("No page was visited.")
    elif text := ending_text(summary.ending):
        say(text)
    print_facts(
        {
            "pages": f"{status.n_pages:,} of {summary.page_budget:,}, in {printable(summary.folder)}",
            "speed": f"{progress.speed(status)} for {progress.clock_time(status.seconds)}",
            **on_topic_facts(summary),
            **_recall(summary),
            "harvest": f"{status.harvest or 0:.3f} mean relevance, {status.recent_harvest or 0:.3f} recently",
            **_given_up(summary),
            "hosts": f"{sum(status.hosts.values()):,}{disabled}",
            "frontier": counted(status.frontier, "page"),
            **({"out of scope": counted(status.n_out_of_scope, "link")} if status.n_out_of_scope else {}),
            **({"sitemaps": sitemaps} if sitemaps else {}),
            **({"rendered": renders} if renders else {}),
            **({"taken over": _taken_over(summary.n_caught_up)} if summary.n_caught_up else {}),
        }
    )
    for text in seed_texts(summary.topic_notes):
        say(text)
    if summary.reasons:
        n_skipped = counted(sum(summary.reasons.values()), "requested page was", "requested pages were")
        progress.print_reasons(f"{n_skipped} skipped", summary.reasons)
    _print_next(summary)


def program() -> str:
    """How to call this program: by its name if that is on the path, else by its path."""
    called = Path(sys.argv[0])
    is_known = called.name != NAME or shutil.which(NAME) is not None
    return NAME if is_known else shlex.quote(os.path.relpath(called))


def on_topic_facts(summary: CrawlSummary) -> dict[str, str]:
    """How many pages are on topic, and how that was decided; empty if the relevance model cannot tell."""
    n_pages, n_on_topic = summary.status.n_pages, summary.status.n_on_topic
    if n_on_topic is None or summary.on_topic_from is None or not n_pages:
        return {}
    how = f"{printable(summary.relevance, 60)} gives them a probability of {summary.on_topic_from:g} or more"
    return {"on topic": f"{counted(n_on_topic, 'page')}, {n_on_topic / n_pages:.0%}: {how}"}


def _recall(summary: CrawlSummary) -> dict[str, str]:
    """The estimate, or why there is none; empty if the relevance model cannot tell what is on topic."""
    status = summary.status
    if status.recall_low == 1:
        return {"recall": "all pages on topic that can be reached"}
    if recall := progress.recall(status):
        return {"recall": f"{recall} of the pages on topic that can be reached, by an estimate"}
    is_expected = status.n_on_topic is not None and status.n_pages and status.recall_unknown
    return {"recall": f"unknown: {status.recall_unknown}"} if is_expected else {}


def _given_up(summary: CrawlSummary) -> dict[str, str]:
    """The cost of politeness, if there can be any and it is known."""
    status, facts = summary.status, {}
    if status.regret is not None and math.isfinite(status.regret) and summary.could_wait:
        facts["given up"] = f"{progress.regret(status)} of the best queued score, as hosts of better pages had to wait"
    if summary.n_on_topic_lost is not None:
        pages = counted(summary.n_on_topic_lost, "page")
        facts["lost"] = f"about {pages} on topic, if pages requested out of order were on topic as often as the others"
    return facts


def _taken_over(n_pages: int) -> str:
    pages = counted(n_pages, "page")
    return f"{pages} of an earlier run, which this version would have requested in another order"


def _print_next(summary: CrawlSummary) -> None:
    scenthound, folder = program(), shlex.quote(str(summary.folder))
    n_pages = summary.status.n_pages
    more = f" --pages {2 * n_pages}" if n_pages and n_pages >= summary.page_budget else ""
    commands = {
        f"{scenthound} report {folder}": "an HTML report",
        f"{scenthound} explain {folder} URL": "why a page was visited or skipped",
    }
    if summary.n_recorded < summary.status.n_pages:
        commands[f"{scenthound} export {folder} --to jsonl --out pages.jsonl"] = "export its pages"
    if summary.ended is EndReason.RECALL:
        more += " --until-recall 0"
    if summary.cluster is not None:
        more = f" --cluster {shlex.quote(summary.cluster)}{more}"
    resume = {f"{scenthound} crawl --resume {folder}{more}": "resume the crawl"}
    if summary.ended is EndReason.STOPPED:
        commands = resume | commands
    elif summary.ended is not EndReason.FRONTIER:
        commands |= resume
    if summary.n_recorded and summary.recording is not None:
        commands[f"{scenthound} simulate --web {shlex.quote(summary.recording)} ..."] = (
            "try other strategies on the recording"
        )
    elif summary.status.n_pages:
        commands[f"{scenthound} simulate --web {folder} ..."] = "try other strategies on its pages"
    typer.echo("Next:")
    print_commands(commands)


def print_explanation(page: Explanation) -> None:
    typer.echo(printable(page.url))
    for sentence in explanation_sentences(page):
        say(printable(sentence, 500))
    if page.visit is not None:
        visit = page.visit
        print_facts(
            {
                "title": printable(visit.title, 200) or "none",
                "response": f"{visit.status}, {visit.content_bytes:,} bytes{', truncated' if visit.truncated else ''}",
                "links": f"{len(visit.links):,}",
                "stored in": _location(visit.location),
                **_checked(page.checks),
            }
        )
    elif page.skipped is not None:
        status = "" if page.skipped.status is None else str(page.skipped.status)
        facts = {"status": status, "detail": printable(page.skipped.detail, 500)}
        print_facts({name: text for name, text in facts.items() if text})
    elif page.nearest is not None:
        typer.echo(f"The most similar known URL: {printable(page.nearest)}")
    if page.parents:
        shown = "" if page.n_parents == len(page.parents) else f"; the first {len(page.parents)} of {page.n_parents:,}"
        print_rows(
            f"Visited pages that link to it, in order of discovery{shown}",
            ["page", "anchor", "visit", "relevance", "link's context", "link's anchor"],
            [_parent_row(parent) for parent in page.parents],
            n_text_columns=2,
        )


def _checked(checks: Sequence[CheckRecord]) -> dict[str, str]:
    """What refreshes found, if there were any."""
    if not checks:
        return {}
    n_changes, last = sum(check.outcome is CheckOutcome.CHANGED for check in checks), checks[-1]
    reason = f" ({last.reason.text})" if last.reason is not None else ""
    changed = f"found changed {counted(n_changes, 'time')}, " if n_changes else ""
    when = f"last on {format_time(last.time_s)}"
    return {"checked": f"{counted(len(checks), 'time')}, {changed}{when}: {last.outcome}{reason}"}


def _parent_row(parent: Parent) -> list[str]:
    anchor = "(in a sitemap or recording)" if parent.anchor is None else parent.anchor or "(no text)"
    figures = (parent.relevance, parent.context_relevance, parent.anchor_relevance)
    return [
        parent.url,
        printable(anchor, MAX_ANCHOR_CHARACTERS),
        f"{parent.visit:,}",
        *("-" if figure is None else f"{figure:.4f}" for figure in figures),
    ]


def _location(location: ArchiveLocation | None) -> str:
    if location is None:
        return "the recording that it was read from"
    return f"{ARCHIVE_FOLDER}/{file_name(location.file)}, {location.length:,} bytes at offset {location.offset:,}"


def explanation_values(page: Explanation) -> dict[str, Any]:
    """Values for `--json`: the fields of the records, with counts instead of arrays."""
    values: dict[str, Any] = to_json(replace(page, visit=None))
    if page.visit is not None:
        visit = page.visit
        values["visit"] = {each.name: getattr(visit, each.name) for each in columns_of(PageVisit)}
        values["visit"]["n_links"] = len(visit.links)
        values["visit"]["archive"] = visit.location and {
            **to_json(visit.location),
            "file": f"{ARCHIVE_FOLDER}/{file_name(visit.location.file)}",
        }
    if page.skipped is not None:
        values["skipped"]["text"] = page.skipped.reason.text
    return values
