"""What `crawl` prints at its end, and what `explain` prints about a page."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli import crawl_progress as progress
from scenthound.crawler.explain import Outcome
from scenthound.errors import printable
from scenthound.reasons import EndReason, SkipReason
from scenthound.records import columns_of, to_json
from scenthound.store.archive import file_name
from scenthound.store.crawl_folder import ARCHIVE_FOLDER
from scenthound.store.crawl_records import CheckOutcome, PageVisit, share_given_up
from scenthound.ui.endings import ending_text
from scenthound.ui.formats import counted, rendering_text, renders_text, sitemaps_text
from scenthound.ui.terminal import filled, print_commands, print_facts, print_rows, say
from scenthound.ui.topic_notes import seed_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scenthound.crawler.explain import Explanation, Parent
    from scenthound.crawler.start import CrawlSummary
    from scenthound.store.crawl_records import ArchiveLocation, CheckRecord, SkippedRecord, VisitRecord

NAME = "scenthound"
MAX_ANCHOR_CHARACTERS = 60


def print_summary(summary: CrawlSummary) -> None:
    status = summary.status
    sitemaps = sitemaps_text(status.skipped_sitemaps, status.n_sitemap_links_elsewhere)
    renders = renders_text(status)
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
            "hosts": progress.all_hosts(status),
            "frontier": counted(status.frontier, "page"),
            **({"out of scope": counted(status.n_out_of_scope, "link")} if status.n_out_of_scope else {}),
            **({"sitemaps": sitemaps} if sitemaps else {}),
            **({"rendered": renders} if renders else {}),
            **_taken_over(summary),
            "extension in C": "yes" if summary.is_compiled else "no",
        }
    )
    for text in seed_texts(summary.topic_notes):
        say(text)
    if summary.reasons:
        reasons = progress.most_frequent(summary.reasons)
        print_rows(
            f"{counted(sum(summary.reasons.values()), 'requested page was', 'requested pages were')} skipped",
            ["reason", "meaning", "pages"],
            [[reason.value, reason.text, f"{count:,}"] for reason, count in reasons],
            n_text_columns=2,
        )
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


def _taken_over(summary: CrawlSummary) -> dict[str, str]:
    if not summary.n_caught_up:
        return {}
    pages = counted(summary.n_caught_up, "page")
    return {"taken over": f"{pages} of an earlier run, which this version would have requested in another order"}


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
    if page.visit is not None:
        _print_visit(page, page.visit)
    elif page.skipped is not None:
        _print_skipped(page.skipped)
    elif page.reason is not None:
        typer.echo(f"Out of scope ({page.reason}): it is excluded by {page.excluded_by}.")
        if page.reason is SkipReason.OUT_OF_SCOPE:
            return
    elif page.outcome is Outcome.QUEUED:
        typer.echo("Neither visited nor skipped: it is in the frontier, or was in flight when the crawl stopped.")
    else:
        typer.echo("Unknown: it is not a seed, and no visited page has a link to it that may be followed.")
        if page.nearest is not None:
            typer.echo(f"The most similar known URL: {printable(page.nearest)}")
        return
    _print_reasons(page)
    _print_parents(page)


def _print_visit(page: Explanation, visit: VisitRecord) -> None:
    typer.echo(f"Visited: visit {visit.visit:,} (counted from 0), on {_time(visit.time_s)}.")
    facts = {
        "title": printable(visit.title, 200) or "none",
        "relevance": f"{visit.relevance:.4f}",
        "requested": f"after {counted(visit.rank, 'other page')}, with {visit.queue_size:,} in the frontier",
        **_figures(visit),
        "response": f"{visit.status}, {visit.content_bytes:,} bytes{', truncated' if visit.truncated else ''}",
        **({} if page.rendering is None else {"rendered": rendering_text(page.rendering)}),
        "links": f"{len(visit.links):,}",
        "stored in": _location(visit.location),
        **_checked(page.checks),
    }
    if page.requested_url not in (None, visit.url):
        facts["redirect"] = f"requested as {printable(page.requested_url)}, redirected to {printable(visit.url)}"
    if visit.noindex:
        facts["noindex"] = "the page must not be indexed; exports omit it without --include-noindex"
    print_facts(facts)


def _checked(checks: Sequence[CheckRecord]) -> dict[str, str]:
    """What refreshes found, if there were any."""
    if not checks:
        return {}
    n_changes, last = sum(check.outcome is CheckOutcome.CHANGED for check in checks), checks[-1]
    reason = f" ({last.reason.text})" if last.reason is not None else ""
    changed = f"found changed {counted(n_changes, 'time')}, " if n_changes else ""
    return {"checked": f"{counted(len(checks), 'time')}, {changed}last on {_time(last.time_s)}: {last.outcome}{reason}"}


def _print_skipped(row: SkippedRecord) -> None:
    typer.echo(f"Skipped: {row.reason.text} ({row.reason}), on {_time(row.time_s)}.")
    facts = {}
    if row.status is not None:
        facts["status"] = str(row.status)
    if row.detail:
        facts["detail"] = printable(row.detail, 500)
    print_facts(facts)


def _print_reasons(page: Explanation) -> None:
    """What spoke for the page, if the strategy says so."""
    when = "now" if page.outcome is Outcome.QUEUED else "just before its visit"
    if page.no_reasons:
        say(f"What speaks for it is unknown: {printable(page.no_reasons, 500)}")
    if page.reasons:
        total = sum(reason.contribution for reason in page.reasons)
        typer.echo(f"Its score {when}, compared with the average queued URL: {total:+.2f}")
        for reason in page.reasons:
            contribution = f"  {reason.contribution:+.2f}  "
            typer.echo(filled(printable(reason.text, 500), contribution, " " * len(contribution)))


def _print_parents(page: Explanation) -> None:
    if page.is_seed:
        typer.echo("It is a seed of the crawl.")
    if not page.parents:
        typer.echo("No visited page has a link to it that may be followed.")
        return
    listed = "" if page.n_parents == len(page.parents) else f"; the first {len(page.parents)}"
    print_rows(
        f"Visited pages that link to it, in order of discovery: {page.n_parents:,}{listed}",
        ["page", "anchor", "visit", "relevance", "link's context", "link's anchor"],
        [_parent_row(parent) for parent in page.parents],
        n_text_columns=2,
    )


def _parent_row(parent: Parent) -> list[str]:
    anchor = "(in a sitemap or recording)" if parent.anchor is None else parent.anchor or "(no text)"
    figures = (parent.relevance, parent.context_relevance, parent.anchor_relevance)
    return [
        parent.url,
        printable(anchor, MAX_ANCHOR_CHARACTERS),
        f"{parent.visit:,}",
        *("-" if figure is None else f"{figure:.4f}" for figure in figures),
    ]


def _figures(visit: VisitRecord) -> dict[str, str]:
    """Score and cost of politeness, if known. They are infinite for seeds, and for pages requested while a seed had to
    wait."""
    figures = {}
    if visit.score is not None:
        figures["score"] = f"{visit.score:.4g}" if math.isfinite(visit.score) else "seed"
    if visit.regret == math.inf:
        figures["given up"] = "a seed had to wait"
    elif (share := share_given_up(visit.score, visit.regret)) is not None:
        figures["given up"] = f"{share:.1%} of the best queued score"
    return figures


def _location(location: ArchiveLocation | None) -> str:
    if location is None:
        return "the recording that it was read from"
    return f"{ARCHIVE_FOLDER}/{file_name(location.file)}, {location.length:,} bytes at offset {location.offset:,}"


def _time(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


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
