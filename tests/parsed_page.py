"""Helpers of the parser's tests: a page with its stems, and a check of positions."""

import numpy as np

from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import MAX_LINKS, ParsedPage, parse_html

URL = "http://web.test/a/page.html"


class Page:
    """A parsed page with stems instead of numbers, "" for stop words."""

    def __init__(self, html: str | bytes, url: str = URL, agent: str = "") -> None:
        scanner = WordScanner()
        self.parsed: ParsedPage = parse_html(html, url, scanner, agent=agent)
        self.words = [scanner.stem(number) for number in self.parsed.words.tolist()]
        spans = zip(self.parsed.link_start.tolist(), self.parsed.link_end.tolist(), strict=True)
        self.anchors = [" ".join(self.words[start:end]) for start, end in spans]
        self.links = list(zip(self.parsed.links, self.anchors, strict=True))


def words(html: str) -> list[str]:
    return Page(html).words


def assert_positions_are_valid(page: ParsedPage) -> None:
    start, end = page.link_start, page.link_end
    assert len(start) == len(end) == len(page.link_nofollow) == len(page.links) <= MAX_LINKS
    assert start.dtype == end.dtype == page.words.dtype == np.int32
    assert (start >= 0).all()
    assert (start <= end).all()
    assert (end <= len(page.words)).all()
    assert (np.diff(start) >= 0).all()
