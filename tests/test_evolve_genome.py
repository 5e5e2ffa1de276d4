import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.experiments.search.base import Beginning, bits_of, genes_of, nearest_genes, scaled, weights_of

GENES = st.lists(st.integers(0, 127), min_size=1, max_size=39).map(tuple)


def test_genes_are_written_into_bits_first_gene_first_highest_bit_first():
    # 5 = 0000101 and 127 = 1111111
    assert bits_of((5, 127)) == 0b0000101_1111111
    assert genes_of(0b0000101_1111111, 2) == (5, 127)
    assert genes_of(0b0000101_1111111, 3) == (0, 5, 127)


@given(GENES)
def test_bits_spell_the_genes_they_were_made_of(genes):
    assert genes_of(bits_of(genes), len(genes)) == genes


def test_weights_are_the_genes_as_they_are():
    assert weights_of((10, 0, 127)) == (10.0, 0.0, 127.0)
    assert weights_of((0.25, 0.0)) == (0.25, 0.0)


def test_a_rule_of_zeros_weighs_all_scores_alike():
    assert weights_of((0, 0, 0)) == (1.0, 1.0, 1.0)
    # Of two rules only the second needs repair.
    assert weights_of((3, 0, 0, 0), n_rules=2) == (3.0, 0.0, 1.0, 1.0)
    assert weights_of((3, 0, 0, 0), n_rules=1) == (3.0, 0.0, 0.0, 0.0)


@given(GENES, st.integers(1, 3))
def test_no_rule_ever_sums_to_zero(genes, n_rules):
    weights = weights_of(genes * n_rules, n_rules)
    assert all(sum(weights[start : start + len(genes)]) > 0 for start in range(0, len(weights), len(genes)))


def test_the_largest_weight_of_a_winner_becomes_127_and_the_others_the_nearest():
    # 0.1 / 0.4 x 127 = 31.75; 0.2 / 0.4 x 127 = 63.5, a half, which goes up.
    assert nearest_genes((0.1, 0.2, 0.4)) == (32, 64, 127)


def test_each_rule_of_a_winner_is_scaled_by_its_own_largest_weight():
    assert nearest_genes((0.5, 0.25, 0.1, 0.0), n_rules=2) == (127, 64, 127, 0)
    assert scaled((0.5, 0.25, 0.0, 0.0), 2, 1) == (1.0, 0.5, 0.0, 0.0)


@given(GENES.map(lambda genes: (*genes, 127)), st.floats(1e-300, 1e300))
def test_genes_come_back_from_their_weights_whatever_the_scale(genes, scale):
    assert nearest_genes([gene * (scale / 127) for gene in genes]) == genes


def test_winners_take_the_first_places_and_leave_the_others_as_they_were():
    plain, seeded = Beginning(2, 7), Beginning(2, 7, ((1.0, 0.5), (0.0, 3.0)))
    drawn = plain.first_population(5, plain.rng())
    assert seeded.first_population(5, seeded.rng()) == [(127, 64), (0, 127), *drawn[2:]]
    assert len(set(drawn)) == 5


def test_of_more_winners_than_places_the_first_are_taken():
    beginning = Beginning(1, 7, ((1.0,), (0.0,), (2.0,)))
    assert beginning.first_population(2, beginning.rng()) == [(127,), (0,)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 1), "A search for 0 weights has nothing to find: give at least 1"),
        ((9, 1, (), 2), "9 weights cannot be shared out to 2 rules"),
        ((9, 1, (), 0), "9 weights cannot be shared out to 0 rules"),
        ((2, 1, ((1.0, 1.0), (1.0,))), "Earlier winner 2 has 1 weights, but the search is for 2"),
        ((2, 1, ((1.0, -0.5),)), "Earlier winner 1 has a weight that is not a non-negative number"),
        ((2, 1, ((1.0, float("nan")),)), "Earlier winner 1 has a weight that is not a non-negative number"),
    ],
)
def test_what_no_search_can_begin_with_is_refused_in_one_line(arguments, says):
    with pytest.raises(InvalidParameter, match=says) as caught:
        Beginning(*arguments)
    assert "\n" not in str(caught.value)
