"""Patterns that are matched against canonical URLs: globs, and regular expressions in linear time.

- A glob matches the whole URL. `*` stands for any characters, including none and slashes; all others for themselves, so
  that `?` is the start of a query. Characters that URLs encode may be written as they are read.
- `re:` and a regular expression in the syntax of Python is found anywhere in the URL. It is matched by an automaton
  whose time is linear in the length of the URL, whatever pattern and URL are. What an automaton cannot match is
  rejected: back references, lookaround, word boundaries, atomic groups and possessive quantifiers.
"""

import importlib
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from scenthound.errors import InvalidParameter, printable

REGULAR_EXPRESSION = "re:"
MAX_PATTERN_CHARACTERS = 1_000
#: States of an automaton; `{m,n}` multiplies them.
MAX_STATES = 1_000
#: The parser calls itself for each nested group.
MAX_GROUPS = 100
#: Sets of states that are remembered. When there are more, all are forgotten.
MAX_REMEMBERED = 1_000

Matches = Callable[[str], bool]

#: The parser of the standard library. Its trees are the same in all supported versions.
_parser: Any = importlib.import_module("re._parser")


def url_pattern(text: str) -> Matches:
    """A function that says whether a URL matches. InvalidParameter if the pattern cannot be used."""
    if not text.strip() or len(text) > MAX_PATTERN_CHARACTERS:
        raise InvalidParameter(
            f"{printable(text, 80)!r} is not a pattern: write up to {MAX_PATTERN_CHARACTERS:,} characters, as in "
            "'*/docs/*' or 're:/docs/[0-9]+'."
        )
    if not text.startswith(REGULAR_EXPRESSION):
        return Glob(text).matches
    return Automaton(text.removeprefix(REGULAR_EXPRESSION)).matches


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


#: Whether a character is accepted.
_Accepts = Callable[[str], bool]
#: Conditions on a position: the start or the end of the URL.
_START, _END = "start", "end"


class Automaton:
    """A regular expression as a nondeterministic automaton, simulated with sets of states.

    The sets that a URL leads to are remembered by character, so that a typical URL costs a look-up per character.
    """

    def __init__(self, pattern: str) -> None:
        #: Of each state: what it accepts and the next state, or the states that follow without a character.
        self._accepts: list[_Accepts | None] = []
        self._next: list[list[int]] = []
        self._condition: list[str | None] = []
        self._pattern = pattern
        self._final = self._state()
        if pattern.count("(") > MAX_GROUPS:
            raise _invalid(pattern, f"it has more than {MAX_GROUPS} groups")
        try:
            parsed = _parser.parse(pattern)
            self._begin = self._sequence(parsed, self._final, int(parsed.state.flags))
        except (re.error, OverflowError, RecursionError) as problem:
            raise _invalid(pattern, str(problem)) from None
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._at_start = self._closed([self._begin], {_START})
        self._anywhere = self._closed([self._begin], set())

    def matches(self, url: str) -> bool:
        current, steps = self._at_start, self._steps
        for character in url:
            if self._final in current:
                return True
            key = current, character
            following = steps.get(key)
            if following is None:
                if len(steps) >= MAX_REMEMBERED:
                    steps.clear()
                following = steps[key] = self._step(current, character)
            current = following
        at_end = {_START, _END} if not url else {_END}
        return self._final in self._closed([*current, self._begin], at_end)

    def _step(self, current: frozenset[int], character: str) -> frozenset[int]:
        reached = []
        for state in current:
            accepts = self._accepts[state]
            if accepts is not None and accepts(character):
                reached += self._next[state]
        # A match may start at any character.
        return self._closed(reached, set()) | self._anywhere

    def _closed(self, states: Iterable[int], holds: set[str]) -> frozenset[int]:
        """The states and all that follow them without a character. Conditions that do not hold are kept, because the
        end of the URL may be next."""
        closed: set[int] = set()
        stack = list(states)
        while stack:
            state = stack.pop()
            if state in closed:
                continue
            closed.add(state)
            condition = self._condition[state]
            if self._accepts[state] is None and (condition is None or condition in holds):
                stack += self._next[state]
        return frozenset(closed)

    # From the tree of the parser, backwards: each part gets the state that follows it.

    def _state(self, *following: int, accepts: _Accepts | None = None, condition: str | None = None) -> int:
        if len(self._next) >= MAX_STATES:
            raise _invalid(self._pattern, "it is too large")
        self._accepts.append(accepts)
        self._next.append(list(following))
        self._condition.append(condition)
        return len(self._next) - 1

    def _sequence(self, parts: Any, following: int, flags: int) -> int:
        for operation, value in reversed(list(parts)):
            following = self._part(str(operation), value, following, flags)
        return following

    def _part(self, operation: str, value: Any, following: int, flags: int) -> int:
        match operation:
            case "SUBPATTERN":
                _, added, removed, parts = value
                return self._sequence(parts, following, flags & ~removed | added)
            case "BRANCH":
                return self._state(*(self._sequence(branch, following, flags) for branch in value[1]))
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, parts = value
                return self._repeat((least, most), parts, following, flags)
            case "AT" if str(value) in _CONDITIONS:
                return self._state(following, condition=_CONDITIONS[str(value)])
        accepts = _accepts(operation, value, bool(flags & re.IGNORECASE))
        if accepts is None:
            raise _invalid(
                self._pattern, f"{_UNSUPPORTED.get(operation, 'a part of it')} cannot be matched in linear time"
            )
        return self._state(following, accepts=accepts)

    def _repeat(self, times: tuple[int, Any], parts: Any, following: int, flags: int) -> int:
        least, most = times
        if most == _parser.MAXREPEAT:
            loop = self._state()
            self._next[loop] = [self._sequence(parts, loop, flags), following]
            following = loop
        else:
            for _ in range(int(most) - least):
                following = self._state(self._sequence(parts, following, flags), following)
        for _ in range(least):
            n_states = len(self._next)
            following = self._sequence(parts, following, flags)
            if len(self._next) == n_states:
                # Nothing is repeated, however often.
                break
        return following


_UNSUPPORTED = {
    "GROUPREF": "a back reference",
    "GROUPREF_EXISTS": "a conditional group",
    "ASSERT": "lookaround",
    "ASSERT_NOT": "lookaround",
    "AT": r"\b or \B",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive quantifier",
}
_CONDITIONS = {"AT_BEGINNING": _START, "AT_BEGINNING_STRING": _START, "AT_END": _END, "AT_END_STRING": _END}
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


def _accepts(operation: str, value: Any, any_case: bool) -> _Accepts | None:  # noqa: PLR0911 - one case per kind
    """The characters that a part accepts; None if it is not a part for one character."""
    match operation:
        case "LITERAL":
            return _in_any_case(chr(value).__eq__) if any_case else chr(value).__eq__
        case "ANY":
            return lambda character: character != "\n"
        case "RANGE":
            first, last = value
            return _in_range(first, last, any_case)
        case "CATEGORY" if str(value) in _CATEGORIES:
            category = re.compile(_CATEGORIES[str(value)])
            return lambda character: category.match(character) is not None
        case "NOT_LITERAL":
            return _accepts("IN", [("NEGATE", None), ("LITERAL", value)], any_case)
        case "IN":
            negated = str(value[0][0]) == "NEGATE"
            parts = [_accepts(str(kind), each, any_case) for kind, each in value[negated:]]
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                return lambda character: any(part(character) for part in known) != negated
    return None


def _in_range(first: int, last: int, any_case: bool) -> _Accepts:
    def accepts(character: str) -> bool:
        return first <= ord(character) <= last

    return _in_any_case(accepts) if any_case else accepts


def _in_any_case(accepts: _Accepts) -> _Accepts:
    return lambda character: any(map(accepts, {character, character.lower(), character.upper()}))


def _invalid(pattern: str, problem: str) -> InvalidParameter:
    return InvalidParameter(
        f"Cannot use the regular expression {printable(pattern, 80)!r}: {printable(problem, 100)}. Correct it, or "
        "write a pattern with *."
    )
