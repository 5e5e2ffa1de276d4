"""How often tests of the mean reject a mean that is 0, at the 5 % level: it should be 5 % (estimated 3 minutes).

Differences are drawn from distributions whose mean is 0; `left` has a long tail below 0, `right` above. `greater` is
the one-sided test of findings. Sign flips assume symmetry; `mean_test` adds a studentised bootstrap if the differences
of the sample are skewed. The next rows are the power for normal differences with a mean of 0.6 standard deviations.

The last rows are how often differences are found to be about equal whose mean is the margin, 1, so that they are not:
by two one-sided t-tests, and by `equivalence`, which adds a studentised bootstrap if they are skewed. The last column
is how often differences with a mean of 0 are, as they should be.
"""

import sys
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks import command_parser
from scenthound.experiments.significance import bootstrap_t_p, equivalence, is_skewed, sign_flip_p
from scenthound.experiments.statistics import paired_t
from scenthound.model import FloatArray

LEVEL = 0.05
SIZES = (8, 12, 20, 40)
N_RESAMPLES = 999
POWER_AT = 0.6

Draw = Callable[[np.random.Generator, int], FloatArray]
DRAWS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_t(3, n),
    "exponential, right": lambda rng, n: rng.exponential(size=n) - 1,
    "exponential, left": lambda rng, n: 1 - rng.exponential(size=n),
    "lognormal, left": lambda rng, n: np.exp(0.5) - rng.lognormal(size=n),
}
#: Further ones for equivalence: at the margin above 0, long tails above it are the hard case.
SKEWED_DRAWS: dict[str, Draw] = {
    "lognormal, right": lambda rng, n: rng.lognormal(size=n) - np.exp(0.5),
    "mostly 0, right": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.exponential(size=n)) - 0.3,
}
MARGIN = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command_parser("significance", __doc__)
    parser.add_argument("--samples", type=int, default=1000, help="samples of each kind")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    print(f"  {'differences':20} {'topics':>6} {'sign flips':>11} {'mean_test':>11} {'both sides':>22}")
    for name, draw in DRAWS.items():
        for n in SIZES:
            rates = _rates(draw, n, options.samples, rng)
            print(f"  {name:20} {n:6} {rates[0]:11.1%} {rates[1]:11.1%} {rates[2]:11.1%} {rates[3]:10.1%}", flush=True)
    for n in SIZES:
        flips, tested, *_ = _rates(lambda rng, n: rng.normal(POWER_AT, size=n), n, options.samples, rng)
        print(f"  power, normal        {n:6} {flips:11.1%} {tested:11.1%}", flush=True)
    print(f"\n  {'about equal':20} {'topics':>6} {'t-tests':>11} {'equivalence':>11} {'if equal':>11}")
    for name, draw in (DRAWS | SKEWED_DRAWS).items():
        for n in SIZES:
            by_t, shown, power = _equal_rates(draw, n, options.samples, rng)
            print(f"  {name:20} {n:6} {by_t:11.1%} {shown:11.1%} {power:11.1%}", flush=True)
    return 0


def _equal_rates(draw: Draw, n: int, n_samples: int, rng: np.random.Generator) -> FloatArray:
    """The shares of samples about the margin that t-tests and `equivalence` find equal, and of those about 0."""
    found = []
    for _ in range(n_samples):
        sample = draw(rng, n)
        at_margin = sample + MARGIN
        p = max(paired_t(at_margin, "less", against=MARGIN).p, paired_t(at_margin, "greater", against=-MARGIN).p)
        shown = (equivalence(each, MARGIN, n_resamples=N_RESAMPLES).is_shown for each in (at_margin, sample))
        found.append([p < LEVEL, *shown])
    rates: FloatArray = np.mean(found, axis=0)
    return rates


def _rates(draw: Draw, n: int, n_samples: int, rng: np.random.Generator) -> FloatArray:
    """The shares of samples that sign flips and `mean_test` reject, above 0 and then on either side."""
    found = []
    for _ in range(n_samples):
        sample = draw(rng, n)
        row = []
        for alternative in ("greater", "two-sided"):
            flips = sign_flip_p(sample, alternative, n_resamples=N_RESAMPLES)
            boot = bootstrap_t_p(sample, alternative, n_resamples=N_RESAMPLES) if is_skewed(sample) else 0.0
            row += [flips < LEVEL, max(flips, boot) < LEVEL]
        found.append(row)
    rates: FloatArray = np.mean(found, axis=0)
    return rates


if __name__ == "__main__":
    sys.exit(main())
