"""The place in a text that shows what was searched for."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from scenthound.store.search_query import SearchQuery, Term, spaced

EXCERPT_CHARACTERS = 240
#: The part of it that stands before the first word found.
_PART_BEFORE = 4
#: So near is the edge of a word to cut at.
_NEAR_CHARACTERS = 30
#: A word may stand in a page very often; its first places are enough to choose among.
_MOST_PLACES = 500
_NOT_IN_WORD = r"(?<![^\W_])"
_WORD_END = r"(?![^\W_])"
_WORD = re.compile(r"[^\W_]+")


def excerpt(text: str, query: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """So much of the text as fits, from where most of what was searched for stands together; its beginning, if nothing
    of it is there. Dots stand where it is cut."""
    plain = " ".join(text.split())
    places = _places(_folded(plain), SearchQuery.typed(query))
    before = characters // _PART_BEFORE
    first = _densest(places, characters - before) - before if places else 0
    return _cut(plain, max(0, min(first, len(plain) - characters)), characters)


def _places(text: str, query: SearchQuery) -> list[tuple[int, int]]:
    """Where the terms stand: places and numbers of terms, in order."""
    found = []
    for number, term in enumerate(query.wanted):
        matches = _pattern(term).finditer(text)
        found += [(match.start(), number) for match, _ in zip(matches, range(_MOST_PLACES), strict=False)]
    return sorted(found)


def _pattern(term: Term) -> re.Pattern[str]:
    end = "" if term.is_beginning else _WORD_END
    ways = [r"[\W_]*".join(map(re.escape, _WORD.findall(spaced(_folded(form))))) for form in term.forms()]
    either = "|".join(sorted(ways, key=len, reverse=True))
    # In writing without spaces words have no edges.
    return re.compile(rf"{_NOT_IN_WORD}(?:{either}){end}" if either.isascii() else either)


def _densest(places: list[tuple[int, int]], characters: int) -> int:
    """The first place from which most different terms follow within so many characters."""
    best, most, last = places[0][0], 0, 0
    within: Counter[int] = Counter()
    for first, (place, number) in enumerate(places):
        while last < len(places) and places[last][0] < place + characters:
            within[places[last][1]] += 1
            last += 1
        if len(within) > most:
            best, most = places[first][0], len(within)
        within[number] -= 1
        within += Counter()
    return best


def _cut(text: str, first: int, characters: int) -> str:
    """From the next beginning of a word to the last end of one, if they are near."""
    last = min(len(text), first + characters)
    if first > 0 and (space := text.find(" ", first - 1, first + _NEAR_CHARACTERS)) >= 0:
        first = space + 1
    if last < len(text) and (space := text.rfind(" ", last - _NEAR_CHARACTERS, last + 1)) > first:
        last = space
    return f"{'… ' if first else ''}{text[first:last]}{' …' if last < len(text) else ''}"


def _folded(text: str) -> str:
    """In small letters without accents, each sign in its place."""
    return text.lower() if text.isascii() else "".join(map(_folded_sign, text))


@lru_cache(4096)
def _folded_sign(sign: str) -> str:
    return unicodedata.normalize("NFD", sign)[0].lower()[0]
