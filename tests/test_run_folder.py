"""The folder of a run: it gives back what was crawled, and nothing half done or damaged passes for one."""

import json
import re
from pathlib import Path

import pytest

from ring_web import N, experiment, runs, simulated, topic, url
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName
from scenthound.experiments.evaluate import chosen_metrics, evaluate
from scenthound.experiments.runs import RunFolder
from scenthound.reasons import EndReason
from scenthound.store.record import record
from scenthound.topics.files import write_topics


def test_a_run_folder_survives_a_round_trip(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    traces = list(folder.traces())
    expected = runs(experiment(web_path, topics=(topic("balloon"), topic("train")), repeats=2), web_path)
    assert [trace.pages.tolist() for trace in traces] == [each.crawl.pages.tolist() for each in expected]
    assert [trace.relevance.tolist() for trace in traces] == [each.crawl.relevance.tolist() for each in expected]
    assert [(t.topic, t.strategy, t.seed) for t in traces] == [
        (e.start.topic, e.strategy, e.start.seed) for e in expected
    ]
    assert folder.starts() == [each.start for each in expected[::2]]
    assert {crawl.ended for crawl in folder.crawls()} == {EndReason.BUDGET}


def test_a_run_folder_has_the_training_pages(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run", relevance="svm", n_train=2, n_start=3)
    folder = RunFolder.open(tmp_path / "run")
    settings = experiment(
        web_path, topics=(topic("balloon"), topic("train")), repeats=2, relevance="svm", n_train=2, n_start=3
    )
    starts = folder.starts()
    assert starts == [each.start for each in runs(settings, web_path)[::2]]
    assert all(len(start.training) == 5 and len(start.negatives) == 10 for start in starts)
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    kept = {key: about["settings"][key] for key in ("relevance", "n_train", "as_published", "train_from")}
    assert kept == {"relevance": "svm", "n_train": 2, "as_published": False, "train_from": None}
    assert about["relevance_models"] == {"breadth_first": "svm", "best_first": "svm"}


def test_a_run_folder_names_the_training_folder_and_the_relevance_models(web_path, tmp_path):
    for kind, text in (("positive", "balloon"), ("negative", "train")):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        (tmp_path / "pages" / kind / "page.txt").write_text(text)
    write_topics(tmp_path / "one.jsonl", [topic("balloon")])
    simulated(web_path, tmp_path / "one.jsonl", tmp_path / "run", train_from=tmp_path / "pages")
    about = json.loads((tmp_path / "run" / "run.json").read_text())
    assert about["settings"]["train_from"] == str((tmp_path / "pages").resolve())
    assert about["settings"]["relevance"] is None
    assert about["relevance_models"] == {"breadth_first": "rocchio", "best_first": "rocchio"}


def test_traces_are_a_table_that_other_programs_can_read(web_path, topics_file, tmp_path):
    import pyarrow.parquet as pq

    simulated(web_path, topics_file, tmp_path / "run")
    table = pq.read_table(tmp_path / "run" / "traces.parquet")
    assert table.column_names == ["topic", "strategy", "seed", "step", "url", "relevance", "cpu_us", "time_s"]
    assert table.num_rows == 2 * 2 * 2 * 20
    first = table.slice(0, 20).to_pydict()
    assert first["step"] == list(range(1, 21))
    assert set(first["topic"]) == {"balloon"}
    assert all(address.startswith("http://w.test/") for address in first["url"])
    assert set(first["time_s"]) == {None}


def test_a_polite_run_has_the_time_of_each_visit_and_its_running_time(web_path, topics_file, tmp_path):
    import pyarrow.parquet as pq

    simulated(web_path, topics_file, tmp_path / "run", mode="polite:delay_s=2,workers=30", plain=True)
    table = pq.read_table(tmp_path / "run" / "traces.parquet")
    # All pages are on one host, so a page comes every 2.5 seconds, whatever the number of workers.
    assert table["time_s"].to_pylist() == [0.5 + 2.5 * step for step in range(20)] * 8
    folder = RunFolder.open(tmp_path / "run")
    assert folder.mode == "polite:delay_s=2.0"
    assert [note.running_s for note in folder.crawls()] == [48.0] * 8
    assert [len(trace) for trace in folder.traces()] == [20] * 8
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert (settings["mode"], settings["plain"]) == ("polite:delay_s=2.0", True)


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"strategies": ["best_frist"]}, UnknownName, "'best_first'"),
        ({"strategies": []}, InvalidParameter, "scenthound strategies"),
        ({"page_budget": 0}, InvalidParameter, r"pages\b.* 0\b"),
        ({"task": "example"}, UnknownName, "'examples'"),
        ({"mode": "ruolette"}, UnknownName, "'roulette'"),
        ({"mode": "polite:workers=0"}, InvalidParameter, "workers=0 "),
    ],
)
def test_a_run_that_cannot_start_leaves_nothing(web_path, topics_file, tmp_path, settings, error, says):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(error, match=says):
        simulated(web_path, topics_file, tmp_path / "run", **settings)
    assert sorted(tmp_path.iterdir()) == before


def test_an_interrupted_run_leaves_nothing(web_path, topics_file, tmp_path):
    def stop(share: float, words: str) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        simulated(web_path, topics_file, tmp_path / "run", progress=stop)
    assert sorted(tmp_path.iterdir()) == before


def test_only_a_run_is_replaced_and_only_with_force(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    with pytest.raises(InvalidInput, match="--force"):
        simulated(web_path, topics_file, tmp_path / "run")
    simulated(web_path, topics_file, tmp_path / "run", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidInput, match="mine "):
        simulated(web_path, topics_file, tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_run_opens_only_with_its_own_web(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    (tmp_path / "other.jsonl").write_text(json.dumps({"url": url(0), "html": "<p>other"}) + "\n")
    record([tmp_path / "other.jsonl"], tmp_path / "other", workers=1)
    with pytest.raises(InvalidInput, match=r"run .*other: .*--web"):
        RunFolder.open(tmp_path / "run", tmp_path / "other")


@pytest.mark.parametrize("content", [None, "{}", "no json", "[]"])
def test_a_folder_that_is_not_a_run_raises(tmp_path: Path, content):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(InvalidInput, match=re.escape(str(tmp_path))):
        RunFolder.open(tmp_path)


def test_a_run_can_be_moved_together_with_its_web(web_path, topics_file, tmp_path):
    import shutil

    shutil.copytree(web_path, tmp_path / "here" / "web")
    simulated(tmp_path / "here" / "web", topics_file, tmp_path / "here" / "run")
    (tmp_path / "here").rename(tmp_path / "there")
    assert RunFolder.open(tmp_path / "there" / "run").web.n_pages == N


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("run.json", '{"format": "scenthound run", "version": 1}'),
        ("run.json", '{"format": "scenthound run", "version": 1, "settings": []}'),
        ("starts.jsonl", "{}\n"),
        ("starts.jsonl", ""),
        ("starts.jsonl", '{"topic": "balloon", "seed": 0, "seeds": [], "training": [], "negatives": []}\n'),
        ("starts.jsonl", '{"topic": "balloon", "seed": 0, "seeds": [], "targets": [], "other": []}\n'),
        ("crawls.jsonl", "[]\n"),
        ("crawls.jsonl", "no json\n"),
        ("traces.parquet", "PAR1"),
        ("topics.jsonl", '{"id": "other", "keywords": ["other"]}\n'),
    ],
)
def test_a_damaged_run_raises(web_path, topics_file, tmp_path, file, content):
    simulated(web_path, topics_file, tmp_path / "run")
    (tmp_path / "run" / file).write_text(content)
    with pytest.raises(InvalidInput) as refused:
        evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics()[0])
    assert "\n" not in str(refused.value)
