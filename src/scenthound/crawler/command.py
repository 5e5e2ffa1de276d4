"""The command line that makes such a crawl again.

Rules
- Only options are written that differ from their defaults.
- A topic that is more than an id and keywords is given as a file, and so are addresses of hosts: what must stand in
  them comes along.
- What no option says is named, so that nobody takes the command for the whole truth.
"""

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from scenthound.command_line import Option, command_line, unless
from scenthound.crawler.plan import AGENT, DEFAULT_STRATEGY, CrawlSettings, StopConditions
from scenthound.errors import printable
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.web.fetch import FetchLimits

TOPIC_FILE = "topic.jsonl"
HOSTS_FILE = "hosts"
#: Plans of the laboratory and of programs may have them; the command line does not.
_WITHOUT_OPTION = ("tries", "also_allowed", "ca_file", "only_hosts")
_AMONG_POLITENESS = ("delay_s", "pages_per_host", "pages_per_domain")
_AMONG_LIMITS = ("total_s", "headers_s", "connect_s", "body_bytes")


@dataclass(frozen=True, slots=True)
class ReproduceCommand:
    """`line` is empty if no command line can say it. `files` are names and contents that it reads; `unsaid` are
    settings that no option has, as names and values."""

    line: str
    files: tuple[tuple[str, str], ...] = ()
    unsaid: tuple[str, ...] = ()


def reproduce_command(
    plan: CrawlSettings, goals: StopConditions, out: str, files_in: Path = Path()
) -> ReproduceCommand:
    """The command that makes such a crawl in a folder `out`; its files are in the folder `files_in`."""
    topic_file, hosts_file = str(files_in / TOPIC_FILE), str(files_in / HOSTS_FILE)
    needs_file = plan.topic != Topic(plan.topic.id, plan.topic.keywords)
    files = [(TOPIC_FILE, _topic_line(plan.topic))] if needs_file else []
    if plan.hosts:
        files.append((HOSTS_FILE, "".join(f"{address} {host}\n" for host, address in plan.hosts.items())))
    words = ["scenthound", "crawl", *([topic_file] if needs_file else [])]
    options = [*_topic_options(plan, needs_file), *_choice_options(plan, goals), *_fetch_options(plan)]
    options += [("--hosts", hosts_file if plan.hosts else None), ("--out", out)]
    return ReproduceCommand(command_line(words, options), tuple(files), tuple(_unsaid(plan)))


def _topic_line(topic: Topic) -> str:
    """The topic as a line of a topic file."""
    return json.dumps({name: value for name, value in asdict(topic).items() if value}) + "\n"


def _topic_options(plan: CrawlSettings, needs_file: bool) -> list[Option]:
    keywords = plan.topic.keywords
    topic_id = None if needs_file else unless(plan.topic.id, keywords[0] if keywords else None)
    return [
        ("--topic", topic_id),
        ("--keywords", None if needs_file else keywords),
        ("--seed", None if needs_file and plan.seeds == plan.topic.seeds else plan.seeds),
        ("--contact", plan.contact or None),
    ]


def _choice_options(plan: CrawlSettings, goals: StopConditions) -> list[Option]:
    return [
        ("--pages", goals.page_budget or plan.page_budget),
        ("--min-harvest", goals.harvest_floor or None),
        ("--strategy", unless(plan.strategy, DEFAULT_STRATEGY)),
        ("--relevance", plan.relevance),
        ("--train-from", plan.train_from),
        ("--strict-order", plan.strict_order),
        ("--random-seed", unless(plan.random_seed, 0) if isinstance(plan.random_seed, int) else None),
        ("--web", plan.web),
        ("--offline", plan.offline),
    ]


def _fetch_options(plan: CrawlSettings) -> list[Option]:
    politeness, limits, usual = plan.politeness, plan.limits, FetchLimits()
    return [
        ("--user-agent", unless(plan.agent, AGENT)),
        ("--delay", _number(unless(politeness.delay_s, PolitenessSettings().delay_s))),
        ("--pages-per-host", politeness.pages_per_host),
        ("--pages-per-domain", politeness.pages_per_domain),
        ("--follow-nofollow", not plan.respect_nofollow),
        ("--connections", unless(plan.connections, 16)),
        ("--timeout", _number(unless(limits.total_s, usual.total_s))),
        ("--page-bytes", unless(limits.body_bytes, usual.body_bytes)),
        ("--redirects", unless(plan.redirects, 5)),
        ("--sitemaps", plan.sitemaps),
        ("--allow-private", plan.allow_private),
        ("--no-traps", not plan.traps),
        ("--keep-duplicates", not plan.near_duplicates),
        ("--keep-soft-404s", not plan.soft_404s),
    ]


def _number(value: object) -> object:
    return f"{value:g}" if isinstance(value, float) else value


def _unsaid(plan: CrawlSettings) -> list[str]:
    usual = CrawlSettings(plan.topic, plan.seeds)
    told = [name for name in _WITHOUT_OPTION if getattr(plan, name) != getattr(usual, name)]
    said = [f"{name}={printable(getattr(plan, name), 100)}" for name in told]
    if not isinstance(plan.random_seed, int):
        said.append(f"random_seed={printable(plan.random_seed, 100)!r}")
    politeness = replace(plan.politeness, **{name: getattr(PolitenessSettings(), name) for name in _AMONG_POLITENESS})
    limits = replace(plan.limits, **{name: getattr(FetchLimits(), name) for name in _AMONG_LIMITS})
    return [*said, *_changed(politeness, PolitenessSettings()), *_changed(limits, FetchLimits())]


def _changed(values: PolitenessSettings | FetchLimits, usual: PolitenessSettings | FetchLimits) -> list[str]:
    names = [field.name for field in fields(values)]
    return [f"{name}={getattr(values, name)}" for name in names if getattr(values, name) != getattr(usual, name)]
