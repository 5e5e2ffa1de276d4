"""What in an address looks like a trap for crawlers: pure functions of the URL, cheap for ordinary ones.

Signs, the first that fits
- `TRAP_PATH`: a path segment that occurs three times or more, or more than `DEEPEST` segments. Pages whose relative
  links go one folder too deep make /a/b/a/b/a/b without end.
- `TRAP_SESSION`: a session id, by the names that servers give it and by its length. Parameters that only tell where
  a visitor came from (utm_source and the like) are none: they do not change with every visit.
- `TRAP_CALENDAR`: a year with a month in the path, or a number in a parameter that is named for a date. A year alone in
  a path is no sign, because encyclopedias have articles about years.
- `TRAP_QUERY`: any other query.
"""

import re
from dataclasses import dataclass

from scenthound.reasons import Reason

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

    reason: Reason
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
        return TrapSign(Reason.TRAP_SESSION, session)
    if ("20" in path or "19" in path or "21" in path or "22" in path) and (date := _path_date(path)):
        return date
    if not question:
        return None
    if _DATE_IN_QUERY.search(url, len(path)):
        return TrapSign(Reason.TRAP_CALENDAR, _DIGITS.sub("0", url[_AFTER_SCHEME:]), year=_query_year(query))
    return TrapSign(Reason.TRAP_QUERY, path[_AFTER_SCHEME:], 1 + len(_PARAMETER_ENDS.findall(query)))


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
    return TrapSign(Reason.TRAP_PATH, "/".join(segments[:end]), strength) if strength else None


def _session(url: str) -> str:
    """The session id in a URL; one half of it, if there are two, tells as much."""
    found = _SESSION.search(url)
    return found[1] if found and len(found[1]) >= _SESSION_CHARACTERS else ""


def _path_date(path: str) -> TrapSign | None:
    found = _DATE_IN_PATH.search(path, _AFTER_SCHEME)
    if found is None:
        return None
    family = f"{path[_AFTER_SCHEME : found.start()]}0{path[found.end() :]}"
    return TrapSign(Reason.TRAP_CALENDAR, family, year=int(found[1]))


def _query_year(query: str) -> int:
    found = _YEAR_IN_QUERY.search(query)
    return int(found[1] or found[2]) if found else 0
