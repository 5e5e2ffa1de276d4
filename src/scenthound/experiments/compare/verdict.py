"""The verdict of a comparison: the best strategy, or that it cannot tell, and why.

Rules
- A strategy is the best only if it is significantly better than every other (`Mark.WORSE`), after correction. Others
  that are shown to be as good make it a tie, and others that are not clear either way leave it open.
- A test can be significant only with enough observations. Starts from the same pages are one observation, so that a
  topic with few examples has few, and a topic with seeds of its own has one, however many repeats there are.
- A metric of known pages says nothing if there are few of them: with fewer than ten, one page more or less changes the
  recall by more than ten percent, twice the difference that counts as negligible.
- Without anything to compare with there is no best.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from scenthound.experiments.compare.measures import Measurements
from scenthound.experiments.compare.ranking import MARGIN_SHARE, Mark, RankingRow, observations_needed
from scenthound.experiments.compare.settings import Prepared

#: Fewer known pages decide nothing.
MIN_KNOWN_PAGES = 10
#: What metrics of known pages need, as they describe it.
KNOWN_PAGES = ("targets", "known relevant pages")


class Doubt(StrEnum):
    """Why there is no best strategy."""

    ALONE = "alone"
    FEW_PAGES = "few known pages"
    FEW_OBSERVATIONS = "few observations"
    UNCLEAR = "unclear"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`best` is the best strategy, empty if the comparison cannot tell; then `doubts` are the reasons, and `because`
    says them in words. `candidates` are all that may be the best."""

    best: str = ""
    candidates: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the ranking is based on: distinct observations, topics or starts, and the known pages that a metric of known
    pages counts (None for other metrics). `given_starts`: all crawls of a topic start from the same given seeds."""

    n_observations: int
    over_topics: bool
    n_known_pages: int | None = None
    given_starts: bool = False


def evidence(ready: Prepared, measured: Measurements) -> Evidence:
    n_known = None
    if ready.point.metric.needs.startswith(KNOWN_PAGES):
        targets = {(topic.id, page) for topic, start in ready.planned for page in start.targets}
        n_known = sum(topic in measured.topics for topic, _ in targets)
    return Evidence(measured.observations.shape[1], measured.over_topics, n_known, ready.has_given_starts)


def verdict_of(rows: Sequence[RankingRow], found: Evidence) -> Verdict:
    """From the rows of a ranking, the best first."""
    unclear = [row.strategy for row in rows if row.mark is Mark.UNCLEAR]
    alike = [row.strategy for row in rows if row.mark is Mark.ALIKE]
    candidates = (rows[0].strategy, *(row.strategy for row in rows if row.mark in (Mark.UNCLEAR, Mark.ALIKE)))
    reasons: dict[Doubt, str] = {}
    if len(rows) == 1:
        reasons[Doubt.ALONE] = "there is no other strategy that made other crawls"
    if found.n_known_pages is not None and found.n_known_pages < MIN_KNOWN_PAGES:
        reasons[Doubt.FEW_PAGES] = (
            f"{_counted(found.n_known_pages, 'example')} to find {'is' if found.n_known_pages == 1 else 'are'} too few "
            f"(at least {MIN_KNOWN_PAGES}: add examples, or compare on more topics)"
        )
    needed = observations_needed(len(rows))
    if len(rows) > 1 and found.n_observations < needed:
        observed = _counted(found.n_observations, "topic" if found.over_topics else "distinct start")
        reasons[Doubt.FEW_OBSERVATIONS] = (
            f"{observed} cannot tell {len(rows)} strategies apart (at least {needed}: {_more_observations(found)})"
        )
    elif unclear:
        reasons[Doubt.UNCLEAR] = (
            f"{_listed(unclear)} may be as good as {rows[0].strategy} "
            f"(more {'topics' if found.over_topics else 'starts or topics'} may decide it)"
        )
    elif alike:
        reasons[Doubt.TIE] = f"{_listed(alike)} and {rows[0].strategy} are equally good, within {MARGIN_SHARE:.0%}"
    if not reasons:
        return Verdict(rows[0].strategy, candidates)
    return Verdict("", candidates, tuple(reasons), "; ".join(reasons.values()))


def _more_observations(found: Evidence) -> str:
    if found.over_topics:
        return "more topics, by --topics-max or in the topic file"
    if found.given_starts:
        return "more topics, or examples instead of seeds, from which starts are drawn"
    return "--repeats, or more examples"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


#: Names listed in a sentence.
MAX_LISTED = 4


def _listed(names: Sequence[str]) -> str:
    shown, n_more = names[:MAX_LISTED], len(names) - MAX_LISTED
    return f"{', '.join(shown)} and {n_more} more" if n_more > 0 else ", ".join(shown)
