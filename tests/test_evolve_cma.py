import sys

import numpy as np
import pytest

from evolve_searches import OPTIMUM, nearness, new_search, run, step
from scenthound.errors import MissingExtra


def test_the_first_population_is_the_first_generation():
    search = new_search("cma")
    asked = run(search)
    assert [len(each) for each in asked] == [20] * 50
    assert search.generation == 50
    assert search.n_evaluated == search.summary().most_evaluations == 1000


def test_weights_stay_between_0_and_1():
    asked = run(new_search("cma:generations=20,sigma=0.9", seed=3))
    genes = np.array([genes for each in asked for genes in each])
    assert genes.min() >= 0
    assert genes.max() <= 1
    assert all(type(gene) is float for gene in asked[0][0])


def test_it_comes_near_to_a_known_optimum():
    search = new_search("cma", seed=1)
    run(search)
    assert search.history[0].best < 0.8
    assert search.best.fitness > 0.97
    assert nearness(search.weights_of(search.best.genes)) == search.best.fitness


def test_the_population_is_what_was_evaluated_last():
    search = new_search("cma:population=6", seed=1)
    for _ in range(3):
        asked = step(search)
        assert sorted(each.genes for each in search.population) == sorted(asked)
        assert search.population[0].fitness == max(each.fitness for each in search.population)


def test_a_winner_is_evaluated_first_and_is_where_the_search_begins():
    search = new_search("cma:population=40,sigma=0.01", seeds=[[2 * weight for weight in OPTIMUM], [1.0] * 9])
    winner, other, *drawn = search.ask()
    assert winner == pytest.approx(OPTIMUM)
    assert other == (1.0,) * 9
    # Around the winner, but not nearer to the edges than a tenth.
    assert np.mean(drawn, axis=0) == pytest.approx(np.clip(OPTIMUM, 0.1, 0.9), abs=0.01)
    assert len(drawn) == 38


def test_without_winners_the_search_begins_in_the_middle():
    drawn = new_search("cma:population=40,sigma=0.01").ask()
    assert np.mean(drawn, axis=0) == pytest.approx(np.full(9, 0.5), abs=0.01)


def test_where_all_are_equally_fit_it_ends_early():
    search = new_search("cma:generations=500")
    run(search, lambda genes: 0.25)
    assert search.generation < 500
    assert search.done
    assert search.best.fitness == 0.25


@pytest.mark.parametrize("n_weights", [1, 2, 39])
@pytest.mark.parametrize("population", [4, 5])
def test_it_runs_with_the_smallest_population_and_few_or_many_weights(n_weights, population):
    search = new_search(f"cma:population={population},generations=30", n_weights=n_weights)
    run(search, lambda genes: genes[0])
    assert search.best.fitness > search.history[0].mean


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(MissingExtra, match=r"The search cma needs an extra .* 'scenthound\[lab\]'"):
        new_search("cma")
    assert new_search("johnson2003").ask()
