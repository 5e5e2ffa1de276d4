"""Reading responses: links that may be followed, and Retry-After."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.crawler.reader import MAX_RETRY_AFTER_S, PageScorer, retry_after_seconds, visible_links
from scenthound.crawler.tasks import PageText
from scenthound.frontier.url_table import NEW, FoundUrls
from scenthound.model import FloatArray, IntArray
from scenthound.strategies.best_n_first import BestNFirst
from scenthound.web.parse import ParsedPage


def page(numbers: list[int] | None = None, *, nofollow: bool = False) -> ParsedPage:
    """Four links, each of one word, of which the first and the last are not to be followed."""
    urls = [f"http://a.test/{letter}" for letter in "abcd"]
    new = [url for url, number in zip(urls, numbers or [], strict=False) if number == NEW]
    return ParsedPage(
        title="",
        base_url="http://a.test/",
        words=np.arange(1, 9, dtype=np.int32),
        links=urls if numbers is None else FoundUrls(np.array(numbers, np.int32), new),
        link_start=np.array([0, 2, 4, 6], np.int32),
        link_end=np.array([1, 3, 5, 7], np.int32),
        link_nofollow=np.array([True, False, False, True]),
        noindex=False,
        nofollow=nofollow,
    )


def test_nofollow_links_are_left_out_with_their_positions() -> None:
    text, links = visible_links(page())
    assert links == ["http://a.test/b", "http://a.test/c"]
    assert (text.link_start.tolist(), text.link_end.tolist()) == ([2, 4], [3, 5])


def test_nofollow_links_with_numbers_are_left_out() -> None:
    # The table has a (7) and c (4), and neither b nor d; a and d are not to be followed.
    text, links = visible_links(page([7, NEW, 4, NEW]))
    assert isinstance(links, FoundUrls)
    assert (links.numbers.tolist(), links.new) == ([NEW, 4], ["http://a.test/b"])
    assert (text.link_start.tolist(), text.link_end.tolist()) == ([2, 4], [3, 5])


@pytest.mark.parametrize("numbers", [None, [7, NEW, 4, NEW]])
def test_a_nofollow_page_has_no_links_unless_the_crawl_follows_all(numbers: list[int] | None) -> None:
    by_header, by_itself = visible_links(page(numbers), nofollow=True), visible_links(page(numbers, nofollow=True))
    assert [len(by_header[1]), len(by_itself[1]), len(by_header[0].link_start), len(by_itself[0].link_end)] == [0] * 4
    text, links = visible_links(page(numbers, nofollow=True), nofollow=True, respect_nofollow=False)
    assert (len(links), text.link_start.tolist()) == (4, [0, 2, 4, 6])


class Norms:
    """A relevance model that remembers the norms of the pages it scored."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def page(self, words: IntArray, norm: float) -> float:
        self.seen.append(norm)
        return 0.5

    def contexts(self, words: IntArray, first: IntArray, last: IntArray) -> FloatArray:
        return np.zeros(len(first))


class IgnoredNorms(Norms):
    uses_norm = False


@pytest.mark.parametrize(("model", "norm"), [(Norms, 3.0), (IgnoredNorms, 0.0)])
def test_norms_are_computed_for_models_that_use_them(model: type[Norms], norm: float) -> None:
    relevance, no_links = model(), np.zeros(0, np.int32)
    scorer = PageScorer(relevance, BestNFirst())
    assert scorer.score(PageText(np.array([1, 0, 2, 2, 1, 4], np.int32), no_links, no_links)) == (0.5, None, None)
    assert relevance.seen == [norm]


#: Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples, in seconds since the epoch.
NOVEMBER_6_S = 784_111_777.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("120", 120.0), (" 0 ", 0.0), ("1.5", 1.5), ("+3", 3.0), ("-5", 0.0), ("007", 7.0)],
)
def test_a_number_is_seconds_and_negative_ones_are_zero(value, seconds):
    assert retry_after_seconds(value, NOVEMBER_6_S) == seconds


@pytest.mark.parametrize(
    "date",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 09:49:37 +0100",
    ],
)
def test_a_date_is_the_time_until_then(date):
    assert retry_after_seconds(date, NOVEMBER_6_S - 90.5) == 90.5


def test_a_past_date_means_no_wait():
    assert retry_after_seconds("Sun, 06 Nov 1994 08:49:37 GMT", NOVEMBER_6_S + 1) == 0.0


@pytest.mark.parametrize(
    "value",
    ["", "soon", "1e3", "nan", "inf", "1,5", "٣", "Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999999 08:49:37 GMT"],
)
def test_invalid_values_are_ignored(value):
    assert retry_after_seconds(value, NOVEMBER_6_S) is None


# Ten years of 365.25 days: 3,652.5 * 86,400 seconds.
@pytest.mark.parametrize("value", ["315576001", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_the_wait_is_limited_to_ten_years(value):
    assert retry_after_seconds(value, NOVEMBER_6_S) == 315_576_000.0


@given(st.text() | st.text("SunNov 0123456789:,+-GMT()", max_size=40))
def test_any_header_is_read_without_an_error(value):
    seconds = retry_after_seconds(value, NOVEMBER_6_S)
    assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER_S


def test_very_long_headers_take_no_time():
    assert retry_after_seconds("(" * 60_000, NOVEMBER_6_S) is None
    assert retry_after_seconds("Sun, " * 12_000, NOVEMBER_6_S) is None
