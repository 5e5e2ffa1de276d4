"""The search algorithms: genetic operators, the search of johnson2003, CHC and CMA-ES."""

import sys
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve_searches import N_WEIGHTS, OPTIMUM, nearness, new_search, run, share_of_ones, step
from scenthound.errors import MissingExtra, PluginError
from scenthound.experiments.search.base import best_first, bits_of, genes_of
from scenthound.experiments.search.methods import Wheel, distance, flipped, half_uniform, one_point

N_BITS = 63
BITS = st.integers(0, 2**N_BITS - 1)


class FixedRandom(Random):
    """Returns the numbers it was constructed with."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(0)
        self._numbers = iter(numbers)

    def random(self) -> float:
        return next(self._numbers)


# Operators


@pytest.mark.parametrize(
    ("number", "drawn"),
    # Shares of 1, 0, 2 and 1 of 4 end at 0.25, 0.25, 0.75 and 1. An individual without a share is never drawn.
    [(0.0, 0), (0.249, 0), (0.25, 2), (0.5, 2), (0.749, 2), (0.75, 3), (0.999, 3)],
)
def test_the_wheel_draws_the_individual_whose_share_contains_the_number(number, drawn):
    assert Wheel([1.0, 0.0, 2.0, 1.0]).spin(FixedRandom(number)) == drawn


def test_a_number_rounded_to_the_total_still_draws_an_individual_with_a_share():
    # 0.9 x the smallest float rounds to that float, which is the total.
    assert Wheel([5e-324, 0.0]).spin(FixedRandom(0.9)) == 0


def test_the_wheel_draws_uniformly_if_all_fitness_values_are_zero():
    wheel, rng = Wheel([0.0, 0.0, 0.0]), Random(1)
    drawn = [wheel.spin(rng) for _ in range(3000)]
    assert all(900 < drawn.count(index) < 1100 for index in range(3))


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20).filter(any), st.floats(0, 1, exclude_max=True))
def test_the_wheel_never_draws_an_individual_without_fitness(fitnesses, number):
    assert fitnesses[Wheel(fitnesses).spin(FixedRandom(number))] > 0


def test_shares_of_the_wheel_are_proportional_to_fitness():
    wheel, rng = Wheel([1.0, 2.0, 4.0]), Random(5)
    drawn = [wheel.spin(rng) for _ in range(7000)]
    counts = [drawn.count(index) for index in range(3)]
    assert all(1.7 < more / less < 2.3 for less, more in pairwise(counts))


def test_one_point_crossover_joins_the_head_of_one_parent_and_the_tail_of_the_other():
    # cut at 3 of 8:        111|00000 and 000|11110
    assert one_point(0b111_00000, 0b000_11110, 3, 8) == (0b111_11110, 0b000_00000)


def test_a_cut_at_either_end_returns_the_parents():
    assert one_point(0b1100, 0b0101, 4, 4) == (0b1100, 0b0101)
    assert one_point(0b1100, 0b0101, 0, 4) == (0b0101, 0b1100)


@given(BITS, BITS, st.integers(0, N_BITS))
def test_one_point_crossover_preserves_all_bits(first, second, cut):
    one, other = one_point(first, second, cut, N_BITS)
    tail = N_BITS - cut
    assert (one >> tail, other >> tail) == (first >> tail, second >> tail)
    assert one & other == first & second
    assert one | other == first | second


def test_bits_are_counted_from_the_left():
    assert flipped(0b0000, [0], 4) == 0b1000
    assert flipped(0b1111, [1, 3], 4) == 0b1010
    assert flipped(0b1111, [], 4) == 0b1111


def test_distance_counts_the_differing_bits():
    assert distance(0b1100, 0b0101) == 2
    assert distance(5, 5) == 0


@given(BITS, BITS, st.integers(0, 1000))
def test_half_uniform_crossover_exchanges_half_of_the_differing_bits(first, second, seed):
    one, other = half_uniform(first, second, N_BITS, Random(seed))
    apart = distance(first, second)
    assert distance(first, one) == distance(second, other) == apart // 2
    assert distance(one, other) == apart
    assert one & other == first & second
    assert one | other == first | second


def test_half_uniform_crossover_draws_the_half_at_random():
    rng = Random(3)
    children = {half_uniform(0b0000, 0b1111, 4, rng)[0] for _ in range(200)}
    assert children == {bits for bits in range(16) if bits.bit_count() == 2}


def test_half_uniform_crossover_rounds_an_odd_half_down():
    one, other = half_uniform(0b000, 0b111, 3, Random(1))
    assert (one.bit_count(), other.bit_count()) == (1, 2)


# johnson2003


def all_bits(requested):
    return [bits_of(genes) for genes in requested]


def test_the_search_of_the_study_takes_2550_evaluations():
    search = new_search("johnson2003")
    requested = run(search, share_of_ones)
    assert [len(each) for each in requested] == [50] * 51
    assert search.n_evaluated == search.method.most_evaluations == 2550
    assert search.generation == 50
    assert search.ask() == []


def test_individuals_have_seven_bits_for_each_weight():
    requested = new_search("johnson2003", seed=4).ask()
    assert all(len(genes) == N_WEIGHTS for genes in requested)
    # Of 50 x 63 random bits, about half are 1.
    ones = sum(bits.bit_count() for bits in all_bits(requested))
    assert 0.45 < ones / (50 * 63) < 0.55
    assert {min(map(min, requested)), max(map(max, requested))} <= set(range(128))


def test_without_crossover_and_mutation_children_are_copies_of_fit_parents():
    search = new_search("johnson2003:population=6,crossover=0,mutation=0")
    first = search.ask()
    search.tell([0.0, 0.3, 0.0, 0.0, 0.7, 0.0])
    assert len(search.ask()) == 6
    assert set(search.ask()) <= {first[1], first[4]}


def test_if_no_individual_is_fit_all_may_have_children():
    search = new_search("johnson2003:population=6,crossover=0,mutation=0,generations=40")
    first = search.ask()
    search.tell([0.0] * 6)
    parents = set(search.ask())
    for _ in range(20):
        search.tell([0.0] * 6)
        parents |= set(search.ask())
    assert parents == set(first)


def test_each_pair_of_children_comes_from_one_pair_of_parents_and_one_cut():
    search = new_search(
        "johnson2003:population=2,crossover=1,mutation=0,generations=300", n_weights=1, seeds=[[1], [0]]
    )
    parents, born = {0b1111111, 0b0000000}, set()
    search.tell([0.5, 0.5])
    while not search.done:
        (one,), (other,) = search.ask()
        # One parent may have been drawn twice; two of them have children that differ in every bit.
        assert one == other in parents or one ^ other == 0b1111111
        born.add(one)
        search.tell([0.5, 0.5])  # equal fitness: the parents stay
    # Ones before zeros or zeros before ones: six cuts inside, and the parents again from those at the ends.
    assert born == {127 >> cut for cut in range(8)} | {127 ^ 127 >> cut for cut in range(8)}
    assert len(born) == 14


def test_a_mutation_flips_one_bit_of_a_child():
    search = new_search("johnson2003:crossover=0,mutation=1,generations=30", seed=2)
    flips, ones = set(), [1.0] * 50
    search.tell(ones)
    while not search.done:
        parents = all_bits(each.genes for each in search.population)
        for child in all_bits(search.ask()):
            nearest = min(parents, key=lambda parent: distance(child, parent))
            flips.add(child ^ nearest)
        search.tell(ones)  # equal fitness: the parents stay
    assert flips == {1 << position for position in range(63)}


def test_about_one_child_in_a_hundred_is_mutated():
    search = new_search("johnson2003:crossover=0,generations=100", seed=6)
    n_mutated = n_children = 0
    search.tell([1.0] * 50)
    while not search.done:
        parents = {each.genes for each in search.population}
        n_mutated += sum(child not in parents for child in search.ask())
        n_children += 50
        search.tell([1.0] * 50)  # equal fitness: the parents stay
    assert n_children == 5000
    assert 25 < n_mutated < 80


def test_the_last_pair_of_an_odd_population_has_one_child():
    search = new_search("johnson2003:population=5,crossover=0,mutation=0")
    search.tell([0.2] * 5)
    assert len(search.ask()) == 5


def test_the_best_of_parents_and_children_survive_and_earlier_ones_win_ties():
    search = new_search("johnson2003:population=4")
    parents = search.ask()
    search.tell([0.1, 0.4, 0.2, 0.3])
    children = search.ask()
    search.tell([0.4, 0.0, 0.3, 0.5])
    # 0.5 child 4; 0.4 parent 2 before child 1; then one of two with 0.3: parent 4, not child 3.
    assert [each.genes for each in search.population] == [children[3], parents[1], children[0], parents[3]]
    assert [each.fitness for each in search.population] == [0.5, 0.4, 0.4, 0.3]


def test_parents_keep_their_fitness_and_are_not_requested_again():
    search = new_search("johnson2003:population=10,generations=8")
    known = []
    rng = Random(9)
    while not search.done:
        fitnesses = [rng.random() for _ in search.ask()]
        known += [*zip(search.ask(), fitnesses, strict=True)]
        search.tell(fitnesses)
        assert {(each.genes, each.fitness) for each in search.population} <= set(known)
        assert search.population == best_first(search.population)


def test_johnson2003_maximises_the_number_of_ones():
    search = new_search("johnson2003", seed=1)
    run(search, share_of_ones)
    assert search.history[0].best < 0.75
    assert search.best.fitness > 0.95


def test_a_negative_fitness_is_rejected():
    search = new_search("johnson2003:population=2")
    with pytest.raises(PluginError, match=r"-0\.5"):
        search.tell([0.5, -0.5])
    search.tell([0.5, 0.5])


# CHC. Four weights are 28 bits: the threshold starts at 7, and 35 % of the bits are 10.

FOUR = {"n_weights": 4}


def weights(bits: int) -> tuple[int, ...]:
    """Four genes that include 127, so that they are their own nearest genes."""
    return genes_of(bits, 4)


ALL_ONES = weights(2**28 - 1)
#: 14 of the bits are 0: half the distance to all ones is 7.
FOURTEEN_AWAY = weights(0b1111111_0000000_0000000_1111111)
#: And with one more, 7.5.
FIFTEEN_AWAY = weights(0b1111111_0000000_0000000_1111110)


def test_a_pair_with_a_distance_above_the_threshold_has_two_children():
    search = new_search("chc:population=2", seeds=[ALL_ONES, FIFTEEN_AWAY], **FOUR)
    search.tell([0.5, 0.4])
    one, other = map(bits_of, search.ask())
    ones, parent = bits_of(ALL_ONES), bits_of(FIFTEEN_AWAY)
    # Seven of the fifteen bits were exchanged; the 13 in which the parents agree stay.
    assert sorted([distance(one, ones), distance(other, ones)]) == [7, 8]
    assert one & other == parent
    assert one | other == ones
    assert search.generation == 0


def test_incest_is_prevented_until_the_threshold_has_decreased():
    search = new_search("chc:population=2", seeds=[ALL_ONES, FOURTEEN_AWAY], **FOUR)
    search.tell([0.5, 0.4])
    # 14 / 2 = 7 is not more than 7: a generation without children lowers the threshold to 6, then they mate.
    assert search.generation == 1
    assert len(search.ask()) == 2


def test_the_threshold_decreases_if_no_child_survives_and_ties_do_not_count():
    search = new_search("chc:population=2", seeds=[ALL_ONES, FIFTEEN_AWAY], **FOUR)
    search.tell([0.5, 0.4])
    assert search._threshold == 7
    search.tell([0.4, 0.1])
    assert search._threshold == 6
    assert [each.genes for each in search.population] == [ALL_ONES, FIFTEEN_AWAY]
    child = search.ask()[0]
    search.tell([0.41, 0.1])
    assert [each.genes for each in search.population] == [ALL_ONES, child]


def test_the_threshold_stays_if_a_child_survives():
    search = new_search("chc", seed=2)
    search.tell([0.5] * 50)
    threshold = search._threshold
    assert threshold == 63 / 4
    search.tell([0.6, *[0.1] * (len(search.ask()) - 1)])
    assert search._threshold == threshold


def test_a_converged_population_is_replaced_by_diverse_copies_of_its_best():
    search = new_search("chc:population=6", seeds=[ALL_ONES] * 6, **FOUR)
    search.tell([0.5] * 6)
    # All are equal, so none mate: the threshold decreases from 7 to -1 in eight generations, and the search restarts.
    assert search.generation == 8
    assert len(search.ask()) == 5
    assert [distance(bits_of(genes), bits_of(ALL_ONES)) for genes in search.ask()] == [10] * 5
    assert [each.genes for each in search.population] == [ALL_ONES]
    assert search._threshold == pytest.approx(0.35 * 0.65 * 28)


def test_the_best_survives_a_restart():
    search = new_search("chc:population=6", seeds=[ALL_ONES] * 6, **FOUR)
    search.tell([0.5] * 6)
    copies = search.ask()
    search.tell([0.1, 0.2, 0.3, 0.4, 0.6])
    assert [each.genes for each in search.population] == [copies[4], ALL_ONES, *copies[3::-1]]
    assert search.generation >= 9


def test_each_individual_mates_at_most_once_in_a_generation_with_a_random_other():
    search = new_search("chc", seed=3)
    search.tell([0.5] * 50)
    parents = [bits_of(each.genes) for each in search.population]
    children = [bits_of(genes) for genes in search.ask()]
    mates = []
    for one, other in zip(children[::2], children[1::2], strict=True):
        pairs = [{i, j} for j in range(50) for i in range(j) if same_bits(parents[i], parents[j], one, other)]
        assert len(pairs) == 1
        mates += pairs[0]
        assert distance(one, other) / 2 > 63 / 4
    assert len(set(mates)) == len(mates) > 10
    # Neighbours in the order of fitness are no more likely to mate than others.
    assert any(abs(first - second) > 10 for first, second in zip(mates[::2], mates[1::2], strict=True))


def same_bits(first: int, second: int, one: int, other: int) -> bool:
    """Whether two pairs have the same bits at every position, in either individual of the pair."""
    return (first & second, first | second) == (one & other, one | other)


@pytest.mark.parametrize(("text", "n_evaluated"), [("chc", 2550), ("chc:population=10,evaluations=47", 47)])
def test_chc_ends_at_a_number_of_evaluations(text, n_evaluated):
    search = new_search(text)
    run(search, share_of_ones)
    assert search.n_evaluated == search.summary().most_evaluations == n_evaluated
    assert search.generation < search.method.generations


def test_chc_ends_at_a_number_of_generations_even_without_children():
    search = new_search("chc:population=6,generations=5,evaluations=none", seeds=[ALL_ONES] * 6, **FOUR)
    search.tell([0.5] * 6)
    assert (search.done, search.generation, search.n_evaluated) == (True, 5, 6)
    longer = new_search("chc:population=10,generations=40,evaluations=none")
    run(longer, share_of_ones)
    assert longer.generation == 40
    assert longer.n_evaluated <= longer.summary().most_evaluations == 410


def test_chc_maximises_the_number_of_ones_with_restarts():
    search = new_search("chc:population=20,generations=400,evaluations=none", seed=1)
    requested = run(search, share_of_ones)
    assert search.best.fitness == 1.0
    assert search.best.genes == (127,) * N_WEIGHTS
    # The copies of a restart are all but one of a population.
    assert [len(each) for each in requested].count(19) > 1


# CMA-ES


def test_the_first_population_is_the_first_generation():
    search = new_search("cma")
    requested = run(search)
    assert [len(each) for each in requested] == [20] * 50
    assert search.generation == 50
    assert search.n_evaluated == search.summary().most_evaluations == 1000


def test_weights_stay_between_0_and_1():
    requested = run(new_search("cma:generations=20,sigma=0.9", seed=3))
    genes = np.array([genes for each in requested for genes in each])
    assert genes.min() >= 0
    assert genes.max() <= 1
    assert all(type(gene) is float for gene in requested[0][0])


def test_cma_approaches_a_known_optimum():
    search = new_search("cma", seed=1)
    run(search)
    assert search.history[0].best < 0.8
    assert search.best.fitness > 0.97
    assert nearness(search.weights_of(search.best.genes)) == search.best.fitness


def test_the_population_is_the_last_generation():
    search = new_search("cma:population=6", seed=1)
    for _ in range(3):
        requested = step(search)
        assert sorted(each.genes for each in search.population) == sorted(requested)
        assert search.population[0].fitness == max(each.fitness for each in search.population)


def test_the_distribution_starts_at_the_first_winner():
    search = new_search("cma:population=40,sigma=0.01", seeds=[[2 * weight for weight in OPTIMUM], [1.0] * 9])
    winner, other, *drawn = search.ask()
    assert winner == pytest.approx(OPTIMUM)
    assert other == (1.0,) * 9
    # Around the winner, but not nearer to the edges than a tenth.
    assert np.mean(drawn, axis=0) == pytest.approx(np.clip(OPTIMUM, 0.1, 0.9), abs=0.01)
    assert len(drawn) == 38


def test_without_winners_the_distribution_starts_in_the_middle():
    drawn = new_search("cma:population=40,sigma=0.01").ask()
    assert np.mean(drawn, axis=0) == pytest.approx(np.full(9, 0.5), abs=0.01)


def test_cma_ends_early_if_all_individuals_are_equally_fit():
    search = new_search("cma:generations=500")
    run(search, lambda genes: 0.25)
    assert search.generation < 500
    assert search.done
    assert search.best.fitness == 0.25


@pytest.mark.parametrize("n_weights", [1, 2, 39])
@pytest.mark.parametrize("population", [4, 5])
def test_cma_runs_with_the_smallest_population_and_few_or_many_weights(n_weights, population):
    search = new_search(f"cma:population={population},generations=30", n_weights=n_weights)
    run(search, lambda genes: genes[0])
    assert search.best.fitness > search.history[0].mean


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(MissingExtra, match=r"scenthound\[lab\]"):
        new_search("cma")
    assert new_search("johnson2003").ask()
