"""How sure a comparison is: means, intervals, tests and effect sizes, in the one place where they are computed.

Rules
- Topics are the independent observations. Crawls of one topic from several random seeds are averaged first.
- Two strategies are compared in pairs: a difference for each topic, from crawls that were alike but for the strategy.
- What cannot be computed is not-a-number, and topics that are not-a-number are left out.
- Random draws are seeded: the same numbers have the same interval and the same p in every run.
- What scipy has is scipy's; it is loaded when it is first needed.

docs/statistics.md says when each of them can be trusted.
"""

from scenthound.experiments.statistics.samples import (
    MIN_SEEDS,
    MIN_TOPICS,
    Effect,
    MeanCurve,
    PairedSample,
    aligned_differences,
    bca_interval,
    differences_of,
    mean_over_topics,
    spread_told,
    standard_error,
    without_rounding,
)
from scenthound.experiments.statistics.tests import (
    AgainstBest,
    Alternative,
    Comparison,
    Equivalence,
    PairedT,
    against_best,
    compare_pairs,
    d_z,
    equivalence,
    fewest_differences,
    holm,
    paired_t,
    rank_biserial,
    sign_flip_p,
    t_interval,
    wins_ties_losses,
)

__all__ = [
    "MIN_SEEDS",
    "MIN_TOPICS",
    "AgainstBest",
    "Alternative",
    "Comparison",
    "Effect",
    "Equivalence",
    "MeanCurve",
    "PairedSample",
    "PairedT",
    "against_best",
    "aligned_differences",
    "bca_interval",
    "compare_pairs",
    "d_z",
    "differences_of",
    "equivalence",
    "fewest_differences",
    "holm",
    "mean_over_topics",
    "paired_t",
    "rank_biserial",
    "sign_flip_p",
    "spread_told",
    "standard_error",
    "t_interval",
    "wins_ties_losses",
    "without_rounding",
]
