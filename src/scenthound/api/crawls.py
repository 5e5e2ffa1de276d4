"""Crawl folders from Python: read, explain, export, show."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from scenthound.api.arguments import called_with, folder_of, public, several
from scenthound.api.progress import show_progress
from scenthound.api.results import Result, Table
from scenthound.corpus.options import RUN_KIND, DocumentOptions, DocumentSettings, ExportOptions, Selection
from scenthound.errors import UsageError, printable, with_arguments
from scenthound.options import FolderLike, PathLike, ProgressLike, part
from scenthound.reasons import EndReason
from scenthound.records import columns_of
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.crawl_records import CheckRecord, RefreshRecord, RunRecord, Sample, SkippedRecord, VisitRecord
from scenthound.store.folder import is_kind
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.document import Chart, Series
from scenthound.ui.options import DashboardOptions

if TYPE_CHECKING:
    from scenthound.api.plans import CrawlPlan
    from scenthound.corpus.documents import Document, ExportSummary
    from scenthound.crawler.explain import Explanation
    from scenthound.crawler.recrawl import RefreshSummary
    from scenthound.crawler.settings import CrawlSettings
    from scenthound.crawler.start import CrawlSummary
    from scenthound.crawler.state import Ending
    from scenthound.experiments.trec import TrecSummary
    from scenthound.metrics.recall_estimate import CannotTell, RecallEstimate

#: The columns of a table of pages when it is printed.
PRINTED_OF_PAGES = ("visit", "relevance", "status", "url", "title")
PRINTED_OF_DOCUMENTS = ("url", "title", "language", "n_words", "relevance")


Row = TypeVar("Row")
Value = TypeVar("Value")


def _time(time_s: float) -> str:
    from scenthound.ui.reports.crawl_summary import format_time

    return format_time(time_s)


#: How columns of tables are printed, if not as numbers.
FORMATS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("time_s", "began_s", "started_s", "ended_s"), _time),
    "process": str,
}


class Crawl(Result):
    """A crawl folder: its pages, skipped pages and time series, as tables that are read when they are used."""

    def __init__(
        self, folder: PathLike, summary: CrawlSummary | None = None, *, refreshed: RefreshSummary | None = None
    ) -> None:
        self.folder = folder_of(folder, "crawl")
        #: How the run ended that returned this; None for a crawl that was opened.
        self.summary = summary
        #: How the refresh ended that returned this.
        self.refreshed = refreshed
        self._settings = CrawlAbout.read(self.folder).settings

    @property
    def settings(self) -> CrawlSettings:
        """All that decides about the crawl."""
        from scenthound.crawler.settings import CrawlSettings

        return CrawlSettings.from_settings(self._settings)

    @property
    def ended(self) -> EndReason | None:
        """Why the last run ended; None while it runs, or if its process died."""
        if self.summary:
            return self.summary.ended
        last = [*self.runs][-1:]
        return EndReason(last[0].ended) if last and last[0].ended else None

    @property
    def failure(self) -> str:
        """Why the crawl has ended without a page, with the reasons of its seeds, or how its proxy failed; empty for
        other crawls, those that are running, and those that were stopped. A crawl without a page is no exception: a web
        without the pages is a result."""
        from scenthound.ui.endings import failure_text

        ending = self._ending()
        return with_arguments(failure_text(ending), {}) if ending else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines about keywords that are ignored, and start pages that were skipped or do not look on topic; empty if
        all is well."""
        from scenthound.crawler.topic_notes import topic_notes
        from scenthound.ui.topic_notes import note_texts

        if self.summary:
            return tuple(note_texts(self.summary.topic_notes))
        return tuple(note_texts(self._read(partial(topic_notes, self.settings))))

    @property
    def recall(self) -> RecallEstimate | None:
        """An estimate of the share of reachable pages on topic that were found: `recall`, with the bounds `low` and
        `high` of an interval of 90 %. None if there is none; `recall_unknown` says why."""
        from scenthound.metrics.recall_estimate import RecallEstimate

        estimate = self._recall()
        return estimate if isinstance(estimate, RecallEstimate) else None

    @property
    def recall_unknown(self) -> str:
        """Why the recall cannot be estimated; empty if it can."""
        from scenthound.metrics.recall_estimate import CannotTell

        estimate = self._recall()
        return estimate.value if isinstance(estimate, CannotTell) else ""

    def _recall(self) -> RecallEstimate | CannotTell:
        from scenthound.crawler.recall import stored_recall

        return self._read(stored_recall).estimate

    def _ending(self) -> Ending | None:
        from scenthound.crawler.state import crawl_state

        return self.summary.ending if self.summary else self._read(crawl_state).ending

    @property
    def pages(self) -> Table[VisitRecord]:
        """The pages that were visited, in order; those that a refresh found changed in their latest version."""
        return self._table(VisitRecord, StoredCrawl.visits, "pages", length=self.__len__, printed=PRINTED_OF_PAGES)

    @property
    def on_topic(self) -> Table[VisitRecord]:
        """The visited pages that are on topic by the relevance model. Empty if its scores are no probabilities."""

        def rows(stored: StoredCrawl) -> Iterator[VisitRecord]:
            return (row for row in stored.visits() if stored.is_on_topic(row))

        return self._table(VisitRecord, rows, "pages on topic", printed=PRINTED_OF_PAGES)

    @property
    def skipped(self) -> Table[SkippedRecord]:
        """The pages that were not visited, each with the reason."""
        return self._table(SkippedRecord, StoredCrawl.skipped, "skipped pages", printed=("reason", "url", "detail"))

    @property
    def checks(self) -> Table[CheckRecord]:
        """What refreshes found: a row for each page and refresh, in the order of the checks."""
        return self._table(CheckRecord, StoredCrawl.checks, "checks", printed=("time_s", "outcome", "status", "url"))

    @property
    def refreshes(self) -> Table[RefreshRecord]:
        """The refreshes of the crawl."""
        return self._table(RefreshRecord, StoredCrawl.refreshes, "refreshes")

    @property
    def samples(self) -> Table[Sample]:
        """The time series of the crawl: speed, harvest, queue, hosts."""
        return self._table(Sample, lambda stored: (each for _, each in stored.samples()), "time series")

    @property
    def runs(self) -> Table[RunRecord]:
        """The runs of the crawl: its start, and each time it was resumed."""
        return self._table(RunRecord, StoredCrawl.runs, "runs")

    def _table(
        self, record: type[Row], read: Callable[[StoredCrawl], Iterable[Row]], title: str, **shown: Any
    ) -> Table[Row]:
        return Table.of(record, self._rows(read), title, formats=FORMATS, **shown)

    def _read(self, read: Callable[[StoredCrawl], Value]) -> Value:
        with StoredCrawl.open(self.folder) as stored:
            return read(stored)

    def _rows(self, read: Callable[[StoredCrawl], Iterable[Row]]) -> Callable[[], Iterator[Row]]:
        """A function that opens the database and reads rows."""

        def rows() -> Iterator[Row]:
            with StoredCrawl.open(self.folder) as stored:
                yield from read(stored)

        return rows

    def __len__(self) -> int:
        return self._read(StoredCrawl.n_visits)

    def resume(self, **options: Any) -> Crawl:
        """Continue the crawl; see `scenthound.resume`."""
        from scenthound.api.runs import resume

        return resume(self, **options)

    def plan(self, **options: Any) -> CrawlPlan:
        """What the crawl would request next if it was resumed: a ranking of its queue with reasons. The options are
        those of `scenthound.resume`. Nothing is requested, and the folder is not changed."""
        from scenthound.api.plans import plan_again

        return plan_again(self, **options)

    def refresh(self, **options: Any) -> Crawl:
        """Check the pages again; see `scenthound.refresh`."""
        from scenthound.api.runs import refresh

        return refresh(self, **options)

    @public
    def explain(self, url: str) -> Explanation:
        """Why a page was visited, with the pages that link to it, or why it was skipped."""
        from scenthound.crawler.explain import explain

        return explain(self.folder, url)

    def documents(self, *, progress: ProgressLike = None, **options: Any) -> Table[Document]:
        """The pages as documents, with their main text, Markdown and metadata. The options are those of
        `scenthound.export`. Texts are extracted when rows are read for the first time, and cached in the folder."""
        from scenthound.corpus.documents import Document, Documents

        chosen = document_options(**options)

        def rows(stored: StoredCrawl) -> Iterator[Document]:
            with show_progress("extracting", progress) as report:
                yield from Documents(stored, part(Selection, chosen), part(DocumentSettings, chosen), report)

        columns = {each.name: each.type for each in columns_of(Document)}
        return Table(self._rows(rows), list(columns), "documents", printed=PRINTED_OF_DOCUMENTS, hints=columns)

    def export(self, to: str, out: PathLike, **options: Any) -> ExportSummary:
        """Write the pages for other programs; see `scenthound.export`."""
        return cast("ExportSummary", export(self, to, out, **options))

    def _headline(self) -> str:
        from scenthound.ui.endings import ending_text
        from scenthound.ui.formats import counted

        topic, ending = self._settings["topic"]["id"], self._ending()
        ended = f" Ended: {self.ended.value}." if self.ended else ""
        why = f" {ending_text(ending)}".rstrip() if ending else ""
        return f"Crawl for {topic} in {self.folder}: {counted(len(self), 'page')}.{ended}{why}"

    def _tables(self) -> list[Table[Any]]:
        return [self.pages]

    def _charts(self) -> list[Chart]:
        relevance = np.array([row.relevance for row in self.pages])
        pages = np.arange(1.0, len(relevance) + 1)
        harvest = Series("harvest", pages, np.cumsum(relevance) / pages)
        return [Chart("harvest", "Harvest", "pages", "mean relevance so far", (harvest,))] if len(pages) else []


@public
def open_crawl(folder: FolderLike) -> Crawl:
    """Read the crawl in a folder, also while it is running."""
    return Crawl(folder)


@called_with(ExportOptions)
def export(options: ExportOptions) -> ExportSummary | TrecSummary:
    """Write a crawl or a run for other programs to `out`, a path or a URL such as `s3://bucket/name`.

    `to` is "jsonl", "parquet", "markdown" or "wet" for documents with their main text, "warc" for all responses, or
    "cdxj" for an index of them. Documents can be limited to pages that the relevance model finds `on_topic`, to a
    `min_relevance`, to languages, to a number of words, to pages that pass `quality_rules` (names, or "all"), and by
    `deduplicate` to one of several that are nearly the same. With `html` they include the HTML of pages.

    A run of `simulate` is exported to "trec": a folder with its crawls as rankings and the known relevant pages of its
    topics, for trec_eval and ir_measures. `web` is where its recorded web is now, if that was moved.
    """
    from scenthound.api.laboratory import export_run
    from scenthound.corpus.export import export as write_export

    to, force, progress = options.to, options.force, options.progress
    if to == RUN_KIND:
        return export_run(options.crawl, options.out, web=options.web, force=force, progress=progress)
    selection, settings = part(Selection, options), part(DocumentSettings, options)
    folder = _crawl_to_export(options.crawl)
    with show_progress("exporting", progress) as report:
        return write_export(
            folder, to, os.fspath(options.out), selection=selection, settings=settings, force=force, progress=report
        )


def _crawl_to_export(crawl: Any) -> Path:
    """The folder of a crawl; UsageError with what to do if it is that of a run."""
    folder = folder_of(crawl)
    if is_kind(folder, "run"):
        raise UsageError(
            f"{printable(folder)} is a simulation run, which has no texts of pages: export it with --to trec, or give "
            "a crawl."
        )
    return folder_of(folder, "crawl")


@called_with(DocumentOptions)
def document_options(options: DocumentOptions) -> DocumentOptions:
    """Which pages become documents, and what these contain."""
    return options


@called_with(several(DashboardOptions))
def dashboard(options: DashboardOptions) -> None:
    """Show crawls and experiments, running or finished, on a local web page, until it is interrupted.

    `folders` are crawls, experiments, or folders that contain them; without any, the working folder. `on_start`
    receives the address of the page, which includes the token. With `open_to_all` everyone on this machine can read
    without the token; changes always need it. Each start has a new token, unless `token_file` keeps it.
    """
    from scenthound.ui.dashboard.server import serve

    serve(options)
