"""The report of a run: conclusion, significance marks, curves, and the reproduce command."""

import json
import re
from math import nan
from pathlib import Path

import numpy as np
import pytest

from ring_web import simulated, topic
from scenthound.errors import InvalidInput
from scenthound.experiments.closed_world import ClosedWorldReport
from scenthound.experiments.compare.ranking import observations_needed
from scenthound.experiments.evaluate import (
    Evaluation,
    StrategyResult,
    as_json,
    chosen_metrics,
    evaluate,
    read_evaluation,
    write_evaluation,
)
from scenthound.experiments.results import versions
from scenthound.experiments.runs import RunFolder
from scenthound.experiments.statistics import mean_over_topics
from scenthound.topics.files import write_topics
from scenthound.ui.document import CodeBlock
from scenthound.ui.formats import format_versions
from scenthound.ui.html import document_html
from scenthound.ui.reports.run import WORSE, cost_table, evaluation_report, marks_note, metric_table, run_report

ABOUT = {
    "scenthound": "0",
    "web_fingerprint": "f",
    "settings": {
        "web": "webs/school",
        "strategies": ["a", "b"],
        "page_budget": 20,
        "repeats": 1,
        "task": "examples",
        "n_start": 10,
        "relevance": None,
        "closed_world": False,
        "respect_nofollow": True,
    },
}
#: Eight topics.
GOOD = np.array([0.5, 0.6, 0.7, 0.8, 0.5, 0.6, 0.7, 0.8])
SIGNS = np.array([1, -1] * 4)


def result(strategy: str, ends: np.ndarray, metric: str) -> StrategyResult:
    """Half of the value after ten pages, all of it after twenty."""
    steps = np.array([10, 20], np.int32)
    by_topic = np.outer(ends, [0.5, 1.0])
    curve = mean_over_topics(steps, {str(topic): [row] for topic, row in enumerate(by_topic)})
    return StrategyResult(strategy, {metric: curve}, nan, 20, len(ends), by_topic={metric: by_topic})


def evaluated(ends: dict[str, np.ndarray], metric: str = "precision", low: bool = False) -> Evaluation:
    n_topics = len(next(iter(ends.values())))
    return Evaluation(
        page_budget=20,
        checkpoints=(10, 20),
        metrics=(metric,),
        results=tuple(result(name, each, metric) for name, each in ends.items()),
        closed_world=ClosedWorldReport(20, (), ()),
        lower_is_better=frozenset({metric} if low else ()),
        topics=tuple(f"t{topic}" for topic in range(n_topics)),
    )


def test_the_best_is_emphasised_and_significantly_worse_ones_are_marked():
    # b is always lower by 0.1: p is 2 / 256, doubled by Holm. c is about equal.
    table = metric_table(evaluated({"b": GOOD - 0.1, "a": GOOD, "c": GOOD - 0.001 + 0.01 * SIGNS}), "precision")
    marks = {row[0].text: [(cell.mark, cell.emphasis) for cell in row[1:]] for row in table.rows}
    assert marks == {"b": [("†", False)] * 2, "a": [("", True)] * 2, "c": [("", False)] * 2}
    # The deviation of GOOD is 0.11952, over the root of 8 topics.
    assert [cell.text for cell in table.rows[1][1:]] == ["0.325 ± 0.021", "0.650 ± 0.042"]
    assert table.note.endswith(" 8 topics.")


def test_the_lowest_value_is_best_if_lower_is_better():
    evaluation = evaluated({"a": GOOD, "b": GOOD - 0.1}, "rank", low=True)
    table = metric_table(evaluation, "rank")
    assert [row[1].emphasis for row in table.rows] == [False, True]
    assert table.caption == "rank; lower is better"


def test_too_few_topics_for_a_test_are_reported():
    few = evaluated({"a": GOOD[:5], "b": GOOD[:5] - 0.1})
    assert re.search(rf"\b5 topics .*\b2 strategies .*\b{observations_needed(2)}\b", marks_note(few))
    assert WORSE not in marks_note(few)
    assert WORSE in marks_note(evaluated({"a": GOOD, "b": GOOD}))
    summary = evaluation_report(few, ABOUT, Path("run")).summary[0]
    assert "too few" in summary


def test_the_summary_names_the_best_and_the_worse_strategies():
    ends = {"b": GOOD - 0.1, "a": GOOD, "c": GOOD - 0.001 + 0.01 * SIGNS}
    page = evaluation_report(evaluated(ends), ABOUT, Path("run"))
    assert re.fullmatch(r".*\bprecision .*\b20 pages, a .*: 0\.650 ± 0\.042\. .*\bworse: b\. .*: c\.", page.summary[0])
    assert page.title == "3 strategies on school"
    assert page.key_facts[1:3] == (("strategies", "3"), ("topics", "8"))


def test_one_strategy_on_one_topic_is_singular():
    page = evaluation_report(evaluated({"a": GOOD[:1]}), ABOUT, Path("run"))
    assert page.title == "1 strategy on school"
    assert page.key_facts[1:3] == (("strategy", "1"), ("topic", "1"))


def test_a_metric_without_values_is_noted_with_what_it_needs():
    bare = evaluated({"a": np.full(3, nan)})
    page = evaluation_report(
        Evaluation(20, (10, 20), ("precision",), bare.results, bare.closed_world, needs={"precision": "examples"}),
        ABOUT,
        Path("run"),
    )
    (notes,) = next(section.blocks for section in page.sections if section.title == "Notes")
    (note,) = notes.items
    assert re.match(r"precision .*\bexamples\b", note)


def test_cost_that_was_not_measured_is_a_dash():
    table = cost_table(evaluated({"a": GOOD}))
    assert [cell.text for cell in table.rows[0]] == ["a", "8", "20", "-"]
    assert "not measured" in table.note


@pytest.fixture
def run(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    metrics, _ = chosen_metrics()
    write_evaluation(evaluate(RunFolder.open(tmp_path / "run"), metrics), tmp_path / "run")
    return tmp_path / "run"


def test_a_stored_evaluation_is_read_as_it_was_written(run):
    metrics, _ = chosen_metrics()
    evaluation = evaluate(RunFolder.open(run), metrics)
    assert as_json(read_evaluation(run)) == as_json(evaluation)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"strategies": {}}', '{"strategies": {"a": {"curves": 5}}}'])
def test_without_a_readable_evaluation_the_report_names_the_command_and_evaluates_nothing(run, content):
    (run / "evaluation.json").unlink()
    if content is not None:
        (run / "evaluation.json").write_text(content)
    page = run_report(run)
    assert f"scenthound evaluate {run}" in page.summary[0]
    assert [section.title for section in page.sections] == ["Settings and versions"]
    assert sorted(run.glob("evaluation.json")) == ([] if content is None else [run / "evaluation.json"])


def test_the_evaluation_of_a_run_is_shown(run):
    page = run_report(run)
    evaluation = read_evaluation(run)
    curves = next(section.blocks for section in page.sections if section.title == "Curves")
    assert curves[0].title == "Target recall", "the main metric is first"
    charts = {chart.name.removeprefix("curves-"): chart for chart in curves}
    for result in evaluation.results:
        for metric, curve in result.curves.items():
            if curve.n_topics:
                series = next(each for each in charts[metric].series if each.name == result.strategy)
                np.testing.assert_array_equal(series.y, curve.mean)
                np.testing.assert_array_equal(series.error, curve.standard_error)
    assert document_html(page).startswith("<!DOCTYPE html>")


def test_values_of_topics_are_means_over_their_random_seeds(run):
    metrics, _ = chosen_metrics(["precision@5"])
    evaluation = evaluate(RunFolder.open(run), metrics, [5])
    assert evaluation.topics == ("balloon", "train")
    for result in evaluation.results:
        values, curve = result.by_topic["precision"], result.curves["precision"]
        assert values.shape == (2, 2)
        at = [curve.steps.tolist().index(step) for step in (5, 20)]
        np.testing.assert_allclose(values.mean(axis=0), curve.mean[at])


def test_a_topic_without_a_value_has_none(web_path, tmp_path):
    write_topics(tmp_path / "two.jsonl", [topic("balloon"), topic("train", description="")])
    simulated(web_path, tmp_path / "two.jsonl", tmp_path / "run")
    metrics, _ = chosen_metrics(["mean_similarity"])
    (first, _) = evaluate(RunFolder.open(tmp_path / "run"), metrics).results
    described, bare = first.by_topic["mean_similarity"]
    assert np.isfinite(described).all()
    assert np.isnan(bare).all()


def test_the_reproduce_command_makes_the_same_crawls(run, scenthound, tmp_path):
    *_, settings = run_report(run).sections
    command = next(block for block in settings.blocks if isinstance(block, CodeBlock))
    arguments = command.text.replace("\\\n", "").split()[1:]
    code, _, err = scenthound(*arguments, "--workers", 1)
    assert code == 0, err
    for name in ("starts.jsonl", "crawls.jsonl"):
        assert (tmp_path / "run-again" / name).read_text() == (run / name).read_text()
    first, again = (json.loads((folder / "run.json").read_text()) for folder in (run, tmp_path / "run-again"))
    assert first["settings"] == again["settings"]


def test_settings_have_labels(run):
    facts = dict(run_report(run).sections[-1].blocks[0].rows)
    assert (facts["repeats of each crawl"], facts["pages per crawl"], facts["nofollow is respected"]) == (
        "2",
        "20",
        "yes",
    )
    assert facts["strategies"] == "breadth_first, best_first"
    assert facts["relevance model of best_first"] == "rocchio"
    assert facts["made by"] == f"scenthound {versions()['scenthound']}"
    assert facts["report made by"] == format_versions(versions())
    assert {"python", "numpy"} < set(facts["report made by"].split())


def test_a_folder_that_is_not_a_run_is_rejected(tmp_path):
    with pytest.raises(InvalidInput, match=f"{tmp_path} .*`scenthound simulate`"):
        run_report(tmp_path)
