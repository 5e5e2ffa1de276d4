"""A second try at pages whose main text was probably not found, by trafilatura (the extra `corpus`).

It is better at articles than at anything else, and takes ten times as long. So it is asked only
- for an article whose text was not found by its markup or score: its text is taken if it is long enough;
- for a page whose text is a small part of what is displayed: its text is taken if it has most of these words and at
  least as many others, so that the first try must have missed something.

It is given short pages only, and whatever it raises is caught.
"""

import logging
from collections import Counter
from dataclasses import dataclass

from scenthound.corpus.content_element import MIN_CHARACTERS
from scenthound.errors import MissingExtra

#: Its time depends on both.
_MAX_PAGE_CHARACTERS = 500_000
_MAX_TAGS = 20_000
_UNCERTAIN_RULES = frozenset(("paragraphs", "body"))
_SMALL_PART = 0.2
_MOST_WORDS = 0.8
_MIN_WORDS_FACTOR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTry:
    """What was found in a page: its text, and the rule of `content_element` that found it; how many characters the page
    displays, and whether it says that it is an article."""

    text: str
    rule: str
    n_displayed: int
    is_article: bool

    @property
    def is_uncertain(self) -> bool:
        return self.is_article and self.rule in _UNCERTAIN_RULES

    @property
    def is_small(self) -> bool:
        return len(self.text) < _SMALL_PART * self.n_displayed


@dataclass(frozen=True, slots=True)
class SecondTry:
    text: str
    markdown: str


def require_trafilatura() -> None:
    """Raise MissingExtra if trafilatura is not installed."""
    try:
        import trafilatura  # noqa: F401
    except ImportError:
        raise MissingExtra.named("corpus", "escalation to trafilatura") from None
    for name in ("trafilatura", "htmldate", "courlan", "justext"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            # Otherwise it reports every page that it cannot read on the standard error.
            logger.addHandler(logging.NullHandler())


def second_try(html: str, url: str, first: FirstTry) -> SecondTry | None:
    """What trafilatura finds in a page, if the first try is likely to have failed and this one is better."""
    if not (first.is_uncertain or first.is_small):
        return None
    html = _without_scripts(html)
    if len(html) > _MAX_PAGE_CHARACTERS or html.count("<") > _MAX_TAGS:
        return None
    text = _trafilatura(html, url, "txt")
    is_better = len(text) >= MIN_CHARACTERS if first.is_uncertain else _has_more(text, first.text)
    return SecondTry(text, _trafilatura(html, url, "markdown") or text) if is_better else None


def _without_scripts(html: str) -> str:
    """A page without most of its scripts and styles, which may be longer than all the rest."""
    for tag in ("script", "style"):
        kept, position = [], 0
        while (start := html.find(f"<{tag}", position)) >= 0 and (end := html.find(f"</{tag}>", start)) >= 0:
            kept.append(html[position:start])
            position = end + len(f"</{tag}>")
        html = "".join((*kept, html[position:]))
    return html


def _has_more(text: str, first: str) -> bool:
    words, first_words = Counter(text.split()), Counter(first.split())
    n_first = first_words.total()
    return (
        len(text) >= MIN_CHARACTERS
        and words.total() >= _MIN_WORDS_FACTOR * n_first
        and (words & first_words).total() >= _MOST_WORDS * n_first
    )


def _trafilatura(html: str, url: str, output_format: str) -> str:
    import trafilatura

    is_markdown = output_format == "markdown"
    try:
        # Fast: without other libraries that are asked if it finds little, which takes half of the time.
        text = trafilatura.extract(
            html,
            url=url,
            output_format=output_format,
            fast=True,
            include_comments=False,
            include_formatting=is_markdown,
            include_links=is_markdown,
        )
    except Exception:  # noqa: BLE001  a page may break any of the libraries that it uses
        return ""
    return text or ""
