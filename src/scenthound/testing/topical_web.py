"""Synthetic topical webs of any size: a recorded web on disk and its topics.

>>> from scenthound.testing import topical_web
>>> topical_web("web", pages=1_000_000, links_per_page=20, topics=50, seed=1)

Hosts, topical locality, hubs, popular pages and words from a mixture of topics are drawn with a seed: the same settings
give the same bytes. `topics.jsonl` in the folder is the topic file for `scenthound simulate`. Pages are drawn and
written in pieces; memory for all pages at once is about 200 bytes per page.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import Failure, printable
from scenthound.model import IntArray, LongArray, Progress, Topic, silent
from scenthound.store.builder import terms_of
from scenthound.store.folder import ResultFolder
from scenthound.store.layout import ABOUT_FILE, LAYOUT, Columns, FileColumns, content_fingerprint, offsets_of, packed
from scenthound.store.record import RecordSummary
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing.topical_graph import (
    NO_SECOND,
    PIECE,
    LinkDraw,
    Pages,
    Part,
    PieceLinks,
    TopicalWeb,
    generator,
    pages_of,
)
from scenthound.testing.topical_text import PieceWords, Titles, Vocabulary, WordDraw
from scenthound.topics.files import write_topics
from scenthound.web.urls import fingerprint

#: Half of the dead URLs are on the host that first links to them, the others on hosts without recorded pages.
DEAD_PER_HOST = 8


def host_name(host: int) -> str:
    return f"site{host}.test"


def page_url(host: int, page: int) -> str:
    return f"http://site{host}.test/page{page}"


class Addresses:
    """Writes the URLs of pages, aliases and dead links into columns, in order. Each host is a domain."""

    def __init__(self, columns: Columns, n_hosts: int) -> None:
        self._columns, self._n_hosts = columns, n_hosts
        self._lengths: list[IntArray] = []
        self._keys: list[np.ndarray[tuple[int], np.dtype[np.uint64]]] = []
        self._outside: list[str] = []

    def add_pages(self, host: IntArray) -> None:
        for first in range(0, len(host), PIECE):
            hosts = host[first : first + PIECE]
            self._add([page_url(of, first + i) for i, of in enumerate(hosts.tolist())], hosts)

    def add_aliases(self, page: LongArray, host: IntArray) -> None:
        hosts = host[page]
        self._add(
            [f"http://site{of}.test/moved{p}" for of, p in zip(hosts.tolist(), page.tolist(), strict=True)], hosts
        )

    def add_dead(self, source_host: IntArray) -> None:
        """Add dead URLs; `source_host` is the host of the page that first links to each."""
        dead = np.arange(len(source_host), dtype=np.int32)
        hosts = np.where(dead % 2, source_host, self._n_hosts + dead // (2 * DEAD_PER_HOST)).astype(np.int32)
        self._outside = [f"outside{i}.test" for i in range(int(hosts.max(initial=-1)) + 1 - self._n_hosts)]
        names = (host_name(of) if of < self._n_hosts else f"outside{of - self._n_hosts}.test" for of in hosts.tolist())
        for first in range(0, len(dead), PIECE):
            piece = hosts[first : first + PIECE]
            self._add([f"http://{next(names)}/gone{first + i}" for i in range(len(piece))], piece)

    def finish(self) -> None:
        columns = self._columns
        columns.append("url_offset", offsets_of(np.concatenate(self._lengths)))
        key = np.concatenate(self._keys)
        order = np.argsort(key)
        columns.append("fingerprint_key", key[order])
        columns.append("fingerprint_url", order)
        _append_texts(columns, "host", [*map(host_name, range(self._n_hosts)), *self._outside])

    def _add(self, urls: list[str], host: IntArray) -> None:
        self._columns.append("url_text", np.frombuffer("".join(urls).encode(), np.uint8))
        self._columns.append("url_host", host)
        self._lengths.append(np.fromiter(map(len, urls), np.int32, len(urls)))
        self._keys.append(np.fromiter(map(fingerprint, urls), np.uint64, len(urls)))


N_KEYWORDS = 5
N_DESCRIBING = 30
#: Enough for the large seed set of johnson2003 and for targets.
MOST_EXAMPLES = 500


def topic_id(topic: int) -> str:
    """The label of the pages of a topic."""
    return f"topic{topic}"


def topics_of(web: TopicalWeb, pages: Pages, vocabulary: Vocabulary) -> list[Topic]:
    """The topics that are the first topic of some page, by number. Examples are drawn from these pages."""
    rng = generator(web.seed, Part.EXAMPLES)
    order = np.argsort(pages.topic, kind="stable")
    own = np.split(order, np.searchsorted(pages.topic[order], np.arange(1, web.topics + 1)))
    return [_topic(topic, own[topic], pages, vocabulary, rng) for topic in range(web.topics) if len(own[topic])]


def _topic(topic: int, own: LongArray, pages: Pages, vocabulary: Vocabulary, rng: np.random.Generator) -> Topic:
    examples = np.sort(rng.choice(own, min(MOST_EXAMPLES, len(own)), replace=False)).tolist()
    return Topic(
        id=topic_id(topic),
        keywords=tuple(vocabulary.frequent(topic, N_KEYWORDS)),
        path=f"Top/{vocabulary.frequent(topic, 1)[0]}",
        description=" ".join(vocabulary.frequent(topic, N_DESCRIBING)),
        examples=tuple(page_url(int(pages.host[page]), page) for page in examples),
    )


TOPICS_FILE = "topics.jsonl"


def topical_web(out: str | Path, *, force: bool = False, progress: Progress = silent, **settings: Any) -> RecordSummary:
    """Write a web to the folder `out`. `settings` are those of `TopicalWeb`."""
    web = TopicalWeb.of(settings)
    try:
        with ResultFolder.create(out, kind="web", force=force) as folder:
            return _Writer(web, folder, progress).write()
    except OSError as reason:
        why = printable(reason.strerror or reason)
        raise Failure(f"Cannot write {printable(out)}: {why}. Nothing was kept.") from None


class _Writer:
    """Writes one web."""

    def __init__(self, web: TopicalWeb, folder: ResultFolder, progress: Progress) -> None:
        self._web, self._folder, self._progress = web, folder, progress
        self._columns = FileColumns(folder.path)
        self._lengths: dict[str, list[IntArray]] = {"link": [], "word": [], "term": [], "title": []}
        self._frequency = np.zeros(0, np.int64)

    def write(self) -> RecordSummary:
        try:
            pages, vocabulary = pages_of(self._web), Vocabulary(self._web.topics)
            self._write_pages(pages, vocabulary)
            arrays = {name: self._columns.take(name) for name in LAYOUT}
        finally:
            self._columns.close()
        write_topics(self._folder.path / TOPICS_FILE, topics_of(self._web, pages, vocabulary))
        web = RecordedWeb(arrays)
        summary = RecordSummary.of(web, 0, {})
        about = {"fingerprint": content_fingerprint(arrays), **summary.counts(), "made_up": asdict(self._web)}
        self._folder.write_json(ABOUT_FILE, about)
        self._progress(1.0, f"{web.n_pages:,} pages")
        return summary

    def _write_pages(self, pages: Pages, vocabulary: Vocabulary) -> None:
        titles = Titles(self._web, pages, vocabulary)
        links, words = LinkDraw(self._web, pages), WordDraw(self._web, pages, vocabulary, titles)
        dead_sources = []
        for first in range(0, self._web.pages, PIECE):
            piece = links.piece(first)
            dead_sources.append(piece.new_dead_sources)
            text = words.piece(first, piece)
            self._write_links(piece, text)
            self._write_words(text, words.n_words)
            title_text, n_letters = titles.texts(first, min(first + PIECE, self._web.pages))
            self._columns.append("title_text", title_text)
            self._lengths["title"].append(n_letters)
            self._lengths["link"].append(pages.n_links[first : first + PIECE])
            self._progress(0.8 * first / self._web.pages, f"{first:,} pages")
        self._write_urls(pages, links, np.concatenate(dead_sources))
        _append_texts(self._columns, "vocabulary", words.stems())
        self._columns.append("document_frequency", self._frequency)
        self._write_labels(pages)
        for name, lengths in self._lengths.items():
            self._columns.append(f"{name}_offset", offsets_of(np.concatenate(lengths)))
        self._columns.append("page_noindex", np.zeros(self._web.pages, np.bool_))

    def _write_links(self, piece: PieceLinks, text: PieceWords) -> None:
        self._columns.append("link_url", piece.url)
        self._columns.append("link_start", text.link_start)
        self._columns.append("link_end", text.link_end)
        self._columns.append("link_nofollow", piece.is_nofollow)

    def _write_words(self, text: PieceWords, n_words: int) -> None:
        term, count, n_terms = terms_of(text.word, text.n_words)
        self._columns.append("word", text.word)
        self._columns.append("term", term)
        self._columns.append("term_count", count)
        page = np.repeat(np.arange(len(n_terms)), n_terms)
        squares = np.bincount(page, np.square(count, dtype=np.float64), len(n_terms))
        self._columns.append("page_norm", np.sqrt(squares))
        self._lengths["word"].append(text.n_words)
        self._lengths["term"].append(n_terms)
        frequency = np.bincount(term, minlength=n_words)
        frequency[: len(self._frequency)] += self._frequency
        self._frequency = frequency

    def _write_urls(self, pages: Pages, links: LinkDraw, dead_sources: LongArray) -> None:
        addresses = Addresses(self._columns, pages.n_hosts)
        addresses.add_pages(pages.host)
        addresses.add_aliases(links.alias_pages, pages.host)
        addresses.add_dead(pages.host[dead_sources])
        addresses.finish()
        self._columns.append("url_page", np.arange(self._web.pages))
        self._columns.append("url_page", links.alias_pages)
        self._columns.append("url_page", np.full(links.n_dead, -1))

    def _write_labels(self, pages: Pages) -> None:
        labels = np.stack([pages.topic, pages.second], axis=1)
        is_label = (labels != NO_SECOND) & (labels < self._web.topics)
        self._columns.append("label", labels[is_label])
        self._columns.append("label_offset", offsets_of(is_label.sum(axis=1)))
        _append_texts(self._columns, "label_name", map(topic_id, range(self._web.topics)))


def _append_texts(columns: Columns, name: str, texts: Iterable[str]) -> None:
    text, offset = packed(texts)
    columns.append(f"{name}_text", text)
    columns.append(f"{name}_offset", offset)
