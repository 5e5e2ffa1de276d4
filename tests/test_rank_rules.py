"""Rank rules: rows of weights that sum to 1, where each applies, and the formula that a person reads."""

from math import fsum, inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter, UnknownName
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules, formula_of, normalised, weights_of
from scenthound.strategies.rank_rules import SCORE_NAMES as SAME_NAMES

positive = st.one_of(st.just(0.0), st.floats(0, 1e6), st.integers(0, 127).map(float))
rows = st.lists(positive, min_size=13, max_size=13).filter(any).map(tuple)


def only(**weights):
    return tuple(weights.get(name, 0.0) for name in SCORE_NAMES)


PUBLISHED = (10, 10, 76, 121, 97, 36, 31, 2, 4, 0, 0, 0, 0)


def test_there_are_thirteen_scores_in_a_fixed_order():
    study = ["hub", "authority", "comm_in", "comm_out", *(f"parent_{k}" for k in range(1, 6))]
    assert list(SCORE_NAMES) == [*study, "anchor", "context", "host_success", "cash"]
    assert SAME_NAMES is SCORE_NAMES


def test_a_row_is_divided_by_its_sum():
    (row,) = RankRules((PUBLISHED,)).weights
    assert row == tuple(weight / 387 for weight in PUBLISHED)


@given(rows)
def test_rules_made_of_the_weights_of_rules_are_the_same_to_the_last_bit(row):
    rules = RankRules((row,))
    assert fsum(rules.weights[0]) == pytest.approx(1, abs=1e-12)
    assert RankRules(rules.weights) == rules


def test_the_sum_goes_from_left_to_right():
    # 2**53 + 1 is 2**53, twice; but 1 + 1 + 2**53 is 2**53 + 2.
    large = 2.0**53
    assert normalised(only(hub=large, authority=1, comm_in=1))[0] == 1.0
    assert normalised(only(hub=1, authority=1, comm_in=large))[2] == large / (large + 2)


def test_a_single_rule_is_split_by_nothing():
    assert RankRules((PUBLISHED,), "distance") == RankRules((PUBLISHED,))


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (lambda: RankRules(()), r"\b0 .*\b0 bounds"),
        (lambda: RankRules((PUBLISHED[:9],)), r"\b9 .*\b13\b"),
        (lambda: RankRules((only(),)), "hub, .*, cash .* 0"),
        (lambda: RankRules((only(hub=-1, cash=2),)), r"\bhub .* -1\b"),
        (lambda: RankRules((only(cash=nan, hub=1),)), r"\bcash .* nan\b"),
        (lambda: RankRules((only(cash=inf),)), r"\bcash .* inf\b"),
        (lambda: RankRules((only(hub=1e308, cash=1e308),)), "hub, .*, cash "),
        (lambda: RankRules((PUBLISHED,) * 2, "distance"), r"\b2 .*\b0 bounds"),
        (lambda: RankRules((PUBLISHED,), "distance", (1,)), r"\b1 .*\b1 bounds"),
        (lambda: RankRules((PUBLISHED,) * 2, "nothing", (1,)), r"\b2 .*\bdistance .*\bphase\b"),
        (lambda: RankRules((PUBLISHED,) * 2, "depth", (1,)), "'depth'"),
        (lambda: RankRules((PUBLISHED,) * 3, "distance", (2, 2)), " 2, 2; .* 0"),
        (lambda: RankRules((PUBLISHED,) * 2, "distance", (-1,)), " -1; .* 0"),
        (lambda: RankRules((PUBLISHED,) * 2, "phase", (0,)), " 0; .* 1"),
    ],
)
def test_rules_that_make_no_sense_are_refused(rules, says):
    with pytest.raises(InvalidParameter, match=says) as refused:
        rules()
    assert "\n" not in str(refused.value)


def test_a_bound_of_distance_may_be_the_seeds_themselves():
    assert RankRules((PUBLISHED,) * 2, "distance", (0,)).bounds == (0,)


def test_rules_know_what_they_weigh():
    rules = RankRules((only(hub=1), only(cash=1)), "phase", (10,))
    assert [name for name in SCORE_NAMES if rules.weighs(name)] == ["hub", "cash"]


def test_a_formula_has_the_largest_weight_first_and_none_of_zero():
    (row,) = RankRules((PUBLISHED,)).weights
    # Equal weights stand in the order of the scores: HUB before AUTHORITY.
    assert formula_of(row) == (
        "0.3127*COMM_OUT + 0.2506*PARENT_1 + 0.1964*COMM_IN + 0.0930*PARENT_2 + 0.0801*PARENT_3 + 0.0258*HUB + "
        "0.0258*AUTHORITY + 0.0103*PARENT_5 + 0.0052*PARENT_4"
    )


def test_a_weight_too_small_for_four_decimals_is_still_there():
    assert formula_of(only(hub=1.0, cash=0.00002, anchor=0.00005)) == "1.0000*HUB + 0.0001*ANCHOR + 2e-05*CASH"


@given(rows.map(normalised))
def test_a_formula_is_read_back_but_for_rounding(row):
    for read, weight in zip(weights_of(formula_of(row)), row, strict=True):
        assert read == pytest.approx(weight, abs=5.001e-5)
        assert (read > 0) == (weight > 0)


@pytest.mark.parametrize(
    ("formula", "weights"),
    [
        ("COMM_OUT", only(comm_out=1)),
        ("3*comm_out+Hub", only(comm_out=3, hub=1)),
        (" .5 * HOST_SUCCESS +  1. * CASH ", only(host_success=0.5, cash=1)),
        ("1e+2*PARENT_1 + 2E-1*PARENT_5+0*HUB", only(parent_1=100, parent_5=0.2)),
    ],
)
def test_a_formula_is_read_as_a_person_writes_it(formula, weights):
    assert weights_of(formula) == weights


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("", "^'' "),
        ("0.5*HUB + ", "^'' "),
        ("0.5*HUB - 0.5*CASH", r"^'0\.5\*HUB - 0\.5\*CASH' "),
        ("HUB*0.5", r"^'HUB\*0\.5' "),
        ("HUB + 2*hub", r"\bHUB\b"),
        ("٣*HUB", r"^'٣\*HUB' "),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused(formula, says):
    with pytest.raises(InvalidParameter, match=says):
        weights_of(formula)


def test_an_unknown_score_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match=r"'COM_OUT'.*'COMM_OUT'"):
        weights_of("0.5*HUB + 0.5*COM_OUT")
