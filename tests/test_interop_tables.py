"""DuckDB and polars query exports of a crawl and of a run, in an environment without Scenthound."""

import json
import re
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

pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[1] / "docs"

#: Prints a line of JSON for each table: what polars reads, what DuckDB selects, and what the examples select.
READING = """
import json, importlib.util, sys
import duckdb, polars

assert importlib.util.find_spec("scenthound") is None

def show(rows):
    json.dump(rows, sys.stdout, default=str)
    print()

def sql(query):
    found = duckdb.sql(query)
    show([dict(zip(found.columns, row)) for row in found.fetchall()])

show(polars.read_ndjson("balloons.jsonl").to_dicts())
show(polars.read_parquet("balloons.parquet").to_dicts())
for file in ("balloons.jsonl", "balloons.jsonl.zst", "balloons.parquet"):
    sql(f"SELECT * FROM '{file}' ORDER BY metadata.visit")
for query in json.loads(sys.argv[1]):
    sql(query)
exec(sys.argv[2], {"print": lambda frame: show(frame.to_dicts())})
"""


def examples(document: str, language: str) -> list[str]:
    """The code blocks of a document."""
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / document).read_text("utf-8"), re.DOTALL)


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
    queries = [*examples("corpus.md", "sql"), *examples("interoperability.md", "sql")]
    (script,) = [text for text in examples("interoperability.md", "python") if "import polars" in text]
    command = [str(python), "-W", "error", "-c", READING, json.dumps(queries), script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_duckdb_and_polars_read_every_value(
    answers: list[list[dict[str, Any]]], documents: list[dict[str, Any]]
) -> None:
    expected = [comparable(row) for row in documents]
    assert [row["language"] for row in expected] == ["en", "de", "en"]
    assert expected[2]["duplicate_of"] == expected[0]["url"]
    for rows in answers[:5]:
        assert [comparable(row) for row in rows] == expected


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    """A row without the differences between JSON and typed columns: times have types there, null fields are kept, and
    DuckDB has ids that look like one as UUID."""
    values = {name: value for name, value in row.items() if name not in ("fetched", "published", "metadata")}
    known = {name: value for name, value in row["metadata"].items() if value is not None}
    times = {name: (row[name] or "").replace("T", " ")[:10] for name in ("fetched", "published")}
    return {**values, **times, "metadata": {name: value for name, value in known.items() if "time" not in name}}


def test_the_examples_count_documents(answers: list[list[dict[str, Any]]], documents: list[dict[str, Any]]) -> None:
    by_language, sums, _, lazy, _ = answers[5:]
    assert by_language == [{"language": "de", "count_star()": 1}, {"language": "en", "count_star()": 2}]
    # The third document is a duplicate.
    words = {"de": documents[1]["n_words"], "en": documents[0]["n_words"]}
    assert sums == [{"language": name, "documents": 1, "words": words[name]} for name in ("de", "en")]
    assert lazy == [{"language": name, "len": 1, "n_words": words[name]} for name in ("de", "en")]


def test_the_examples_average_the_traces_of_a_run(
    answers: list[list[dict[str, Any]]], harvest: dict[str, float]
) -> None:
    _, _, traces, _, lazy = answers[5:]
    assert [row["visits"] for row in traces] == [40, 40]
    assert harvest["best_first"] != harvest["breadth_first"]
    for rows in (traces, lazy):
        assert {row["strategy"]: row["relevance"] for row in rows} == pytest.approx(harvest)
