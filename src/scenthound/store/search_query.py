"""Search queries, and excerpts of texts that show what was found.

Rules
- A page must have all words. "Words in quotes" are a phrase. -word, or -"some words", excludes pages. word* is a
  prefix, if it has at least two letters.
- No query is an error: terms without letters or digits are ignored, and so are terms after the first `MAX_TERMS`.
- Pages with the words as typed come first, then pages with other forms of them, `balloons` for `balloon`: words with
  the same Porter stem. The index itself has unstemmed words, so that prefixes and phrases match exactly, and a rare
  form does not outweigh the word that was typed.
- A query of exclusions only finds nothing.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from scenthound.text.scripts import UNSPACED_CLASS
from scenthound.text.tokenizer import stems_of

MAX_CHARACTERS = 1_000
MAX_TERMS = 32
#: Forms of shorter words are other words.
_MIN_STEMMED_CHARACTERS = 3
_MIN_PREFIX_CHARACTERS = 2
_ENDINGS = ("", "s", "es", "ed", "ing", "ings")
_TERM = re.compile(r'(-?)(?:"([^"]*)(?:"(\*?)|$)|([^\s"]+))')
_QUOTES = re.compile("[\u201c-\u201f\u00ab\u00bb\uff02]")
# In scripts without spaces each letter counts as a word, and a word as a phrase.
_UNSPACED = re.compile(f"[{UNSPACED_CLASS}]")


@dataclass(frozen=True, slots=True)
class Term:
    """A word, prefix or phrase."""

    text: str
    is_quoted: bool = False
    is_prefix: bool = False

    def exact(self) -> str:
        """In the syntax of FTS5, where text in quotes is literal."""
        quoted = spaced(self.text).replace('"', '""')
        return f'"{quoted}"{"*" if self.is_prefix else ""}'

    def widened(self) -> str:
        return " OR ".join(f'"{form}"' for form in self.forms()) if self.has_forms else self.exact()

    @property
    def has_forms(self) -> bool:
        return len(self.forms()) > 1

    def forms(self) -> tuple[str, ...]:
        """The word, and others of the same stem."""
        is_word = self.text.isascii() and self.text.isalpha() and len(self.text) >= _MIN_STEMMED_CHARACTERS
        return (self.text,) if self.is_quoted or self.is_prefix or not is_word else _forms(self.text.lower())


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """All `wanted` terms must be in a page, and none of the `unwanted`."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...]

    @classmethod
    def typed(cls, text: str) -> "SearchQuery":
        """Parse a query, whatever it is."""
        # A NUL would end the query for SQLite, and it takes no lone surrogate.
        plain = text[:MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode()
        found = [(minus, _term(*rest)) for minus, *rest in _TERM.findall(_QUOTES.sub('"', plain))]
        terms = [(minus, term) for minus, term in found if any(map(str.isalnum, term.text))][:MAX_TERMS]
        return cls(tuple(term for minus, term in terms if not minus), tuple(term for minus, term in terms if minus))

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
    """The text with spaces around characters that count as words."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def _term(quoted: str, star: str, word: str) -> Term:
    if word:
        prefix = word.rstrip("*")
        return Term(prefix, is_prefix=prefix != word and len(prefix) >= _MIN_PREFIX_CHARACTERS)
    return Term(quoted, is_quoted=True, is_prefix=bool(star) and len(quoted) >= _MIN_PREFIX_CHARACTERS)


@lru_cache(1024)
def _forms(word: str) -> tuple[str, ...]:
    stems = stems_of(word)
    if len(stems) != 1:
        return (word,)
    stem = stems[0]
    # Porter stems change endings: race of racing, argu of argue, run of running, parti of party.
    bases = (word, stem, stem.removesuffix("e"), stem + "e", stem + stem[-1], stem.removesuffix("i") + "y")
    candidates = dict.fromkeys(base + ending for base in bases for ending in _ENDINGS)
    return (word, *(form for form in candidates if form != word and stems_of(form) == [stem]))


EXCERPT_CHARACTERS = 240
#: One part in this many is before the first match.
_PART_BEFORE = 4
#: How far away a word boundary may be to end the excerpt there.
_NEAR_CHARACTERS = 30
#: Occurrences of each term that are considered.
_MAX_MATCHES = 500
_NOT_IN_WORD = r"(?<![^\W_])"
_WORD_END = r"(?![^\W_])"
_WORD = re.compile(r"[^\W_]+")


def excerpt(text: str, query: str, characters: int = EXCERPT_CHARACTERS) -> str:
    """The part of the text with the most different terms; its start, if there are none. Dots mark where it is cut."""
    plain = " ".join(text.split())
    matches = _matches(_folded(plain), SearchQuery.typed(query))
    before = characters // _PART_BEFORE
    first = _densest(matches, characters - before) - before if matches else 0
    return _cut(plain, max(0, min(first, len(plain) - characters)), characters)


def _matches(text: str, query: SearchQuery) -> list[tuple[int, int]]:
    """Positions and numbers of the terms that match, in order."""
    found = []
    for number, term in enumerate(query.wanted):
        found += [(match.start(), number) for match in islice(_pattern(term).finditer(text), _MAX_MATCHES)]
    return sorted(found)


def _pattern(term: Term) -> re.Pattern[str]:
    end = "" if term.is_prefix else _WORD_END
    forms = [r"[\W_]*".join(map(re.escape, _WORD.findall(spaced(_folded(form))))) for form in term.forms()]
    either = "|".join(sorted(forms, key=len, reverse=True))
    # Without spaces, words have no boundaries.
    return re.compile(rf"{_NOT_IN_WORD}(?:{either}){end}" if either.isascii() else either)


def _densest(matches: list[tuple[int, int]], characters: int) -> int:
    """The first position from which the most different terms follow within this many characters."""
    best, most, last = matches[0][0], 0, 0
    within: Counter[int] = Counter()
    for position, number in matches:
        while last < len(matches) and matches[last][0] < position + characters:
            within[matches[last][1]] += 1
            last += 1
        if len(within) > most:
            best, most = position, len(within)
        within[number] -= 1
        within += Counter()
    return best


def _cut(text: str, first: int, characters: int) -> str:
    """From the next start of a word to the last end of one, if they are near."""
    last = min(len(text), first + characters)
    if first > 0 and (space := text.find(" ", first - 1, first + _NEAR_CHARACTERS)) >= 0:
        first = space + 1
    if last < len(text) and (space := text.rfind(" ", last - _NEAR_CHARACTERS, last + 1)) > first:
        last = space
    return f"{'… ' if first else ''}{text[first:last]}{' …' if last < len(text) else ''}"


def _folded(text: str) -> str:
    """In lower case without accents, character by character."""
    return text.lower() if text.isascii() else "".join(map(_folded_character, text))


@lru_cache(4096)
def _folded_character(character: str) -> str:
    decomposed = unicodedata.normalize("NFD", character)
    # The parts of a Hangul syllable are no marks.
    has_marks_only = all(map(unicodedata.combining, decomposed[1:]))
    return (decomposed[0] if has_marks_only else character).lower()[0]
