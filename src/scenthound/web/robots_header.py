"""What a page's X-Robots-Tag headers ask of one crawler: not to index the page, not to follow its links.

Rules
- A value is a list of wishes. It may start with the name of the crawler that it speaks to (`otherbot: noindex`);
  without a name it speaks to all. `none` is both wishes.
- Wishes that have values themselves (`max-snippet: 10`, `unavailable_after: 25 Jun 2030 15:00:00 PST`) are no names.
- Like meta elements, headers add up: what one of them forbids, no other allows.
"""

from collections.abc import Iterable

from scenthound.web.robots import product_token

_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def header_wishes(values: Iterable[str], agent: str) -> tuple[bool, bool]:
    """(noindex, nofollow) of all the values of a page's X-Robots-Tag headers, for an agent."""
    wishes = {wish for value in values for wish in _wishes(value, product_token(agent))}
    return not wishes.isdisjoint(("noindex", "none")), not wishes.isdisjoint(("nofollow", "none"))


def _wishes(value: str, token: str) -> set[str]:
    """The wishes of one header that are for the agent; a name holds until the next, for joined headers."""
    wishes: set[str] = set()
    is_meant = True
    for part in value.lower().split(","):
        name, colon, rest = (text.strip() for text in part.partition(":"))
        if colon and name not in _WITH_VALUES:
            is_meant = name in ("*", "robots") or product_token(name) == token
            name = rest
        if is_meant:
            wishes.add(name)
    return wishes
