"""What a page costs: words, and words with links and their contexts. CPU time, on the pages of wpschools."""

import itertools
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import orjson
import Stemmer

from benchmarks.data import collection
from scenthound.files import opened
from scenthound.text.stop_words import STOP_WORDS
from scenthound.text.words import WordScanner
from scenthound.web.html import read_html
from scenthound.web.parse import MAX_LINKS, context_bounds, parse_html

#: What the time of a page of this many words would be is printed too, to compare with other collections.
WORDS_OF_A_USUAL_PAGE = 1_400
_PAGES_MEASURED = 400
_ROUNDS = 5

Item = TypeVar("Item")


def main() -> None:
    """Print microseconds per page, cold and warm, beside a plain baseline of the same run."""
    folder = collection("wpschools")
    if folder is None:
        return
    pages = _load(folder / "pages.jsonl.zst")
    scanner = WordScanner()
    texts = [read_html(html, MAX_LINKS).text for html, _url in pages]
    words_per_page = statistics.fmean(len(scanner.scan(text)) for text in texts)
    print(f"  {len(pages)} pages of wpschools, {words_per_page:,.0f} words on average; CPU microseconds per page")
    _print_words(texts, words_per_page)
    _print_parsing(pages)


def _print_words(texts: list[str], words_per_page: float) -> None:
    fresh, seen = WordScanner(), _PlainVocabulary()
    cold, plain_cold = _once(fresh.scan, texts), _once(seen.scan, texts)
    # In turn, so that both meet the same weather.
    rounds = [(_once(fresh.scan, texts), _once(seen.scan, texts)) for _ in range(_ROUNDS)]
    warm, plain_warm = (min(times) for times in zip(*rounds, strict=True))
    usual = warm * WORDS_OF_A_USUAL_PAGE / words_per_page
    print(
        f"  words and stems, new vocabulary    {cold:7.0f}   plain {plain_cold:7.0f}   {plain_cold / cold:4.1f} times"
    )
    print(
        f"  words and stems, known vocabulary  {warm:7.0f}   plain {plain_warm:7.0f}   {plain_warm / warm:4.1f} times"
    )
    print(f"  the same for {WORDS_OF_A_USUAL_PAGE:,} words             {usual:7.0f}")


def _print_parsing(pages: list[tuple[str, str]]) -> None:
    scanner = WordScanner()
    cold = _once(lambda page: _parse(page, scanner), pages)
    warm = min(_once(lambda page: _parse(page, scanner), pages) for _ in range(_ROUNDS))
    print(f"  parse, links, contexts, new        {cold:7.0f}")
    print(f"  parse, links, contexts, known      {warm:7.0f}")


def _parse(page: tuple[str, str], scanner: WordScanner) -> None:
    parsed = parse_html(*page, scanner)
    context_bounds(parsed.link_start, parsed.link_end, len(parsed.words))


def _load(file: Path) -> list[tuple[str, str]]:
    with opened(file) as lines:
        records = (orjson.loads(line) for line in lines.content)
        articles = ((record["html"], record["url"]) for record in records if record["kind"] == "article")
        return list(itertools.islice(articles, _PAGES_MEASURED))


def _once(work: Callable[[Item], object], items: list[Item]) -> float:
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
