"""Made-up URLs that are as long, and as unevenly spread over hosts, as those of a crawl; the same in every run."""

from collections.abc import Iterator

import numpy as np

from scenthound.model import IntArray

_TEXT = """
    about archive article author balloon best blog book category city company contact course data design detail event
    family forum gallery garden guide health history home image index item journal kitchen language library life list
    local media member music nature news note office page paper people photo place post product project question
    recipe report research review school science search section service shop sport story student summer support tag
    team theme topic train travel university user video water week winter world year
"""
WORDS = _TEXT.split()
ENDINGS = (".html", "/", "", ".php", "?page=2", ".htm", "?lang=en", "/index.html")
ORIGINS = ("https://www.{}.com", "https://{}.org", "http://www.{}.co.uk", "https://blog.{}.net", "http://{}.de")
N_PIECES = 10_000


class MadeUpUrls:
    """URLs of so many hosts. A page's number is part of its URL, so that no two are the same."""

    def __init__(self, n_hosts: int) -> None:
        self._rng = np.random.default_rng(7)
        names = self._joined("-", n_hosts, at_most=2)
        self._origins = [ORIGINS[i % len(ORIGINS)].format(f"{name}{i}") for i, name in enumerate(names)]
        self._directories = self._joined("/", N_PIECES, at_most=3)
        self._slugs = self._joined("-", N_PIECES, at_most=5)

    def __len__(self) -> int:
        """How many hosts there are."""
        return len(self._origins)

    def _joined(self, sign: str, n: int, at_most: int) -> list[str]:
        lengths = self._rng.integers(1, at_most + 1, n).tolist()
        choices = self._rng.integers(0, len(WORDS), (n, at_most)).tolist()
        return [
            sign.join(WORDS[word] for word in words[:length]) for length, words in zip(lengths, choices, strict=True)
        ]

    def chunks(self, n: int, size: int) -> Iterator[list[str]]:
        for start in range(0, n, size):
            yield self._chunk(start, size)

    def _chunk(self, start: int, size: int) -> list[str]:
        rng = self._rng
        directories, slugs = rng.integers(0, N_PIECES, (2, size)).tolist()
        hosts = uneven_hosts(rng, len(self._origins), size).tolist()
        return [
            f"{self._origins[host]}/{self._directories[directory]}/{self._slugs[slug]}-{page}{ENDINGS[page % 8]}"
            for page, host, directory, slug in zip(range(start, start + size), hosts, directories, slugs, strict=True)
        ]


def uneven_hosts(rng: np.random.Generator, n_hosts: int, n: int) -> IntArray:
    """Draw hosts so that a tenth of them has more than half of the pages, and the largest of 200,000 one in twenty."""
    return (n_hosts * rng.random(n) ** 4).astype(np.int32)
