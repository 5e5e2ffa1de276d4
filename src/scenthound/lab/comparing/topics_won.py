"""On how many topics the best in the mean is the best: it wins a topic where it beats all others."""

from collections.abc import Sequence
from dataclasses import dataclass

from scenthound.lab.comparing.measurements import Measurements
from scenthound.lab.statistics import wins_ties_losses
from scenthound.lab.topic_analysis import against_field


@dataclass(frozen=True, slots=True)
class TopicsWon:
    """Topics on which one has more than the best of the others, as much, and less."""

    wins: int
    ties: int
    losses: int


def topics_won(measured: Measurements, in_order: Sequence[int], *, lower_is_better: bool) -> TopicsWon | None:
    """By the first of these contestants against the field of the others; None if topics are not the observations."""
    if not measured.over_topics or len(in_order) < 2:
        return None
    sign = -1.0 if lower_is_better else 1.0
    values = {str(place): sign * measured.observations[place] for place in in_order}
    return TopicsWon(*wins_ties_losses(against_field(values, str(in_order[0]))))
