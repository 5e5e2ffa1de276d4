"""Input of the benchmarks: real collections, recorded webs, and generated URLs."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.model import IntArray
from scenthound.store.record import record
from scenthound.testing import topical_web

COLLECTIONS = Path(__file__).resolve().parents[2] / "shared" / "data"

_TEXT = """
    about archive article author balloon best blog book category city company contact course data design detail event
    family forum gallery garden guide health history home image index item journal kitchen language library life list
    local media member music nature news note office page paper people photo place post product project question
    recipe report research review school science search section service shop sport story student summer support tag
    team theme topic train travel university user video water week winter world year
"""
_WORDS = _TEXT.split()
_ENDINGS = (".html", "/", "", ".php", "?page=2", ".htm", "?lang=en", "/index.html")
_ORIGINS = ("https://www.{}.com", "https://{}.org", "http://www.{}.co.uk", "https://blog.{}.net", "http://{}.de")
_N_PIECES = 10_000


def collection(name: str) -> Path | None:
    """The folder of a collection. If it is absent, print that it is skipped and return None."""
    folder = COLLECTIONS / name
    if folder.is_dir():
        return folder
    print(f"  skipped: collection {name} not found at ../shared/data/{name}")
    return None


@contextmanager
def recorded(folder: Path) -> Iterator[Path]:
    """A temporary recorded web of a collection's articles, without the spans they mark as leaks."""
    files = sorted(folder.glob("pages*.jsonl.zst"))
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        web = Path(temporary) / "web"
        record(files, web, without_leaks=True, where={"kind": "article"})
        yield web


@contextmanager
def synthetic_web(**settings: Any) -> Iterator[Path]:
    """A temporary recorded web of generated pages, with the settings of `topical_web`."""
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        web = Path(temporary) / "web"
        topical_web(web, **settings)
        yield web


class SyntheticUrls:
    """Generated URLs, as long and as unevenly distributed over hosts as those of a crawl; the same in every run.

    A page's number is part of its URL, so all URLs are different.
    """

    def __init__(self, n_hosts: int) -> None:
        self._rng = np.random.default_rng(7)
        names = self._joined("-", n_hosts, max_words=2)
        self._origins = [_ORIGINS[i % len(_ORIGINS)].format(f"{name}{i}") for i, name in enumerate(names)]
        self._directories = self._joined("/", _N_PIECES, max_words=3)
        self._slugs = self._joined("-", _N_PIECES, max_words=5)

    def _joined(self, separator: str, n: int, max_words: int) -> list[str]:
        lengths = self._rng.integers(1, max_words + 1, n).tolist()
        choices = self._rng.integers(0, len(_WORDS), (n, max_words)).tolist()
        return [
            separator.join(_WORDS[word] for word in words[:length])
            for length, words in zip(lengths, choices, strict=True)
        ]

    def chunks(self, n: int, size: int) -> Iterator[list[str]]:
        for start in range(0, n, size):
            yield self._chunk(start, size)

    def _chunk(self, start: int, size: int) -> list[str]:
        rng = self._rng
        directories, slugs = rng.integers(0, _N_PIECES, (2, size)).tolist()
        hosts = uneven_hosts(rng, len(self._origins), size).tolist()
        return [
            f"{self._origins[host]}/{self._directories[directory]}/{self._slugs[slug]}-{page}{_ENDINGS[page % 8]}"
            for page, host, directory, slug in zip(range(start, start + size), hosts, directories, slugs, strict=True)
        ]


def uneven_hosts(rng: np.random.Generator, n_hosts: int, n: int) -> IntArray:
    """Draw hosts so that a tenth of them has more than half of the pages, and the largest of 200,000 one in twenty."""
    return (n_hosts * rng.random(n) ** 4).astype(np.int32)
