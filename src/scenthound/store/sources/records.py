"""What readers have in common: sources, chunks, and records made of named fields.

A record in JSON Lines or Parquet has the fields `url`, and `html` or `text`; optional are `title`, `aliases`, `topics`,
`links` (of a text page) and `leak`. In Parquet, `html` may be the bytes that the server sent.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta

from scenthound.store.batches import RawPage, RawRecord, Skipped
from scenthound.web.decode import decode_html

#: A chunk is full at this many records or bytes: large enough to be sent efficiently, small enough to share the work.
CHUNK_RECORDS = 64
CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`without_leaks` removes the spans that reveal a page's label; `where` selects records by the values of fields."""

    without_leaks: bool = False
    where: tuple[tuple[str, str], ...] = ()


class Unread(Protocol):
    """What is decoded to a record where its chunk is sent."""

    def record(self, options: ReadOptions) -> RawRecord: ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a source. `bytes_read` is how much of the source was read by then, compressed as it is."""

    items: Sequence[RawRecord | Unread]
    bytes_read: int

    def records(self, options: ReadOptions) -> Iterator[RawRecord]:
        for item in self.items:
            yield item if isinstance(item, RawRecord) else item.record(options)


@dataclass(frozen=True, slots=True)
class Source(ABC):
    """A file or a folder with pages, and its bytes, compressed as they are."""

    path: Path
    size_bytes: int

    @abstractmethod
    def chunks(self, options: ReadOptions) -> Iterator[Chunk]: ...


Item = TypeVar("Item")


def chunked(items: Iterable[Item], n_bytes: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Split items into lists of at most `CHUNK_RECORDS`, which end as soon as they have `CHUNK_BYTES`."""
    chunk: list[Item] = []
    chunk_bytes = 0
    for item in items:
        chunk.append(item)
        chunk_bytes += n_bytes(item)
        if len(chunk) >= CHUNK_RECORDS or chunk_bytes >= CHUNK_BYTES:
            yield chunk
            chunk, chunk_bytes = [], 0
    if chunk:
        yield chunk


PAGE_FIELDS = ("url", "html", "text", "title", "aliases", "topics", "links", "leak")

#: Prefix of the reason for records that `where` does not select.
NOT_WANTED = "not wanted"

Span = tuple[int, int]
_SPANS = "a list of spans [start, end]"
_Spans = list[tuple[Annotated[int, Meta(ge=0)], Annotated[int, Meta(ge=0)]]] | None


class _WrongType(Exception):
    """A field has a value of the wrong type."""


def record_of(fields: object, location: str, options: ReadOptions) -> RawRecord:
    if not isinstance(fields, Mapping):
        return Skipped("not an object with fields", location)
    unwanted = reason_not_wanted(fields, options)
    if unwanted:
        return Skipped(unwanted, location)
    try:
        return _page_of(fields, location, options)
    except _WrongType as problem:
        return Skipped(str(problem), location)


def reason_not_wanted(fields: Mapping[str, object], options: ReadOptions) -> str | None:
    for name, wanted in options.where:
        if name not in fields or _spelled(fields[name]) != wanted:
            return f"{NOT_WANTED}: {name} is not {wanted}"
    return None


def _spelled(value: object) -> str:
    """A value as it is typed: a text as it is, everything else as in JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _page_of(fields: Mapping[str, object], location: str, options: ReadOptions) -> RawRecord:
    url, html, text = _text(fields, "url"), fields.get("html"), _text(fields, "text")
    html = html if isinstance(html, bytes) else _text(fields, "html")
    if not url:
        return Skipped("no url", location)
    if html is None and text is None:
        return Skipped("neither html nor text", location)
    leak = _spans(fields) if options.without_leaks else []
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
        location=location,
    )


def _text(fields: Mapping[str, object], name: str) -> str | None:
    text: str | None = _typed(fields, name, str | None, "text")
    return text


def _texts(fields: Mapping[str, object], name: str) -> tuple[str, ...]:
    return tuple(_typed(fields, name, list[str] | None, "a list of texts") or ())


def _spans(fields: Mapping[str, object]) -> list[Span]:
    spans: list[Span] = _typed(fields, "leak", _Spans, _SPANS) or []
    if any(start > end for start, end in spans):
        raise _WrongType(f"leak is not {_SPANS}")
    return spans


def _typed(fields: Mapping[str, object], name: str, type_: Any, what: str) -> Any:
    try:
        return msgspec.convert(fields.get(name), type_)
    except msgspec.ValidationError:
        raise _WrongType(f"{name} is not {what}") from None


def without_spans(html: str, spans: Iterable[Span]) -> str:
    """The text with each span replaced by a space, so that the words around it stay apart."""
    kept: list[str] = []
    position = 0
    for start, end in sorted(spans):
        if start >= position:
            kept.append(html[position:start])
        position = max(position, end)
    kept.append(html[position:])
    return " ".join(kept)
