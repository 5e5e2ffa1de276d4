"""InfoSpiders beyond the paper: how random its choices are, other inputs and costs, look-ahead, Q-learning."""

import math
from random import Random

import pytest

from scenthound.simulator.simulator import simulate
from scenthound.store.checkpoints import copied
from scenthound.strategies.base import STRATEGIES
from scenthound.strategies.infospiders import InfoSpiders
from scenthound.strategies.spider import Choice, ChoiceCounts, Mind
from scenthound.strategies.spider_net import BackPropagation, Senses, normalised_entropy
from scenthound.testing import SyntheticWeb, check_strategy, visited
from spider_session import Session, agent, floats, ints
from test_spider import on_page

SHORT_LIFE = {"max_pages": 5, "seen_cost": 1.0}
VARIANTS = [
    {"lookahead": 3},
    {"discount": 0.5},
    {"cost": "average", "temperature_unit": "spread", "inputs": "frequency", "temperature": 0.1},
    {"lookahead": 2, "discount": 0.5, "cost": "average", "learn_towards": "topic"},
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", VARIANTS)
def test_variants_keep_the_contract_of_a_strategy(parameters):
    check_strategy(lambda: InfoSpiders(**SHORT_LIFE, **parameters))


@pytest.mark.parametrize("preset", ["lookahead", "q_learning", "selective"])
def test_presets_are_made_by_name(preset):
    made = STRATEGIES.make(f"infospiders:preset={preset}")
    assert made.parameters != STRATEGIES.make("infospiders:preset=menczer2001").parameters


# How random are choices?


def test_the_entropy_of_equal_outputs_is_1_and_that_of_a_certain_choice_0():
    assert normalised_entropy(floats(0.3, 0.3, 0.3), 0.125) == pytest.approx(1)
    assert normalised_entropy(floats(0.9, 0.1, 0.1), 0.001) == pytest.approx(0, abs=1e-9)
    # exp(ln 3) and exp(0): shares of 3/4 and 1/4.
    shares = (0.75, 0.25)
    expected = -sum(share * math.log(share) for share in shares) / math.log(2)
    assert normalised_entropy(floats(math.log(3), 0), 1.0) == pytest.approx(expected)


def test_choices_among_several_links_are_counted():
    seen, spider_map, _, keywords = on_page("whale [b] [c]", "whale")
    counts = ChoiceCounts()
    mind = Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), 0.125, True)
    mind.choices(agent(keywords=keywords, weights=[0.0]), seen, spider_map, Random(0), counts)
    assert (counts.n_choices, counts.mean_entropy) == (1, pytest.approx(1))
    only, spider_map, _, keywords = on_page("whale [b]", "whale")
    mind.choices(agent(keywords=keywords, weights=[0.0]), only, spider_map, Random(0), counts)
    assert counts.n_choices == 1


def test_a_temperature_by_spread_does_not_depend_on_the_scale_of_outputs():
    # whale at 1 and at 2 words: outputs differ by little with a small weight.
    seen, spider_map, _, keywords = on_page("whale [b] the [c]", "whale")
    by_spread = Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), 0.5, True, "spread")
    by_output = Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), 0.5, True)
    entropies = []
    for mind in (by_spread, by_output):
        counts = ChoiceCounts()
        mind.choices(agent(keywords=keywords, weights=[0.001]), seen, spider_map, Random(0), counts)
        entropies.append(counts.mean_entropy)
    # Two outputs are one standard deviation from their mean: two apart, at a temperature of half of one.
    share = 1 / (1 + math.exp(-4))
    expected = -(share * math.log(share) + (1 - share) * math.log(1 - share)) / math.log(2)
    assert entropies[0] == pytest.approx(expected, abs=1e-3)
    assert entropies[1] == pytest.approx(1, abs=1e-6)


def test_diagnostics_count_choices_births_and_deaths():
    # b feeds its agent so much that it has offspring; all die where nothing is relevant.
    web = SyntheticWeb(
        {"c": ["d", "e"], "d": [], "e": []},
        relevance={"b": 1.0},
        texts={"a": "whale [b]", "b": "whale [c]"},
        keywords="whale",
    )
    strategy = InfoSpiders(theta=1.0, max_pages=8, seen_cost=1.0)
    crawl = simulate(
        web.recorded, strategy, [web.names.index("a")], web.scores(), rng=Random(0), page_budget=50, topic=web.topic
    )
    assert crawl.diagnostics == strategy.diagnostics()
    assert crawl.diagnostics["births"] >= 1
    assert crawl.diagnostics["deaths"] == crawl.diagnostics["births"] + 1
    assert crawl.diagnostics["agents"] == 0
    assert 0 <= crawl.diagnostics["choice_entropy"] <= 1


def test_a_checkpoint_has_the_diagnostics():
    web = SyntheticWeb({"a": ["b", "c"], "b": ["a", "c"], "c": ["a"]}, keywords="whale")
    session = Session(InfoSpiders(max_pages=8), web, "a")
    session.visit_pages(3)
    again = InfoSpiders(max_pages=8)
    again.restore(copied(session.strategy.state()), session.window.seen)
    assert again.diagnostics() == session.strategy.diagnostics()
    assert again.diagnostics()["choice_entropy"] > 0


def test_a_strategy_without_diagnostics_has_none():
    assert STRATEGIES.make("best_first").diagnostics() == {}


# Inputs


def test_frequencies_count_every_occurrence_in_the_window_once():
    # 7 is 1 and 3 words before the link: nearness 1 + 1/3, frequency 2.
    words = ints(7, 1, 7)
    position = ints(3)
    assert Senses("words", 20, 5).inputs(words, ints(7), position, position).tolist() == [[pytest.approx(4 / 3)]]
    assert Senses("words", 20, 5, "frequency").inputs(words, ints(7), position, position).tolist() == [[2.0]]


# Cost


def test_the_average_cost_is_a_fraction_of_the_mean_relevance_so_far():
    # max_pages = 8, theta = 2, one seed: the fixed cost is 1/8. a has relevance 0.5, b 1.0.
    web = SyntheticWeb(
        {"c": []}, relevance={"a": 0.5, "b": 1.0}, texts={"a": "whale [b]", "b": "whale [c]"}, keywords="whale"
    )
    session = Session(InfoSpiders(max_pages=8, cost="average", of_average=0.5), web, "a")
    session.visit_pages(2)
    # It began with 1, gained 1 on b, and paid half of the mean of 0.5 and 1.
    assert sum(session.energies()) == pytest.approx(1 + 1 - 0.375)


def test_the_average_cost_is_at_least_the_fixed_one():
    web = SyntheticWeb({"a": ["b"], "b": []}, keywords="whale")
    session = Session(InfoSpiders(max_pages=8, cost="average"), web, "a")
    session.visit_pages(2)
    assert session.energies() == [1 - 1 / 8]


# Look-ahead


def test_an_agent_looks_at_several_pages_before_it_follows_the_best():
    # c is about whales, b and d are not; behind each of them is another page.
    texts = {"a": "[b] [c] [d]", "b": "storm [x]", "c": "whale [y]", "d": "calm [z]"}
    web = SyntheticWeb({"x": [], "y": [], "z": []}, texts=texts, keywords="whale")
    for seed in range(6):
        seen = visited(InfoSpiders(max_pages=8, lookahead=3), web, ["a"], pages=5, seed=seed)
        assert set(seen[:4]) == {"a", "b", "c", "d"}
        assert seen[4] == "y"


def test_every_page_that_is_looked_at_is_paid_for():
    texts = {"a": "[b] [c]", "b": "storm", "c": "whale"}
    web = SyntheticWeb({}, texts=texts, relevance={"c": 0.5}, keywords="whale")
    session = Session(InfoSpiders(max_pages=8, lookahead=2), web, "a")
    session.visit_pages(3)
    assert session.energies() == [pytest.approx(1 + 0.5 - 2 / 8)]
    assert session.pages() == ["c"]


# Q-learning


def test_the_target_of_q_learning_adds_the_discounted_best_link_of_the_new_page():
    # The page has its keyword alone: similarity 1, at most 1. With relevance 0.25 as target, and a link next to the
    # keyword whose output is 0.5: 0.25 + 0.5 * 0.5. From output 0.5 with input 1 in one epoch at rate 4 the weight
    # becomes target - 0.5.
    seen, spider_map, _, keywords = on_page("whale [b]", "whale")
    spider_map.visit(0, 0.25)
    learner = agent(keywords=keywords, weights=[0.0])
    mind = Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), 0.125, False, discount=0.5)
    assert mind.learn(learner, Choice(0, 0, floats(1)), seen, spider_map) == 0.25
    assert learner.net.weights.tolist() == pytest.approx([0.0])


def test_the_target_of_q_learning_is_at_most_1():
    seen, spider_map, _, keywords = on_page("whale [b]", "whale")
    learner = agent(keywords=keywords, weights=[0.0])
    mind = Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), 0.125, True, discount=1.0)
    mind.learn(learner, Choice(0, 0, floats(1)), seen, spider_map)
    assert learner.net.weights.tolist() == pytest.approx([0.5])


def test_a_page_without_links_has_no_later_reward():
    # With relevance 0.25 as target, the weight becomes 0.25 - 0.5.
    web = SyntheticWeb({"b": []}, texts={"a": "whale [b]"}, relevance={"b": 0.25}, keywords="whale")
    learning = {"epochs": 1, "rate": 4.0, "momentum": 0.0, "initial_weight": 0.0, "learn_towards": "topic"}
    session = Session(InfoSpiders(max_pages=8, discount=0.5, **learning), web, "a")
    session.visit_pages(2)
    assert session.agents()[0]["weights"] == pytest.approx([-0.25])
