"""`scenthound crawl`: from options to settings; the run is watched, and summed up at its end."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli import INTERRUPTED
from scenthound.cli import crawl_options as options
from scenthound.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenthound.crawler.plan import CrawlSettings
    from scenthound.crawler.start import CrawlSummary, RunOptions


def crawl(
    context: typer.Context,
    file: options.TopicFile = None,
    topics: options.TopicsOption = None,
    topic: options.TopicId = None,
    keywords: options.Keywords = None,
    seed: options.Seeds = None,
    contact: options.Contact = "",
    pages: options.Pages = None,
    time: options.Time = None,
    min_harvest: options.MinHarvest = None,
    out: options.Out = None,
    resume: options.Resume = None,
    force: options.ReplaceOld = False,
    log_json: options.LogJson = False,
    as_json: options.SummaryAsJson = False,
    strategy: options.StrategyName = None,
    relevance: options.RelevanceModel = None,
    train_from: options.TrainFrom = None,
    strict_order: options.StrictOrder = False,
    random_seed: options.RandomSeed = 0,
    user_agent: options.UserAgent = None,
    delay: options.Delay = 1.0,
    pages_per_host: options.PagesPerHost = None,
    pages_per_domain: options.PagesPerDomain = None,
    follow_nofollow: options.FollowNofollow = False,
    connections: options.Connections = 16,
    timeout: options.Timeout = None,
    page_bytes: options.PageBytes = None,
    as_studies: options.AsStudies = False,
    redirects: options.Redirects = 5,
    sitemaps: options.Sitemaps = False,
    hosts: options.HostsFile = None,
    allow_private: options.AllowPrivate = False,
    no_traps: options.NoTraps = False,
    keep_duplicates: options.KeepDuplicates = False,
    keep_soft_404s: options.KeepSoft404s = False,
    web: options.Web = None,
    offline: options.Offline = False,
) -> None:
    """Crawl the web for a topic, politely, into a folder that can be resumed after any interruption.

    scenthound crawl --keywords balloons --seed example.org --contact me@mail.org

    scenthound crawl --topics topics.toml --pages 5000 --time 2h --out balloons

    scenthound crawl --resume balloons
    """
    from scenthound.api.arguments import seconds
    from scenthound.crawler.start import RunOptions
    from scenthound.reasons import EndReason

    run = RunOptions(pages, seconds(time), min_harvest, obey_signals=True)
    if resume is not None:
        _check_resumable(context, resume)
        summary = _resume(resume, run, log_json=log_json)
    else:
        settings = _settings(context)
        summary = _start(settings, out, run, force=force, log_json=log_json)
    _print(summary, log_json=log_json, as_json=as_json)
    if summary.ended is EndReason.STOPPED:
        sys.exit(INTERRUPTED)


def _settings(context: typer.Context) -> CrawlSettings:
    """The settings of a new crawl, with notes on what they lack."""
    from scenthound.api.crawls import CrawlOptions, crawl_settings
    from scenthound.crawler.plan import ChosenTopic

    given = context.params
    if given["file"] is not None and given["topics"] is not None:
        raise UsageError("The topic file is given twice: as FILE and with --topics.")
    if given["web"] is not None:
        _record(given["web"])
    chosen = ChosenTopic.of(
        given["topics"] or given["file"], given["topic"], given["keywords"] or [], given["seed"] or []
    )
    named: Any = {name: given[name] for name in CrawlOptions.__annotations__ if given[name] is not None}
    settings = crawl_settings(chosen.topic, chosen.seeds, pages=given["pages"], **named)
    _note_contact(settings)
    if given["strategy"] is not None:
        _note_relevance_model(settings)
    return settings


def _start(settings: CrawlSettings, out: Path | None, run: RunOptions, *, force: bool, log_json: bool) -> CrawlSummary:
    from scenthound.api.crawls import folder_for
    from scenthound.crawler import start

    folder = out or folder_for(settings.topic.id)
    return _watched(
        settings, run, lambda watched: start.crawl(settings, folder, watched, force=force), log_json=log_json
    )


def _resume(folder: Path, run: RunOptions, *, log_json: bool) -> CrawlSummary:
    from scenthound.crawler import start
    from scenthound.crawler.plan import CrawlSettings
    from scenthound.store.crawl_folder import CrawlAbout

    settings = CrawlSettings.from_settings(CrawlAbout.read(folder).settings)
    return _watched(settings, run, lambda watched: start.resume(folder, watched), log_json=log_json)


def _watched(
    settings: CrawlSettings, run: RunOptions, call: Callable[[RunOptions], CrawlSummary], *, log_json: bool
) -> CrawlSummary:
    from scenthound.cli.crawl_output import watcher

    with watcher(f"{settings.topic.id} by {settings.strategy}", run.time_s, log_json=log_json) as watching:
        return call(replace(run, watch=watching.watch, progress=watching.progress))


def _print(summary: CrawlSummary, *, log_json: bool, as_json: bool) -> None:
    from scenthound.cli.crawl_output import print_event, summary_values
    from scenthound.cli.crawl_results import print_summary
    from scenthound.ui.formats import json_text

    if log_json:
        print_event("ended", summary_values(summary))
    elif as_json:
        typer.echo(json_text(summary_values(summary), indent=1))
    else:
        print_summary(summary)


def _check_resumable(context: typer.Context, folder: Path) -> None:
    """A resumed crawl keeps its settings: refuse options that would change them."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in options.OF_A_RUN and source is not None and source.name == "COMMANDLINE":
            given = "FILE" if name == "file" else parameter.opts[0]
            raise UsageError(
                f"{given} cannot be changed when a crawl is resumed; {printable(folder)} has its settings. Use only "
                "--pages, --time, --min-harvest, --log-json and --json with --resume."
            )


def _record(web: Path) -> None:
    """Record the pages of a crawl that is to be replayed, if that was not done before."""
    from scenthound.cli.terminal import show_progress
    from scenthound.store.crawl_web import open_web

    with show_progress("recording") as progress:
        open_web(web, progress)


def _note_contact(settings: CrawlSettings) -> None:
    if not settings.contact and not settings.allow_private and not settings.offline:
        typer.echo(
            "Note: no --contact. Give an e-mail address or a web page, so that administrators can write to you.",
            err=True,
        )


def _note_relevance_model(settings: CrawlSettings) -> None:
    """Say so if the chosen strategy runs with another relevance model than its own."""
    from scenthound.crawler.assembly import relevance_model_of
    from scenthound.strategies.base import STRATEGIES
    from scenthound.strategies.rank_function import RankFunction

    made = STRATEGIES.make(settings.strategy)
    relevance_model = relevance_model_of(settings, made)
    if settings.relevance is None and relevance_model != made.relevance_model:
        but = ""
        if isinstance(made, RankFunction):
            but = f", and few pages may reach the strategy's threshold of {made.threshold}"
        typer.echo(
            f"Note: {printable(settings.strategy)} is made for {made.relevance_model}, a relevance model that is "
            "trained on pages. Without --train-from DIR (pages in DIR/positive and DIR/negative) "
            f"{relevance_model} is used instead{but}.",
            err=True,
        )
