"""Declarative refreshes: `<meta http-equiv=refresh>` and the `Refresh` header (HTML, 4.6.6 and 7.4.2.3).

Rules
- A refresh within `MAX_REDIRECT_DELAY_S` is a redirect: search engines treat such pages like those with a Location
  header. A longer one in a page is a link of it, because its text is meant to be read; a longer one in a header is
  ignored.
- A refresh to the page itself is none: it only loads the page again.
- Browsers that run scripts ignore what is in `noscript`, and so does the crawler.
"""

import re
from dataclasses import dataclass

from scenthound.web.urls import canonical, resolve

MAX_REDIRECT_DELAY_S = 5
#: Seconds, their fraction, which is ignored, and the rest behind a separator.
_DELAY = re.compile(r"[ \t\n\f\r]*+(?:([0-9]++)|(?=\.))[0-9.]*+(?:$|[;,]|[ \t\n\f\r]++[;,]?+)[ \t\n\f\r]*+")
_URL = re.compile(r"url[ \t\n\f\r]*+=[ \t\n\f\r]*+", re.IGNORECASE)
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Refresh:
    """`url` is canonical, and not that of the page."""

    delay_s: int
    url: str

    @property
    def is_redirect(self) -> bool:
        return self.delay_s <= MAX_REDIRECT_DELAY_S


def is_refresh(value: str) -> bool:
    """Whether a value can be read; of several meta elements the first of these counts."""
    return _DELAY.match(value) is not None


def refresh_of(value: str | None, url: str, base_url: str | None = None) -> Refresh | None:
    """The refresh that a value of the meta element or the header asks for; None if it leads nowhere else."""
    delay = None if value is None else _DELAY.match(value)
    if value is None or delay is None:
        return None
    reference = _reference(value[delay.end() :])
    target = resolve(base_url or url, reference) if reference else None
    if target is None or target == canonical(url):
        return None
    return Refresh(int((delay[1] or "0")[:_MAX_DIGITS]), target)


def _reference(rest: str) -> str:
    named = _URL.match(rest)
    reference = rest[named.end() :] if named else rest
    if reference[:1] in ("'", '"'):
        return reference[1:].partition(reference[0])[0]
    return reference
