"""The parts of InfoSpiders: minds, reproduction, the population, the map, who is lost."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.simulator.scores import Observation
from scenthound.simulator.web import SimulatedWeb
from scenthound.store.checkpoints import copied
from scenthound.strategies.infospiders import Population
from scenthound.strategies.spider import CHOICES_DRAWN, LONGEST_PATH, Choice, Mind, Spider, lost_agents, mutated
from scenthound.strategies.spider_net import BackPropagation, Mark, Senses, SpiderMap
from scenthound.testing import SyntheticWeb
from spider_session import agent, floats, ints, net

STUDY = BackPropagation(epochs=5, rate=0.5, momentum=0.9)


# The mind: net and senses on a page


def mind(temperature=0.001, *, towards_agent=True):
    return Mind(Senses("words", 20, 5), BackPropagation(1, 4, 0), temperature, towards_agent)


def on_page(text, keywords):
    """A web whose first page, of this text, is visited; and the numbers of its words."""
    web = SyntheticWeb({}, texts={"a": text}, keywords=keywords)
    window = SimulatedWeb(web.recorded, Observation(web.scores(), web.topic))
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
    spider_map[names["c"]] = Mark.IN_FLIGHT
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
    again = Spider.restored(copied(walker.state()))
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


def restored(state):
    spider_map = SpiderMap()
    spider_map.restore(state)
    return spider_map


def test_the_map_remembers_marks_and_relevance_through_json():
    spider_map = SpiderMap()
    spider_map.visit(3, 0.5)
    spider_map.visit(1000, 0.0)
    spider_map[5000] = Mark.DEAD
    spider_map[7] = Mark.IN_FLIGHT
    for known in (spider_map, restored(copied(spider_map.state()))):
        assert [known[page] for page in (3, 1000, 5000, 7, 8, 10**6)] == [
            *(Mark.VISITED, Mark.VISITED, Mark.DEAD, Mark.IN_FLIGHT, Mark.OPEN, Mark.OPEN)
        ]
        assert (known.relevance(3), known.relevance(1000)) == (0.5, 0.0)
        assert known.n_visited == 2
        assert known.may_follow(ints(3, 5000, 7, 8, 9000)).tolist() == [True, False, False, True, True]
        assert known.any_in_flight(ints(3, 7))
        assert not known.any_in_flight(ints(3, 5000, 9000))


def test_the_map_counts_the_words_of_a_page_once():
    # 7 twice and 8 once: 4 + 1. What is given later for the same page is not looked at; a page without words has 0.
    spider_map = SpiderMap()
    assert spider_map.squared_length(3, ints(7, 0, 7, 8)) == 5
    assert spider_map.squared_length(3, ints(7)) == 5
    assert spider_map.squared_length(4000, ints(0)) == 0
    assert restored(spider_map.state()).squared_length(3, ints(7)) == 1


# Hope


def lost_on(links, visited, agents, seeds="", *, dead="", steps_back=True):
    """Which agents, given as page and path, are lost when these pages are visited."""
    web = SyntheticWeb(links)
    window = SimulatedWeb(web.recorded, Observation(web.scores(), web.topic))
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
