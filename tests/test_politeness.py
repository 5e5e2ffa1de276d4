"""Request schedules of hosts: delays computed by hand."""

from math import inf

import pytest

from scenthound.errors import InvalidParameter, PluginError
from scenthound.frontier.politeness import HostCounts, Politeness, PolitenessSettings, RequestOutcome

FAST = RequestOutcome(0.0)
FAILED = RequestOutcome(0.0, failed=True)


def request(politeness, host, now_s, outcome=FAST):
    """Send a request that ends at once; return when the host is ready again, None if never."""
    politeness.started(host, now_s)
    politeness.finished(host, now_s, outcome)
    return politeness.next_ready_s(now_s)


def delays(outcomes, **settings):
    """The delay of a single host after each outcome."""
    politeness, now_s, found = Politeness(PolitenessSettings(**settings)), 0.0, []
    for outcome in outcomes:
        ready_s = request(politeness, 0, now_s, outcome)
        found.append(None if ready_s is None else ready_s - now_s)
        now_s = ready_s
    return found


def test_the_delay_starts_at_the_end_of_the_response():
    politeness = Politeness()
    assert politeness.ready(0, 100.0)
    politeness.started(0, 100.0)
    assert not politeness.ready(0, 105.0)
    politeness.finished(0, 107.0, FAST)
    assert not politeness.ready(0, 107.999)
    assert politeness.ready(0, 108.0)
    assert politeness.ready(1, 107.0)


def test_a_request_to_a_host_that_is_not_ready_raises_an_error():
    politeness = Politeness()
    politeness.started(0, 0.0)
    with pytest.raises(PluginError, match=r"host 0 at 0\.000"):
        politeness.started(0, 0.0)
    politeness.finished(0, 0.0, FAST)
    with pytest.raises(PluginError, match=r"host 0 at 0\.500"):
        politeness.started(0, 0.5)
    with pytest.raises(PluginError, match=r"host 0 at 0\.500"):
        politeness.finished(0, 0.5, FAST)
    with pytest.raises(PluginError, match="host 7"):
        politeness.finished(7, 0.5, FAST)


def test_the_delay_of_a_slow_host_is_five_times_its_smoothed_response_time():
    # 5 * 0.4 = 2. Smoothed: 0.4 + (0.8 - 0.4) / 4 = 0.5, so 2.5. Then 0.5 - 0.5 / 4 = 0.375: 1.875.
    assert delays([RequestOutcome(0.4), RequestOutcome(0.8), RequestOutcome(0.0)]) == pytest.approx([2.0, 2.5, 1.875])
    # At least the delay of the crawl, and at most 30 s because of slow responses.
    assert delays([RequestOutcome(0.125)]) == [1.0]
    assert delays([RequestOutcome(9.0)]) == [30.0]
    assert delays([RequestOutcome(9.0)], delay_s=40.0) == [40.0]
    assert delays([RequestOutcome(9.0)], delay_factor=0.0) == [1.0]


def test_each_failure_doubles_the_delay_and_each_success_halves_it_again():
    assert delays([FAILED, FAILED, FAILED, FAST, FAST, FAST]) == [2.0, 4.0, 8.0, 4.0, 2.0, 1.0]
    assert delays([FAILED] * 5, delay_s=3.0, max_delay_s=40.0) == [6.0, 12.0, 24.0, 40.0, 40.0]


def test_a_failure_resets_the_smoothed_response_time():
    # 2 s: a delay of 10 s, after the failure 20 s. Then 0.1 s counts alone: not (2 * 3 + 0.1) / 4 * 5 = 7.6 s.
    assert delays([RequestOutcome(2.0), FAILED, RequestOutcome(0.1)]) == [10.0, 20.0, 1.0]


def test_failures_cause_a_backoff_even_in_a_crawl_without_delays():
    assert delays([FAILED, FAILED], delay_s=0.0) == [2.0, 4.0]
    politeness = Politeness(PolitenessSettings(delay_s=0.0))
    assert request(politeness, 0, 0.0) is None
    assert politeness.ready(0, 0.0)


def test_retry_after_is_respected_but_never_shortens_a_delay():
    late = RequestOutcome(0.0, failed=True, retry_after_s=60.0)
    soon = RequestOutcome(0.0, failed=True, retry_after_s=1.0)
    assert delays([late, soon, soon]) == [60.0, 4.0, 8.0]
    assert delays([RequestOutcome(0.0, retry_after_s=5.0)]) == [5.0]
    assert delays([RequestOutcome(0.0, retry_after_s=float("nan"))]) == [1.0]


@pytest.mark.parametrize("retry_after_s", [3600.5, inf])
def test_a_host_with_too_long_a_retry_after_is_disabled(retry_after_s):
    politeness = Politeness()
    assert request(politeness, 0, 0.0, RequestOutcome(0.0, failed=True, retry_after_s=retry_after_s)) is None
    assert politeness.is_disabled(0)
    assert not politeness.ready(0, 1e12)


def test_only_ten_failures_in_a_row_disable_a_host():
    politeness, now_s = Politeness(), 0.0
    for outcome in [FAILED] * 9 + [FAST] + [FAILED] * 9:
        now_s = request(politeness, 0, now_s, outcome)
    assert not politeness.is_disabled(0)
    assert request(politeness, 0, now_s, FAILED) is None
    assert politeness.is_disabled(0)


def test_a_crawl_delay_counts_from_the_last_response():
    politeness = Politeness()
    request(politeness, 0, 10.0)
    politeness.set_crawl_delay(0, 7.0)
    assert politeness.next_ready_s(10.0) == 17.0
    assert request(politeness, 0, 17.0) == 24.0
    # Other hosts are unaffected, and a crawl delay below the delay of the crawl has no effect.
    politeness.set_crawl_delay(1, 0.5)
    assert politeness.ready(1, 0.0)
    assert request(politeness, 1, 20.0) == 21.0


def test_a_crawl_delay_set_during_a_request_counts_from_its_end():
    politeness = Politeness()
    politeness.started(0, 0.0)
    politeness.set_crawl_delay(0, 7.0)
    assert not politeness.ready(0, 100.0)
    politeness.finished(0, 3.0, FAST)
    assert politeness.next_ready_s(3.0) == 10.0


@pytest.mark.parametrize("delay_s", [None, 0.0, -3.0, float("nan")])
def test_an_invalid_crawl_delay_has_no_effect(delay_s):
    politeness = Politeness()
    politeness.set_crawl_delay(0, 9.0)
    politeness.set_crawl_delay(0, delay_s)
    assert request(politeness, 0, 0.0) == 1.0


def test_too_long_a_crawl_delay_disables_a_host_and_the_delay_of_the_crawl_does_not():
    politeness = Politeness()
    politeness.set_crawl_delay(0, 3600.0)
    politeness.set_crawl_delay(1, 3601.0)
    assert [politeness.is_disabled(host) for host in (0, 1, 2)] == [False, True, False]
    patient = Politeness(PolitenessSettings(delay_s=7200.0))
    patient.set_crawl_delay(0, 60.0)
    assert request(patient, 0, 0.0) == 7200.0


def test_a_host_disabled_during_a_request_stays_disabled():
    politeness = Politeness()
    politeness.started(0, 0.0)
    politeness.disable(0)
    politeness.finished(0, 1.0, FAST)
    politeness.set_crawl_delay(0, 2.0)
    assert politeness.next_ready_s(1.0) is None
    assert not politeness.ready(0, 1e12)


def test_requests_to_one_address_start_apart():
    politeness = Politeness()
    for host, address in enumerate(["192.0.2.1", "192.0.2.1", "192.0.2.9"]):
        politeness.set_address(host, address)
    politeness.started(0, 0.0)
    # A quarter of the delay between requests to one address.
    assert not politeness.ready(1, 0.2)
    assert politeness.next_ready_s(0.0) == 0.25
    assert politeness.ready(1, 0.25)
    assert politeness.ready(2, 0.0)


def test_concurrent_requests_to_one_address_are_limited():
    politeness = Politeness(PolitenessSettings(address_connections=2))
    for host in range(3):
        politeness.set_address(host, "192.0.2.1")
    politeness.started(0, 0.0)
    politeness.started(1, 0.25)
    assert not politeness.ready(2, 1e12)
    assert politeness.next_ready_s(0.0) is None
    politeness.finished(0, 5.0, FAST)
    assert politeness.ready(2, 5.0)


def test_a_host_waits_for_its_address():
    politeness = Politeness()
    politeness.set_address(0, "192.0.2.1")
    politeness.started(0, 0.0)
    politeness.set_address(1, "192.0.2.1")
    assert not politeness.ready(1, 0.1)
    assert politeness.next_ready_s(0.1) == 0.25


def test_an_address_delay_above_the_delay_of_its_only_host_counts():
    politeness = Politeness(PolitenessSettings(address_delay_s=3.0))
    politeness.set_address(0, "192.0.2.1")
    assert request(politeness, 0, 0.0) == 3.0


def test_an_address_with_a_single_host_causes_no_wake_up():
    politeness = Politeness()
    politeness.set_address(0, "192.0.2.1")
    politeness.set_address(1, "192.0.2.1")
    politeness.set_address(1, "192.0.2.2")
    politeness.started(0, 0.0)
    assert politeness.next_ready_s(0.0) is None
    politeness.finished(0, 0.1, FAST)
    assert politeness.next_ready_s(0.1) == 1.1


def test_an_address_can_change_but_not_during_a_request():
    politeness = Politeness()
    politeness.set_address(0, "192.0.2.1")
    politeness.started(0, 0.0)
    with pytest.raises(PluginError, match="host 0"):
        politeness.set_address(0, "192.0.2.2")
    politeness.finished(0, 0.0, FAST)
    politeness.set_address(0, "192.0.2.2")
    politeness.set_address(1, "192.0.2.2")
    assert politeness.ready(1, 0.0)


def test_a_failed_dns_lookup_counts_as_a_failure():
    politeness = Politeness(PolitenessSettings(max_failures=3))
    politeness.failed(0, 0.0)
    assert politeness.next_ready_s(0.0) == 2.0
    politeness.failed(0, 2.0)
    assert politeness.next_ready_s(2.0) == 6.0
    politeness.failed(0, 6.0)
    assert politeness.is_disabled(0)


def test_a_failure_at_an_address_without_free_connections_ends():
    politeness = Politeness(PolitenessSettings(address_connections=1))
    politeness.set_address(0, "192.0.2.1")
    politeness.set_address(1, "192.0.2.1")
    politeness.started(0, 0.0)
    politeness.failed(1, 0.0)
    politeness.finished(0, 1.0, FAST)
    assert politeness.ready(1, 2.0)


def test_counts_of_active_waiting_ready_and_disabled_hosts():
    politeness = Politeness()
    assert politeness.counts(0.0) == HostCounts(0, 0, 0, 0)
    for host in range(5):
        politeness.set_address(host, "192.0.2.1" if host < 2 else f"192.0.2.{host}")
    politeness.started(0, 0.0)
    politeness.disable(3)
    politeness.started(4, 0.0)
    politeness.disable(4)
    # 0 has a request in flight, 1 waits for the address of 0, 2 is ready, 3 and 4 are disabled.
    assert politeness.counts(0.0) == HostCounts(active=1, waiting=1, ready=1, disabled=2)
    politeness.finished(0, 0.0, FAST)
    assert politeness.counts(0.5) == HostCounts(active=0, waiting=1, ready=2, disabled=2)


def test_memory_does_not_grow_with_the_number_of_requests():
    politeness, n_entries, n_clearings = Politeness(), 0, 0
    for turn in range(5_000):
        now_s = turn / 32
        politeness.started(turn % 50, now_s)
        politeness.finished(turn % 50, now_s, FAST)
        if len(politeness._ends) < n_entries:
            n_clearings += 1
            # Hosts requested in the last second are waiting; the one of 31 steps ago is ready first.
            assert politeness.next_ready_s(now_s) == (turn - 31) / 32 + 1.0
        n_entries = len(politeness._ends)
        assert n_entries < 1200
    assert n_clearings > 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("delay_s", -1.0), ("delay_s", inf), ("address_delay_s", float("nan")), ("max_failures", 0)],
)
def test_invalid_settings_are_rejected(name, value):
    with pytest.raises(InvalidParameter, match=rf"^{name} .* {value}\.$"):
        PolitenessSettings(**{name: value})


def test_after_a_restart_every_host_waits_once_and_so_do_hosts_that_are_not_known_yet() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=8.0))
    for host in range(2):
        politeness.started(host, 10.0)
        politeness.finished(host, 10.5, RequestOutcome(0.1, retry_after_s=600.0 * host or None))
    politeness.resume(100.0)
    assert [politeness.ready(host, 107.9) for host in range(3)] == [False, False, False]
    assert [politeness.ready(host, 108.0) for host in range(3)] == [True, False, True]
    assert politeness.ready(1, 610.5)


def test_requests_that_are_repeated_and_other_hosts_of_an_address_wait_for_each_other() -> None:
    politeness = Politeness(PolitenessSettings(delay_s=1.0, address_delay_s=0.25))
    for host in range(4):
        politeness.set_address(host, "192.0.2.1")
    for host in range(2):
        politeness.started(host, 10.0 + host)
    politeness.resume(20.0)
    # Any host of the address may have received a request just before the restart.
    assert politeness.reserve_address(0, 20.0, 20.0) == 20.25
    assert politeness.reserve_address(1, 20.0, 20.125) == 20.5
    politeness.resume(30.0)
    assert politeness.reserve_address(0, 30.0, 30.0) == 30.25
