"""`scenthound crawl`: starts, resumes or refreshes a crawl, displays its progress, and prints a summary."""

from __future__ import annotations

import inspect
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli import INTERRUPTED
from scenthound.cli.options import (
    FollowNofollow,
    RandomSeed,
    SeedPages,
    TopicId,
    TrainFrom,
    api_arguments,
    is_from_command_line,
    panels,
    refuse_settings,
)
from scenthound.errors import Failure, UsageError, printable

if TYPE_CHECKING:
    from scenthound.api.crawls import CrawlRun
    from scenthound.crawler.settings import CrawlSettings
    from scenthound.crawler.start import CrawlSummary

#: Options that may differ when a crawl is resumed; all others are settings of the crawl.
RUN_OPTIONS = (
    "pages",
    "time",
    "min_harvest",
    "until_recall",
    "commit_log",
    "cluster",
    "shards",
    "proxy",
    "header",
    "dry_run",
    "log_file",
    "log_level",
    "log_json",
    "as_json",
)
REFRESH_OPTIONS = ("pages", "time", "log_file", "log_level", "log_json", "as_json")


@panels(
    {
        "What to crawl for": "file topics topic keywords seed contact",
        "When to stop": "pages time min_harvest until_recall",
        "Scope": "allow_domain deny_domain include exclude max_depth",
        "Output": "out resume refresh commit_log force dry_run log_file log_level log_json as_json",
        "Several machines": "cluster shards",
        "Strategy": "strategy relevance train_from patience strict_order random_seed",
        "Politeness": "user_agent delay pages_per_host pages_per_domain follow_nofollow",
        "Fetching": "connections timeout page_bytes as_studies redirects sitemaps render hosts",
        "Access": "proxy proxy_from_environment header cookie_file",
        "Safeguards, on by default": "allow_private no_traps no_throttle keep_duplicates keep_soft_404s",
        "Replay a recording": "web offline",
    }
)
def crawl(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A topic file, like --topics.")] = None,
    topics: Annotated[Path | None, typer.Option(metavar="FILE", help="A topic file: TOML or JSON Lines.")] = None,
    topic: TopicId = None,
    keywords: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Keywords of the topic, instead of a topic file; repeatable."),
    ] = None,
    seed: SeedPages = None,
    contact: Annotated[
        str, typer.Option(metavar="MAIL|URL", help="Who runs the crawl; sent to every host in the user agent.")
    ] = "",
    pages: Annotated[
        int | None, typer.Option(min=1, show_default="1000", help="Stop after so many pages; kept for later runs.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Stop this run after 90, 90s, 10m, 2h or 1d.")
    ] = None,
    min_harvest: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Stop when the mean relevance of the last 200 pages is lower; kept for later runs, 0 removes it.",
        ),
    ] = None,
    until_recall: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Stop when this share of the reachable pages on topic is likely to be found, by an estimate; kept for "
            "later runs, 0 removes it.",
        ),
    ] = None,
    allow_domain: Annotated[
        list[str] | None,
        typer.Option(metavar="DOMAIN", help="Crawl only hosts of this domain and its subdomains; repeatable."),
    ] = None,
    deny_domain: Annotated[
        list[str] | None,
        typer.Option(metavar="DOMAIN", help="Crawl no host of this domain and its subdomains; repeatable."),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Crawl only URLs that match: '*/docs/*', where * stands for any characters, or a regular expression, "
            "'re:/docs/[0-9]+'; repeatable.",
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Crawl no URLs that match, like --include; repeatable.")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(min=0, help="Crawl only pages that are at most so many links from the nearest seed.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", show_default="crawl-TOPIC", help="Crawl folder.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Continue the crawl in this folder, however it ended; the folder has its settings."
        ),
    ] = None,
    refresh: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Check the pages of the crawl in this folder again, those most likely to have changed first; only "
            "changed ones are downloaded. --pages is then how many are checked.",
        ),
    ] = None,
    commit_log: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|URL",
            help="Also write each commit to this folder or URL in common storage. With --resume, a crawl folder that "
            "is not on this machine is rebuilt from it.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS|local",
            help="Crawl on the Ray cluster at host:port, or on one of this machine. All nodes must see the crawl "
            "folder, or --commit-log.",
        ),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(
            show_default="1",
            help="How many processes of the cluster crawl together, each with the hosts of some domains and with "
            "--connections of its own.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier crawl in the folder.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Request nothing: check all options, and print what would be requested first, and why. Also with "
            "--resume.",
        ),
    ] = False,
    log_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Append a line for the start, the end, warnings, and progress once a minute."
        ),
    ] = None,
    log_level: Annotated[
        str,
        typer.Option(
            metavar="debug|info|warning|error",
            help="What --log-file contains; debug: also a line for each visited and skipped page.",
        ),
    ] = "info",
    log_json: Annotated[
        bool, typer.Option("--log-json", help="Print progress and summary as JSON lines on standard output.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary or plan as one JSON object.")] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="link_context",
            help="name or name:parameter=value,...; `scenthound strategies` lists them.",
        ),
    ] = None,
    relevance: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            show_default="rocchio; for evolved:file=..., that of the file",
            help="Scores pages and links; `scenthound relevance` lists the models.",
        ),
    ] = None,
    train_from: TrainFrom = None,
    patience: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            show_default="0.7",
            help="From 0, idle connections take the best page of any host that is ready, to 1, they wait for the best "
            "page of all: fast, or in order.",
        ),
    ] = None,
    strict_order: Annotated[
        bool,
        typer.Option(
            "--strict-order",
            help="Request one page at a time, always the best, even if its host has to wait: slow, but in the order of "
            "a simulated crawl.",
        ),
    ] = False,
    random_seed: RandomSeed = 0,
    user_agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="Scenthound",
            help="Product token, in the user agent and for robots.txt rules: letters, _ and -.",
        ),
    ] = None,
    delay: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            help="Minimum delay between two requests to a host; Crawl-delay and slow hosts lengthen it.",
        ),
    ] = 1.0,
    pages_per_host: Annotated[int | None, typer.Option(min=1, help="Maximum number of pages of one host.")] = None,
    pages_per_domain: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of pages of one registrable domain.")
    ] = None,
    follow_nofollow: FollowNofollow = False,
    connections: Annotated[int, typer.Option(min=1, help="Maximum number of requests in flight.")] = 16,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.1, show_default="30", help="Time limit of one request.")
    ] = None,
    page_bytes: Annotated[
        int | None, typer.Option(min=1, show_default="2000000", help="Bytes read of a page, decompressed.")
    ] = None,
    as_studies: Annotated[
        bool, typer.Option("--as-studies", help="Use the limits of the studies: 10 s and 100 KB per page.")
    ] = False,
    redirects: Annotated[int, typer.Option(min=0, help="Redirects followed for one page.")] = 5,
    sitemaps: Annotated[
        bool | None,
        typer.Option(
            "--sitemaps/--no-sitemaps",
            show_default="on, but off with --strict-order",
            help="Read the sitemaps that robots.txt files name.",
        ),
    ] = None,
    render: Annotated[
        str | None,
        typer.Option(
            metavar="auto|always|never",
            show_default="auto with the extra `browser` and Chromium, otherwise never",
            help="Render pages in a browser. auto: those with scripts and less than 200 characters of text, as long as "
            "that pays on their host; always: all with scripts.",
        ),
    ] = None,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Addresses of hosts, in the format of /etc/hosts.")
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send all requests through this proxy: http, https, socks5 or socks5h."),
    ] = None,
    proxy_from_environment: Annotated[
        bool,
        typer.Option(
            "--proxy-from-environment", help="Use the proxies of http_proxy, https_proxy, all_proxy and no_proxy."
        ),
    ] = False,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: VALUE'",
            help="Send this header to hosts of the seeds' domains, and to no others; repeatable.",
        ),
    ] = None,
    cookie_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Send these cookies: a cookies.txt file (Netscape format).")
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Allow connections to private addresses.")
    ] = False,
    no_traps: Annotated[bool, typer.Option("--no-traps", help="Do not detect crawler traps.")] = False,
    no_throttle: Annotated[
        bool, typer.Option("--no-throttle", help="Do not throttle hosts and domains that bring nothing on topic.")
    ] = False,
    keep_duplicates: Annotated[bool, typer.Option("--keep-duplicates", help="Keep near-duplicates.")] = False,
    keep_soft_404s: Annotated[bool, typer.Option("--keep-soft-404s", help="Keep soft 404s.")] = False,
    web: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Read pages from this recorded web or crawl, and fetch only pages that it lacks."
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
) -> None:
    """Crawl the web for a topic, politely, into a folder that can be resumed after any interruption.

    scenthound crawl --keywords balloons --seed example.org --contact me@mail.org

    scenthound crawl --topics topics.toml --pages 5000 --time 2h --out balloons

    scenthound crawl --resume balloons

    scenthound crawl --refresh balloons
    """
    from scenthound.cli.log_file import log_to

    if refresh is not None and resume is not None:
        raise UsageError("--resume and --refresh cannot be used together: use one of them, then the other.")
    if refresh is not None:
        from scenthound.cli.refresh import refresh_crawl

        if dry_run:
            raise UsageError("--dry-run cannot be used with --refresh.")
        refuse_settings(context, "crawl", refresh, REFRESH_OPTIONS, option="refresh")
        pages = pages if is_from_command_line(context, "pages") else None
        with log_to(log_file, log_level):
            refresh_crawl(refresh, pages=pages, time=time, log_json=log_json, as_json=as_json)
        return
    run = _new_run(context) if resume is None else _resumed_run(context, resume)
    _note_offline(run.settings)
    _note_proxies(run.settings)
    if dry_run:
        from scenthound.api.plans import planned
        from scenthound.cli.dry_run import print_plan

        print_plan(planned(run), context, as_json=as_json or log_json)
        return
    with log_to(log_file, log_level):
        summary = _carry_out(run, log_json=log_json)
    _print(summary, log_json=log_json, as_json=as_json)
    _exit(summary)


def _exit(summary: CrawlSummary) -> None:
    """With the exit code of a crawl that was stopped, or has no page."""
    from scenthound.reasons import EndReason
    from scenthound.ui.endings import failure_text

    if summary.ended is EndReason.STOPPED:
        sys.exit(INTERRUPTED)
    if summary.ending.is_failure:
        raise Failure(failure_text(summary.ending))


def _resumed_run(context: typer.Context, folder: Path) -> CrawlRun:
    """The folder has its settings: those that configuration files set are for new crawls."""
    from scenthound.api.crawls import resumed_run

    refuse_settings(context, "crawl", folder, RUN_OPTIONS)
    kept = ("pages", "min_harvest", "until_recall", "commit_log", "cluster", "shards", "proxy", "header")
    if context.params["dry_run"] and not os.path.lexists(folder) and is_from_command_line(context, "commit_log"):
        raise UsageError(f"There is no folder {printable(folder)}: leave out --dry-run to rebuild it.")
    changes = {name: context.params[name] for name in kept if is_from_command_line(context, name)}
    return resumed_run(folder, time=context.params["time"], **changes)


def _new_run(context: typer.Context) -> CrawlRun:
    """A new crawl, with notes on what its settings lack."""
    from scenthound.api.crawls import new_run
    from scenthound.crawler.settings import choose_topic

    options = context.params
    if options["file"] is not None and options["topics"] is not None:
        raise UsageError("There are two topic files, FILE and --topics: use one of them.")
    file = options["topics"] or options["file"]
    seeds = options["seed"] or []
    topic, seeds = choose_topic(file and Path(file), options["topic"], options["keywords"] or [], seeds)
    known = inspect.signature(new_run).parameters
    arguments = {name: value for name, value in api_arguments(context).items() if name in known}
    run = new_run(**{**arguments, "topic": topic, "seeds": seeds}, progress=True)
    _note_contact(run.settings)
    _note_relevance_model(run.settings)
    _note_keywords(run.settings)
    if options["render"] is None and options["cluster"] is None and not run.settings.offline:
        _note_browser()
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
    from scenthound.cli.results import print_json

    if log_json:
        print_event("ended", summary_values(summary))
    elif as_json:
        print_json(summary_values(summary))
    else:
        print_summary(summary)


def print_note(line: str) -> None:
    typer.echo(f"Note: {line}", err=True)


def _note_contact(settings: CrawlSettings) -> None:
    if not settings.contact and not settings.allow_private and not settings.offline:
        typer.echo(
            "Note: no --contact. Give an e-mail address or a web page, so that administrators can write to you.",
            err=True,
        )


def _note_relevance_model(settings: CrawlSettings) -> None:
    """Print a note if the strategy runs with another relevance model than its own."""
    from scenthound.crawler.assembly import with_relevance
    from scenthound.strategies.base import STRATEGIES

    own, used = STRATEGIES.make(settings.strategy).relevance_model, with_relevance(settings).relevance
    if settings.relevance is None and used != own:
        typer.echo(
            f"Note: {printable(settings.strategy)} was made with {own}, a relevance model that is trained on pages. "
            f"Without --train-from, {used} is used instead.",
            err=True,
        )


def _note_browser() -> None:
    """Print a note if the extra is installed without a browser."""
    from scenthound.web.browser import browser_path, has_playwright

    if not has_playwright():
        return
    try:
        browser_path()
    except UsageError as problem:
        typer.echo(f"Note: no page is rendered in this run. {problem.message}", err=True)


def _note_keywords(settings: CrawlSettings) -> None:
    from scenthound.crawler.topic_notes import ignored_keywords
    from scenthound.ui.topic_notes import ignored_keywords_text

    topic, ignored = settings.topic, ignored_keywords(settings.topic)
    # If nothing is left, an error follows.
    if ignored and (len(ignored) < len(topic.keywords) or topic.description):
        typer.echo(f"Note: {ignored_keywords_text(ignored)}", err=True)


def _note_offline(settings: CrawlSettings) -> None:
    if settings.offline:
        typer.echo(
            "Note: --offline sends no requests, so crawl delays and robots.txt are not applied. "
            "`scenthound simulate --mode polite:workers=16,patience=0.7` simulates them.",
            err=True,
        )


def _note_proxies(settings: CrawlSettings) -> None:
    from scenthound.web.proxies import Proxies

    if settings.proxy_from_environment and not Proxies.of(None, from_environment=True):
        typer.echo(
            "Note: --proxy-from-environment found no proxy, so requests are sent directly: set http_proxy, https_proxy "
            "or all_proxy.",
            err=True,
        )
