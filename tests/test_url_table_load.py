"""A URL table that is filled from stored texts is the one that was stored."""

from random import Random

import numpy as np
import pytest

from scenthound import jit
from scenthound.frontier import url_table
from scenthound.frontier.url_table import UrlTable

needs_numba = pytest.mark.skipif(not jit.is_available(), reason="needs numba (the extra `fast`)")
ODD = [
    "",
    "no url",
    "http://host",
    "https://h/",
    "http://a/b\u00e9",
    "http://\u00e9xample/x",
    "//x/y",
    "http://h:80/p?q#f",
]


def random_urls(n: int, n_hosts: int) -> list[str]:
    rng = Random(1)
    return list(dict.fromkeys(f"http://host{rng.randrange(n_hosts)}.example/{rng.randrange(10**6)}" for _ in range(n)))


def texts_of(urls: list[str], size: int) -> list[bytes]:
    parts = [urls[start : start + size] for start in range(0, len(urls), size)]
    return ["\n".join(part).encode("utf-8", "surrogatepass") for part in parts]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_numba)])
@pytest.mark.parametrize("urls", [random_urls(5000, 40), ODD + random_urls(300, 5), ["http://only/one"]])
def test_a_loaded_table_is_that_of_urls_added_one_by_one(compiled, urls, monkeypatch):
    monkeypatch.setattr(url_table, "CHUNK_BYTES", 20_000)
    added, loaded = UrlTable(compiled=compiled), UrlTable(compiled=compiled)
    numbers = added.add_all(urls)
    loaded.load(texts_of(urls, 37))
    assert [loaded.url(number) for number in range(len(loaded))] == urls
    assert [loaded.find(url) for url in urls] == list(range(len(urls)))
    assert loaded.hosts(numbers).tolist() == added.hosts(numbers).tolist()
    assert loaded.find("http://host0.example/unknown") is None
    more = [*urls[:5], "http://new.example/", "http://new.example/2"]
    assert loaded.add_all(more).tolist() == added.add_all(more).tolist()


@needs_numba
def test_texts_beyond_the_limit_of_an_end_are_found(monkeypatch):
    monkeypatch.setattr(url_table, "END_LIMIT", 1000)
    urls = random_urls(500, 3)
    table = UrlTable(compiled=True)
    table.load(texts_of(urls, 100))
    assert [table.url(number) for number in range(len(table))] == urls
    assert table.find_pieces(b"", [0], urls[400].encode(), np.array([[0, 0, len(urls[400])]])).tolist() == [400]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_numba)])
def test_nothing_is_loaded_from_nothing(compiled):
    table = UrlTable(compiled=compiled)
    table.load([])
    assert len(table) == 0
    assert table.add_all(["http://a/"]).tolist() == [0]
