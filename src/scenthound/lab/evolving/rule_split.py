"""How the rules of an individual share out URLs: `nothing`, `distance:2,4` or `phase:1000`; prints as it parses.

`distance:2,4` has three rules: for URLs up to 2 links from the seeds, up to 4, and beyond. `phase:1000` has two: for
ranks renewed before page 1,000 of a crawl, and from there on.
"""

from dataclasses import dataclass
from typing import get_args

from scenthound.errors import BadParameter, UnknownName, printable
from scenthound.strategies.parts.rank_rules import SCORE_NAMES, RankRules, SplitBy

#: More rules than this would need more crawls than any search has.
MOST_RULES = 10


@dataclass(frozen=True, slots=True)
class RuleSplit:
    """By what URLs are shared out, and where each rule but the last ends."""

    by: SplitBy = "nothing"
    bounds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.by == "nothing") == bool(self.bounds):
            raise BadParameter(f"Split {self}: write distance:2,4 or phase:1000, or nothing.")
        if self.n_rules > MOST_RULES:
            raise BadParameter(f"Split {self} has {self.n_rules} rules; at most {MOST_RULES} can be searched for.")
        RankRules(((1.0,) * len(SCORE_NAMES),) * self.n_rules, self.by, self.bounds)  # refuses bounds that do not rise

    @property
    def n_rules(self) -> int:
        return len(self.bounds) + 1

    def __str__(self) -> str:
        return f"{self.by}:{','.join(map(str, self.bounds))}" if self.bounds else self.by


def parse_split(text: str) -> RuleSplit:
    """Read `nothing`, or `distance` or `phase` with its bounds."""
    name, _, bounds = text.strip().partition(":")
    for by in get_args(SplitBy):
        if by == name.strip():
            return RuleSplit(by, tuple(_bound(bound, text) for bound in filter(None, bounds.split(","))))
    raise UnknownName.among("way to split rules", printable(name, 40), get_args(SplitBy))


def _bound(bound: str, text: str) -> int:
    if not bound.strip().isdecimal() or len(bound) > 12:
        raise BadParameter(
            f"Split {printable(text, 80)!r}: {printable(bound, 20)!r} is no whole number; write distance:2,4 or "
            "phase:1000."
        )
    return int(bound)
