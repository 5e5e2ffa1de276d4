"""Conditional requests: the validators of stored responses, whatever their headers contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.conditions import conditions, http_date_s, last_modified_s

#: 2026-01-31 12:00:00 UTC
NOON_S = 1_769_860_800.0
NOON = "Sat, 31 Jan 2026 12:00:00 GMT"
MONDAY = "Mon, 05 Jan 2026 08:00:00 GMT"


def head(*lines: str) -> bytes:
    return "".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines)).encode("latin-1")


def test_validators_are_sent_back_as_they_were() -> None:
    stored = head('ETag: W/"5-a b"', f"Last-Modified: {MONDAY}")
    # A blank is not allowed within an ETag.
    assert conditions([stored], NOON_S) == (f"If-Modified-Since: {MONDAY}",)
    stored = head('etag:  W/"5-ab" ', f"Last-Modified: {MONDAY}")
    assert conditions([stored], NOON_S) == ('If-None-Match: W/"5-ab"', f"If-Modified-Since: {MONDAY}")


def test_the_latest_response_renews_what_it_names() -> None:
    first = head('ETag: "1"', f"Last-Modified: {MONDAY}")
    not_modified = head('ETag: "1-gzip"')
    assert conditions([not_modified, first], NOON_S) == ('If-None-Match: "1-gzip"', f"If-Modified-Since: {MONDAY}")


def test_without_last_modified_it_is_the_time_of_the_response() -> None:
    assert conditions([head()], NOON_S) == (f"If-Modified-Since: {NOON}",)
    # By the clock of the server.
    assert conditions([head(f"Date: {MONDAY}")], NOON_S) == (f"If-Modified-Since: {MONDAY}",)


@pytest.mark.parametrize(
    "line",
    ["ETag: unquoted", 'ETag: "caf\xe9"', f'ETag: "{"x" * 2_000}"', "Last-Modified: yesterday", "Last-Modified:"],
)
def test_invalid_validators_are_left_out(line: str) -> None:
    assert conditions([head(line)], NOON_S) == (f"If-Modified-Since: {NOON}",)


@given(st.text(st.characters(codec="latin-1")), st.text(st.characters(codec="latin-1")))
def test_whatever_headers_contain_no_line_is_added(etag: str, modified: str) -> None:
    stored = f"HTTP/1.1 200 OK\r\nETag: {etag}\r\nLast-Modified: {modified}\r\n".encode("latin-1")
    lines = conditions([stored], NOON_S)
    assert len(lines) <= 2
    assert all(line.isascii() and line.isprintable() for line in lines)


def test_dates_may_have_any_of_the_three_forms() -> None:
    for value in (NOON, "Saturday, 31-Jan-26 12:00:00 GMT", "Sat Jan 31 12:00:00 2026"):
        assert http_date_s(value) == NOON_S
    assert http_date_s("soon") is None
    assert http_date_s("9" * 1_000) is None
    assert last_modified_s(head(f"Last-Modified: {NOON}")) == NOON_S
    assert last_modified_s(head()) is None
