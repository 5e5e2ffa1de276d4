"""What people type to search for pages, and what it means.

Rules
- Words are typed as they are, and a page must have all of them. "Words in quotes" stand together. -word, or -"some
  words", must not be there. word* is the beginning of a word, if it has two letters or more: one begins too many words.
- Nothing that is typed is an error: what has neither letter nor digit is left out, and so is what is too much.
- Pages with the words as typed come first. Then come pages with other forms of them, `balloons` for `balloon`: what has
  the same Porter stem, as everywhere here. The index itself holds words as they are, so that a beginning or a quoted
  phrase means what it says; and a rare form does not outweigh the word that was typed.
- Who asks only for what must not be there has asked for nothing.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from scenthound.text.tokenizer import stems_of

#: More is no query of a person.
MOST_CHARACTERS = 1_000
MOST_TERMS = 32
#: Shorter words have forms that are other words.
_LEAST_FORMED_CHARACTERS = 3
_LEAST_BEGINNING_CHARACTERS = 2
_ENDINGS = ("", "s", "es", "ed", "ing", "ings")
_TERM = re.compile(r'(-?)(?:"([^"]*)(?:"(\*?)|$)|([^\s"]+))')
_QUOTES = re.compile("[\u201c-\u201f\u00ab\u00bb\uff02]")
# Japanese and Chinese are written without spaces; each sign is taken for a word.
_SIGN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Term:
    """Something that a page is to have: one word, or several that stand together."""

    text: str
    is_quoted: bool = False
    is_beginning: bool = False

    def exact(self) -> str:
        """In the language of FTS5, in which nothing within quotes means anything but itself."""
        quoted = spaced(self.text).replace('"', '""')
        return f'"{quoted}"{"*" if self.is_beginning else ""}'

    def widened(self) -> str:
        return " OR ".join(f'"{form}"' for form in self.forms()) if self.has_forms else self.exact()

    @property
    def has_forms(self) -> bool:
        return len(self.forms()) > 1

    def forms(self) -> tuple[str, ...]:
        """The word, and others of the same stem."""
        is_word = self.text.isascii() and self.text.isalpha() and len(self.text) >= _LEAST_FORMED_CHARACTERS
        return (self.text,) if self.is_quoted or self.is_beginning or not is_word else _forms(self.text.lower())


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """All `wanted` terms must be in a page, and none of the `unwanted`."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...]

    @classmethod
    def typed(cls, text: str) -> "SearchQuery":
        """Whatever it is."""
        # A NUL would end the query for SQLite, and it takes no lone surrogate.
        plain = text[:MOST_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode()
        found = [(minus, _term(*rest)) for minus, *rest in _TERM.findall(_QUOTES.sub('"', plain))]
        sound = [(minus, term) for minus, term in found if any(map(str.isalnum, term.text))][:MOST_TERMS]
        return cls(tuple(term for minus, term in sound if not minus), tuple(term for minus, term in sound if minus))

    def __bool__(self) -> bool:
        return bool(self.wanted)

    @property
    def has_forms(self) -> bool:
        return any(term.has_forms for term in self.wanted)

    def exact(self) -> str:
        """The words as typed, for FTS5."""
        return self._joined([term.exact() for term in self.wanted])

    def widened(self) -> str:
        """The words in any form, for FTS5."""
        return self._joined([term.widened() for term in self.wanted])

    def only_other_forms(self) -> str:
        """What `widened` finds and `exact` does not."""
        exact = " AND ".join(term.exact() for term in self.wanted)
        return f"({self.widened()}) NOT ({exact})"

    def _joined(self, wanted: list[str]) -> str:
        all_of = " AND ".join(f"({each})" for each in wanted)
        none_of = " OR ".join(term.exact() for term in self.unwanted)
        return f"({all_of}) NOT ({none_of})" if none_of else all_of


def spaced(text: str) -> str:
    """The text with spaces around signs that are words by themselves."""
    return text if text.isascii() else _SIGN.sub(r" \g<0> ", text)


def _term(quoted: str, star: str, word: str) -> Term:
    if word:
        beginning = word.rstrip("*")
        return Term(beginning, is_beginning=beginning != word and len(beginning) >= _LEAST_BEGINNING_CHARACTERS)
    return Term(quoted, is_quoted=True, is_beginning=bool(star) and len(quoted) >= _LEAST_BEGINNING_CHARACTERS)


@lru_cache(1024)
def _forms(word: str) -> tuple[str, ...]:
    stems = stems_of(word)
    if len(stems) != 1:
        return (word,)
    stem = stems[0]
    # Porter takes off endings with what they changed: race of racing, argu of argue, run of running, parti of party.
    bases = (word, stem, stem.removesuffix("e"), stem + "e", stem + stem[-1], stem.removesuffix("i") + "y")
    candidates = dict.fromkeys(base + ending for base in bases for ending in _ENDINGS)
    return (word, *(form for form in candidates if form != word and stems_of(form) == [stem]))


# The place in a text that shows what was searched for.

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
