"""Traps as a rising cost: what looks like one may be crawled for a while, at a price that grows, until it is spent.

Rules
- Every host has an allowance for each kind of trap (1,000 units unless said otherwise). A page that looks like one
  takes its price from it; a page whose price is more than what is left is refused, and costs nothing.
- The price of a page is what it looks like (`_look`) times 1 + n / patience, n being the pages like it taken before. So
  a kind with look 1 and patience 100 ends after 358 pages: 358 + 358 * 357 / 200 is just below 1,000.

  | kind     | like it are                   | free    | look                                      | patience |
  |----------|-------------------------------|---------|-------------------------------------------|----------|
  | path     | repeating folders of the host | none    | 4 ** repetitions, at most 256             | 100      |
  | session  | ids of the host               | none    | 4                                         | 100      |
  | calendar | same address but for the date | first 5 | 0.25 * (1 + years spanned / 25)           | 100      |
  | query    | same path                     | first 5 | 0.1 * 3 ** (parameters - 1), at most 24.3 | 1,000    |

  Further pages of a repeating folder, or with a session id, that were paid for cost 0.25 each.
- What that comes to, on one host: a forum or a wiki with one parameter, about 3,600 pages; with two, 1,800; with three,
  800; facets in five parameters, 120. A calendar by month, 44 years; one by day, 780 days. New sessions, 145, or 4,000
  pages with one session. Folders that repeat, a handful of steps down one branch.
- Per host and kind `MOST_FAMILIES` are remembered; the one not met for longest is forgotten.
- No clock and no chance: the same pages in the same order are charged the same.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from scenthound.reasons import SkipReason

# What in an address looks like a trap for crawlers: pure functions of the URL, cheap for ordinary ones.
#
# Signs, the first that fits
# - `TRAP_PATH`: a path segment that occurs three times or more, or more than `DEEPEST` segments. Pages whose relative
#   links go one folder too deep make /a/b/a/b/a/b without end.
# - `TRAP_SESSION`: a session id, by the names that servers give it and by its length. Parameters that only tell where
#   a visitor came from (utm_source and the like) are none: they do not change with every visit.
# - `TRAP_CALENDAR`: a year with a month in the path, or a number in a parameter that is named for a date. A year
#   alone in a path is no sign, because encyclopedias have articles about years.
# - `TRAP_QUERY`: any other query.

#: Folders of real documentation go down to about ten.
DEEPEST = 12

_AFTER_SCHEME = len("https://")
# Of a URL cut at its slashes: the scheme, nothing, and the host.
_OUTSIDE_PATH = 3
_REPEATED = 3
_SESSION = re.compile(
    r"""(?: [?&;] (?: jsessionid | phpsessid | aspsessionid\w* | sessionid | session_id | session | sess | sid
                    | oscsid | zenid | cfid | cftoken | s(?==[0-9a-f]{32}) ) = | /\([sS]\( )
        ([0-9a-z!._-]*[0-9][0-9a-z!._-]*)""",
    re.VERBOSE | re.IGNORECASE,
)
#: Shorter values are numbers and words of the site.
_SESSION_CHARACTERS = 16
_YEAR = r"(?:19|2[0-2])\d\d"
_DATE_IN_PATH = re.compile(rf"(?<!\d)({_YEAR})(?:([/_-])(?:0?[1-9]|1[0-2])(?:\2\d\d?)?|(?:0[1-9]|1[0-2])[0-3]\d)(?!\d)")
# Parameters named by one letter are many things, unless they hold a year.
_DATE_IN_QUERY = re.compile(
    rf"""[?&;] (?: (?:[a-z]+[-_.[]){{0,3}} (?:year|month|day|date|week|mon|yr|cal|calendar) (?:[-_.\]][a-z]*){{0,3}}
                   = [^&;]* \d
                 | [ymd] = {_YEAR} )""",
    re.VERBOSE | re.IGNORECASE,
)
_YEAR_IN_QUERY = re.compile(rf"(?<!\d)({_YEAR})(?!\d)|(?<!\d)({_YEAR})(?:0[1-9]|1[0-2])")
_DIGITS = re.compile(r"\d+")
_PARAMETER_ENDS = re.compile("[&;]")


@dataclass(frozen=True, slots=True)
class TrapSign:
    """`family` is what addresses of one trap have in common, `strength` how much this one looks like it: repetitions
    and surplus folders for paths, parameters for queries. `year` is that of a date, 0 if it tells none."""

    reason: SkipReason
    family: str
    strength: int = 1
    year: int = 0


def trap_sign(url: str) -> TrapSign | None:
    """What a canonical URL looks like; None for most."""
    path, question, query = url.partition("?")
    segments = path.split("/")
    if len(segments) - len(set(segments)) >= _REPEATED - 1 or len(segments) > _OUTSIDE_PATH + DEEPEST:
        sign = _repetition(segments)
        if sign is not None:
            return sign
    if (question or ";" in path or "/(" in path) and (session := _session(url)):
        return TrapSign(SkipReason.TRAP_SESSION, session)
    if ("20" in path or "19" in path or "21" in path or "22" in path) and (date := _path_date(path)):
        return date
    if not question:
        return None
    if _DATE_IN_QUERY.search(url, len(path)):
        return TrapSign(SkipReason.TRAP_CALENDAR, _DIGITS.sub("0", url[_AFTER_SCHEME:]), year=_query_year(query))
    return TrapSign(SkipReason.TRAP_QUERY, path[_AFTER_SCHEME:], 1 + len(_PARAMETER_ENDS.findall(query)))


def _repetition(segments: list[str]) -> TrapSign | None:
    """How often segments come back after their second time, and how many segments there are too many.

    The family is the path up to the last that came back: what lies in one such folder is of one kind. Empty segments
    count too: some broken links add a slash at every step.
    """
    seen: dict[str, int] = {}
    strength, end = max(0, len(segments) - _OUTSIDE_PATH - DEEPEST), len(segments) - 1
    for place, segment in enumerate(segments[_OUTSIDE_PATH:], _OUTSIDE_PATH + 1):
        seen[segment] = seen.get(segment, 0) + 1
        if seen[segment] >= _REPEATED:
            strength, end = strength + 1, place
    return TrapSign(SkipReason.TRAP_PATH, "/".join(segments[:end]), strength) if strength else None


def _session(url: str) -> str:
    """The session id in a URL; one half of it, if there are two, tells as much."""
    found = _SESSION.search(url)
    return found[1] if found and len(found[1]) >= _SESSION_CHARACTERS else ""


def _path_date(path: str) -> TrapSign | None:
    found = _DATE_IN_PATH.search(path, _AFTER_SCHEME)
    if found is None:
        return None
    family = f"{path[_AFTER_SCHEME : found.start()]}0{path[found.end() :]}"
    return TrapSign(SkipReason.TRAP_CALENDAR, family, year=int(found[1]))


def _query_year(query: str) -> int:
    found = _YEAR_IN_QUERY.search(query)
    return int(found[1] or found[2]) if found else 0


ALLOWANCE = 1_000.0
MOST_FAMILIES = 256

_KNOWN_FAMILY_PRICE = 0.25
_MOST_REPETITIONS = 4
_MOST_PARAMETERS = 6
_YEARS_TO_DOUBLE = 25
_FREE = 5
_PATIENCE = 100.0
_QUERY_PATIENCE = 1_000.0
# Kinds of which new families are the trap; of the others it is one family without end.
_BY_FAMILY = frozenset({SkipReason.TRAP_PATH, SkipReason.TRAP_SESSION})


class _Family(NamedTuple):
    """Pages of one family taken, and the years of their dates."""

    taken: int
    first_year: int
    last_year: int

    def with_sign(self, sign: TrapSign) -> "_Family":
        year = sign.year or self.first_year
        return _Family(self.taken + 1, min(self.first_year or year, year), max(self.last_year, year))


_NEW_FAMILY = _Family(0, 0, 0)


@dataclass(slots=True)
class _Account:
    """What a host has left for one kind of trap, and what it was spent on, the family met last at the end."""

    left: float
    new_families: int = 0
    families: dict[str, _Family] = field(default_factory=dict)

    def pay(self, sign: TrapSign) -> bool:
        family = self.families.pop(sign.family, _NEW_FAMILY)
        grown = family.with_sign(sign)
        price = self._price(sign, family, grown)
        is_paid = price <= self.left
        if is_paid:
            self.left -= price
            self.new_families += family.taken == 0
        if is_paid or family.taken:
            self.families[sign.family] = grown if is_paid else family
        if len(self.families) > MOST_FAMILIES:
            del self.families[next(iter(self.families))]
        return is_paid

    def _price(self, sign: TrapSign, family: _Family, grown: _Family) -> float:
        if sign.reason in _BY_FAMILY:
            is_known = family.taken > 0
            return _KNOWN_FAMILY_PRICE if is_known else _look(sign, grown) * (1 + self.new_families / _PATIENCE)
        if family.taken < _FREE:
            return 0.0
        patience = _QUERY_PATIENCE if sign.reason is SkipReason.TRAP_QUERY else _PATIENCE
        return _look(sign, grown) * (1 + family.taken / patience)


class TrapCosts:
    """What the pages of a crawl have cost, per host and kind of trap."""

    def __init__(self, allowance: float = ALLOWANCE) -> None:
        self._allowance = allowance
        self._accounts: dict[tuple[int, SkipReason], _Account] = {}

    def charge(self, url: str, host: int) -> SkipReason | None:
        """Charge a page that is about to be taken; the reason to leave it, if its host cannot pay."""
        sign = trap_sign(url)
        if sign is None:
            return None
        account = self._accounts.get((host, sign.reason))
        if account is None:
            account = self._accounts[host, sign.reason] = _Account(self._allowance)
        return None if account.pay(sign) else sign.reason

    def spent(self, host: int) -> float:
        """The units that the pages of a host have cost so far, all kinds together."""
        accounts = (account for (owner, _), account in self._accounts.items() if owner == host)
        return sum(self._allowance - account.left for account in accounts)


def _look(sign: TrapSign, family: _Family) -> float:
    """What a page would cost if it were the first of its kind."""
    match sign.reason:
        case SkipReason.TRAP_PATH:
            return 4.0 ** min(sign.strength, _MOST_REPETITIONS)
        case SkipReason.TRAP_SESSION:
            return 4.0
        case SkipReason.TRAP_CALENDAR:
            return 0.25 * (1 + (family.last_year - family.first_year) / _YEARS_TO_DOUBLE)
        case _:
            return 0.1 * 3.0 ** (min(sign.strength, _MOST_PARAMETERS) - 1)
