"""The probability that a page has changed, estimated from the outcome of earlier checks."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.expected_change import (
    DEFAULT_RATE,
    ChangeHistory,
    change_probability,
    change_rate,
    host_rates,
)

DAY_S = 86_400.0


def checked(*intervals: tuple[float, bool]) -> ChangeHistory:
    history = ChangeHistory()
    for interval_s, changed in intervals:
        history.add_check(interval_s, changed=changed)
    return history


@pytest.mark.parametrize(("n_checks", "n_changes"), [(1, 1), (10, 3), (10, 10), (4, 0)])
def test_regular_checks_give_the_estimate_of_the_paper(n_checks: int, n_changes: int) -> None:
    history = checked(*((DAY_S, number < n_changes) for number in range(n_checks)))
    # -log((n - X + 0.5) / (n + 0.5)) per interval.
    expected = -log((n_checks - n_changes + 0.5) / (n_checks + 0.5)) / DAY_S
    assert change_rate(history, 0.0) == pytest.approx(expected, rel=1e-9)


def test_an_example_worked_out_by_hand() -> None:
    # Three checks a day apart, of which one found a change: e^r = 3.5 / 2.5 = 1.4, r = 0.33647 changes a day.
    history = checked((DAY_S, True), (DAY_S, False), (DAY_S, False))
    rate = change_rate(history, 0.0)
    assert rate * DAY_S == pytest.approx(0.33647, abs=1e-5)
    assert change_probability(rate, 2 * DAY_S) == pytest.approx(1 - 1 / 1.4**2)


def test_intervals_may_differ() -> None:
    history = checked((1.0, True), (3.0, True), (2.0, False))
    rate = change_rate(history, 0.0)
    # The half check is half of the mean interval, 2: 1 / (e^r - 1) + 3 / (e^3r - 1) = 2 + 1.
    assert 1 / (exp(rate) - 1) + 3 / (exp(3 * rate) - 1) == pytest.approx(3.0)


def test_without_checks_the_rate_is_that_of_the_host_and_checks_outweigh_it_soon() -> None:
    assert change_rate(ChangeHistory(), 0.25) == 0.25
    # By the prior a check after 4 s finds a change with probability p = 1 - 1/e. Half of it, and a check that found
    # none: p / 2 / (e^4r - 1) = 1 + (1 - p) / 2.
    p = 1 - exp(-1)
    rate = change_rate(checked((4.0, False)), 0.25)
    assert exp(4 * rate) == pytest.approx(1 + (p / 2) / (1 + (1 - p) / 2))
    assert change_rate(checked(*[(4.0, False)] * 20), 0.25) < 0.25 / 10


def test_the_last_change_before_the_visit_is_an_event() -> None:
    history = ChangeHistory()
    history.add_last_change(8.0)
    # With the prior 0 half a check of 8 s more found no change: one event in 12 s.
    assert change_rate(history, 0.0) == pytest.approx(1 / 12)
    history.add_check(20.0, changed=False)
    assert change_rate(history, 0.0) == pytest.approx(1 / (8 + 20 + 10))


def test_a_page_that_always_changes_is_expected_to_have_changed() -> None:
    often = change_rate(checked(*[(DAY_S, True)] * 5), DEFAULT_RATE)
    rarely = change_rate(checked(*[(DAY_S, False)] * 5), DEFAULT_RATE)
    assert change_probability(often, DAY_S) > 0.7
    assert change_probability(rarely, DAY_S) < 0.05


def test_hosts_differ_and_a_host_without_checks_has_the_mean_of_all() -> None:
    news, manual, unknown = checked(*[(DAY_S, True)] * 3), checked(*[(DAY_S, False)] * 30), ChangeHistory()
    rates = host_rates([news, manual, unknown], ["news.test", "manual.test", "new.test"])
    assert rates["news.test"] > rates["new.test"] > rates["manual.test"]
    assert rates["new.test"] == pytest.approx(change_rate(ChangeHistory.pooled([news, manual]), DEFAULT_RATE))


@given(
    st.lists(st.tuples(st.floats(0.0, 1e10), st.booleans()), max_size=20),
    st.floats(0.0, 1e10),
    st.floats(1e-12, 1e3),
    st.floats(0.0, 1e10),
)
def test_whatever_was_found_the_probability_is_one(
    checks: list[tuple[float, bool]], last_change_s: float, prior_rate: float, age_s: float
) -> None:
    history = checked(*checks)
    history.add_last_change(last_change_s)
    rate = change_rate(history, prior_rate)
    assert rate > 0
    assert 0 <= change_probability(rate, age_s) <= 1


def test_a_further_change_never_lowers_the_rate() -> None:
    rates = [
        change_rate(checked(*[(DAY_S, number < n_changes) for number in range(8)]), DEFAULT_RATE)
        for n_changes in range(9)
    ]
    assert rates == sorted(rates)
    assert len(set(rates)) == 9
