"""Exports of a crawl: its pages as JSON Lines or Parquet, its archive as WARC, or a CDXJ index of the archive.

An export contains what the crawl has committed, also while it is running, and appears complete or not at all. Pages
are exported in their latest version, archives with all versions. Pages that ask not to be indexed are left out, unless
they are included explicitly.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

import orjson

from scenthound.errors import (
    Failure,
    InvalidInput,
    InvalidParameter,
    MissingExtra,
    UnknownName,
    UsageError,
    printable,
)
from scenthound.files import part_file
from scenthound.model import Progress, silent
from scenthound.reasons import SkipReason
from scenthound.records import columns_of
from scenthound.store.archive import file_name
from scenthound.store.crawl_records import ArchiveLocation, CheckOutcome, PageVisit, VisitRecord
from scenthound.store.folder import check_replaceable
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.tables import without_none
from scenthound.store.warc_format import NOT_MODIFIED, WarcRecord, unpacked
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import is_html_type, looks_like_html, type_of
from scenthound.web.fetch import header_values
from scenthound.web.parser_process import GuardedParser
from scenthound.web.robots import header_directives

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DEFAULT_AGENT = "Scenthound"
#: Pages or records between two progress messages.
PROGRESS_STEP = 100
#: A row group is written at this many rows or characters of HTML; it is in memory until then.
GROUP_ROWS = 1_000
GROUP_CHARACTERS = 32 << 20
#: Suffixes of compressed files, and those that each kind of export supports. Parquet is compressed internally.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".br", ".lz4", ".zip")
SUPPORTED_SUFFIXES: dict[str, tuple[str, ...]] = {"cdxj": (), "jsonl": (".gz", ".zst"), "parquet": (), "warc": (".gz",)}
#: Kinds of WARC records that are exported and counted.
_RESPONSES = frozenset({"response", "revisit"})
#: Exports of pages; the others are of responses.
PAGE_KINDS = frozenset({"jsonl", "parquet"})
#: The facts of a visit in exported pages, with their types.
_EXPORTED = {each.name: without_none(each.type) for each in columns_of(PageVisit) if each.options.get("exported")}


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """How many pages or records were written; how many were left out because they ask not to be indexed, and how many
    because their relevance is below `min_relevance`; and how many of the pages written have no HTML because the crawl
    read them from a recorded web. A page is on topic if `relevance_model` scores it with `on_topic_from` or more;
    counts are None if the model cannot tell, and for records."""

    written: int
    left_out: int
    without_html: int = 0
    below_relevance: int = 0
    n_on_topic: int | None = None  #: of those written
    left_out_on_topic: int | None = None
    relevance_model: str = ""
    on_topic_from: float | None = None
    min_relevance: float | None = None


@dataclass(slots=True)
class Export:
    """An export that is being written. `out` is its final path, whose suffix decides about compression."""

    crawl: StoredCrawl
    file: BinaryIO
    out: Path
    include_noindex: bool = False
    min_relevance: float | None = None
    progress: Progress = silent
    written: int = 0
    left_out: int = 0
    below_relevance: int = 0
    without_html: int = 0
    n_on_topic: int = 0
    left_out_on_topic: int = 0

    def count(self, share: float, unit: str) -> None:
        self.written += 1
        if self.written % PROGRESS_STEP == 0:
            self.progress(min(1.0, share), f"{self.written:,} {unit}s")

    def summary(self, unit: str) -> ExportSummary:
        self.progress(1.0, f"{self.written:,} {unit}{'' if self.written == 1 else 's'}")
        threshold = on_topic_from(self.crawl) if unit == "page" else None
        return ExportSummary(
            self.written,
            self.left_out,
            self.without_html,
            self.below_relevance,
            n_on_topic=None if threshold is None else self.n_on_topic,
            left_out_on_topic=None if threshold is None else self.left_out_on_topic,
            relevance_model=_relevance_models(self.crawl),
            on_topic_from=threshold,
            min_relevance=self.min_relevance,
        )


def export(
    folder: str | Path,
    kind: str,
    out: str | Path,
    *,
    include_noindex: bool = False,
    on_topic: bool = False,
    min_relevance: float | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> ExportSummary:
    """Write the crawl in a folder to the file `out`, as one of `KINDS`. `on_topic` and `min_relevance` leave other
    pages out."""
    if kind not in KINDS:
        raise UnknownName.among("kind of export", kind, KINDS)
    path = Path(out)
    suffix = path.suffix.lower()
    if suffix in COMPRESSED and suffix not in SUPPORTED_SUFFIXES[kind]:
        supported = " or ".join(SUPPORTED_SUFFIXES[kind])
        hint = f"use {supported}" if supported else "choose a name without it"
        raise UsageError(f"{printable(out)}: a {kind} export is not written as {suffix}; {hint}.")
    with StoredCrawl.open(folder) as crawl:
        least = _least_relevance(crawl, kind, on_topic=on_topic, min_relevance=min_relevance)
        with new_file(path, force=force) as file:
            return KINDS[kind](Export(crawl, file, path, include_noindex, least, progress))


def on_topic_from(crawl: StoredCrawl) -> float | None:
    """The relevance from which on a page of the crawl is on topic; None if its relevance model cannot tell."""
    threshold = crawl.about.settings.get("on_topic_from")
    return float(threshold) if isinstance(threshold, int | float) else None


def _relevance_models(crawl: StoredCrawl) -> str:
    """All that scored pages: `rocchio, then svm`."""
    models = [crawl.about.settings.get("relevance") or "", *(each.relevance for each in crawl.relevance_models())]
    return ", then ".join(dict.fromkeys(map(str, models)))


def _least_relevance(crawl: StoredCrawl, kind: str, *, on_topic: bool, min_relevance: float | None) -> float | None:
    if not on_topic and min_relevance is None:
        return None
    if kind not in PAGE_KINDS:
        raise UsageError(
            f"A {kind} export has all responses: --on-topic and --min-relevance select pages of a jsonl or parquet "
            "export."
        )
    if min_relevance is not None and not 0 <= min_relevance <= 1:
        raise InvalidParameter(f"--min-relevance {min_relevance} must be from 0 to 1.")
    threshold = on_topic_from(crawl) if on_topic else None
    if on_topic and threshold is None:
        raise UsageError(
            f"The relevance model of the crawl in {printable(crawl.folder)} gives no probabilities, so it cannot tell "
            "which pages are on topic: choose a score with --min-relevance."
        )
    return max(each for each in (threshold, min_relevance) if each is not None)


@contextmanager
def new_file(out: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to. It appears at its path when the block ends without an error; otherwise nothing is left."""
    check_replaceable(out, None, force=force)
    target = Path(os.path.realpath(out))
    with ExitStack() as cleanup:
        try:
            part = cleanup.enter_context(part_file(target.parent))
        except OSError as reason:
            raise InvalidInput(f"Cannot create {printable(out)}: {reason.strerror}. Choose another path.") from None
        try:
            yield part.file
            check_replaceable(out, None, force=force)
            part.become(target)
        except OSError as reason:
            why = printable(reason.strerror or reason)
            raise Failure(f"Cannot write {printable(out)}: {why}. Nothing was written.") from None


# Pages, as JSON Lines or Parquet. `scenthound record` reads both.


def exported_pages(export: Export) -> Iterator[dict[str, Any]]:
    """The visited pages, in order of visit, with their HTML as text. Pages from a recorded web have none here."""
    crawl = export.crawl
    total = crawl.n_visits()
    # Read after the visits were counted, so that the URLs of all of them are there while a crawl is running.
    urls = crawl.urls()
    threshold = on_topic_from(crawl)
    for row in islice(crawl.visits(), total):
        page_is_on_topic = is_on_topic(row, threshold)
        if row.noindex and not export.include_noindex:
            export.left_out += 1
            export.left_out_on_topic += bool(page_is_on_topic)
            continue
        if export.min_relevance is not None and row.relevance < export.min_relevance:
            export.below_relevance += 1
            continue
        export.without_html += row.is_recorded
        export.n_on_topic += bool(page_is_on_topic)
        yield _exported_page(crawl, row, urls[row.page]) | {"on_topic": page_is_on_topic}
        export.count((row.visit + 1) / total, "page")


def is_on_topic(row: VisitRecord, threshold: float | None) -> bool | None:
    """None if there is no threshold (`on_topic_from`)."""
    return None if threshold is None else row.relevance >= threshold


def _exported_page(crawl: StoredCrawl, row: VisitRecord, requested_url: str) -> dict[str, Any]:
    return {
        "url": row.url,
        "title": row.title,
        "html": None if row.location is None else crawl.archive.record(row.location).html,
        "aliases": [requested_url] if requested_url != row.url else [],
        "time": datetime.fromtimestamp(row.time_s, UTC).isoformat(),
        **{name: getattr(row, name) for name in _EXPORTED},
    }


def write_jsonl(export: Export) -> ExportSummary:
    compressor = _compressor(export)
    lines = compressor or export.file
    for page in exported_pages(export):
        lines.write(orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE))
    if compressor is not None:
        compressor.close()
    return export.summary("page")


def _compressor(export: Export) -> BufferedIOBase | None:
    """Compresses to the file as its suffix says. Closing it leaves the file open."""
    if export.out.name.endswith(".gz"):
        return gzip.GzipFile("", "wb", fileobj=export.file, mtime=0)
    if export.out.name.endswith(".zst"):
        return zstd.ZstdFile(export.file, "wb")
    return None


def write_parquet(export: Export) -> ExportSummary:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("lab", "Writing Parquet") from None
    text = pyarrow.string()
    types = {str: text, int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    columns = {"url": text, "title": text, "html": text, "aliases": pyarrow.list_(text), "time": text}
    facts = {name: types[type_] for name, type_ in _EXPORTED.items()} | {"on_topic": pyarrow.bool_()}
    schema = pyarrow.schema(list((columns | facts).items()))
    group: list[dict[str, Any]] = []
    characters = 0
    with pyarrow.parquet.ParquetWriter(export.file, schema, compression="zstd") as writer:
        for page in exported_pages(export):
            group.append(page)
            characters += len(page["html"] or "")
            if len(group) >= GROUP_ROWS or characters >= GROUP_CHARACTERS:
                writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
                group, characters = [], 0
        writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
    return export.summary("page")


# The archive, as one WARC file or as a CDXJ index.
#
# A crawl archives every response: redirects, errors, robots.txt, and pages that it skipped. A record is left out if it
# asks not to be indexed, by an X-Robots-Tag header or a meta element. For visited pages the crawl knows that already;
# other pages are parsed again. A page that cannot be parsed is not left out. A revisit is treated like the page that it
# found unchanged.


def exported_records(export: Export) -> Iterator[tuple[ArchiveLocation, WarcRecord]]:
    """The records, in order of location; `warcinfo` records are not counted."""
    crawl = export.crawl
    end = crawl.archive_end()
    with closing(_NoindexDetector(crawl)) as detector:
        for location, record in crawl.archive.records(end):
            if not export.include_noindex and detector.is_noindex(location, record):
                export.left_out += 1
                continue
            yield location, record
            if record.kind in _RESPONSES:
                # All files but the last have the same size.
                share = (location.file + location.offset / crawl.about.archive.most_file_bytes) / (end.file + 1)
                export.count(share if end.file else location.offset / end.offset, "record")


class _NoindexDetector:
    def __init__(self, crawl: StoredCrawl) -> None:
        self._agent = str(crawl.about.settings.get("agent", DEFAULT_AGENT))
        self._visited = _noindex_by_location(crawl)
        self._parser = GuardedParser(WordScanner(), agent=self._agent)

    def close(self) -> None:
        self._parser.close()

    def is_noindex(self, location: ArchiveLocation, record: WarcRecord) -> bool:
        if location in self._visited:
            return self._visited[location]
        if record.kind != "response":
            return False
        if header_directives(header_values(record.head, "X-Robots-Tag"), self._agent)[0]:
            return True
        if not _is_html(record):
            return False
        parsed = self._parser.parse_now(record.content, record.url, record.charset)
        return not isinstance(parsed, SkipReason) and parsed.noindex


def _noindex_by_location(crawl: StoredCrawl) -> dict[ArchiveLocation, bool]:
    """Whether each response with a visited page, or a check of it, has a page that asks not to be indexed."""
    found = {row.location: row.noindex for row in crawl.visits() if row.location is not None}
    (first,) = crawl.numbers(("noindex",), crawl.n_visits())
    noindex = dict(enumerate(map(bool, first.tolist())))
    for check in crawl.checks():
        if check.outcome is CheckOutcome.CHANGED:
            noindex[check.visit] = check.noindex
        if check.location is not None and check.outcome in (CheckOutcome.CHANGED, CheckOutcome.UNCHANGED):
            found[check.location] = noindex.get(check.visit, False)
    return found


def _is_html(record: WarcRecord) -> bool:
    """By its type or, without one, by its content."""
    essence = type_of(record.header("Content-Type"))
    return looks_like_html(record.body) if essence is None else is_html_type(essence)


def write_warc(export: Export) -> ExportSummary:
    """Compressed record by record if the name ends in .gz, else plain."""
    compressed = export.out.name.endswith(".gz")
    for location, _ in exported_records(export):
        member = export.crawl.archive.member(location)
        export.file.write(member if compressed else unpacked(member, "the archive"))
    return export.summary("record")


def write_cdxj(export: Export) -> ExportSummary:
    """A sorted line for each response: key of the URL, time to the second, and where the record is in the `archive`
    folder. Lines are sorted in memory, about 300 bytes each. Responses of status 304 have none: pywb would replay them
    as they are, instead of the page."""
    records = exported_records(export)
    lines = sorted(_cdxj_line(location, record) for location, record in records if _is_replayed(record))
    export.file.writelines(lines)
    return export.summary("record")


def _is_replayed(record: WarcRecord) -> bool:
    return record.kind in _RESPONSES and record.status != NOT_MODIFIED


def _cdxj_line(location: ArchiveLocation, record: WarcRecord) -> bytes:
    mime = re.split(r"[;, ]", record.header("Content-Type") or "")[0] or "unk"
    fields = {
        "url": record.url,
        # Replay programs find the original by its digest.
        "mime": "warc/revisit" if record.kind == "revisit" else mime,
        "status": str(record.status),
        "digest": record.payload_digest.removeprefix("sha1:"),
        "length": str(location.length),
        "offset": str(location.offset),
        "filename": file_name(location.file),
    }
    time = re.sub(r"\D", "", record.date)[: len("YYYYMMDDhhmmss")]
    return f"{surt(record.url)} {time} {json.dumps(fields)}\n".encode()


KINDS: dict[str, Callable[[Export], ExportSummary]] = {
    "cdxj": write_cdxj,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "warc": write_warc,
}


# SURT keys of URLs, as the Wayback machine and pywb make them: `http://www.Example.org/B/?y=2&x=1` has the key
# `org,example)/b?x=1&y=2`. Replay programs must agree on the keys, so their oddities are reproduced: escapes are
# decoded until none is left, and session IDs of a few well-known kinds are removed.

_DEFAULT_PORTS = {"http": 80, "https": 443}
_WWW = re.compile(r"^www\d*\.")
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
#: /(S(4hqa0555fwsecu455xqckv45))/page.aspx, with or without the letter
_SESSION_IN_PATH = re.compile(r"^(.*/)\((?:(?:[a-z]\([0-9a-z]{24}\))+|[0-9a-z]{24})\)/([^?]+\.aspx.*)$")
#: The last one of each kind is removed, with the ampersand after it.
_SESSIONS_IN_QUERY = tuple(
    re.compile(rf"^(.*){kind}(?:&(.*))?$")
    for kind in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """The key of a canonical URL."""
    parts = urlsplit(url)
    host = _WWW.sub("", (parts.hostname or "").strip("."))
    names = [host] if ":" in host else host.split(".")
    port = f":{parts.port}" if parts.port not in (None, _DEFAULT_PORTS.get(parts.scheme)) else ""
    query = _query_key(parts.query)
    return f"{','.join(reversed(names))}{port}){_path_key(parts.path)}{'?' if query else ''}{query}"


def _path_key(path: str) -> str:
    kept: list[str] = []
    *folders, last = _normalized(path).split("/")[1:] or [""]
    for name in (*(folder for folder in folders if folder), last):
        if name == ".." and kept:
            kept.pop()
        elif name != ".":
            kept.append(name)
    key = f"/{'/'.join(kept)}".lower()
    session = _SESSION_IN_PATH.match(key)
    if session is not None:
        key = session[1] + session[2]
    return key.removesuffix("/") or "/"


def _query_key(query: str) -> str:
    key = _normalized(query).lower()
    for kind in _SESSIONS_IN_QUERY:
        session = kind.match(key)
        if session is not None:
            key = session[1] + (session[2] or "")
    return "&".join(sorted(key.split("&"), key=lambda argument: argument.split("=", 1)))


def _normalized(text: str) -> str:
    """All escapes decoded, then escaped once where needed."""
    content = text.encode()
    while (plain := unquote_to_bytes(content)) != content:
        content = plain
    return quote_from_bytes(content, _UNESCAPED)
