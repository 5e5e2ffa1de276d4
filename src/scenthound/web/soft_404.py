"""Pages that come with status 200 and say that there is no page.

Rules
- By wording: a part of the title, or the first heading, says nothing but that a page was not found (`not_found_words`),
  and the page is short. "Command not found" or "How to handle 404 errors" say more.
- A page that was asked for by an address that speaks of it (/Status/404, /page-not-found) is what it should be: an
  article about such pages. So the address to hand in is the one asked for, before any redirect.
- By example: bodies that came with a true 404 are remembered by fingerprint, a few per host, and pages of the host that
  are near-duplicates of one are such pages too, whatever the status. The root of a host is never taken for one: some
  hosts show their front page for whatever they do not have.
- Memory: `EXAMPLES_PER_HOST` fingerprints for each of `MOST_HOSTS` hosts, the one longest not met forgotten first.
"""

import re

from scenthound.model import IntArray
from scenthound.web.near_duplicates import fingerprint_of
from scenthound.web.not_found_words import CODES, FILLERS, PARTS, PHRASES, TELLING, plain

#: Stop words counted. Error pages of real sites have their menus around them.
MOST_WORDS = 400
EXAMPLES_PER_HOST = 4
MOST_HOSTS = 50_000

# Shorter than for near-duplicates among pages: most error pages are, and the example is known to be one.
_LEAST_WORDS = 10
_MAX_DISTANCE = 3
_TITLE_CHARACTERS = 300
_SEPARATORS = re.compile(r"[|\u2013\u2014·•»«!?.]+|\s-+\s|^-+|-+$")
_WHICH_PAGE = re.compile(r" (?:that )?you (?:(?:requested|want|need)|(?:are|were|re) (?:looking|searching) for)\b")
_SPEAKING = re.compile(r"404|410|not[-_+ ]?found|error", re.IGNORECASE)


def is_soft_404(title: str, n_words: int, url: str, heading: str = "") -> bool:
    """Whether a page that was asked for at `url` says by its title or heading that it is none."""
    if n_words > MOST_WORDS or not (_says_not_found(title) or _says_not_found(heading)):
        return False
    return not _SPEAKING.search(url.partition("://")[2].partition("/")[2])


def error_fingerprint(words: IntArray) -> int | None:
    """What an error page is remembered by; None if it has hardly any words."""
    return fingerprint_of(words, _LEAST_WORDS)


class Soft404s:
    """What the error pages of hosts look like, learned from those that came with their true status."""

    def __init__(self) -> None:
        self._examples: dict[str, tuple[int, ...]] = {}

    def wants_example(self, host: str) -> bool:
        """Whether another error page of the host is worth parsing."""
        return len(self._examples.get(host, ())) < EXAMPLES_PER_HOST

    def learn(self, host: str, fingerprint: int) -> None:
        """Remember a page that came with status 404 or 410, by its `error_fingerprint`."""
        if self._is_near(host, fingerprint):
            return
        self._examples[host] = (*self._examples.pop(host, ()), fingerprint)[-EXAMPLES_PER_HOST:]
        if len(self._examples) > MOST_HOSTS:
            del self._examples[next(iter(self._examples))]

    def recognises(self, host: str, words: IntArray, url: str) -> bool:
        """Whether a page that came with status 200 looks like an error page of its host."""
        if host not in self._examples or _is_root(url):
            return False
        fingerprint = error_fingerprint(words)
        return fingerprint is not None and self._is_near(host, fingerprint)

    def _is_near(self, host: str, fingerprint: int) -> bool:
        examples = self._examples.get(host, ())
        return any((fingerprint ^ example).bit_count() <= _MAX_DISTANCE for example in examples)


def _is_root(url: str) -> bool:
    return url.endswith("/") and url.count("/") == 3


def _says_not_found(text: str) -> bool:
    if text.isascii() and not TELLING.search(text.lower()):
        return False
    parts = [part for part in map(plain, _SEPARATORS.split(text[:_TITLE_CHARACTERS])) if part]
    # A bare number may be anything but for the beginning.
    if parts and parts[0] in CODES:
        return True
    return any(_is_phrase(part) for part in parts)


def _is_phrase(part: str) -> bool:
    words = _WHICH_PAGE.sub("", part).split()
    if not CODES.isdisjoint(words) and FILLERS.issuperset(words) and len(words) > 1:
        return True
    while words and words[-1] in FILLERS:
        words.pop()
    # Fillers may be part of the phrase too, so each is tried as its beginning.
    for start, word in enumerate(words):
        if " ".join(words[start:]) in PHRASES:
            return True
        if word not in FILLERS:
            break
    return any(phrase in part for phrase in PARTS)
