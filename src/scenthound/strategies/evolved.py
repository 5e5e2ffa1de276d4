"""A rank function from a file, written by `scenthound evolve` or by hand (`rank_file`).

The file is read once, by the constructor. Without a file it is the individual that johnson2003 evolved.
"""

from pathlib import Path

from scenthound.errors import InvalidParameter, printable
from scenthound.registry import Choice
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.frontier_strategy import Buffer, RoundSize
from scenthound.strategies.rank_file import RankFile, read_rank_file
from scenthound.strategies.rank_function import RankByRules, RankFunction


class Evolved(RankByRules):
    """`file` has the rules, the relevance model and the other parameters of the rank function; `n` and `buffer` are
    those of the rank function."""

    summary = "the URL that ranks best by a formula from a file; without a file, by the one published in johnson2003"
    kernel = RankByRules.kernel
    sharding = RankByRules.sharding

    def __init__(self, file: str | None = None, n: RoundSize = 1, buffer: Buffer = None) -> None:
        found = RankFile(RankFunction().rules) if file is None else read_rank_file(file)
        super().__init__(
            found.rules,
            n,
            buffer,
            hub_over=found.hub_over,
            threshold=found.threshold,
            score_range=found.score_range,
            renew=found.renew,
        )
        if file is not None:
            self.relevance_model = found.relevance_model


def choice_of(path: Path, strategy: str = "evolved") -> str:
    """The name of the strategy of a file; raises InvalidParameter if the path cannot be part of a name."""
    choice = Choice(strategy, (("file", str(path)),))
    text = str(choice)
    if "," in text or STRATEGIES.parse(text) != choice:
        raise InvalidParameter(
            f"{printable(path)!r} cannot be written as {strategy}:file=...: a path must not contain commas, start or "
            "end with a space, or be `none`. Choose another name."
        )
    return text
