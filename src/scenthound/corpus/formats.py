"""Documents as JSON Lines, Parquet, WET and Markdown.

JSON Lines and Parquet have the fields of `Document` as columns; `id`, `text`, `url` and `metadata` are the names that
programs for corpora expect. `html` and `markdown` are columns only if they were asked for.
"""

import gzip
import re
import unicodedata
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import orjson

from scenthound.corpus.documents import METADATA, Document
from scenthound.corpus.options import DocumentSettings
from scenthound.errors import MissingExtra
from scenthound.files import zstd
from scenthound.records import columns_of
from scenthound.store.tables import without_none
from scenthound.store.warc_format import text_record, unpacked, warcinfo_record

#: A row group is written at this many rows or characters; it is in memory until then.
GROUP_ROWS = 1_000
GROUP_CHARACTERS = 32 << 20
#: Of the slug in the name of a Markdown file.
MAX_SLUG = 60
_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")
_NOT_IN_FOLDER = re.compile(r"[^a-z0-9.-]+")
#: Characters that JSON allows in texts, and YAML does not, or takes for the end of a line.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
#: What a Markdown file says about its document before the text.
_FRONT_MATTER = (
    *("title", "url", "author", "published", "language", "fetched", "relevance", "on_topic", "n_words"),
    *("quality", "duplicate_of", "id"),
)


def columns(settings: DocumentSettings) -> list[str]:
    """The columns of JSON Lines and Parquet."""
    left_out = {name for name in ("html", "markdown") if not getattr(settings, name)}
    return [each.name for each in fields(Document) if each.name not in left_out]


def write_jsonl(documents: Iterable[Document], file: BinaryIO, name: str, settings: DocumentSettings) -> None:
    """Compressed as the suffix of `name` says."""
    names = columns(settings)
    # Closing a compressor leaves the file open.
    lines: AbstractContextManager[Any] = nullcontext(file)
    if name.lower().endswith(".gz"):
        lines = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    elif name.lower().endswith(".zst"):
        lines = zstd.ZstdFile(file, "wb")
    with lines as written:
        for document in documents:
            values = {name: getattr(document, name) for name in names}
            written.write(orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE))


def write_parquet(documents: Iterable[Document], file: BinaryIO, name: str, settings: DocumentSettings) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("parquet", "Writing Parquet") from None
    names = columns(settings)
    schema = _parquet_schema(names)
    group: list[dict[str, Any]] = []
    characters = 0
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for document in documents:
            group.append({name: getattr(document, name) for name in names})
            characters += len(document.text) + len(document.markdown or "") + len(document.html or "")
            if len(group) >= GROUP_ROWS or characters >= GROUP_CHARACTERS:
                writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
                group, characters = [], 0
        writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))


def _parquet_schema(names: list[str]) -> Any:
    import pyarrow

    plain = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    types: dict[Any, Any] = {**plain, tuple[str, ...]: pyarrow.list_(pyarrow.string())}
    metadata = pyarrow.struct([(name, plain[without_none(type_)]) for name, type_ in METADATA.items()])
    known = {each.name: types.get(without_none(each.type), metadata) for each in columns_of(Document)}
    return pyarrow.schema([(name, known[name]) for name in names])


def write_wet(documents: Iterable[Document], file: BinaryIO, name: str, fields: bytes, time_s: float) -> None:
    """WARC records of type `conversion`, as Common Crawl has them; compressed one by one if the name ends in .gz.
    `fields` and `time_s` are for the `warcinfo` record."""
    is_compressed = name.lower().endswith(".gz")

    def write(member: bytes) -> None:
        file.write(member if is_compressed else unpacked(member, name))

    write(warcinfo_record(str(uuid5(NAMESPACE_URL, f"{name} {time_s}")), time_s, Path(name).name, fields))
    for each in documents:
        record_id = str(uuid5(NAMESPACE_URL, f"{each.url} {each.fetched}"))
        date = each.fetched.replace("+00:00", "Z")
        refers_to = each.metadata["warc_record_id"]
        write(text_record(record_id, date, each.url, each.text, refers_to=refers_to, language=each.language))


def write_markdown(documents: Iterable[Document], folder: Path) -> None:
    """A file for each document, in a folder for each host: `example.org/000017-hot-air-balloons.md`."""
    hosts: set[Path] = set()
    for document in documents:
        host = folder / folder_of_host(document.url)
        if host not in hosts:
            host.mkdir(exist_ok=True)
            hosts.add(host)
        name = f"{document.metadata['visit']:06}-{slug(document.title)}".rstrip("-")
        (host / f"{name}.md").write_bytes(markdown_file(document))


def markdown_file(document: Document) -> bytes:
    """The text as Markdown, after its front matter in YAML, of which JSON is a part."""
    facts = ((name, getattr(document, name)) for name in _FRONT_MATTER)
    written = "\n".join(f"{name}: {orjson.dumps(value).decode()}" for name, value in facts if value not in (None, ()))
    front_matter = _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
    text = (document.markdown or "").strip()
    return f"---\n{front_matter}\n---\n\n{text}\n".encode("utf-8", "replace")


def slug(title: str) -> str:
    """The letters of a title that are safe in every file system."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return _NOT_IN_SLUG.sub("-", plain)[:MAX_SLUG].strip("-")


def folder_of_host(url: str) -> str:
    """The host of a URL as the name of a folder."""
    host = urlsplit(url).netloc.lower()
    return _NOT_IN_FOLDER.sub("_", host).strip(".") or "_"
