"""Run folders: the traces of an experiment, the starts of its crawls, and everything that is needed to reproduce it.

traces.parquet   topic, strategy, seed, step, url, relevance, cpu_us, time_s: one row per visited page
crawls.jsonl     one line per crawl: why it ended, pages visited, pages missing in the recording, simulated running time
starts.jsonl     one line per topic and random seed: seeds, targets, and training pages
topics.jsonl     the topics
run.json         settings, relevance models, versions, and the web with its fingerprint

CPU time that was not measured is NaN. `time_s`, the simulated time of a visit, and the running time are null in modes
without a clock.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidInput, MissingExtra, printable
from scenthound.experiments.pipeline import CrawlSource, Run, plan, run
from scenthound.experiments.setup import Experiment, ExperimentSetup
from scenthound.experiments.starts import Start
from scenthound.files import open_regular
from scenthound.model import IntArray, Progress, Topic, Trace, silent
from scenthound.processes import WorkersLike
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.store.folder import ResultFolder, check_replaceable
from scenthound.store.record import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics, write_topics

RUN_FILE = "run.json"
#: The lists of pages in a line of starts.jsonl, in the order of `Start`.
START_PAGES = tuple(each.name for each in fields(Start)[2:])


def require_parquet() -> Any:
    """pyarrow's Parquet module; MissingExtra if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("lab", "Reading and writing traces") from None
    return pyarrow.parquet


@dataclass(frozen=True, slots=True)
class CrawlRow:
    """A line of crawls.jsonl."""

    topic: str
    strategy: str
    seed: int
    pages: int
    ended: str
    not_recorded: int
    repeated: int
    running_s: float | None = None  #: in simulated time
    evicted: int = 0  #: links that a full frontier dropped
    diagnostics: Mapping[str, float] = field(default_factory=dict)  #: of the strategy


@dataclass(frozen=True, slots=True)
class CrawlEnds:
    """How the crawls of a strategy ended: how many before their page budget, and, of these, requested pages that were
    not visited. Evictions are those of all crawls, diagnostics are means over them."""

    strategy: str
    page_budget: int
    n_crawls: int
    n_early: int
    n_not_recorded: int
    n_repeated: int
    n_evicted: int
    diagnostics: Mapping[str, float] = field(default_factory=dict)


def mean_diagnostics(crawls: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The means of the diagnostics that crawls have."""
    values: dict[str, list[float]] = {}
    for crawl in crawls:
        for name, value in crawl.items():
            values.setdefault(name, []).append(value)
    return {name: fmean(found) for name, found in values.items()}


def crawl_ends(rows: Iterable[CrawlRow], page_budget: int) -> tuple[CrawlEnds, ...]:
    """By strategy, in the order of the rows."""
    counts: dict[str, Counter[str]] = {}
    diagnostics: dict[str, list[Mapping[str, float]]] = {}
    for row in rows:
        diagnostics.setdefault(row.strategy, []).append(row.diagnostics)
        tally = counts.setdefault(row.strategy, Counter())
        tally.update(n_crawls=1, n_evicted=row.evicted)
        is_early = row.pages < page_budget
        tally.update(n_early=is_early, n_not_recorded=is_early * row.not_recorded, n_repeated=is_early * row.repeated)
    return tuple(
        CrawlEnds(strategy, page_budget, **tally, diagnostics=mean_diagnostics(diagnostics[strategy]))
        for strategy, tally in counts.items()
    )


@dataclass
class RunFolder:
    """A finished experiment on disk, with the web it ran on."""

    path: Path
    web: RecordedWeb
    page_budget: int
    strategies: list[str]
    mode: str = str(SEQUENTIAL)

    @classmethod
    def open(cls, path: str | Path, web: str | Path | None = None) -> "RunFolder":
        """Open a folder. `web` is the path of the recorded web, if it was moved without the run."""
        folder = Path(path)
        about = read_about(folder)
        try:
            settings = about["settings"]
            opened = web_of(folder, about, settings["web"], web)
            budget, strategies = int(settings["page_budget"]), list(settings["strategies"])
            return cls(folder, opened, budget, strategies, str(settings["mode"]))
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(f"{folder / RUN_FILE} is corrupt: simulate again.") from None

    def topics(self) -> list[Topic]:
        return read_topics(self.path / "topics.jsonl")

    def crawls(self) -> list[CrawlRow]:
        return [CrawlRow(**line) for line in self._lines("crawls.jsonl", CrawlRow.__slots__)]

    def starts(self) -> list[Start]:
        return [
            Start(line["topic"], line["seed"], *(self._pages(line[pages]) for pages in START_PAGES))
            for line in self._lines("starts.jsonl", ("topic", "seed", *START_PAGES))
        ]

    def _lines(self, name: str, fields: Iterable[str]) -> list[dict[str, Any]]:
        try:
            with open_regular(self.path / name) as file:
                lines = [json.loads(line) for line in file]
        except (OSError, ValueError) as reason:
            raise InvalidInput(f"Cannot read {self.path / name} ({reason}): simulate again.") from None
        if not lines or not all(isinstance(line, dict) and line.keys() == set(fields) for line in lines):
            raise InvalidInput(f"{self.path / name} is corrupt: simulate again.")
        return lines

    def _pages(self, urls: Iterable[str]) -> tuple[int, ...]:
        found = (self.web.page_of(url) for url in urls)
        return tuple(page for page in found if page is not None)

    def traces(self) -> Iterator[Trace]:
        """Every crawl, in the order written; a crawl without pages has an empty trace."""
        file = self.path / "traces.parquet"
        page_of: dict[str, int] = {}
        group = 0
        try:
            with require_parquet().ParquetFile(file) as traces:
                for row in self.crawls():
                    if row.pages:
                        yield self._trace(row, traces.read_row_group(group), page_of)
                        group += 1
                    else:
                        yield Trace(row.topic, row.strategy, row.seed, np.zeros(0, np.int32), np.zeros(0))
        except (OSError, ValueError, LookupError) as reason:
            raise InvalidInput(f"Cannot read {file} ({reason}): simulate again.") from None

    def _trace(self, row: CrawlRow, table: Any, page_of: dict[str, int]) -> Trace:
        stored = *(table[name][0].as_py() for name in ("topic", "strategy", "seed")), table.num_rows
        if stored != (row.topic, row.strategy, row.seed, row.pages):
            raise InvalidInput(f"{self.path}: traces.parquet and crawls.jsonl do not match: simulate again.")
        urls = table["url"].combine_chunks()
        names = urls.dictionary.to_pylist()
        for name in names:
            if name not in page_of:
                page = self.web.page_of(name)
                if page is None:
                    raise InvalidInput(f"{self.path}: {name} is not in the recorded web: simulate again.")
                page_of[name] = page
        return Trace(
            topic=row.topic,
            strategy=row.strategy,
            seed=row.seed,
            pages=np.array([page_of[name] for name in names], dtype=np.int32)[urls.indices.to_numpy()],
            relevance=table["relevance"].to_numpy(),
            cpu_us=table["cpu_us"].to_numpy().astype(np.float64),
        )


def read_about(folder: Path) -> dict[str, Any]:
    """The content of `run.json`; InvalidInput if the folder is not a run, or of a version that cannot be read."""
    return ResultFolder.open(folder, kind="run").about


def about_web(web: RecordedWeb, path: Path, folder: Path) -> dict[str, Any]:
    """What the marker file of a result folder says of the web at a path, and of the version that made the folder."""
    return {
        "scenthound": version("scenthound"),
        "web_fingerprint": web.fingerprint,
        # Still valid when both are moved together.
        "web_from_here": os.path.relpath(path, folder.resolve()),
    }


def web_of(folder: Path, about: Mapping[str, Any], recorded_at: str, given: str | Path | None = None) -> RecordedWeb:
    """The web of a result folder, given or where it was; both may have been moved together. InvalidInput if it is
    another web."""
    beside, absolute = folder / about["web_from_here"], Path(recorded_at)
    path = Path(given) if given else beside if beside.is_dir() and not absolute.is_dir() else absolute
    if not path.is_dir():
        raise InvalidInput(
            f"Cannot find the recorded web of {printable(folder)} at {printable(path)}: give its path with --web."
        )
    web = open_web(path)
    if web.fingerprint != about["web_fingerprint"]:
        raise InvalidInput(
            f"{printable(folder)} was made on another web than {printable(path)}: give the right one with --web, or "
            "start again."
        )
    return web


def write_run(
    folder: ResultFolder, experiment: Experiment, web: RecordedWeb, starts: Iterable[Start], runs: Iterable[Run]
) -> list[CrawlRow]:
    """Write everything into a new folder; `runs` are consumed one by one. Returns the lines of crawls.jsonl."""
    path, rows = folder.path, list[CrawlRow]()
    write_topics(path / "topics.jsonl", experiment.topics)
    with (path / "starts.jsonl").open("w", encoding="utf-8") as lines:
        for start in starts:
            pages = {name: [web.url(page) for page in getattr(start, name)] for name in START_PAGES}
            lines.write(json.dumps({"topic": start.topic, "seed": start.seed, **pages}) + "\n")
    with (path / "crawls.jsonl").open("w", encoding="utf-8") as lines:
        for done in _written(path / "traces.parquet", web, runs):
            rows.append(_crawl_row(done))
            lines.write(json.dumps(asdict(rows[-1])) + "\n")
    web_folder = web.crawl or experiment.web.resolve()
    settings = asdict(experiment) | {"web": web_folder}
    del settings["topics"], settings["other_topics"]
    about = about_web(web, web_folder, path)
    folder.write_json(RUN_FILE, {**about, "settings": settings, "relevance_models": experiment.relevance_models()})
    return rows


def _crawl_row(done: Run) -> CrawlRow:
    crawl = done.crawl
    return CrawlRow(
        topic=done.start.topic,
        strategy=done.strategy,
        seed=done.start.seed,
        pages=len(crawl.pages),
        ended=crawl.ended.value,
        not_recorded=crawl.n_missing,
        repeated=crawl.n_repeated,
        running_s=None if crawl.time_s is None else float(crawl.time_s[-1]),
        evicted=crawl.n_evicted,
        diagnostics=dict(crawl.diagnostics),
    )


def _written(file: Path, web: RecordedWeb, runs: Iterable[Run]) -> Iterator[Run]:
    """The same crawls, each after its trace was written."""
    pq = require_parquet()
    import pyarrow as pa

    # Made from buffers, because `pa.array` imports pandas.
    def column(values: npt.NDArray[Any]) -> Any:
        return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])

    def texts(of_index: IntArray, values: Iterable[str]) -> Any:
        encoded = [value.encode() for value in values]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
        distinct = pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))
        return pa.DictionaryArray.from_arrays(column(of_index), distinct)

    named = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [
            ("topic", named),
            ("strategy", named),
            ("seed", pa.int32()),
            ("step", pa.int32()),
            ("url", named),
            ("relevance", pa.float64()),
            ("cpu_us", pa.float32()),
            ("time_s", pa.float64()),
        ]
    )
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for done in runs:
            n_pages = len(done.crawl.pages)
            pages, index = np.unique(done.crawl.pages, return_inverse=True)
            zeros = np.zeros(n_pages, np.int32)
            columns = [
                texts(zeros, [done.start.topic]),
                texts(zeros, [done.strategy]),
                column(np.full(n_pages, done.start.seed, np.int32)),
                column(np.arange(1, n_pages + 1, dtype=np.int32)),
                texts(index.astype(np.int32), map(web.url, pages.tolist())),
                column(done.crawl.relevance),
                column(done.crawl.cpu_us.astype(np.float32)),
                pa.nulls(n_pages, pa.float64()) if done.crawl.time_s is None else column(done.crawl.time_s),
            ]
            if n_pages:
                # One row group for each crawl, which is how they are read again.
                writer.write_table(pa.table(columns, schema=schema), row_group_size=n_pages)
            yield done


# Simulations


@dataclass(frozen=True, slots=True)
class Simulation:
    """The result of a simulation."""

    out: Path
    experiment: Experiment
    skipped_topics: dict[str, str]  #: the reason, by topic
    missing: tuple[str, ...]  #: examples and targets of the topics that are not in the web
    pages_wanted: int  #: the requested page budget; crawls have at most as many pages as the web
    n_crawls: int
    n_pages: int
    n_not_recorded: int
    n_ended_early: int
    ends: tuple[CrawlEnds, ...] = ()  #: by strategy


def simulate_topics(
    setup: ExperimentSetup,
    out: Path,
    *,
    workers: WorkersLike = None,
    force: bool = False,
    progress: Progress = silent,
) -> Simulation:
    """Crawl for every chosen topic with every strategy, and write the run folder `out` atomically.

    If `setup.web` is a crawl, its pages are recorded first.
    """
    require_parquet()
    check_replaceable(out, "run", force=force)
    recorded = open_web(setup.web, progress)
    chosen = setup.choose_topics_with_seeds(recorded)
    experiment = setup.experiment(recorded, chosen)
    planned = plan(experiment, recorded, can_skip=setup.can_skip(chosen))
    with ResultFolder.create(out, kind="run", force=force) as folder:
        runs = run(CrawlSource(experiment, recorded), planned, workers=workers, progress=progress)
        rows = write_run(folder, experiment, recorded, [start for _, start in planned], runs)
    starts = setup.starts(recorded)
    return Simulation(
        out=out,
        experiment=experiment,
        skipped_topics=dict(chosen.skipped),
        missing=tuple(url for topic in chosen.topics for url in starts.missing(topic)),
        pages_wanted=setup.page_budget,
        n_crawls=len(rows),
        n_pages=sum(row.pages for row in rows),
        n_not_recorded=sum(row.not_recorded for row in rows),
        n_ended_early=sum(row.pages < experiment.page_budget for row in rows),
        ends=crawl_ends(rows, experiment.page_budget),
    )
