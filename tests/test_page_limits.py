"""Limits on pages per host and per domain, with pages in flight."""

from hypothesis import given
from hypothesis import strategies as st

from scenthound.frontier.politeness import PageLimits, PolitenessSettings
from scenthound.reasons import SkipReason


def page_limits(**settings):
    return PageLimits(PolitenessSettings(**settings))


def fetch(limits, host, domain):
    limits.reserve(host, domain)
    limits.settle(host, domain, counted=True)


def test_the_page_limit_of_a_host():
    limits = page_limits(pages_per_host=2)
    fetch(limits, 3, 0)
    assert limits.reached(3, 0) is None
    fetch(limits, 3, 0)
    assert limits.reached(3, 0) == SkipReason.HOST_BUDGET
    assert not limits.has_room(3, 0)
    assert limits.reached(2, 0) is None
    assert limits.has_room(9, 0)


def test_hosts_of_one_domain_share_its_limit():
    limits = page_limits(pages_per_domain=2)
    fetch(limits, 0, 5)
    fetch(limits, 1, 5)
    assert limits.reached(2, 5) == SkipReason.DOMAIN_BUDGET
    assert limits.reached(2, 4) is None


def test_a_page_in_flight_reserves_the_last_slot_and_may_release_it():
    limits = page_limits(pages_per_domain=1)
    limits.reserve(0, 0)
    # Not reached, so pages of the domain are not skipped; but no request may start now.
    assert limits.reached(1, 0) is None
    assert not limits.has_room(1, 0)
    limits.settle(0, 0, counted=False)
    assert limits.has_room(1, 0)
    fetch(limits, 1, 0)
    assert limits.reached(0, 0) == SkipReason.DOMAIN_BUDGET


def test_without_a_setting_there_is_no_limit():
    limits = page_limits()
    for _ in range(100):
        fetch(limits, 0, 0)
    assert limits.reached(0, 0) is None
    assert limits.has_room(0, 0)


steps = st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), max_size=80)


@given(steps, st.integers(1, 4), st.integers(1, 6))
def test_limits_are_never_exceeded_and_can_be_reached_exactly(steps, per_host, per_domain):
    # Hosts 0 and 1 are domain 0, hosts 2 and 3 domain 1.
    limits = page_limits(pages_per_host=per_host, pages_per_domain=per_domain)
    counted, in_flight = [0] * 4, []
    for host, is_start, is_counted in steps:
        if is_start and limits.has_room(host, host // 2):
            limits.reserve(host, host // 2)
            in_flight.append(host)
        elif not is_start and in_flight:
            ended = in_flight.pop()
            counted[ended] += is_counted
            limits.settle(ended, ended // 2, counted=is_counted)
    for host in in_flight:
        limits.settle(host, host // 2, counted=False)
    for host in (0, 2, 1, 3):
        while limits.has_room(host, host // 2):
            fetch(limits, host, host // 2)
            counted[host] += 1
        assert limits.reached(host, host // 2)
    assert max(counted) <= per_host
    assert [counted[0] + counted[1], counted[2] + counted[3]] == [min(per_domain, 2 * per_host)] * 2
