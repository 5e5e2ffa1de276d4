"""Numbers of visits by page."""

import sys

import numpy as np
import pytest

from scenthound.crawler.visit_numbers import VisitNumbers
from scenthound.store.crawl_records import JoinedArrays


def test_pages_are_numbered_in_the_order_of_their_visits():
    visits = VisitNumbers()
    for page in (7, 0, 300):
        visits.add(page)
    assert dict(visits) == {7: 0, 0: 1, 300: 2}
    assert list(visits) == visits.pages().tolist() == [7, 0, 300]
    assert [page in visits for page in (-1, 0, 1, 7, 299, 300, 301, 10_000)] == [0, 1, 0, 1, 0, 1, 0, 0]
    with pytest.raises(KeyError):
        visits[1]


def test_restored_visits_continue():
    visits = VisitNumbers()
    visits.add(3)
    visits.restore(np.array([5, 2], np.int32))
    visits.add(9)
    assert dict(visits) == {5: 0, 2: 1, 9: 2}
    visits.restore(np.zeros(0, np.int32))
    assert dict(visits) == {}


def test_a_visit_takes_little_memory():
    visits = VisitNumbers()
    for page in range(0, 100_000, 4):
        visits.add(page)
    n_bytes = sys.getsizeof(visits._pages) + sys.getsizeof(visits._number_of)
    assert n_bytes < 25_000 * 4 * 1.2 + 100_000 * 4 * 1.2


def test_the_links_of_a_visit_do_not_hold_those_of_its_commit():
    lengths = np.array([[2, -1, -1], [3, -1, -1]], np.int32).tobytes()
    links = JoinedArrays(10, lengths, np.arange(5, dtype=np.int32).tobytes(), b"", b"").of(11)["links"]
    assert links.tolist() == [2, 3, 4]
    assert links.base is None
