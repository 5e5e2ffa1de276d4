"""The folder that an experiment leaves: traces, what each crawl started from, and all that is needed to repeat it.

traces.parquet   topic, strategy, seed, step, url, relevance, cpu_us: one row per page got
crawls.jsonl     one line per crawl: why it ended, pages got, pages the recording lacked
starts.jsonl     one line per topic and seed: seeds and targets
topics.jsonl     the topics as they were
run.json         settings, versions, and the web with its fingerprint
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.errors import BadInput, MissingExtra
from scenthound.lab.experiment import Experiment, Run
from scenthound.lab.starts import Start, Task
from scenthound.model import IntArray, Topic, Trace
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import read_topics, write_topics

FORMAT = "scenthound run"
VERSION = 1
RUN_FILE = "run.json"


def parquet() -> Any:
    """pyarrow's Parquet module, or a word on how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra.named("lab", "Reading and writing traces") from None
    return pyarrow.parquet


def write_run(
    folder: Path, experiment: Experiment, web: RecordedWeb, starts: Iterable[Start], runs: Iterable[Run]
) -> None:
    """Write everything into an existing, empty folder; `runs` is consumed as it comes."""
    write_topics(folder / "topics.jsonl", experiment.topics)
    with (folder / "starts.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(_start_line(start, web)) + "\n" for start in starts)
    with (folder / "crawls.jsonl").open("w", encoding="utf-8") as lines:
        _write_traces(folder / "traces.parquet", web, _noting(runs, lines))
    (folder / RUN_FILE).write_text(json.dumps(_settings(experiment, web), indent=2) + "\n", encoding="utf-8")


def _settings(experiment: Experiment, web: RecordedWeb) -> dict[str, Any]:
    settings = asdict(experiment)
    del settings["topics"]
    settings["web"] = str(experiment.web.resolve())
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenthound": version("scenthound"),
        "web_fingerprint": web.fingerprint,
        "settings": settings,
    }


def _start_line(start: Start, web: RecordedWeb) -> dict[str, Any]:
    return {
        "topic": start.topic,
        "seed": start.seed,
        "seeds": [web.url(page) for page in start.seeds],
        "targets": [web.url(page) for page in start.targets],
    }


def _noting(runs: Iterable[Run], lines: Any) -> Iterator[Run]:
    for run in runs:
        crawl = run.crawl
        note = {
            "topic": run.start.topic,
            "strategy": run.strategy,
            "seed": run.start.seed,
            "pages": len(crawl.pages),
            "ended": crawl.ended.value,
            "not_recorded": crawl.n_missing,
            "repeated": crawl.n_repeated,
        }
        lines.write(json.dumps(note) + "\n")
        yield run


def _write_traces(file: Path, web: RecordedWeb, runs: Iterable[Run]) -> None:
    pq = parquet()
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
            ]
            writer.write_table(pa.table(columns, schema=schema))


class RunFolder:
    """A finished experiment on disk, with the web it ran on."""

    def __init__(self, path: str | Path, web: str | Path | None = None) -> None:
        self.path = Path(path)
        about = self._about()
        self.settings: dict[str, Any] = about["settings"]
        self.page_budget: int = self.settings["page_budget"]
        self.strategies: list[str] = list(self.settings["strategies"])
        self.task = Task(self.settings["task"])
        self.web = RecordedWeb.open(web or self.settings["web"])
        if self.web.fingerprint != about["web_fingerprint"]:
            raise BadInput(
                f"{self.path} ran on another recording than {web or self.settings['web']} holds now; "
                "name the right one with --web, or simulate again."
            )

    def _about(self) -> dict[str, Any]:
        file = self.path / RUN_FILE
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            about = None
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise BadInput(f"{self.path} is not the folder of an experiment. Make one with `scenthound simulate`.")
        if about.get("version") != VERSION:
            raise BadInput(f"{self.path} was written by another version of Scenthound; simulate again.")
        return about

    def topics(self) -> list[Topic]:
        return read_topics(self.path / "topics.jsonl")

    def _lines(self, name: str) -> list[dict[str, Any]]:
        try:
            with (self.path / name).open(encoding="utf-8") as lines:
                return [json.loads(line) for line in lines]
        except (OSError, ValueError) as reason:
            raise BadInput(f"{self.path / name} cannot be read ({reason}); simulate again.") from None

    def crawls(self) -> list[dict[str, Any]]:
        """What `crawls.jsonl` says of each crawl."""
        return self._lines("crawls.jsonl")

    def starts(self) -> list[Start]:
        return [
            Start(line["topic"], line["seed"], self._pages(line["seeds"]), self._pages(line["targets"]))
            for line in self._lines("starts.jsonl")
        ]

    def _pages(self, urls: Iterable[str]) -> tuple[int, ...]:
        found = (self.web.page_of(url) for url in urls)
        return tuple(page for page in found if page is not None)

    def traces(self) -> Iterator[Trace]:
        """Every crawl that got a page, in the order written."""
        file = self.path / "traces.parquet"
        page_of: dict[str, int] = {}
        try:
            with parquet().ParquetFile(file) as traces:
                for group in range(traces.num_row_groups):
                    table = traces.read_row_group(group)
                    if table.num_rows:
                        yield self._trace(table, page_of)
        except (OSError, ValueError) as reason:
            raise BadInput(f"{file} cannot be read ({reason}); simulate again.") from None

    def _trace(self, table: Any, page_of: dict[str, int]) -> Trace:
        return Trace(
            topic=table["topic"][0].as_py(),
            strategy=table["strategy"][0].as_py(),
            seed=table["seed"][0].as_py(),
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
                    raise BadInput(f"{self.path}: {name} is not in the recorded web; simulate again.")
                page_of[name] = page
        ids: IntArray = np.array([page_of[name] for name in names], dtype=np.int32)[urls.indices.to_numpy()]
        return ids


def is_run_folder(path: Path) -> bool:
    """Whether a folder is the leavings of an experiment, and so may be replaced when told to."""
    try:
        return bool(json.loads((path / RUN_FILE).read_text(encoding="utf-8"))["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError):
        return False
