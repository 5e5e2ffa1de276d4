"""Conditional requests (RFC 9110, section 13): a page is sent only if it has changed.

Rules
- The validators are those of the stored responses, as they were sent: ETag and Last-Modified, each of the latest
  response that has it, because a response without a body may renew them (RFC 9111, 4.3.4).
- Without Last-Modified the date of the latest response counts (RFC 9110, 13.1.3), by the clock of the server if it says
  it: the page was seen then.
- Validators that are not valid are left out. A page may have been stored with anything in its headers.
"""

import re
from collections.abc import Sequence
from datetime import UTC
from email.utils import formatdate, parsedate_to_datetime

from scenthound.web.fetch import header_values

_ETAG = re.compile(r'(?:W/)?"[!#-~]*"')
_MAX_ETAG_CHARACTERS = 1_000
#: Longer than any date: parsing very long ones takes time.
_MAX_DATE_CHARACTERS = 100


def conditions(heads: Sequence[bytes], seen_s: float) -> tuple[str, ...]:
    """The header lines of a request for a page whose responses had these heads, the latest first; it was seen last at
    `seen_s`."""
    etag = next((value for head in heads for value in header_values(head, "ETag")[-1:]), "")
    modified = next(
        (value for head in heads for value in header_values(head, "Last-Modified")[-1:] if _is_date(value)), ""
    )
    if not modified:
        dates = header_values(heads[0], "Date")[-1:] if heads else ()
        modified = next(filter(_is_date, dates), formatdate(seen_s, usegmt=True))
    is_valid = len(etag) <= _MAX_ETAG_CHARACTERS and _ETAG.fullmatch(etag)
    return (*([f"If-None-Match: {etag}"] if is_valid else []), f"If-Modified-Since: {modified}")


def last_modified_s(head: bytes) -> float | None:
    """When the page of a response was last modified, in seconds since 1970; None if it is unknown."""
    values = header_values(head, "Last-Modified")
    return http_date_s(values[-1]) if values else None


def http_date_s(value: str) -> float | None:
    """Seconds since 1970 of a date in any of the three forms (RFC 9110, 5.6.7); None if it is none."""
    if len(value) > _MAX_DATE_CHARACTERS:
        return None
    try:
        date = parsedate_to_datetime(value)
        # HTTP dates are in GMT, also in the form that does not name it.
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _is_date(value: str) -> bool:
    return value.isascii() and value.isprintable() and http_date_s(value) is not None
