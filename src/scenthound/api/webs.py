"""Recorded webs from Python: record pages, synthesize a web, open one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenthound.api.arguments import called_with, folder_of, public, several, web_folder
from scenthound.api.progress import show_progress
from scenthound.api.results import Result, Table
from scenthound.errors import UsageError
from scenthound.experiments.options import RecordOptions, SynthesizeOptions
from scenthound.options import FolderLike, ProgressLike, listed

if TYPE_CHECKING:
    from scenthound.store.record import RecordSummary
    from scenthound.store.recorded_web import RecordedWeb


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of a recorded web."""

    page: int
    url: str
    title: str
    n_links: int
    n_words: int


class Web(Result):
    """A recorded web: the pages that crawls are simulated on."""

    def __init__(self, folder: Path, recorded: RecordedWeb, summary: RecordSummary | None = None) -> None:
        self.folder = folder
        #: The arrays of the web.
        self.recorded = recorded
        #: What was recorded and left out; None for a web that was opened.
        self.summary = summary

    def __len__(self) -> int:
        return self.recorded.n_pages

    @property
    def pages(self) -> Table[WebPage]:
        """All pages."""
        return Table.of(WebPage, self._pages, "pages", length=lambda: self.recorded.n_pages)

    def _pages(self) -> Iterable[WebPage]:
        web = self.recorded
        for page in range(web.n_pages):
            n_links = int(web.link_offset[page + 1] - web.link_offset[page])
            n_words = int(web.word_offset[page + 1] - web.word_offset[page])
            yield WebPage(page, web.url(page), web.title(page), n_links, n_words)

    def _headline(self) -> str:
        from scenthound.ui.formats import counted

        return f"Recorded web in {self.folder}: {counted(self.recorded.n_pages, 'page')}."

    def _tables(self) -> Sequence[Table[Any]]:
        return [self.pages]


@called_with(RecordOptions)
def record(options: RecordOptions) -> Web:
    """Make a recorded web in the folder `out` from files of pages (JSON Lines, WARC, Parquet) and crawls.

    `where` keeps only records with these values; `without_leaks` cuts the spans that show a topic label.
    """
    from scenthound.store.record import record as record_web
    from scenthound.store.recorded_web import RecordedWeb

    out, where = Path(options.out), options.where or {}
    if not isinstance(where, Mapping):
        where = dict(map(_condition, listed(where)))
    with show_progress("recording", options.progress) as report:
        summary = record_web(
            [folder_of(each) for each in listed(options.sources)],
            out,
            without_leaks=options.without_leaks,
            where=where,
            workers=options.workers,
            force=options.force,
            progress=report,
        )
    return Web(out, RecordedWeb.open(out), summary)


def _condition(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not equals or not field:
        raise UsageError(f"--where {text!r} should be written FIELD=VALUE, for example kind=article.")
    return field, value


@public
def open_web(folder: FolderLike, *, progress: ProgressLike = None) -> Web:
    """Open a recorded web, or the pages of a crawl as one."""
    from scenthound.store.record import open_web as open_recorded

    found = web_folder(folder)
    with show_progress("recording", progress) as report:
        return Web(found, open_recorded(found, report))


@called_with(several(SynthesizeOptions))
def synthesize(options: SynthesizeOptions) -> Web:
    """Make a synthetic web in the folder `out`, with hosts, topics, hubs and words; `topics.jsonl` in the folder has
    topics to crawl it for. The same random seed makes the same bytes.

    `links` and `words` are means for each page. `settings` are those of `scenthound.testing.TopicalWeb`, for example
    `on_host=0.9` or `pages_per_host=50`.
    """
    from scenthound.store.recorded_web import RecordedWeb
    from scenthound.testing.topical_web import topical_web

    settings = {
        "pages": options.pages,
        "links_per_page": options.links,
        "words_per_page": options.words,
        "topics": options.topics,
        "seed": options.random_seed,
        **(options.settings if isinstance(options.settings, Mapping) else dict(map(_setting, options.settings))),
    }
    out = Path(options.out)
    with show_progress("generating pages", options.progress) as report:
        summary = topical_web(out, force=options.force, progress=report, **settings)
    return Web(out, RecordedWeb.open(out), summary)


def _setting(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, int(value) if value.isdecimal() else float(value)
    except ValueError:
        raise UsageError(f"--set {text!r} should be written NAME=NUMBER, for example on_host=0.9.") from None
