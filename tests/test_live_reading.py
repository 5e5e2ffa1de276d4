"""What a page shows of its links to a crawl that obeys its wishes, be they text or numbers of a table of URLs."""

import numpy as np
import pytest

from scenthound.crawler.reader import visible_links
from scenthound.frontier.url_index import NEW, FoundUrls
from scenthound.web.parse import ParsedPage


def page(numbers: list[int] | None = None, *, nofollow: bool = False) -> ParsedPage:
    """Four links, each of one word, of which the first and the last are not to be followed."""
    urls = [f"http://a.test/{letter}" for letter in "abcd"]
    return ParsedPage(
        title="",
        base_url="http://a.test/",
        words=np.arange(1, 9, dtype=np.int32),
        link_urls=urls if numbers is None else [url for url, n in zip(urls, numbers, strict=True) if n == NEW],
        link_start=np.array([0, 2, 4, 6], np.int32),
        link_end=np.array([1, 3, 5, 7], np.int32),
        link_nofollow=np.array([True, False, False, True]),
        noindex=False,
        nofollow=nofollow,
        link_numbers=None if numbers is None else np.array(numbers, np.int32),
    )


def test_links_that_ask_not_to_be_followed_are_left_out_with_their_places() -> None:
    text, links = visible_links(page())
    assert links == ["http://a.test/b", "http://a.test/c"]
    assert (text.link_start.tolist(), text.link_end.tolist()) == ([2, 4], [3, 5])


def test_so_are_links_that_a_table_of_urls_has_numbers_for() -> None:
    # The table has a (7) and c (4), and neither b nor d; a and d are not to be followed.
    text, links = visible_links(page([7, NEW, 4, NEW]))
    assert isinstance(links, FoundUrls)
    assert (links.numbers.tolist(), links.new) == ([NEW, 4], ["http://a.test/b"])
    assert (text.link_start.tolist(), text.link_end.tolist()) == ([2, 4], [3, 5])


@pytest.mark.parametrize("numbers", [None, [7, NEW, 4, NEW]])
def test_a_page_that_asks_for_it_shows_no_links_unless_the_crawl_follows_all(numbers: list[int] | None) -> None:
    by_header, by_itself = visible_links(page(numbers), nofollow=True), visible_links(page(numbers, nofollow=True))
    assert [len(by_header[1]), len(by_itself[1]), len(by_header[0].link_start), len(by_itself[0].link_end)] == [0] * 4
    text, links = visible_links(page(numbers, nofollow=True), nofollow=True, respect_nofollow=False)
    assert (len(links), text.link_start.tolist()) == (4, [0, 2, 4, 6])
