"""InfoSpiders: the contract, crawls that a person can verify on paper, and where the energy goes."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saved_states import as_lists
from scenthound.simulator.scores import TopicWords
from scenthound.simulator.simulator import simulate
from scenthound.store.checkpoints import copied
from scenthound.strategies.infospiders import MIN_STEPS, InfoSpiders
from scenthound.strategies.spider import BYTES_PER_AGENT, BYTES_PER_KEYWORD
from scenthound.testing import SyntheticWeb, check_strategy, visited
from spider_session import Session, walker

#: Agents that die soon, so that the webs of the checks, which have few pages, are not walked over again and again.
SHORT_LIFE = {"max_pages": 5, "seen_cost": 1.0}
VARIANTS = [
    {},
    {"buffer": 1, "distance": "links", "dead_end": "seed"},
    {"buffer": None, "theta": 1.0, "learn_towards": "topic"},
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", VARIANTS[1:])  # the defaults: test_strategies.py
def test_infospiders_keep_the_contract_of_a_strategy(parameters):
    check_strategy(lambda: InfoSpiders(**SHORT_LIFE, **parameters))


# Crawls on paper. One seed, theta = 2 and max_pages = 8: an agent begins with 1, and a step costs 2 / 16 = 1/8.
THE = " the" * 25  # stop words: they are no terms, but they keep words apart


def test_an_agent_learns_which_links_to_follow_and_starves_where_nothing_feeds_it():
    # Keyword whale, weight 0 at first; one epoch at rate 4 without momentum: the weight grows by
    # 4 * (target - o) * o * (1 - o) * input, o the output for the link followed. Nothing is relevant to the topic.
    #
    #   a  whale [b]               one link, 1 word from whale: input 1, output 0.5.
    #   b  whale [c] the... [d]    whale is its only term: similarity 1, weight 0 + 4 * 0.5 * 0.25 = 0.5.
    #                              c: input 1, output 0.6225; d is 26 words from whale: input 0, output 0.5. So c.
    #   c  storm [e]               similarity 0, weight 0.5 - 4 * 0.6225 * 0.6225 * 0.3775 = -0.0852. One link, input 0.
    #   e  whale [f] the... [g]    learnt with input 0: no change. f: output 0.4787; g: 0.5. So g.
    #   g  (no links)              a dead end: back to e, where g is still the best choice.
    #
    # Energy: b c e g cost 1/8 each and leave 1/2. Back to e 1/8, to g, seen before, half of it: 5/16 left;
    # once more 3/16: 1/8 left; back to e: 0. It dies; d and f are never seen.
    web = SyntheticWeb(
        {"d": [], "f": [], "g": []},
        texts={"a": "whale [b]", "b": f"whale [c]{THE} [d]", "c": "storm [e]", "e": f"whale [f]{THE} [g]"},
        keywords="whale",
    )
    learning = {"epochs": 1, "rate": 4.0, "momentum": 0.0, "initial_weight": 0.0, "temperature": 0.001}
    for seed in range(5):
        strategy = InfoSpiders(max_pages=8, seen_cost=0.5, **learning)
        assert visited(strategy, web, ["a"], seed=seed) == ["a", "b", "c", "e", "g"]
        assert len(strategy) == 0
        account = strategy.account
        assert (account.initial, account.gained, account.paid, account.lost) == (1.0, 0.0, 1.0, 0.0)


#   a -> b -> c -> d e: relevance 1, 1/4, 3/4 and 0.
FAMILY = SyntheticWeb(
    {"d": [], "e": []},
    relevance={"a": 0.5, "b": 1.0, "c": 0.25, "d": 0.75},
    texts={"a": "whale [b]", "b": "whale [c]", "c": "calf calf whale squid [d] [e]"},
    keywords="whale squid",
)


def family(n_pages=3, **parameters):
    session = Session(InfoSpiders(max_pages=8, **parameters), FAMILY, "a")
    session.visit_pages(n_pages)
    return session


def test_an_agent_is_on_its_seed_free_of_charge_and_without_gain():
    session = family(1)
    assert session.energies() == [1.0]
    assert session.pages() == ["a"]


def test_a_well_fed_agent_shares_its_energy_with_its_offspring():
    # b: 1 + 1 - 1/8 = 15/8.  c: 15/8 + 1/4 - 1/8 = 2 = theta: both have 1, and both are on c.
    assert family(2).energies() == [1.875]
    session = family(3)
    assert session.energies() == [1.0, 1.0]
    assert session.pages() == ["c", "c"]


def test_the_offspring_has_a_keyword_of_the_page_it_was_born_on_and_the_net_of_its_parent():
    # On c whale and squid occur once each, so the one with the lower number gives way to calf, which occurs twice.
    session = family(3)
    parent, child = session.agents()
    (low, high), (calf,) = sorted(parent["keywords"]), FAMILY.recorded.find_words(["calf"])
    assert sorted(child["keywords"]) == sorted([calf, high])
    weight_of = [dict(zip(agent["keywords"], agent["weights"], strict=True)) for agent in (parent, child)]
    assert weight_of[1] == {calf: weight_of[0][low], high: weight_of[0][high]}


def test_a_full_population_has_no_offspring_until_there_is_room():
    assert family(3, buffer=1).energies() == [2.0]
    assert len(family(3, buffer=2).energies()) == 2
    assert len(family(3, buffer=None).energies()) == 2


def test_two_agents_never_ask_for_the_same_page():
    # Both are on c, and there are two links: each gets one of them.
    session = family(3)
    assert sorted(session.ask(5)) == ["d", "e"]
    assert len(session.strategy) == 0


def test_whoever_finds_a_page_gets_its_energy():
    # d: 1 + 3/4 - 1/8 = 13/8.  e: 1 - 1/8 = 7/8.
    session = family(3)
    session.ask(2)
    session.tell(session.requested["d"], session.requested["e"])
    assert session.energies() == [1.625, 0.875]


def test_the_cost_of_a_step_grows_with_the_seeds_so_that_their_energy_lasts_for_the_page_budget():
    # Two seeds, theta 3, max_pages 12: 2 * 3 / 24 = 1/4. Both begin with 3/2.
    web = SyntheticWeb({"a": ["c"], "b": ["d"]})
    session = Session(InfoSpiders(theta=3.0, max_pages=12), web, "ab")
    session.visit_seeds()
    assert session.energies() == [1.5, 1.5]
    session.ask(2)
    session.tell(*session.requested.values())
    assert session.energies() == [1.25, 1.25]


def test_a_page_seen_before_costs_a_share_and_gives_nothing_even_if_it_is_relevant():
    # a <-> b, and nothing else: after b (1/8 paid) the agent goes to and fro for 1/80 a step, until it is seen to be
    # lost.
    web = SyntheticWeb({"a": ["b"], "b": ["a"]}, relevance={"a": 1.0, "b": 0.5})
    strategy = InfoSpiders(max_pages=8)
    assert visited(strategy, web) == ["a", "b"]
    assert strategy.account.gained == 0.5
    assert strategy.account.paid == pytest.approx(1 / 8 + MIN_STEPS / 80)


def test_who_goes_to_a_page_seen_before_learns_from_it():
    # Two agents on a and b, and page x that both link to. Whoever comes second finds x visited; both have learnt, from
    # the same output 0.5 and input 1 towards similarity 1, the same weight.
    web = SyntheticWeb({}, texts={"a": "whale [x]", "b": "whale [x]", "x": "whale [y]", "y": "[z]"}, keywords="whale")
    session = Session(InfoSpiders(initial_weight=0.0), web, "ab")
    session.visit_seeds()
    assert session.ask(2) == ["x"]
    session.tell(session.requested["x"])
    # y is on its way for the first, so the second, who came to x without a fetch, has no choice there.
    assert session.ask(2) == ["y"]
    session.ask(2)
    (second,) = session.agents()
    assert session.pages() == ["x"]
    assert second["weights"][0] > 0.1
    assert second["energy"] == pytest.approx(1 - 0.1 * 2 * 2 / 2000)


def test_from_a_dead_end_an_agent_steps_back_for_the_full_cost():
    session = walker({"a": ["m"], "m": ["e"]})
    session.visit_pages(2)
    assert (session.pages(), session.energies()) == (["e"], [0.75])
    assert session.ask() == []
    assert (session.pages(), session.energies()) == (["m"], [0.625])


def test_from_a_dead_end_an_agent_goes_to_a_seed_if_told_so():
    session = walker({"a": ["m"], "m": ["e"]}, dead_end="seed")
    session.visit_pages(2)
    assert session.ask() == []
    assert (session.pages(), session.energies()) == (["a"], [0.625])


def test_from_a_seed_without_links_an_agent_goes_to_a_random_seed_that_was_got():
    # Three seeds, max_pages = 24: a step costs 1/8. The agent of b waits for a host that rests, z is on its way.
    web, went_to = SyntheticWeb({"a": [], "b": ["x"], "z": []}), set()
    for seed in range(20):
        session = Session(InfoSpiders(max_pages=24), web, "abz", rng=Random(seed))
        session.ask(3)
        session.tell(session.requested["a"], session.requested["b"])
        assert session.ask(1, ready=lambda _: False) == []
        went_to.add(session.pages()[session.energies().index(0.875)])
    assert went_to == {"a", "b"}


def test_a_dead_link_is_chosen_once_by_anybody_and_costs_nothing():
    web = SyntheticWeb({"a": ["dead", "b"], "b": ["dead", "c"]}, fails={"dead"})
    for seed in range(20):
        strategy = InfoSpiders(max_pages=8)
        session = Session(strategy, web, "a", rng=Random(seed))
        asked = []
        while names := session.ask():
            asked += names
            session.tell(*session.requested.values())
        assert sorted(asked) == ["a", "b", "c", "dead"]


def test_when_all_its_links_are_dead_an_agent_is_at_a_dead_end():
    session = walker({"a": ["m"], "m": ["e"]})
    session.visit_pages(1)
    session.ask()
    session.strategy.drop(session.requested["e"])
    assert (session.pages(), session.energies()) == (["m"], [0.875])
    assert session.ask() == []
    assert (session.pages(), session.energies()) == (["a"], [0.75])


def test_an_agent_whose_seed_is_dead_dies_and_the_others_go_on():
    session = Session(InfoSpiders(), SyntheticWeb({"a": ["b"], "s": []}), "as")
    session.ask(2)
    session.strategy.drop(session.requested["s"])
    session.tell(session.requested["a"])
    assert session.ask(2) == ["b"]
    assert len(session.strategy) == 0
    assert session.strategy.account.lost == 1.0


def test_a_seed_that_another_agent_asked_for_is_not_asked_for_again():
    # Whoever asks for b first, the agent of a by its link or that of b, the other one waits.
    web = SyntheticWeb({"a": ["b"], "b": []})
    for seed in range(20):
        session = Session(InfoSpiders(), web, "ab", rng=Random(seed))
        if session.ask() == ["a"]:
            session.tell(session.requested["a"])
            assert session.ask() == ["b"]
            assert session.ask() == []
            assert len(session.strategy) == 1


def test_an_agent_whose_seed_another_one_got_is_there_free_of_charge():
    # b is a seed, and a links to it. In some crawls the agent of a gets both before it is the turn of that of b.
    web, n_got_by_link = SyntheticWeb({"a": ["b"], "b": ["c", "d"]}), 0
    for seed in range(20):
        session = Session(InfoSpiders(max_pages=16), web, "ab", rng=Random(seed))
        session.visit_pages(2)
        if session.pages() == ["b", "b"]:
            n_got_by_link += 1
            assert session.energies() == [1.0, 0.875]
            assert sorted(session.ask(2)) == ["c", "d"]
    assert n_got_by_link > 0


def test_links_to_itself_lead_nowhere():
    web = SyntheticWeb({"a": ["a", "a", "b"]})
    for seed in range(10):
        session = Session(InfoSpiders(max_pages=8), web, "a", rng=Random(seed))
        session.visit_pages(2)
        assert session.energies() == [0.875]


def test_the_crawl_ends_when_nobody_can_come_upon_a_new_page():
    # Everything is visited long before the energy of a thousand steps is spent.
    web = SyntheticWeb({"a": ["b", "c"], "b": ["a"], "c": ["b"]}, relevance={"b": 1.0, "c": 1.0})
    strategy = InfoSpiders()
    assert sorted(visited(strategy, web)) == ["a", "b", "c"]
    assert len(strategy) == 0
    assert strategy.account.lost > 2.9


def test_agents_begin_with_the_words_of_the_keywords_or_of_the_description():
    web = SyntheticWeb({"a": []}, texts={"a": "sea wave wave ship"})
    sea, wave, ship = web.recorded.find_words(["sea", "wave", "ship"]).tolist()
    topic = TopicWords(np.array([ship, sea, ship], np.int32), np.array([wave, sea], np.int32))
    for description, words in ((False, {sea, ship}), (True, {wave, sea})):
        session = Session(InfoSpiders(description=description), web, "a", topic=topic)
        (agent,) = session.agents()
        assert agent["keywords"] == sorted(words)
        assert all(abs(weight) <= 0.1 for weight in agent["weights"])


def test_the_bound_on_agents_is_the_buffer_but_never_less_than_the_seeds():
    web = SyntheticWeb({name: [] for name in "abc"})
    for buffer, bound in ((2, 3), (200, 200), (None, None)):
        session = Session(InfoSpiders(buffer=buffer), web, "abc")
        assert session.strategy.memory_bound().queued == bound
        assert len(session.strategy) == 3


def test_the_bound_on_bytes_is_stated_for_the_keywords_of_the_topic_once_these_are_known():
    web = SyntheticWeb({"a": []}, texts={"a": "sea wave ship"}, keywords="sea wave ship")
    strategy = InfoSpiders()
    before = strategy.memory_bound().bytes_per_queued
    Session(strategy, web, "a")
    assert strategy.memory_bound().bytes_per_queued == BYTES_PER_AGENT + 3 * BYTES_PER_KEYWORD
    # Before that, what is listed holds for topics of up to ten.
    assert before == BYTES_PER_AGENT + 10 * BYTES_PER_KEYWORD


def test_an_agent_dies_when_its_patience_is_at_an_end_whatever_its_energy():
    # a and b link to each other and to nothing else. A step over known pages costs 1/80, so that the energy would last
    # for many more than three of them.
    session = walker({"a": ["b"], "b": ["a"]}, patience=3)
    session.visit_pages(1)
    assert session.pages() == ["b"]
    for n_steps in (1, 2):
        assert session.ask() == []
        assert session.agents()[0]["n_unproductive_steps"] == n_steps
    assert session.ask() == []
    assert session.agents() == []


def test_a_new_page_gives_an_agent_new_patience():
    session = walker({"a": ["b"], "b": ["a", "c"], "c": ["b"]}, patience=5)
    session.visit_pages(1)
    while session.ask() == []:
        pass
    session.tell(*session.requested.values())
    assert (session.pages(), session.agents()[0]["n_unproductive_steps"]) == (["c"], 0)


@pytest.mark.parametrize("parameters", VARIANTS)
def test_a_crawl_goes_on_from_a_state_in_json_with_pages_on_their_way_and_choices_kept(parameters):
    web = SyntheticWeb.random(Random(5))
    session = Session(InfoSpiders(max_pages=50, **parameters), web, ["p0", web.names[1], web.names[2]])
    session.visit_pages(12)
    # Some agents keep the choice of a host that rests; two pages are on their way.
    session.ask(3, ready=lambda host: host > 1)
    session.ask(2)
    on_their_way = list(session.requested.values())
    heir = InfoSpiders(max_pages=50, **parameters)
    heir.restore(copied(session.strategy.state()), session.window.seen)
    for page in on_their_way:
        got = session.tell(page)
        heir.tell(session.window.visit(page)) if got else heir.drop(page)
    assert as_lists(heir.state()) == as_lists(session.strategy.state())
    assert heir.memory_bound() == session.strategy.memory_bound()
    for n in (1, 3, 7):
        assert heir.ask(n, lambda host: host != 2) == session.strategy.ask(n, lambda host: host != 2)
    assert as_lists(heir.state()) == as_lists(session.strategy.state())


@given(st.integers(0, 50), st.integers(0, 10**6), st.integers(1, 7), st.sampled_from(VARIANTS))
def test_all_energy_is_accounted_for(web_seed, seed, n_at_once, parameters):
    web = SyntheticWeb.random(Random(web_seed), n_pages=30)
    session = Session(InfoSpiders(**SHORT_LIFE, **parameters), web, web.names[:2], rng=Random(seed))
    account = session.strategy.account
    gains = []
    while session.ask(n_at_once):
        agent_for = dict(session.strategy.state()["population"]["fetching"])
        for page in session.requested.values():
            gained = session.tell(page)
            gains += [] if agent_for[page]["page"] == page else gained  # one's own seed gives nothing
        living = sum(session.energies())
        assert living == pytest.approx(account.initial + account.gained - account.paid - account.lost)
        assert account.gained == pytest.approx(sum(gains))
    theta = parameters.get("theta", 2.0)
    assert account.initial == theta
    # Two seeds and five pages, pages seen before at the full price: all that was paid are whole steps of this cost.
    n_steps = account.paid / (2 * theta / (2 * 5))
    assert n_steps == pytest.approx(round(n_steps))
    assert round(n_steps) >= len(gains)


def test_a_lower_temperature_follows_the_better_links_more_closely():
    # Agents that have learnt to like whales: half of the links of the first page stand beside one.
    text = "".join(f" whale [w{n}]{THE} [n{n}]{THE}" for n in range(6))
    links = {f"{kind}{n}": ["whale0"] for kind in "wn" for n in range(6)}
    texts = {"whale0": "whale [hub]", "hub": text}
    web = SyntheticWeb(links, texts=texts, keywords="whale")
    near = {}
    for temperature in (0.01, 10.0):
        traces = [visited(InfoSpiders(temperature=temperature), web, ["whale0"], pages=3, seed=s) for s in range(40)]
        near[temperature] = sum(trace[2].startswith("w") for trace in traces)
    assert near[0.01] == 40
    assert 8 <= near[10.0] <= 32


def test_the_same_seed_gives_the_same_crawl():
    web = SyntheticWeb.random(Random(4))
    crawls = [
        simulate(web.recorded, InfoSpiders(), [0, 1], web.scores(), rng=Random(3), page_budget=30, topic=web.topic)
        for _ in range(2)
    ]
    assert crawls[0].pages.tolist() == crawls[1].pages.tolist()
