"""A URL table that is filled from stored texts is the one that was stored."""

from collections.abc import Iterator
from random import Random

import pytest

from scenthound.frontier.url_table import UrlTable

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


@pytest.mark.parametrize("urls", [random_urls(5000, 40), ODD + random_urls(300, 5), ["http://only/one"]])
def test_a_loaded_table_is_that_of_urls_added_one_by_one(urls):
    added, loaded = UrlTable(), UrlTable()
    numbers = added.add_all(urls)
    loaded.load(texts_of(urls, 37))
    assert [loaded.url(number) for number in range(len(loaded))] == urls
    assert [loaded.find(url) for url in urls] == list(range(len(urls)))
    assert loaded.hosts(numbers).tolist() == added.hosts(numbers).tolist()
    assert loaded.find("http://host0.example/unknown") is None
    more = [*urls[:5], "http://new.example/", "http://new.example/2"]
    assert loaded.add_all(more).tolist() == added.add_all(more).tolist()


def test_a_url_that_is_there_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        UrlTable().load([b"http://a/\nhttp://b/\nhttp://a/"])


def failing() -> Iterator[bytes]:
    yield b"http://a/\nhttp://a/b"
    raise OSError("disk")


def test_what_was_loaded_before_a_failure_is_found():
    table = UrlTable()
    with pytest.raises(OSError, match="disk"):
        table.load(failing())
    assert (table.find("http://a/b"), len(table)) == (1, 2)
    with pytest.raises(ValueError, match="empty"):
        table.load([b"http://a/c"])
    with pytest.raises(TypeError):
        UrlTable().load(["http://a/"])


def test_nothing_is_loaded_from_nothing():
    table = UrlTable()
    table.load([])
    assert len(table) == 0
    assert table.add_all(["http://a/"]).tolist() == [0]
