"""The documents of a corpus: a page of a crawl each, with its main text and what is known about it.

A document that another one contains nearly word for word has that one's URL in `duplicate_of`. Documents are compared
in the order of the crawl, after all other filters, so that the original is always in the corpus, before its copies.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import sha1
from itertools import islice
from math import isfinite
from typing import Any

from scenthound.corpus.extraction import extracted_pages
from scenthound.corpus.extraction_cache import Extracted, ExtractionFault
from scenthound.corpus.main_text import MainText
from scenthound.corpus.min_hash import TextIndex
from scenthound.corpus.options import DocumentSettings, Selection
from scenthound.errors import UsageError, printable
from scenthound.model import Progress, silent
from scenthound.processes import processors
from scenthound.records import column, columns_of
from scenthound.store.crawl_records import PageVisit, VisitRecord
from scenthound.store.stored_crawl import StoredCrawl

#: Documents between two progress messages.
PROGRESS_STEP = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document of a corpus. `metadata` are facts about the visit of the page."""

    id: str = column("ID", help="digest of the URL, the same in every crawl")
    text: str = column(help="the main content without navigation and other boilerplate")
    url: str = column("URL", help="final URL, after redirects")
    title: str = column()
    author: str | None = column(default=None)
    language: str | None = column(default=None, help="ISO 639-1 code; none if it cannot be told")
    language_score: float | None = column(default=None, help="share of the text in this language")
    published: str | None = column(default=None, help="date of first publication")
    published_from: str | None = column(default=None, help="the signal that gave the date")
    fetched: str = column(help="when the page was fetched, in UTC")
    relevance: float = column(help="score of the relevance model")
    on_topic: bool | None = column(help="none if the relevance model cannot tell")
    n_words: int = column("words")
    status: int = column("HTTP status")
    extractor: str | None = column(help="how the text was extracted; none if the crawl has no HTML of the page")
    quality: tuple[str, ...] = column(help="the quality rules that the text fails")
    duplicate_of: str | None = column(default=None, help="URL of an earlier document that is nearly the same")
    aliases: tuple[str, ...] = column(help="URLs that redirect to the page")
    metadata: dict[str, Any] = column(help="facts about the visit")
    markdown: str | None = column(default=None, help="the main content as Markdown")
    html: str | None = column("HTML", default=None)


#: Facts of a visit in the metadata of a document, with their types.
_VISIT_FACTS = {
    each.name: each.type
    for each in columns_of(PageVisit)
    if each.options.get("exported") and each.name not in Document.__slots__
}
#: All that metadata contain, with their types.
METADATA = {**_VISIT_FACTS, "topic": str, "warc_record_id": str | None}


def least_relevance(selection: Selection, crawl: StoredCrawl) -> float | None:
    threshold = crawl.on_topic_from if selection.on_topic else None
    if selection.on_topic and threshold is None:
        raise UsageError(
            f"The relevance model of the crawl in {printable(crawl.folder)} gives no probabilities, so it cannot "
            "tell which pages are on topic: choose a score with --min-relevance."
        )
    return max((each for each in (threshold, selection.min_relevance) if each is not None), default=None)


@dataclass(slots=True, kw_only=True)
class ExportSummary:
    """How many documents or records were written, and how many pages were left out for each reason. A page is on topic
    if `relevance_model` scores it with `on_topic_from` or more; counts are None if the model cannot tell, and for
    records."""

    kind: str = ""
    written: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    without_html: int = 0  #: the crawl read these pages from a recorded web
    n_duplicates: int = 0  #: documents with `duplicate_of`
    n_on_topic: int | None = None  #: of those written
    n_noindex_on_topic: int | None = None
    relevance_model: str = ""
    on_topic_from: float | None = None
    min_relevance: float | None = None

    def drop(self, reason: str) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


class Documents:
    """The documents of a crawl: iterate once. `counts` is complete when the iteration ends."""

    def __init__(
        self,
        crawl: StoredCrawl,
        selection: Selection | None = None,
        settings: DocumentSettings | None = None,
        progress: Progress = silent,
    ) -> None:
        self._crawl = crawl
        self._selection = selection or Selection()
        self._settings = settings or DocumentSettings()
        self._progress = progress
        # Checked before the first document is wanted.
        self._least_relevance = least_relevance(self._selection, crawl)
        models = [crawl.about.settings.get("relevance") or "", *(each.relevance for each in crawl.relevance_models())]
        none_yet = None if crawl.on_topic_from is None else 0
        self.counts = ExportSummary(
            n_on_topic=none_yet,
            n_noindex_on_topic=none_yet,
            # All that scored pages: `rocchio, then svm`.
            relevance_model=", then ".join(dict.fromkeys(map(str, models))),
            on_topic_from=crawl.on_topic_from,
            min_relevance=self._least_relevance,
        )
        self._checked_quality = self._selection.checked_quality()

    def __iter__(self) -> Iterator[Document]:
        total = self._crawl.n_visits()
        # Read after the visits were counted, so that the URLs of all of them are there while a crawl is running.
        urls = self._crawl.urls()
        index, originals = TextIndex(), list[str]()
        workers = self._settings.workers or processors()
        rows = self._selected(islice(self._crawl.visits(), total))
        with closing(extracted_pages(self._crawl, rows, workers)) as pages:
            for row, extracted in pages:
                page = self._page(extracted)
                if page is None:
                    continue
                original = None
                signature = extracted.signature if isinstance(extracted, Extracted) else None
                if signature is not None:
                    number = index.find(signature)
                    if number is None:
                        index.add(signature)
                        originals.append(row.url)
                    else:
                        original = originals[number]
                        if self._selection.deduplicate:
                            self.counts.drop("near-duplicate")
                            continue
                document = self._document(row, page, urls[row.page], original)
                self._count(document)
                if self.counts.written % PROGRESS_STEP == 0:
                    self._progress((row.visit + 1) / total, f"{self.counts.written:,} pages")
                yield document
        done = self.counts.written
        self._progress(1.0, f"{done:,} page{'' if done == 1 else 's'}")

    def _selected(self, rows: Iterator[VisitRecord]) -> Iterator[VisitRecord]:
        """By what needs no text."""
        for row in rows:
            if row.noindex and not self._selection.include_noindex:
                self.counts.drop("noindex")
                if self.counts.n_noindex_on_topic is not None:
                    self.counts.n_noindex_on_topic += bool(self._crawl.is_on_topic(row))
            elif self._least_relevance is not None and row.relevance < self._least_relevance:
                self.counts.drop("relevance")
            else:
                yield row

    def _page(self, extracted: Extracted | ExtractionFault | None) -> MainText | None:
        """The text of a page; None if it is left out."""
        if isinstance(extracted, ExtractionFault):
            self.counts.drop(extracted.value)
            return None
        page = MainText() if extracted is None else extracted.page
        languages = self._selection.languages
        failed = [rule for rule in page.quality if rule in self._checked_quality]
        if languages and (page.language or "").split("-")[0] not in languages:
            self.counts.drop("language")
        elif page.n_words < self._selection.min_words:
            self.counts.drop("words")
        elif failed:
            self.counts.drop(f"quality: {failed[0]}")
        else:
            return page
        return None

    def _document(self, row: VisitRecord, page: MainText, requested_url: str, original: str | None) -> Document:
        html = None
        if self._settings.html and row.location is not None:
            html = self._crawl.archive.record(row.location).html
        return Document(
            **asdict(page)
            | {
                "id": document_id(row.url),
                "url": row.url,
                "title": page.title or row.title,
                "extractor": page.extractor or None,
                "fetched": datetime.fromtimestamp(row.time_s, UTC).isoformat(),
                "relevance": row.relevance,
                "on_topic": self._crawl.is_on_topic(row),
                "status": row.status,
                "duplicate_of": original,
                "aliases": (requested_url,) if requested_url != row.url else (),
                "metadata": self._metadata(row),
                "markdown": page.markdown if self._settings.markdown else None,
                "html": html,
            }
        )

    def _metadata(self, row: VisitRecord) -> dict[str, Any]:
        return {name: _finite(getattr(row, name)) for name in _VISIT_FACTS} | {
            "topic": self._crawl.about.topic_id,
            "warc_record_id": self._crawl.record_id_of(row),
        }

    def _count(self, document: Document) -> None:
        counts = self.counts
        counts.written += 1
        counts.without_html += document.extractor is None
        counts.n_duplicates += document.duplicate_of is not None
        if counts.n_on_topic is not None:
            counts.n_on_topic += bool(document.on_topic)


def _finite(value: Any) -> Any:
    """The value; None for infinite scores, such as those of seeds, which JSON cannot have."""
    return None if isinstance(value, float) and not isfinite(value) else value


def document_id(url: str) -> str:
    return sha1(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
