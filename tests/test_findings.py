"""Claims, their tests, and the verdicts that come of them."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scenthound.errors import InvalidParameter
from scenthound.experiments.findings import (
    Claim,
    Verdict,
    cannot_be_asked,
    decided_claims,
    finding_of,
    is_about_equal,
    is_less,
    is_more,
    is_not_more,
)
from scenthound.experiments.significance import equivalence
from scenthound.experiments.statistics import PairedSample
from scenthound.ui.reports.findings import unasked_lines

YES, NO, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED

#: Eight topics each. Means 0.1, -0.1, 0 and 0.05; all but the last are sure of their side.
MORE = 0.1 + np.array([-0.04, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.04])
LESS = -MORE
NEAR_ZERO = MORE - 0.1
UNSURE = 0.05 + 5 * NEAR_ZERO


def decided(*claims):
    made = decided_claims(claims)
    return made[0] if len(made) == 1 else made


def interval(claim):
    return "95", f"{claim.effect.low:+.4g}", f"{claim.effect.high:+.4g}"


def gives(claim, *numbers):
    """Whether the reason of a verdict has these numbers."""
    return set(numbers) <= set(re.findall(r"[±+-]?\d+(?:\.\d+)?(?:e-\d+)?", claim.why))


def test_a_finding_is_as_good_as_its_worst_claim():
    assert Verdict.of_all([YES, YES]) is YES
    assert Verdict.of_all([YES, OPEN]) is OPEN
    assert Verdict.of_all([OPEN, NO, YES]) is NO
    assert Verdict.of_all([]) is OPEN


@pytest.mark.parametrize(
    ("differences", "more", "less", "not_more"),
    [
        (MORE, YES, NO, NO),
        (LESS, NO, YES, YES),
        (UNSURE, OPEN, OPEN, OPEN),
        (np.zeros(8), OPEN, OPEN, OPEN),
    ],
)
def test_interval_and_test_decide_a_claim(differences, more, less, not_more):
    assert decided(is_more("", differences)).verdict is more
    assert decided(is_less("", differences)).verdict is less
    assert decided(is_not_more("", differences)).verdict is not_more


def test_a_claim_has_effect_test_and_reason():
    claim = decided(is_more("a > b", MORE))
    assert (claim.says, claim.test) == ("a > b", "sign flips, above 0")
    assert (claim.effect.mean, claim.effect.over, claim.effect.n_topics) == (pytest.approx(0.1), "topics", 8)
    # Of 256 ways to flip signs one is as good.
    assert (claim.p, claim.p_corrected) == (1 / 256, 1 / 256)
    assert gives(claim, *interval(claim), "0.00391")
    # Below 0 all 256 ways are as good.
    assert claim.p_contrary_corrected == 1


def test_the_effect_of_a_claim_of_less_keeps_its_sign():
    claim = decided(is_less("a < b", LESS))
    assert claim.effect.mean == pytest.approx(-0.1)
    assert (claim.test, claim.p) == ("sign flips, below 0", 1 / 256)
    assert claim.verdict is YES
    # The wrong way round nearly all flips are as good.
    assert decided(is_less("a < b", MORE)).p == 1


def test_p_is_corrected_among_the_claims_of_a_finding():
    finding = finding_of("H5", "a > b > c", "corrected", [is_more("a > b", MORE), is_more("b > c", MORE + 1)])
    assert [claim.p for claim in finding.claims] == [1 / 256] * 2
    assert [claim.p_corrected for claim in finding.claims] == [2 / 256] * 2
    assert (finding.name, finding.says, finding.protocol, finding.verdict) == ("H5", "a > b > c", "corrected", YES)


def test_an_interval_above_zero_is_not_enough_if_there_are_many_claims():
    # Seven topics, of which the one with 1 is lost: sums of 26 and of 28 are as large as 26, so p is 2 / 128. Of four
    # claims that is 1 / 16, which is more than 5 %.
    won = np.array([-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    assert decided(is_more("", won)).verdict is YES
    first, *_ = decided(*(is_more("", won) for _ in range(4)))
    assert (first.verdict, first.p, first.p_corrected, first.effect.low > 0) == (OPEN, 2 / 128, 8 / 128, True)
    assert gives(first, "0.0625")
    # What is not shown does not refute the contrary.
    contrary, *_ = decided(*(is_not_more("", won) for _ in range(4)))
    assert contrary.verdict is OPEN


def test_the_reason_says_how_many_topics_a_number_of_claims_needs():
    # Five topics won have 1 / 32, which is below 5 % for one claim. For two it is 1 / 16, and with six topics 1 / 32.
    five = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    first, _ = decided(is_more("", five), is_more("", five))
    assert (first.verdict, first.p_corrected) == (OPEN, 2 / 32)
    assert gives(first, *interval(first), "5", "2", "6")
    first, _ = decided(is_more("", np.append(five, 6)), is_more("", np.append(five, 6)))
    assert (first.verdict, first.p_corrected) == (YES, 2 / 64)
    # It is the same of what would refute them.
    first, _ = decided(is_less("", five), is_less("", five))
    assert first.verdict is OPEN
    assert gives(first, *interval(first), "5", "2", "6")
    # Topics without a difference are none that a sign can be flipped of.
    four = decided(is_more("", np.array([1.0, 2.0, 0.0, 3.0, 4.0, 0.0])))
    assert (four.verdict, four.p) == (OPEN, 1 / 16)
    assert gives(four, "4", "5")


def test_a_claim_is_refuted_only_by_a_test_of_its_contrary():
    claim = decided(is_more("", LESS))
    assert (claim.verdict, claim.p_corrected, claim.p_contrary_corrected) == (NO, 1, 1 / 256)
    assert gives(claim, *interval(claim), "0.00391")
    # Seven topics, all but one lost: 2 / 128 below 0, which four claims make 1 / 16.
    lost = -np.array([-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    assert decided(is_more("", lost)).verdict is NO
    first, *_ = decided(*(is_more("", lost) for _ in range(4)))
    assert (first.verdict, first.effect.high < 0, first.p_contrary_corrected) == (OPEN, True, 8 / 128)
    assert gives(first, "0.0625")


def test_interval_and_test_must_agree():
    # Only the sum with the other sign of 6 is larger, so p of sign flips is 2 / 64; but the one loss draws the interval
    # down to 0. It also makes the differences skewed, so that they have to pass the bootstrap, too.
    mostly_won = np.array([-6.0, 8.0, 8.0, 9.0, 7.0, 7.0])
    claim = decided(is_more("", mostly_won))
    assert (claim.p_corrected > 2 / 64, claim.effect.low < 0, claim.verdict) == (True, True, OPEN)
    assert "bootstrap" in claim.test
    refuted = decided(is_less("", mostly_won))
    assert (refuted.p_contrary_corrected > 2 / 64, refuted.verdict) == (True, OPEN)


def test_claims_and_their_contraries_are_corrected_separately():
    # Below 0, LESS has 1 / 256 and MORE has 1: Holm doubles the first. Above 0 it is the other way round.
    lost, won = decided(is_more("", LESS), is_more("", MORE))
    assert (lost.p_corrected, lost.p_contrary_corrected, lost.verdict) == (1, 2 / 256, NO)
    assert (won.p_corrected, won.p_contrary_corrected, won.verdict) == (2 / 256, 1, YES)


def test_not_more_is_supported_by_less_and_refuted_by_more():
    claim = decided(is_not_more("a <= b", LESS))
    assert (claim.says, claim.verdict, claim.test) == ("a <= b", YES, "sign flips, below 0")
    assert (claim.p, claim.p_corrected, claim.p_contrary_corrected) == (1 / 256, 1 / 256, 1)
    refuted = decided(is_not_more("", MORE))
    assert (refuted.verdict, refuted.p, refuted.p_contrary_corrected) == (NO, 1, 1 / 256)
    # As one of two, it shares the correction of what bears claims out: 2 / 256 each.
    first, second = decided(is_not_more("", LESS), is_more("", MORE))
    assert (first.p_corrected, second.p_corrected) == (2 / 256, 2 / 256)


def test_only_zeros_are_undecided_without_a_margin():
    claim = decided(is_more("", np.zeros(8)))
    assert (claim.verdict, claim.p, claim.effect.low, claim.effect.high) == (OPEN, 1, 0, 0)
    assert not gives(claim, "95")
    assert decided(is_more("", np.zeros(8), margin=0.1)).verdict is NO
    assert decided(is_not_more("", np.zeros(8), margin=0.1)).verdict is YES


def test_rounding_errors_are_no_difference_for_a_claim():
    # 0.3 - 0.2 - 0.1 is -2.8e-17, and 0.1 + 0.2 - 0.3 is 5.6e-17.
    rounding = np.full(8, 0.1 + 0.2 - 0.3)
    for claimed in (is_more, is_less, is_not_more):
        claim = decided(claimed("", rounding))
        assert (claim.verdict, claim.p, claim.effect.mean) == (OPEN, 1, 0)
    assert decided(is_more("", PairedSample(rounding.reshape(1, 8)))).verdict is OPEN
    # Beside a difference that counts it is none either: one of eight topics is no test.
    claim = decided(is_more("", np.append(rounding[1:], 0.2)))
    assert (claim.verdict, claim.p) == (OPEN, 1 / 2)
    # What is at the margin but for rounding is not beyond it.
    assert decided(is_about_equal("", np.full(8, 0.1 + 0.2), 0.3)).p_contrary_corrected == 1


def test_a_difference_shown_to_be_negligible_refutes_more():
    assert decided(is_more("", NEAR_ZERO)).verdict is OPEN
    claim = decided(is_more("", NEAR_ZERO, margin=0.05))
    shown = equivalence(NEAR_ZERO, 0.05)
    assert claim.verdict is NO
    # There are two ways to be refuted, so p is doubled.
    assert claim.p_contrary_corrected == pytest.approx(2 * shown.p)
    assert gives(claim, "90", f"{shown.low:+.4g}", f"{shown.high:+.4g}", "±0.05", f"{2 * shown.p:.3g}")
    assert decided(is_not_more("", NEAR_ZERO, margin=0.05)).verdict is YES
    assert decided(is_more("", NEAR_ZERO, margin=0.01)).verdict is OPEN


def test_negligible_differences_must_pass_the_correction():
    margin = next(m for m in np.arange(0.02, 0.04, 0.0002) if 0.013 < equivalence(NEAR_ZERO, m).p < 0.024)
    assert decided(is_more("", NEAR_ZERO, margin)).verdict is NO
    first, _ = decided(is_more("", NEAR_ZERO, margin), is_more("", NEAR_ZERO, margin))
    assert first.verdict is OPEN


def test_with_a_margin_the_other_side_still_refutes():
    claim = decided(is_more("", LESS, margin=0.001))
    assert (claim.verdict, claim.p_contrary_corrected) == (NO, 2 / 256)
    assert gives(claim, *interval(claim), "0.00781")


def test_a_certain_difference_is_more_even_if_it_is_small():
    assert decided(is_more("", MORE, margin=1.0)).verdict is YES


def test_about_equal_needs_a_difference_within_the_margin():
    claim = decided(is_about_equal("a as b", NEAR_ZERO, 0.05))
    assert (claim.verdict, claim.test) == (YES, "equivalence within ±0.05")
    assert claim.p == equivalence(NEAR_ZERO, 0.05).p


def test_a_difference_that_is_not_significant_is_not_equality():
    claim = decided(is_about_equal("", UNSURE, 0.05))
    assert claim.verdict is OPEN
    assert gives(claim, *interval(claim), "±0.05", f"{claim.p_corrected:.3g}")


def test_only_a_difference_outside_the_margin_refutes_equality():
    for differences in (MORE, LESS):
        claim = decided(is_about_equal("", differences, 0.05))
        # Each of eight topics is beyond the margin: one of 256 ways, twice because of the other side.
        assert (claim.verdict, claim.p_contrary_corrected) == (NO, 2 / 256)
        assert gives(claim, *interval(claim), "±0.05", "0.00781")
        # Sure, and surely small: equal.
        assert decided(is_about_equal("", differences, 0.5)).verdict is YES
        # The interval leaves 0 out and has the margin in it: neither.
        claim = decided(is_about_equal("", differences, 0.1))
        assert (claim.effect.low * claim.effect.high > 0, claim.verdict) == (True, OPEN)


def test_evidence_for_equality_never_refutes_it():
    # The whole interval is within the margin and leaves 0 out. Alone that is equal; of so many claims it is not shown.
    margin = next(m for m in np.arange(0.11, 0.13, 0.0002) if 0.02 < equivalence(MORE, m).p < 0.03)
    assert decided(is_about_equal("", MORE, margin)).verdict is YES
    first, *_ = decided(*(is_about_equal("", MORE, margin) for _ in range(4)))
    assert (first.effect.low > 0, first.effect.high < margin, first.verdict) == (True, True, OPEN)


def test_differences_outside_the_margin_must_pass_the_correction():
    # Six topics beyond it: 2 / 64 for one claim, 4 / 64 for two, and seven topics would have 4 / 128.
    six = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert decided(is_about_equal("", six, 0.5)).verdict is NO
    first, _ = decided(is_about_equal("", six, 0.5), is_about_equal("", six, 0.5))
    assert (first.verdict, first.p_contrary_corrected) == (OPEN, 4 / 64)
    assert gives(first, *interval(first), "±0.5", "6", "2", "7")


def test_equivalence_is_corrected_too():
    margin = next(m for m in np.arange(0.02, 0.04, 0.0002) if 0.02 < equivalence(NEAR_ZERO, m).p < 0.04)
    assert decided(is_about_equal("", NEAR_ZERO, margin)).verdict is YES
    first, *_ = decided(*(is_about_equal("", NEAR_ZERO, margin) for _ in range(3)))
    assert first.verdict is OPEN


@pytest.mark.parametrize("claimed", [is_more, is_less, is_not_more])
def test_fewer_than_five_topics_decide_nothing(claimed):
    claim = decided(claimed("", np.array([1.0, 1.0, 1.0, 1.0, math.nan])))
    assert (claim.verdict, claim.effect.n_topics) == (OPEN, 4)
    assert gives(claim, "4", "5")
    assert (math.isnan(claim.p), claim.test) == (True, "")
    one, none = (decided(claimed("", np.array([value]))) for value in (1.0, math.nan))
    assert (one.verdict, one.effect.n_topics) == (OPEN, 1)
    assert gives(one, "5")
    assert (none.verdict, none.effect.n_topics) == (OPEN, 0)
    assert not gives(none, "5")


def test_few_topics_cannot_show_equality():
    claim = decided(is_about_equal("", np.array([0.0, 0.1, -0.1, 0.0]), 5))
    assert (claim.verdict, claim.test) == (OPEN, "")
    assert gives(claim, "4", "5")


def test_five_topics_can_support_one_claim():
    assert decided(is_more("", np.array([1.0, 2.0, 3.0, 4.0, 5.0]))).p_corrected == 1 / 32


def test_five_seeds_of_few_topics_are_tested():
    claim = decided(is_more("", PairedSample(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))))
    assert (claim.verdict, claim.effect.over, claim.p) == (YES, "seeds", 1 / 32)
    assert gives(claim, *interval(claim), "0.0312")
    assert decided(is_more("", PairedSample(np.array([[-1.0, 2.0, -3.0, 4.0, 1.0]])))).verdict is OPEN
    # Every seed of both topics is flipped by itself: 1 of 1,024 ways.
    assert decided(is_less("", PairedSample(-np.array([[1.0, 2, 3, 4, 5], [6, 7, 8, 9, 10]])))).p == 1 / 1024
    # Five seeds can bear out one claim, and are too few for two.
    first, _ = decided(*(is_more("", PairedSample(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))) for _ in range(2)))
    assert first.verdict is OPEN
    assert gives(first, "5", "2", "6")
    # Three topics whose seeds are spread alike about 0: as means they are equal, which is not asked of so few.
    spread = PairedSample(np.array([[-1.0, 1.0, -2.0, 2.0, 0.0]] * 3))
    assert decided(is_more("", spread, margin=0.5)).verdict is OPEN
    # Equality on average over the seeds of one topic says nothing.
    assert decided(is_about_equal("", PairedSample(np.array([[0.0, 0.1, 0, 0, 0]])), 5)).verdict is OPEN


@pytest.mark.parametrize("claimed", [is_more, is_less, is_not_more])
def test_fewer_than_five_seeds_of_few_topics_decide_nothing(claimed):
    claim = decided(claimed("", PairedSample(np.array([[0.1, 0.11, 0.12], [0.02, 0.03, 0.04]]))))
    assert (claim.verdict, math.isnan(claim.p), claim.test) == (OPEN, True, "")
    assert gives(claim, "2", "3", "5")
    claim = decided(claimed("", PairedSample(np.array([[0.1, 0.1, 0.1, 0.1]]))))
    assert gives(claim, "4", "5")


def test_claims_without_a_test_are_unchanged_and_not_counted():
    told = Claim("weights in order", None, YES, "They are.")
    first, second = decided(told, is_more("", MORE))
    assert first is told
    assert second.p_corrected == 1 / 256
    # Five topics are enough for the one claim that is tested on them; four with a difference are not.
    _, few = decided(told, is_more("", np.array([1.0, 2.0, 3.0, 4.0, 0.0])))
    assert gives(few, "4", "5")


def test_a_margin_must_be_positive():
    with pytest.raises(InvalidParameter, match="margin"):
        is_about_equal("", MORE, 0.0)


@given(st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=12), st.floats(0.01, 0.5))
def test_more_and_less_mirror_each_other_and_every_verdict_has_a_reason(values, margin):
    differences = np.round(values, 3)
    more, less = decided(is_more("", differences, margin)), decided(is_less("", -differences, margin))
    assert (more.p, more.p_corrected) == pytest.approx((less.p, less.p_corrected), nan_ok=True)
    # Both intervals come of the same draws, but a percentile is no mirror image to the last digit.
    near = (more.effect.low, -less.effect.low, more.effect.high, -less.effect.high)
    assert more.verdict is less.verdict or min(map(abs, near)) < 0.05
    equal = decided(is_about_equal("", differences, margin))
    for claim in (more, less, equal):
        assert claim.why.endswith(".")
        assert "nan" not in claim.why
    assert not (more.verdict is YES and decided(is_less("", differences, margin)).verdict is YES)


def simulated(make, n_findings):
    """This many findings, each of claims on new numbers."""
    rng = np.random.default_rng(20)
    return [finding_of("", "", "", make(rng)) for _ in range(n_findings)]


def counted(findings, verdict):
    return sum(finding.verdict is verdict for finding in findings)


def most_by_chance(n_findings):
    """What is exceeded in one of a hundred simulations if 5 % of findings are judged wrongly."""
    return stats.binom.ppf(0.99, n_findings, 0.05)


def test_a_finding_whose_claims_are_all_true_is_rarely_refuted():
    # Effects far smaller than the spread are the worst case. In 1,500 findings 3.3 % are refuted, and 16 % have a claim
    # whose interval does not reach above 0: without a test of the contrary, these numbers would fail.
    found = simulated(lambda rng: [is_more("", rng.normal(0.05, 1, 8)) for _ in range(4)], 120)
    by_interval = sum(any(claim.effect.high <= 0 for claim in finding.claims) for finding in found)
    assert counted(found, NO) <= most_by_chance(120) < by_interval


def test_little_above_and_about_equal_can_be_true_together():
    def little_above(rng):
        differences = rng.normal(0.05, 0.1, 30)
        return [is_more("", differences), is_about_equal("", differences, 0.1)]

    found = simulated(little_above, 40)
    assert counted(found, NO) == 0
    assert counted(found, YES) > 13


@pytest.mark.parametrize("shape", [(5, 1), (12, 1), (1, 5)])
def test_noise_is_rarely_reproduced(shape):
    found = simulated(lambda rng: [is_more("", PairedSample(rng.normal(0, 1, shape)))], 100)
    assert counted(found, YES) <= most_by_chance(100)


@pytest.mark.parametrize("shape", [(2, 2), (2, 3)])
def test_noise_in_a_few_seeds_is_never_reproduced(shape):
    found = simulated(lambda rng: [is_more("", PairedSample(rng.normal(0, 1, shape)))], 60)
    assert counted(found, OPEN) == 60
    assert sum(finding.claims[0].effect.low > 0 for finding in found) > 3


def test_the_test_and_the_p_that_decided_are_named():
    more, less = np.linspace(0.5, 1, 12), -np.linspace(0.5, 1, 12)
    finding = finding_of("f", "", "", [is_more("holds", more), is_more("fails", less), is_not_more("holds", less)])
    holds, fails, not_more = finding.claims
    assert (holds.deciding_test, holds.deciding_p) == ("sign flips, above 0", holds.p_corrected)
    assert (fails.deciding_test, fails.deciding_p) == ("sign flips, below 0", fails.p_contrary_corrected)
    assert (not_more.deciding_test, not_more.deciding_p) == ("sign flips, below 0", not_more.p_corrected)
    assert max(holds.deciding_p, fails.deciding_p, not_more.deciding_p) < 0.05
    assert f"{fails.deciding_p:.3g}" in fails.why


def test_the_reasons_of_findings_that_cannot_be_asked_are_listed_once():
    findings = [
        finding_of(name, "", "", [cannot_be_asked("claim", reason)])
        for name, reason in (("H1", "One host."), ("H2", "One host."), ("H3", "Few pages."))
    ]
    assert [*unasked_lines([*findings, finding_of("H4", "", "", [is_more("claim", np.ones(12))])])] == [
        "H1, H2 cannot be asked here: One host.",
        "H3 cannot be asked here: Few pages.",
    ]
