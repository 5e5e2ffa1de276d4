"""DuckDB and polars query exports of a crawl and of a run, in an environment without Scenthound."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from corpus_crawls import ENGLISH, GERMAN, crawl_of, page
from environments import ANALYSIS, environment
from ring_web import simulated, topic
from scenthound.corpus.export import export
from scenthound.experiments.runs import RunFolder
from scenthound.topics.files import write_topics

#: Prints a line of JSON for each query: `read` of polars, and SQL of DuckDB, on the files in the current folder.
QUERIES = """
import json, importlib.util
import duckdb, polars

assert importlib.util.find_spec("scenthound") is None

def show(frame):
    print(json.dumps(frame.to_dicts(), default=str))

def sql(query):
    found = duckdb.sql(query)
    print(json.dumps([dict(zip(found.columns, row)) for row in found.fetchall()], default=str))

show(polars.read_ndjson("balloons.jsonl"))
show(polars.read_parquet("balloons.parquet"))
sql("SELECT * FROM 'balloons.jsonl' ORDER BY metadata.visit")
sql("SELECT * FROM 'balloons.parquet' ORDER BY metadata.visit")
sql("SELECT language, count(*) FROM 'balloons.parquet' GROUP BY language ORDER BY language")
sql("SELECT count(*) AS n FROM 'balloons.jsonl.zst'")
by_language = polars.scan_parquet("balloons.parquet").group_by("language").agg(polars.len(), polars.sum("n_words"))
show(by_language.sort("language").collect())
sql("SELECT strategy, count(*) AS visits, avg(relevance) AS harvest FROM 'run/traces.parquet' "
    "WHERE step > 10 GROUP BY strategy ORDER BY strategy")
traces = polars.scan_parquet("run/traces.parquet").filter(polars.col("step") > 10)
show(traces.group_by(polars.col("strategy").cast(str)).agg(polars.mean("relevance")).sort("strategy").collect())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def documents(folder: Path) -> list[dict[str, Any]]:
    """The documents of a crawl, exported as balloons.*."""
    bodies = [page(2 * ENGLISH, "Balloons"), page(2 * GERMAN, "Ballone"), page(2 * ENGLISH, "Copy")]
    crawl = crawl_of(folder / "crawl", bodies)
    for kind, suffix in (("jsonl", "jsonl"), ("jsonl", "jsonl.zst"), ("parquet", "parquet")):
        export(crawl, kind, folder / f"balloons.{suffix}")
    return [json.loads(line) for line in (folder / "balloons.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def harvest(folder: Path, web_path: Path) -> dict[str, float]:
    """The mean relevance of the pages after the tenth, for each strategy of a run."""
    write_topics(folder / "topics.jsonl", [topic("balloon"), topic("train")])
    simulated(web_path, folder / "topics.jsonl", folder / "run")
    found: dict[str, list[float]] = {}
    for trace in RunFolder.open(folder / "run").traces():
        found.setdefault(trace.strategy, []).extend(trace.relevance[10:].tolist())
    return {strategy: sum(values) / len(values) for strategy, values in sorted(found.items())}


@pytest.fixture(scope="module")
def answers(folder: Path, documents: list[dict[str, Any]], harvest: dict[str, float]) -> list[list[dict[str, Any]]]:
    assert documents
    assert harvest
    python = environment(*ANALYSIS) / "bin" / "python"
    command = [str(python), "-W", "error", "-c", QUERIES]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_duckdb_and_polars_read_every_value(
    answers: list[list[dict[str, Any]]], documents: list[dict[str, Any]]
) -> None:
    expected = [comparable(row) for row in documents]
    assert [row["language"] for row in expected] == ["en", "de", "en"]
    assert expected[2]["duplicate_of"] == expected[0]["url"]
    for rows in answers[:4]:
        assert [comparable(row) for row in rows] == expected


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row without the differences between JSON and typed columns: times have types there, null fields are kept, and
    DuckDB has ids that look like one as UUID."""
    values = {name: value for name, value in row.items() if name not in ("fetched", "published", "metadata")}
    known = {name: value for name, value in row["metadata"].items() if value is not None}
    times = {name: (row[name] or "").replace("T", " ")[:10] for name in ("fetched", "published")}
    return {**values, **times, "metadata": {name: value for name, value in known.items() if "time" not in name}}


def test_duckdb_and_polars_aggregate_documents(
    answers: list[list[dict[str, Any]]], documents: list[dict[str, Any]]
) -> None:
    by_language, compressed, lazy = answers[4:7]
    assert by_language == [{"language": "de", "count_star()": 1}, {"language": "en", "count_star()": 2}]
    assert compressed == [{"n": 3}]
    words = {"de": documents[1]["n_words"], "en": documents[0]["n_words"] + documents[2]["n_words"]}
    assert lazy == [{"language": name, "len": n, "n_words": words[name]} for name, n in (("de", 1), ("en", 2))]


def test_duckdb_and_polars_aggregate_the_traces_of_a_run(
    answers: list[list[dict[str, Any]]], harvest: dict[str, float]
) -> None:
    sql, lazy = answers[7:]
    assert [row["visits"] for row in sql] == [40, 40]
    assert harvest["best_first"] != harvest["breadth_first"]
    assert {row["strategy"]: row["harvest"] for row in sql} == pytest.approx(harvest)
    assert {row["strategy"]: row["relevance"] for row in lazy} == pytest.approx(harvest)
