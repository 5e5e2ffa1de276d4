"""The classifiers that evaluate an arm: how far they agree, and how many pages they accept."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from scenthound.experiments.ground_truth import VOTE, StartFacts
from scenthound.experiments.starts import Start
from scenthound.metrics.base import GroundTruth
from scenthound.model import BoolArray, FloatArray
from scenthound.relevance.classifiers import LINEAR_JUDGES, VOTING_JUDGES, agreement, cohen_kappa

#: The known relevant pages, listed with the judges.
KNOWN_PAGES = "known relevant pages"
#: The harvest rate as published, and by judges whose acceptance rate is calibrated.
HARVEST, CALIBRATED_HARVEST = "harvest", "harvest:calibrated=true"


def is_calibrated(measures: Sequence[str]) -> bool:
    """Whether the judges that decide the harvest rate of an arm are calibrated."""
    return CALIBRATED_HARVEST in measures


def classifiers_of(measures: Sequence[str]) -> tuple[str, ...]:
    """The classifiers that evaluate an arm."""
    linear = [judge for judge in LINEAR_JUDGES if f"classified:by={judge}" in measures]
    has_votes = HARVEST in measures or is_calibrated(measures)
    return (*linear, *(VOTING_JUDGES if has_votes else ()))


def classifier_agreement(ground_truth: GroundTruth, measures: Sequence[str]) -> dict[str, float]:
    """Cohen's kappa of each pair of classifiers on the pool, Fleiss' kappa of all, and Cohen's kappa of each, and of
    the vote, with the known relevant pages. Empty if one of them could not be trained."""
    judges = classifiers_of(measures)
    accepted_by = partial(ground_truth.facts.accepted_by, calibrated=is_calibrated(measures))
    verdicts = {name: accepted for name in judges if (accepted := accepted_by(name)) is not None}
    if not judges or len(verdicts) < len(judges):
        return {}
    found = agreement(verdicts)
    kappas = {f"{pair.first} and {pair.second}": pair.kappa for pair in found.pairs}
    kappas["all of them (Fleiss)"] = found.fleiss
    is_relevant = np.isin(ground_truth.pool, ground_truth.relevant)
    voted = accepted_by(VOTE) if set(VOTING_JUDGES) <= verdicts.keys() else None
    for name, accepted in (*verdicts.items(), *([(VOTE, voted)] if voted is not None else [])):
        kappas[f"{name} and the known pages"] = cohen_kappa(accepted, is_relevant)
    return kappas


def acceptance(ground_truth: GroundTruth, start: Start, measures: Sequence[str]) -> dict[str, FloatArray]:
    """By judge of the harvest rate: the share of the pool that it accepts, the share of those that are known to be
    relevant, and the share of the known relevant pages that it accepts; without the pages that judges learned from."""
    is_new = ~np.isin(ground_truth.pool, [*start.judging, *start.judging_negatives])
    is_relevant = np.isin(ground_truth.pool, ground_truth.relevant)[is_new]
    found = {}
    for measure, ending in ((HARVEST, ""), (CALIBRATED_HARVEST, ", calibrated")):
        for judge in (*VOTING_JUDGES, VOTE) if measure in measures else ():
            accepted = ground_truth.facts.accepted_by(judge, calibrated=measure == CALIBRATED_HARVEST)
            if accepted is not None:
                found[f"{judge}{ending}"] = _shares_of(accepted[is_new], is_relevant)
    return found | ({KNOWN_PAGES: _shares_of(is_relevant, is_relevant)} if found else {})


def _shares_of(accepted: BoolArray, is_relevant: BoolArray) -> FloatArray:
    """The accepted share, precision and recall; NaN where nothing is to be divided."""
    parts = (accepted, is_relevant[accepted], accepted[is_relevant])
    return np.array([part.mean() if len(part) else np.nan for part in parts])


def n_accepted(facts: StartFacts, measures: Sequence[str]) -> float:
    """About how many pages of the web the judges of the harvest rate accept; NaN if there are no judges."""
    has_judges = VOTING_JUDGES[0] in classifiers_of(measures)
    return facts.n_accepted_in_web(calibrated=is_calibrated(measures)) if has_judges else np.nan
