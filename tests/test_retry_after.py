"""What a server means by Retry-After."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.reader import LONGEST_S, retry_after_seconds

#: Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples, in seconds since the epoch.
NOVEMBER_6_S = 784_111_777.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120.0), (" 0 ", 0.0), ("1.5", 1.5), ("+3", 3.0), ("-5", 0.0), ("007", 7.0)],
)
def test_a_number_is_seconds_and_less_than_none_is_none(value, seconds):
    assert retry_after_seconds(value, NOVEMBER_6_S) == seconds


@pytest.mark.parametrize(
    "date",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 09:49:37 +0100",
    ],
)
def test_a_date_is_the_time_until_then(date):
    assert retry_after_seconds(date, NOVEMBER_6_S - 90.5) == 90.5


def test_a_date_that_has_passed_asks_for_no_wait():
    assert retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT", NOVEMBER_6_S + 1) == 0.0


@pytest.mark.parametrize(
    "value",
    ["", "soon", "1e3", "nan", "inf", "1,5", "٣", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999999 08:49:37 GMT"],
)
def test_garbage_says_nothing(value):
    assert retry_after_seconds(value, NOVEMBER_6_S) is None


# Ten years of 365.25 days: 3,652.5 * 86,400 seconds.
@pytest.mark.parametrize("value", ["315576001", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_no_more_than_ten_years_are_asked_for(value):
    assert retry_after_seconds(value, NOVEMBER_6_S) == 315_576_000.0


@given(st.text() | st.text("SunNov 0123456789:,+-GMT()", max_size=40))
def test_any_header_is_read_without_an_error(value):
    seconds = retry_after_seconds(value, NOVEMBER_6_S)
    assert seconds is None or 0 <= seconds <= LONGEST_S


def test_endless_headers_cost_no_time():
    assert retry_after_seconds("(" * 60_000, NOVEMBER_6_S) is None
    assert retry_after_seconds("Sun, " * 12_000, NOVEMBER_6_S) is None
