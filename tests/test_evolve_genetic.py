from random import Random

import pytest

from evolve_searches import N_WEIGHTS, new_search, run, share_of_ones
from scenthound.errors import PluginError
from scenthound.experiments.search.base import best_first, bits_of
from scenthound.experiments.search.genetic import distance


def all_bits(asked):
    return [bits_of(genes) for genes in asked]


def test_the_search_of_the_study_takes_2550_evaluations():
    search = new_search("johnson2003")
    asked = run(search, share_of_ones)
    assert [len(each) for each in asked] == [50] * 51
    assert search.n_evaluated == search.method.most_evaluations == 2550
    assert search.generation == 50
    assert search.ask() == []


def test_individuals_have_seven_bits_for_each_weight():
    asked = new_search("johnson2003", seed=4).ask()
    assert all(len(genes) == N_WEIGHTS for genes in asked)
    # 50 x 63 coins: every place shows both sides, and about as often as it should.
    ones = sum(bits.bit_count() for bits in all_bits(asked))
    assert 0.45 < ones / (50 * 63) < 0.55
    assert {min(map(min, asked)), max(map(max, asked))} <= set(range(128))


def test_without_crossover_and_mutation_children_are_copies_of_the_fit():
    search = new_search("johnson2003:population=6,crossover=0,mutation=0")
    first = search.ask()
    search.tell([0.0, 0.3, 0.0, 0.0, 0.7, 0.0])
    assert len(search.ask()) == 6
    assert set(search.ask()) <= {first[1], first[4]}


def test_where_nobody_is_fit_everybody_may_have_children():
    search = new_search("johnson2003:population=6,crossover=0,mutation=0,generations=40")
    first = search.ask()
    search.tell([0.0] * 6)
    parents = set(search.ask())
    for _ in range(20):
        search.tell([0.0] * 6)
        parents |= set(search.ask())
    assert parents == set(first)


def test_a_pair_of_children_is_cut_from_one_pair_of_parents_at_one_place():
    search = new_search(
        "johnson2003:population=2,crossover=1,mutation=0,generations=300", n_weights=1, seeds=[[1], [0]]
    )
    parents, born = {0b1111111, 0b0000000}, set()
    search.tell([0.5, 0.5])
    while not search.done:
        (one,), (other,) = search.ask()
        # One parent may have been drawn twice; two of them give children that differ in every bit.
        assert one == other in parents or one ^ other == 0b1111111
        born.add(one)
        search.tell([0.5, 0.5])  # equal fitness: the parents stay
    # Ones before zeros or zeros before ones: six cuts within, and the parents again from those at the ends.
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
    assert flips == {1 << place for place in range(63)}


def test_one_child_in_a_hundred_is_mutated():
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


def test_of_an_odd_population_the_last_pair_gives_one_child():
    search = new_search("johnson2003:population=5,crossover=0,mutation=0")
    search.tell([0.2] * 5)
    assert len(search.ask()) == 5


def test_parents_and_children_are_cut_to_the_fittest_and_the_earlier_stay():
    search = new_search("johnson2003:population=4")
    parents = search.ask()
    search.tell([0.1, 0.4, 0.2, 0.3])
    children = search.ask()
    search.tell([0.4, 0.0, 0.3, 0.5])
    # 0.5 child 4; 0.4 parent 2 before child 1; then 0.3, of which there is one place: parent 4, not child 3.
    assert [each.genes for each in search.population] == [children[3], parents[1], children[0], parents[3]]
    assert [each.fitness for each in search.population] == [0.5, 0.4, 0.4, 0.3]


def test_parents_keep_their_fitness_and_are_not_asked_for_again():
    search = new_search("johnson2003:population=10,generations=8")
    told = []
    rng = Random(9)
    while not search.done:
        fitnesses = [rng.random() for _ in search.ask()]
        told += [*zip(search.ask(), fitnesses, strict=True)]
        search.tell(fitnesses)
        assert {(each.genes, each.fitness) for each in search.population} <= set(told)
        assert list(search.population) == best_first(search.population)


def test_bits_are_driven_to_ones():
    search = new_search("johnson2003", seed=1)
    run(search, share_of_ones)
    assert search.history[0].best < 0.75
    assert search.best.fitness > 0.95


def test_a_negative_fitness_has_no_share_of_the_wheel():
    search = new_search("johnson2003:population=2")
    with pytest.raises(PluginError, match=r"a fitness of -0\.5 cannot be used for roulette selection; give 0 or more"):
        search.tell([0.5, -0.5])
    search.tell([0.5, 0.5])
