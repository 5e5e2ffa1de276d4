"""Average precision of relevance models on real collections: how well do their scores rank the pages of a topic?

Each model scores all pages of a collection for each topic, after learning from keywords only, from start pages only, or
from both. Cosine uses the keywords; the support vector machine learns from the start pages and from twice as many pages
of other topics; `rocchio` also learns from a sample of other pages, as in a crawl. Its document frequencies are counted
without the judged collection. Start pages are not ranked. Constants of `rocchio` were chosen on wpschools, those of
words of similar meaning also on mdn. (estimated 10 minutes)
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import command_parser
from benchmarks.data import COLLECTIONS
from benchmarks.document_frequencies import write as write_document_frequencies
from scenthound.model import BoolArray, FloatArray, IntArray, Topic
from scenthound.relevance.base import LearningRelevance, Relevance, Training
from scenthound.relevance.cosine import Cosine
from scenthound.relevance.rocchio import Rocchio
from scenthound.relevance.svm import LinearSvm
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics

NAMES = ("wpschools", "nlab", "mdn", "debdocs")
STARTS = (0, 1, 3, 10)
N_TOPICS = 20
MAX_PAGES = 5_000
MIN_RELEVANT, MIN_EXAMPLES = 20, 15
N_OTHER_PAGES = 160


@dataclass(frozen=True, slots=True)
class Task:
    """A topic with the pages that belong to it, those to start from, and those to rank."""

    topic: Topic
    relevant: BoolArray
    examples: list[int]
    ranked: IntArray


def tasks(topics: Path, web: RecordedWeb, n_topics: int) -> list[Task]:
    """Random topics of a file with enough pages; all their pages are ranked, and a sample of the others."""
    found = []
    some = np.random.default_rng(0).permutation(web.n_pages)[:MAX_PAGES]
    for topic in read_topics(topics):
        examples = sorted({page for url in topic.examples if (page := web.page_of(url)) is not None})
        labelled = web.labelled(topic.id)
        pages = labelled if len(labelled) else np.array(examples, np.int32)
        examples = examples if len(examples) >= MIN_EXAMPLES else pages.tolist()
        if len(pages) >= MIN_RELEVANT and len(examples) >= MIN_EXAMPLES:
            relevant = np.zeros(web.n_pages, np.bool_)
            relevant[pages] = True
            found.append(Task(topic, relevant, examples, np.union1d(some, pages).astype(np.int32)))
    Random(0).shuffle(found)
    return found[:n_topics]


def average_precision(scores: FloatArray, relevant: BoolArray) -> float:
    """Ties are broken by the order of the pages."""
    in_order = relevant[np.argsort(-scores, kind="stable")]
    precision = np.cumsum(in_order) / np.arange(1, len(in_order) + 1)
    return float(precision[in_order].mean())


def scored(relevance: Relevance, web: RecordedWeb, pages: IntArray) -> FloatArray:
    return np.array([relevance.page(web.words(page), float(web.page_norm[page])) for page in pages.tolist()])


Prepare = Callable[[Task, list[int], RecordedWeb], Relevance | None]


def models(background: Path, others: list[Task]) -> Iterator[tuple[str, Prepare]]:
    """The models by name. Each prepares itself for a task and its start pages, or cannot (None)."""

    def words(web: RecordedWeb, pages: Sequence[int]) -> tuple[IntArray, ...]:
        return tuple(web.words(page) for page in pages)

    def cosine(task: Task, starts: list[int], web: RecordedWeb) -> Relevance | None:
        return Cosine().for_topic(task.topic, web) if task.topic.keywords and not starts else None

    def svm(task: Task, starts: list[int], web: RecordedWeb) -> Relevance | None:
        if not starts:
            return None
        rng = Random(task.topic.id)
        pages = [page for other in others if other is not task for page in other.examples if not task.relevant[page]]
        negatives = rng.sample(pages, min(len(pages), 2 * len(starts)))
        return LinearSvm().for_topic(task.topic, web, Training(words(web, starts), words(web, negatives)))

    def rocchio(*, with_keywords: bool, semantic: bool = False) -> Prepare:
        def prepare(task: Task, starts: list[int], web: RecordedWeb) -> Relevance | None:
            # Words of similar meaning count on pages only if there are no start pages.
            if (not with_keywords and not starts) or (semantic and starts):
                return None
            topic = Topic(task.topic.id, task.topic.keywords if with_keywords else ())
            prepared = Rocchio(str(background), semantic).for_topic(topic, web)
            assert isinstance(prepared, LearningRelevance)
            for page in starts:
                prepared.learn(web.words(page), is_start=True)
            for page in np.random.default_rng(1).choice(web.n_pages, N_OTHER_PAGES, replace=False).tolist():
                prepared.learn(web.words(page), is_start=False)
            return prepared

        return prepare

    yield "cosine, keywords", cosine
    yield "svm, pages", svm
    yield "rocchio, pages", rocchio(with_keywords=False)
    yield "rocchio, keywords and pages", rocchio(with_keywords=True)
    yield "rocchio:semantic=true, keywords", rocchio(with_keywords=True, semantic=True)


def measure(name: str, web: RecordedWeb, background: Path, n_topics: int) -> None:
    judged = tasks(COLLECTIONS / name / "topics.jsonl", web, n_topics)
    print(f"{name}: {len(judged)} topics, {web.n_pages:,} pages")
    print(f"  {'average precision with start pages':<36}" + "".join(f"{n:>8}" for n in STARTS))
    for label, prepare in models(background, judged):
        line = f"  {label:<36}"
        for n_starts in STARTS:
            precisions = []
            for task in judged:
                starts = Random(f"{task.topic.id}/{n_starts}").sample(task.examples, n_starts)
                relevance = prepare(task, starts, web)
                if relevance is not None:
                    pages = task.ranked[~np.isin(task.ranked, starts)]
                    scores = scored(relevance, web, pages)
                    precisions.append(average_precision(scores, task.relevant[pages]))
            line += f"{np.mean(precisions):8.3f}" if precisions else f"{'':>8}"
        print(line, flush=True)


def recorded_webs(names: Sequence[str], folder: Path) -> dict[str, Path]:
    """The recorded webs of collections in a folder, made if they are missing."""
    for name in names:
        if not (folder / name).exists():
            files = sorted((COLLECTIONS / name).glob("pages*.jsonl.zst"))
            kinds = {} if name == "debdocs" else {"kind": "article"}
            record(files, folder / name, without_leaks=True, where=kinds)
    return {name: folder / name for name in names}


def background_without(name: str, webs: Mapping[str, Path], folder: Path) -> Path:
    """A new file in the folder with the document frequencies of all webs but one."""
    file = folder / f"without_{name}.txt.gz"
    write_document_frequencies(file, [web for other, web in webs.items() if other != name])
    return file


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("relevance", __doc__)
    parser.add_argument("--topics", type=int, default=N_TOPICS, help="topics per collection")
    parser.add_argument("--webs", type=Path, help="folder of recorded webs, made if they are missing")
    options = parser.parse_args(arguments)
    available = [name for name in NAMES if (COLLECTIONS / name).is_dir()]
    if len(available) < 2:
        print("  skipped: needs two collections in ../shared/data")
        return
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        webs = recorded_webs(available, options.webs or Path(temporary))
        for name, web in webs.items():
            background = background_without(name, webs, Path(temporary))
            measure(name, RecordedWeb.open(web), background, options.topics)


if __name__ == "__main__":
    main()
