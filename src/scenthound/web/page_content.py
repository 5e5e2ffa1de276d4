"""What was read in a page, before its links are resolved, whoever has read it."""

from dataclasses import dataclass

from scenthound.model import IntArray


@dataclass(frozen=True, slots=True)
class PageContent:
    """`references`, their `relations` and `metas` (names and contents) are as written, in page order; `words` are
    numbers, and the anchor of a link is `words[start:end]`."""

    title: str
    base_reference: str | None
    metas: list[tuple[str, str]]
    references: list[str]
    relations: list[str | None]
    words: IntArray
    start: IntArray
    end: IntArray
