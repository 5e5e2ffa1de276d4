"""The crawls of a comparison; who fails where no strategy was named is left out, and a note says why.

All strategies crawl together. If one of them fails, which only a plug-in does, each goes on alone: crawls that were
made are kept, so little is done twice, and whoever fails is found wherever in a crawl that happens.
"""

from dataclasses import replace
from pathlib import Path

from scenthound.errors import BrokenContract, Peeked, printable
from scenthound.lab.comparing.preparing import Prepared
from scenthound.lab.experiment import Experiment
from scenthound.lab.studies.crawling import crawl_all
from scenthound.model import Progress

#: What a strategy that does not keep its contract comes to.
FAILURES = (BrokenContract, Peeked)


def crawled(
    ready: Prepared, cache: Path, *, may_leave_out: bool, workers: int | None, progress: Progress
) -> tuple[Prepared, int]:
    """Make the crawls that are not kept: who took part to the end, and how many crawls were made."""
    onward = _onward(progress)
    try:
        return ready, _n_made(ready, ready.experiment, cache, workers, onward)
    except FAILURES:
        if not may_leave_out:
            raise
    return _each_alone(ready, cache, workers, onward)


def _each_alone(ready: Prepared, cache: Path, workers: int | None, progress: Progress) -> tuple[Prepared, int]:
    strategies, n_made = ready.experiment.strategies, 0
    failed: dict[str, BrokenContract | Peeked] = {}
    for place, strategy in enumerate(strategies):
        alone = replace(ready.experiment, strategies=(strategy,))
        part = part_of(progress, place / len(strategies), (place + 1) / len(strategies))
        try:
            n_made += _n_made(ready, alone, cache, workers, part)
        except FAILURES as reason:
            failed[strategy] = reason
    if len(failed) == len(strategies):
        raise next(iter(failed.values()))
    return _without(ready, failed), n_made


def _without(ready: Prepared, failed: dict[str, BrokenContract | Peeked]) -> Prepared:
    able = tuple(strategy for strategy in ready.experiment.strategies if strategy not in failed)
    return replace(
        ready,
        experiment=replace(ready.experiment, strategies=able),
        contestants=tuple(each for each in ready.contestants if each.spec in able),
        notes=(*ready.notes, *(f"Left out: {name}. {printable(reason)}" for name, reason in failed.items())),
    )


def _n_made(ready: Prepared, experiment: Experiment, cache: Path, workers: int | None, progress: Progress) -> int:
    pieces = crawl_all(experiment, ready.ground, list(ready.planned), cache, workers=workers, progress=progress)
    return sum(piece.n_made for piece in pieces)


def part_of(progress: Progress, first: float, last: float) -> Progress:
    """The progress of a part of the work, as that of the whole."""

    def told(share: float, words: str) -> None:
        progress(first + share * (last - first), words)

    return told


def _onward(progress: Progress) -> Progress:
    """Progress that does not go back when work begins anew."""
    reached = 0.0

    def told(share: float, words: str) -> None:
        nonlocal reached
        reached = max(reached, share)
        progress(reached, words)

    return told
