"""A crawl written out for others: its pages as JSON Lines or Parquet, its archive as WARC, or an index of that.

What is written is what the crawl has acknowledged, also while it is running, and it appears whole or not at all.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

import orjson

from scenthound.errors import MissingExtra, UnknownName, UsageError, printable
from scenthound.model import Progress, silent
from scenthound.reasons import SkipReason
from scenthound.store.archive import file_name
from scenthound.store.crawl_records import ArchiveLocation
from scenthound.store.export_pages import (
    ExportedPage,
    Exporter,
    ExportOptions,
    ExportSummary,
    Tally,
    exported_pages,
    new_file,
)
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.store.warc_format import WarcRecord, charset_of, unpacked, unpacked_body
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import is_html_type, looks_like_html, type_of
from scenthound.web.fetch import header_values
from scenthound.web.parser_process import GuardedParser
from scenthound.web.robots import header_directives

# The archived records of a crawl that others may have.
#
# A crawl archives every answer it got: redirects, errors and robots.txt, and pages that it did not take. A record is
# left out if it asks itself not to be indexed, in its X-Robots-Tag headers or, being HTML, in its meta elements. Of a
# page that was taken the crawl knows that already; other pages are read again. One that cannot be read asks for
# nothing.

DEFAULT_AGENT = "Scenthound"


def exported_records(
    crawl: StoredCrawl, options: ExportOptions, tally: Tally
) -> Iterator[tuple[ArchiveLocation, WarcRecord]]:
    """The records that may be exported, in order of place; counted as they go by, `warcinfo` records not."""
    end = crawl.archive_end()
    with closing(_Wishes(crawl)) as wishes:
        for place, record in crawl.archive.records(end):
            if not options.include_noindex and wishes.noindex(place, record):
                tally.left_out += 1
                continue
            yield place, record
            if record.kind == "response":
                # Files are of one size but for the last.
                share = (place.file + place.offset / crawl.about.archive.most_file_bytes) / (end.file + 1)
                tally.add(share if end.file else place.offset / end.offset)


class _Wishes:
    """Knows which records ask not to be indexed."""

    def __init__(self, crawl: StoredCrawl) -> None:
        self._agent = str(crawl.about.settings.get("agent", DEFAULT_AGENT))
        self._noindex = {row.location: row.noindex for row in crawl.visits()}
        self._parser = GuardedParser(WordScanner(), agent=self._agent)

    def close(self) -> None:
        self._parser.close()

    def noindex(self, place: ArchiveLocation, record: WarcRecord) -> bool:
        if record.kind != "response":
            return False
        if place in self._noindex:
            return self._noindex[place]
        by_header, _ = header_directives(header_values(record.head, "X-Robots-Tag"), self._agent)
        return by_header or (is_html(record) and self._asks_in_html(record))

    def _asks_in_html(self, record: WarcRecord) -> bool:
        content = unpacked_body(record.body, ", ".join(header_values(record.head, "Content-Encoding")))
        parsed = self._parser.parse_now(content, record.url, charset_of(record.header("Content-Type")))
        return not isinstance(parsed, SkipReason) and parsed.noindex


def is_html(record: WarcRecord) -> bool:
    """Whether an answer is HTML, by its type or, if it has none, by its looks."""
    essence = type_of(record.header("Content-Type"))
    return looks_like_html(record.body) if essence is None else is_html_type(essence)


# Keys under which web archives look up pages: SURT, as the Wayback machine and pywb make them.
#
# The host stands backwards, so that the pages of a domain stand together, and what rarely tells two pages apart is
# levelled: `http://www.Example.org/B/?y=2&x=1` has the key `org,example)/b?x=1&y=2`. Two replay programs agree on a
# page only if they agree on its key, so the oddities are kept as they are: escapes are undone until none is left, and
# ids of sessions of a few well-known kinds are cut out.

_DEFAULT_PORTS = {"http": 80, "https": 443}
_WORLD_WIDE_WEB = re.compile(r"^www\d*\.")
_PLAIN = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"

#: /(S(4hqa0555fwsecu455xqckv45))/page.aspx, with or without the letter
_SESSION_IN_PATH = re.compile(r"^(.*/)\((?:(?:[a-z]\([0-9a-z]{24}\))+|[0-9a-z]{24})\)/([^?]+\.aspx.*)$")
#: One of each kind goes, the last one, with the ampersand behind it.
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
    host = _WORLD_WIDE_WEB.sub("", (parts.hostname or "").strip("."))
    names = [host] if ":" in host else host.split(".")
    port = f":{parts.port}" if parts.port not in (None, _DEFAULT_PORTS.get(parts.scheme)) else ""
    query = _query_key(parts.query)
    return f"{','.join(reversed(names))}{port}){_path_key(parts.path)}{'?' if query else ''}{query}"


def _path_key(path: str) -> str:
    kept: list[str] = []
    *folders, last = _levelled(path).split("/")[1:] or [""]
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
    key = _levelled(query).lower()
    for kind in _SESSIONS_IN_QUERY:
        session = kind.match(key)
        if session is not None:
            key = session[1] + (session[2] or "")
    return "&".join(sorted(key.split("&"), key=lambda argument: argument.split("=", 1)))


def _levelled(text: str) -> str:
    """Escapes undone until none is left, then what must be escaped is, once."""
    content = text.encode()
    while (plain := unquote_to_bytes(content)) != content:
        content = plain
    return quote_from_bytes(content, _PLAIN)


# An index of the archive of a crawl, from which pywb and others replay it: CDXJ, a sorted line for each answer.
#
# A line is the key of the address, the time to the second, and where the record is: `filename` is the name of a file
# in the `archive` folder of the crawl. All lines are held in memory to be sorted, some 300 bytes a record.

_TIME_DIGITS = 14
_NO_DIGIT = re.compile(r"\D")
_END_OF_TYPE = re.compile(r"[;, ]")


def write_cdxj(crawl: StoredCrawl, file: BinaryIO, _out: Path, options: ExportOptions) -> ExportSummary:
    tally = Tally(options.progress, "record")
    records = exported_records(crawl, options, tally)
    lines = sorted(_line(place, record) for place, record in records if record.kind == "response")
    file.writelines(lines)
    return tally.summary()


def _line(place: ArchiveLocation, record: WarcRecord) -> bytes:
    fields = {
        "url": record.url,
        "mime": _END_OF_TYPE.split(record.header("Content-Type") or "")[0] or "unk",
        "status": str(record.status),
        "digest": record.payload_digest.removeprefix("sha1:"),
        "length": str(place.length),
        "offset": str(place.offset),
        "filename": file_name(place.file),
    }
    time = _NO_DIGIT.sub("", record.date)[:_TIME_DIGITS]
    return f"{surt(record.url)} {time} {json.dumps(fields)}\n".encode()


# The pages of a crawl as JSON Lines, compressed as the name of the file says. `scenthound record` takes them.

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def write_jsonl(crawl: StoredCrawl, file: BinaryIO, out: Path, options: ExportOptions) -> ExportSummary:
    tally = Tally(options.progress, "page")
    compressing = _compressing(file, out)
    lines = file if compressing is None else compressing
    for page in exported_pages(crawl, options, tally):
        lines.write(orjson.dumps(page, option=orjson.OPT_APPEND_NEWLINE))
    if compressing is not None:
        compressing.close()
    return tally.summary()


def _compressing(file: BinaryIO, out: Path) -> BufferedIOBase | None:
    """What compresses into the file, as its name says; None if nothing does. Closing it leaves the file open."""
    if out.name.endswith(".gz"):
        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    if out.name.endswith(".zst"):
        return zstd.ZstdFile(file, "wb")
    return None


# The pages of a crawl as a Parquet file, with the columns that JSON Lines have as fields.

#: A row group is full at so many rows or characters of HTML: it is held in memory until then.
GROUP_ROWS = 1_000
GROUP_CHARACTERS = 32 << 20


def write_parquet(crawl: StoredCrawl, file: BinaryIO, _out: Path, options: ExportOptions) -> ExportSummary:
    arrow, parquet = _libraries()
    schema = _schema(arrow)
    tally = Tally(options.progress, "page")
    group: list[ExportedPage] = []
    characters = 0
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for page in exported_pages(crawl, options, tally):
            group.append(page)
            characters += len(page.html or "")
            if len(group) >= GROUP_ROWS or characters >= GROUP_CHARACTERS:
                writer.write_table(_table(arrow, group, schema))
                group, characters = [], 0
        writer.write_table(_table(arrow, group, schema))
    return tally.summary()


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("lab", "Writing Parquet") from None
    return pyarrow, pyarrow.parquet


def _schema(arrow: Any) -> Any:
    text, number, count, truth = arrow.string(), arrow.float64(), arrow.int64(), arrow.bool_()
    types = {
        "url": text,
        "title": text,
        "html": text,
        "aliases": arrow.list_(text),
        "time": text,
        "relevance": number,
        "visit": count,
        "status": count,
        "score": number,
        "regret": number,
        "noindex": truth,
        "truncated": truth,
    }
    return arrow.schema(list(types.items()))


def _table(arrow: Any, pages: list[ExportedPage], schema: Any) -> Any:
    return arrow.Table.from_pylist([asdict(page) for page in pages], schema=schema)


# The archive of a crawl as one WARC file: compressed record by record if its name ends in .gz, else plain.


def write_warc(crawl: StoredCrawl, file: BinaryIO, out: Path, options: ExportOptions) -> ExportSummary:
    tally = Tally(options.progress, "record")
    compressed = out.name.endswith(".gz")
    for place, _ in exported_records(crawl, options, tally):
        member = crawl.archive.member(place)
        file.write(member if compressed else unpacked(member, "the archive"))
    return tally.summary()


KINDS: dict[str, Exporter] = {
    "cdxj": write_cdxj,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "warc": write_warc,
}

#: Endings that promise compression, and which of them each kind keeps. Parquet is compressed within.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".br", ".lz4", ".zip")
KEPT_ENDINGS: dict[str, tuple[str, ...]] = {"cdxj": (), "jsonl": (".gz", ".zst"), "parquet": (), "warc": (".gz",)}


def export(
    folder: str | Path,
    kind: str,
    out: str | Path,
    *,
    include_noindex: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> ExportSummary:
    """Write the crawl in a folder to the file `out`, as one of `KINDS`."""
    if kind not in KINDS:
        raise UnknownName.among("kind of export", kind, KINDS)
    _check_ending(kind, Path(out))
    with StoredCrawl.open(folder) as crawl, new_file(Path(out), force) as file:
        return KINDS[kind](crawl, file, Path(out), ExportOptions(include_noindex, progress))


def _check_ending(kind: str, out: Path) -> None:
    """A name that says how the file is compressed must not lie."""
    ending = out.suffix.lower()
    if ending in COMPRESSED and ending not in KEPT_ENDINGS[kind]:
        kept = " or ".join(KEPT_ENDINGS[kind])
        instead = f"only as {kept}" if kept else "not at all"
        raise UsageError(
            f"{printable(out)}: a {kind} export is compressed {instead}; choose a name that ends otherwise."
        )
