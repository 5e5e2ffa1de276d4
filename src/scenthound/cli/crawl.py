"""`scenthound crawl`: from options to a plan, and how the run of it is watched and told."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scenthound.cli import crawl_options as options
from scenthound.errors import UsageError, printable

if TYPE_CHECKING:
    from scenthound.crawler.plan import CrawlSettings
    from scenthound.frontier.politeness import PolitenessSettings
    from scenthound.web.fetch import FetchLimits

#: A name for the folder of a crawl that is not told one is no longer than this.
MOST_NAME_LETTERS = 40
#: Ten years; more is a slip of the finger.
MOST_SECONDS = 3650 * 86_400
SECONDS_OF_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


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
    from scenthound.cli.crawl_run import Wishes, go_on_with, start
    from scenthound.crawler.plan import AGENT, DEFAULT_STRATEGY, ChosenTopic, CrawlSettings
    from scenthound.web.dns import read_hosts

    wishes = Wishes(pages, seconds_of(time), min_harvest, log_json, as_json)
    if file is not None and topics is not None:
        raise UsageError("The topic file is given twice: as FILE and with --topics.")
    if resume is not None:
        _refuse_what_is_kept(context, resume)
        go_on_with(resume, wishes)
        return
    chosen = ChosenTopic.of(topics or file, topic, keywords or [], seed or [])
    plan = CrawlSettings(
        chosen.topic,
        chosen.seeds,
        strategy=strategy or DEFAULT_STRATEGY,
        relevance=relevance,
        train_from=None if train_from is None else str(train_from.resolve()),
        random_seed=random_seed,
        politeness=_politeness(delay, pages_per_host, pages_per_domain),
        limits=_limits(as_studies, timeout, page_bytes),
        connections=connections,
        redirects=redirects,
        strict_order=strict_order,
        respect_nofollow=not follow_nofollow,
        sitemaps=sitemaps,
        traps=not no_traps,
        near_duplicates=not keep_duplicates,
        soft_404s=not keep_soft_404s,
        contact=contact,
        agent=user_agent or AGENT,
        allow_private=allow_private,
        hosts={} if hosts is None else read_hosts(hosts),
        web=None if web is None else _recording(web),
        offline=offline,
    ).with_budget(pages)
    _recommend_contact(plan)
    if strategy is not None:
        _record_relevance_model(plan)
    start(plan, out or _folder_for(plan.topic.id), wishes, force=force)


def seconds_of(span: str | None) -> float | None:
    """A span of time as people write it: seconds, or a number with s, m, h or d behind it."""
    if span is None:
        return None
    number, unit = (span[:-1], span[-1]) if span[-1:] in SECONDS_OF_UNIT else (span, "s")
    try:
        seconds = float(number) * SECONDS_OF_UNIT[unit]
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(f"--time {printable(span, 40)!r} is no span of time: write 90, 90s, 10m, 2h or 1d.")
    return seconds


def _refuse_what_is_kept(context: typer.Context, folder: Path) -> None:
    """A crawl goes on as it was begun: what decides about it is in its folder."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name not in options.OF_A_RUN and source is not None and source.name == "COMMANDLINE":
            given = "FILE" if name == "file" else parameter.opts[0]
            raise UsageError(
                f"{given} cannot be changed when a crawl is resumed; {printable(folder)} has its settings. "
                "With --resume go only --pages, --time, --min-harvest, --log-json and --json."
            )


def _politeness(delay_s: float, pages_per_host: int | None, pages_per_domain: int | None) -> PolitenessSettings:
    from scenthound.frontier.politeness import PolitenessSettings

    return PolitenessSettings(delay_s=delay_s, pages_per_host=pages_per_host, pages_per_domain=pages_per_domain)


def _limits(as_studies: bool, timeout_s: float | None, page_bytes: int | None) -> FetchLimits:
    """What is told by itself counts more than the rules of the studies."""
    from scenthound.crawler.plan import STUDY_LIMITS
    from scenthound.web.fetch import FetchLimits

    limits = STUDY_LIMITS if as_studies else FetchLimits()
    if timeout_s is not None:
        headers_s, connect_s = min(timeout_s, limits.headers_s), min(timeout_s, limits.connect_s)
        limits = replace(limits, total_s=timeout_s, headers_s=headers_s, connect_s=connect_s)
    return limits if page_bytes is None else replace(limits, body_bytes=page_bytes)


def _recording(place: Path) -> str:
    """Where the recorded web is, be it of its own or of a crawl, whose pages are recorded now if need be."""
    from scenthound.cli.terminal import shown
    from scenthound.store.crawl_web import open_web

    with shown("recording") as progress:
        open_web(place, progress)
    return str(place.resolve())


def _recommend_contact(plan: CrawlSettings) -> None:
    if not plan.contact and not plan.allow_private and not plan.offline:
        typer.echo(
            "Note: no --contact. Hosts like to know who crawls them; with a mail address or a web page they can ask.",
            err=True,
        )


def _record_relevance_model(plan: CrawlSettings) -> None:
    """Say so if a strategy that was chosen crawls by another guide than its own. The default one was chosen for it."""
    from scenthound.crawler.assembly import relevance_model_of
    from scenthound.strategies.base import STRATEGIES
    from scenthound.strategies.rank_function import RankFunction

    made = STRATEGIES.make(plan.strategy)
    relevance_model = relevance_model_of(plan, made)
    if plan.relevance is None and relevance_model != made.relevance_model:
        but = ""
        if isinstance(made, RankFunction):
            but = f", by which few pages may reach the strategy's threshold of {made.threshold}"
        typer.echo(
            f"Note: {printable(plan.strategy)} is made for {made.relevance_model}, a relevance model that learns from "
            "pages. Without "
            f"--train-from DIR (pages in DIR/positive and DIR/negative) {relevance_model} scores instead{but}.",
            err=True,
        )


def _folder_for(topic_id: str) -> Path:
    words = re.findall(r"\w+", topic_id.lower())
    return Path(f"crawl-{'-'.join(words)[:MOST_NAME_LETTERS]}")
