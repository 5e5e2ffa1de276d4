"""CPU time of parsing real pages, part by part, and of adding their links to a URL table; memory of a large vocabulary
(a minute)."""

import itertools
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import orjson
import Stemmer

from benchmarks import command_parser
from benchmarks.data import SyntheticUrls, collection
from scenthound.files import opened
from scenthound.frontier.url_table import FoundUrls, UrlTable
from scenthound.native import _native
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.tokenizer import WordScanner
from scenthound.text.vectors import word_norm
from scenthound.text.windows import context_bounds
from scenthound.web.decode import utf_8_html
from scenthound.web.near_duplicates import fingerprint_of
from scenthound.web.parse import MAX_LINKS, parse_html
from scenthound.web.references import References, resolve_links
from scenthound.web.urls import resolve_all

#: The time is also extrapolated to a page of this many words, for comparison with other collections.
TYPICAL_PAGE_WORDS = 1_400
_PAGES_MEASURED = 400
_ROUNDS = 5
#: Pages of typical length, whose parts are measured.
_TYPICAL_CHARACTERS = range(12_000, 40_000)
_HOSTS, _KNOWN, _VISITS = 300, 20_000, 2_000
#: Those of a crawl of a million pages.
_STEMS = 1_500_000

Item = TypeVar("Item")


def main(arguments: Sequence[str] | None = None) -> None:
    command_parser("pages", __doc__).parse_args(arguments)
    folder = collection("wpschools")
    if folder is None:
        return
    pages = _load(folder / "pages.jsonl.zst")
    scanner = WordScanner()
    texts = [_text(html.encode()) for html, _url in pages]
    words_per_page = statistics.fmean(len(scanner.scan(text)) for text in texts)
    print(f"  {len(pages)} pages of wpschools, {words_per_page:,.0f} words on average; CPU microseconds per page")
    _print_words(texts, words_per_page)
    _print_parsing(pages)
    _print_parts([page for page in pages if len(page[0]) in _TYPICAL_CHARACTERS])
    _print_vocabulary()
    _print_links()


def _print_words(texts: list[str], words_per_page: float) -> None:
    fresh, seen = WordScanner(), _PlainVocabulary()
    cold, plain_cold = _once(fresh.scan, texts), _once(seen.scan, texts)
    # Alternating, so that both run under the same load.
    rounds = [(_once(fresh.scan, texts), _once(seen.scan, texts)) for _ in range(_ROUNDS)]
    warm, plain_warm = (min(times) for times in zip(*rounds, strict=True))
    typical = warm * TYPICAL_PAGE_WORDS / words_per_page
    print(
        f"  words and stems, new vocabulary    {cold:7.0f}   plain {plain_cold:7.0f}   {plain_cold / cold:4.1f} times"
    )
    print(
        f"  words and stems, known vocabulary  {warm:7.0f}   plain {plain_warm:7.0f}   {plain_warm / warm:4.1f} times"
    )
    print(f"  the same for {TYPICAL_PAGE_WORDS:,} words             {typical:7.0f}")


def _print_parsing(pages: list[tuple[str, str]]) -> None:
    scanner = WordScanner()
    cold = _once(lambda page: _parse(page, scanner), pages)
    warm = min(_once(lambda page: _parse(page, scanner), pages) for _ in range(_ROUNDS))
    print(f"  parse, links, contexts, new        {cold:7.0f}")
    print(f"  parse, links, contexts, known      {warm:7.0f}")


def _print_parts(pages: list[tuple[str, str]]) -> None:
    """The time of each part of parsing a page from bytes."""
    scanner = WordScanner()
    parsed = [parse_html(*page, scanner) for page in pages]
    bodies = [(html.encode(), url) for html, url in pages]
    texts = [_text(html) for html, _url in bodies]
    parts: list[tuple[str, Callable[[int], object]]] = [
        ("parse_html, from bytes", lambda i: parse_html(*bodies[i], scanner)),
        ("  utf_8_html", lambda i: utf_8_html(bodies[i][0])),
        ("  the reader in C", lambda i: _native.read_html(bodies[i][0], MAX_LINKS)),
        ("  words of the text", lambda i: scanner.scan(texts[i])),
        ("  resolve_all", lambda i: resolve_all(parsed[i].base_url, cast("list[str]", parsed[i].links))),
        ("word_norm", lambda i: word_norm(parsed[i].words)),
        ("fingerprint_of", lambda i: fingerprint_of(parsed[i].words)),
    ]
    characters = statistics.fmean(len(html) for html, _url in pages)
    words = statistics.fmean(len(page.words) for page in parsed)
    links = statistics.fmean(len(page.links) for page in parsed)
    print(f"  {len(pages)} pages of {characters:,.0f} characters, {words:,.0f} words and {links:.0f} links on average")
    rounds = [[_once(work, range(len(pages))) for _name, work in parts] for _ in range(_ROUNDS)]
    for (name, _work), *times in zip(parts, *rounds, strict=True):
        print(f"    {name:30}  {min(times):7.0f}")


def _print_vocabulary() -> None:
    """The memory of a vocabulary that met each stem once, and the time to load its stems."""
    stems = "\n".join(f"{number:x}z" for number in range(_STEMS)).encode()
    vocabulary, loaded = WordScanner(), WordScanner()
    vocabulary.scan_utf_8(stems, np.zeros(0, np.uint32))
    load_us = _once(loaded.load, [[stems]])
    stem_bytes, text_bytes = vocabulary.n_bytes() / _STEMS, len(stems) / _STEMS
    print(
        f"  {vocabulary.n_words:,} stems of {text_bytes:.1f} bytes take {stem_bytes:.0f} bytes each, and "
        f"{load_us / 1e6:.2f} s to load"
    )


def _print_links() -> None:
    """Links of visits in a crawl of some hosts: 50 known and 3 new ones, as texts and as references."""
    known, new = (
        list(itertools.chain.from_iterable(SyntheticUrls(_HOSTS).chunks(n, n))) for n in (_KNOWN, 3 * _VISITS)
    )
    rng = np.random.default_rng(3)
    table = UrlTable()
    table.add_all(known)
    visits = [
        [known[i] for i in rng.integers(0, len(known), 50)] + [f"{url}&new" for url in new[3 * visit : 3 * visit + 3]]
        for visit in range(_VISITS)
    ]
    print(f"  UrlTable.add_all of 53 links, 50 known  {_once(table.add_all, visits):7.0f}")
    table = UrlTable()
    table.add_all(known)
    pages = [(known[visit], References.of(map(str.encode, links))) for visit, links in enumerate(visits)]
    print(f"  the same, resolved as absolute links    {_once(lambda page: _resolve(page, table), pages):7.0f}")


def _resolve(page: tuple[str, References], table: UrlTable) -> None:
    url, references = page
    links, _ = resolve_links(url, references, table)
    assert isinstance(links, FoundUrls)
    table.add_found(links)


def _text(html: bytes) -> str:
    page = _native.read_html(html, MAX_LINKS)
    assert page is not None
    return page[0].decode()


def _parse(page: tuple[str, str], scanner: WordScanner) -> None:
    parsed = parse_html(*page, scanner)
    context_bounds(parsed.link_start, parsed.link_end, len(parsed.words))


def _load(file: Path) -> list[tuple[str, str]]:
    with opened(file) as lines:
        records = (orjson.loads(line) for line in lines.content)
        articles = ((record["html"], record["url"]) for record in records if record["kind"] == "article")
        return list(itertools.islice(articles, _PAGES_MEASURED))


def _once(work: Callable[[Item], object], items: Sequence[Item]) -> float:
    """CPU microseconds per item."""
    started = time.process_time()
    for item in items:
        work(item)
    return (time.process_time() - started) / len(items) * 1e6


class _PlainVocabulary:
    """The same words without numpy: a regular expression, and one dictionary from words to numbers."""

    def __init__(self) -> None:
        self._number_of_word: dict[str, int] = {}
        self._number_of_stem: dict[str, int] = {}
        self._stem = Stemmer.Stemmer("porter", 0).stemWord

    def scan(self, text: str) -> list[int]:
        known = self._number_of_word
        return [known[word] if word in known else self._new(word) for word in re.findall(r"[^\W_]+", text.lower())]

    def _new(self, word: str) -> int:
        stem = "" if word in STOP_WORDS else self._stem(word)
        number = self._number_of_stem.setdefault(stem, len(self._number_of_stem) + 1) if stem else 0
        return self._number_of_word.setdefault(word, number)
