"""The command line that starts a crawl with given settings.

Rules
- Only options that differ from their defaults are written.
- A topic with more than an id and keywords is written to a file, and so are IP addresses of hosts.
- Settings without an option, and credentials, are listed, because the command does not reproduce them.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from scenthound.command_line import Option, command_line, unless
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.errors import printable
from scenthound.model import Topic
from scenthound.strategies.base import Strategy

TOPIC_FILE = "topic.jsonl"
HOSTS_FILE = "hosts"
#: Settings that only programs can set.
_WITHOUT_OPTION = ("tries", "also_allowed", "ca_file", "only_hosts", "random_as_simulated")
_POLITENESS_OPTIONS = ("delay_s", "pages_per_host", "pages_per_domain")
_LIMIT_OPTIONS = ("total_s", "headers_s", "connect_s", "body_bytes")


@dataclass(frozen=True, slots=True)
class ReproduceCommand:
    """`line` is empty if no command line can say it. `files` are names and contents of files that it reads; `unsaid`
    are settings without an option, as names and values."""

    line: str
    files: tuple[tuple[str, str], ...] = ()
    unsaid: tuple[str, ...] = ()


def reproduce_command(
    settings: CrawlSettings, conditions: StopConditions, out: str, files_in: Path = Path()
) -> ReproduceCommand:
    """The command that makes such a crawl in a folder `out`; its files are in the folder `files_in`."""
    topic = settings.topic
    needs_file = topic != Topic(topic.id, topic.keywords)
    files = []
    if needs_file:
        line = json.dumps({name: value for name, value in asdict(topic).items() if value})
        files.append((TOPIC_FILE, f"{line}\n"))
    if settings.hosts:
        files.append((HOSTS_FILE, "".join(f"{address} {host}\n" for host, address in settings.hosts.items())))
    words = ["scenthound", "crawl", *([str(files_in / TOPIC_FILE)] if needs_file else [])]
    options = [*_topic_options(settings, needs_file), *_other_options(settings, conditions)]
    options += [("--hosts", str(files_in / HOSTS_FILE) if settings.hosts else None), ("--out", out)]
    return ReproduceCommand(command_line(words, options), tuple(files), tuple(_unsaid(settings)))


def _topic_options(settings: CrawlSettings, needs_file: bool) -> list[Option]:
    topic = settings.topic
    topic_id = None if needs_file else unless(topic.id, topic.keywords[0] if topic.keywords else None)
    return [
        ("--topic", topic_id),
        ("--keywords", None if needs_file else topic.keywords),
        ("--seed", None if needs_file and settings.seeds == topic.seeds else settings.seeds),
        ("--contact", settings.contact or None),
    ]


def _other_options(settings: CrawlSettings, conditions: StopConditions) -> list[Option]:
    default = CrawlSettings(settings.topic, settings.seeds)
    politeness, limits = settings.politeness, settings.limits
    return [
        ("--pages", conditions.page_budget or settings.page_budget),
        ("--min-harvest", conditions.harvest_floor or None),
        ("--until-recall", conditions.until_recall or None),
        ("--strategy", unless(settings.strategy, default.strategy)),
        ("--relevance", unless(settings.relevance, Strategy.relevance_model)),
        ("--train-from", settings.train_from),
        ("--patience", _patience(settings, default)),
        ("--strict-order", settings.strict_order),
        ("--random-seed", unless(settings.random_seed, 0) if isinstance(settings.random_seed, int) else None),
        ("--web", settings.web),
        ("--offline", settings.offline),
        ("--allow-domain", settings.scope.allow_domains),
        ("--deny-domain", settings.scope.deny_domains),
        ("--include", settings.scope.include),
        ("--exclude", settings.scope.exclude),
        ("--max-depth", settings.scope.max_depth),
        ("--user-agent", unless(settings.agent, default.agent)),
        ("--delay", _number(unless(politeness.delay_s, default.politeness.delay_s))),
        ("--pages-per-host", politeness.pages_per_host),
        ("--pages-per-domain", politeness.pages_per_domain),
        ("--follow-nofollow", not settings.respect_nofollow),
        ("--connections", unless(settings.connections, default.connections)),
        ("--timeout", _number(unless(limits.total_s, default.limits.total_s))),
        ("--page-bytes", unless(limits.body_bytes, default.limits.body_bytes)),
        ("--redirects", unless(settings.redirects, default.redirects)),
        ("--sitemaps", settings.sitemaps and settings.strict_order),
        ("--no-sitemaps", not settings.sitemaps and not settings.strict_order),
        # Its default is that of the machine.
        ("--render", settings.render.value),
        ("--proxy", None if "@" in (settings.proxy or "") else settings.proxy),
        ("--proxy-from-environment", settings.proxy_from_environment),
        ("--cookie-file", settings.cookie_file),
        ("--allow-private", settings.allow_private),
        ("--no-traps", not settings.traps),
        ("--no-throttle", not settings.throttle),
        ("--keep-duplicates", not settings.near_duplicates),
        ("--keep-soft-404s", not settings.soft_404s),
    ]


def _patience(settings: CrawlSettings, default: CrawlSettings) -> object:
    """None in strict order, where it has no effect."""
    return None if settings.strict_order else _number(unless(settings.patience, default.patience))


def _number(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def _unsaid(settings: CrawlSettings) -> list[str]:
    default = CrawlSettings(settings.topic, settings.seeds)
    changed = [name for name in _WITHOUT_OPTION if getattr(settings, name) != getattr(default, name)]
    unsaid = [f"{name}={printable(getattr(settings, name), 100)}" for name in changed]
    if not isinstance(settings.random_seed, int):
        unsaid.append(f"random_seed={printable(settings.random_seed, 100)!r}")
    masked = settings.masked()
    if "@" in (settings.proxy or ""):
        unsaid.append(f"proxy={masked.proxy}")
    unsaid += [f"header={printable(line, 100)}" for line in masked.headers]
    unsaid += _changed(settings.politeness, default.politeness, _POLITENESS_OPTIONS)
    return unsaid + _changed(settings.limits, default.limits, _LIMIT_OPTIONS)


def _changed(values: Any, default: Any, with_option: tuple[str, ...]) -> list[str]:
    names = [each.name for each in fields(values) if each.name not in with_option]
    return [f"{name}={getattr(values, name)}" for name in names if getattr(values, name) != getattr(default, name)]
