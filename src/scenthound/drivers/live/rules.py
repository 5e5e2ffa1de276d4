"""What a live crawl holds to, beside the strategy: how many pages, how many tries, in which order."""

from dataclasses import dataclass, field

from scenthound.errors import BadParameter
from scenthound.frontier.politeness_rules import PolitenessRules


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The rules that the engine decides by. `agent` is the name that robots.txt files know the crawler by."""

    agent: str
    politeness: PolitenessRules = field(default_factory=PolitenessRules)
    #: Requests in flight at a time, all hosts together.
    connections: int = 16
    #: Redirects that are followed for one page; browsers follow 20, RFC 9309 asks for 5 for robots.txt.
    redirects: int = 5
    #: Requests for one page, if the host fails or asks to come later.
    tries: int = 3
    #: Wait for the page that the strategy wants most, even if its host rests: the order of a simulated crawl.
    strict_order: bool = False
    traps: bool = True
    sitemaps: bool = False

    def __post_init__(self) -> None:
        for name in ("connections", "tries"):
            if getattr(self, name) < 1:
                raise BadParameter(f"{name} is {getattr(self, name)}; it has to be 1 or more.")
        if self.redirects < 0:
            raise BadParameter(f"redirects is {self.redirects}; it has to be 0 or more.")
