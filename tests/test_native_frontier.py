"""The plain and the native unbounded frontier, and a naive model, return the same pages."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound import native
from scenthound.errors import PluginError
from scenthound.frontier.base import NO_HOST, PoppedPage, ReadyHosts, tie_key, tie_keys
from scenthound.frontier.priority import PlainFrontier, UnboundedFrontier
from scenthound.store.checkpoints import copied

pytest.importorskip("native_code")

from scenthound.frontier import native_frontier as module
from scenthound.frontier.native_frontier import INITIAL_RECORDS, NativeFrontier
from scenthound.native import _native

RULES = {
    "max": max,
    "sum": lambda old, new: old + new,
    "latest": lambda _old, new: new,
    "first": lambda old, _new: old,
}


def host_of(pages, index):
    """The host of a queued page, as `native/heaps.c` stores it."""
    mark = pages["parent"][index]
    if mark > 0:
        mark = pages["previous"][pages["child"][mark]]
    return -1 - mark


class NaiveFrontier:
    """A dictionary that is sorted at each pop."""

    def __init__(self, salt):
        self.salt = salt
        self.scores = {}
        self.hosts = {}
        self.popped = set()

    def push(self, rule, pages, hosts, scores):
        for page, host, score in zip(pages, hosts, scores, strict=True):
            if page not in self.popped:
                self.hosts.setdefault(page, host)
                self.scores[page] = RULES[rule](self.scores[page], score) if page in self.scores else score

    def rescore(self, pages, scores):
        for page, score in zip(pages, scores, strict=True):
            if page in self.scores:
                self.scores[page] = score

    def pop(self, n, ready_hosts):
        popped, best_waiting = [], None
        for page in sorted(self.scores, key=lambda page: (-self.scores[page], splitmix(page, self.salt))):
            if len(popped) == n:
                break
            score, host = self.scores[page], self.hosts[page]
            if ready_hosts(host):
                best, waiting_host = best_waiting or (score, NO_HOST)
                popped.append(PoppedPage(page, host, score, best - score, waiting_host))
                del self.scores[page]
                self.popped.add(page)
            elif ready_hosts.is_waiting(host):
                best_waiting = best_waiting or (score, host)
        return popped


def splitmix(page, salt):
    mask = 2**64 - 1
    mixed = (salt + page * 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return mixed ^ (mixed >> 31)


def arrays(pages, hosts, scores):
    return np.array(pages, np.int32), np.array(hosts, np.int32), np.array(scores, np.float64)


def both(salt=7):
    return PlainFrontier(lambda: salt), NativeFrontier(salt)


# Few scores cause many ties; their sums are exact, so that all three agree.
few_scores = st.sampled_from([-1.0, 0.0, 0.125, 0.25, 0.5, 1.0, 64.0])
# A page keeps the host of its first push; other hosts in later pushes must have no effect.
changes = st.tuples(
    st.sampled_from([*RULES, "rescore"]),
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 4), few_scores), min_size=1, max_size=30),
)
takes = st.tuples(st.integers(1, 12), st.tuples(st.sets(st.integers(0, 4)), st.sets(st.integers(0, 4))))


@given(st.integers(0, 2**64 - 1), st.sampled_from([1, 3, 997]), st.lists(st.one_of(changes, takes), max_size=30))
def test_plain_native_and_naive_agree(salt, gap, steps):
    plain, native_frontier = both(salt)
    naive = NaiveFrontier(salt)
    for first, second in steps:
        if isinstance(first, str):
            batch = (
                [gap * page for page, _, _ in second],
                [gap * host for _, host, _ in second],
                [s for *_, s in second],
            )
            push_each(first, naive, (plain, native_frontier), *batch)
        else:
            waiting, used = ({gap * host for host in hosts} for hosts in second)
            ready_hosts = ReadyHosts(lambda host, waiting=waiting: host not in waiting)
            ready_hosts.used = used
            assert [one.pop(first, ready_hosts) for one in (plain, native_frontier)] == [
                naive.pop(first, ready_hosts)
            ] * 2
        for frontier in (plain, native_frontier):
            assert len(frontier) == len(naive.scores)
            queued = frontier.queued_pages()
            assert {page: frontier.score(page) for page in queued.tolist()} == naive.scores
            assert dict(zip(queued.tolist(), frontier.scores(queued).tolist(), strict=True)) == naive.scores
        for page in naive.scores:
            assert host_of(native_frontier._pages, page + 1) == naive.hosts[page]
    assert plain.pop(100) == native_frontier.pop(100)


def push_each(rule, naive, frontiers, pages, hosts, scores):
    if rule == "rescore":
        naive.rescore(pages, scores)
        for frontier in frontiers:
            frontier.rescore(*arrays(pages, hosts, scores)[::2])
        return
    naive.push(rule, pages, hosts, scores)
    for frontier in frontiers:
        getattr(frontier, f"push_{rule}")(*arrays(pages, hosts, scores))


@pytest.mark.parametrize("n_hosts", [1, 40, 3000])
def test_plain_and_native_agree_on_batches_larger_than_a_window(n_hosts):
    rng = Random(n_hosts)
    frontiers = both()
    for step in range(40):
        rule = rng.choice(list(RULES))
        pages = [rng.randrange(4000) for _ in range(rng.choice([1, 50, 64, 65, 700]))]
        scores = [rng.choice([0.0, 0.5, 1.0, rng.random()]) for _ in pages]
        for frontier in frontiers:
            getattr(frontier, f"push_{rule}")(*arrays(pages, [page % n_hosts for page in pages], scores))
            queued = np.sort(frontier.queued_pages())[::3]
            frontier.rescore(queued, frontier.scores(queued)[::-1])
        n, share = rng.choice([1, 10, 200]), rng.random()
        waiting = {host for host in range(n_hosts) if rng.random() < share}
        ready = None if step % 3 == 0 else lambda host, waiting=waiting: host not in waiting
        plain, native_frontier = (frontier.pop(n, ready) for frontier in frontiers)
        assert plain == native_frontier


@pytest.mark.parametrize("min_scanned", [1, 2, 32])
def test_plain_and_native_agree_for_any_scan_size(min_scanned, monkeypatch):
    monkeypatch.setattr(module, "MIN_SCANNED", min_scanned)
    rng = Random(min_scanned)
    plain_one, native_one = both()
    for _ in range(150):
        pages = [rng.randrange(900) for _ in range(20)]
        batch = arrays(pages, [page % 90 for page in pages], [rng.randrange(5) / 4 for _ in pages])
        waiting, n = set(rng.sample(range(90), rng.randrange(90))), rng.randint(1, 5)
        batches = []
        for one in (plain_one, native_one):
            one.push_max(*batch)
            ready_hosts = ReadyHosts(lambda host, waiting=waiting: host not in waiting)
            batches.append(
                [one.pop(1, ready_hosts), one.pop_one_per_host(n, ready_hosts), one.pop_one_per_host(2, ready_hosts)]
            )
        assert batches[0] == batches[1]
    assert plain_one.pop(900) == native_one.pop(900)


def test_plain_and_native_restore_each_others_state():
    rng = Random(3)
    pages = list(range(2000))
    for source, restored in (both(), reversed(both())):
        source.push_latest(*arrays(pages, [page % 7 for page in pages], [rng.choice([0.0, 1.0]) for _ in pages]))
        source.pop(500)
        restored.restore(copied(source.state()))
        assert restored.n_known == 2000
        for one in (source, restored):
            one.push_max(*arrays([0, 2500], [0, 1], [1.0, 1.0]))
        assert restored.pop(3000) == source.pop(3000)


def test_the_keys_are_those_of_splitmix64():
    # The first outputs of the generator from the seed 1234567, as its authors' code prints them.
    assert tie_keys(np.array([1, 2], np.int32), 1234567).tolist() == [6457827717110365317, 3203168211198807973]
    assert tie_key(2, 1234567) == 3203168211198807973


@given(st.integers(0, 2**64 - 1))
def test_no_two_pages_share_a_key(salt):
    assert len(np.unique(tie_keys(np.arange(2000, dtype=np.int32), salt))) == 2000


def test_negative_numbers_are_rejected():
    _, native_frontier = both()
    for page, host in ((-1, 0), (0, -1)):
        with pytest.raises(PluginError, match=rf"Page {page}\b.*\bhost {host}\b"):
            native_frontier.push_max(*arrays([5, page], [0, host], [1.0, 1.0]))
    assert native_frontier.queued_pages().tolist() == [5]


def test_memory_is_proportional_to_the_number_of_pages():
    _, native_frontier = both()
    n = 50_000
    for pages in np.arange(n, dtype=np.int32).reshape(-1, 1000):
        native_frontier.push_max(pages, pages % 10, np.ones(1000))
    assert len(native_frontier) == n
    assert 24 * n <= native_frontier.n_bytes() <= 24 * n * 17 / 16 + 24 * INITIAL_RECORDS


def test_an_unbounded_frontier_is_native_from_the_first_push_on():
    frontier, plain = UnboundedFrontier(Random(5)), PlainFrontier(lambda: Random(5).getrandbits(64))
    for one in (frontier, plain):
        one.push_max(*arrays(range(20), [0, 1] * 10, [1.0] * 20))
    assert isinstance(frontier._frontier, NativeFrontier)
    restored = UnboundedFrontier(Random(6))
    restored.restore(plain.state())
    assert isinstance(restored._frontier, NativeFrontier)
    assert frontier.pop(20) == restored.pop(20) == plain.pop(20)


def test_without_the_extension_an_unbounded_frontier_is_in_plain_python(monkeypatch):
    monkeypatch.setattr(native, "is_available", lambda: False)
    frontier = UnboundedFrontier(Random(5))
    frontier.push_max(*arrays(range(200), [0] * 200, [1.0] * 200))
    assert isinstance(frontier._frontier, PlainFrontier)
    restored = UnboundedFrontier(Random(6))
    restored.restore(frontier.state())
    assert isinstance(restored._frontier, PlainFrontier)


def test_arrays_that_do_not_fit_each_other_are_rejected():
    _, native_frontier = both()
    pages, hosts, ranking, numbers = native_frontier._arrays()
    entries = np.zeros(1, module.ENTRY)
    for wrong in (
        (pages, hosts, ranking[:-1], numbers, entries),
        (pages, hosts, ranking, numbers[:-1], entries),
        (pages, hosts, ranking, numbers, np.zeros(3, np.int32)),
        (np.zeros(5, np.uint8), hosts, ranking, numbers, entries),
    ):
        with pytest.raises(ValueError, match=r"arrays|elements"):
            _native.push_batch(*wrong)
