"""Writes the folder that an experiment leaves; `run_folder` tells what is in it and reads it."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np

from scenthound.lab.experiment import Experiment, Run
from scenthound.lab.run_folder import FORMAT, RUN_FILE, START_PAGES, VERSION, CrawlNote, require_parquet
from scenthound.lab.starts import Start
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import write_topics


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
        "guides": experiment.guides(),
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
