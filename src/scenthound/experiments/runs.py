"""The folder that an experiment leaves: traces, what each crawl started from, and all that is needed to repeat it.

traces.parquet   topic, strategy, seed, step, url, relevance, cpu_us, time_s: one row per page got
crawls.jsonl     one line per crawl: why it ended, pages got, pages the recording lacked, its simulated running time
starts.jsonl     one line per topic and seed: seeds, targets, and the pages that guides and judges may learn from
topics.jsonl     the topics as they were
run.json         settings, the guide of each strategy, versions, and the web with its fingerprint

CPU time that was not measured is not-a-number. The simulated moment of a visit, and the running time, which is that of
the last visit, are null in modes without a clock.

Folders from before guides could train say nothing of training; nobody trained in them. Those from before there were
modes say nothing of time; they are sequential.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np

from scenthound.errors import InvalidInput, MissingExtra
from scenthound.experiments.pipeline import Run
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start
from scenthound.files import open_regular
from scenthound.model import IntArray, Topic, Trace
from scenthound.simulator.modes import SEQUENTIAL
from scenthound.store.crawl_web import open_web
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics, write_topics

FORMAT = "scenthound run"
VERSION = 1
RUN_FILE = "run.json"
#: The lists of pages in a line of starts.jsonl, in the order of `Start`; the later ones may be missing.
START_PAGES = ("seeds", "targets", "training", "negatives", "judging", "judging_negatives")
LATER_START_PAGES = START_PAGES[2:]
#: What a line of crawls.jsonl may lack.
LATER_CRAWL_FIELDS = ("running_s",)


def require_parquet() -> Any:
    """pyarrow's Parquet module, or a word on how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("lab", "Reading and writing traces") from None
    return pyarrow.parquet


@dataclass(frozen=True, slots=True)
class CrawlNote:
    """What a run folder says of one crawl, beside its trace."""

    topic: str
    strategy: str
    seed: int
    pages: int
    ended: str
    not_recorded: int
    repeated: int
    running_s: float | None = None  #: in simulated time


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
        """`web` is where the recorded web is now, if it was moved away from the run."""
        folder = Path(path)
        about = read_about(folder)
        try:
            settings = about["settings"]
            place = Path(web) if web else _place_of_web(folder, settings["web"], about["web_from_here"])
            if not place.is_dir():
                raise InvalidInput(
                    f"The recorded web that {folder} ran on is not at {place}; name its place with --web."
                )
            opened = cls(
                folder,
                open_web(place),
                int(settings["page_budget"]),
                list(settings["strategies"]),
                str(settings.get("mode", SEQUENTIAL)),
            )
            fingerprint = about["web_fingerprint"]
        except (KeyError, TypeError, ValueError):
            raise InvalidInput(f"{folder / RUN_FILE} is damaged; simulate again.") from None
        if opened.web.fingerprint != fingerprint:
            raise InvalidInput(
                f"{folder} ran on another recording than {place} holds now; "
                "name the right one with --web, or simulate again."
            )
        return opened

    def topics(self) -> list[Topic]:
        return read_topics(self.path / "topics.jsonl")

    def crawls(self) -> list[CrawlNote]:
        return [CrawlNote(**line) for line in self._lines("crawls.jsonl", CrawlNote.__slots__, LATER_CRAWL_FIELDS)]

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
            raise InvalidInput(f"{self.path / name} cannot be read ({reason}); simulate again.") from None
        if not lines or not all(
            isinstance(line, dict) and line.keys() | set(optional) == set(fields) for line in lines
        ):
            raise InvalidInput(f"{self.path / name} is damaged; simulate again.")
        return lines

    def _pages(self, urls: Iterable[str]) -> tuple[int, ...]:
        found = (self.web.page_of(url) for url in urls)
        return tuple(page for page in found if page is not None)

    def traces(self) -> Iterator[Trace]:
        """Every crawl, in the order written; one that got no page has an empty trace."""
        file = self.path / "traces.parquet"
        page_of: dict[str, int] = {}
        group = 0
        try:
            with require_parquet().ParquetFile(file) as traces:
                for note in self.crawls():
                    if note.pages:
                        yield self._trace(note, traces.read_row_group(group), page_of)
                        group += 1
                    else:
                        yield Trace(note.topic, note.strategy, note.seed, np.zeros(0, np.int32), np.zeros(0))
        except (OSError, ValueError, LookupError) as reason:
            raise InvalidInput(f"{file} cannot be read ({reason}); simulate again.") from None

    def _trace(self, note: CrawlNote, table: Any, page_of: dict[str, int]) -> Trace:
        whose = (table["topic"][0].as_py(), table["strategy"][0].as_py(), table["seed"][0].as_py(), table.num_rows)
        if whose != (note.topic, note.strategy, note.seed, note.pages):
            raise InvalidInput(f"{self.path}: traces.parquet and crawls.jsonl are not of one run; simulate again.")
        return Trace(
            topic=note.topic,
            strategy=note.strategy,
            seed=note.seed,
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
                    raise InvalidInput(f"{self.path}: {name} is not in the recorded web; simulate again.")
                page_of[name] = page
        ids: IntArray = np.array([page_of[name] for name in names], dtype=np.int32)[urls.indices.to_numpy()]
        return ids


def read_about(folder: Path) -> dict[str, Any]:
    """What `run.json` says; BadInput if the folder is no run, or one of another version."""
    try:
        about = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        about = None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InvalidInput(f"{folder} is not the folder of an experiment. Make one with `scenthound simulate`.")
    if about.get("version") != VERSION:
        raise InvalidInput(f"{folder} was written by another version of Scenthound; simulate again.")
    return about


def _place_of_web(folder: Path, absolute: str, from_here: str) -> Path:
    beside = folder / from_here
    return beside if beside.is_dir() and not Path(absolute).is_dir() else Path(absolute)


def is_run_folder(folder: Path) -> bool:
    """Whether a folder is the leavings of an experiment, and so may be replaced when told to."""
    try:
        read_about(folder)
    except InvalidInput:
        return False
    return True


# Writes the folder that an experiment leaves; `run_folder` tells what is in it and reads it.


def write_run(
    folder: Path, experiment: Experiment, web: RecordedWeb, starts: Iterable[Start], runs: Iterable[Run]
) -> None:
    """Write everything into an existing, empty folder; `runs` is consumed as it comes."""
    write_topics(folder / "topics.jsonl", experiment.topics)
    with (folder / "starts.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(_start_line(start, web)) + "\n" for start in starts)
    with (folder / "crawls.jsonl").open("w", encoding="utf-8") as lines:
        _write_traces(folder / "traces.parquet", web, _noting(runs, lines))
    about = json.dumps(_about(experiment, web, folder), indent=2) + "\n"
    (folder / RUN_FILE).write_text(about, encoding="utf-8")


def _about(experiment: Experiment, web: RecordedWeb, folder: Path) -> dict[str, Any]:
    settings = asdict(experiment)
    del settings["topics"], settings["other_topics"]
    settings["web"] = str(experiment.web.resolve())
    settings["train_from"] = None if experiment.train_from is None else str(experiment.train_from.resolve())
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenthound": version("scenthound"),
        "web_fingerprint": web.fingerprint,
        # Found again when run and web are moved together.
        "web_from_here": os.path.relpath(experiment.web.resolve(), folder.resolve()),
        "settings": settings,
        "relevance_models": experiment.relevance_models(),
    }


def _start_line(start: Start, web: RecordedWeb) -> dict[str, Any]:
    pages = {name: [web.url(page) for page in getattr(start, name)] for name in START_PAGES}
    return {"topic": start.topic, "seed": start.seed, **pages}


def _noting(runs: Iterable[Run], lines: IO[str]) -> Iterator[Run]:
    for run in runs:
        crawl = run.crawl
        note = CrawlNote(
            topic=run.start.topic,
            strategy=run.strategy,
            seed=run.start.seed,
            pages=len(crawl.pages),
            ended=crawl.ended.value,
            not_recorded=crawl.n_missing,
            repeated=crawl.n_repeated,
            running_s=None if crawl.time_s is None else float(crawl.time_s[-1]),
        )
        lines.write(json.dumps(asdict(note)) + "\n")
        yield run


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
        for run in runs:
            n_pages = len(run.crawl.pages)
            pages, place = np.unique(run.crawl.pages, return_inverse=True)
            zeros = np.zeros(n_pages, dtype=np.int32)
            columns = [
                pa.DictionaryArray.from_arrays(zeros, [run.start.topic]),
                pa.DictionaryArray.from_arrays(zeros, [run.strategy]),
                np.full(n_pages, run.start.seed, dtype=np.int32),
                np.arange(1, n_pages + 1, dtype=np.int32),
                pa.DictionaryArray.from_arrays(place.astype(np.int32), [web.url(page) for page in pages.tolist()]),
                run.crawl.relevance,
                run.crawl.cpu_us.astype(np.float32),
                pa.nulls(n_pages, pa.float64()) if run.crawl.time_s is None else run.crawl.time_s,
            ]
            if n_pages:
                # One row group for each crawl, which is how they are read again.
                writer.write_table(pa.table(columns, schema=schema), row_group_size=n_pages)
