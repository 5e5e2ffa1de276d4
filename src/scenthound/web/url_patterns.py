"""Patterns that are matched against canonical URLs: globs, and regular expressions in linear time.

- A glob matches the whole URL. `*` stands for any characters, including none and slashes; all others for themselves, so
  that `?` is the start of a query. Characters that URLs encode may be written as they are read.
- `re:` and a regular expression in the syntax of RE2 is found anywhere in the URL, in a time that is linear in the
  length of the URL, whatever the pattern is. RE2 rejects back references, lookaround, atomic groups and possessive
  quantifiers.
"""

import re
from collections.abc import Callable
from urllib.parse import quote

from scenthound.errors import InvalidParameter, printable

REGULAR_EXPRESSION = "re:"
MAX_PATTERN_CHARACTERS = 1_000
#: Memory for a compiled pattern, and for what its matches remember.
MAX_BYTES = 1 << 20

_UP_TO = re.compile(r"\{,(\d+)\}")

Matches = Callable[[str], bool]


def url_pattern(text: str) -> Matches:
    """A function that says whether a URL matches. InvalidParameter if the pattern cannot be used."""
    if not text.strip() or len(text) > MAX_PATTERN_CHARACTERS:
        raise InvalidParameter(
            f"{printable(text, 80)!r} is not a pattern: write up to {MAX_PATTERN_CHARACTERS:,} characters, as in "
            "'*/docs/*' or 're:/docs/[0-9]+'."
        )
    if not text.startswith(REGULAR_EXPRESSION):
        return Glob(text).matches
    return _regular_expression(text.removeprefix(REGULAR_EXPRESSION))


class Glob:
    """A pattern of texts and `*`. Each text is searched once, from where the one before it ends."""

    def __init__(self, text: str) -> None:
        # As the URL standard encodes paths and queries; a percent sign stays.
        first, *rest = [quote(part, safe="!#$%&'()+,/:;=?@[]~|^`{}\\") for part in text.split("*")]
        self._first, self._has_star = first, bool(rest)
        self._middle, self._last = rest[:-1], rest[-1] if rest else ""

    def matches(self, url: str) -> bool:
        if not self._has_star:
            return url == self._first
        position, end = len(self._first), len(url) - len(self._last)
        if end < position or not url.startswith(self._first) or not url.endswith(self._last):
            return False
        for text in self._middle:
            position = url.find(text, position, end)
            if position < 0:
                return False
            position += len(text)
        return True


def _regular_expression(pattern: str) -> Matches:
    # Few crawls have one.
    import re2

    options = re2.Options()
    options.max_mem, options.log_errors = MAX_BYTES, False
    try:
        # RE2 takes `{,3}` for these four characters.
        compiled = re2.compile(_UP_TO.sub(r"{0,\1}", pattern), options)
    except re2.error as problem:
        reason = problem.args[0].decode(errors="replace") if problem.args else "invalid"
        raise InvalidParameter(
            f"Cannot use the regular expression {printable(pattern, 80)!r}: {printable(reason, 100)}. Correct it, or "
            "write a pattern with *."
        ) from None
    return lambda url: compiled.search(url) is not None
