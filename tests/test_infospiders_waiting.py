"""InfoSpiders whose agents wait: for pages on their way, and for hosts at rest."""

from random import Random

import pytest

from scenthound.strategies.infospiders import InfoSpiders
from scenthound.testing import SyntheticWeb
from spider_session import Session, walker


def test_who_has_no_choice_but_a_page_on_its_way_waits_for_it():
    web = SyntheticWeb({"a": ["x"], "b": ["x"], "x": ["y"]})
    session = Session(InfoSpiders(max_pages=16), web, "ab")
    session.visit_seeds()
    assert session.ask(2) == ["x"]
    on_its_way = session.requested["x"]
    for _ in range(3):
        assert session.ask(2) == []
        assert session.energies() == [1.0]
    session.tell(on_its_way)
    assert session.energies() == [1.0, 0.875]


def test_an_agent_keeps_its_choice_while_the_host_rests():
    web = SyntheticWeb({"a": ["x", "y"]}, host_of={"x": "h1", "y": "h2"})
    chosen = set()
    for seed in range(20):
        session = Session(InfoSpiders(max_pages=8), web, "a", rng=Random(seed))
        session.visit_pages(1)
        for _ in range(3):
            assert session.ask(1, ready=lambda _: False) == []
        (agent,) = session.agents()
        assert agent["energy"] == 1.0
        (name,) = session.ask()
        assert session.requested[name] == agent["choices"][-1][0]
        chosen.add(name)
    assert chosen == {"x", "y"}


def test_agents_do_not_starve_while_somebody_waits_for_an_answer():
    # a <-> b is all that the first agent can walk over; a step costs 1/10 of 1/8. However often the strategy is asked
    # for many pages at once, each time takes one step at most.
    session = walker({"a": ["b"], "b": ["a"]})
    session.visit_pages(1)
    for n_asked in range(1, 10):
        assert session.ask(5) == []
        assert session.energies() == [pytest.approx(0.875 - n_asked / 80)]


def test_agents_do_not_starve_while_somebody_waits_for_a_host():
    # The agent of z waits for its seed. Once that is seen, in each question, the other one takes one step more at most.
    web = SyntheticWeb({"a": ["b"], "b": ["a"], "z": []}, host_of={"z": "rests"})
    session = Session(InfoSpiders(max_pages=16), web, "az")
    resting = 1 - session.strategy.state()["population"]["idle"][0]["choices"][0][1]
    for n_asked in range(20):
        names = session.ask(2, ready=lambda host: host != resting)
        session.tell(*session.requested.values())
        assert names == (["a"] if n_asked == 0 else ["b"] if n_asked == 1 else [])
    assert len(session.energies()) == 2
    assert min(session.energies()) > 0.3


def test_no_more_is_asked_for_than_there_were_agents_to_ask():
    # Two seeds, max_pages = 1: a step costs 2, one to a page seen before 1/5. b gives 4: its finder has 3, but the
    # population of 2 is full until the other one starves on t, x or y. Then it goes on to s, which was visited, and
    # divides there: two of the three pages are left to ask for, where one agent was idle.
    links = {"a": ["b"], "b": ["s"], "s": ["t", "x", "y"], "t": ["s"], "x": ["s"], "y": ["s"]}
    web = SyntheticWeb(links, relevance={"b": 4.0})
    for seed in range(10):
        session = Session(InfoSpiders(max_pages=1, buffer=2), web, "as", rng=Random(seed))
        session.visit_seeds()
        session.ask(2)
        session.tell(session.requested.pop("b"), *session.requested.values())
        assert session.energies() == [3.0]
        assert len(session.ask(5)) == 1
        assert len(session.strategy) == 1
