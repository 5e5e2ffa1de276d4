"""Exports of a crawl for other programs.

An export contains what the crawl has committed, also while it is running, and appears complete or not at all. Pages
are exported in their latest version, archives with all versions. Pages that ask not to be indexed are left out, unless
they are included explicitly.
"""

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from scenthound.corpus.archives import ArchiveExport, write_cdxj, write_warc
from scenthound.corpus.destinations import check_outside, new_export_folder, new_file
from scenthound.corpus.documents import Documents, ExportSummary
from scenthound.corpus.formats import write_jsonl, write_markdown, write_parquet, write_wet
from scenthound.corpus.options import RECORD_KINDS, DocumentSettings, Selection
from scenthound.errors import UsageError, printable
from scenthound.model import Progress, silent
from scenthound.store.folder import CORPUS, ResultFolder
from scenthound.store.locations import is_remote
from scenthound.store.stored_crawl import StoredCrawl

#: Suffixes of compressed files, and those that each kind of export supports. Parquet is compressed internally.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".br", ".lz4", ".zip")
SUPPORTED_SUFFIXES: dict[str, tuple[str, ...]] = {"jsonl": (".gz", ".zst"), "wet": (".gz",), "warc": (".gz",)}


def export(
    folder: str | Path,
    kind: str,
    out: str | os.PathLike[str],
    *,
    selection: Selection | None = None,
    settings: DocumentSettings | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> ExportSummary:
    """Write the crawl in a folder to `out`, a path or a URL, in one of the formats of documents or responses."""
    _check_suffix(kind, out)
    selection, settings = selection or Selection(), settings or DocumentSettings()
    with StoredCrawl.open(folder) as crawl:
        check_outside(out, crawl.folder)
        if kind in RECORD_KINDS:
            write_records: Callable[[ArchiveExport], None] = write_warc if kind == "warc" else write_cdxj
            with new_file(out, force=force) as file:
                records = ArchiveExport(crawl, file, _name(out), selection.include_noindex, progress)
                write_records(records)
            progress(1.0, f"{records.written:,} record{'' if records.written == 1 else 's'}")
            dropped = {"noindex": records.n_noindex} if records.n_noindex else {}
            return ExportSummary(kind=kind, written=records.written, dropped=dropped)
        documents = Documents(crawl, selection, settings, progress)
        documents.counts.kind = kind
        if kind == "markdown":
            with new_export_folder(out, "corpus", force=force) as corpus:
                write_markdown(documents, corpus)
                # The file that says what the folder is.
                ResultFolder(corpus, CORPUS.kind).write_json(CORPUS.file, asdict(documents.counts))
                return documents.counts
        with new_file(out, force=force) as file:
            if kind == "wet":
                fields = crawl.about.archive.fields()
                write_wet(documents, file, _name(out), fields, crawl.last_time_s())
            else:
                write = write_jsonl if kind == "jsonl" else write_parquet
                write(documents, file, _name(out), settings)
        return documents.counts


def _check_suffix(kind: str, out: str | os.PathLike[str]) -> None:
    suffix = PurePosixPath(_name(out)).suffix.lower()
    supported = SUPPORTED_SUFFIXES.get(kind, ())
    if suffix in COMPRESSED and suffix not in supported:
        hint = f"use {' or '.join(supported)}" if supported else "choose a name without it"
        raise UsageError(f"{printable(out)}: a {kind} export is not written as {suffix}; {hint}.")


def _name(out: str | os.PathLike[str]) -> str:
    return PurePosixPath(str(out)).name if is_remote(out) else Path(out).name
