"""What a live crawl is to do: everything that decides about it, as values that a crawl's folder can keep."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from typing import Any

from scenthound.errors import BadInput, WrongUse, printable
from scenthound.frontier.politeness_rules import PolitenessRules
from scenthound.model import Topic
from scenthound.web.fetch import FetchLimits
from scenthound.web.urls import canonical

#: The name by which robots.txt files know the crawler.
AGENT = "Scenthound"
DEFAULT_STRATEGY = "shark_search"
#: The fetch rules of the studies: 10 seconds, and 100 KB of a page.
STUDY_LIMITS = FetchLimits(total_s=10.0, body_bytes=100_000)


@dataclass(frozen=True, slots=True)
class CrawlPlan:
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
    politeness: PolitenessRules = field(default_factory=PolitenessRules)
    limits: FetchLimits = field(default_factory=FetchLimits)
    connections: int = 16
    redirects: int = 5
    tries: int = 3
    strict_order: bool = False
    obey_nofollow: bool = True
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

    def __post_init__(self) -> None:
        if not self.seeds:
            raise WrongUse(f"Topic {self.topic.id!r} has no page to start from: name some with --seed.")
        if self.offline and self.web is None:
            raise WrongUse("Offline a crawl has only the pages of a recorded web: name one with --web.")

    @property
    def user_agent(self) -> str:
        who = f" (+{self.contact})" if self.contact else ""
        return f"{self.agent}/{version('scenthound')}{who}"

    def as_settings(self) -> dict[str, Any]:
        """Plain values that `from_settings` makes the same plan of."""
        return asdict(self)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> "CrawlPlan":
        try:
            values: dict[str, Any] = dict(settings)
            topic: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in values["topic"].items()
            }
            values["topic"] = Topic(**topic)
            values["seeds"] = tuple(values["seeds"])
            values["also_allowed"] = tuple(values["also_allowed"])
            values["politeness"] = PolitenessRules(**values["politeness"])
            values["limits"] = FetchLimits(**values["limits"])
            return cls(**values)
        except (KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"The settings of the crawl cannot be read ({printable(error)}).") from None

    def with_budget(self, page_budget: int | None) -> "CrawlPlan":
        return self if page_budget is None else replace(self, page_budget=page_budget)


def canonical_seeds(urls: list[str]) -> tuple[str, ...]:
    """Seeds in canonical form; one that no crawler can fetch is refused."""
    seeds = []
    for url in urls:
        seed = canonical(url) or (canonical(f"https://{url}") if "://" not in url else None)
        if seed is None:
            raise WrongUse(
                f"{printable(url, 200)!r} is no address that can be crawled: write http:// or https:// before it."
            )
        seeds.append(seed)
    return tuple(dict.fromkeys(seeds))
