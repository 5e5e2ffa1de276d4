"""How sure a comparison is: means, intervals, tests and effect sizes, in the one place where they are computed.

Rules
- Topics are the independent observations. Crawls of one topic from several random seeds are averaged first.
- Two strategies are compared in pairs: a difference for each topic, from crawls that were alike but for the strategy.
- What cannot be computed is not-a-number, and topics that are not-a-number are left out.
- Random draws are seeded: the same numbers have the same interval and the same p in every run.
- What scipy has is scipy's; it is loaded when it is first needed.

docs/statistics.md says when each of them can be trusted.
"""

from scenthound.lab.statistics.against_best import AgainstBest, against_best
from scenthound.lab.statistics.bootstrap import bca_interval
from scenthound.lab.statistics.comparison import Comparison, compare_pairs
from scenthound.lab.statistics.differences import aligned_differences, differences_of, standard_error, without_rounding
from scenthound.lab.statistics.effect_sizes import d_z, rank_biserial, wins_ties_losses
from scenthound.lab.statistics.equivalence import Equivalence, equivalence
from scenthound.lab.statistics.holm import holm
from scenthound.lab.statistics.mean_curves import MeanCurve, mean_over_topics
from scenthound.lab.statistics.paired_sample import LEAST_SEEDS, LEAST_TOPICS, Effect, PairedSample, spread_told
from scenthound.lab.statistics.paired_t import Alternative, PairedT, paired_t, t_interval
from scenthound.lab.statistics.permutation import fewest_differences, sign_flip_p

__all__ = [
    "LEAST_SEEDS",
    "LEAST_TOPICS",
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
