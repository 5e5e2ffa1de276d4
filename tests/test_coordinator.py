"""The coordinator of a crawl in shards: leases, tokens and the end."""

from itertools import pairwise
from random import Random

import pytest

from scenthound.frontier.politeness import PolitenessSettings
from scenthound.reasons import EndReason
from scenthound.shards.coordinator import TURN_S, UNUSED_ROUNDS, AddressTokens, Coordinator, Report

POLITE = PolitenessSettings()


def report(shard: int, **values: object) -> Report:
    idle = {
        "page_budget": 0,
        "n_pages": 0,
        "n_issued": 0,
        "n_requests": 0,
        "n_requested": 0,
        "n_waiting": 0,
        "n_queued": 0,
        "best": (),
        "is_idle": False,
    }
    return Report(shard, **{**idle, **values})  # type: ignore[arg-type]


def test_better_pages_get_larger_leases():
    coordinator = Coordinator(2, 1_000, POLITE)
    coordinator.note(report(0, n_queued=100, best=[0.9] * 64))
    coordinator.note(report(1, n_queued=100, best=[0.1] * 64))
    assert coordinator.grant(0, 0.0).page_budget == 8
    assert coordinator.grant(1, 0.0).page_budget == 0


def test_leases_of_many_shards_follow_their_scores_within_a_round():
    coordinator = Coordinator(64, 100_000, POLITE)
    for worst in (63, 0):
        for shard in range(64):
            coordinator.note(report(shard, n_queued=100, best=[0.1 if shard == worst else 0.9] * 64))
            coordinator.grant(shard, 0.0)
        granted = {shard: coordinator.grant(shard, 0.0).n_requests for shard in range(64)}
        assert granted[worst] == 0
        assert sum(granted.values()) == 4 * 64


def test_scores_that_do_not_compare_give_equal_leases():
    coordinator = Coordinator(2, 1_000, POLITE)
    for shard in range(2):
        coordinator.note(report(shard, n_queued=100))
    assert coordinator.grant(0, 0.0).page_budget == coordinator.grant(1, 0.0).page_budget == 4


def test_shards_that_have_not_reported_get_nothing():
    assert Coordinator(2, 1_000, POLITE).grant(1, 0.0).page_budget == 0


def test_leases_grow_while_they_are_used_up():
    coordinator, granted = Coordinator(2, 100_000, POLITE), [0]
    for _ in range(6):
        n_pages = sum(granted[-1:])
        used = {"page_budget": n_pages, "n_pages": n_pages, "n_requests": n_pages, "n_requested": n_pages}
        coordinator.note(report(1))
        coordinator.note(report(0, **used, n_queued=10_000, best=[1.0] * 64))
        granted.append(coordinator.grant(0, 0.0).page_budget)
    sizes = [after - before for before, after in pairwise(granted)]
    assert sizes == sorted(sizes)
    assert sizes[-1] >= 10 * sizes[0]


def test_the_only_shard_gets_everything_at_once():
    coordinator = Coordinator(1, 100_000, POLITE)
    coordinator.note(report(0, n_queued=1, best=[1.0]))
    assert coordinator.grant(0, 0.0).page_budget == 100_000


def test_leases_shrink_only_after_some_rounds_that_are_not_used():
    coordinator = Coordinator(2, 100_000, POLITE)
    queued = {"n_queued": 10_000, "best": [1.0] * 64}
    for n in (8, 24, 56, 120):
        coordinator.note(report(1))
        coordinator.note(report(0, page_budget=n, n_pages=n, n_requests=n, n_requested=n, **queued))
    sizes = []
    for _ in range(2 * UNUSED_ROUNDS):
        grant = coordinator.grant(0, 0.0)
        sizes.append(grant.n_requests - 120)
        used = {"page_budget": grant.page_budget, "n_pages": 120, "n_requests": grant.n_requests, "n_requested": 120}
        coordinator.note(report(1))
        coordinator.note(report(0, **used, **queued))
    assert sizes == [128] * UNUSED_ROUNDS + [64] * UNUSED_ROUNDS


@pytest.mark.parametrize(
    ("values", "is_awaited"),
    [
        ({"n_requests": 10, "n_requested": 10, "n_queued": 5}, True),
        ({"n_requests": 10, "n_requested": 4, "n_queued": 5}, False),
        ({"n_requests": 10, "n_requested": 10}, False),
        ({"n_requests": 10, "addresses": ["10.0.0.1"]}, True),
    ],
)
def test_a_shard_that_cannot_go_on_is_awaited(values, is_awaited):
    coordinator = Coordinator(2, 100_000, POLITE)
    coordinator.note(report(0, n_requests=10))
    coordinator.note(report(1, **values))
    assert coordinator.is_awaited is is_awaited


@pytest.mark.parametrize("seed", range(20))
def test_visits_and_leases_never_exceed_the_page_budget(seed):
    rng = Random(seed)
    budget, n_shards = rng.randrange(20, 200), rng.randrange(1, 6)
    coordinator = Coordinator(n_shards, budget, POLITE)
    pages, leases = [0] * n_shards, [0] * n_shards
    issued = [0] * n_shards
    for _ in range(400):
        shard = rng.randrange(n_shards)
        if rng.random() < 0.05:
            # It is replaced by one that has lost what was in flight, and does not know its lease.
            issued[shard] = leases[shard] = 0
            coordinator.lose(shard)
        queued = rng.choice([0, 1, 100])
        coordinator.note(
            report(
                shard,
                page_budget=leases[shard],
                n_pages=pages[shard],
                n_issued=issued[shard],
                n_queued=queued,
                n_waiting=rng.choice([0, 3]),
                best=[rng.random()] * min(queued, 64),
            )
        )
        leases[shard] = coordinator.grant(shard, 0.0).page_budget
        # Pages in flight are visited also under a smaller lease.
        for each in range(n_shards):
            pages[each] += issued[each]
            room = max(0, leases[each] - pages[each])
            issued[each] = rng.randrange(room + 1)
        assert sum(pages) + sum(issued) <= budget
        assert sum(max(lease, n) for lease, n in zip(leases, pages, strict=True)) <= budget


def test_the_crawl_ends_when_two_rounds_are_quiet_and_equal():
    coordinator = Coordinator(2, 1_000, POLITE)

    def round_of(**received: object) -> EndReason | None:
        coordinator.note(report(0, n_pages=5, is_idle=True, sent={1: 7}))
        coordinator.note(report(1, n_pages=5, is_idle=True, **received))
        return coordinator.ended

    assert round_of() is None
    assert round_of() is None, "a parcel is on its way"
    assert round_of(received={0: 7}) is None
    assert round_of(received={0: 7}) is EndReason.FRONTIER


def test_a_busy_shard_keeps_the_crawl_going():
    coordinator = Coordinator(2, 1_000, POLITE)
    for _ in range(3):
        coordinator.note(report(0, is_idle=True))
        coordinator.note(report(1, is_idle=False))
    assert coordinator.ended is None


def test_the_page_budget_ends_the_crawl():
    coordinator = Coordinator(2, 10, POLITE)
    coordinator.note(report(0, n_pages=6))
    coordinator.note(report(1, n_pages=4))
    assert coordinator.ended is EndReason.BUDGET


def test_a_backlog_makes_leases_smaller():
    def lease(backlog: int) -> int:
        coordinator = Coordinator(2, 1_000, POLITE)
        coordinator.note(report(1))
        coordinator.note(report(0, n_queued=1_000, best=[1.0] * 64, backlog=backlog))
        return coordinator.grant(0, 0.0).page_budget

    assert lease(300) < lease(0)


# Tokens


def test_an_address_of_one_shard_is_all_its_own():
    tokens = AddressTokens(4)
    tokens.claim("a", 0)
    assert tokens.grant(0, 0.0) == {"a": 4}
    tokens.confirm(0, {"a": 4})
    assert tokens.grant(0, 0.0) == {}


def test_a_token_is_assigned_after_it_was_given_back():
    tokens = AddressTokens(4)
    tokens.claim("a", 0)
    assert tokens.grant(0, 0.0) == {"a": 4}
    tokens.claim("a", 1)
    assert tokens.grant(1, 0.0) == {}
    assert tokens.grant(0, 0.0) == {"a": 2}
    tokens.confirm(0, {"a": 3})  # A request is in flight.
    assert tokens.grant(1, 0.0) == {"a": 1}
    tokens.confirm(0, {"a": 2})
    assert tokens.grant(1, 0.0) == {"a": 2}


def users_of(tokens: AddressTokens, now_s: float) -> list[int]:
    """The shards that have a turn, when all have given back what they had."""
    for shard in range(6):
        for address in tokens.grant(shard, now_s):
            tokens.confirm(shard, {address: 0})
    return [shard for shard, n in sorted(tokens.wanted("a").items()) if n]


def test_shards_take_turns_if_there_are_more_than_tokens():
    tokens = AddressTokens(4)
    for shard in range(6):
        tokens.claim("a", shard)
    assert [users_of(tokens, turn * TURN_S) for turn in range(4)] == [
        [0, 1, 2, 3],
        [0, 1, 4, 5],
        [2, 3, 4, 5],
        [0, 1, 2, 3],
    ]


def test_the_turn_of_a_shard_that_does_not_use_it_ends():
    tokens = AddressTokens(4)
    for shard in range(6):
        tokens.claim("a", shard)
    users_of(tokens, 0.0)
    tokens.pass_on(1, ["a"])
    tokens.pass_on(2, ["a", "unknown"])
    assert users_of(tokens, 0.0) == [0, 3, 4, 5]


def test_shards_keep_their_tokens_while_there_are_enough():
    tokens = AddressTokens(4)
    tokens.claim("a", 0)
    tokens.claim("a", 1)
    tokens.pass_on(0, ["a"])
    assert tokens.wanted("a") == {0: 2, 1: 2}


@pytest.mark.parametrize("seed", range(10))
def test_shards_together_never_have_more_tokens_than_there_are(seed):
    rng = Random(seed)
    tokens = AddressTokens(4)
    held = dict.fromkeys(range(7), 0)
    for step in range(500):
        shard = rng.randrange(7)
        if rng.random() < 0.1:
            tokens.claim("a", shard)
        if rng.random() < 0.02:
            tokens.release(shard)
            held[shard] = 0
        if rng.random() < 0.1:
            tokens.pass_on(shard, ["a"])
        granted = tokens.grant(shard, 3.0 * step)
        if "a" in granted:
            # Requests in flight may use more tokens for a while.
            held[shard] = max(granted["a"], rng.randrange(held[shard] + 1))
            tokens.confirm(shard, {"a": held[shard]})
        assert sum(held.values()) <= 4
