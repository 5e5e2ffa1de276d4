"""Exports of a crawl for other programs.

An export contains what the crawl has committed, also while it is running, and appears complete or not at all. Pages
are exported in their latest version, archives with all versions. Pages that ask not to be indexed are left out, unless
they are included explicitly.
"""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from scenthound.corpus.archives import ArchiveExport, write_cdxj, write_warc
from scenthound.corpus.destinations import check_outside, new_export_folder, new_file
from scenthound.corpus.documents import Documents, DocumentSettings, Selection
from scenthound.corpus.formats import write_jsonl, write_markdown, write_parquet, write_wet
from scenthound.errors import UnknownName, UsageError, printable
from scenthound.model import Progress, silent
from scenthound.store.folder import CORPUS, ResultFolder
from scenthound.store.locations import is_remote
from scenthound.store.stored_crawl import StoredCrawl

ExportKind = Literal["jsonl", "parquet", "wet", "markdown", "warc", "cdxj"]
KINDS: tuple[ExportKind, ...] = get_args(ExportKind)
#: The export of simulation runs (`experiments/trec`); the others are of crawls.
RUN_KIND = "trec"
#: Exports of responses; the others are of documents.
RECORD_KINDS = frozenset({"warc", "cdxj"})
#: Exports of documents as tables, in which columns can be chosen.
COLUMN_KINDS = frozenset({"jsonl", "parquet"})
#: Suffixes of compressed files, and those that each kind of export supports. Parquet is compressed internally.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".br", ".lz4", ".zip")
SUPPORTED_SUFFIXES: dict[str, tuple[str, ...]] = {"jsonl": (".gz", ".zst"), "wet": (".gz",), "warc": (".gz",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSummary:
    """How many documents or records were written, and how many pages were left out for each reason. A page is on topic
    if `relevance_model` scores it with `on_topic_from` or more; counts are None if the model cannot tell, and for
    records."""

    kind: str
    written: int
    dropped: dict[str, int] = field(default_factory=dict)
    without_html: int = 0  #: the crawl read these pages from a recorded web
    n_duplicates: int = 0  #: documents with `duplicate_of`
    n_on_topic: int | None = None  #: of those written
    n_noindex_on_topic: int | None = None
    relevance_model: str = ""
    on_topic_from: float | None = None
    min_relevance: float | None = None


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
    """Write the crawl in a folder to `out`, a path or a URL, as one of `KINDS`."""
    if kind not in KINDS:
        raise UnknownName.among("kind of export", kind, (*KINDS, RUN_KIND))
    _check_suffix(kind, out)
    selection, settings = selection or Selection(), settings or DocumentSettings()
    if kind in RECORD_KINDS and (selection.selects_pages or settings != DocumentSettings()):
        raise UsageError(
            f"A {kind} export has all responses as they are. Options that select or extract pages, such as --on-topic, "
            "are for jsonl, parquet, wet and markdown exports."
        )
    if kind not in COLUMN_KINDS and (settings.html or not settings.markdown):
        option = "--html" if settings.html else "--no-markdown"
        raise UsageError(f"{option} is for jsonl and parquet exports, which have columns.")
    with StoredCrawl.open(folder) as crawl:
        check_outside(out, crawl.folder)
        if kind in RECORD_KINDS:
            with new_file(out, force=force) as file:
                return _write_records(ArchiveExport(crawl, file, _name(out), selection.include_noindex, progress), kind)
        documents = Documents(crawl, selection, settings, progress)
        if kind == "markdown":
            with new_export_folder(out, "corpus", force=force) as corpus:
                write_markdown(documents, corpus)
                summary = _document_summary(kind, documents, crawl)
                _write_about(corpus, summary)
                return summary
        with new_file(out, force=force) as file:
            if kind == "wet":
                fields = crawl.about.archive.fields()
                write_wet(documents, file, _name(out), fields, crawl.last_time_s())
            else:
                write = write_jsonl if kind == "jsonl" else write_parquet
                write(documents, file, _name(out), settings)
        return _document_summary(kind, documents, crawl)


def _check_suffix(kind: str, out: str | os.PathLike[str]) -> None:
    suffix = PurePosixPath(_name(out)).suffix.lower()
    supported = SUPPORTED_SUFFIXES.get(kind, ())
    if suffix in COMPRESSED and suffix not in supported:
        hint = f"use {' or '.join(supported)}" if supported else "choose a name without it"
        raise UsageError(f"{printable(out)}: a {kind} export is not written as {suffix}; {hint}.")


def _name(out: str | os.PathLike[str]) -> str:
    return PurePosixPath(str(out)).name if is_remote(out) else Path(out).name


def _write_records(records: ArchiveExport, kind: str) -> ExportSummary:
    write: Callable[[ArchiveExport], None] = write_warc if kind == "warc" else write_cdxj
    write(records)
    records.progress(1.0, f"{records.written:,} record{'' if records.written == 1 else 's'}")
    dropped = {"noindex": records.n_noindex} if records.n_noindex else {}
    return ExportSummary(kind=kind, written=records.written, dropped=dropped)


def _document_summary(kind: str, documents: Documents, crawl: StoredCrawl) -> ExportSummary:
    counts, threshold = documents.counts, crawl.on_topic_from
    return ExportSummary(
        kind=kind,
        written=counts.written,
        dropped=counts.dropped,
        without_html=counts.without_html,
        n_duplicates=counts.n_duplicates,
        n_on_topic=None if threshold is None else counts.n_on_topic,
        n_noindex_on_topic=None if threshold is None else counts.n_noindex_on_topic,
        relevance_model=_relevance_models(crawl),
        on_topic_from=threshold,
        min_relevance=documents.least_relevance,
    )


def _relevance_models(crawl: StoredCrawl) -> str:
    """All that scored pages: `rocchio, then svm`."""
    models = [crawl.about.settings.get("relevance") or "", *(each.relevance for each in crawl.relevance_models())]
    return ", then ".join(dict.fromkeys(map(str, models)))


def _write_about(corpus: Path, summary: ExportSummary) -> None:
    """The file that says what the folder is."""
    ResultFolder(corpus, CORPUS.kind).write_json(CORPUS.file, asdict(summary))
