"""What a recording came to: what is in the web, and what was left out, by reason and with examples."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scenthound.store.raw_page import Skipped
from scenthound.store.recorded_web import RecordedWeb

EXAMPLES_KEPT = 3


@dataclass(frozen=True, slots=True)
class SkippedCount:
    """How many records were left out for one reason, and where the first few of them stand."""

    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordSummary:
    pages: int
    urls: int
    links: int
    links_recorded: int  #: links whose target is a page of the web, aliases followed
    words: int
    vocabulary: int
    hosts: int  #: hosts of the pages, not of all that is linked to
    aliases: int
    bytes_read: int
    skipped: dict[str, SkippedCount] = field(default_factory=dict)

    @classmethod
    def of(cls, web: RecordedWeb, bytes_read: int, skipped: dict[str, SkippedCount]) -> "RecordSummary":
        return cls(
            pages=web.n_pages,
            urls=web.n_urls,
            links=web.n_links,
            links_recorded=int(np.count_nonzero(web.url_page[web.link_url] >= 0)),
            words=len(web.word),
            vocabulary=len(web.vocabulary) - 1,
            hosts=len(np.unique(web.url_host[: web.n_pages])),
            aliases=int(np.count_nonzero(web.url_page >= 0)) - web.n_pages,
            bytes_read=bytes_read,
            skipped=skipped,
        )

    def counts(self) -> dict[str, Any]:
        """The summary as plain values, for files and for `--json`."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "skipped"}
        values["skipped"] = {
            reason: {"count": skipped.count, "examples": list(skipped.examples)}
            for reason, skipped in self.skipped.items()
        }
        return values


class SkippedTally:
    """Counts what was left out as the recording goes on."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, skipped: Iterable[Skipped]) -> None:
        for record in skipped:
            self._counts[record.reason] = self._counts.get(record.reason, 0) + 1
            places = self._places.setdefault(record.reason, [])
            if len(places) < EXAMPLES_KEPT:
                places.append(record.place)

    def by_reason(self) -> dict[str, SkippedCount]:
        """The most frequent reason first."""
        ranked = sorted(self._counts, key=lambda reason: (-self._counts[reason], reason))
        return {reason: SkippedCount(self._counts[reason], tuple(self._places[reason])) for reason in ranked}

    def in_words(self) -> str:
        """The most frequent reasons, each with its first example."""
        reasons = list(self.by_reason().items())[:EXAMPLES_KEPT]
        said = [f"{skipped.count:,} x {reason}: {skipped.examples[0]}" for reason, skipped in reasons]
        return "; ".join(said) or "it is empty"
