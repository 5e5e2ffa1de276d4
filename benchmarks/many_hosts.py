"""Webs of many hosts for studies, on which to stay on a site is not the answer (estimated 5 minutes).

`debdocs-text`: the documentation of several hundred free-software projects (../shared/data/debdocs). Its own labels are
of the project that a page belongs to, so that a crawler which never leaves a site does best. Here a section is a topic,
and its pages are those that are most similar to the abstract of the section (cosine of tf*idf), at most a few of each
host: a crawler has to find the hosts.

`made-up`: a synthetic web with several hundred hosts. More than half of its links are dead, and most of its hosts have
no page of a topic.

With a folder, `python -m benchmarks.many_hosts FOLDER` keeps both as recorded webs with their topic files, for
`scenthound study --web FOLDER/debdocs-text/web --topics FOLDER/debdocs-text/topics.jsonl`.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import command_parser
from benchmarks.data import collection, synthetic_web
from scenthound.model import FloatArray, IntArray, LongArray, Topic
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.text.tokenizer import stems_of
from scenthound.topics.files import read_topics, write_topics

DEBDOCS, MADE_UP = "debdocs-text", "made-up"
#: Pages of a topic, of each host, and the fewest hosts that a topic must be on.
N_EXAMPLES, N_OF_HOST, MIN_HOSTS = 150, 5, 30
#: Pages with fewer words are tables of contents and redirects.
MIN_WORDS = 50
#: Words of an abstract that must be in the web.
MIN_DESCRIBING = 20
#: Sections that say nothing about the subject of their pages.
WITHOUT_SUBJECT = ("Programming", "Help", "System", "Debian")
N_KEYWORDS = 6
MADE_UP_WEB = {"pages": 60_000, "pages_per_host": 100, "topics": 60, "dead_links": 0.55, "seed": 11}


@contextmanager
def many_host_web(name: str) -> Iterator[tuple[Path, Path] | None]:
    """A temporary recorded web and its topic file; None if the collection is absent."""
    if name == MADE_UP:
        with synthetic_web(**MADE_UP_WEB) as web:
            yield web, web / "topics.jsonl"
        return
    source = collection("debdocs")
    if source is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        web, topics = Path(temporary) / "web", Path(temporary) / "topics.jsonl"
        record(sorted(source.glob("pages*.jsonl.zst")), web, without_leaks=True)
        write_topics(topics, topics_by_text(RecordedWeb.open(web), read_topics(source / "topics.jsonl")))
        yield web, topics


def topics_by_text(web: RecordedWeb, sections: Sequence[Topic]) -> list[Topic]:
    """The sections as topics whose examples are the pages most similar to their abstracts."""
    described = [section for section in sections if section.id not in WITHOUT_SUBJECT]
    words = [_words(web, section.description) for section in described]
    named = [(section, found) for section, found in zip(described, words, strict=True) if len(found) >= MIN_DESCRIBING]
    similar = similarities(web, [found for _, found in named])
    host = web.url_host[: web.n_pages]
    topics = []
    for (section, _), row in zip(named, similar, strict=True):
        examples = _best_of_hosts(row, host)
        if len(set(host[examples].tolist())) >= MIN_HOSTS:
            urls = tuple(web.url(page) for page in examples)
            # With the name of the section itself, its labels would count as the known pages.
            name, keywords = f"{section.id} by text", _keywords(web, section)
            topics.append(Topic(name, keywords, section.path, section.description, urls))
    return topics


def similarities(web: RecordedWeb, topics: Sequence[IntArray]) -> FloatArray:
    """The cosine of tf*idf of each topic's words (row) with each page (column); 0 for short pages."""
    idf = _idf(web)
    words = np.unique(np.concatenate(topics))
    vectors = np.zeros((len(topics), len(words)))
    for row, found in zip(vectors, topics, strict=True):
        of_topic, n = np.unique(found, return_counts=True)
        row[np.searchsorted(words, of_topic)] = n * idf[of_topic]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    similar = np.zeros((len(topics), web.n_pages))
    for page in range(web.n_pages):
        distinct, counts = _counts(web, page)
        if counts.sum() < MIN_WORDS:
            continue
        weights = counts * idf[distinct]
        at = np.searchsorted(words, distinct).clip(max=len(words) - 1)
        known = words[at] == distinct
        similar[:, page] = vectors[:, at[known]] @ weights[known] / np.linalg.norm(weights)
    return similar


def _idf(web: RecordedWeb) -> FloatArray:
    idf: FloatArray = np.log(web.n_pages / np.maximum(web.document_frequency, 1))
    return idf


def _counts(web: RecordedWeb, page: int) -> tuple[IntArray, LongArray]:
    words = web.words_copy(page)
    distinct, counts = np.unique(words[words > 0], return_counts=True)
    return distinct, counts.astype(np.int64)


def _words(web: RecordedWeb, text: str) -> IntArray:
    return web.find_words(stems_of(text))


def _keywords(web: RecordedWeb, section: Topic) -> tuple[str, ...]:
    """The name of a section, and the words of its abstract with the highest tf*idf."""
    idf = _idf(web)
    weights: dict[str, float] = {}
    for word in section.description.lower().split():
        found = _words(web, word)
        if len(found) == 1 and word.isalpha():
            weights[word] = weights.get(word, 0.0) + float(idf[found[0]])
    words = sorted(weights, key=lambda word: -weights[word])
    return tuple(dict.fromkeys((*section.id.lower().split("/"), *words)))[:N_KEYWORDS]


def _best_of_hosts(similar: FloatArray, host: IntArray) -> list[int]:
    """The most similar pages, at most `N_OF_HOST` of each host."""
    found: list[int] = []
    n_of_host: Counter[int] = Counter()
    for page in np.argsort(-similar, kind="stable").tolist():
        if not similar[page] or len(found) == N_EXAMPLES:
            break
        if n_of_host[int(host[page])] < N_OF_HOST:
            n_of_host[int(host[page])] += 1
            found.append(page)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("many_hosts", __doc__)
    parser.add_argument("out", type=Path, nargs="?", help="a new folder to keep the webs in")
    out = parser.parse_args(arguments).out
    if out is not None and out.exists():
        parser.error(f"{out} exists: give a new folder")
    for name in (DEBDOCS, MADE_UP):
        with many_host_web(name) as made:
            if made is None:
                continue
            _describe(name, *made)
            if out is not None:
                shutil.copytree(made[0], out / name / "web")
                shutil.copy(made[1], out / name / "topics.jsonl")


def _describe(name: str, folder: Path, topics_file: Path) -> None:
    """Print how many hosts topics are on, and how often a link from a page of a topic leads to another one."""
    web, topics = RecordedWeb.open(folder), read_topics(topics_file)
    host = web.url_host[: web.n_pages]
    print(f"  {name}: {web.n_pages:,} pages on {len(np.unique(host)):,} hosts, {len(topics)} topics", flush=True)
    for topic in topics:
        pages = [page for url in topic.examples if (page := web.page_of(url)) is not None]
        n_hosts = len(np.unique(host[pages]))
        print(f"    {topic.id:40} {len(pages):4} examples on {n_hosts:3} hosts; {', '.join(topic.keywords)}")


if __name__ == "__main__":
    main()
