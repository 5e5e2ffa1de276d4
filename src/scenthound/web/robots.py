"""What a host's robots.txt lets one crawler fetch, by RFC 9309.

Rules
- Of the file only the rules for the crawler are kept: of all groups that name its product token, else of all for `*`.
- Lines of other kinds, also Crawl-delay and Sitemap, never end a group (2.2.4).
- Read are the first `READ_BYTES` (2.5), and of each line the first `LINE_BYTES`; a line cut by the first is dropped.
- Common slips are understood: a missing colon, misspelled names, NULs (and with them UTF-16).
- Octets that have no place in a URL are percent-encoded, and escapes have capitals, in patterns and in paths. A path is
  looked up also with its needlessly escaped characters written out (2.2.2), and the more specific answer counts. In a
  Disallow they are written out too, in an Allow not: there an escape stands for itself alone, as Google has it.
- A URL to ask about is canonical (`web/urls.py`). /robots.txt itself may always be fetched.
"""

import functools
import re
import string
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

# Which rule of a robots.txt decides over a path (RFC 9309, 2.2.2 and 2.2.3): the most specific, in bounded time.
#
# Rules
# - Rules arrive as lines of text, `+pattern` for Allow and `-pattern` for Disallow: that is all that is kept of a
#   host. What is needed to look a path up quickly is made from the text when it is asked for, and kept for the hosts
#   lately asked about; hosts with the same rules share it.
# - A rule's rank is twice the length of its pattern as written, and one more for Allow: the highest rank of the
#   matching rules decides, so that the longest wins and Allow wins ties. No rule at all ranks `NO_RULE`, an Allow of
#   length 0.
# - Patterns without wildcards are prefixes, found by bisection. The others are tried from the highest rank down, each
#   in time linear in the path: a star takes the leftmost place that fits, which never has to be taken back.
# - Once the patterns with wildcards have `MOST_PIECES` between their stars, a further Disallow ends before its first
#   star and a further Allow is dropped: time stays bounded, and no crawler is let in that the file keeps out.

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


READ_BYTES = 500 * 1024
#: Just below eight times the longest URL.
LINE_BYTES = 16_663
#: Real files name up to a few hundred.
MOST_SITEMAPS = 1_000

# The kinds of lines, by the first letter of their names.
_AGENT, _ALLOW, _DELAY, _SITEMAP = b"u", b"a", b"c", b"s"
_LINE = re.compile(
    rb"""^[\t\v\f ]*
    (user[-\ ]?agent | allow | dis{1,2}al{1,2}ow | diasllow | disallaw | crawl-?delay | site-?map)
    (?: [\t\v\f ]*:([^\n\#]*) | [\t\v\f ]+([^\s\#:][^\s\#]*)[\t\v\f ]*(?=[\n\#]|\Z) )""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(r"[A-Za-z_-]+")
_SECONDS = re.compile(rb"\d{1,9}(?:\.\d{1,9})?")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
# What URLs hold escaped, or as it is in some of their parts. The star and the dollar of a path stand for themselves,
# and those of patterns that do so are escaped (2.2.3).
_ODD = rb"""\"'<>\\^`{|}"""
_ODD_IN_PATTERN = re.compile(rb"[^!-~]|[%b]" % _ODD)
_ODD_IN_PATH = re.compile(rf"[{_ODD.decode()}*$]")
_INNER_DOLLAR = re.compile(r"\$(?!$)")
# RFC 3986, 2.3: escaped or not, they mean the same.
_UNRESERVED = {f"%{ord(sign):02X}": sign for sign in f"-._~{string.ascii_letters}{string.digits}"}


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """What one crawler may fetch of one host. `sitemaps` are as written: resolve them against the file's own URL."""

    text: str
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: bytes, agent: str) -> Self:
        """The rules of a file for an agent, given as its product token or as the whole User-Agent header."""
        own, everyone, sitemaps = _read(body, product_token(agent))
        group = own if own.is_named else everyone
        return cls("\n".join(group.rules), group.delay_s, tuple(sitemaps))

    def allows(self, url: str) -> bool:
        """Whether a canonical URL of the host may be fetched."""
        if not self.text:
            return True
        start = url.find("/", 8)
        path = url[start:] if start > 0 else "/"
        index = pattern_index(self.text)
        if "%" not in path and "%" not in self.text:
            return index.rank(path) & 1 == 1 or path == "/robots.txt"
        path = _capitals(_ODD_IN_PATH.sub(lambda sign: f"%{ord(sign[0]):02X}", path))
        return max(index.rank(path), index.rank(_written_out(path))) & 1 == 1


#: For hosts without a robots.txt.
ALLOW_ALL = RobotsRules("")
#: For hosts whose robots.txt cannot be had.
DISALLOW_ALL = RobotsRules("-/")


def rules_for_answer(status: int, body: bytes, agent: str) -> RobotsRules:
    """The rules that an answer to the request for robots.txt means (2.3.1); redirects are followed before.

    4xx is a host without rules, 5xx one to stay away from. 429 is no answer about the file but a wish to be asked
    later, so it counts as 5xx, as Google documents it; so does any status that says nothing.
    """
    if 200 <= status < 300:
        return RobotsRules.of(body, agent)
    return ALLOW_ALL if 400 <= status < 500 and status != 429 else DISALLOW_ALL


def product_token(agent: str) -> str:
    """The name by which robots.txt speaks to an agent: the letters, hyphens and underscores it starts with, small."""
    token = _TOKEN.match(agent)
    return token[0].lower() if token else ""


@dataclass(slots=True)
class _Group:
    """Rules as lines, without repetition and in the order of the file (the keys of a dict)."""

    rules: dict[str, None] = field(default_factory=dict)
    delay_s: float | None = None
    is_named: bool = False


def _read(body: bytes, token: str) -> tuple[_Group, _Group, dict[str, None]]:
    """The group of the agent, the one of everyone, and the sitemaps."""
    own, everyone = _Group(), _Group()
    sitemaps: dict[str, None] = {}
    spoken_to: list[_Group] = []
    in_rules = False
    for kind, value in _lines(body):
        if kind == _AGENT:
            spoken_to = [] if in_rules else spoken_to
            in_rules = False
            spoken_to += _addressed(value, token, own, everyone)
        elif kind == _SITEMAP:
            if len(sitemaps) < MOST_SITEMAPS and value:
                sitemaps[value.decode("utf-8", "replace")] = None
        elif kind == _DELAY:
            for group in spoken_to:
                group.delay_s = _longer(group.delay_s, value)
        else:
            in_rules = True
            _add_rules(spoken_to, kind, value)
    return own, everyone, sitemaps


def _lines(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    text = body[:READ_BYTES].replace(b"\r", b"\n")
    if len(body) >= READ_BYTES:
        text = text[: text.rfind(b"\n") + 1]
    # The letters of a byte order mark, whole or in part, stand only at the start of what can be read.
    text = text.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    for line in _LINE.finditer(text):
        place = line.lastindex or 0
        value = text[line.start(place) : min(line.end(place), line.start() + LINE_BYTES)]
        yield line[1][:1].lower(), value.strip()


def _addressed(value: bytes, token: str, own: _Group, everyone: _Group) -> list[_Group]:
    """The group that a User-agent line opens, if it is one of the two."""
    name = value.decode("latin-1")
    if name.split(maxsplit=1)[:1] == ["*"]:
        group = everyone
    elif token and product_token(name) == token:
        group = own
    else:
        return []
    group.is_named = True
    return [group]


def _add_rules(groups: list[_Group], kind: bytes, value: bytes) -> None:
    # An empty pattern is no rule; one that starts with neither can match no path.
    if not groups or not value.startswith((b"/", b"*")):
        return
    pattern = _pattern(value)
    for group in groups:
        if kind == _ALLOW:
            group.rules[ALLOW + pattern] = None
        else:
            group.rules[DISALLOW + pattern] = None
            group.rules[DISALLOW + _written_out(pattern)] = None


def _pattern(value: bytes) -> str:
    escaped = _ODD_IN_PATTERN.sub(lambda octet: b"%%%02X" % octet[0][0], value).decode("ascii")
    return _INNER_DOLLAR.sub("%24", _capitals(escaped))


def _capitals(text: str) -> str:
    return _ESCAPE.sub(lambda escape: escape[0].upper(), text) if "%" in text else text


def _written_out(text: str) -> str:
    return _ESCAPE.sub(lambda escape: _UNRESERVED.get(escape[0], escape[0]), text) if "%" in text else text


def _longer(delay_s: float | None, value: bytes) -> float | None:
    """The longer of two delays, the second as written; what is no number of seconds says nothing."""
    given_s = float(value) if _SECONDS.fullmatch(value) else None
    return given_s if delay_s is None else max(delay_s, given_s or 0.0)


# What a page's X-Robots-Tag headers ask of one crawler: not to index the page, not to follow its links.
#
# Rules
# - A value is a list of wishes. It may start with the name of the crawler that it speaks to (`otherbot: noindex`);
#   without a name it speaks to all. `none` is both wishes.
# - Wishes that have values themselves (`max-snippet: 10`, `unavailable_after: 25 Jun 2030 15:00:00 PST`) are no
#   names.
# - Like meta elements, headers add up: what one of them forbids, no other allows.

_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def header_wishes(values: Iterable[str], agent: str) -> tuple[bool, bool]:
    """(noindex, nofollow) of all the values of a page's X-Robots-Tag headers, for an agent."""
    wishes = {wish for value in values for wish in _wishes(value, product_token(agent))}
    return not wishes.isdisjoint(("noindex", "none")), not wishes.isdisjoint(("nofollow", "none"))


def _wishes(value: str, token: str) -> set[str]:
    """The wishes of one header that are for the agent; a name holds until the next, for joined headers."""
    wishes: set[str] = set()
    is_meant = True
    for part in value.lower().split(","):
        name, colon, rest = (text.strip() for text in part.partition(":"))
        if colon and name not in _WITH_VALUES:
            is_meant = name in ("*", "robots") or product_token(name) == token
            name = rest
        if is_meant:
            wishes.add(name)
    return wishes
