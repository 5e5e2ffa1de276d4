"""Crawler traps: URLs that look like one may be crawled for a while, at a rising cost, until a budget is used up.

Signs of traps, the first that fits
- `TRAP_PATH`: a path segment that occurs three times or more, or more than `MAX_DEPTH` segments. Relative links that
  are one folder too deep lead to /a/b/a/b/a/b without end.
- `TRAP_SESSION`: a session id, by its usual names and its length. Tracking parameters (utm_source and the like) are
  none: they do not change with every visit.
- `TRAP_CALENDAR`: a year with a month in the path, or a number in a parameter named for a date. A year alone in a path
  is no sign, because encyclopedias have articles about years.
- `TRAP_QUERY`: any other query.

Cost
- Every host has a budget for each kind of trap (1,000 units by default). The cost of a page with a sign is taken from
  it; a page that costs more than what is left is skipped, and costs nothing.
- The cost of a page is its base cost times 1 + n / patience, where n is the number of similar pages before. So a kind
  with base cost 1 and patience 100 ends after 358 pages: 358 + 358 * 357 / 200 is just below 1,000.

  | kind     | similar pages                 | free    | base cost                                 | patience |
  |----------|-------------------------------|---------|-------------------------------------------|----------|
  | path     | repeating folders of the host | none    | 4 ** repetitions, at most 256             | 100      |
  | session  | ids of the host               | none    | 4                                         | 100      |
  | calendar | same URL except for the date  | first 5 | 0.25 * (1 + years spanned / 25)           | 100      |
  | query    | same path                     | first 5 | 0.1 * 3 ** (parameters - 1), at most 24.3 | 1,000    |

  Further pages of a known repeating folder, or with a known session id, cost 0.25 each.
- The resulting limits per host: a forum or wiki with one parameter, about 3,600 pages; with two, 1,800; with three,
  800; facets in five parameters, 120. A calendar by month, 44 years; one by day, 780 days. 145 new sessions, or 4,000
  pages with one session. A few levels of repeating folders.
- `MAX_FAMILIES` families of similar pages are stored per host and kind; the least recently used one is dropped.
- The same pages in the same order cost the same: there is no clock and no randomness.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from scenthound.reasons import SkipReason
from scenthound.saved_state import State

#: Real documentation has folders to a depth of about ten.
MAX_DEPTH = 12

_AFTER_SCHEME = len("https://")
# The parts of a URL, split at slashes, before the path: scheme, nothing, host.
_OUTSIDE_PATH = 3
_REPEATED = 3
_SESSION = re.compile(
    r"""(?: [?&;] (?: jsessionid | phpsessid | aspsessionid\w* | sessionid | session_id | session | sess | sid
                    | oscsid | zenid | cfid | cftoken | s(?==[0-9a-f]{32}) ) = | /\([sS]\( )
        ([0-9a-z!._-]*[0-9][0-9a-z!._-]*)""",
    re.VERBOSE | re.IGNORECASE,
)
#: Shorter values are usually numbers and words.
_SESSION_CHARACTERS = 16
_YEAR = r"(?:19|2[0-2])\d\d"
_DATE_IN_PATH = re.compile(rf"(?<!\d)({_YEAR})(?:([/_-])(?:0?[1-9]|1[0-2])(?:\2\d\d?)?|(?:0[1-9]|1[0-2])[0-3]\d)(?!\d)")
# Parameters with names of one letter count only if they have a year.
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
    """A sign of a trap. `family` is what the URLs of one trap have in common, `strength` the number of repetitions and
    surplus folders of a path, or of parameters of a query. `year` is that of a date, 0 if there is none."""

    reason: SkipReason
    family: str
    strength: int = 1
    year: int = 0


def trap_sign(url: str) -> TrapSign | None:
    """The sign of a trap in a canonical URL; None for most."""
    path, question, query = url.partition("?")
    segments = path.split("/")
    if len(segments) - len(set(segments)) >= _REPEATED - 1 or len(segments) > _OUTSIDE_PATH + MAX_DEPTH:
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
    """The number of repetitions of segments beyond the second, plus the number of segments beyond `MAX_DEPTH`.

    The family is the path up to the last repetition. Empty segments count too: some broken links add a slash at every
    step."""
    seen: dict[str, int] = {}
    strength, end = max(0, len(segments) - _OUTSIDE_PATH - MAX_DEPTH), len(segments) - 1
    for index, segment in enumerate(segments[_OUTSIDE_PATH:], _OUTSIDE_PATH + 1):
        seen[segment] = seen.get(segment, 0) + 1
        if seen[segment] >= _REPEATED:
            strength, end = strength + 1, index
    return TrapSign(SkipReason.TRAP_PATH, "/".join(segments[:end]), strength) if strength else None


def _session(url: str) -> str:
    """The session id in a URL; the first of two."""
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


BUDGET = 1_000.0
MAX_FAMILIES = 256

_KNOWN_FAMILY_COST = 0.25
_MAX_REPETITIONS = 4
_MAX_PARAMETERS = 6
_YEARS_TO_DOUBLE = 25
_FREE = 5
_PATIENCE = 100.0
_QUERY_PATIENCE = 1_000.0
# Kinds whose traps are ever new families; those of the others are endless families.
_BY_FAMILY = frozenset({SkipReason.TRAP_PATH, SkipReason.TRAP_SESSION})


class _Family(NamedTuple):
    """The number of pages of a family, and the years of their dates."""

    n_pages: int
    first_year: int
    last_year: int

    def with_sign(self, sign: TrapSign) -> "_Family":
        year = sign.year or self.first_year
        return _Family(self.n_pages + 1, min(self.first_year or year, year), max(self.last_year, year))


_NEW_FAMILY = _Family(0, 0, 0)


@dataclass(slots=True)
class _Budget:
    """The budget of a host for one kind of trap, and its families, the most recently used one last."""

    left: float
    new_families: int = 0
    families: dict[str, _Family] = field(default_factory=dict)

    def pay(self, sign: TrapSign) -> bool:
        family = self.families.pop(sign.family, _NEW_FAMILY)
        grown = family.with_sign(sign)
        cost = self._cost(sign, family, grown)
        is_paid = cost <= self.left
        if is_paid:
            self.left -= cost
            self.new_families += family.n_pages == 0
        if is_paid or family.n_pages:
            self.families[sign.family] = grown if is_paid else family
        if len(self.families) > MAX_FAMILIES:
            del self.families[next(iter(self.families))]
        return is_paid

    def _cost(self, sign: TrapSign, family: _Family, grown: _Family) -> float:
        if sign.reason in _BY_FAMILY:
            is_known = family.n_pages > 0
            return _KNOWN_FAMILY_COST if is_known else _base_cost(sign, grown) * (1 + self.new_families / _PATIENCE)
        if family.n_pages < _FREE:
            return 0.0
        patience = _QUERY_PATIENCE if sign.reason is SkipReason.TRAP_QUERY else _PATIENCE
        return _base_cost(sign, grown) * (1 + family.n_pages / patience)


class TrapCosts:
    """The budgets of a crawl, per host and kind of trap."""

    def __init__(self, budget: float = BUDGET) -> None:
        self._budget_per_kind = budget
        self._budgets: dict[tuple[int, SkipReason], _Budget] = {}

    def state(self) -> State:
        """A checkpoint for `restore`. The order of families counts."""
        return {
            "budgets": [
                [
                    host,
                    reason.value,
                    budget.left,
                    budget.new_families,
                    list(budget.families),
                    list(budget.families.values()),
                ]
                for (host, reason), budget in self._budgets.items()
            ]
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        self._budgets = {
            (host, SkipReason(reason)): _Budget(
                left, n_new, dict(zip(names, (_Family(*each) for each in families), strict=True))
            )
            for host, reason, left, n_new, names, families in state["budgets"]
        }

    def charge(self, url: str, host: int) -> SkipReason | None:
        """Charge a page before it is fetched; return the reason to skip it if the budget is used up."""
        sign = trap_sign(url)
        if sign is None:
            return None
        budget = self._budgets.get((host, sign.reason))
        if budget is None:
            budget = self._budgets[host, sign.reason] = _Budget(self._budget_per_kind)
        return None if budget.pay(sign) else sign.reason


def _base_cost(sign: TrapSign, family: _Family) -> float:
    """The cost of a page that is the first of its kind."""
    match sign.reason:
        case SkipReason.TRAP_PATH:
            return 4.0 ** min(sign.strength, _MAX_REPETITIONS)
        case SkipReason.TRAP_SESSION:
            return 4.0
        case SkipReason.TRAP_CALENDAR:
            return 0.25 * (1 + (family.last_year - family.first_year) / _YEARS_TO_DOUBLE)
        case _:
            return 0.1 * 3.0 ** (min(sign.strength, _MAX_PARAMETERS) - 1)
