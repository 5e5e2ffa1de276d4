"""Runs in the formats of TREC, which trec_eval, ir_measures and other programs for retrieval experiments read.

{strategy}.run         a line for each visited page: `topic Q0 docno rank score tag`
precision.qrels        a line for each relevant page: `topic 0 docno 1`
recall.qrels           the same without seeds and training pages
target_recall.qrels    the targets
trec.json              the format, and the strategy of each run file

Rules
- A crawl is a ranking: its pages in the order of their visits. A topic of TREC is a start, because seeds and targets
  differ between starts: `ballooning.2` is the topic `ballooning` with the random seed 2.
- Each file of judgements is named after the metric that counts its pages. P@k and R@k of trec_eval are then that metric
  after k pages. Pages without a line are not known to be relevant; both programs count them as not relevant.
- trec_eval ignores ranks. It sorts by scores in single precision, and equal scores by docno. Scores are therefore whole
  numbers that fall by one with each page, at most `MAX_PAGES`, up to which single precision is exact.
- Fields are separated by white space. A docno is a URL, which has none if it is canonical. In topics and tags, percent
  signs and all characters that are not printable ASCII are percent-encoded (`urllib.parse.unquote` reverses it).
- A start without known pages has no line in a file of judgements; without any line the file is not written. A crawl
  without pages has no line in its run, so that trec_eval needs `-c` to count it.
"""

import hashlib
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO
from urllib.parse import quote

from scenthound.corpus.destinations import check_outside, new_export_folder
from scenthound.errors import CorruptData, InvalidInput, printable
from scenthound.experiments.ground_truth import TopicGroundTruth
from scenthound.experiments.runs import RunFolder
from scenthound.metrics.retrieval import Precision, Recall, TargetRecall
from scenthound.model import Progress, Trace, silent
from scenthound.store.folder import TREC, ResultFolder
from scenthound.store.recorded_web import RecordedWeb

#: Pages of the longest crawl.
MAX_PAGES = 1 << 24
#: Longer names of run files are cut, and end with a digest.
MAX_NAME_LENGTH = 100

_PRINTABLE = string.ascii_letters + string.digits + string.punctuation
_IN_FIELDS = _PRINTABLE.replace("%", "")
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.:=,+-]|^\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrecSummary:
    """What was written. `judged` has the number of lines of each file of judgements, and `unjudged` the number of
    starts without any."""

    kind: str = "trec"
    runs: dict[str, str]  #: strategies, by run file
    written: int  #: visited pages
    page_budget: int  #: of each crawl
    n_crawls: int
    n_starts: int
    n_empty: int  #: crawls without pages
    judged: dict[str, int] = field(default_factory=dict)
    unjudged: dict[str, int] = field(default_factory=dict)


def export_trec(
    run: RunFolder, out: str | PathLike[str], *, force: bool = False, progress: Progress = silent
) -> TrecSummary:
    """Write the crawls of a run, and the pages that its metrics count as relevant, to the new folder `out`."""
    check_outside(out, run.path, "run")
    names = {strategy: f"{file_name(strategy)}.run" for strategy in run.strategies}
    with new_export_folder(out, "trec", force=force) as folder, CorruptData.wrapping(run.path, "simulation run"):
        crawls, pages = _write_runs(run, folder, names, progress)
        judged, unjudged = _write_judgements(run, folder)
        summary = TrecSummary(
            runs={name: strategy for strategy, name in names.items()},
            written=pages,
            page_budget=run.page_budget,
            n_crawls=crawls.total(),
            n_starts=len(run.starts()),
            n_empty=crawls[True],
            judged=judged,
            unjudged=unjudged,
        )
        ResultFolder(folder, "trec").write_json(TREC.file, asdict(summary))
    return summary


def _write_runs(
    run: RunFolder, folder: Path, names: Mapping[str, str], progress: Progress
) -> tuple[Counter[bool], int]:
    """The number of crawls, by whether they have no page, and of pages."""
    crawls: Counter[bool] = Counter()
    n_pages, n_crawls = 0, len(run.crawls())
    with ExitStack() as files:
        opened = {name: files.enter_context(_new_text(folder / file)) for name, file in names.items()}
        for trace in run.traces():
            opened[trace.strategy].writelines(run_lines(trace, run.web))
            crawls[not len(trace)] += 1
            n_pages += len(trace)
            progress(crawls.total() / n_crawls, f"{crawls.total():,} of {n_crawls:,} crawls")
    return crawls, n_pages


def _new_text(file: Path) -> IO[str]:
    return file.open("w", encoding="ascii", newline="\n")


def run_lines(trace: Trace, web: RecordedWeb) -> Iterator[str]:
    """The lines of a crawl."""
    n_pages = len(trace)
    if n_pages > MAX_PAGES:
        raise InvalidInput(
            f"A crawl for {printable(trace.topic)} has {n_pages:,} pages, and trec_eval can rank {MAX_PAGES:,}: "
            "simulate with fewer --pages."
        )
    topic, tag = topic_field(trace.topic, trace.seed), field_text(trace.strategy)
    for rank, page in enumerate(trace.pages.tolist(), 1):
        yield f"{topic} Q0 {docno(web.url(page))} {rank} {n_pages - rank + 1} {tag}\n"


def _write_judgements(run: RunFolder, folder: Path) -> tuple[dict[str, int], dict[str, int]]:
    """For each file the number of lines, and of starts without any."""
    judged: Counter[str] = Counter()
    unjudged: Counter[str] = Counter()
    topics = {topic.id: TopicGroundTruth(run.web, topic, ()) for topic in run.topics()}
    with ExitStack() as files:
        opened: dict[str, IO[str]] = {}
        for start in run.starts():
            topic = topic_field(start.topic, start.seed)
            truth = topics[start.topic].ground_truth(start)
            # The pages that each metric counts.
            counted = {Precision.name: truth.relevant, Recall.name: truth.to_find, TargetRecall.name: truth.targets}
            for metric, pages in counted.items():
                name = f"{metric}.qrels"
                judged[name] += len(pages)
                unjudged[name] += not len(pages)
                if len(pages) and name not in opened:
                    opened[name] = files.enter_context(_new_text(folder / name))
                if len(pages):
                    opened[name].writelines(f"{topic} 0 {docno(run.web.url(page))} 1\n" for page in pages.tolist())
    return {name: n for name, n in judged.items() if n}, {name: n for name, n in unjudged.items() if n}


def topic_field(topic: str, seed: int) -> str:
    """The topic of TREC for a start."""
    return f"{field_text(topic)}.{seed}"


def field_text(text: str) -> str:
    """A text without white space."""
    return quote(text, safe=_IN_FIELDS)


def docno(url: str) -> str:
    """The document number of a page: its URL."""
    return url if url.isascii() and url.isprintable() and " " not in url else quote(url, safe=_PRINTABLE)


def file_name(strategy: str) -> str:
    """A file name without suffix, different for each strategy."""
    name = _NOT_IN_FILE_NAMES.sub(lambda sign: quote(sign[0], safe="").replace(".", "%2E"), strategy)
    if len(name) <= MAX_NAME_LENGTH:
        return name
    digest = hashlib.sha256(strategy.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME_LENGTH - len(digest) - 1]}-{digest}"
