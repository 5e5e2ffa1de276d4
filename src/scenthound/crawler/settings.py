"""The settings of a live crawl, as values that are stored in its folder; its stop conditions; and its topic."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from scenthound.crawler.rendering import RenderMode
from scenthound.crawler.scope import Scope
from scenthound.errors import CorruptData, InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.files import machine_fault, regular_bytes, write_atomic
from scenthound.frontier.base import max_better_hosts
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic, generator_seed
from scenthound.records import column, from_json, to_json
from scenthound.store.crawl_folder import RUN_FILE
from scenthound.store.folder import MAX_JSON_BYTES
from scenthound.strategies.old_defaults import with_defaults_of_0_7
from scenthound.topics.files import read_topics
from scenthound.web.access import check_header, masked_header
from scenthound.web.fetch import FetchLimits
from scenthound.web.proxies import MASK, masked_proxy, parse_proxy
from scenthound.web.urls import canonical, has_user

#: The product token for robots.txt.
AGENT = "Scenthound"
#: Found the most targets with the default relevance model: `python -m benchmarks.default_strategy`.
DEFAULT_STRATEGY = "link_context"
#: Chosen on synthetic webs: `python -m benchmarks.patience`.
DEFAULT_PATIENCE = 0.7
DEFAULT_CONNECTIONS = 16
#: The fetch limits of the studies: 10 seconds, and 100 KB per page.
STUDY_LIMITS = FetchLimits(total_s=10.0, body_bytes=100_000)
#: Pages are numbered with 32 bits.
MAX_COUNT = (1 << 31) - 1
MAX_SECONDS = 86_400
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
#: What comes before the host: scheme and slashes, which may be missing, and a user.
_USER = re.compile(r"\s*((?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]+|)[^/\\?#]*@")
_PORT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^/?#]*:([0-9]+)(?:[/?#]|$)")


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """Everything that decides about a crawl, except when it stops."""

    topic: Topic
    seeds: tuple[str, ...]
    strategy: str = DEFAULT_STRATEGY
    #: None: the strategy's own model, if it can be made for this topic; else the cosine.
    relevance: str | None = None
    #: The score from which on a page counts as on topic; None if the scores of the model are no probabilities.
    on_topic_from: float | None = None
    #: A folder of training pages for the relevance model.
    train_from: str | None = None
    page_budget: int = 1_000
    #: With the topic it makes `generator_seed`; a text, which versions before 0.8 wrote, is that seed itself.
    random_seed: int | str = 0
    #: Whether random numbers are those of simulated crawls for the topic; False for crawls of versions before 0.8.
    random_as_simulated: bool = True
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    limits: FetchLimits = field(default_factory=FetchLimits)
    #: Concurrent requests, over all hosts.
    connections: int = DEFAULT_CONNECTIONS
    #: Redirects followed per page; browsers follow 20, RFC 9309 requires 5 for robots.txt.
    redirects: int = 5
    #: Which URLs may be requested.
    scope: Scope = field(default_factory=Scope)
    #: Attempts per page, if the host fails or sends Retry-After.
    tries: int = 3
    #: Wait for the best page even if its host is not ready: the order of a simulated crawl.
    strict_order: bool = False
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
    #: Who runs the crawl: a mail address or a web page, sent to every host.
    contact: str = ""
    agent: str = AGENT
    allow_private: bool = False
    #: IP addresses that are allowed although they are not public.
    also_allowed: tuple[str, ...] = ()
    #: Certificates to trust instead of the usual ones.
    ca_file: str | None = None
    #: IP addresses of hosts that DNS does not know.
    hosts: Mapping[str, str] = field(default_factory=dict)
    #: A recorded web whose pages are read instead of fetched; with `offline` nothing else is fetched.
    web: str | None = None
    offline: bool = False
    #: Resolve no other hosts than those of `hosts`.
    only_hosts: bool = False
    #: A proxy for all requests, or those of the environment. Credentials are in a file of their own (`credentials`).
    proxy: str | None = field(default=None, repr=False)
    proxy_from_environment: bool = False
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
    #: The version whose default parameters the strategy has; crawls before 0.8 lack it.
    strategy_defaults: str = "0.8"

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_headers()
        if not self.seeds:
            raise UsageError(f"Topic {printable(self.topic.id, 80)!r} has no seeds: name some with --seed.")
        if self.proxy is not None:
            parse_proxy(self.proxy)
        for line in self.headers:
            check_header(line)
        if self.offline and self.web is None:
            raise UsageError("An offline crawl needs a recorded web: name one with --web.")

    def _check_numbers(self) -> None:
        for name in ("page_budget", "connections", "tries"):
            check_count(name, getattr(self, name))
        check_count("redirects", self.redirects, minimum=0)
        check_count("page_bytes", self.limits.body_bytes)
        if self.scope.max_depth is not None:
            check_count("max_depth", self.scope.max_depth, minimum=0)
        for name in ("pages_per_host", "pages_per_domain"):
            if (count := getattr(self.politeness, name)) is not None:
                check_count(name, count)
        for name, seconds in (("timeout", self.limits.total_s), ("delay", self.politeness.delay_s)):
            if not seconds <= MAX_SECONDS:
                raise InvalidParameter(f"{name} must be at most {MAX_SECONDS:,} seconds, a day, not {seconds}.")
        if not 0 <= self.patience <= 1:
            raise InvalidParameter(f"patience must be from 0 to 1, not {self.patience}.")
        if isinstance(self.random_seed, int) and not -(1 << 63) <= self.random_seed < 1 << 63:
            raise InvalidParameter(f"random_seed must fit into 64 bits, not {printable(self.random_seed, 40)}.")

    def _check_headers(self) -> None:
        """Both are sent in headers, and the agent is the product token in robots.txt."""
        if not _PRODUCT_TOKEN.fullmatch(self.agent):
            raise InvalidParameter(
                f"user_agent must consist of letters a to z, _ and - (RFC 9309, section 2.2.1), not "
                f"{printable(self.agent, 40)!r}. The version is added."
            )
        if not self.contact.isascii() or not self.contact.isprintable():
            raise InvalidParameter(
                f"contact must be a mail address or URL in ASCII, not {printable(self.contact, 40)!r}."
            )

    @property
    def max_better(self) -> float:
        """A page is left queued if so many hosts with better ones are waiting."""
        return max_better_hosts(self.patience, self.connections, self.politeness.delay_s)

    @property
    def generator_seed(self) -> int | str:
        """The seed of all randomness of the crawl."""
        if isinstance(self.random_seed, str) or not self.random_as_simulated:
            return self.random_seed
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
        # Crawls of version 0.7 had none of these.
        values = {"patience": 0.0, "throttle": False, "random_as_simulated": False, **settings}
        if "strategy_defaults" not in values and isinstance(values.get("strategy"), str):
            values["strategy"] = with_defaults_of_0_7(values["strategy"])
        return from_json(cls, values, "crawl.json")

    def with_budget(self, page_budget: int | None) -> "CrawlSettings":
        return self if page_budget is None else replace(self, page_budget=page_budget)


def canonical_seeds(urls: Sequence[str]) -> tuple[str, ...]:
    """Distinct seeds in canonical form. UsageError for URLs that cannot be crawled, and for those with credentials,
    which would be lost: a canonical URL has none."""
    return tuple(dict.fromkeys(map(_canonical_seed, urls)))


def _canonical_seed(url: str) -> str:
    written = _with_scheme(url)
    seed = canonical(written)
    if seed is None or has_user(written):
        user = _USER.match(url)
        masked = url if user is None else f"{user[1]}{MASK}@{url[user.end() :]}"
        raise UsageError(f"Cannot crawl {printable(masked, 200)!r}: {_problem_of_url(url)}.")
    return seed


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

    def cleaned(urls: Sequence[str]) -> tuple[str, ...]:
        written = {url: _with_scheme(url) for url in urls}
        found = (canonical(written[url]) if has_user(written[url]) else url for url in urls)
        return tuple(url for url in found if url is not None)

    return replace(
        topic,
        examples=cleaned(topic.examples),
        seeds=cleaned(topic.seeds),
        targets=cleaned(topic.targets),
        description_from=cleaned(topic.description_from),
    )


def check_count(name: str, count: int, *, minimum: int = 1) -> None:
    if not minimum <= count <= MAX_COUNT:
        raise InvalidParameter(f"{name} must be from {minimum} to {MAX_COUNT:,}, not {printable(count, 40)}.")


@dataclass(frozen=True, slots=True)
class StopConditions:
    """When a crawl stops, and its retrained relevance model; stored as `run.json` for later runs.

    None means the value of the crawl's settings. `relevance_model` is a folder inside the crawl folder with the
    training pages of its retrained relevance model, and `relevance_digest` is their digest.
    """

    page_budget: int | None = None
    harvest_floor: float | None = None
    until_recall: float | None = None
    relevance_model: str | None = column(default=None, aliases=("guide",))
    relevance_digest: str | None = column(default=None, aliases=("guide_digest",))

    def __post_init__(self) -> None:
        if self.page_budget is not None:
            check_count("pages", self.page_budget)
        if self.harvest_floor is not None and not 0 <= self.harvest_floor < math.inf:
            raise InvalidParameter(f"--min-harvest {self.harvest_floor} must be finite, and 0 or more.")
        if self.until_recall is not None and not 0 <= self.until_recall <= 1:
            raise InvalidParameter(f"--until-recall {self.until_recall} must be from 0 to 1, for example 0.8.")

    @classmethod
    def read(cls, folder: Path) -> "StopConditions":
        """Those of the last run, if it had any."""
        file = folder / RUN_FILE
        try:
            values = orjson.loads(regular_bytes(file, MAX_JSON_BYTES))
            if not {each.name for each in fields(cls)}.issuperset(values):
                raise ValueError("an unknown field")
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
    topic = _topic_of_keywords(keywords, topic_id) if file is None else _topic_of_file(file, topic_id, keywords)
    return topic, canonical_seeds(seeds or topic.seeds or topic.examples)


def _topic_of_keywords(keywords: Sequence[str], topic_id: str | None) -> Topic:
    words = tuple(word for word in keywords if word.strip())
    if not words:
        raise UsageError("No topic: name a topic file, keywords with --keywords, or start pages with --seed.")
    return Topic(topic_id or words[0], words)


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
