"""Claims, their tests, and the verdicts that come of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import BadParameter
from scenthound.lab.findings import (
    Claim,
    Verdict,
    decided_claims,
    finding_of,
    is_about_equal,
    is_less,
    is_more,
    is_not_more,
)
from scenthound.lab.statistics import PairedSample, equivalence

YES, NO, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED

#: Eight topics each. Means 0.1, -0.1, 0 and 0.05; all but the last are sure of their side.
MORE = 0.1 + np.array([-0.04, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.04])
LESS = -MORE
NEAR_ZERO = MORE - 0.1
UNSURE = 0.05 + 5 * NEAR_ZERO


def decided(*claims):
    made = decided_claims(claims)
    return made[0] if len(made) == 1 else made


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
        (np.zeros(8), NO, NO, YES),
    ],
)
def test_a_claim_holds_fails_or_stays_open_by_interval_and_test(differences, more, less, not_more):
    assert decided(is_more("", differences)).verdict is more
    assert decided(is_less("", differences)).verdict is less
    assert decided(is_not_more("", differences)).verdict is not_more


def test_a_claim_tells_effect_test_and_reason():
    claim = decided(is_more("a > b", MORE))
    assert (claim.says, claim.test) == ("a > b", "sign flips, above 0")
    assert (claim.effect.mean, claim.effect.over, claim.effect.n_topics) == (pytest.approx(0.1), "topics", 8)
    # Of 256 ways to flip signs one is as good.
    assert (claim.p, claim.p_corrected) == (1 / 256, 1 / 256)
    low, high = f"{claim.effect.low:+.4g}", f"{claim.effect.high:+.4g}"
    assert claim.why == f"The 95 % interval {low} to {high} lies above 0; corrected p is 0.00391."


def test_the_effect_of_a_claim_of_less_keeps_its_sign():
    claim = decided(is_less("a < b", LESS))
    assert claim.effect.mean == pytest.approx(-0.1)
    assert (claim.test, claim.p) == ("sign flips, below 0", 1 / 256)
    assert "lies below 0" in claim.why
    # The wrong way round nearly all flips are as good.
    assert decided(is_less("a < b", MORE)).p == 1


def test_p_is_corrected_among_the_claims_of_a_finding():
    finding = finding_of("H5", "a > b > c", "corrected", [is_more("a > b", MORE), is_more("b > c", MORE + 1)])
    assert [claim.p for claim in finding.claims] == [1 / 256] * 2
    assert [claim.p_corrected for claim in finding.claims] == [2 / 256] * 2
    assert (finding.name, finding.says, finding.protocol, finding.verdict) == ("H5", "a > b > c", "corrected", YES)


def test_an_interval_above_zero_is_not_enough_if_there_are_many_claims():
    # Six topics won: 1 / 64, times four claims 1 / 16, which is more than 5 %.
    won = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert decided(is_more("", won)).verdict is YES
    first, *_ = decided(*(is_more("", won) for _ in range(4)))
    assert (first.verdict, first.effect.low > 0) == (OPEN, True)
    assert first.why.endswith("lies above 0, but corrected p is 0.062.")
    # What is not shown does not refute the contrary.
    contrary, *_ = decided(*(is_not_more("", won) for _ in range(4)))
    assert contrary.verdict is OPEN


def test_a_difference_shown_to_be_small_is_no_more():
    assert decided(is_more("", NEAR_ZERO)).verdict is OPEN
    claim = decided(is_more("", NEAR_ZERO, margin=0.05))
    shown = equivalence(NEAR_ZERO, 0.05)
    assert claim.verdict is NO
    assert (
        claim.why
        == f"The 90 % interval {shown.low:+.4g} to {shown.high:+.4g} lies within ±0.05, so no difference counts."
    )
    assert decided(is_not_more("", NEAR_ZERO, margin=0.05)).verdict is YES
    assert decided(is_more("", NEAR_ZERO, margin=0.01)).verdict is OPEN


def test_a_sure_difference_is_more_even_if_it_is_small():
    assert decided(is_more("", MORE, margin=1.0)).verdict is YES


def test_equal_is_what_is_shown_to_lie_within_the_margin():
    claim = decided(is_about_equal("a as b", NEAR_ZERO, 0.05))
    assert (claim.verdict, claim.test) == (YES, "equivalence within ±0.05")
    assert claim.p == equivalence(NEAR_ZERO, 0.05).p


def test_not_to_have_found_a_difference_does_not_make_equal():
    claim = decided(is_about_equal("", UNSURE, 0.05))
    assert claim.verdict is OPEN
    assert "has 0 in it, but the difference is not shown to be within ±0.05; corrected p is" in claim.why


def test_a_difference_refutes_equality_unless_it_is_shown_to_be_small():
    for differences in (MORE, LESS):
        claim = decided(is_about_equal("", differences, 0.05))
        assert claim.verdict is NO
        assert "leaves 0 out" in claim.why
        # Sure, and surely small: equal.
        assert decided(is_about_equal("", differences, 0.5)).verdict is YES


def test_equivalence_is_corrected_too():
    margin = next(m for m in np.arange(0.02, 0.04, 0.0002) if 0.02 < equivalence(NEAR_ZERO, m).p < 0.04)
    assert decided(is_about_equal("", NEAR_ZERO, margin)).verdict is YES
    first, *_ = decided(*(is_about_equal("", NEAR_ZERO, margin) for _ in range(3)))
    assert first.verdict is OPEN


@pytest.mark.parametrize("claimed", [is_more, is_less, is_not_more])
def test_fewer_than_five_topics_decide_nothing(claimed):
    claim = decided(claimed("", np.array([1.0, 1.0, 1.0, 1.0, math.nan])))
    assert (claim.verdict, claim.why) == (OPEN, "4 topics are too few; a verdict needs 5.")
    assert (math.isnan(claim.p), claim.test) == (True, "")
    assert decided(claimed("", np.array([1.0]))).why == "One topic is too few; a verdict needs 5."
    assert decided(claimed("", np.array([math.nan]))).why == "No topic has this measure."


def test_few_topics_are_not_shown_to_be_equal():
    claim = decided(is_about_equal("", np.array([0.0, 0.1, -0.1, 0.0]), 5))
    assert (claim.verdict, claim.why, claim.test) == (OPEN, "4 topics are too few; a verdict needs 5.", "")


def test_five_topics_can_bear_out_one_claim():
    assert decided(is_more("", np.array([1.0, 2.0, 3.0, 4.0, 5.0]))).p_corrected == 1 / 32


def test_several_seeds_of_few_topics_are_judged_by_their_interval():
    claim = decided(is_more("", PairedSample(np.array([[1.0, 2.0, 3.0, 4.0]]))))
    assert (claim.verdict, claim.effect.over, math.isnan(claim.p)) == (YES, "seeds", True)
    assert claim.why.endswith("lies above 0.")
    assert decided(is_more("", PairedSample(np.array([[-1.0, 2.0, -3.0, 4.0]])))).verdict is OPEN
    # Three topics whose seeds are spread alike about 0: as means they are equal, which is not asked of so few.
    spread = PairedSample(np.array([[-1.0, 1.0, -2.0, 2.0]] * 3))
    assert decided(is_more("", spread, margin=0.5)).verdict is OPEN
    # Equality on average over the seeds of one topic says nothing.
    assert decided(is_about_equal("", PairedSample(np.array([[0.0, 0.1]])), 5)).verdict is OPEN


def test_what_was_not_tested_stands_as_it_is_and_corrects_nothing():
    told = Claim("weights in order", None, YES, "They are.")
    first, second = decided(told, is_more("", MORE))
    assert first is told
    assert second.p_corrected == 1 / 256


def test_a_margin_must_be_one():
    with pytest.raises(BadParameter, match="margin"):
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
