"""The Retry-After header: how long a server asks to be left alone (RFC 9110 section 10.2.3).

It is a number of seconds or a date in any of the three forms of RFC 9110 section 5.6.7. Fractions of a second are not
in the standard, but servers send them. A moment that has passed asks for no wait, and nothing asks for more than ten
years, so that the answer is always a number that can be written down. What is neither number nor date says nothing.
"""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

LONGEST_S = 10 * 365.25 * 86_400.0

_SECONDS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")
#: No date is longer, and what parses dates takes its time over endless ones.
_LONGEST_DATE = 100


def retry_after_seconds(value: str, now_s: float) -> float | None:
    """How many seconds to wait from now on; None if the value cannot be read."""
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return _bounded(float(value))
    date_s = _seconds_of_date(value) if len(value) <= _LONGEST_DATE else None
    return None if date_s is None else _bounded(date_s - now_s)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_S)


def _seconds_of_date(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
        # HTTP dates are in GMT (RFC 9110 section 5.6.7), also in the form that does not say so.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
