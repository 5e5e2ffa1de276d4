"""What holds for every search, whatever its method."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve_searches import N_WEIGHTS, OPTIMUM, SHORT, nearness, new_search, run, step
from scenthound.errors import PluginError

every_search = pytest.mark.parametrize("text", SHORT)


@every_search
def test_the_same_seed_asks_the_same_and_another_seed_does_not(text):
    asked = run(new_search(text, seed=5))
    assert asked == run(new_search(text, seed=5))
    assert asked[0] != run(new_search(text, seed=6))[0]


@every_search
def test_ask_answers_the_same_until_it_is_told(text):
    search = new_search(text)
    asked = search.ask()
    search.ask().clear()
    assert search.ask() == asked
    step(search)
    assert search.ask() != asked


@every_search
def test_a_new_search_that_is_told_the_same_fitnesses_goes_on_as_the_old_one(text):
    arguments = {"n_weights": 18, "n_rules": 2, "seeds": [OPTIMUM * 2]}
    whole = new_search(text, **arguments)
    told = []
    while not whole.done:
        told.append([sum(genes) for genes in whole.ask()])
        whole.tell(told[-1])
    for place in range(len(told)):
        taken_up = new_search(text, **arguments)
        for fitnesses in told[:place]:
            taken_up.tell(fitnesses)
        assert taken_up.history == whole.history[:place]
        run(taken_up, sum)
        assert (taken_up.best, taken_up.population) == (whole.best, whole.population)
        assert taken_up.history == whole.history


@every_search
@settings(max_examples=25)
@given(data=st.data())
def test_the_best_is_never_lost_and_the_population_is_in_order(text, data):
    search = new_search(text, n_weights=2)
    best_told = -1.0
    while not search.done:
        n = len(search.ask())
        told = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=n, max_size=n))
        better = max(told) > best_told
        earliest = search.ask()[told.index(max(told))] if better else search.best.genes
        search.tell(told)
        assert search.best.genes == earliest
        best_told = max(best_told, *told)
        fitnesses = [each.fitness for each in search.population]
        assert search.best.fitness == best_told
        assert fitnesses == sorted(fitnesses, reverse=True)
        assert search.n_evaluated <= search.method.most_evaluations
    assert search.generation <= search.method.generations


@pytest.mark.parametrize("text", ["johnson2003", "chc", "cma"])
def test_every_search_comes_nearer_to_a_known_optimum(text):
    search = new_search(text)
    run(search)
    assert search.history[0].best < 0.8
    assert search.best.fitness > 0.9


@every_search
def test_winners_of_earlier_searches_are_evaluated_first(text):
    search = new_search(text, seeds=[np.array(OPTIMUM), [1.0, *[0.0] * 8]])
    first, second = search.ask()[:2]
    assert nearness(search.weights_of(first)) > 0.99
    assert search.weights_of(second)[0] > 0
    assert not any(search.weights_of(second)[1:])
    assert len(search.ask()) == len(new_search(text).ask())
    assert len(new_search(text, seeds=[OPTIMUM] * 30).ask()) == len(search.ask())


@every_search
def test_numbers_of_numpy_begin_a_search_as_those_of_python_do(text):
    search = new_search(text, seed=np.int64(3), seeds=[np.array(OPTIMUM)])
    assert search.ask() == new_search(text, seed=3, seeds=[OPTIMUM]).ask()


def test_the_summary_tells_generation_best_mean_and_spread():
    search = new_search("johnson2003:population=4,generations=3")
    before = search.summary()
    assert (before.generation, before.n_generations, before.n_evaluated, before.most_evaluations) == (0, 3, 0, 16)
    assert isnan(before.best)
    assert isnan(before.mean)
    assert isnan(before.spread)
    search.tell([1.0, 0.0, 1.0, 0.0])
    assert (search.summary().best, search.summary().mean, search.summary().spread) == (1.0, 0.5, 0.5)
    assert (search.summary().generation, search.summary().n_evaluated) == (0, 4)
    search.tell([0.5, 0.5, 3.0, 0.0])
    # 3, 1, 1 and 0.5 stay. Their mean is 1.375; squares of what they are off: 2.640625, 2 x 0.140625, 0.765625.
    assert search.summary().mean == 1.375
    assert search.summary().spread == pytest.approx((3.6875 / 4) ** 0.5)
    assert (search.summary().generation, search.summary().best) == (1, 3.0)
    assert search.history[1] == search.summary()


@every_search
def test_what_cannot_be_a_fitness_is_refused_and_changes_nothing(text):
    search = new_search(text)
    asked = search.ask()
    for told in ([], [0.5] * (len(asked) - 1), [0.5] * (len(asked) + 1)):
        with pytest.raises(PluginError, match=rf"{len(told)} fitness values were given for {len(asked)} individuals"):
            search.tell(told)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(PluginError, match="must be finite numbers"):
            search.tell([*[0.5] * (len(asked) - 1), wrong])
    assert search.ask() == asked
    assert (search.best, search.n_evaluated) == (None, 0)


@every_search
def test_a_search_that_is_done_asks_for_nothing_and_is_told_nothing(text):
    search = new_search(text)
    run(search)
    assert search.ask() == []
    with pytest.raises(PluginError, match="for 0 individuals"):
        search.tell([])


def test_weights_are_those_of_the_genes_with_rules_of_zeros_repaired():
    search = new_search("johnson2003", n_weights=2 * N_WEIGHTS, n_rules=2)
    assert search.weights_of((5,) * 9 + (0,) * 9) == (5.0,) * 9 + (1.0,) * 9
