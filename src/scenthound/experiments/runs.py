"""Run folders: the traces of an experiment, the starts of its crawls, and everything that is needed to reproduce it.

traces.parquet   topic, strategy, seed, step, url, relevance, cpu_us, time_s: one row per visited page
crawls.jsonl     one line per crawl: why it ended, pages visited, pages missing in the recording, simulated running time
starts.jsonl     one line per topic and random seed: seeds, targets, and training pages
topics.jsonl     the topics
run.json         settings, relevance models, versions, and the web with its fingerprint

CPU time that was not measured is NaN. `time_s`, the simulated time of a visit, and the running time are null in modes
without a clock. Folders of older versions may lack training pages, modes and times.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import IO, Any

import numpy as np

from scenthound.errors import InvalidInput, MissingExtra
from scenthound.experiments.pipeline import Run, plan, run
from scenthound.experiments.setup import Experiment, ExperimentSetup, with_new_names
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
#: The lists of pages in a line of starts.jsonl, in the order of `Start`; older folders lack the later ones.
START_PAGES = tuple(each.name for each in fields(Start)[2:])
LATER_START_PAGES = START_PAGES[2:]
#: Fields that older folders lack.
LATER_CRAWL_FIELDS = ("running_s", "evicted", "diagnostics")


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
        if row.pages < page_budget:
            tally.update(n_early=1, n_not_recorded=row.not_recorded, n_repeated=row.repeated)
    names = [each.name for each in fields(CrawlEnds)[2:] if each.type is int]
    return tuple(
        CrawlEnds(
            strategy,
            page_budget,
            **{name: tally[name] for name in names},
            diagnostics=mean_diagnostics(diagnostics[strategy]),
        )
        for strategy, tally in counts.items()
    )


class RunFolder:
    """A finished experiment on disk, with the web it ran on."""

    def __init__(
        self, path: Path, web: RecordedWeb, page_budget: int, strategies: list[str], mode: str = str(SEQUENTIAL)
    ) -> None:
        self.path = path
        self.web = web
        self.page_budget = page_budget
        self.strategies = strategies
        self.mode = mode

    @classmethod
    def open(cls, path: str | Path, web: str | Path | None = None) -> "RunFolder":
        """Open a folder. `web` is the path of the recorded web, if it was moved without the run."""
        folder = Path(path)
        about = read_about(folder)
        try:
            settings = about["settings"]
            path = Path(web) if web else web_path(folder, settings["web"], about["web_from_here"])
            if not path.is_dir():
                raise InvalidInput(f"Cannot find the recorded web of {folder} at {path}: give its path with --web.")
            opened = cls(
                folder,
                open_web(path),
                int(settings["page_budget"]),
                list(settings["strategies"]),
                str(settings.get("mode", SEQUENTIAL)),
            )
            fingerprint = about["web_fingerprint"]
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(f"{folder / RUN_FILE} is corrupt: simulate again.") from None
        if opened.web.fingerprint != fingerprint:
            raise InvalidInput(
                f"{folder} was simulated on another recording than {path}: give the right one with --web, or simulate "
                "again."
            )
        return opened

    def topics(self) -> list[Topic]:
        return read_topics(self.path / "topics.jsonl")

    def crawls(self) -> list[CrawlRow]:
        return [CrawlRow(**line) for line in self._lines("crawls.jsonl", CrawlRow.__slots__, LATER_CRAWL_FIELDS)]

    def starts(self) -> list[Start]:
        return [
            Start(line["topic"], line["seed"], *(self._pages(line.get(pages, ())) for pages in START_PAGES))
            for line in self._lines("starts.jsonl", ("topic", "seed", *START_PAGES), optional=LATER_START_PAGES)
        ]

    def _lines(self, name: str, fields: Iterable[str], optional: Iterable[str] = ()) -> list[dict[str, Any]]:
        try:
            with open_regular(self.path / name) as file:
                lines = [json.loads(line) for line in file]
        except (OSError, ValueError) as reason:
            raise InvalidInput(f"Cannot read {self.path / name} ({reason}): simulate again.") from None
        if not lines or not all(
            isinstance(line, dict) and line.keys() | set(optional) == set(fields) for line in lines
        ):
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
        return Trace(
            topic=row.topic,
            strategy=row.strategy,
            seed=row.seed,
            pages=self._page_ids(table["url"].combine_chunks(), page_of),
            relevance=table["relevance"].to_numpy(),
            cpu_us=table["cpu_us"].to_numpy().astype(np.float64),
        )

    def _page_ids(self, urls: Any, page_of: dict[str, int]) -> IntArray:
        names = urls.dictionary.to_pylist()
        for name in names:
            if name not in page_of:
                page = self.web.page_of(name)
                if page is None:
                    raise InvalidInput(f"{self.path}: {name} is not in the recorded web: simulate again.")
                page_of[name] = page
        ids: IntArray = np.array([page_of[name] for name in names], dtype=np.int32)[urls.indices.to_numpy()]
        return ids


def read_about(folder: Path) -> dict[str, Any]:
    """The content of `run.json`; InvalidInput if the folder is not a run, or of a version that cannot be read."""
    about = ResultFolder.open(folder, kind="run").about
    if isinstance(about.get("settings"), dict):
        about["settings"] = with_new_names(about["settings"])
    return {"relevance_models" if name == "guides" else name: value for name, value in about.items()}


def web_path(folder: Path, absolute: str, from_here: str) -> Path:
    """Where the web of a result folder is: both may have been moved together."""
    beside = folder / from_here
    return beside if beside.is_dir() and not Path(absolute).is_dir() else Path(absolute)


def write_run(
    folder: ResultFolder, experiment: Experiment, web: RecordedWeb, starts: Iterable[Start], runs: Iterable[Run]
) -> None:
    """Write everything into a new folder; `runs` are consumed one by one."""
    path = folder.path
    write_topics(path / "topics.jsonl", experiment.topics)
    with (path / "starts.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(_start_line(start, web)) + "\n" for start in starts)
    with (path / "crawls.jsonl").open("w", encoding="utf-8") as lines:
        _write_traces(path / "traces.parquet", web, _logged(runs, lines))
    folder.write_json(RUN_FILE, _about(experiment, web, path))


def _about(experiment: Experiment, web: RecordedWeb, folder: Path) -> dict[str, Any]:
    path = web.crawl or experiment.web.resolve()
    settings = asdict(experiment) | {"web": path}
    del settings["topics"], settings["other_topics"]
    return {
        "scenthound": version("scenthound"),
        "web_fingerprint": web.fingerprint,
        # Still valid when run and web are moved together.
        "web_from_here": os.path.relpath(path, folder.resolve()),
        "settings": settings,
        "relevance_models": experiment.relevance_models(),
    }


def _start_line(start: Start, web: RecordedWeb) -> dict[str, Any]:
    pages = {name: [web.url(page) for page in getattr(start, name)] for name in START_PAGES}
    return {"topic": start.topic, "seed": start.seed, **pages}


def _logged(runs: Iterable[Run], lines: IO[str]) -> Iterator[Run]:
    for done in runs:
        lines.write(json.dumps(asdict(_crawl_row(done))) + "\n")
        yield done


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


def _write_traces(file: Path, web: RecordedWeb, runs: Iterable[Run]) -> None:
    pq = require_parquet()
    import pyarrow as pa

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
            zeros = np.zeros(n_pages, dtype=np.int32)
            columns = [
                pa.DictionaryArray.from_arrays(zeros, [done.start.topic]),
                pa.DictionaryArray.from_arrays(zeros, [done.strategy]),
                np.full(n_pages, done.start.seed, dtype=np.int32),
                np.arange(1, n_pages + 1, dtype=np.int32),
                pa.DictionaryArray.from_arrays(index.astype(np.int32), [web.url(page) for page in pages.tolist()]),
                done.crawl.relevance,
                done.crawl.cpu_us.astype(np.float32),
                pa.nulls(n_pages, pa.float64()) if done.crawl.time_s is None else done.crawl.time_s,
            ]
            if n_pages:
                # One row group for each crawl, which is how they are read again.
                writer.write_table(pa.table(columns, schema=schema), row_group_size=n_pages)


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
    n_compiled: int  #: crawls by compiled code
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
    counts: Counter[str] = Counter()
    rows: list[CrawlRow] = []

    def counted(done: Run) -> Run:
        n_pages = len(done.crawl.pages)
        counts.update(n_crawls=1, n_pages=n_pages, n_not_recorded=done.crawl.n_missing)
        counts.update(n_ended_early=n_pages < experiment.page_budget, n_compiled=done.crawl.is_compiled)
        rows.append(_crawl_row(done))
        return done

    with ResultFolder.create(out, kind="run", force=force) as folder:
        runs = run(experiment, planned, workers=workers, progress=progress)
        write_run(folder, experiment, recorded, [start for _, start in planned], map(counted, runs))
    starts = setup.starts(recorded)
    return Simulation(
        out=out,
        experiment=experiment,
        skipped_topics=dict(chosen.skipped),
        missing=tuple(url for topic in chosen.topics for url in starts.missing(topic)),
        pages_wanted=setup.page_budget,
        ends=crawl_ends(rows, experiment.page_budget),
        **counts,
    )
