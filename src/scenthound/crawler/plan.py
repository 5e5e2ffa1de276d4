"""What a live crawl is to do: everything that decides about it, as values that a crawl's folder can keep."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from scenthound.errors import CorruptData, InvalidInput, InvalidParameter, UnknownName, UsageError, printable
from scenthound.files import regular_bytes, write_atomic
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.records import column, from_json
from scenthound.store.crawl_folder import MOST_ABOUT_BYTES, RUN_FILE
from scenthound.topics.files import read_topics
from scenthound.web.fetch import FetchLimits
from scenthound.web.urls import canonical

#: The name by which robots.txt files know the crawler.
AGENT = "Scenthound"
#: Found most targets of those tried with the cosine as guide, on a collection that nothing else is judged by.
DEFAULT_STRATEGY = "otie"
#: The fetch rules of the studies: 10 seconds, and 100 KB of a page.
STUDY_LIMITS = FetchLimits(total_s=10.0, body_bytes=100_000)
#: Pages are numbered with 32 bits.
MOST_COUNTED = (1 << 31) - 1
MOST_SECONDS = 86_400
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PORT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^/?#]*:([0-9]+)(?:[/?#]|$)")


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """A topic, where to start, how to choose, and how to behave."""

    topic: Topic
    seeds: tuple[str, ...]
    strategy: str = DEFAULT_STRATEGY
    #: None: the strategy's own model, if it can be had for this topic; else the cosine.
    relevance: str | None = None
    #: A folder of pages that classifiers learn from.
    train_from: str | None = None
    page_budget: int = 1_000
    #: A text is the seed of a simulated crawl whose visits are to be made again.
    random_seed: int | str = 0
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    limits: FetchLimits = field(default_factory=FetchLimits)
    connections: int = 16
    redirects: int = 5
    tries: int = 3
    strict_order: bool = False
    respect_nofollow: bool = True
    sitemaps: bool = False
    traps: bool = True
    near_duplicates: bool = True
    soft_404s: bool = True
    #: Who runs the crawl: a mail address or a web page, told to every host.
    contact: str = ""
    agent: str = AGENT
    allow_private: bool = False
    #: Addresses that may be talked to though they are not public.
    also_allowed: tuple[str, ...] = ()
    #: Certificates to trust instead of the usual ones.
    ca_file: str | None = None
    #: Addresses of hosts that no name server knows.
    hosts: Mapping[str, str] = field(default_factory=dict)
    #: A recorded web whose pages are read instead of fetched; `offline`: nothing else is fetched.
    web: str | None = None
    offline: bool = False
    #: Look up no other hosts than those of `hosts`.
    only_hosts: bool = False
    #: What the recorded web, the training pages and the strategy's file held when the crawl began (`crawl_sources`).
    web_fingerprint: str | None = None
    train_digest: str | None = None
    strategy_digest: str | None = None

    def __post_init__(self) -> None:
        self._check_counts()
        self._check_names()
        if not self.seeds:
            raise UsageError(f"Topic {self.topic.id!r} has no page to start from: name some with --seed.")
        if self.offline and self.web is None:
            raise UsageError("Offline a crawl has only the pages of a recorded web: name one with --web.")

    def _check_counts(self) -> None:
        """Numbers that no crawl can come to would not fit where they are kept."""
        for name in ("page_budget", "connections", "tries"):
            check_count(name, getattr(self, name), least=1)
        check_count("redirects", self.redirects, least=0)
        check_count("page_bytes", self.limits.body_bytes, least=1)
        for name in ("pages_per_host", "pages_per_domain"):
            if (count := getattr(self.politeness, name)) is not None:
                check_count(name, count, least=1)
        for name, seconds in (("timeout", self.limits.total_s), ("delay", self.politeness.delay_s)):
            if not seconds <= MOST_SECONDS:
                raise InvalidParameter(f"{name} is {seconds} seconds; at most {MOST_SECONDS:,}, a day, make sense.")
        if isinstance(self.random_seed, int) and not -(1 << 63) <= self.random_seed < 1 << 63:
            raise InvalidParameter(f"random_seed is {printable(self.random_seed, 40)}; it has to fit into 64 bits.")

    def _check_names(self) -> None:
        """Both are sent in headers, and robots.txt files speak to the agent by its name."""
        if not _PRODUCT_TOKEN.fullmatch(self.agent):
            raise InvalidParameter(
                f"user_agent is {printable(self.agent, 40)!r}; a crawler's name has only letters a to z, _ and -, "
                "because robots.txt knows no other (RFC 9309, section 2.2.1). Its version is added."
            )
        if not self.contact.isascii() or not self.contact.isprintable():
            raise InvalidParameter(
                f"contact is {printable(self.contact, 40)!r}; headers hold ASCII only: write a mail address or URL so."
            )

    @property
    def user_agent(self) -> str:
        who = f" (+{self.contact})" if self.contact else ""
        return f"{self.agent}/{version('scenthound')}{who}"

    def as_settings(self) -> dict[str, Any]:
        """Plain values that `from_settings` makes the same plan of."""
        return asdict(self)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "CrawlSettings":
        try:
            values: dict[str, Any] = dict(settings)
            topic: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in values["topic"].items()
            }
            values["topic"] = Topic(**topic)
            values["seeds"] = tuple(values["seeds"])
            values["also_allowed"] = tuple(values["also_allowed"])
            values["politeness"] = PolitenessSettings.from_dict(values["politeness"])
            values["limits"] = FetchLimits(**values["limits"])
            return cls(**values)
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f"The settings of the crawl cannot be read ({printable(error)}).") from None

    def with_budget(self, page_budget: int | None) -> "CrawlSettings":
        return self if page_budget is None else replace(self, page_budget=page_budget)


def canonical_seeds(urls: list[str]) -> tuple[str, ...]:
    """Seeds in canonical form; one that no crawler can fetch is refused."""
    seeds = []
    for url in urls:
        seed = canonical(url) or (canonical(f"https://{url}") if "://" not in url else None)
        if seed is None:
            raise UsageError(f"{printable(url, 200)!r} is no address that can be crawled: {_why_not(url)}.")
        seeds.append(seed)
    return tuple(dict.fromkeys(seeds))


def _why_not(url: str) -> str:
    scheme, port = _SCHEME.match(url), _PORT.match(url)
    if scheme is not None and scheme[1].lower() not in ("http", "https"):
        return f"only http:// and https:// can be, and it has {printable(scheme[1], 40)}://"
    if port is not None and int(port[1][:6]) > 65_535:
        return "ports go up to 65535"
    return "write it as https://example.org/page"


def check_count(name: str, count: int, *, least: int) -> None:
    """BadParameter unless the number is one that a crawl can come to."""
    if not least <= count <= MOST_COUNTED:
        raise InvalidParameter(f"{name} is {printable(count, 40)}; it has to be from {least} to {MOST_COUNTED:,}.")


# How far a crawl is to go, as its last run was told: kept beside `crawl.json` as `run.json`, for the runs to come.


@dataclass(frozen=True, slots=True)
class StopConditions:
    """None means the value of the crawl's settings. `relevance_model` is a folder inside the crawl folder with the
    pages that its relevance model was retrained on, and `relevance_digest` is their digest."""

    page_budget: int | None = None
    harvest_floor: float | None = None
    relevance_model: str | None = column(default=None, aliases=("guide",))
    relevance_digest: str | None = column(default=None, aliases=("guide_digest",))

    def __post_init__(self) -> None:
        if self.page_budget is not None:
            check_count("pages", self.page_budget, least=1)
        if self.harvest_floor is not None and not 0 <= self.harvest_floor < math.inf:
            raise InvalidParameter(f"min_harvest is {self.harvest_floor}; it has to be 0 or more, and finite.")

    @classmethod
    def read(cls, folder: Path) -> "StopConditions":
        """Those of the last run; a crawl that was never told any has none."""
        file = folder / RUN_FILE
        try:
            values = orjson.loads(regular_bytes(file, MOST_ABOUT_BYTES))
            if not {each.name for each in fields(cls)}.issuperset(values):
                raise ValueError("a field that no run writes")
            return from_json(cls, values, file)
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, CorruptData, InvalidParameter):
            raise InvalidInput(
                f"{printable(file)} is damaged: delete it, and give --pages and --min-harvest again."
            ) from None

    def write(self, folder: Path) -> None:
        told = {name: value for name, value in asdict(self).items() if value is not None}
        content = orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n"
        write_atomic(folder / RUN_FILE, content, follow_link=False)

    def updated(
        self,
        *,
        page_budget: int | None = None,
        harvest_floor: float | None = None,
        relevance_model: str | None = None,
        relevance_digest: str | None = None,
    ) -> "StopConditions":
        """With what a run is told; what it is not told stays."""
        return StopConditions(
            self.page_budget if page_budget is None else page_budget,
            self.harvest_floor if harvest_floor is None else harvest_floor,
            self.relevance_model if relevance_model is None else relevance_model,
            self.relevance_digest if relevance_digest is None else relevance_digest,
        )


# What a live crawl is about and where it starts, from a topic file or from words alone.


@dataclass(frozen=True, slots=True)
class ChosenTopic:
    """A topic, and the pages to start from."""

    topic: Topic
    seeds: tuple[str, ...]

    @classmethod
    def of(
        cls, file: Path | None, topic_id: str | None, keywords: Sequence[str], seeds: Sequence[str]
    ) -> "ChosenTopic":
        """The topic of a file, or one made of keywords. It starts from `seeds`; without any, from the topic's own
        seeds, or else from its examples."""
        topic = _named(keywords, topic_id) if file is None else _filed(file, topic_id, keywords)
        return cls(topic, canonical_seeds(list(seeds or topic.seeds or topic.examples)))


def _named(keywords: Sequence[str], topic_id: str | None) -> Topic:
    words = tuple(word for word in keywords if word.strip())
    if not words:
        raise UsageError("There is nothing to crawl for: name a topic file, or words with --keywords.")
    return Topic(topic_id or words[0], words)


def _filed(file: Path, topic_id: str | None, keywords: Sequence[str]) -> Topic:
    if keywords:
        raise UsageError(f"{printable(file)} has the keywords of its topics: take --keywords away, or the file.")
    topics = {topic.id: topic for topic in read_topics(file)}
    if topic_id is None and len(topics) > 1:
        some = ", ".join(map(printable, list(topics)[:10]))
        raise UsageError(f"{printable(file)} has {len(topics):,} topics: choose one with --topic, for example {some}.")
    if topic_id is not None and topic_id not in topics:
        raise UnknownName.among("topic", topic_id, topics, printable(file))
    return topics[topic_id or next(iter(topics))]
