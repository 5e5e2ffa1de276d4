"""Batches of parsed pages made into the arrays of a recorded web.

Adding a batch is cheap and touches each value once: it is what the one process does that all others wait for.
Equal records in equal order give equal arrays, however they were cut into batches.
"""

from collections.abc import Iterable

import numpy as np

from scenthound.store.assemble import assemble
from scenthound.store.batch import PageBatch
from scenthound.store.batch_maker import BatchMaker
from scenthound.store.columns import Columns, MemoryColumns
from scenthound.store.layout import LAYOUT, AnyArray
from scenthound.store.numbers import Numbers
from scenthound.store.raw_page import RawRecord, Skipped
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.text_table import packed
from scenthound.store.vocabulary import MergedVocabulary


class WebBuilder:
    """Add batches, then finish. `skipped` grows by what the batches skipped and by pages that came twice."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._vocabulary = MergedVocabulary()
        self._hosts = Numbers()
        self._labels = Numbers()
        self._page_keys: set[int] = set()
        self._n_entries = 0
        self.n_pages = 0

    def add(self, batch: PageBatch) -> list[Skipped]:
        """Add the pages that are new; return what gave no page."""
        batch, duplicates = self._without_duplicates(batch)
        self.n_pages += len(batch.page_url)
        self._add_urls(batch)
        self._add_words(batch)
        self._add_links(batch)
        self._add_labels(batch)
        self._add_titles(batch.titles)
        self._columns.append("page_noindex", batch.page_noindex)
        self._columns.append("page_norm", batch.page_norm)
        return batch.skipped + duplicates

    def finish(self) -> dict[str, AnyArray]:
        """The arrays of the web; nothing can be added any more."""
        for name, strings in (("vocabulary", self._vocabulary.stems()), ("label_name", list(self._labels))):
            text, offset = packed(strings)
            self._columns.append(f"{name}_text", text)
            self._columns.append(f"{name}_offset", offset)
        assemble(self._columns, list(self._hosts))
        return {name: self._columns.take(name) for name in LAYOUT}

    def _without_duplicates(self, batch: PageBatch) -> tuple[PageBatch, list[Skipped]]:
        keep = np.ones(len(batch.page_url), np.bool_)
        for page, key in enumerate(batch.urls.key[batch.page_url].tolist()):
            keep[page] = key not in self._page_keys
            self._page_keys.add(key)
        if keep.all():
            return batch, []
        duplicates = [Skipped("duplicate url", batch.places[page]) for page in np.flatnonzero(~keep)]
        return batch.only(keep), duplicates

    def _add_urls(self, batch: PageBatch) -> None:
        urls, columns, first = batch.urls, self._columns, self._n_entries
        columns.append("entry_text", np.frombuffer(urls.text, np.uint8))
        columns.append("entry_length", urls.length)
        columns.append("entry_key", urls.key)
        columns.append("entry_host", self._hosts.of(urls.hosts)[urls.host])
        columns.append("page_entry", batch.page_url + first)
        columns.append("link_entry", batch.link_url.astype(np.int64) + first)
        columns.append("alias_entry", batch.alias_url + first)
        columns.append("alias_target", batch.alias_target + first)
        self._n_entries += len(urls.length)

    def _add_words(self, batch: PageBatch) -> None:
        numbers = self._vocabulary.numbers(batch.maker, batch.new_stems.split(), batch.words)
        ids = np.concatenate([np.zeros(1, np.int32), numbers])
        page = np.repeat(np.arange(len(batch.page_url), dtype=np.int64), batch.term_length)
        term = ids[batch.term]
        order = np.argsort(page << 32 | term, kind="stable")
        self._columns.append("word", ids[batch.word])
        self._columns.append("term", term[order])
        self._columns.append("term_count", batch.term_count[order])
        self._columns.append("word_length", batch.word_length)
        self._columns.append("term_length", batch.term_length)

    def _add_links(self, batch: PageBatch) -> None:
        self._columns.append("link_start", batch.link_start)
        self._columns.append("link_end", batch.link_end)
        self._columns.append("link_nofollow", batch.link_nofollow)
        self._columns.append("link_length", batch.link_length)

    def _add_labels(self, batch: PageBatch) -> None:
        self._columns.append("label", self._labels.of([topic for topics in batch.topics for topic in topics]))
        self._columns.append("label_length", np.array([len(topics) for topics in batch.topics], np.int32))

    def _add_titles(self, titles: list[str]) -> None:
        text, offset = packed(titles)
        self._columns.append("title_text", text)
        self._columns.append("title_length", np.diff(offset))


def web_of(records: Iterable[RawRecord]) -> RecordedWeb:
    """A recorded web in memory, for webs that are small or made up."""
    builder = WebBuilder(MemoryColumns())
    builder.add(BatchMaker().batch(records))
    return RecordedWeb(builder.finish())
