"""What a reader gives out: a piece of a file that makes its records wherever it is sent."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from scenthound.store.batches import RawPage, RawRecord, Skipped
from scenthound.web.decode import decode_html

#: A chunk is full at this many records or bytes: enough to share the cost of sending, few enough to share the work.
CHUNK_RECORDS = 64
CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to leave out: the spans of a page that show its label, and records whose fields have other values."""

    without_leaks: bool = False
    where: tuple[tuple[str, str], ...] = ()


class Chunk(Protocol):
    @property
    def bytes_read(self) -> int:
        """How much of the file was read when the chunk was full, in bytes of the file itself."""
        ...

    def records(self, options: ReadOptions) -> Iterable[RawRecord]: ...


class Source(Protocol):
    @property
    def path(self) -> Path: ...

    @property
    def size_bytes(self) -> int:
        """Of the file itself, compressed as it is."""
        ...

    def chunks(self, options: ReadOptions) -> Iterator[Chunk]: ...


# A record as named fields made into a page, or the reason why it is none: the same for JSON Lines and Parquet.
#
# Fields: `url`, and `html` or `text`; optional `title`, `aliases`, `topics`, `links` (of a text page) and `leak`.
# Where the format has bytes, `html` may be the bytes that the server sent.

PAGE_FIELDS = ("url", "html", "text", "title", "aliases", "topics", "links", "leak")

#: How the reason begins for a record that may be a good page but was not asked for.
NOT_WANTED = "not wanted"

Span = tuple[int, int]


class _WrongType(Exception):
    """A field that is there but cannot be used."""


def record_of(fields: object, place: str, options: ReadOptions) -> RawRecord:
    if not isinstance(fields, Mapping):
        return Skipped("not an object with fields", place)
    unwanted = reason_not_wanted(fields, options)
    if unwanted:
        return Skipped(unwanted, place)
    try:
        return _page_of(fields, place, options)
    except _WrongType as problem:
        return Skipped(str(problem), place)


def reason_not_wanted(fields: Mapping[str, object], options: ReadOptions) -> str | None:
    for name, wanted in options.where:
        if name not in fields or _spelled(fields[name]) != wanted:
            return f"{NOT_WANTED}: {name} is not {wanted}"
    return None


def _spelled(value: object) -> str:
    """A value as people write it: a text as it is, everything else as in JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _page_of(fields: Mapping[str, object], place: str, options: ReadOptions) -> RawRecord:
    url, html, text = _text(fields, "url"), _html(fields), _text(fields, "text")
    if not url:
        return Skipped("no url", place)
    if html is None and text is None:
        return Skipped("neither html nor text", place)
    leak = _spans(fields, "leak") if options.without_leaks else []
    if leak and html is not None:
        html = without_spans(decode_html(html) if isinstance(html, bytes) else html, leak)
    elif leak and text is not None:
        text = without_spans(text, leak)
    return RawPage(
        url=url,
        html=html,
        text=text,
        title=_text(fields, "title") or "",
        aliases=_texts(fields, "aliases"),
        topics=_texts(fields, "topics"),
        links=_texts(fields, "links"),
        place=place,
    )


def _html(fields: Mapping[str, object]) -> str | bytes | None:
    html = fields.get("html")
    return html if isinstance(html, bytes) else _text(fields, "html")


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _WrongType(f"{name} is not text")


def _texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise _WrongType(f"{name} is not a list of texts")


def _spans(fields: Mapping[str, object], name: str) -> list[Span]:
    value = fields.get(name)
    if value is None:
        return []
    if isinstance(value, list) and all(_is_span(item) for item in value):
        return [(start, end) for start, end in value]
    raise _WrongType(f"{name} is not a list of spans [start, end]")


def _is_span(item: object) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and all(isinstance(edge, int) for edge in item)
        and 0 <= item[0] <= item[1]
    )


def without_spans(html: str, spans: Iterable[Span]) -> str:
    """The text with each span replaced by one space, so that the words on either side stay two words."""
    kept: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if start >= position:
            kept.append(html[position:start])
        position = max(position, end)
    kept.append(html[position:])
    return " ".join(kept)
