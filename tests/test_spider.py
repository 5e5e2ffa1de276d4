"""The parts of InfoSpiders: what agents sense, how their nets learn and choose, how they reproduce, who is lost."""

import json
from collections import Counter
from itertools import permutations
from math import exp, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.drivers.simulated_web import SimulatedWeb
from scenthound.drivers.telling import Telling
from scenthound.strategies.parts.spider import LONGEST_PATH, Choice, Spider, mutated
from scenthound.strategies.parts.spider_hope import lost_agents
from scenthound.strategies.parts.spider_map import Mark, SpiderMap
from scenthound.strategies.parts.spider_mind import CHOICES_DRAWN, Mind
from scenthound.strategies.parts.spider_net import BackPropagation, Perceptron, boltzmann_order
from scenthound.strategies.parts.spider_population import Population
from scenthound.strategies.parts.spider_senses import Senses, similarity, squared_length
from scenthound.testing import SyntheticWeb

STUDY = BackPropagation(epochs=5, rate=0.5, momentum=0.9)


def ints(*numbers):
    return np.array(numbers, np.int32)


def floats(*numbers):
    return np.array(numbers, np.float64)


def net(*weights):
    return Perceptron(floats(*weights), np.zeros(len(weights)))


def agent(page=0, energy=1.0, keywords=(), weights=(), path=()):
    return Spider(page, energy, ints(*keywords), net(*weights), [], path)


# The net


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


# The choice


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


# The senses


def test_an_input_is_the_sum_of_inverse_distances_in_words():
    # Places:     0     1    2      3     4     5     6   (words 7 and 8 are the keywords, 1 any other)
    words = ints(7, 1, 8, 7, 1, 7, 1)
    # Link 0 is words 2..3: 8 and 7 of the anchor at 1 each; 7 before it at 2 - 0 = 2; 7 behind it at 5 - 4 + 1 = 2.
    # Link 1 stands before word 6 with an anchor of no words: 7 at 6 - 5 = 1, 6 - 3 = 3 and 6 - 0 = 6; 8 at 6 - 2 = 4.
    found = Senses("words", 20, 5).inputs(words, ints(7, 8), ints(2, 6), ints(4, 6))
    assert found.tolist() == [pytest.approx([1 + 1 / 2 + 1 / 2, 1]), pytest.approx([1 + 1 / 3 + 1 / 6, 1 / 4])]


def test_keywords_beyond_the_window_are_not_sensed():
    # The link stands between words 3 and 4. Window 2: words 2 and 3, and words 4 and 5.
    words = ints(7, 7, 7, 7, 7, 7, 7)
    assert Senses("words", 2, 5).inputs(words, ints(7), ints(4), ints(4)).tolist() == [[2 * (1 + 1 / 2)]]


def test_an_input_by_links_counts_the_links_in_between():
    # 7 [A] 1 [B] 7 [C] with anchors of no words: the first 7 has no link between itself and A, one to B, two to C;
    # the second 7 has none to B and to C, and one to A.
    words, places = ints(7, 1, 7), ints(1, 2, 3)
    found = Senses("links", 20, 5).inputs(words, ints(7), places, places)
    assert found.tolist() == [[1 + 1 / 2], [1 / 2 + 1], [pytest.approx(1 / 3 + 1)]]
    only_next = Senses("links", 20, 0).inputs(words, ints(7), places, places)
    assert only_next.tolist() == [[1], [1], [1]]


def test_a_page_without_words_or_an_agent_without_keywords_senses_nothing():
    for distance in ("words", "links"):
        senses = Senses(distance, 20, 5)
        assert senses.inputs(ints(), ints(7), ints(0, 0), ints(0, 0)).tolist() == [[0], [0]]
        assert senses.inputs(ints(7), ints(), ints(0), ints(1)).shape == (1, 0)
        assert senses.inputs(ints(7), ints(7), ints(), ints()).shape == (0, 1)


def plain_distance(distance, place, link, start, end):
    """How far the word at a place is from a link, straight from the definition, or None if it is not to be sensed."""
    if start[link] <= place < end[link]:
        return 1
    before = place < start[link]
    if distance == "words":
        dist = start[link] - place if before else place - end[link] + 1
        return dist if dist <= 6 else None
    edges = start if before else end
    this = (edges[link], link)
    others = [(edge, other) for other, edge in enumerate(edges) if other != link]
    between = [
        edge for edge in others if (place < edge[0] and edge < this if before else this < edge and edge[0] <= place)
    ]
    return len(between) + 1 if len(between) <= 2 else None


@st.composite
def pages(draw):
    """Words 1 to 6 and links, of which some stand within others."""
    words = draw(st.lists(st.integers(0, 6), max_size=40))
    edge = st.integers(0, len(words))
    links = draw(st.lists(st.tuples(edge, edge).map(sorted), max_size=12))
    return words, [link[0] for link in links], [link[1] for link in links]


@given(pages(), st.sets(st.integers(1, 6)), st.sampled_from(["words", "links"]))
def test_inputs_equal_those_of_a_plain_double_loop(page, keywords, distance):
    words, start, end = page
    keywords = sorted(keywords)
    expected = np.zeros((len(start), len(keywords)))
    for link in range(len(start)):
        for place, word in enumerate(words):
            dist = plain_distance(distance, place, link, start, end)
            if word in keywords and dist is not None:
                expected[link, keywords.index(word)] += 1 / dist
    found = Senses(distance, 6, 2).inputs(ints(*words), ints(*keywords), ints(*start), ints(*end))
    np.testing.assert_allclose(found, expected)


def cosine(words, keywords):
    return similarity(words, squared_length(words), keywords)


def test_similarity_is_the_cosine_of_term_frequencies():
    # Page: 7 three times, 8 once, 9 once, stop words. Keywords 7 and 9: (3 + 1) / (sqrt(9 + 1 + 1) * sqrt(2)).
    assert cosine(ints(7, 0, 7, 8, 0, 7, 9), ints(7, 9)) == pytest.approx(4 / (sqrt(11) * sqrt(2)))


def test_similarity_is_one_for_the_keywords_themselves_and_nothing_where_there_are_no_words():
    assert cosine(ints(3, 0, 5), ints(3, 5)) == pytest.approx(1)
    assert cosine(ints(0, 0), ints(3)) == 0
    assert cosine(ints(3), ints()) == 0
    # A word can be more frequent than the square root of what an int32 holds.
    assert cosine(np.full(100_000, 3, np.int32), ints(3)) == pytest.approx(1)


# The mind: net and senses on a page


def mind(temperature=0.001, *, towards_agent=True):
    return Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), temperature, towards_agent)


def on_page(text, keywords):
    """A web whose first page, of this text, is visited; and the numbers of its words."""
    web = SyntheticWeb({}, texts={"a": text}, keywords=keywords)
    window = SimulatedWeb(web.recorded, Telling(web.scores(), web.topic))
    window.seeds([0])
    window.get(0)
    spider_map = SpiderMap()
    spider_map.visit(0, 0.0)
    names = {window.seen.url(page)[-1]: page for page in window.seen.links(0).pages.tolist()}
    return window.seen, spider_map, names, web.topic.keywords.tolist()


def test_a_url_linked_twice_is_judged_by_the_better_of_its_places():
    # whale at 1 from the second link to b; the first is 26 words away from it. c is at 2.
    seen, spider_map, names, keywords = on_page("[b]" + " the" * 25 + " whale [b] the [c]", "whale")
    likes = agent(keywords=keywords, weights=[1.0])
    choices = mind().choices(likes, seen, spider_map, Random(0))
    assert [choice.page for choice in reversed(choices)] == [names["b"], names["c"]]
    assert [choice.inputs.tolist() for choice in reversed(choices)] == [[1.0], [0.5]]
    # Who dislikes whales judges b by its first place.
    choices = mind().choices(agent(keywords=keywords, weights=[-1.0]), seen, spider_map, Random(0))
    assert [choice.inputs.tolist() for choice in reversed(choices)] == [[0.0], [0.5]]


def test_links_to_itself_and_to_pages_dead_or_on_their_way_are_no_choice():
    seen, spider_map, names, keywords = on_page("[a] [b] [c] [d] [e]", "")
    spider_map[names["b"]] = Mark.DEAD
    spider_map[names["c"]] = Mark.ON_THE_WAY
    spider_map.visit(names["d"], 0.0)
    choices = mind(0.125).choices(agent(keywords=keywords), seen, spider_map, Random(0))
    assert {choice.page for choice in choices} == {names["d"], names["e"]}


def test_few_of_many_choices_are_kept():
    seen, spider_map, names, _ = on_page("".join(f"[{letter}]" for letter in "bcdefghijklmnopqr"), "")
    choices = mind().choices(agent(), seen, spider_map, Random(0))
    assert len({choice.page for choice in choices}) == CHOICES_DRAWN < len(names)


def test_the_net_learns_towards_the_similarity_to_its_own_keywords_or_towards_the_relevance():
    # The page has its keyword alone, so the similarity is 1; its relevance is 0.25. From output 0.5 with input 1, in
    # one epoch at rate 4, the weight becomes 4 * (target - 0.5) * 0.25 = target - 0.5.
    seen, spider_map, _, keywords = on_page("whale [b]", "whale")
    spider_map.visit(0, 0.25)
    for towards_agent, weight in ((True, 0.5), (False, -0.25)):
        learner = agent(keywords=keywords, weights=[0.0])
        mind(towards_agent=towards_agent).learn(learner, Choice(0, 0, floats(1)), seen, spider_map)
        assert learner.net.weights.tolist() == pytest.approx([weight])


# Reproduction


def test_mutation_replaces_the_keyword_least_frequent_on_the_page_by_its_most_frequent_other_word():
    # 3 occurs twice, 5 once, 7 never; of the others 4 occurs three times and 9 once. The weight of 7 goes to 4.
    keywords, child = mutated(ints(3, 5, 7), net(0.3, 0.5, 0.7), ints(3, 4, 0, 4, 3, 9, 4, 5, 0, 0, 0, 0))
    assert keywords.tolist() == [3, 4, 5]
    assert child.weights.tolist() == [0.3, 0.7, 0.5]


def test_of_equally_frequent_words_the_lowest_number_is_taken():
    # 3 and 7 do not occur: 3 goes. 5 and 8 occur once: 5 comes.
    assert mutated(ints(3, 7), net(0, 0), ints(8, 5))[0].tolist() == [5, 7]


def test_a_page_without_other_words_mutates_nothing():
    for words in (ints(), ints(0, 0), ints(3, 7, 7)):
        assert mutated(ints(3, 7), net(0.3, 0.7), words)[0].tolist() == [3, 7]
    assert mutated(ints(), net(), ints(3))[0].tolist() == []


@given(st.sets(st.integers(1, 9), min_size=1), st.lists(st.integers(0, 12), max_size=30))
def test_mutated_keywords_stay_ascending_and_change_in_one_place_at_most(keywords, words):
    before = sorted(keywords)
    after = mutated(ints(*before), net(*before), ints(*words))[0].tolist()
    assert after == sorted(set(after))
    assert len(after) == len(before)
    assert len(set(after) - set(before)) <= 1


@given(st.floats(0, 1e6))
def test_energy_is_conserved_at_reproduction(energy):
    parent = agent(energy=energy, keywords=[3], weights=[0.1], path=(4,))
    child = parent.offspring(ints(8))
    assert parent.energy + child.energy == energy
    assert child.energy == energy / 2
    assert (child.page, child.path, child.keywords.tolist()) == (parent.page, (4,), [8])


def test_an_agent_steps_back_the_way_it_came():
    walker = agent(page=1)
    walker.go_to(2)
    walker.go_to(3)
    walker.step_back()
    assert (walker.page, walker.path) == (2, (1,))
    walker.jump_to(9)
    assert (walker.page, walker.path) == (9, ())


def test_an_agent_forgets_the_beginning_of_a_long_path():
    walker = agent(page=0)
    for page in range(1, 100):
        walker.go_to(page)
    assert walker.path == tuple(range(99 - LONGEST_PATH, 99))


def test_an_agent_survives_json():
    walker = agent(page=1, energy=0.75, keywords=[3, 5], weights=[0.1, -0.2], path=(7, 8))
    walker.choices = [Choice(4, 2, floats(0.5, 0.25))]
    again = Spider.restored(json.loads(json.dumps(walker.state())))
    assert again.state() == walker.state()
    assert again.keywords.dtype == np.int32


class NoWords:
    def words(self, page):
        return ints()


def test_at_theta_an_agent_reproduces_unless_the_population_is_full():
    for most, n_agents in ((2, 2), (1, 1), (None, 2)):
        population = Population(2.0, most, [agent(energy=1.0)])
        assert population.settle(population.idle[0], 1.25, 0.25, NoWords())
        assert len(population) == n_agents
        assert sum(living.energy for living in population.idle) == 2.0


def test_agents_that_wait_for_a_page_count_as_living():
    population = Population(2.0, 2, [agent(energy=2.0), agent()])
    fed, fetching = population.idle
    population.send(fetching, 7)
    assert population.settle(fed, 0.0, 0.0, NoWords())
    assert population.idle == [fed]
    assert population.call_back(7) is fetching
    assert len(population) == 2


def test_below_theta_an_agent_lives_on_and_without_energy_it_dies():
    population = Population(2.0, None, [agent(energy=1.0), agent(energy=1.0)])
    one, other = population.idle
    assert population.settle(one, 1.0, 0.125, NoWords())
    assert not population.settle(other, 0.0, 1.0, NoWords())
    assert population.idle == [one]
    assert one.energy == 1.875


# The map


def test_the_map_remembers_marks_and_relevance_through_json():
    spider_map = SpiderMap()
    spider_map.visit(3, 0.5)
    spider_map.visit(1000, 0.0)
    spider_map[5000] = Mark.DEAD
    spider_map[7] = Mark.ON_THE_WAY
    for known in (spider_map, SpiderMap.restored(json.loads(json.dumps(spider_map.state())))):
        assert [known[page] for page in (3, 1000, 5000, 7, 8, 10**6)] == [
            *(Mark.VISITED, Mark.VISITED, Mark.DEAD, Mark.ON_THE_WAY, Mark.OPEN, Mark.OPEN)
        ]
        assert (known.relevance(3), known.relevance(1000)) == (0.5, 0.0)
        assert known.n_visited == 2
        assert known.may_follow(ints(3, 5000, 7, 8, 9000)).tolist() == [True, False, False, True, True]
        assert known.any_on_the_way(ints(3, 7))
        assert not known.any_on_the_way(ints(3, 5000, 9000))


def test_the_map_counts_the_words_of_a_page_once():
    # 7 twice and 8 once: 4 + 1. What is given later for the same page is not looked at; a page without words has 0.
    spider_map = SpiderMap()
    assert spider_map.squared_length(3, ints(7, 0, 7, 8)) == 5
    assert spider_map.squared_length(3, ints(7)) == 5
    assert spider_map.squared_length(4000, ints(0)) == 0
    assert SpiderMap.restored(spider_map.state()).squared_length(3, ints(7)) == 1


# Hope


def lost_on(links, visited, agents, seeds="", *, dead="", steps_back=True):
    """Which agents, given as page and path, are lost when these pages are visited."""
    web = SyntheticWeb(links)
    window = SimulatedWeb(web.recorded, Telling(web.scores(), web.topic))
    numbers = {name: seed.page for name, seed in zip(web.names, window.seeds(range(len(web.names))), strict=True)}
    spider_map = SpiderMap()
    for name in visited:
        window.get(numbers[name])
        spider_map.visit(numbers[name], 0.0)
    for name in dead:
        spider_map[numbers[name]] = Mark.DEAD
    living = [agent(numbers[name], path=tuple(numbers[step] for step in path)) for name, path in agents]
    start = {numbers[name] for name in seeds}
    lost = lost_agents(living, spider_map, window.seen, start, steps_back=steps_back)
    return [agents[living.index(each)][0] for each in lost]


def test_who_can_reach_an_open_page_over_visited_ones_is_not_lost():
    # a -> b -> open, b -> c <-> d. From c and d there is no way back to b.
    links = {"a": ["b"], "b": ["open", "c"], "c": ["d"], "d": ["c", "d"]}
    assert lost_on(links, "abcd", [("a", ""), ("b", ""), ("c", ""), ("d", "")]) == ["c", "d"]


def test_who_is_on_a_dead_end_may_have_hope_where_it_came_from():
    # e has no links. Who came from a steps back to a, from where open is a link away; who came from c is lost.
    links = {"a": ["e", "open"], "c": ["e"], "e": []}
    assert lost_on(links, "ace", [("e", "a")]) == []
    assert lost_on(links, "ace", [("e", "c")]) == ["e"]
    # A link to itself makes it no less of a dead end.
    assert lost_on({**links, "e": ["e"]}, "ace", [("e", "a")]) == []
    # Its path is used up: it goes to a random seed.
    assert lost_on(links, "ace", [("e", "")], seeds="a") == []
    assert lost_on(links, "ace", [("e", "")], seeds="c") == ["e"]


def test_where_dead_ends_lead_to_a_seed_whoever_can_come_upon_one_has_hope():
    # c -> e, a dead end: back to c, or to the seed a, from where open is a link away.
    links = {"a": ["open"], "c": ["e"], "e": []}
    assert lost_on(links, "ace", [("c", "")], seeds="a") == ["c"]
    assert lost_on(links, "ace", [("c", "")], seeds="a", steps_back=False) == []


def test_dead_links_give_no_hope_and_a_seed_that_is_still_to_be_got_does():
    links = {"a": ["b", "d"], "b": ["a"]}
    assert lost_on(links, "ab", [("a", ""), ("b", "")]) == []
    assert lost_on(links, "ab", [("a", ""), ("b", "")], dead="d") == ["a", "b"]
    assert lost_on(links, "a", [("b", "")], dead="d") == []
    # A seed that turned out to be dead.
    assert lost_on(links, "ab", [("d", "")], dead="d") == ["d"]
