"""The unbounded frontier: it returns the pages of the slow one, in bounded memory."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.frontier import SlowFrontier, splitmix
from scenthound.errors import PluginError
from scenthound.frontier import priority as module
from scenthound.frontier.base import ReadyHosts, tie_keys
from scenthound.frontier.priority import UnboundedFrontier
from scenthound.native import _native
from scenthound.store.checkpoints import copied

RULES = "max", "sum", "latest", "first"


def arrays(pages, hosts, scores):
    return np.array(pages, np.int32), np.array(hosts, np.int32), np.array(scores, np.float64)


class Salt(Random):
    """A generator whose first number is the salt of a frontier."""

    def __init__(self, salt):
        super().__init__(0)
        self._salt = salt

    def getrandbits(self, n_bits):
        return self._salt % 2**n_bits


def both(salt=7):
    return SlowFrontier(Salt(salt)), UnboundedFrontier(Salt(salt))


# Few scores cause many ties; their sums are exact, so that both agree.
few_scores = st.sampled_from([-1.0, 0.0, 0.125, 0.25, 0.5, 1.0, 64.0])
# A page keeps the host of its first push; other hosts in later pushes must have no effect.
changes = st.tuples(
    st.sampled_from([*RULES, "rescore"]),
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 4), few_scores), min_size=1, max_size=30),
)
takes = st.tuples(st.integers(1, 12), st.tuples(st.sets(st.integers(0, 4)), st.sets(st.integers(0, 4))))


@given(st.integers(0, 2**64 - 1), st.sampled_from([1, 3, 997]), st.lists(st.one_of(changes, takes), max_size=30))
def test_any_changes_have_the_results_of_the_slow_frontier(salt, gap, steps):
    slow, frontier = both(salt)
    for first, second in steps:
        if isinstance(first, str):
            pages, hosts, scores = arrays(*zip(*second, strict=True))
            for one in (slow, frontier):
                if first == "rescore":
                    one.rescore(gap * pages, scores)
                else:
                    getattr(one, f"push_{first}")(gap * pages, gap * hosts, scores)
        else:
            waiting, used = ({gap * host for host in hosts} for hosts in second)
            popped = []
            for one in (slow, frontier):
                ready_hosts = ReadyHosts(lambda host, waiting=waiting: host not in waiting)
                ready_hosts.used = set(used)
                popped.append(one.pop(first, ready_hosts))
            assert popped[0] == popped[1]
        assert len(frontier) == len(slow.queued)
        queued, hosts = frontier._queued()
        assert dict(zip(queued.tolist(), hosts.tolist(), strict=True)) == {
            page: slow.host_of[page] for page in slow.queued
        }
        assert {page: frontier.score(page) for page in queued.tolist()} == slow.queued
        assert dict(zip(queued.tolist(), frontier.scores(queued).tolist(), strict=True)) == slow.queued
    assert slow.pop(100) == frontier.pop(100)


@pytest.mark.parametrize("n_hosts", [1, 40, 3000])
def test_batches_larger_than_a_window_have_the_results_of_the_slow_frontier(n_hosts):
    rng = Random(n_hosts)
    frontiers = both()
    for step in range(40):
        rule = rng.choice(RULES)
        pages = [rng.randrange(4000) for _ in range(rng.choice([1, 50, 64, 65, 700]))]
        scores = [rng.choice([0.0, 0.5, 1.0, rng.random()]) for _ in pages]
        for frontier in frontiers:
            getattr(frontier, f"push_{rule}")(*arrays(pages, [page % n_hosts for page in pages], scores))
            queued = np.sort(frontier.queued_pages())[::3]
            frontier.rescore(queued, frontier.scores(queued)[::-1])
        n, share = rng.choice([1, 10, 200]), rng.random()
        waiting = {host for host in range(n_hosts) if rng.random() < share}
        ready = None if step % 3 == 0 else lambda host, waiting=waiting: host not in waiting
        slow, frontier = (frontier.pop(n, ready) for frontier in frontiers)
        assert slow == frontier


@pytest.mark.parametrize("min_scanned", [1, 2, 32])
def test_scans_of_any_size_have_the_results_of_the_slow_frontier(min_scanned, monkeypatch):
    monkeypatch.setattr(module, "MIN_SCANNED", min_scanned)
    rng = Random(min_scanned)
    slow_one, fast_one = both()
    for _ in range(150):
        pages = [rng.randrange(900) for _ in range(20)]
        batch = arrays(pages, [page % 90 for page in pages], [rng.randrange(5) / 4 for _ in pages])
        waiting, n = set(rng.sample(range(90), rng.randrange(90))), rng.randint(1, 5)
        batches = []
        for one in (slow_one, fast_one):
            one.push_max(*batch)
            ready_hosts = ReadyHosts(lambda host, waiting=waiting: host not in waiting)
            batches.append(
                [one.pop(1, ready_hosts), one.pop_one_per_host(n, ready_hosts), one.pop_one_per_host(2, ready_hosts)]
            )
        assert batches[0] == batches[1]
    assert slow_one.pop(900) == fast_one.pop(900)


def test_a_restored_frontier_continues_like_the_saved_one():
    rng, pages = Random(3), list(range(2000))
    source = UnboundedFrontier(Random(5))
    source.push_latest(*arrays(pages, [page % 7 for page in pages], [rng.choice([0.0, 1.0]) for _ in pages]))
    source.pop(500)
    restored = UnboundedFrontier(Random(6))
    restored.restore(copied(source.state()))
    assert all(map(restored.knows, pages))
    for one in (source, restored):
        one.push_max(*arrays([0, 2500], [0, 1], [1.0, 1.0]))
    assert restored.pop(3000) == source.pop(3000)


def test_an_empty_frontier_draws_its_salt_when_it_is_filled():
    rng = Random(5)
    before = rng.getstate()
    restored = UnboundedFrontier(rng)
    restored.restore(copied(UnboundedFrontier(Random(1)).state()))
    assert rng.getstate() == before
    restored.push_max(*arrays([0], [0], [1.0]))
    assert rng.getstate() != before
    assert len(restored) == 1


def test_the_keys_are_those_of_splitmix64():
    # The first outputs of the generator from the seed 1234567, as its authors' code prints them.
    assert tie_keys(np.array([1, 2], np.int32), 1234567).tolist() == [6457827717110365317, 3203168211198807973]
    assert splitmix(2, 1234567) == 3203168211198807973


@given(st.integers(0, 2**64 - 1))
def test_no_two_pages_share_a_key(salt):
    assert len(np.unique(tie_keys(np.arange(2000, dtype=np.int32), salt))) == 2000


def test_negative_numbers_are_rejected():
    frontier = UnboundedFrontier(Random(7))
    for page, host in ((-1, 0), (0, -1)):
        with pytest.raises(PluginError, match=rf"Page {page}\b.*\bhost {host}\b"):
            frontier.push_max(*arrays([5, page], [0, host], [1.0, 1.0]))
    assert frontier.queued_pages().tolist() == [5]


def test_memory_is_proportional_to_the_number_of_pages():
    frontier = UnboundedFrontier(Random(7))
    n = 50_000
    for pages in np.arange(n, dtype=np.int32).reshape(-1, 1000):
        frontier.push_max(pages, pages % 10, np.ones(1000))
    assert len(frontier) == n
    assert 24 * n <= frontier.n_bytes() <= 24 * n * 17 / 16 + 24 * 1024


def test_pushing_while_hosts_are_scanned_ends_the_scan():
    heaps = _native.Heaps(7)
    heaps.push(*arrays([0, 1], [0, 1], [1.0, 0.5]), 0)
    heaps.start_scan()
    assert heaps.scan(10) == [0, 1]
    heaps.push(*arrays([2], [0], [2.0]), 0)
    with pytest.raises(ValueError, match="scan"):
        heaps.end_scan(np.array([0, 1]), True)
    assert [page for _, page, _ in heaps.pop(10)] == [2, 0, 1]


@pytest.mark.parametrize("popped", [[-1], [3, 3], [0], [2**31 - 1]])
def test_popped_pages_of_a_damaged_checkpoint_are_rejected(popped):
    heaps = _native.Heaps(7)
    heaps.push(*arrays([0], [0], [1.0]), 0)
    with pytest.raises(ValueError, match="popped"):
        heaps.add_popped(np.array(popped, np.int32))
    assert heaps.pop(2) == [(1.0, 0, 0)]
