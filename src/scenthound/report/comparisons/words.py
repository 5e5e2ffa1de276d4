"""The words for a comparison: the answer in sentences, and what its figures are."""

from collections.abc import Iterator
from math import isnan

from scenthound.errors import printable
from scenthound.lab.comparing.halving import N_HALVINGS
from scenthound.lab.comparing.ranking import MARGIN_SHARE, Mark
from scenthound.report.comparisons.told import ToldComparison
from scenthound.report.number_words import number_told, percent_told


def answer_lines(told: ToldComparison) -> Iterator[str]:
    """Who is best, who is as good, who may be, on how many topics, and what the best is worth on other starts."""
    winner = told.rows[0]
    yield f"Best: {printable(winner.strategy)}, with {told.by} of {number_told(winner.mean)}."
    for mark, words in (
        (Mark.ALIKE, f"As good, to within {percent_told(MARGIN_SHARE)}"),
        (Mark.UNCLEAR, "Not told apart from it"),
    ):
        named = [printable(row.strategy) for row in told.rows if row.mark == mark]
        if named:
            yield f"{words}: {', '.join(named)}."
    if told.topics_won is not None:
        yield _won(*told.topics_won)
    if not isnan(told.held_out) and len(told.rows) > 1:
        yield _worth(told)


def _won(wins: int, ties: int, losses: int) -> str:
    return (
        f"Of {wins + ties + losses} topics it is ahead of all others on {wins}, level with the best of them on {ties}, "
        f"and behind on {losses}."
    )


def _worth(told: ToldComparison) -> str:
    """What the best is worth beyond the starts that it was chosen by."""
    winner = told.rows[0]
    return (
        f"The best of {len(told.rows)} may look better than it is. Where one half of the observations chooses and "
        f"the other half measures, the one chosen has {number_told(told.held_out)}; {printable(winner.strategy)} is "
        f"chosen in {percent_told(winner.chosen_share)} of {N_HALVINGS:,} such halvings."
    )


def bounds_told(told: ToldComparison) -> str:
    return (
        f"Gap closed: from {number_told(told.random)}, a crawl at random, to {number_told(told.oracle)}, one that "
        "knows all."
    )


def better_told(told: ToldComparison) -> str:
    return "less is better" if told.lower_is_better else "more is better"
