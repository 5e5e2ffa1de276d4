"""Which rule of a robots.txt decides over a path (RFC 9309, 2.2.2 and 2.2.3): the most specific, in bounded time.

Rules
- Rules arrive as lines of text, `+pattern` for Allow and `-pattern` for Disallow: that is all that is kept of a host.
  What is needed to look a path up quickly is made from the text when it is asked for, and kept for the hosts lately
  asked about; hosts with the same rules share it.
- A rule's rank is twice the length of its pattern as written, and one more for Allow: the highest rank of the matching
  rules decides, so that the longest wins and Allow wins ties. No rule at all ranks `NO_RULE`, an Allow of length 0.
- Patterns without wildcards are prefixes, found by bisection. The others are tried from the highest rank down, each in
  time linear in the path: a star takes the leftmost place that fits, which never has to be taken back.
- Once the patterns with wildcards have `MOST_PIECES` between their stars, a further Disallow ends before its first star
  and a further Allow is dropped: time stays bounded, and no crawler is let in that the file keeps out.
"""

import functools
from bisect import bisect_right
from dataclasses import dataclass

NO_RULE = 1
ALLOW, DISALLOW = "+", "-"
#: Real files have up to about a thousand.
MOST_PIECES = 2_500

_INDEXES_KEPT = 8_192


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A pattern with stars or an end: `pieces` in this order, the first at the start, the last at the end if `ends`.

    `probe` is the longest piece: a path without it needs no closer look.
    """

    rank: int
    probe: str
    pieces: tuple[str, ...]
    ends: bool

    def matches(self, path: str) -> bool:
        first, *others = self.pieces
        if not path.startswith(first):
            return False
        last = others.pop() if self.ends and others else None
        place = len(first)
        for piece in others:
            found = path.find(piece, place)
            if found < 0:
                return False
            place = found + len(piece)
        if last is not None:
            return path.endswith(last) and len(path) - len(last) >= place
        return not self.ends or len(path) == place


@dataclass(frozen=True, slots=True)
class PatternIndex:
    """All rules of one agent. `prefixes` are sorted; `shorter` is the place of the longest other prefix that each
    starts with, or -1, and `ranks` the highest rank of the prefix and all shorter ones that it starts with."""

    prefixes: list[str]
    shorter: list[int]
    ranks: list[int]
    wildcards: tuple[Wildcard, ...]

    def rank(self, path: str) -> int:
        """The rank of the rule that decides over a path: odd if it may be fetched."""
        highest = NO_RULE
        # What lies between a prefix of the path and the path itself, in sorted order, starts with that prefix too.
        place = bisect_right(self.prefixes, path) - 1
        while place >= 0:
            if path.startswith(self.prefixes[place]):
                highest = self.ranks[place]
                break
            place = self.shorter[place]
        for wildcard in self.wildcards:
            if wildcard.rank <= highest:
                break
            if wildcard.probe in path and wildcard.matches(path):
                return wildcard.rank
        return highest


@functools.lru_cache(_INDEXES_KEPT)
def pattern_index(text: str) -> PatternIndex:
    """What finds the rule for a path among the rules of a text."""
    prefix_ranks: dict[str, int] = {}
    wildcards: list[Wildcard] = []
    pieces_left = MOST_PIECES
    for line in text.split("\n") if text else ():
        sign, pattern = line[0], line[1:]
        rank = 2 * len(pattern) + (sign == ALLOW)
        prefix, is_prefix = _prefix(pattern)
        pieces_left -= 0 if is_prefix else 1 + pattern.count("*")
        if not is_prefix and pieces_left >= 0:
            wildcards.append(_wildcard(pattern, rank))
        elif is_prefix or sign == DISALLOW:
            prefix_ranks[prefix] = max(rank, prefix_ranks.get(prefix, 0))
    wildcards.sort(key=lambda wildcard: -wildcard.rank)
    return PatternIndex(*_chained(prefix_ranks), tuple(wildcards))


def _prefix(pattern: str) -> tuple[str, bool]:
    """The pattern up to its first star, and whether that is all it says."""
    prefix, star, rest = pattern.partition("*")
    if star:
        return prefix, not rest.strip("*")
    return (pattern[:-1], False) if pattern.endswith("$") else (pattern, True)


def _wildcard(pattern: str, rank: int) -> Wildcard:
    ends = pattern.endswith("$")
    # Any other dollar is itself, and is looked for as the path spells it.
    first, *others = (pattern[:-1] if ends else pattern).split("*")
    # An end behind a star is the end of whatever is there.
    ends = ends and not (others and not others[-1])
    pieces = (first, *filter(None, others))
    return Wildcard(rank, max(pieces, key=len), pieces, ends)


def _chained(prefix_ranks: dict[str, int]) -> tuple[list[str], list[int], list[int]]:
    prefixes = sorted(prefix_ranks)
    shorter: list[int] = []
    ranks: list[int] = []
    for place, prefix in enumerate(prefixes):
        above = place - 1
        while above >= 0 and not prefix.startswith(prefixes[above]):
            above = shorter[above]
        shorter.append(above)
        ranks.append(max(prefix_ranks[prefix], ranks[above] if above >= 0 else 0))
    return prefixes, shorter, ranks
