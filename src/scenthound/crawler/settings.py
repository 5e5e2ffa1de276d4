"""The settings of a live crawl, as values that are stored in its folder; its stop conditions; and its topic."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from scenthound.crawler.options import (
    DEFAULT_PAGES,
    DEFAULT_PATIENCE,
    DEFAULT_STRATEGY,
    CrawlChoices,
    CrawlOptions,
    Ends,
)
from scenthound.crawler.rendering import RenderMode
from scenthound.crawler.scope import Scope
from scenthound.errors import CorruptData, InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.files import machine_fault, regular_bytes, write_atomic
from scenthound.frontier.base import max_better_hosts
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic, generator_seed, with_pages
from scenthound.options import MOST, check_number, check_record, declared, stored_values
from scenthound.records import from_json, to_json
from scenthound.store.crawl_folder import RUN_FILE
from scenthound.store.folder import MAX_JSON_BYTES
from scenthound.topics.files import read_topics
from scenthound.web.access import check_header, masked_header
from scenthound.web.fetch import FetchLimits
from scenthound.web.proxies import MASK, masked_proxy, parse_proxy
from scenthound.web.urls import canonical, has_user

#: The product token for robots.txt.
AGENT = "Scenthound"
#: The fetch limits of the studies: 10 seconds, and 100 KB per page.
STUDY_LIMITS = FetchLimits(total_s=10.0, body_bytes=100_000)
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
#: What comes before the host: scheme and slashes, which may be missing, and a user.
_USER = re.compile(r"\s*((?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]+|)[^/\\?#]*@")
_PORT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^/?#]*:([0-9]+)(?:[/?#]|$)")


@dataclass(frozen=True)
class CrawlSettings(CrawlChoices):
    """Everything that decides about a crawl, except when it stops: choices as they are given, and others resolved."""

    topic: Topic
    seeds: tuple[str, ...]
    strategy: str = DEFAULT_STRATEGY
    #: None: the strategy's own model, if it can be made for this topic; else the cosine.
    relevance: str | None = None
    #: The score from which on a page counts as on topic; None if the scores of the model are no probabilities.
    on_topic_from: float | None = None
    #: A folder of training pages for the relevance model.
    train_from: str | None = None
    page_budget: int = DEFAULT_PAGES
    #: With the topic it makes `generator_seed`.
    random_seed: int = 0
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    limits: FetchLimits = field(default_factory=FetchLimits)
    #: Which URLs may be requested.
    scope: Scope = field(default_factory=Scope)
    #: Attempts per page, if the host fails or sends Retry-After.
    tries: int = 3
    #: From 0 to 1: whether idle connections wait for better pages (`frontier.base.max_better_hosts`).
    patience: float = DEFAULT_PATIENCE
    respect_nofollow: bool = True
    #: Read the sitemaps that robots.txt files name.
    sitemaps: bool = True
    #: Detect crawler traps.
    traps: bool = True
    #: Give few pages to hosts and domains that bring nothing on topic (`throttle`).
    throttle: bool = True
    near_duplicates: bool = True
    soft_404s: bool = True
    #: Which pages are rendered in a browser (`rendering`).
    render: RenderMode = RenderMode.NEVER
    agent: str = AGENT
    #: IP addresses that are allowed although they are not public.
    also_allowed: tuple[str, ...] = ()
    #: Certificates to trust instead of the usual ones.
    ca_file: str | None = None
    #: IP addresses of hosts that DNS does not know.
    hosts: Mapping[str, str] = field(default_factory=dict)
    #: A recorded web whose pages are read instead of fetched; with `offline` nothing else is fetched.
    web: str | None = None
    #: Resolve no other hosts than those of `hosts`.
    only_hosts: bool = False
    #: A proxy for all requests, or those of the environment. Credentials are in a file of their own (`credentials`).
    proxy: str | None = field(default=None, repr=False)
    #: Sent to hosts of the seeds' domains (`web.access`).
    headers: tuple[str, ...] = field(default=(), repr=False)
    cookie_file: str | None = None
    #: Digests of the recorded web, the training pages and the strategy's file when the crawl started (`assembly`).
    web_fingerprint: str | None = None
    train_digest: str | None = None
    strategy_digest: str | None = None
    cookie_digest: str | None = None
    #: How many shards crawl together (`shard`), and the number of this one.
    shards: int = 1
    shard: int = 0

    def __post_init__(self) -> None:
        check_record(CrawlOptions, self)
        if not 1 <= self.tries <= MOST:
            raise InvalidParameter(f"A crawl has from 1 to {MOST:,} tries for a page, not {printable(self.tries, 40)}.")
        self._check_headers()
        if not self.seeds:
            raise UsageError(f"Topic {printable(self.topic.id, 80)!r} has no seeds: name some with --seed.")
        if self.proxy is not None:
            parse_proxy(self.proxy)
        for line in self.headers:
            check_header(line)
        if self.offline and self.web is None:
            raise UsageError("An offline crawl needs a recorded web: name one with --web.")

    def _check_headers(self) -> None:
        """Both are sent in headers, and the agent is the product token in robots.txt."""
        if not _PRODUCT_TOKEN.fullmatch(self.agent):
            raise InvalidParameter(
                f"--user-agent {printable(self.agent, 40)!r} must consist of letters a to z, _ and - (RFC 9309, "
                "section 2.2.1). The version is added."
            )
        if not self.contact.isascii() or not self.contact.isprintable():
            raise InvalidParameter(f"--contact {printable(self.contact, 40)!r} must be a mail address or URL in ASCII.")

    @classmethod
    def chosen(cls, topic: Topic, seeds: Sequence[str], options: CrawlOptions, **resolved: Any) -> "CrawlSettings":
        """From options, and from the values of those whose settings differ from what is given."""
        stored = stored_values(options)
        limits = STUDY_LIMITS if options.as_studies else FetchLimits()
        if (timeout_s := options.timeout) is not None:
            headers_s, connect_s = min(timeout_s, limits.headers_s), min(timeout_s, limits.connect_s)
            limits = replace(limits, total_s=timeout_s, headers_s=headers_s, connect_s=connect_s)
        if options.page_bytes is not None:
            limits = replace(limits, body_bytes=options.page_bytes)
        values = {
            **{each.name: getattr(options, each.name) for each in fields(cls) if hasattr(options, each.name)},
            **{name: value for name, value in stored.items() if not isinstance(value, dict)},
            "politeness": PolitenessSettings(**stored["politeness"]),
            "limits": limits,
            **resolved,
            "topic": topic,
            "seeds": canonical_seeds(seeds),
        }
        return cls(**{name: each for name, each in values.items() if each is not None})

    @property
    def max_better(self) -> float:
        """A page is left queued if this many hosts with better ones are waiting."""
        return max_better_hosts(self.patience, self.connections, self.politeness.delay_s)

    @property
    def generator_seed(self) -> str:
        """The seed of all randomness of the crawl."""
        name = self.topic.id if self.shards == 1 else f"{self.topic.id} {self.shard}"
        return generator_seed(self.random_seed, name)

    @property
    def user_agent(self) -> str:
        contact = f" (+{self.contact})" if self.contact else ""
        return f"{self.agent}/{version('scenthound')}{contact}"

    def as_settings(self) -> dict[str, Any]:
        """JSON values for `from_settings`, without credentials."""
        values: dict[str, Any] = to_json(replace(self.masked(), topic=_without_users(self.topic)))
        return values

    def masked(self) -> "CrawlSettings":
        """Without the credentials of proxy and headers."""
        proxy = None if self.proxy is None else masked_proxy(self.proxy)
        return replace(self, proxy=proxy, headers=tuple(map(masked_header, self.headers)))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "CrawlSettings":
        return from_json(cls, settings, "crawl.json")


def canonical_seeds(urls: Sequence[str]) -> tuple[str, ...]:
    """Distinct seeds in canonical form. UsageError for URLs that cannot be crawled, and for those with credentials,
    which would be lost: a canonical URL has none."""
    seeds: dict[str, None] = {}
    for url in urls:
        written = _with_scheme(url)
        seed = canonical(written)
        if seed is None or has_user(written):
            user = _USER.match(url)
            masked = url if user is None else f"{user[1]}{MASK}@{url[user.end() :]}"
            raise UsageError(f"Cannot crawl {printable(masked, 200)!r}: {_problem_of_url(url)}.")
        seeds[seed] = None
    return tuple(seeds)


def _with_scheme(url: str) -> str:
    return url if "://" in url or canonical(url) is not None else f"https://{url}"


def _problem_of_url(url: str) -> str:
    scheme, port = _SCHEME.match(url), _PORT.match(url)
    if scheme is not None and scheme[1].lower() not in ("http", "https"):
        return f"only http:// and https:// are supported, not {printable(scheme[1], 40)}://"
    if port is not None and int(port[1][:6]) > 65_535:
        return "ports go up to 65535"
    if _USER.match(url):
        return "leave out user name and password, and send them with --header 'Authorization: ...' or --cookie-file"
    return "write it as https://example.org/page"


def _without_users(topic: Topic) -> Topic:
    """The topic with URLs that have no user names and passwords."""

    def cleaned(urls: tuple[str, ...]) -> tuple[str, ...]:
        written = {url: _with_scheme(url) for url in urls}
        found = (canonical(written[url]) if has_user(written[url]) else url for url in urls)
        return tuple(url for url in found if url is not None)

    return with_pages(topic, cleaned)


@dataclass(frozen=True, slots=True)
class StopConditions:
    """When a crawl stops, and its retrained relevance model; stored as `run.json` for later runs.

    None means the value of the crawl's settings. `relevance_model` is a folder inside the crawl folder with the
    training pages of its retrained relevance model, and `relevance_digest` is their digest.
    """

    page_budget: int | None = None
    harvest_floor: float | None = None
    until_recall: float | None = None
    relevance_model: str | None = None
    relevance_digest: str | None = None

    def __post_init__(self) -> None:
        check_record(Ends, self)
        check_number(declared(Ends)["min_harvest"], self.harvest_floor)

    @classmethod
    def read(cls, folder: Path) -> "StopConditions":
        """Those of the last run, if it had any."""
        file = folder / RUN_FILE
        try:
            values = orjson.loads(regular_bytes(file, MAX_JSON_BYTES))
            if not isinstance(values, dict) or not {each.name for each in fields(cls)}.issuperset(values):
                raise ValueError("no object, or an unknown field")
            return from_json(cls, values, file)
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, CorruptData, InvalidParameter) as reason:
            raise InvalidInput(
                machine_fault(file, reason)
                or f"{printable(file)} is damaged: delete it, and repeat --pages, --min-harvest and --until-recall."
            ) from None

    def write(self, folder: Path) -> None:
        values = {name: value for name, value in asdict(self).items() if value is not None}
        content = orjson.dumps(values, option=orjson.OPT_INDENT_2) + b"\n"
        write_atomic(folder / RUN_FILE, content, follow_link=False)

    def updated(self, **changes: Any) -> "StopConditions":
        """With the changes that are not None."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})


def choose_topic(
    file: Path | None, topic_id: str | None, keywords: Sequence[str], seeds: Sequence[str]
) -> tuple[Topic, tuple[str, ...]]:
    """The topic of a file, or one made of keywords, and its seeds: those named, or else the topic's own, or else its
    examples."""
    if keywords and not any(word.strip() for word in keywords):
        raise UsageError(
            "--keywords is empty: write what the pages are about or, if the start pages say it, leave the option out."
        )
    if file is None and seeds and not keywords:
        # The topic is what the start pages are about.
        return Topic(topic_id or "start pages", seeds=tuple(seeds)), canonical_seeds(seeds)
    if file is not None:
        topic = _topic_of_file(file, topic_id, keywords)
    elif words := tuple(word for word in keywords if word.strip()):
        topic = Topic(topic_id or words[0], words)
    else:
        raise UsageError("No topic: name a topic file, keywords with --keywords, or start pages with --seed.")
    return topic, canonical_seeds(seeds or topic.seeds or topic.examples)


def _topic_of_file(file: Path, topic_id: str | None, keywords: Sequence[str]) -> Topic:
    if keywords:
        raise UsageError(f"Use either --keywords or the topic file {printable(file)}, which has its own keywords.")
    topics = {topic.id: topic for topic in read_topics(file)}
    if topic_id is None and len(topics) > 1:
        some = ", ".join(map(printable, list(topics)[:10]))
        raise UsageError(f"{printable(file)} has {len(topics):,} topics: choose one with --topic, for example {some}.")
    if topic_id is not None and topic_id not in topics:
        raise UnknownName.among("topic", topic_id, topics, printable(file))
    return topics[topic_id or next(iter(topics))]
