"""`scenthound crawl --dry-run`: what a crawl would request first, and which settings it would have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.config import masked, text_of
from scenthound.cli.configuration import option_key
from scenthound.cli.options import is_from_command_line
from scenthound.cli.results import print_json
from scenthound.errors import printable
from scenthound.records import to_json
from scenthound.text.tokenizer import stems_of
from scenthound.ui.formats import counted
from scenthound.ui.terminal import print_facts, print_rows, say

if TYPE_CHECKING:
    from scenthound.api.plans import CrawlPlan
    from scenthound.crawler.plan import PlannedRequest, PlannedStart
    from scenthound.crawler.settings import CrawlSettings

COMMAND_LINE = "command line"
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
                "requests": to_json(start.requests),
                "skipped": to_json(start.skipped),
                "waiting": to_json(start.waiting),
                "options": [dict(zip(("option", "value", "set_by"), row, strict=True)) for row in options],
                "settings": start.settings.as_settings(),
            }
        )
        return
    typer.echo("A dry run: nothing is requested, and no folder is made or changed.")
    print_facts(_facts(plan))
    if options:
        rows = [[f"--{key}", text_of(value), origin] for key, value, origin in options]
        print_rows("Options that are set", ["option", "value", "set by"], rows, n_text_columns=3)
    _print_requests(plan)
    typer.echo(f"The same command without --dry-run {'starts' if plan.is_new else 'resumes'} the crawl.")


def _options(context: typer.Context) -> list[tuple[str, Any, str]]:
    """The options that are set: key, value and origin. A crawl that is resumed has its settings in its folder."""
    settings = context.default_map.settings  # type: ignore[union-attr]
    if context.params["resume"] is not None:
        settings = {name: setting for name, setting in settings.items() if name == "time"}
    rows = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in NOT_SHOWN:
            continue
        key = "file" if parameter.param_type_name == "argument" else option_key(parameter)
        if is_from_command_line(context, name):
            rows.append((key, masked(name, context.params[name]), COMMAND_LINE))
        elif name in settings:
            rows.append((key, masked(name, settings[name].value), settings[name].origin))
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
        **(_access(settings) if start.sends_requests else {"requests": "none: pages are read from the recording"}),
    }


def _keywords(settings: CrawlSettings) -> str:
    words = ", ".join(printable(word, 80) for word in settings.topic.keywords)
    if not words:
        return "none: the start pages say what the topic is"
    stems = dict.fromkeys(stems_of(" ".join(settings.topic.keywords)))
    return f"{words}; matched by stem: {', '.join(stems) or 'none'}"


def _scope(settings: CrawlSettings) -> str:
    scope = settings.scope
    limits = {
        "--allow-domain": scope.allow_domains,
        "--deny-domain": scope.deny_domains,
        "--include": scope.include,
        "--exclude": scope.exclude,
        "--max-depth": () if scope.max_depth is None else (scope.max_depth,),
    }
    texts = (f"{option} {', '.join(map(str, values))}" for option, values in limits.items() if values)
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


def _print_requests(plan: CrawlPlan) -> None:
    start = plan.start
    if start.requests:
        is_visited = plan.is_new and not start.sends_requests
        what = "pages, as read from the recording" if is_visited else "requests" if start.sends_requests else "pages"
        cells = [_cells(request, is_timed=start.sends_requests) for request in start.requests]
        titles = [title for title in cells[0] if any(row[title] for row in cells)]
        rows = [[row[title] for title in titles] for row in cells]
        print_rows(f"The first {what}", titles, rows, n_text_columns=len(titles))
        if not is_visited:
            say(
                "As if responses took no time, no robots.txt file had rules, and pages had no links: responses change "
                "what follows."
            )
    else:
        say(f"Nothing would be requested: {_why_nothing(start)}.")
    if start.skipped:
        rows = [[row.url, row.reason.text, row.detail] for row in start.skipped]
        print_rows("Skipped without a request", ["URL", "reason", "detail"], rows, n_text_columns=3)
    if start.waiting:
        rows = [[each.host, each.state, _seconds(each.seconds)] for each in start.waiting]
        print_rows("Hosts that have to wait", ["host", "state", "for"], rows, n_text_columns=2)


def _why_nothing(start: PlannedStart) -> str:
    if start.n_visits >= start.page_budget:
        return f"{start.n_visits:,} of {counted(start.page_budget, 'page')} are visited; raise --pages to go on"
    if not start.n_queued:
        return "the queue is empty; start a new crawl with other start pages or a wider scope"
    return "all pages of the queue are skipped, or their hosts are disabled"


def _cells(request: PlannedRequest, *, is_timed: bool) -> dict[str, str]:
    return {
        "after": _seconds(request.seconds) if is_timed else "",
        "request": request.kind,
        "URL": request.url,
        "score": "" if request.score is None else f"{request.score:.4g}",
        "why": request.why,
    }


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:g} s"
