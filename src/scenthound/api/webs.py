"""Recorded webs from Python: record pages, synthesize a web, open one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenthound.api.arguments import PathLike, folder_of, listed, path, public, web_folder
from scenthound.api.progress import ProgressLike, show_progress
from scenthound.api.results import Result, Table

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


@public
def record(
    sources: Any,
    out: PathLike,
    *,
    without_leaks: bool = False,
    where: Mapping[str, str] | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: ProgressLike = None,
) -> Web:
    """Make a recorded web in the folder `out` from files of pages (JSON Lines, WARC, Parquet) and crawls.

    `where` keeps only records with these values; `without_leaks` cuts the spans that show a topic label.
    """
    from scenthound.store.record import record as record_web
    from scenthound.store.recorded_web import RecordedWeb

    with show_progress("recording", progress) as report:
        summary = record_web(
            [folder_of(each) for each in listed(sources)],
            path(out),
            without_leaks=without_leaks,
            where=where or {},
            workers=workers,
            force=force,
            progress=report,
        )
    return Web(path(out), RecordedWeb.open(path(out)), summary)


@public
def open_web(folder: Any, *, progress: ProgressLike = None) -> Web:
    """Open a recorded web, or the pages of a crawl as one."""
    from scenthound.store.record import open_web as open_recorded

    found = web_folder(folder)
    with show_progress("recording", progress) as report:
        return Web(found, open_recorded(found, report))


@public
def synthesize(
    out: PathLike,
    *,
    pages: int = 100_000,
    links: float = 20.0,
    words: int = 30,
    topics: int = 50,
    random_seed: int = 1,
    force: bool = False,
    progress: ProgressLike = None,
    **settings: float,
) -> Web:
    """Make a synthetic web in the folder `out`, with hosts, topics, hubs and words; `topics.jsonl` in the folder has
    topics to crawl it for. The same random seed makes the same bytes.

    `links` and `words` are means for each page. `settings` are those of `scenthound.testing.TopicalWeb`, for example
    `on_host=0.9` or `pages_per_host=50`.
    """
    from scenthound.store.recorded_web import RecordedWeb
    from scenthound.testing.topical_web import topical_web

    named = {"pages": pages, "links_per_page": links, "words_per_page": words, "topics": topics, "seed": random_seed}
    with show_progress("generating pages", progress) as report:
        summary = topical_web(path(out), force=force, progress=report, **{**named, **settings})
    return Web(path(out), RecordedWeb.open(path(out)), summary)
