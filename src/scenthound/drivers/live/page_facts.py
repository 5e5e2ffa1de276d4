"""What the row of a visit tells of a page beside what the engine is told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageFacts:
    """`content_bytes` are decoded ones; `simhash` is None of pages with few words."""

    status: int
    title: str
    content_bytes: int
    simhash: int | None
    noindex: bool
    truncated: bool
