"""`scenthound crawl`: starts, resumes or refreshes a crawl, displays its progress, and prints a summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli import INTERRUPTED
from scenthound.cli.options import is_from_command_line, print_json, refuse_settings
from scenthound.crawler.options import (
    CrawlArguments,
    CrawlOptions,
    Credentials,
    Ends,
    Machines,
    RefreshArguments,
    ResumeArguments,
)
from scenthound.errors import Failure, UsageError, printable
from scenthound.options import SEED_HELP, Option, options_in
from scenthound.reasons import EndReason

if TYPE_CHECKING:
    from scenthound.api.runs import CrawlRun
    from scenthound.crawler.settings import CrawlSettings
    from scenthound.crawler.start import CrawlSummary

LOG_LEVELS = ("debug", "info", "warning", "error")
#: Options that may differ when a crawl is resumed; all others are settings of the crawl.
PRINTING = ("log_file", "log_level", "log_json", "as_json")
RUN_OPTIONS = (
    *(each.name for kind in (Ends, Machines, Credentials) for each in options_in(kind)),
    "dry_run",
    *PRINTING,
)
REFRESH_OPTIONS = (*(each.name for each in options_in(RefreshArguments)), *PRINTING)


@dataclass(frozen=True, kw_only=True)
class CrawlTopic:
    """What a crawl is for.

    What to crawl for:
        file: A topic file, like --topics.
        topics: A topic file: TOML or JSON Lines.
        keywords: Keywords of the topic, instead of a topic file; repeatable.
        seed
    """

    file: Annotated[Path | None, Option(metavar="[FILE]", is_argument=True)] = None
    topics: Annotated[Path | None, Option(metavar="FILE")] = None
    keywords: Annotated[Sequence[str], Option(metavar="WORDS")] = ()
    seed: Annotated[Sequence[str], Option(SEED_HELP, metavar="URL")] = ()


@dataclass(frozen=True, kw_only=True)
class CrawlCommand:
    """What the command does beyond crawling.

    Output:
        resume: Continue the crawl in this folder, however it ended; the folder has its settings.
        refresh: Check the pages of the crawl in this folder again, those most likely to have changed first; only
            changed ones are downloaded. --pages is then how many are checked.
        dry_run: Check all options, request only start pages, and print them with a ranking of their links. With
            --resume nothing is requested: print a ranking of the queue.
        log_file: Append a line for the start, the end, warnings, and progress once a minute.
        log_level: What --log-file contains; debug: also a line for each visited and skipped page.
        log_json: Print progress and summary as JSON lines on standard output.
        as_json: Print the summary or plan as one JSON object.
    """

    resume: Annotated[Path | None, Option(metavar="DIR")] = None
    refresh: Annotated[Path | None, Option(metavar="DIR")] = None
    dry_run: bool = False
    log_file: Annotated[Path | None, Option(metavar="FILE")] = None
    log_level: Annotated[str, Option(metavar="|".join(LOG_LEVELS), values=lambda: LOG_LEVELS)] = "info"
    log_json: bool = False
    as_json: Annotated[bool, Option(flag="--json")] = False


def crawl(context: typer.Context, topic: CrawlTopic, options: CrawlOptions, command: CrawlCommand) -> None:
    """Crawl the web for a topic, politely, into a folder that can be resumed after any interruption.

    scenthound crawl --keywords balloons --seed example.org --contact me@mail.org

    scenthound crawl --topics topics.toml --pages 5000 --time 2h --out balloons

    scenthound crawl --resume balloons

    scenthound crawl --refresh balloons
    """
    from scenthound.cli.log_file import check_level, log_to
    from scenthound.ui.endings import failure_text

    resume, refresh = command.resume, command.refresh
    as_json, log_json = command.as_json, command.log_json
    check_level(command.log_level)
    if refresh is not None:
        from scenthound.cli.refresh import refresh_crawl

        if resume is not None:
            raise UsageError("--resume and --refresh cannot be used together: use one of them, then the other.")
        if command.dry_run:
            raise UsageError("--dry-run cannot be used with --refresh.")
        refuse_settings(context, "crawl", refresh, REFRESH_OPTIONS, option="refresh")
        pages = options.pages if is_from_command_line(context, "pages") else None
        with log_to(command.log_file, command.log_level):
            refresh_crawl(RefreshArguments(refresh, pages=pages, time=options.time), log_json=log_json, as_json=as_json)
        return
    if resume is None:
        run = _new_run(topic, options)
    else:
        run = _resumed_run(context, resume, options, dry_run=command.dry_run)
    for line in _notes(run.settings):
        print_note(line)
    if command.dry_run:
        from scenthound.api.plans import planned
        from scenthound.cli.dry_run import print_plan

        print_plan(planned(run), context, as_json=as_json or log_json)
        return
    with log_to(command.log_file, command.log_level):
        summary = _carry_out(run, log_json=log_json)
    _print(summary, log_json=log_json, as_json=as_json)
    if summary.ended is EndReason.STOPPED:
        sys.exit(INTERRUPTED)
    if summary.ending.is_failure:
        raise Failure(failure_text(summary.ending))


def _resumed_run(context: typer.Context, folder: Path, options: CrawlOptions, *, dry_run: bool) -> CrawlRun:
    """The folder has its settings: those that configuration files set are for new crawls."""
    from scenthound.api.runs import resumed_run

    refuse_settings(context, "crawl", folder, RUN_OPTIONS)
    if dry_run and not os.path.lexists(folder) and is_from_command_line(context, "commit_log"):
        raise UsageError(f"There is no folder {printable(folder)}: leave out --dry-run to rebuild it.")
    names = [each.name for each in options_in(ResumeArguments) if is_from_command_line(context, each.name)]
    changes = {name: getattr(options, name) for name in names}
    return resumed_run(ResumeArguments(folder, **{**changes, "time": options.time}))


def _new_run(chosen: CrawlTopic, options: CrawlOptions) -> CrawlRun:
    """A new crawl, with notes on what its settings lack."""
    from scenthound.api.runs import new_run
    from scenthound.crawler.settings import choose_topic

    if chosen.file is not None and chosen.topics is not None:
        raise UsageError("There are two topic files, FILE and --topics: use one of them.")
    file = chosen.topics or chosen.file
    topic, seeds = choose_topic(file, options.topic_id, chosen.keywords, chosen.seed)
    run = new_run(CrawlArguments(topic, seeds, **{**vars(options), "topic_id": None}))
    for line in _notes_on_new(run.settings, options):
        print_note(line)
    return run


def _carry_out(run: CrawlRun, *, log_json: bool) -> CrawlSummary:
    from scenthound.cli.crawl_progress import watcher

    title = f"{printable(run.settings.topic.id, 80)} by {run.settings.strategy}"
    with watcher(title, run.options.time_s, log_json=log_json) as watching:
        shown = replace(run.options, watch=watching.watch, progress=watching.progress, note=print_note)
        return run.start(replace(shown, handle_signals=True))


def _print(summary: CrawlSummary, *, log_json: bool, as_json: bool) -> None:
    from scenthound.cli.crawl_progress import print_event, summary_values
    from scenthound.cli.crawl_results import print_summary

    if log_json:
        print_event("ended", summary_values(summary))
    elif as_json:
        print_json(summary_values(summary))
    else:
        print_summary(summary)


def print_note(line: str) -> None:
    typer.echo(f"Note: {line}", err=True)


def _notes_on_new(settings: CrawlSettings, options: CrawlOptions) -> Iterator[str]:
    """What the settings of a new crawl lack."""
    from scenthound.crawler.assembly import with_relevance
    from scenthound.crawler.topic_notes import ignored_keywords
    from scenthound.strategies.base import STRATEGIES
    from scenthound.ui.topic_notes import ignored_keywords_text
    from scenthound.web.browser import browser_path, has_playwright

    if not settings.contact and not settings.allow_private and not settings.offline:
        yield "no --contact. Give an e-mail address or a web page, so that administrators can write to you."
    own, used = STRATEGIES.make(settings.strategy).relevance_model, with_relevance(settings).relevance
    if settings.relevance is None and used != own:
        yield (
            f"{printable(settings.strategy)} was made with {own}, a relevance model that is trained on pages. Without "
            f"--train-from, {used} is used instead."
        )
    topic, ignored = settings.topic, ignored_keywords(settings.topic)
    # If nothing is left, an error follows.
    if ignored and (len(ignored) < len(topic.keywords) or topic.description):
        yield ignored_keywords_text(ignored)
    if options.render is None and options.cluster is None and not settings.offline and has_playwright():
        try:
            browser_path()
        except UsageError as problem:
            yield f"no page is rendered in this run. {problem.message}"


def _notes(settings: CrawlSettings) -> Iterator[str]:
    """What new and resumed crawls do without."""
    from scenthound.web.proxies import Proxies

    if settings.offline:
        yield (
            "--offline sends no requests, so crawl delays and robots.txt are not applied. `scenthound simulate --mode "
            "polite:workers=16,patience=0.7` simulates them."
        )
    if settings.proxy_from_environment and not Proxies.of(None, from_environment=True):
        yield (
            "--proxy-from-environment found no proxy, so requests are sent directly: set http_proxy, https_proxy or "
            "all_proxy."
        )
