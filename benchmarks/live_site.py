"""The generated site of the live benchmarks: pages of about 22 KB with 53 links, on several hundred loopback addresses.

Rules
- The same in every run: everything is drawn from one seeded generator. The site is written once, to the system's
  temporary folder, and reused.
- Words follow Zipf's law; the most frequent ones are English function words, the others are generated from syllables.
  A page is about one of `N_SUBJECTS` subjects: words of its subject are more frequent on it, and most pages it links to
  have the same subject.
- 70 % of the links stay on their host. They are spelled in all common forms: relative, root-relative, absolute, with a
  fragment. Page i is linked to by page (i - 1) // 3 at least, so all pages can be reached from page 0.
- Hosts are literal IP addresses, so that DNS resolvers do not affect the comparison.
- A page has a head, navigation, sections with paragraphs, lists and tables, and a footer. Each word is used once.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VERSION = 2
SAME_HOST_SHARE = 0.7
N_SUBJECTS = 40
WORDS_PER_SUBJECT = 40
N_WORDS = 30_000
#: Shares of a page: words of its subject, and links to other hosts that lead to a page of its subject.
SUBJECT_WORD_SHARE = 0.08
SUBJECT_LINK_SHARE = 0.7
#: Rank of the first subject word in the vocabulary: subject words are not rare.
FIRST_SUBJECT_WORD = 500
PRIVATE = "/private/login.html"
N_IN_NAVIGATION = 8
N_IN_FOOTER = 5
N_RELATED = 10
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
_SENTENCE_WORDS = (9, 14, 7, 18, 11, 22, 6, 13)
_CLASSES = ("lead", "note wide", "text", "text indent", "")
_HEAD = """<!DOCTYPE html>
<html lang="en" prefix="og: http://ogp.me/ns#">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{description}">
<meta property="og:title" content="{title}">
<link rel="stylesheet" href="/static/site.css?v=12">
<link rel="icon" href="/static/icon.png">
<style>.wide{{margin:0 -2em}}.note{{border-left:3px solid #ccc;padding:.5em 1em}}table td{{padding:2px 8px}}</style>
<script>window.settings={{"page":{page},"lang":"en","track":false}};document.documentElement.className+=" js";</script>
</head>
<body class="page page-{page}" data-id="{page}">
"""


@dataclass(frozen=True, slots=True)
class SiteSize:
    """Size of a site. 1,600 words and 53 links make pages of about 22 KB."""

    n_pages: int
    n_hosts: int
    n_links: int = 53
    n_words: int = 1_600


#: The site of most live benchmarks, and its port.
STANDARD = SiteSize(20_000, 400)
PORT = 18_080


@dataclass(frozen=True, slots=True)
class Site:
    """A site on disk: `FOLDER/host/path` for each page. There is one seed per host; all pages can be reached from the
    first."""

    folder: Path
    port: int
    hosts: tuple[str, ...]
    seeds: tuple[str, ...]
    keywords: tuple[str, ...]
    n_pages: int


def write_site(size: SiteSize, port: int) -> Site:
    """Write the site, unless an earlier run did."""
    plan = _Plan(size, port)
    sizes = f"{size.n_pages}-{size.n_hosts}-{size.n_links}-{size.n_words}"
    folder = Path(tempfile.gettempdir()) / f"scenthound-live-site-{VERSION}-{sizes}-{port}-{os.getuid()}"
    if not folder.is_dir():
        print(f"  writing {size.n_pages:,} pages into {folder}", flush=True)
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        plan.write(part)
        part.rename(folder)
    return Site(folder, port, plan.hosts, plan.seeds(), plan.keywords(), size.n_pages)


class _Plan:
    """What is drawn once for the site; words and links of a page are drawn when it is written."""

    def __init__(self, size: SiteSize, port: int) -> None:
        rng = np.random.default_rng(_SEED)
        self._size = size
        self._port = port
        self.hosts = tuple(f"127.0.{1 + host // 250}.{1 + host % 250}" for host in range(size.n_hosts))
        self._vocabulary = _vocabulary(rng)
        frequency = 1 / (np.arange(N_WORDS) + 2.7)
        self._cumulated = np.cumsum(frequency / frequency.sum())
        # Hosts have the same size, so that no crawl ends with few hosts left.
        self._host = rng.permutation(np.arange(size.n_pages) % size.n_hosts)
        self._subject = rng.integers(0, N_SUBJECTS, size.n_pages)
        self._on_host = [np.flatnonzero(self._host == host) for host in range(size.n_hosts)]
        self._on_subject = [np.flatnonzero(self._subject == subject) for subject in range(N_SUBJECTS)]
        self._paths = [self._path(rng, page) for page in range(size.n_pages)]

    def url(self, page: int) -> str:
        return f"http://{self.hosts[self._host[page]]}:{self._port}{self._paths[page]}"

    def seeds(self) -> tuple[str, ...]:
        """The first page of each host, page 0 first."""
        return tuple(self.url(page) for page in sorted(int(pages[0]) for pages in self._on_host))

    def keywords(self) -> tuple[str, ...]:
        """The most frequent words of the first page's subject."""
        first = FIRST_SUBJECT_WORD + int(self._subject[0]) * WORDS_PER_SUBJECT
        return tuple(self._vocabulary[first : first + 5])

    def write(self, folder: Path) -> None:
        for host in self.hosts:
            (folder / host).mkdir(parents=True)
            (folder / host / "robots.txt").write_text("User-agent: *\nDisallow: /private/\nDisallow: /search?\n")
        for page, path in enumerate(self._paths):
            file = folder / (self.hosts[self._host[page]] + path)
            file.parent.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng((_SEED, page))
            file.write_text(_Page(page, self._words(rng, page), self._references(rng, page)).html(), "utf-8")

    def _path(self, rng: np.random.Generator, page: int) -> str:
        # A repeated folder in a path would look like a crawler trap.
        folders = rng.choice(_FOLDERS.split(), int(rng.integers(1, 4)), replace=False)
        slug = "-".join(self._vocabulary[number] for number in rng.integers(200, 3_000, int(rng.integers(1, 5))))
        return f"/{'/'.join(folders)}/{slug.replace('é', 'e')}-{page}.html"

    def _words(self, rng: np.random.Generator, page: int) -> list[str]:
        numbers = np.searchsorted(self._cumulated, rng.random(self._size.n_words))
        of_subject = rng.random(len(numbers)) < SUBJECT_WORD_SHARE
        # Some words of a subject are much more frequent than others.
        rank = (WORDS_PER_SUBJECT * rng.random(len(numbers)) ** 3).astype(np.int64)
        first = FIRST_SUBJECT_WORD + self._subject[page] * WORDS_PER_SUBJECT
        vocabulary = self._vocabulary
        return [vocabulary[number] for number in np.where(of_subject, first + rank, numbers).tolist()]

    def _references(self, rng: np.random.Generator, page: int) -> list[str]:
        """The `href` values of a page: shuffled, the one that robots.txt disallows last."""
        children = [child for child in range(3 * page + 1, 3 * page + 4) if child < len(self._paths)]
        n_drawn = self._size.n_links - 1 - len(children)
        n_on_host = round(self._size.n_links * SAME_HOST_SHARE) - 1
        n_on_subject = round((n_drawn - n_on_host) * SUBJECT_LINK_SHARE)
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
    """Distinct words, most frequent first, a few with an accent."""
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


class _Page:
    """The HTML of one page, which uses up the words and links to each reference."""

    def __init__(self, page: int, words: list[str], references: list[str]) -> None:
        self._page = page
        self._words = words
        self._n_used = 0
        self._references = references
        self._lengths: Iterator[int] = itertools.islice(itertools.cycle(_SENTENCE_WORDS), page % 8, None)

    def html(self) -> str:
        links = self._references
        inner = len(links) - N_IN_NAVIGATION - N_IN_FOOTER - N_RELATED
        title = self._take(6).capitalize()
        parts = [
            _HEAD.format(title=title, description=self._take(15), page=self._page),
            self._navigation(links[:N_IN_NAVIGATION]),
            f'<main id="content"><article>\n<h1 class="title">{title}</h1>\n',
            *self._sections(links[N_IN_NAVIGATION : N_IN_NAVIGATION + inner]),
            "</article>\n",
            self._related(links[N_IN_NAVIGATION + inner : -N_IN_FOOTER]),
            "</main>\n",
            self._footer(links[-N_IN_FOOTER:]),
            "</body>\n</html>\n",
        ]
        return "".join(parts)

    def _take(self, n_words: int) -> str:
        self._n_used += n_words
        return " ".join(self._words[self._n_used - n_words : self._n_used])

    def _link(self, reference: str) -> str:
        n_words = 1 + len(reference) % 4
        return f'<a class="link link-{n_words}" href="{reference}">{self._take(n_words)}</a>'

    def _navigation(self, references: list[str]) -> str:
        items = [f'<li class="nav-item">{self._link(reference)}</li>\n' for reference in references]
        return f'<header><nav aria-label="Main"><ul class="nav">\n{"".join(items)}</ul></nav></header>\n'

    def _sections(self, references: list[str]) -> Iterator[str]:
        """Paragraphs, most of them with a link, and some headings, lists and tables."""
        remaining = iter(references)
        reserved_words = 6 * (N_IN_FOOTER + N_RELATED)
        for number in itertools.count():
            words_left = len(self._words) - self._n_used - reserved_words
            reference = next(remaining, None)
            if words_left < 120 and reference is None:
                yield f"<p>{self._take(max(words_left, 0))}.</p>\n"
                return
            if number % 5 == 0:
                yield f'<h2 id="part-{number}">{self._take(4).capitalize()}</h2>\n'
            if number % 7 == 3:
                yield self._list()
            if number % 11 == 6:
                yield self._table()
            sentences = 1 + (number + self._page) % 3 if words_left > 40 * len(references) else 1
            yield self._paragraph(_CLASSES[number % 5], reference, sentences)

    def _paragraph(self, css: str, reference: str | None, sentences: int) -> str:
        text = " ".join(f"{self._take(next(self._lengths)).capitalize()}." for _ in range(sentences))
        link = f" {self._take(3).capitalize()} {self._link(reference)}, <em>{self._take(2)}</em>." if reference else ""
        return f'<p class="{css}">{text}{link}</p>\n' if css else f"<p>{text}{link}</p>\n"

    def _list(self) -> str:
        items = "".join(f"<li><b>{self._take(1)}</b> &ndash; {self._take(5)}</li>\n" for _ in range(3))
        return f'<ul class="points">\n{items}</ul>\n'

    def _table(self) -> str:
        row = "".join(f'<td data-column="{column}">{self._take(2)}</td>' for column in range(3))
        head = f"<thead><tr><th>{self._take(1)}</th></tr></thead>"
        return f'<table class="data">{head}<tbody><tr>{row}</tr></tbody></table>\n'

    def _related(self, references: list[str]) -> str:
        cards = "".join(f'<div class="card"><h3>{self._link(reference)}</h3></div>\n' for reference in references)
        return f'<aside class="related" data-count="{len(references)}">\n{cards}</aside>\n'

    def _footer(self, references: list[str]) -> str:
        links = " | ".join(self._link(reference) for reference in references)
        return f"<footer><small>{links}<br>{self._take(len(self._words) - self._n_used)}</small></footer>\n"
