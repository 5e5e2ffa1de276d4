"""Which pages are rendered in a browser: pure decisions, and what was learned about hosts.

Rules
- In the mode `auto`, pages with scripts and hardly any text are rendered, unless that did not pay on the last pages of
  their host; then every tenth of them is. In the mode `always`, all pages with scripts are.
- Rendering pays if it brings much more text, or more links. In the mode `auto`, a page for which it did not pay is
  visited as it was fetched; in both modes, so is one of which nothing is left.
- No page is rendered of a domain whose pages keep breaking the browser, in any mode.
- What was learned of hosts is part of checkpoints; a resumed crawl learns anew what came after the last one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from scenthound.errors import UnknownName
from scenthound.saved_state import State
from scenthound.web.decode import decode_html
from scenthound.web.parse import ParsedPage, readable_text
from scenthound.web.urls import registrable_domain

#: Pages with scripts and fewer characters of text are rendered.
MIN_CHARACTERS = 200
#: After this many pages for which rendering did not pay, one in `RECHECKED` is rendered.
MAX_FRUITLESS = 3
RECHECKED = 10
#: Rendering pays if a page has twice the words, and this many more, or twice the links.
MIN_MORE_WORDS = 10
#: Of a domain that broke the browser this often, with more than this share of its pages since the first time, no page
#: is rendered.
MAX_BROKEN = 3
MAX_BROKEN_SHARE = 0.1
#: Hosts, and domains that broke the browser, that are remembered.
MAX_HOSTS = 100_000
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)


class RenderMode(StrEnum):
    """Which pages are rendered."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"

    @classmethod
    def named(cls, name: str) -> "RenderMode":
        if name not in tuple(cls):
            raise UnknownName.among("render mode", name, [mode.value for mode in cls])
        return cls(name)


def has_scripts(html: bytes) -> bool:
    return _SCRIPT.search(html) is not None


def needs_rendering(html: bytes, charset: str | None, page: ParsedPage) -> bool:
    """Whether a page has scripts and hardly any text."""
    # A word has a letter at least.
    if len(page.words) >= MIN_CHARACTERS or not has_scripts(html):
        return False
    _, _, text = readable_text(decode_html(html, charset)).partition("\n")
    return len(text) < MIN_CHARACTERS


@dataclass(frozen=True, slots=True)
class Gain:
    """What rendering brought: words and links of the page before and after."""

    words_before: int
    words: int
    links_before: int
    links: int

    @classmethod
    def of(cls, before: ParsedPage, after: ParsedPage) -> "Gain":
        return cls(len(before.words), len(after.words), len(before.link_start), len(after.link_start))

    @property
    def has_paid(self) -> bool:
        more_words = self.words >= 2 * self.words_before and self.words >= self.words_before + MIN_MORE_WORDS
        return more_words or self.links > 2 * self.links_before

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of a page that had something, such as one that removes its own document."""
        return not (self.words or self.links) and bool(self.words_before or self.links_before)


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    """The document of a page after its scripts have run, in UTF-8."""

    html: bytes
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ScriptRedirect:
    """A page whose scripts lead to another one."""

    url: str


#: None if it failed.
RenderOutcome = RenderedDocument | ScriptRedirect | None
OnRendered = Callable[[RenderOutcome], None]


@dataclass(frozen=True, slots=True)
class Rendering:
    """A page that is visited as it was rendered."""

    html: bytes
    gain: Gain


@dataclass(slots=True)
class RenderCounts:
    """Over all runs of a crawl."""

    n_rendered: int = 0
    n_paid: int = 0
    n_failed: int = 0
    problem: str = ""  #: why no more pages are rendered


class RenderMemory:
    """Whether rendering paid on the last pages of each host, and whether pages of its domain break the browser. The
    latter is counted by registrable domain, because a site may have a new host name for each page."""

    def __init__(self) -> None:
        #: Pages in a row for which it did not pay, and those not rendered since, of hosts with any.
        self._hosts: dict[str, tuple[int, int]] = {}
        #: Pages that broke the browser, and all pages since the first, of domains with any.
        self._broken: dict[str, tuple[int, int]] = {}

    def state(self) -> State:
        """A checkpoint for `restore`."""
        return {
            "hosts": list(self._hosts),
            "counts": [list(counts) for counts in self._hosts.values()],
            "domains": list(self._broken),
            "broken": [list(counts) for counts in self._broken.values()],
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        counts = ((fruitless, left_out) for fruitless, left_out in state["counts"])
        self._hosts = dict(zip(state["hosts"], counts, strict=True))
        broken = ((n_broken, n_pages) for n_broken, n_pages in state.get("broken", ()))
        self._broken = dict(zip(state.get("domains", ()), broken, strict=True))

    def take_turn(self, host: str) -> bool:
        """Count a page of a host that should be rendered; returns whether it is."""
        fruitless, left_out = self._hosts.get(host, (0, 0))
        if fruitless < MAX_FRUITLESS:
            return True
        left_out = (left_out + 1) % RECHECKED
        self._hosts[host] = fruitless, left_out
        return left_out == 0

    def note(self, host: str, *, paid: bool) -> None:
        """A page was rendered."""
        fruitless, left_out = self._hosts.pop(host, (0, 0))
        if not paid:
            if len(self._hosts) >= MAX_HOSTS:
                del self._hosts[next(iter(self._hosts))]
            self._hosts[host] = fruitless + 1, left_out

    def breaks(self, host: str) -> bool:
        """Whether pages of the host's domain keep breaking the browser."""
        n_broken, n_pages = self._broken.get(registrable_domain(host), (0, 0))
        return n_broken >= MAX_BROKEN and n_broken > MAX_BROKEN_SHARE * n_pages

    def note_tab(self, host: str, *, broken: bool) -> None:
        """The browser has cleared a page away, or was lost with it."""
        domain = registrable_domain(host)
        if not broken and domain not in self._broken:
            return
        n_broken, n_pages = self._broken.get(domain, (0, 0))
        if domain not in self._broken and len(self._broken) >= MAX_HOSTS:
            del self._broken[next(iter(self._broken))]
        self._broken[domain] = n_broken + broken, n_pages + 1
