"""The net of an InfoSpiders agent, and how it chooses links."""

from collections import Counter
from itertools import permutations
from math import exp, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.strategies.spider_net import BackPropagation, Perceptron, boltzmann_order
from spider_session import floats, net

STUDY = BackPropagation(epochs=5, rate=0.5, momentum=0.9)


def test_a_link_without_keywords_near_it_has_the_output_one_half():
    assert net(3.0, -2.0).output(floats(0, 0)) == 0.5


def test_the_output_is_the_sigmoid_of_the_weighted_inputs():
    # 2 * 0.5 - 1 * 0.25 = 0.75
    assert net(0.5, -0.25).output(floats(2, 1)) == pytest.approx(1 / (1 + exp(-0.75)))


def test_outputs_of_many_links_are_those_of_each():
    rows = floats(2, 1, 0, 3).reshape(2, 2)
    assert net(0.5, -0.25).outputs(rows).tolist() == pytest.approx([net(0.5, -0.25).output(row) for row in rows])


def test_no_input_is_too_large_for_the_net():
    assert net(1e300).output(floats(1.0)) == 1.0
    assert net(1e300).outputs(floats(-1.0, 1.0).reshape(2, 1)).tolist() == [0.0, 1.0]


def test_the_bias_is_learnt_as_the_weight_of_an_input_that_is_always_1():
    # With the bias, learning from input 2 is learning from inputs (2, 1) without it.
    learner, twin = net(0.25), net(0.25, 0.0)
    BackPropagation(epochs=7, rate=0.5, momentum=0.9).teach(learner, floats(2), 0.125)
    BackPropagation(epochs=7, rate=0.5, momentum=0.9, with_bias=False).teach(twin, floats(2, 1), 0.125)
    assert [*learner.weights, learner.bias] == pytest.approx(twin.weights.tolist())
    assert [*learner.last_change, learner.last_change_of_bias] == pytest.approx(twin.last_change.tolist())
    assert learner.output(floats(3)) == pytest.approx(twin.output(floats(3, 1)))
    assert learner.outputs(np.array([[3.0]])) == pytest.approx([twin.output(floats(3, 1))])


def test_a_net_with_a_bias_learns_that_links_near_keywords_are_better_even_if_all_are_far_below_a_half():
    # Links near the keyword lead to pages of similarity 0.3, others to pages of 0.05. Without a bias the first kind
    # falls below the second, which stays at 1/2.
    for with_bias in (True, False):
        learner, teacher = net(0.0), BackPropagation(5, 0.5, 0.9, with_bias)
        for _ in range(200):
            teacher.teach(learner, floats(1), 0.3)
            teacher.teach(learner, floats(0), 0.05)
        assert (learner.output(floats(1)) > learner.output(floats(0))) is with_bias


def test_back_propagation_follows_the_slope_of_the_squared_error_with_momentum():
    # Rate 4, momentum 0.5, input 1, target 1, weight 0.
    # Epoch 1: output 0.5; change 4 * (1 - 0.5) * 0.5 * 0.5 = 0.5; weight 0.5.
    # Epoch 2: output o = 1 / (1 + e^-0.5) = 0.6225; change 4 * (1 - o) * o * (1 - o) + 0.5 * 0.5 = 0.6048.
    learner = net(0.0)
    BackPropagation(epochs=2, rate=4, momentum=0.5, with_bias=False).teach(learner, floats(1), 1.0)
    output = 1 / (1 + exp(-0.5))
    second_change = 4 * (1 - output) * output * (1 - output) + 0.25
    assert learner.last_change.tolist() == pytest.approx([second_change])
    assert learner.weights.tolist() == pytest.approx([0.5 + second_change])


def test_momentum_is_carried_on_to_the_next_page():
    # Input 0 teaches nothing by itself: what changes the weight is 0.9 of the last change.
    learner = Perceptron(floats(1.0), floats(0.1))
    BackPropagation(epochs=2, rate=0.5, momentum=0.9).teach(learner, floats(0), 1.0)
    assert learner.weights.tolist() == pytest.approx([1.0 + 0.09 + 0.081])


def test_a_net_and_its_copy_learn_apart():
    parent = net(0.1, 0.2)
    child = parent.copy()
    STUDY.teach(child, floats(1, 1), 1.0)
    assert parent.weights.tolist() == [0.1, 0.2]
    assert child.weights.tolist() != [0.1, 0.2]


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), min_size=1, max_size=4),
    st.floats(0, 1),
)
def test_learning_moves_the_output_towards_the_target(pairs, target):
    weights, inputs = floats(*(pair[0] for pair in pairs)), floats(*(pair[1] for pair in pairs))
    learner = net(*weights)
    before = learner.output(inputs)
    STUDY.teach(learner, inputs, target)
    assert (learner.output(inputs) - before) * (target - before) >= 0


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_target_leaves_no_lower_output(weights, one, other):
    inputs, outputs = floats(1.0, 0.5, 0.0), []
    for target in sorted([one, other]):
        learner = net(*weights)
        BackPropagation(epochs=1, rate=0.5, momentum=0.9).teach(learner, inputs, target)
        outputs.append(learner.output(inputs))
    assert outputs[0] <= outputs[1]


def test_the_first_weights_are_uniform_between_the_bounds():
    weights = Perceptron.random(2000, 0.1, Random(0)).weights
    assert np.abs(weights).max() <= 0.1
    assert abs(weights.mean()) < 0.005
    assert np.abs(weights).mean() == pytest.approx(0.05, abs=0.005)


def boltzmann(outputs, temperature):
    strengths = [exp((output - max(outputs)) / temperature) for output in outputs]
    return [strength / sum(strengths) for strength in strengths]


def test_links_are_chosen_by_the_boltzmann_distribution_and_chosen_again_among_those_left():
    # The chance of the order i, j, k is p(i) * p(j) / (1 - p(i)).
    outputs, rng, n = [0.5, 0.6, 0.3], Random(0), 20_000
    orders = Counter(tuple(boltzmann_order(floats(*outputs), 0.125, rng).tolist()) for _ in range(n))
    chance = boltzmann(outputs, 0.125)
    assert sum(chance) == pytest.approx(1)
    for first, second, third in permutations(range(3)):
        expected = chance[first] * chance[second] / (1 - chance[first])
        spread = sqrt(expected * (1 - expected) / n)
        assert orders[first, second, third] / n == pytest.approx(expected, abs=4 * spread)


def test_at_a_low_temperature_the_best_link_is_chosen_then_the_next():
    for seed in range(50):
        assert boltzmann_order(floats(0.4, 0.9, 0.1, 0.6), 0.001, Random(seed)).tolist() == [1, 3, 0, 2]


@given(st.lists(st.floats(-1e300, 1e300), max_size=20), st.floats(1e-6, 1e6), st.integers())
def test_an_order_holds_every_link_once_however_large_the_outputs(outputs, temperature, seed):
    outputs = [output * min(temperature, 1.0) for output in outputs]
    order = boltzmann_order(floats(*outputs), temperature, Random(seed))
    assert sorted(order.tolist()) == list(range(len(outputs)))


class DrawsZero(Random):
    def random(self):
        return 0.0


def test_a_draw_of_zero_is_a_draw_like_any_other():
    assert boltzmann_order(floats(0.5, 0.9), 0.125, DrawsZero()).tolist() == [1, 0]
