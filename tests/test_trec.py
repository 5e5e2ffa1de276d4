"""Runs in TREC format: rankings in the order of the visits, and the pages that each metric counts as relevant."""

import json
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

import scenthound as sh
from ring_web import N, simulated, topic, url
from scenthound.errors import CorruptData, InvalidInput, UnknownName, UsageError
from scenthound.experiments import trec
from scenthound.experiments.ground_truth import TopicGroundTruth
from scenthound.experiments.runs import RunFolder
from scenthound.model import Trace
from scenthound.topics.files import write_topics
from stored_crawls import small_crawl

QRELS = ["precision.qrels", "recall.qrels", "target_recall.qrels"]


@pytest.fixture
def run(web_path, topics_file, tmp_path):
    """Two topics, two strategies, two repeats."""
    simulated(web_path, topics_file, tmp_path / "run")
    return tmp_path / "run"


def fields(file: Path) -> list[list[str]]:
    return [line.split(" ") for line in file.read_text("ascii").splitlines()]


def test_a_ranking_is_the_order_of_the_visits(run, tmp_path):
    summary = sh.export(run, "trec", tmp_path / "trec")
    assert summary.runs == {"breadth_first.run": "breadth_first", "best_first.run": "best_first"}
    assert (summary.n_crawls, summary.written, summary.n_starts, summary.n_empty) == (8, 8 * 20, 4, 0)
    opened = RunFolder.open(run)
    for file, strategy in summary.runs.items():
        expected = [
            [f"{t.topic}.{t.seed}", "Q0", opened.web.url(page), str(rank), str(len(t) - rank + 1), strategy]
            for t in opened.traces()
            if t.strategy == strategy
            for rank, page in enumerate(t.pages.tolist(), 1)
        ]
        assert fields(tmp_path / "trec" / file) == expected


def test_judgements_are_the_pages_that_the_metrics_count(run, tmp_path):
    summary = sh.open_run(run).export("trec", tmp_path / "trec")
    opened = RunFolder.open(run)
    truths = {known.id: TopicGroundTruth(opened.web, known, ()) for known in opened.topics()}
    expected = {name: [] for name in QRELS}
    for start in opened.starts():
        truth = truths[start.topic].ground_truth(start)
        for name, pages in zip(QRELS, (truth.relevant, truth.to_find, truth.targets), strict=True):
            expected[name] += [[f"{start.topic}.{start.seed}", "0", opened.web.url(page), "1"] for page in pages]
    assert {name: fields(tmp_path / "trec" / name) for name in QRELS} == expected
    assert summary.judged == {name: len(lines) for name, lines in expected.items()}
    # Twenty pages of a topic, ten of which are seeds.
    assert summary.judged == {"precision.qrels": 4 * N // 2, "recall.qrels": 40, "target_recall.qrels": 40}


def test_the_folder_says_what_it_is(run, tmp_path):
    sh.export(run, "trec", tmp_path / "trec")
    about = json.loads((tmp_path / "trec" / "trec.json").read_text())
    assert (about["format"], about["version"], about["page_budget"]) == ("scenthound trec", 1, 20)
    assert {path.name for path in (tmp_path / "trec").iterdir()} == {*QRELS, *about["runs"], "trec.json"}


@pytest.mark.parametrize("text", ["hot air\tballoons", "100%25", "Ballons à air chaud", "\u3000\x00", "a/b"])
def test_topics_and_tags_have_no_white_space_and_can_be_read_back(text):
    field = trec.field_text(text)
    assert field.split() == [field]
    assert field.isascii()
    assert unquote(field) == text


@pytest.mark.parametrize(
    ("address", "docno"),
    [
        ("http://w.test/a%20b?x=%25&y=|;'", "http://w.test/a%20b?x=%25&y=|;'"),
        ("http://w.test/a b", "http://w.test/a%20b"),
        ("http://w.test/\u00fc\u2003", "http://w.test/%C3%BC%E2%80%83"),
    ],
)
def test_a_docno_is_the_url(address, docno):
    assert trec.docno(address) == docno


def test_run_files_of_different_strategies_have_different_names():
    strategies = ["best_n_first:n=16", "evolved:file=a/b.toml", "evolved:file=a%2Fb.toml", ".", "..", "A" * 300]
    strategies.append("A" * 299 + "B")
    names = [trec.file_name(strategy) for strategy in strategies]
    assert names[0] == "best_n_first:n=16"
    assert len({*names}) == len(strategies)
    assert not any("/" in name or name.startswith(".") or len(name) > trec.MAX_NAME_LENGTH for name in names)


def test_a_crawl_with_more_pages_than_scores_is_refused(monkeypatch):
    monkeypatch.setattr(trec, "MAX_PAGES", 2)
    with pytest.raises(InvalidInput, match="--pages"):
        next(trec.run_lines(Trace("t", "s", 0, np.arange(3, dtype=np.int32), np.zeros(3)), None))
    # The scores of the longest crawl are different numbers in single precision.
    assert np.float32(1 << 24) != np.float32((1 << 24) - 1)


def test_starts_without_known_pages_are_counted(web_path, tmp_path, scenthound):
    topics = [topic("balloon"), topic("other", examples=(), keywords=("train",), seeds=(url(0),))]
    write_topics(tmp_path / "topics.jsonl", topics)
    simulated(web_path, tmp_path / "topics.jsonl", tmp_path / "run")
    code, out, _ = scenthound("export", tmp_path / "run", "--to", "trec", "--out", tmp_path / "trec", "--json")
    assert code == 0
    summary = json.loads(out)
    assert summary["unjudged"] == dict.fromkeys(QRELS, 2)
    assert {line[0] for line in fields(tmp_path / "trec" / "precision.qrels")} == {"balloon.0", "balloon.1"}
    assert {line[0] for line in fields(tmp_path / "trec" / "best_first.run")} >= {"other.0", "other.1"}


def test_a_run_without_any_known_page_has_rankings_only(web_path, tmp_path, scenthound):
    write_topics(tmp_path / "topics.jsonl", [topic("other", examples=(), keywords=("train",), seeds=(url(0),))])
    simulated(web_path, tmp_path / "topics.jsonl", tmp_path / "run")
    code, out, _ = scenthound("export", tmp_path / "run", "--to", "trec", "--out", tmp_path / "trec")
    assert code == 0
    assert "precision.qrels" in out
    assert "ir_measures" not in out
    assert {path.suffix for path in (tmp_path / "trec").iterdir()} == {".run", ".json"}


def test_the_command_prints_what_to_do_next(run, tmp_path, scenthound):
    code, out, _ = scenthound("export", run, "--to", "trec", "--out", tmp_path / "the trec")
    assert code == 0
    folder = tmp_path / "the trec"
    assert out.splitlines()[-1].endswith(
        f"ir_measures '{folder}/target_recall.qrels' '{folder}/breadth_first.run' R@20"
    )


def test_an_export_replaces_only_an_export_and_only_with_force(run, tmp_path):
    sh.export(run, "trec", tmp_path / "trec")
    with pytest.raises(InvalidInput, match="force"):
        sh.export(run, "trec", tmp_path / "trec")
    (tmp_path / "trec" / "best_first.run").unlink()
    sh.export(run, "trec", tmp_path / "trec", force=True)
    assert (tmp_path / "trec" / "best_first.run").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(InvalidInput):
        sh.export(run, "trec", tmp_path / "mine", force=True)
    with pytest.raises(UsageError):
        sh.export(run, "trec", run / "trec")


def test_the_wrong_kind_of_folder_is_answered_with_what_to_do(run, tmp_path, scenthound):
    crawl = small_crawl(tmp_path / "crawl")
    for folder, kind, advice in ((crawl, "trec", "scenthound simulate --web"), (run, "jsonl", "--to trec")):
        code, _, err = scenthound("export", folder, "--to", kind, "--out", tmp_path / "new")
        assert (code, len(err.splitlines())) == (2, 1)
        assert advice in err
    assert not (tmp_path / "new").exists()
    with pytest.raises(UnknownName, match="'trec'"):
        sh.export(run, "terc", tmp_path / "trec")
    with pytest.raises(UnknownName, match="'trec'"):
        sh.export(crawl, "trex", tmp_path / "new")


def test_options_of_other_exports_are_refused(run, tmp_path, scenthound):
    crawl = small_crawl(tmp_path / "crawl")
    out = ("--out", tmp_path / "new")
    assert scenthound("export", run, "--to", "trec", *out, "--on-topic")[0] == 2
    assert scenthound("export", run, "--to", "trec", *out, "--html")[0] == 2
    assert scenthound("export", crawl, "--to", "jsonl", *out, "--web", tmp_path)[0] == 2
    assert not (tmp_path / "new").exists()


def test_the_web_of_a_run_can_be_given(run, web_path, tmp_path):
    about = json.loads((run / "run.json").read_text())
    about["settings"]["web"], about["web_from_here"] = "/nowhere", "../nowhere"
    (run / "run.json").write_text(json.dumps(about))
    with pytest.raises(InvalidInput, match="web="):
        sh.export(run, "trec", tmp_path / "trec")
    assert sh.export(run, "trec", tmp_path / "trec", web=web_path).n_crawls == 8


def test_a_run_with_starts_of_unknown_topics_is_corrupt_and_nothing_is_written(run, tmp_path):
    lines = (run / "starts.jsonl").read_text().replace('"topic": "train"', '"topic": "boat"')
    (run / "starts.jsonl").write_text(lines)
    with pytest.raises(CorruptData):
        sh.export(run, "trec", tmp_path / "trec")
    assert not (tmp_path / "trec").exists()
