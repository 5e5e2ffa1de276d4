"""Real pages, from the collections in ../shared."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import orjson

from scenthound.files import opened

_BEFORE_URL = b'{"url": "'


def urls_of(file: Path, limit: int) -> Iterator[str]:
    """The first URLs of a collection, without parsing the pages."""
    return map(_url, islice(_lines(file), limit))


def pages_where(file: Path, is_wanted: Callable[[str], bool]) -> dict[str, str]:
    """The HTML of the pages with wanted URLs."""
    return {url: orjson.loads(line)["html"] for line in _lines(file) if is_wanted(url := _url(line))}


def _lines(file: Path) -> Iterator[bytes]:
    with opened(file) as source:
        yield from source.content


def _url(line: bytes) -> str:
    assert line.startswith(_BEFORE_URL)
    return line[len(_BEFORE_URL) : line.index(b'"', len(_BEFORE_URL))].decode()
