"""`scenthound crawl --dry-run`: which settings a crawl would have, its start pages, and what it would request next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.config import masked, text_of
from scenthound.cli.options import is_from_command_line, print_json
from scenthound.crawler.options import CrawlOptions
from scenthound.errors import printable
from scenthound.options import listed, options_of
from scenthound.records import to_json
from scenthound.text.tokenizer import stems_of
from scenthound.ui.formats import counted
from scenthound.ui.terminal import print_facts, print_rows, say

if TYPE_CHECKING:
    from scenthound.api.plans import CrawlPlan
    from scenthound.crawler.plan import PlannedStart
    from scenthound.crawler.settings import CrawlSettings

COMMAND_LINE = "command line"
#: What a dry run requests, by whether the crawl is new.
REQUESTED = {True: "only start pages are requested", False: "nothing is requested"}
#: Options that say nothing about the crawl.
NOT_SHOWN = ("dry_run", "as_json", "log_json", "resume")


def print_plan(plan: CrawlPlan, context: typer.Context, *, as_json: bool) -> None:
    """The plan, with the options that are not defaults and where they come from."""
    options = _options(context)
    if as_json:
        start = plan.start
        print_json(
            {
                "folder": str(plan.folder),
                "new": plan.is_new,
                "user_agent": start.settings.user_agent,
                "page_budget": start.page_budget,
                "n_visits": start.n_visits,
                "n_queued": start.n_queued,
                "start_pages": to_json(start.start_pages),
                "ranking": to_json(start.ranking),
                "options": [dict(zip(("option", "value", "set_by"), row, strict=True)) for row in options],
                "settings": start.settings.as_settings(),
            }
        )
        return
    typer.echo(f"A dry run: {REQUESTED[plan.is_new]}, and no folder is made or changed.")
    print_facts(_facts(plan))
    if options:
        rows = [[f"--{key}", text_of(value), origin] for key, value, origin in options]
        print_rows("Options that are set", ["option", "value", "set by"], rows, n_text_columns=3)
    _print_pages(plan.start)
    typer.echo(f"The same command without --dry-run {'starts' if plan.is_new else 'resumes'} the crawl.")


def _options(context: Any) -> list[tuple[str, Any, str]]:
    """The options that are set: key, value and origin. A crawl that is resumed has its settings in its folder."""
    settings = context.default_map.settings
    if context.params["resume"] is not None:
        settings = {name: setting for name, setting in settings.items() if name == "time"}
    rows = []
    for name, each in context.command.declared.items():
        if name in NOT_SHOWN:
            continue
        if is_from_command_line(context, name):
            rows.append((each.key, masked(name, context.params[name]), COMMAND_LINE))
        elif name in settings:
            rows.append((each.key, masked(name, settings[name].value), settings[name].origin))
    return rows


def _facts(plan: CrawlPlan) -> dict[str, str]:
    start = plan.start
    settings, visited = start.settings, f"; {counted(start.n_visits, 'page')} visited" if start.n_visits else ""
    return {
        "topic": printable(settings.topic.id, 200),
        "keywords": _keywords(settings),
        "queue": f"{counted(start.n_queued, 'page')}{visited}",
        "folder": f"{printable(plan.folder)}{'' if plan.is_new else ', which has the settings'}",
        "strategy": printable(settings.strategy, 200),
        "relevance": printable(settings.relevance or "", 200),
        "stop": f"after {counted(start.page_budget, 'page')}",
        "scope": _scope(settings),
        **({"requests": "none: pages are read from the recording"} if settings.offline else _access(settings)),
    }


def _keywords(settings: CrawlSettings) -> str:
    words = ", ".join(printable(word, 80) for word in settings.topic.keywords)
    if not words:
        return "none: the start pages say what the topic is"
    stems = dict.fromkeys(stems_of(" ".join(settings.topic.keywords)))
    return f"{words}; matched by stem: {', '.join(stems) or 'none'}"


def _scope(settings: CrawlSettings) -> str:
    texts = (
        f"{option.flag} {', '.join(map(str, listed(value)))}"
        for option, value in options_of(CrawlOptions, settings)
        if option.option.stored.startswith("scope.") and listed(value)
    )
    return printable("; ".join(texts), 500) or "all hosts"


def _access(settings: CrawlSettings) -> dict[str, str]:
    politeness = settings.politeness
    per_host = "" if politeness.pages_per_host is None else f", {counted(politeness.pages_per_host, 'page')} of a host"
    plain = settings.masked()
    return {
        "robots.txt": f"read first for each host, rules for {settings.agent}",
        "crawl delay": f"{politeness.delay_s:g} s or more for each host{per_host}",
        "in flight": counted(settings.connections, "request"),
        "limits": f"{settings.limits.total_s:g} s and {settings.limits.body_bytes:,} bytes for a page",
        "user agent": settings.user_agent,
        **({"proxy": printable(plain.proxy, 200)} if plain.proxy else {}),
        **({"headers": printable(", ".join(plain.headers), 200)} if plain.headers else {}),
    }


def _print_pages(start: PlannedStart) -> None:
    if start.start_pages:
        n_seeds = len(start.settings.seeds)
        rows = [[each.url, each.outcome, _score(each.relevance), f"{each.n_links:,}"] for each in start.start_pages]
        more = f", the first {len(rows)} of {n_seeds:,}" if n_seeds > len(rows) else ""
        print_rows(f"Start pages{more}", ["URL", "outcome", "relevance", "links"], rows, n_text_columns=2)
    if start.ranking:
        rows = [[_score(each.score), each.url, each.why] for each in start.ranking]
        print_rows("The best queued pages", ["score", "URL", "why"], rows, n_text_columns=3)
        say("Hosts that have to wait for their crawl delay, and new links, change what follows.")
    else:
        say(f"Nothing more would be requested: {_why_nothing(start)}.")


def _why_nothing(start: PlannedStart) -> str:
    if start.n_visits >= start.page_budget:
        return f"{start.n_visits:,} of {counted(start.page_budget, 'page')} have been visited; raise --pages to go on"
    return "the queue is empty; start a new crawl with other start pages or a wider scope"


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.4g}"
