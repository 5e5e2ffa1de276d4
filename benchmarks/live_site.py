"""The made-up site of the live benchmarks: pages of about 22 KB with 53 links, over several hundred loopback addresses.

Rules
- The same in every run: everything is drawn from one seeded generator. It is written once, into the system's folder for
  temporary files, and found there again.
- Words follow Zipf's law; the most frequent are English function words, the others are made up of syllables. A page
  is about one of `N_SUBJECTS` subjects, whose words it has more of, and so are most pages it links to.
- 70 % of the links stay on their host. They are written as pages write them: relative, from the root, absolute, with a
  fragment. Page i is linked to by page (i - 1) // 3 at least, so that all can be reached from page 0.
- Hosts are literal addresses, so that crawlers with resolvers of their own are compared on equal terms.
"""

import itertools
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.live_page import page_html

VERSION = 2
SHARE_ON_HOST = 0.7
N_SUBJECTS = 40
WORDS_OF_A_SUBJECT = 40
N_WORDS = 30_000
#: How many words of a page are of its subject, and how many of its links off the host lead to a page of it.
SHARE_OF_SUBJECT = 0.08
SHARE_ON_SUBJECT = 0.7
#: Where the words of the subjects begin in the vocabulary: they are not rare.
FIRST_OF_SUBJECT = 500
PRIVATE = "/private/login.html"
_SEED = 20_240_229
_FUNCTION_WORDS = """
    the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one
    you were her all she there would their we him been has when who will more no if out so said what up its about into
    than them can only other new some could time these two may then do first any my now such like our over man me even
    most made after also did many before must through back years where much your way well down
"""
_FOLDERS = "archive articles blog catalogue docs events guide library news notes people places reviews topics"
_ONSETS = "b br c ch cl d dr f fl g gl h j k l m n p pl pr qu r s sh sl st t tr v w"
_VOWELS = "a e i o u ai ea ou"
_CODAS = ("", "", "", "l", "n", "r", "s", "t", "m", "nd", "rk", "st", "ck")
_ENDINGS = ("", "", "", "", "s", "ing", "ed", "ation", "ly", "er", "ness", "ment")


@dataclass(frozen=True, slots=True)
class Measures:
    """How large a site is to be. 1,600 words and 53 links make pages of about 22 KB."""

    n_pages: int
    n_hosts: int
    n_links: int = 53
    n_words: int = 1_600


@dataclass(frozen=True, slots=True)
class Site:
    """A site on disk: `FOLDER/host/path` for each page. The first of the `seeds`, one a host, leads to all pages."""

    folder: Path
    port: int
    hosts: tuple[str, ...]
    seeds: tuple[str, ...]
    keywords: tuple[str, ...]


def site(measures: Measures, port: int) -> Site:
    """The site, written now unless it is there from an earlier run."""
    plan = _Plan(measures, port)
    sizes = f"{measures.n_pages}-{measures.n_hosts}-{measures.n_links}-{measures.n_words}"
    folder = Path(tempfile.gettempdir()) / f"scenthound-live-site-{VERSION}-{sizes}-{port}-{os.getuid()}"
    if not folder.is_dir():
        print(f"  writing {measures.n_pages:,} pages into {folder}", flush=True)
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        plan.write(part)
        part.rename(folder)
    return Site(folder, port, plan.hosts, plan.seeds(), plan.keywords())


class _Plan:
    """What is drawn once for the whole site; pages are drawn one by one when they are written."""

    def __init__(self, measures: Measures, port: int) -> None:
        rng = np.random.default_rng(_SEED)
        self._measures = measures
        self._port = port
        self.hosts = tuple(f"127.0.{1 + host // 250}.{1 + host % 250}" for host in range(measures.n_hosts))
        self._vocabulary = _vocabulary(rng)
        frequency = 1 / (np.arange(N_WORDS) + 2.7)
        self._cumulated = np.cumsum(frequency / frequency.sum())
        # Hosts are of one size: crawlers are compared here, not how they end when few hosts are left.
        self._host = rng.permutation(np.arange(measures.n_pages) % measures.n_hosts)
        self._subject = rng.integers(0, N_SUBJECTS, measures.n_pages)
        self._on_host = [np.flatnonzero(self._host == host) for host in range(measures.n_hosts)]
        self._on_subject = [np.flatnonzero(self._subject == subject) for subject in range(N_SUBJECTS)]
        self._paths = [self._path(rng, page) for page in range(measures.n_pages)]

    def url(self, page: int) -> str:
        return f"http://{self.hosts[self._host[page]]}:{self._port}{self._paths[page]}"

    def seeds(self) -> tuple[str, ...]:
        """The first page, and the first one of each other host."""
        return tuple(self.url(page) for page in sorted(int(pages[0]) for pages in self._on_host))

    def keywords(self) -> tuple[str, ...]:
        """The most usual words of the first page's subject."""
        first = FIRST_OF_SUBJECT + int(self._subject[0]) * WORDS_OF_A_SUBJECT
        return tuple(self._vocabulary[first : first + 5])

    def write(self, folder: Path) -> None:
        for host in self.hosts:
            (folder / host).mkdir(parents=True)
            (folder / host / "robots.txt").write_text("User-agent: *\nDisallow: /private/\nDisallow: /search?\n")
        for page, path in enumerate(self._paths):
            file = folder / (self.hosts[self._host[page]] + path)
            file.parent.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng((_SEED, page))
            file.write_text(page_html(page, self._words(rng, page), self._references(rng, page)), "utf-8")

    def _path(self, rng: np.random.Generator, page: int) -> str:
        # No folder twice in a path, which would look like a trap.
        folders = rng.choice(_FOLDERS.split(), int(rng.integers(1, 4)), replace=False)
        slug = "-".join(self._vocabulary[number] for number in rng.integers(200, 3_000, int(rng.integers(1, 5))))
        return f"/{'/'.join(folders)}/{slug.replace('é', 'e')}-{page}.html"

    def _words(self, rng: np.random.Generator, page: int) -> list[str]:
        numbers = np.searchsorted(self._cumulated, rng.random(self._measures.n_words))
        of_subject = rng.random(len(numbers)) < SHARE_OF_SUBJECT
        # Some words of a subject are much more usual than others.
        place = (WORDS_OF_A_SUBJECT * rng.random(len(numbers)) ** 3).astype(np.int64)
        first = FIRST_OF_SUBJECT + self._subject[page] * WORDS_OF_A_SUBJECT
        vocabulary = self._vocabulary
        return [vocabulary[number] for number in np.where(of_subject, first + place, numbers).tolist()]

    def _references(self, rng: np.random.Generator, page: int) -> list[str]:
        """The links of a page as they are written: shuffled, and last the one that robots.txt forbids."""
        children = [child for child in range(3 * page + 1, 3 * page + 4) if child < len(self._paths)]
        n_drawn = self._measures.n_links - 1 - len(children)
        n_on_host = round(self._measures.n_links * SHARE_ON_HOST) - 1
        n_on_subject = round((n_drawn - n_on_host) * SHARE_ON_SUBJECT)
        linked = np.concatenate(
            [
                rng.choice(self._on_host[self._host[page]], n_on_host),
                rng.choice(self._on_subject[self._subject[page]], n_on_subject),
                rng.integers(0, len(self._paths), n_drawn - n_on_host - n_on_subject),
                np.array(children, np.int64),
            ]
        )
        spellings = rng.random((len(linked), 2)).tolist()
        pairs = zip(rng.permutation(linked).tolist(), spellings, strict=True)
        return [*(self._reference(page, other, *spelling) for other, spelling in pairs), PRIVATE]

    def _reference(self, page: int, other: int, spelling: float, ending: float) -> str:
        fragment = "#more" if ending < 0.05 else ""
        if self._host[page] != self._host[other] or spelling < 0.2:
            return self.url(other) + fragment
        if spelling < 0.6:
            return self._paths[other] + fragment
        return os.path.relpath(self._paths[other], os.path.dirname(self._paths[page])) + fragment


def _vocabulary(rng: np.random.Generator) -> list[str]:
    """Words by frequency, all different, a few of them with an accent."""
    words = dict.fromkeys(_FUNCTION_WORDS.split())
    onsets, vowels = _ONSETS.split(), _VOWELS.split()
    while len(words) < N_WORDS:
        drawn = rng.integers(0, 1 << 30, 8).tolist()
        syllables = [
            onsets[onset % len(onsets)] + vowels[vowel % len(vowels)]
            for onset, vowel in itertools.pairwise(drawn[: 2 + drawn[7] % 3])
        ]
        word = "".join(syllables) + _CODAS[drawn[5] % len(_CODAS)] + _ENDINGS[drawn[6] % len(_ENDINGS)]
        words[word.replace("ai", "é") if drawn[4] % 50 == 0 else word] = None
    return list(words)
