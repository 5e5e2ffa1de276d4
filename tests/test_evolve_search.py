"""What holds for every search, whatever its method."""

import json
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolve_searches import N_WEIGHTS, OPTIMUM, SHORT, nearness, new_search, run, step
from scenthound.errors import BadInput, BrokenContract

every_search = pytest.mark.parametrize("text", SHORT)


def through_json(state):
    return json.loads(json.dumps(state))


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
def test_a_saved_search_goes_on_as_if_it_had_never_stopped_wherever_it_was_saved(text):
    whole = new_search(text)
    saved = [through_json(whole.state())]
    asked = []
    while not whole.done:
        asked.append(step(whole))
        saved.append(through_json(whole.state()))
    for place, state in enumerate(saved):
        taken_up = new_search(text)
        taken_up.restore(state)
        assert taken_up.history == whole.history[:place]
        assert run(taken_up) == asked[place:]
        assert (taken_up.best, taken_up.population) == (whole.best, whole.population)
        assert taken_up.history == whole.history
        assert taken_up.state() == whole.state()


@every_search
def test_a_search_that_was_under_way_can_take_up_a_saved_one(text):
    search, other = new_search(text), new_search(text)
    step(search)
    state = through_json(search.state())
    other.tell([0.1] * len(other.ask()))
    other.restore(state)
    assert run(other) == run(search)


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
def test_a_saved_search_with_winners_and_rules_survives_too(text):
    arguments = {"n_weights": 18, "n_rules": 2, "seeds": [np.array(OPTIMUM * 2)], "seed": np.int64(3)}
    search, other = new_search(text, **arguments), new_search(text, **arguments)
    search.tell(range(len(search.ask())))
    other.restore(through_json(search.state()))
    assert other.ask() == search.ask()
    assert len(search.weights_of(search.ask()[0])) == 18


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
        with pytest.raises(BrokenContract, match=rf"{len(told)} fitnesses were told, but {len(asked)} individuals"):
            search.tell(told)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(BrokenContract, match="no finite number cannot be compared"):
            search.tell([*[0.5] * (len(asked) - 1), wrong])
    assert search.ask() == asked
    assert (search.best, search.n_evaluated) == (None, 0)


@every_search
def test_a_search_that_is_done_asks_for_nothing_and_is_told_nothing(text):
    search = new_search(text)
    run(search)
    assert search.ask() == []
    with pytest.raises(BrokenContract, match="0 individuals asked for"):
        search.tell([])


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (
            new_search("johnson2003:population=4", seed=2),
            "has seed=1, this one seed=2: give it the same, or begin anew",
        ),
        (
            new_search("johnson2003:population=6"),
            "has method=johnson2003:population=4, this one method=johnson2003:pop",
        ),
        (new_search("johnson2003:population=4", n_weights=8), "has n_weights=9, this one n_weights=8"),
        (new_search("johnson2003:population=4", n_rules=3), "has n_rules=1, this one n_rules=3"),
        (new_search("johnson2003:population=4", seeds=[OPTIMUM]), r"has winners=\[\], this one winners=\[\[0.1"),
    ],
)
def test_a_saved_search_of_another_kind_is_refused_with_the_difference(other, says):
    state = through_json(new_search("johnson2003:population=4").state())
    asked = other.ask()
    with pytest.raises(BadInput, match=says):
        other.restore(state)
    assert other.ask() == asked


@every_search
def test_a_damaged_saved_search_is_refused_in_one_line(text):
    search = new_search(text)
    step(search)
    state = through_json(search.state())
    other_genes = [[gene / 2 + 0.1 for gene in genes] for genes in state["asked"]]
    for damage in (
        {"told": [[0.5]]},
        {"told": [["much"]]},
        {"told": 3},
        {"made_with": None},
        {"asked": []},
        {"asked": other_genes},
        {"asked": [genes[:-1] for genes in state["asked"]]},
    ):
        with pytest.raises(BadInput) as caught:
            new_search(text).restore({**state, **damage})
        assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="This is no saved search"):
        new_search(text).restore({})


def test_questions_that_another_machine_computed_a_little_otherwise_are_kept():
    search = new_search("cma:population=4")
    step(search)
    state = search.state()
    state["asked"][0][0] += 1e-12
    taken_up = new_search("cma:population=4")
    taken_up.restore(state)
    assert taken_up.ask() == [tuple(genes) for genes in state["asked"]]
    assert taken_up.ask() != search.ask()


def test_weights_are_those_of_the_genes_with_rules_of_zeros_repaired():
    search = new_search("johnson2003", n_weights=2 * N_WEIGHTS, n_rules=2)
    assert search.weights_of((5,) * 9 + (0,) * 9) == (5.0,) * 9 + (1.0,) * 9
