"""The documents of a corpus: a page of a crawl each, with its main text and what is known about it.

A document that another one contains nearly word for word has that one's URL in `duplicate_of`. Documents are compared
in the order of the crawl, after all other filters, so that the original is always in the corpus, before its copies.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha1
from itertools import islice
from math import isfinite
from typing import Any

from scenthound.corpus.extraction import Extraction, with_escalation
from scenthound.corpus.extraction_cache import Extracted, ExtractionFault
from scenthound.corpus.language import known_languages
from scenthound.corpus.main_text import MainText
from scenthound.corpus.min_hash import TextIndex
from scenthound.corpus.quality import RULES
from scenthound.errors import InvalidParameter, UnknownName, UsageError, printable
from scenthound.model import Progress, silent
from scenthound.processes import processors
from scenthound.records import column, columns_of
from scenthound.store.crawl_records import PageVisit, VisitRecord
from scenthound.store.stored_crawl import StoredCrawl

#: Documents between two progress messages.
PROGRESS_STEP = 100
#: As a quality rule: all of them.
ALL_RULES = "all"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which pages of a crawl become documents. By default all except those that ask not to be indexed."""

    include_noindex: bool = False
    on_topic: bool = False
    min_relevance: float | None = None
    languages: tuple[str, ...] = ()
    min_words: int = 0
    quality_rules: tuple[str, ...] = ()  #: pages that fail one of these are left out
    deduplicate: bool = False

    def __post_init__(self) -> None:
        if self.min_relevance is not None and not 0 <= self.min_relevance <= 1:
            raise InvalidParameter(f"--min-relevance {self.min_relevance} must be from 0 to 1.")
        if self.min_words < 0:
            raise InvalidParameter(f"--min-words {self.min_words} must not be negative.")
        for language in self.languages:
            if not isinstance(language, str):
                raise InvalidParameter(f"--language {language!r} is not a code such as en or de.")
            if language not in known_languages():
                raise UnknownName.among("language", language, known_languages())
        known = [rule.name for rule in RULES]
        for rule in self.quality_rules:
            if rule not in (*known, ALL_RULES):
                raise UnknownName.among("quality rule", rule, [*known, ALL_RULES])

    @property
    def selects_pages(self) -> bool:
        """Whether it selects by anything but noindex."""
        return replace(self, include_noindex=False) != Selection()

    def checked_quality(self) -> frozenset[str]:
        rules = self.quality_rules
        return frozenset(rule.name for rule in RULES) if ALL_RULES in rules else frozenset(rules)

    def least_relevance(self, crawl: StoredCrawl) -> float | None:
        threshold = crawl.on_topic_from if self.on_topic else None
        if self.on_topic and threshold is None:
            raise UsageError(
                f"The relevance model of the crawl in {printable(crawl.folder)} gives no probabilities, so it cannot "
                "tell which pages are on topic: choose a score with --min-relevance."
            )
        return max((each for each in (threshold, self.min_relevance) if each is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSettings:
    """What documents contain, and how they are made. `escalate` extracts difficult pages with trafilatura; None for
    whenever it is installed."""

    html: bool = False
    markdown: bool = True
    escalate: bool | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise InvalidParameter(f"--workers {self.workers} must be at least 1.")


@dataclass(slots=True)
class DocumentCounts:
    """How many documents there are, how many pages were left out for each reason, and how many of them have no HTML
    because the crawl read them from a recorded web. Pages on topic are counted among documents and among pages that
    ask not to be indexed."""

    written: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    without_html: int = 0
    n_on_topic: int = 0
    n_noindex_on_topic: int = 0
    n_duplicates: int = 0

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
        self.counts = DocumentCounts()
        self._crawl = crawl
        self._selection = selection or Selection()
        self._settings = settings or DocumentSettings()
        self._progress = progress
        # Checked before the first document is wanted.
        self._escalate = with_escalation(self._settings.escalate)
        self.least_relevance = self._selection.least_relevance(crawl)
        self._checked_quality = self._selection.checked_quality()

    def __iter__(self) -> Iterator[Document]:
        total = self._crawl.n_visits()
        # Read after the visits were counted, so that the URLs of all of them are there while a crawl is running.
        urls = self._crawl.urls()
        index, originals = TextIndex(), list[str]()
        workers = self._settings.workers or processors()
        with Extraction(self._crawl, workers=workers, escalate=self._escalate) as extraction:
            rows = self._selected(islice(self._crawl.visits(), total))
            for row, extracted in extraction.of(rows):
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
                yield self._counted(self._document(row, page, urls[row.page], original), total)
        done = self.counts.written
        self._progress(1.0, f"{done:,} page{'' if done == 1 else 's'}")

    def _selected(self, rows: Iterator[VisitRecord]) -> Iterator[VisitRecord]:
        """By what needs no text."""
        for row in rows:
            if row.noindex and not self._selection.include_noindex:
                self.counts.drop("noindex")
                self.counts.n_noindex_on_topic += bool(self._crawl.is_on_topic(row))
            elif self.least_relevance is not None and row.relevance < self.least_relevance:
                self.counts.drop("relevance")
            else:
                yield row

    def _page(self, extracted: Extracted | ExtractionFault | None) -> MainText | None:
        """The text of a page; None if it is left out."""
        if isinstance(extracted, ExtractionFault):
            self.counts.drop(extracted.value)
            return None
        page = NO_TEXT if extracted is None else extracted.page
        reason = self._reason_to_drop(page)
        if reason is not None:
            self.counts.drop(reason)
            return None
        return page

    def _reason_to_drop(self, page: MainText) -> str | None:
        languages = self._selection.languages
        if languages and (page.language or "").split("-")[0] not in languages:
            return "language"
        if page.n_words < self._selection.min_words:
            return "words"
        failed = [rule for rule in page.quality if rule in self._checked_quality]
        return f"quality: {failed[0]}" if failed else None

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

    def _counted(self, document: Document, total: int) -> Document:
        counts = self.counts
        counts.written += 1
        counts.without_html += document.extractor is None
        counts.n_on_topic += bool(document.on_topic)
        counts.n_duplicates += document.duplicate_of is not None
        if counts.written % PROGRESS_STEP == 0:
            self._progress((document.metadata["visit"] + 1) / total, f"{counts.written:,} pages")
        return document


#: Of a page whose HTML the crawl does not have.
NO_TEXT = MainText(
    text="",
    markdown="",
    title="",
    author=None,
    language=None,
    language_score=None,
    published=None,
    published_from=None,
    n_words=0,
    extractor="",
    quality=(),
)


def _finite(value: Any) -> Any:
    """The value; None for infinite scores, such as those of seeds, which JSON cannot have."""
    return None if isinstance(value, float) and not isfinite(value) else value


def document_id(url: str) -> str:
    return sha1(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
