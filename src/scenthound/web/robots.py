"""robots.txt (RFC 9309) and the X-Robots-Tag header, for one crawler.

Parsing
- Only the rules of the groups that name the crawler's product token are kept, else those of `*`.
- Other lines, including Crawl-delay and Sitemap, never end a group (2.2.4).
- The first `READ_BYTES` are read (2.5), without an incomplete last line, and the first `LINE_BYTES` of each line.
- Common mistakes are accepted: missing colons, misspelled names, NULs (and with them UTF-16).

Matching (2.2.2, 2.2.3)
- The longest matching pattern wins, and Allow wins ties. The *rank* of a rule is twice the length of its pattern, plus
  one for Allow; the highest rank decides. Without a matching rule it is `NO_RULE`, an Allow of length 0.
- Characters not allowed in URLs are percent-encoded, and escapes are upper case, in patterns and paths. A path is also
  matched with its unreserved characters decoded, and the more specific result counts. They are decoded in a Disallow,
  too, but not in an Allow, where an escape matches itself only, as in Google's parser.
- Patterns without wildcards are prefixes: those of a path are looked up, one for each length that a prefix has. The
  others are tried by descending rank, each in one pass over the path: a star matches the leftmost position that fits,
  without backtracking.
- Once the wildcard patterns have `MAX_PIECES` pieces between their stars, or `MAX_WILDCARD_CHARACTERS`, a further
  Disallow is cut before its first star and a further Allow is dropped: time is bounded, and nothing is allowed that the
  file disallows.
- URLs must be canonical (`web/urls.py`). /robots.txt itself is always allowed.

The rules of a host are lines of text, `+pattern` for Allow and `-pattern` for Disallow. Matching needs an index, which
takes several times the memory of the text. Who matches many URLs keeps it (`crawler/robots_cache.py`).
"""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

NO_RULE = 1
ALLOW, DISALLOW = "+", "-"
#: Real files have up to about a thousand.
MAX_PIECES = 2_500
#: Real files have up to about 20,000. The time to find a piece in a path is their product at worst: with all of these
#: some 30 ms for a path of 2,000 characters.
MAX_WILDCARD_CHARACTERS = 40_000

#: About what Python needs for a string besides its characters, with a reference to it, and for a `Wildcard` besides its
#: strings; an index takes twice as much.
_STRING_BYTES = 72
_OBJECT_BYTES = 180
#: An entry of a dictionary, with its number.
_ENTRY_BYTES = 80


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A pattern with stars or an end anchor: `pieces` must occur in this order, the first at the start, the last at the
    end if `ends`. `probe` is the longest piece: a path without it cannot match."""

    rank: int
    probe: str
    pieces: tuple[str, ...]
    ends: bool

    def matches(self, path: str) -> bool:
        first, *others = self.pieces
        if not path.startswith(first):
            return False
        last = others.pop() if self.ends and others else None
        position = len(first)
        for piece in others:
            found = path.find(piece, position)
            if found < 0:
                return False
            position = found + len(piece)
        if last is not None:
            return path.endswith(last) and len(path) - len(last) >= position
        return not self.ends or len(path) == position


@dataclass(frozen=True, slots=True)
class PatternIndex:
    """The rules of one crawler: the highest rank of each prefix, the lengths that prefixes have, and wildcards by
    descending rank."""

    prefixes: dict[str, int]
    lengths: tuple[int, ...]
    wildcards: tuple[Wildcard, ...]
    has_escapes: bool

    @property
    def n_bytes(self) -> int:
        """About what it takes in memory."""
        n_bytes = _OBJECT_BYTES * (2 + len(self.wildcards)) + _ENTRY_BYTES * (len(self.prefixes) + len(self.lengths))
        for strings in (self.prefixes, *(wildcard.pieces for wildcard in self.wildcards)):
            n_bytes += _STRING_BYTES * len(strings) + sum(map(len, strings))
        return n_bytes

    def allows(self, url: str) -> bool:
        """Whether a canonical URL of the host is allowed."""
        start = url.find("/", 8)
        path = url[start:] if start > 0 else "/"
        if path == "/robots.txt":
            return True
        if "%" not in path and not self.has_escapes:
            return self.rank(path) & 1 == 1
        path = _upper_escapes(_UNSAFE_IN_PATH.sub(lambda sign: f"%{ord(sign[0]):02X}", path))
        return max(self.rank(path), self.rank(_decode_unreserved(path))) & 1 == 1

    def rank(self, path: str) -> int:
        """The rank of the rule that decides on a path: odd if it is allowed."""
        highest, prefixes = NO_RULE, self.prefixes
        for length in self.lengths:
            highest = max(highest, prefixes.get(path[:length], NO_RULE))
        for wildcard in self.wildcards:
            if wildcard.rank <= highest:
                break
            if wildcard.probe in path and wildcard.matches(path):
                return wildcard.rank
        return highest


def pattern_index(text: str) -> PatternIndex:
    """The index of the rules of a text."""
    prefix_ranks: dict[str, int] = {}
    wildcards: list[Wildcard] = []
    pieces_left, characters_left = MAX_PIECES, MAX_WILDCARD_CHARACTERS
    for line in text.split("\n") if text else ():
        sign, pattern = line[0], line[1:]
        rank = 2 * len(pattern) + (sign == ALLOW)
        prefix, is_prefix = _prefix(pattern)
        if not is_prefix:
            pieces_left -= 1 + pattern.count("*")
            characters_left -= len(pattern)
        if not is_prefix and pieces_left >= 0 and characters_left >= 0:
            wildcards.append(_wildcard(pattern, rank))
        elif is_prefix or sign == DISALLOW:
            prefix_ranks[prefix] = max(rank, prefix_ranks.get(prefix, 0))
    wildcards.sort(key=lambda wildcard: -wildcard.rank)
    return PatternIndex(prefix_ranks, tuple(set(map(len, prefix_ranks))), tuple(wildcards), "%" in text)


def _prefix(pattern: str) -> tuple[str, bool]:
    """The pattern up to its first star, and whether the rest matches anything."""
    prefix, star, rest = pattern.partition("*")
    if star:
        return prefix, not rest.strip("*")
    return (pattern[:-1], False) if pattern.endswith("$") else (pattern, True)


def _wildcard(pattern: str, rank: int) -> Wildcard:
    ends = pattern.endswith("$")
    # Any other dollar sign is literal.
    first, *others = (pattern[:-1] if ends else pattern).split("*")
    # An end anchor behind a star matches anything.
    ends = ends and not (others and not others[-1])
    pieces = (first, *filter(None, others))
    return Wildcard(rank, max(pieces, key=len), pieces, ends)


READ_BYTES = 500 * 1024
#: Just below eight times `MAX_URL_BYTES`.
LINE_BYTES = 16_663
#: Real files name up to a few hundred.
MAX_SITEMAPS = 1_000

# Kinds of lines, by the first letters of their names.
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
# Characters that are escaped in some parts of URLs only. Stars and dollar signs of paths are literal, and literal ones
# in patterns are escaped (2.2.3).
_UNSAFE = rb"""\"'<>\\^`{|}"""
_UNSAFE_IN_PATTERN = re.compile(rb"[^!-~]|[%b]" % _UNSAFE)
_UNSAFE_IN_PATH = re.compile(rf"[{_UNSAFE.decode()}*$]")
_INNER_DOLLAR = re.compile(r"\$(?!$)")
# RFC 3986, 2.3: equivalent, escaped or not.
_UNRESERVED = {f"%{ord(sign):02X}": sign for sign in f"-._~{string.ascii_letters}{string.digits}"}


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one host for one crawler. `sitemaps` are as written, to be resolved against the URL of the file."""

    text: str
    crawl_delay_s: float | None = None
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: bytes, agent: str) -> Self:
        """Parse a file for an agent, given by its product token or its User-Agent header."""
        own, everyone, sitemaps = _read(body, product_token(agent))
        group = own if own.is_named else everyone
        return cls("\n".join(group.rules), group.delay_s, tuple(sitemaps))

    def allows(self, url: str) -> bool:
        """Whether a canonical URL of the host is allowed; for several URLs, ask the same `pattern_index`."""
        return not self.text or pattern_index(self.text).allows(url)


#: For hosts without a robots.txt.
ALLOW_ALL = RobotsRules("")
#: For hosts whose robots.txt is unreachable.
DISALLOW_ALL = RobotsRules("-/")


def rules_from_response(status: int, body: bytes, agent: str) -> RobotsRules:
    """The rules by the response to a request for robots.txt (2.3.1), after redirects.

    4xx means that everything is allowed, 5xx that nothing is. 429 says nothing about the file, so it counts as 5xx, as
    Google documents; so does any other status.
    """
    if 200 <= status < 300:
        return RobotsRules.of(body, agent)
    return ALLOW_ALL if 400 <= status < 500 and status != 429 else DISALLOW_ALL


def product_token(agent: str) -> str:
    """The product token of an agent: its leading letters, hyphens and underscores, in lower case."""
    token = _TOKEN.match(agent)
    return token[0].lower() if token else ""


@dataclass(slots=True)
class _Group:
    """Rules as lines, without duplicates and in the order of the file (keys of a dict)."""

    rules: dict[str, None] = field(default_factory=dict)
    delay_s: float | None = None
    is_named: bool = False


def _read(body: bytes, token: str) -> tuple[_Group, _Group, dict[str, None]]:
    """The group of the agent, the group of `*`, and the sitemaps."""
    own, everyone = _Group(), _Group()
    sitemaps: dict[str, None] = {}
    current: list[_Group] = []
    in_rules = False
    for kind, value in _lines(body):
        if kind == _AGENT:
            current = [] if in_rules else current
            in_rules = False
            current += _groups_of(value, token, own, everyone)
        elif kind == _SITEMAP:
            if len(sitemaps) < MAX_SITEMAPS and value:
                sitemaps[value.decode("utf-8", "replace")] = None
        elif kind == _DELAY:
            for group in current:
                group.delay_s = _longer(group.delay_s, value)
        else:
            in_rules = True
            _add_rules(current, kind, value)
    return own, everyone, sitemaps


def _lines(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    text = body[:READ_BYTES].replace(b"\r", b"\n")
    if len(body) >= READ_BYTES:
        text = text[: text.rfind(b"\n") + 1]
    # A byte order mark, or a part of one, can only be at the start.
    text = text.replace(b"\x00", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    for line in _LINE.finditer(text):
        position = line.lastindex or 0
        value = text[line.start(position) : min(line.end(position), line.start() + LINE_BYTES)]
        yield line[1][:1].lower(), value.strip()


def _groups_of(value: bytes, token: str, own: _Group, everyone: _Group) -> list[_Group]:
    """The group that a User-agent line starts, if it is one of the two."""
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
    # An empty pattern is no rule; one that starts with neither matches no path.
    if not groups or not value.startswith((b"/", b"*")):
        return
    pattern = _pattern(value)
    for group in groups:
        if kind == _ALLOW:
            group.rules[ALLOW + pattern] = None
        else:
            group.rules[DISALLOW + pattern] = None
            group.rules[DISALLOW + _decode_unreserved(pattern)] = None


def _pattern(value: bytes) -> str:
    escaped = _UNSAFE_IN_PATTERN.sub(lambda octet: b"%%%02X" % octet[0][0], value).decode("ascii")
    return _INNER_DOLLAR.sub("%24", _upper_escapes(escaped))


def _upper_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda escape: escape[0].upper(), text) if "%" in text else text


def _decode_unreserved(text: str) -> str:
    return _ESCAPE.sub(lambda escape: _UNRESERVED.get(escape[0], escape[0]), text) if "%" in text else text


def _longer(delay_s: float | None, value: bytes) -> float | None:
    """The longer of two delays, the second as written; an invalid one is ignored."""
    new_s = float(value) if _SECONDS.fullmatch(value) else None
    return new_s if delay_s is None else max(delay_s, new_s or 0.0)


# X-Robots-Tag: a value is a list of directives. It may start with the name of a crawler (`otherbot: noindex`); without
# one it is for all. Directives of several headers add up.

#: Directives with values (`max-snippet: 10`), which are not names of crawlers.
_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def header_directives(values: Iterable[str], agent: str) -> tuple[bool, bool]:
    """(noindex, nofollow) of a page's X-Robots-Tag headers, for an agent."""
    directives = {directive for value in values for directive in _directives(value, product_token(agent))}
    return not directives.isdisjoint(("noindex", "none")), not directives.isdisjoint(("nofollow", "none"))


def _directives(value: str, token: str) -> set[str]:
    """The directives of one header for the agent; a name applies until the next one, for joined headers."""
    directives: set[str] = set()
    is_for_agent = True
    for part in value.lower().split(","):
        name, colon, rest = (text.strip() for text in part.partition(":"))
        if colon and name not in _WITH_VALUES:
            is_for_agent = name in ("*", "robots") or product_token(name) == token
            name = rest
        if is_for_agent:
            directives.add(name)
    return directives
