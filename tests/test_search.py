"""The interface of all searches, the encoding of weights as genes, and searches by name."""

import subprocess
import sys
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve_searches import N_WEIGHTS, OPTIMUM, SHORT, nearness, new_search, run, step
from scenthound.errors import InvalidParameter, PluginError, UnknownName
from scenthound.experiments.search.base import SearchStart, bits_of, genes_of, nearest_genes, scaled, weights_of
from scenthound.experiments.search.methods import METHODS, Chc, Cma, Johnson2003, parse_search

every_search = pytest.mark.parametrize("text", SHORT)
GENES = st.lists(st.integers(0, 127), min_size=1, max_size=39).map(tuple)


@every_search
def test_the_same_seed_requests_the_same_individuals_and_another_seed_others(text):
    requested = run(new_search(text, seed=5))
    assert requested == run(new_search(text, seed=5))
    assert requested[0] != run(new_search(text, seed=6))[0]


@every_search
def test_ask_returns_the_same_until_tell_is_called(text):
    search = new_search(text)
    requested = search.ask()
    search.ask().clear()
    assert search.ask() == requested
    step(search)
    assert search.ask() != requested


@every_search
def test_a_new_search_with_the_same_fitness_values_continues_like_the_old_one(text):
    arguments = {"n_weights": 18, "n_rules": 2, "seeds": [OPTIMUM * 2]}
    complete = new_search(text, **arguments)
    fitnesses = []
    while not complete.done:
        fitnesses.append([sum(genes) for genes in complete.ask()])
        complete.tell(fitnesses[-1])
    for n_rounds in range(len(fitnesses)):
        resumed = new_search(text, **arguments)
        for values in fitnesses[:n_rounds]:
            resumed.tell(values)
        assert resumed.history == complete.history[:n_rounds]
        run(resumed, sum)
        assert (resumed.best, resumed.population) == (complete.best, complete.population)
        assert resumed.history == complete.history


@every_search
@given(data=st.data())
def test_the_best_is_never_lost_and_the_population_is_sorted(text, data):
    search = new_search(text, n_weights=2)
    best_fitness = -1.0
    while not search.done:
        n = len(search.ask())
        values = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=n, max_size=n))
        better = max(values) > best_fitness
        earliest = search.ask()[values.index(max(values))] if better else search.best.genes
        search.tell(values)
        assert search.best.genes == earliest
        best_fitness = max(best_fitness, *values)
        fitnesses = [each.fitness for each in search.population]
        assert search.best.fitness == best_fitness
        assert fitnesses == sorted(fitnesses, reverse=True)
        assert search.n_evaluated <= search.method.most_evaluations
    assert search.generation <= search.method.generations


@pytest.mark.parametrize("text", ["johnson2003", "chc", "cma"])
def test_every_search_approaches_a_known_optimum(text):
    search = new_search(text)
    run(search)
    assert search.history[0].best < 0.8
    assert search.best.fitness > 0.9


@every_search
def test_earlier_winners_are_evaluated_first(text):
    search = new_search(text, seeds=[np.array(OPTIMUM), [1.0, *[0.0] * 8]])
    first, second = search.ask()[:2]
    assert nearness(search.weights_of(first)) > 0.99
    assert search.weights_of(second)[0] > 0
    assert not any(search.weights_of(second)[1:])
    assert len(search.ask()) == len(new_search(text).ask())
    assert len(new_search(text, seeds=[OPTIMUM] * 30).ask()) == len(search.ask())


@every_search
def test_numpy_numbers_start_the_same_search_as_python_numbers(text):
    search = new_search(text, seed=np.int64(3), seeds=[np.array(OPTIMUM)])
    assert search.ask() == new_search(text, seed=3, seeds=[OPTIMUM]).ask()


def test_the_summary_has_generation_best_mean_and_spread():
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
    # 3, 1, 1 and 0.5 stay. Their mean is 1.375; squared deviations: 2.640625, 2 x 0.140625, 0.765625.
    assert search.summary().mean == 1.375
    assert search.summary().spread == pytest.approx((3.6875 / 4) ** 0.5)
    assert (search.summary().generation, search.summary().best) == (1, 3.0)
    assert search.history[1] == search.summary()


@every_search
def test_invalid_fitness_values_are_rejected_and_change_nothing(text):
    search = new_search(text)
    requested = search.ask()
    for values in ([], [0.5] * (len(requested) - 1), [0.5] * (len(requested) + 1)):
        with pytest.raises(PluginError, match=rf": {len(values)} .*\b{len(requested)} individuals\b"):
            search.tell(values)
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(PluginError, match="finite"):
            search.tell([*[0.5] * (len(requested) - 1), wrong])
    assert search.ask() == requested
    assert (search.best, search.n_evaluated) == (None, 0)


@every_search
def test_a_finished_search_requests_nothing_and_accepts_nothing(text):
    search = new_search(text)
    run(search)
    assert search.ask() == []
    with pytest.raises(PluginError, match="0 individuals"):
        search.tell([])


def test_rules_of_zeros_are_repaired_in_the_weights():
    search = new_search("johnson2003", n_weights=2 * N_WEIGHTS, n_rules=2)
    assert search.weights_of((5,) * 9 + (0,) * 9) == (5.0,) * 9 + (1.0,) * 9


# Genes


def test_the_first_gene_has_the_highest_bits():
    # 5 = 0000101 and 127 = 1111111
    assert bits_of((5, 127)) == 0b0000101_1111111
    assert genes_of(0b0000101_1111111, 2) == (5, 127)
    assert genes_of(0b0000101_1111111, 3) == (0, 5, 127)


@given(GENES)
def test_bits_decode_to_the_genes_they_encode(genes):
    assert genes_of(bits_of(genes), len(genes)) == genes


def test_weights_are_the_genes_unchanged():
    assert weights_of((10, 0, 127)) == (10.0, 0.0, 127.0)
    assert weights_of((0.25, 0.0)) == (0.25, 0.0)


def test_a_rule_of_zeros_weighs_all_scores_equally():
    assert weights_of((0, 0, 0)) == (1.0, 1.0, 1.0)
    # Of two rules only the second needs repair.
    assert weights_of((3, 0, 0, 0), n_rules=2) == (3.0, 0.0, 1.0, 1.0)
    assert weights_of((3, 0, 0, 0), n_rules=1) == (3.0, 0.0, 0.0, 0.0)


@given(GENES, st.integers(1, 3))
def test_no_rule_ever_sums_to_zero(genes, n_rules):
    weights = weights_of(genes * n_rules, n_rules)
    assert all(sum(weights[start : start + len(genes)]) > 0 for start in range(0, len(weights), len(genes)))


def test_the_largest_weight_of_a_winner_becomes_127_and_the_others_are_rounded():
    # 0.1 / 0.4 x 127 = 31.75; 0.2 / 0.4 x 127 = 63.5, a half, which is rounded up.
    assert nearest_genes((0.1, 0.2, 0.4)) == (32, 64, 127)


def test_each_rule_of_a_winner_is_scaled_by_its_own_largest_weight():
    assert nearest_genes((0.5, 0.25, 0.1, 0.0), n_rules=2) == (127, 64, 127, 0)
    assert scaled((0.5, 0.25, 0.0, 0.0), 2, 1) == (1.0, 0.5, 0.0, 0.0)


@given(GENES.map(lambda genes: (*genes, 127)), st.floats(1e-300, 1e300))
def test_genes_are_restored_from_their_weights_at_any_scale(genes, scale):
    assert nearest_genes([gene * (scale / 127) for gene in genes]) == genes


def test_winners_replace_the_first_individuals_and_leave_the_others_unchanged():
    plain, seeded = SearchStart(2, 7), SearchStart(2, 7, ((1.0, 0.5), (0.0, 3.0)))
    drawn = plain.first_population(5, plain.rng())
    assert seeded.first_population(5, seeded.rng()) == [(127, 64), (0, 127), *drawn[2:]]
    assert len(set(drawn)) == 5


def test_only_the_first_winners_take_part_if_the_population_is_smaller():
    start = SearchStart(1, 7, ((1.0,), (0.0,), (2.0,)))
    assert start.first_population(2, start.rng()) == [(127,), (0,)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 1), "0 weights"),
        ((9, 1, (), 2), "9 weights .* 2 rules"),
        ((9, 1, (), 0), "9 weights .* 0 rules"),
        ((2, 1, ((1.0, 1.0), (1.0,))), r"winner 2 .*\b1 weights\b.*\b2: "),
        ((2, 1, ((1.0, -0.5),)), "winner 1 .* non-negative"),
        ((2, 1, ((1.0, float("nan")),)), "winner 1 .* non-negative"),
    ],
)
def test_an_invalid_start_is_rejected_in_one_line(arguments, says):
    with pytest.raises(InvalidParameter, match=says) as caught:
        SearchStart(*arguments)
    assert "\n" not in str(caught.value)


# Names


def test_the_preset_of_the_study_has_its_parameters():
    assert parse_search("johnson2003") == Johnson2003(population=50, generations=50, crossover=0.90, mutation=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "johnson2003",
        "johnson2003:population=30,mutation=0.05",
        "chc",
        "chc:population=20,evaluations=none,divergence=0.5",
        "cma:generations=20,sigma=0.2",
    ],
)
def test_a_method_prints_as_it_parses(text):
    assert str(parse_search(text)) == text
    assert parse_search(str(parse_search(text))) == parse_search(text)


def test_defaults_are_not_printed():
    assert str(parse_search("chc:population=50")) == "chc"
    assert str(parse_search("cma:population=20,generations=50")) == "cma"
    assert str(Chc(population=20)) == "chc:population=20"


def test_all_methods_have_a_summary():
    assert METHODS.names() == ["chc", "cma", "johnson2003"]
    assert all(METHODS.summary(name) for name in METHODS.names())
    assert str(METHODS.parameters("chc")["divergence"]) == "divergence=0.35"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("jonson2003", UnknownName, "'jonson2003'.*'johnson2003'"),
        ("chc:mutation=0.1", UnknownName, "'mutation'"),
        ("johnson2003:population=1", InvalidParameter, "population=1 "),
        ("johnson2003:population=0", InvalidParameter, "population=0 .*1"),
        ("chc:population=1", InvalidParameter, "population=1 "),
        ("chc:population=7", InvalidParameter, "population=7 "),
        ("chc:population=60,evaluations=59", InvalidParameter, "evaluations=59 "),
        ("chc:divergence=0", InvalidParameter, "divergence=0.0 "),
        ("cma:population=3", InvalidParameter, "cma: population=3 .*4"),
        ("cma:sigma=0", InvalidParameter, "sigma=0.0 "),
        ("johnson2003:generations=0", InvalidParameter, "generations=0 .*1"),
        ("johnson2003:crossover=1.1", InvalidParameter, "crossover=1.1 .*0 to 1"),
        ("johnson2003:mutation=-0.1", InvalidParameter, "mutation=-0.1 "),
        ("johnson2003:mutation=nan", InvalidParameter, "mutation=nan "),
    ],
)
def test_an_invalid_method_is_rejected_with_the_parameter_and_the_next_step(text, error, says):
    with pytest.raises(error, match=says) as caught:
        parse_search(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Johnson2003(population=1),
        lambda: Johnson2003(crossover=2),
        lambda: Johnson2003(population=2.5),
        lambda: Chc(generations=0),
        lambda: Chc(population=3),
        lambda: Cma(population=2),
    ],
)
def test_methods_constructed_in_python_are_checked_too(make):
    with pytest.raises(InvalidParameter):
        make()


def test_parsing_a_name_loads_no_optional_library():
    program = (
        "import sys; from scenthound.experiments.search.methods import parse_search; parse_search('cma'); "
        "sys.exit(any(name in sys.modules for name in ('cmaes', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
