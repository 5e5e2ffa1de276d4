"""The command line that starts a crawl with given settings.

Rules
- Only options that differ from their defaults are written.
- A topic with more than an id and keywords is written to a file, and so are IP addresses of hosts.
- Settings without an option, and credentials, are listed, because the command does not reproduce them.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from scenthound.command_line import Option as CommandOption
from scenthound.command_line import command_line, unless
from scenthound.crawler.options import DEFAULT_PATIENCE, CrawlArguments
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.errors import printable
from scenthound.model import Topic
from scenthound.options import declared, options_in, options_of
from scenthound.strategies.base import Strategy

TOPIC_FILE = "topic.jsonl"
HOSTS_FILE = "hosts"
#: Settings that only programs can set.
_WITHOUT_OPTION = ("tries", "also_allowed", "ca_file", "only_hosts")
#: Limits that follow from `--timeout`.
_IMPLIED_LIMITS = ("headers_s", "connect_s")


@dataclass(frozen=True, slots=True)
class ReproduceCommand:
    """`line` is empty if no command line can say it. `files` are names and contents of files that it reads; `unsaid`
    are settings without an option, and credentials, as names and values."""

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
    values = dict(_values(settings))
    default = dict(_values(CrawlSettings(topic, settings.seeds)))
    said = _said_otherwise(settings, conditions, needs_file)
    said |= {"hosts": str(files_in / HOSTS_FILE) if settings.hosts else None, "out": out}
    options: list[CommandOption] = [("--keywords", None if needs_file else topic.keywords)]
    for name, each in declared(CrawlArguments).items():
        value = said[name] if name in said else unless(values.get(name), default.get(name))
        # A flag that can be switched off has two forms.
        on, _, off = each.flag.partition("/")
        if not each.is_python_only:
            written = f"{value:g}" if isinstance(value, float) else value
            options.append((off, True) if value is False and off else (on, written))
    return ReproduceCommand(command_line(words, options), tuple(files), tuple(_unsaid(settings)))


def _values(settings: CrawlSettings) -> Iterator[tuple[str, object]]:
    """The options that settings have as they are given."""
    return ((each.name, value) for each, value in options_of(CrawlArguments, settings))


def _said_otherwise(settings: CrawlSettings, conditions: StopConditions, needs_file: bool) -> dict[str, object]:
    """Options that are not said if they differ from the default, but by rules of their own."""
    topic = settings.topic
    has_default_sitemaps = settings.sitemaps != settings.strict_order
    return {
        "topic_id": None if needs_file else unless(topic.id, topic.keywords[0] if topic.keywords else None),
        "seeds": None if needs_file and settings.seeds == topic.seeds else settings.seeds,
        "pages": conditions.page_budget or settings.page_budget,
        "min_harvest": conditions.harvest_floor or None,
        "until_recall": conditions.until_recall or None,
        "relevance": unless(settings.relevance, Strategy.relevance_model),
        # It has no effect in strict order.
        "patience": None if settings.strict_order else unless(settings.patience, DEFAULT_PATIENCE),
        "random_seed": unless(settings.random_seed, 0),
        "sitemaps": None if has_default_sitemaps else settings.sitemaps,
        # Its default is that of the machine.
        "render": settings.render.value,
        "proxy": None if "@" in (settings.proxy or "") else settings.proxy,
        "header": None,
        "shards": None,
    }


def _unsaid(settings: CrawlSettings) -> list[str]:
    default = CrawlSettings(settings.topic, settings.seeds)
    changed = [name for name in _WITHOUT_OPTION if getattr(settings, name) != getattr(default, name)]
    unsaid = [f"{name}={printable(getattr(settings, name), 100)}" for name in changed]
    masked = settings.masked()
    if "@" in (settings.proxy or ""):
        unsaid.append(f"proxy={masked.proxy}")
    unsaid += [f"header={printable(line, 100)}" for line in masked.headers]
    for part in ("politeness", "limits"):
        values, usual = getattr(settings, part), getattr(default, part)
        names = [each.name for each in fields(values) if f"{part}.{each.name}" not in _stored()]
        changed = [name for name in names if getattr(values, name) != getattr(usual, name)]
        unsaid += [f"{name}={getattr(values, name)}" for name in changed if name not in _IMPLIED_LIMITS]
    return unsaid


def _stored() -> set[str]:
    """Where settings have the values of options."""
    return {each.option.stored for each in options_in(CrawlArguments)}
