"""When hosts may be asked: rests worked out by hand."""

from math import inf

import pytest

from scenthound.errors import InvalidParameter, PluginError
from scenthound.frontier.politeness import HostCounts, Politeness
from scenthound.frontier.politeness_rules import HostAnswer, PolitenessRules

QUICK = HostAnswer(0.0)
FAILED = HostAnswer(0.0, failed=True)


def asked(politeness, host, now_s, answer=QUICK):
    """Ask the host; it answers at once. When it will be ready again, None if never."""
    politeness.started(host, now_s)
    politeness.finished(host, now_s, answer)
    return politeness.next_ready_s(now_s)


def rests(answers, **rules):
    """How long a single host rests after each answer in turn."""
    politeness, now_s, found = Politeness(PolitenessRules(**rules)), 0.0, []
    for answer in answers:
        ready_s = asked(politeness, 0, now_s, answer)
        found.append(None if ready_s is None else ready_s - now_s)
        now_s = ready_s
    return found


def test_a_host_rests_from_the_end_of_its_answer():
    politeness = Politeness()
    assert politeness.ready(0, 100.0)
    politeness.started(0, 100.0)
    assert not politeness.ready(0, 105.0)
    politeness.finished(0, 107.0, QUICK)
    assert not politeness.ready(0, 107.999)
    assert politeness.ready(0, 108.0)
    assert politeness.ready(1, 107.0)


def test_a_host_that_is_not_ready_cannot_be_asked():
    politeness = Politeness()
    politeness.started(0, 0.0)
    with pytest.raises(PluginError, match=r"^Host 0 was asked at 0\.000 though it is not ready; ask `ready` first"):
        politeness.started(0, 0.0)
    politeness.finished(0, 0.0, QUICK)
    with pytest.raises(PluginError, match="Host 0 was asked"):
        politeness.started(0, 0.5)
    with pytest.raises(PluginError, match=r"Host 0 answered at 0\.500 though it was not asked"):
        politeness.finished(0, 0.5, QUICK)
    with pytest.raises(PluginError, match="Host 7 answered"):
        politeness.finished(7, 0.5, QUICK)


def test_a_slow_host_rests_five_times_its_smoothed_response_time():
    # 5 * 0.4 = 2. Smoothed: 0.4 + (0.8 - 0.4) / 4 = 0.5, so 2.5. Then 0.5 - 0.5 / 4 = 0.375: 1.875.
    assert rests([HostAnswer(0.4), HostAnswer(0.8), HostAnswer(0.0)]) == pytest.approx([2.0, 2.5, 1.875])
    # Never less than the delay, never more than 30 s by slowness alone.
    assert rests([HostAnswer(0.125)]) == [1.0]
    assert rests([HostAnswer(9.0)]) == [30.0]
    assert rests([HostAnswer(9.0)], delay_s=40.0) == [40.0]
    assert rests([HostAnswer(9.0)], delay_factor=0.0) == [1.0]


def test_each_failure_in_a_row_doubles_the_rest_and_each_success_halves_it():
    assert rests([FAILED, FAILED, FAILED, QUICK, QUICK, QUICK]) == [2.0, 4.0, 8.0, 4.0, 2.0, 1.0]
    assert rests([FAILED] * 5, delay_s=3.0, longest_rest_s=40.0) == [6.0, 12.0, 24.0, 40.0, 40.0]


def test_a_failure_drops_the_response_time_that_was_measured():
    # A response of 2 s: 10 s of rest, after the failure 20. Then 0.1 s counts alone: not (2 * 3 + 0.1) / 4 * 5 = 7.6 s.
    assert rests([HostAnswer(2.0), FAILED, HostAnswer(0.1)]) == [10.0, 20.0, 1.0]


def test_a_host_that_fails_rests_even_in_a_crawl_without_delays():
    assert rests([FAILED, FAILED], delay_s=0.0) == [2.0, 4.0]
    politeness = Politeness(PolitenessRules(delay_s=0.0))
    assert asked(politeness, 0, 0.0) is None
    assert politeness.ready(0, 0.0)


def test_retry_after_is_kept_to_but_never_shortens_a_rest():
    late = HostAnswer(0.0, failed=True, retry_after_s=60.0)
    soon = HostAnswer(0.0, failed=True, retry_after_s=1.0)
    assert rests([late, soon, soon]) == [60.0, 4.0, 8.0]
    assert rests([HostAnswer(0.0, retry_after_s=5.0)]) == [5.0]
    assert rests([HostAnswer(0.0, retry_after_s=float("nan"))]) == [1.0]


@pytest.mark.parametrize("retry_after_s", [3600.5, inf])
def test_a_host_that_asks_for_too_long_a_rest_is_retired(retry_after_s):
    politeness = Politeness()
    assert asked(politeness, 0, 0.0, HostAnswer(0.0, failed=True, retry_after_s=retry_after_s)) is None
    assert politeness.is_retired(0)
    assert not politeness.ready(0, 1e12)


def test_ten_failures_in_a_row_retire_a_host_and_a_success_between_them_does_not():
    politeness, now_s = Politeness(), 0.0
    for answer in [FAILED] * 9 + [QUICK] + [FAILED] * 9:
        now_s = asked(politeness, 0, now_s, answer)
    assert not politeness.is_retired(0)
    assert asked(politeness, 0, now_s, FAILED) is None
    assert politeness.is_retired(0)


def test_a_crawl_delay_counts_from_the_answer_that_brought_it():
    politeness = Politeness()
    asked(politeness, 0, 10.0)
    politeness.set_crawl_delay(0, 7.0)
    assert politeness.next_ready_s(10.0) == 17.0
    assert asked(politeness, 0, 17.0) == 24.0
    # Of another host it says nothing, and one that is shorter than the delay changes nothing.
    politeness.set_crawl_delay(1, 0.5)
    assert politeness.ready(1, 0.0)
    assert asked(politeness, 1, 20.0) == 21.0


def test_a_crawl_delay_that_comes_while_the_host_is_asked_counts_from_its_answer():
    politeness = Politeness()
    politeness.started(0, 0.0)
    politeness.set_crawl_delay(0, 7.0)
    assert not politeness.ready(0, 100.0)
    politeness.finished(0, 3.0, QUICK)
    assert politeness.next_ready_s(3.0) == 10.0


@pytest.mark.parametrize("delay_s", [None, 0.0, -3.0, float("nan")])
def test_a_crawl_delay_that_says_nothing_leaves_the_delay(delay_s):
    politeness = Politeness()
    politeness.set_crawl_delay(0, 9.0)
    politeness.set_crawl_delay(0, delay_s)
    assert asked(politeness, 0, 0.0) == 1.0


def test_too_long_a_crawl_delay_retires_a_host_and_the_crawls_own_delay_does_not():
    politeness = Politeness()
    politeness.set_crawl_delay(0, 3600.0)
    politeness.set_crawl_delay(1, 3601.0)
    assert [politeness.is_retired(host) for host in (0, 1, 2)] == [False, True, False]
    patient = Politeness(PolitenessRules(delay_s=7200.0))
    patient.set_crawl_delay(0, 60.0)
    assert asked(patient, 0, 0.0) == 7200.0


def test_a_host_that_was_retired_while_it_was_asked_stays_retired():
    politeness = Politeness()
    politeness.started(0, 0.0)
    politeness.retire(0)
    politeness.finished(0, 1.0, QUICK)
    politeness.set_crawl_delay(0, 2.0)
    assert politeness.next_ready_s(1.0) is None
    assert not politeness.ready(0, 1e12)


def test_hosts_at_one_address_take_turns():
    politeness = Politeness()
    for host, address in enumerate(["192.0.2.1", "192.0.2.1", "192.0.2.9"]):
        politeness.set_address(host, address)
    politeness.started(0, 0.0)
    # A quarter of the delay between requests to one address.
    assert not politeness.ready(1, 0.2)
    assert politeness.next_ready_s(0.0) == 0.25
    assert politeness.ready(1, 0.25)
    assert politeness.ready(2, 0.0)


def test_so_many_requests_are_in_flight_to_one_address_and_no_more():
    politeness = Politeness(PolitenessRules(address_connections=2))
    for host in range(3):
        politeness.set_address(host, "192.0.2.1")
    politeness.started(0, 0.0)
    politeness.started(1, 0.25)
    assert not politeness.ready(2, 1e12)
    assert politeness.next_ready_s(0.0) is None
    politeness.finished(0, 5.0, QUICK)
    assert politeness.ready(2, 5.0)


def test_a_host_found_at_an_address_at_rest_waits_for_it():
    politeness = Politeness()
    politeness.set_address(0, "192.0.2.1")
    politeness.started(0, 0.0)
    politeness.set_address(1, "192.0.2.1")
    assert not politeness.ready(1, 0.1)
    assert politeness.next_ready_s(0.1) == 0.25


def test_an_address_that_rests_longer_than_its_only_host_holds_it_back():
    politeness = Politeness(PolitenessRules(address_delay_s=3.0))
    politeness.set_address(0, "192.0.2.1")
    assert asked(politeness, 0, 0.0) == 3.0


def test_nobody_is_woken_for_an_address_with_one_host():
    politeness = Politeness()
    politeness.set_address(0, "192.0.2.1")
    politeness.set_address(1, "192.0.2.1")
    politeness.set_address(1, "192.0.2.2")
    politeness.started(0, 0.0)
    assert politeness.next_ready_s(0.0) is None
    politeness.finished(0, 0.1, QUICK)
    assert politeness.next_ready_s(0.1) == 1.1


def test_a_host_can_move_but_not_while_it_is_asked():
    politeness = Politeness()
    politeness.set_address(0, "192.0.2.1")
    politeness.started(0, 0.0)
    with pytest.raises(PluginError, match="Host 0 got another address while it is asked"):
        politeness.set_address(0, "192.0.2.2")
    politeness.finished(0, 0.0, QUICK)
    politeness.set_address(0, "192.0.2.2")
    politeness.set_address(1, "192.0.2.2")
    assert politeness.ready(1, 0.0)


def test_a_name_that_is_not_found_counts_as_a_failure_without_a_request():
    politeness = Politeness(PolitenessRules(failures_to_retire=3))
    politeness.failed(0, 0.0)
    assert politeness.next_ready_s(0.0) == 2.0
    politeness.failed(0, 2.0)
    assert politeness.next_ready_s(2.0) == 6.0
    politeness.failed(0, 6.0)
    assert politeness.is_retired(0)


def test_a_failure_at_an_address_without_room_does_not_last_for_ever():
    politeness = Politeness(PolitenessRules(address_connections=1))
    politeness.set_address(0, "192.0.2.1")
    politeness.set_address(1, "192.0.2.1")
    politeness.started(0, 0.0)
    politeness.failed(1, 0.0)
    politeness.finished(0, 1.0, QUICK)
    assert politeness.ready(1, 2.0)


def test_the_counts_tell_what_hosts_do():
    politeness = Politeness()
    assert politeness.counts(0.0) == HostCounts(0, 0, 0, 0)
    for host in range(5):
        politeness.set_address(host, "192.0.2.1" if host < 2 else f"192.0.2.{host}")
    politeness.started(0, 0.0)
    politeness.retire(3)
    politeness.started(4, 0.0)
    politeness.retire(4)
    # 0 is asked, 1 waits for the address of 0, 2 is ready, 3 and 4 are retired.
    assert politeness.counts(0.0) == HostCounts(active=1, resting=1, ready=1, retired=2)
    politeness.finished(0, 0.0, QUICK)
    assert politeness.counts(0.5) == HostCounts(active=0, resting=1, ready=2, retired=2)


def test_memory_does_not_grow_with_requests_though_nobody_asks_for_the_next():
    politeness, n_entries, n_clearings = Politeness(), 0, 0
    for turn in range(5_000):
        now_s = turn / 32
        politeness.started(turn % 50, now_s)
        politeness.finished(turn % 50, now_s, QUICK)
        if len(politeness._ends) < n_entries:
            n_clearings += 1
            # The hosts asked in the last second rest; the one asked 31 turns ago is the first to be ready.
            assert politeness.next_ready_s(now_s) == (turn - 31) / 32 + 1.0
        n_entries = len(politeness._ends)
        assert n_entries < 1200
    assert n_clearings > 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("delay_s", -1.0), ("delay_s", inf), ("address_delay_s", float("nan")), ("failures_to_retire", 0)],
)
def test_rules_that_make_no_sense_are_refused(name, value):
    with pytest.raises(InvalidParameter, match=rf"^{name} is {value}; it has to be"):
        PolitenessRules(**{name: value})
