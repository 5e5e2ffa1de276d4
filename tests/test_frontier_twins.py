"""The unbounded frontier has a plain and a compiled form: both, and a naive model of them, give the same answers."""

import json
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound import compiling
from scenthound.errors import PluginError
from scenthound.frontier import priority as unbounded
from scenthound.frontier.base import NO_HOST, Taken, Turns, tie_keys
from scenthound.frontier.plain import PlainFrontier
from scenthound.frontier.priority import UnboundedFrontier

pytest.importorskip("numba")

from numba import njit

from scenthound.frontier import compiled_frontier as compiled
from scenthound.frontier import compiled_heaps
from scenthound.frontier.compiled_frontier import FIRST_RECORDS, CompiledFrontier

RULES = {
    "raise": max,
    "add": lambda old, new: old + new,
    "set": lambda _old, new: new,
    "enter": lambda old, _new: old,
}


@njit
def host_of(pages, place):
    """A part of compiled code has no entrance from Python."""
    return compiled_heaps.host_of(pages, place)


class NaiveFrontier:
    """What a frontier should do, said in the fewest words: a dictionary, sorted whenever a page is asked for."""

    def __init__(self, salt):
        self.salt = salt
        self.scores = {}
        self.hosts = {}
        self.taken = set()

    def change_all(self, how, pages, hosts, scores):
        for page, host, score in zip(pages, hosts, scores, strict=True):
            if page not in self.taken:
                self.hosts.setdefault(page, host)
                self.scores[page] = RULES[how](self.scores[page], score) if page in self.scores else score

    def rescore(self, pages, scores):
        for page, score in zip(pages, scores, strict=True):
            if page in self.scores:
                self.scores[page] = score

    def take(self, n, turns):
        taken, at_rest = [], None
        for page in sorted(self.scores, key=lambda page: (-self.scores[page], splitmix(page, self.salt))):
            if len(taken) == n:
                break
            score, host = self.scores[page], self.hosts[page]
            if turns(host):
                best, resting_host = at_rest or (score, NO_HOST)
                taken.append(Taken(page, host, score, best - score, resting_host))
                del self.scores[page]
                self.taken.add(page)
            elif turns.rests(host):
                at_rest = at_rest or (score, host)
        return taken


def splitmix(page, salt):
    mask = 2**64 - 1
    mixed = (salt + page * 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return mixed ^ (mixed >> 31)


def arrays(pages, hosts, scores):
    return np.array(pages, np.int32), np.array(hosts, np.int32), np.array(scores, np.float64)


def both(salt=7):
    return PlainFrontier(lambda: salt), CompiledFrontier(salt)


# Few scores make many ties; sums of them stay exact, so that all three add to the same.
few_scores = st.sampled_from([-1.0, 0.0, 0.125, 0.25, 0.5, 1.0, 64.0])
# A page's host is the one that it entered with; whatever it is given later is a mistake that must change nothing.
changes = st.tuples(
    st.sampled_from([*RULES, "rescore"]),
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 4), few_scores), min_size=1, max_size=30),
)
takes = st.tuples(st.integers(1, 12), st.tuples(st.sets(st.integers(0, 4)), st.sets(st.integers(0, 4))))


@given(st.integers(0, 2**64 - 1), st.sampled_from([1, 3, 997]), st.lists(st.one_of(changes, takes), max_size=30))
def test_the_twins_and_the_naive_model_agree(salt, gap, steps):
    plain, compiled = both(salt)
    naive = NaiveFrontier(salt)
    for first, second in steps:
        if isinstance(first, str):
            batch = (
                [gap * page for page, _, _ in second],
                [gap * host for _, host, _ in second],
                [s for *_, s in second],
            )
            change_each(first, naive, (plain, compiled), *batch)
        else:
            resting, given_turns = ({gap * host for host in hosts} for hosts in second)
            turns = Turns(lambda host, resting=resting: host not in resting)
            turns.given = given_turns
            assert [one.take(first, turns) for one in (plain, compiled)] == [naive.take(first, turns)] * 2
        for twin in (plain, compiled):
            assert len(twin) == len(naive.scores)
            waiting = twin.waiting()
            assert {page: twin.score(page) for page in waiting.tolist()} == naive.scores
            assert dict(zip(waiting.tolist(), twin.scores(waiting).tolist(), strict=True)) == naive.scores
        for page in naive.scores:
            assert host_of(compiled._pages, page + 1) == naive.hosts[page]
    assert plain.take(100) == compiled.take(100)


def change_each(how, naive, twins, pages, hosts, scores):
    if how == "rescore":
        naive.rescore(pages, scores)
        for twin in twins:
            twin.rescore(*arrays(pages, hosts, scores)[::2])
        return
    naive.change_all(how, pages, hosts, scores)
    for twin in twins:
        getattr(twin, f"{how}_all")(*arrays(pages, hosts, scores))


@pytest.mark.parametrize("n_hosts", [1, 40, 3000])
def test_the_twins_agree_on_batches_larger_than_a_window(n_hosts):
    rng = Random(n_hosts)
    twins = both()
    for step in range(40):
        how = rng.choice(list(RULES))
        pages = [rng.randrange(4000) for _ in range(rng.choice([1, 50, 64, 65, 700]))]
        scores = [rng.choice([0.0, 0.5, 1.0, rng.random()]) for _ in pages]
        for twin in twins:
            getattr(twin, f"{how}_all")(*arrays(pages, [page % n_hosts for page in pages], scores))
            waiting = np.sort(twin.waiting())[::3]
            twin.rescore(waiting, twin.scores(waiting)[::-1])
        n, share = rng.choice([1, 10, 200]), rng.random()
        resting = {host for host in range(n_hosts) if rng.random() < share}
        ready = None if step % 3 == 0 else lambda host, resting=resting: host not in resting
        plain, compiled = (twin.take(n, ready) for twin in twins)
        assert plain == compiled


@pytest.mark.parametrize("fewest", [1, 2, 32])
def test_the_twins_agree_however_many_of_ninety_hosts_are_looked_at_together(fewest, monkeypatch):
    monkeypatch.setattr(compiled, "FEWEST_LOOKED_AT", fewest)
    rng = Random(fewest)
    plain_one, compiled_one = both()
    for _ in range(150):
        pages = [rng.randrange(900) for _ in range(20)]
        batch = arrays(pages, [page % 90 for page in pages], [rng.randrange(5) / 4 for _ in pages])
        resting, n = set(rng.sample(range(90), rng.randrange(90))), rng.randint(1, 5)
        answers = []
        for one in (plain_one, compiled_one):
            one.raise_all(*batch)
            turns = Turns(lambda host, resting=resting: host not in resting)
            answers.append([one.take(1, turns), one.take_in_turns(n, turns), one.take_in_turns(2, turns)])
        assert answers[0] == answers[1]
    assert plain_one.take(900) == compiled_one.take(900)


def test_one_twin_takes_up_the_state_of_the_other():
    rng = Random(3)
    pages = list(range(2000))
    for source, heir in (both(), reversed(both())):
        source.set_all(*arrays(pages, [page % 7 for page in pages], [rng.choice([0.0, 1.0]) for _ in pages]))
        source.take(500)
        heir.restore(json.loads(json.dumps(source.state())))
        assert heir.n_known == 2000
        for one in (source, heir):
            one.raise_all(*arrays([0, 2500], [0, 1], [1.0, 1.0]))
        assert heir.take(3000) == source.take(3000)


def test_the_keys_are_those_of_splitmix64():
    # The first outputs of the generator from the seed 1234567, as its authors' code prints them.
    assert tie_keys(np.array([1, 2], np.int32), 1234567).tolist() == [6457827717110365317, 3203168211198807973]
    assert compiled_heaps.tie_key(2, 1234567) == 3203168211198807973


@given(st.integers(0, 2**64 - 1))
def test_no_two_pages_share_a_key(salt):
    assert len(np.unique(tie_keys(np.arange(2000, dtype=np.int32), salt))) == 2000


def test_numbers_below_zero_are_refused_where_they_would_be_places_in_memory():
    _, compiled = both()
    for page, host in ((-1, 0), (0, -1)):
        with pytest.raises(PluginError, match="numbers begin at 0"):
            compiled.raise_all(*arrays([5, page], [0, host], [1.0, 1.0]))
    assert compiled.waiting().tolist() == [5]


def test_arrays_grow_with_the_numbers_and_little_beyond():
    _, compiled = both()
    n = 50_000
    for pages in np.arange(n, dtype=np.int32).reshape(-1, 1000):
        compiled.raise_all(pages, pages % 10, np.ones(1000))
    assert len(compiled) == n
    assert 24 * n <= compiled.n_bytes() <= 24 * n * 17 / 16 + 24 * FIRST_RECORDS


def test_an_unbounded_frontier_moves_into_compiled_code_when_it_is_large(monkeypatch):
    monkeypatch.setattr(compiling, "is_loaded", lambda: False)
    monkeypatch.setattr(unbounded, "LARGE", 100)
    frontier, plain = UnboundedFrontier(Random(5)), PlainFrontier(lambda: Random(5).getrandbits(64))
    for start in range(0, 200, 20):
        batch = arrays(range(start, start + 20), [start % 7] * 20, [1.0] * 20)
        for one in (frontier, plain):
            one.raise_all(*batch)
        # Taken pages count as well: 100 are known after the fifth batch, 120 after the sixth.
        assert isinstance(frontier._held, CompiledFrontier) == (start >= 100)
        assert frontier.take(3) == plain.take(3)
    assert frontier.take(200) == plain.take(200)


def test_an_unbounded_frontier_is_compiled_from_its_first_pages_on_where_numba_is_loaded():
    frontier, plain = UnboundedFrontier(Random(5)), PlainFrontier(lambda: Random(5).getrandbits(64))
    for one in (frontier, plain):
        one.raise_all(*arrays(range(20), [0, 1] * 10, [1.0] * 20))
    assert isinstance(frontier._held, CompiledFrontier)
    heir = UnboundedFrontier(Random(6))
    heir.restore(plain.state())
    assert isinstance(heir._held, CompiledFrontier)
    assert frontier.take(20) == heir.take(20) == plain.take(20)


def test_a_large_state_is_restored_into_compiled_code(monkeypatch):
    monkeypatch.setattr(compiling, "is_loaded", lambda: False)
    monkeypatch.setattr(unbounded, "LARGE", 100)
    frontier, heir = UnboundedFrontier(Random(5)), UnboundedFrontier(Random(6))
    frontier.raise_all(*arrays(range(101), [0] * 101, [1.0] * 101))
    heir.restore(frontier.state())
    assert isinstance(heir._held, CompiledFrontier)
    assert heir.take(101) == frontier.take(101)


def test_without_numba_a_large_frontier_stays_in_plain_python(monkeypatch):
    monkeypatch.setattr(unbounded, "LARGE", 100)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiling, "can_compile", compiling.can_compile.__wrapped__)
    frontier = UnboundedFrontier(Random(5))
    frontier.raise_all(*arrays(range(200), [0] * 200, [1.0] * 200))
    assert isinstance(frontier._held, PlainFrontier)
    assert len(frontier.take(300)) == 200


def test_a_frontier_made_to_be_restored_takes_nothing_from_the_generator():
    rng = Random(5)
    frontier = UnboundedFrontier(rng)
    frontier.raise_all(*arrays([1, 2], [0, 0], [1.0, 1.0]))
    other = Random(5)
    heir = UnboundedFrontier(other)
    heir.restore(frontier.state())
    assert other.getstate() == Random(5).getstate()
