"""The page of a comparison: mean curves, what the file tells, and what is made of it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparisons import WantedComparison
from evolution_web import record_topical, write_topical
from scenthound.errors import InvalidInput
from scenthound.experiments.compare.comparison import MARKS, ComparisonResult
from scenthound.experiments.compare.measures import CURVE_STEPS, MeanCurves, kept_steps
from scenthound.experiments.compare.results import compare_into, read_comparison
from scenthound.experiments.compare.verdict import Doubt
from scenthound.experiments.starts import TopicChoice
from scenthound.records import from_json
from scenthound.ui.html import document_html
from scenthound.ui.reports.comparison import (
    MAX_VISIBLE_CURVES,
    RENDERER,
    comparison_document,
    comparison_report,
    curves_chart,
)

SMALL = WantedComparison(("best_first", "breadth_first"), page_budget=40, repeats=3, n_start=3, relevance="cosine")


#: Pictures take longer than all else, and the page has none of them.
UNDRAWN = replace(RENDERER, figures=lambda _compared, _progress: {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


@pytest.fixture(scope="module")
def out(folder) -> Path:
    """The folder of a comparison of two strategies on two topics."""
    topics = TopicChoice(folder / "topics.jsonl", ("balloon", "train"))
    compare_into(folder / "out", *SMALL.on(folder / "web", topics), render=UNDRAWN, workers=1)
    return folder / "out"


@pytest.fixture
def values(out) -> dict[str, object]:
    return json.loads((out / "comparison.json").read_text())


def made(values, names, *observations, **more) -> ComparisonResult:
    """The same file with other rows."""
    pattern = values["ranking"][0]
    rows = [
        pattern | {"rank": rank, "strategy": name, "name": name, "mean": each[0], "observations": list(each)}
        for rank, (name, each) in enumerate(zip(names, observations, strict=True), 1)
    ]
    named = {"of": "topics", "names": [f"t{n}" for n in range(len(observations[0]))]}
    changed = {"ranking": rows, "observed": named, "sweeps": {}}
    return from_json(ComparisonResult, values | changed | more)


def test_curves_are_kept_at_few_steps_and_end_at_the_deciding_one():
    assert kept_steps(7).tolist() == [1, 2, 3, 4, 5, 6, 7]
    steps = kept_steps(2000)
    assert (len(steps), steps[0], steps[-1]) == (CURVE_STEPS, 1, 2000)


def test_a_mean_curve_has_the_errors_of_the_ranking():
    # One topic, three starts: after two pages 1, 2 and 3, so a mean of 2 and a deviation of 1 over the root of 3.
    curves = np.array([[[[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]]])
    bound = np.array([[[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]]])
    result = MeanCurves.of(np.array([1, 2], np.int32), curves, np.array([bound, 2 * bound]))
    assert result.mean.tolist() == [[0, 2]]
    assert result.standard_error.tolist() == [pytest.approx([0, 1 / 3**0.5])]
    assert (result.random.tolist(), result.oracle.tolist()) == ([0, 2], [0, 4])


def test_from_five_topics_on_errors_are_over_topics():
    # Means of topics are 0.5, 1.5, ..., 4.5: a standard deviation of the root of 2.5, over the root of 5.
    curves = np.array([[[[topic + 0.0], [topic + 1.0]] for topic in range(5)]])
    result = MeanCurves.of(np.array([1], np.int32), curves, np.array([curves[0], curves[0]]))
    assert result.mean.item() == 2.5
    assert result.standard_error.item() == pytest.approx((2.5 / 5) ** 0.5)


def test_the_curves_of_a_comparison_end_at_the_means_of_its_ranking(values):
    curves, ranking = values["curves"], values["ranking"]
    assert [row["strategy"] for row in ranking] == ["breadth_first", "best_first"], (
        "in another order than they are named"
    )
    assert curves["pages"] == list(range(1, 41))
    assert [curve[-1] for curve in curves["mean"]] == pytest.approx([row["mean"] for row in ranking], rel=1e-5)
    errors = [row["standard_error"] for row in ranking]
    assert [curve[-1] for curve in curves["standard_error"]] == pytest.approx(errors, rel=1e-4)
    assert curves["random"][-1] == pytest.approx(values["bounds"]["random"], rel=1e-5)
    assert curves["oracle"][-1] == pytest.approx(values["bounds"]["oracle"], rel=1e-5)
    # Targets are never among the three pages that a crawl starts from.
    assert curves["mean"][0][:3] == [0, 0, 0]


def test_the_report_can_be_rendered_from_the_folder_alone(out):
    assert document_html(comparison_report(out)) == (out / "report.html").read_text()


def test_the_report_begins_with_the_verdict_and_ends_with_the_reproduce_command(out, folder, values):
    page = comparison_report(out)
    assert page.title == "Which strategy for 2 topics?"
    assert values["verdict"]["doubts"] == [Doubt.FEW_OBSERVATIONS]
    assert values["verdict"]["because"] in page.summary[0]
    assert f"{values['ranking'][0]['strategy']}, with target_recall@40 of 0." in page.summary[1]
    assert page.summary[-1] == values["says"]
    titles = [section.title for section in page.sections]
    assert titles[:4] == ["Ranking", "Curves", "Other measurements", "Notes"]
    assert titles[-1] == "Settings and versions"
    assert "Start it live" not in titles
    facts, command = page.sections[-1].blocks
    assert "numpy" in dict(facts.rows)["made by"]
    assert command.text.splitlines() == [
        "scenthound compare \\",
        f"    --web {folder / 'web'} \\",
        f"    --topics {folder / 'topics.jsonl'} \\",
        "    --strategy best_first \\",
        "    --strategy breadth_first \\",
        "    --topic balloon \\",
        "    --topic train \\",
        "    --by target_recall \\",
        "    --pages 40 \\",
        "    --repeats 3 \\",
        "    --mode sequential \\",
        "    --start 3 \\",
        "    --relevance cosine",
    ]


def test_the_reproduce_command_repeats_the_comparison(scenthound, values, tmp_path):
    code, printed, err = scenthound(*values["repeat"].split()[1:], "--workers", 1, "--json")
    assert code == 0, err
    again = json.loads(printed)
    assert again["curves"] == values["curves"]
    assert [row["observations"] for row in again["ranking"]] == [row["observations"] for row in values["ranking"]]


def test_the_ranking_has_its_marks(values):
    result = from_json(ComparisonResult, values)
    table = comparison_document(result).sections[0].blocks[0]
    assert [row[1].text for row in table.rows] == [row.name for row in result.ranking]
    assert [row[2].mark for row in table.rows] == ["", result.ranking[1].mark]
    assert [row[2].emphasis for row in table.rows] == [True, False]
    assert table.rows[0][3].text == "", "the best has no difference to itself"
    assert all(f"{mark.value} {meaning}." in table.note for mark, meaning in MARKS.items())


def test_key_facts_of_a_single_topic_and_start_are_not_in_the_plural(values):
    one = from_json(ComparisonResult, values | {"topics": ["balloon"], "seeds": 1, "by": "target_recall@1"})
    facts = comparison_document(one).key_facts[1:]
    assert facts == (("after", "1 page"), ("strategies", "2"), ("topic", "1"), ("start of each", "1"))
    facts = comparison_document(from_json(ComparisonResult, values)).key_facts[1:]
    assert facts == (("after", "40 pages"), ("strategies", "2"), ("topics", "2"), ("starts of each", "3"))


def test_curves_of_later_rows_are_hidden_at_first(values):
    n_rows = MAX_VISIBLE_CURVES + 2
    curves = values["curves"] | {name: [values["curves"][name][0]] * n_rows for name in ("mean", "standard_error")}
    names = [f"s{n}" for n in range(n_rows)]
    result = made(values, names, *([[0.5, 0.5]] * n_rows), curves=curves)
    chart = curves_chart(result)
    assert [series.hidden for series in chart.series] == [False] * MAX_VISIBLE_CURVES + [True] * 2 + [False] * 2
    assert [series.name for series in chart.series][-2:] == ["random crawl", "omniscient crawl"]


def test_a_metric_without_bounds_has_no_curves_of_them(values):
    nothing = [None] * len(values["curves"]["pages"])
    result = from_json(ComparisonResult, values | {"curves": values["curves"] | {"random": nothing, "oracle": nothing}})
    assert len(curves_chart(result).series) == 2


def test_observations_of_a_file_are_topics_or_the_starts_of_one(values, folder):
    assert values["observed"] == {"of": "topics", "names": ["balloon", "train"]}
    topics = TopicChoice(folder / "topics.jsonl", ("balloon",))
    compare_into(folder / "one", *SMALL.on(folder / "web", topics), render=UNDRAWN, workers=1)
    alone = json.loads((folder / "one" / "comparison.json").read_text())
    assert alone["observed"] == {"of": "starts", "names": ["start 1", "start 2", "start 3"]}
    for row, both in zip(alone["ranking"], values["ranking"], strict=True):
        assert np.mean(row["observations"]) == pytest.approx(row["mean"], rel=1e-5)
        assert np.mean(both["observations"]) == pytest.approx(both["mean"], rel=1e-5)


def test_hostile_names_are_harmless(values):
    evil = "</script><script>alert(1)</script>"
    result = made(values, [evil, "b"], [0.5, 0.4], [0.3, 0.4], notes=[evil], command=evil, says=evil)
    html = document_html(comparison_document(result))
    assert "<script>alert" not in html


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", r"comparison\.json"),
        ('{"format": "scenthound study"}', "`scenthound compare`"),
        ('{"format": "scenthound comparison", "version": 99}', r"\b99\b"),
        ('{"format": "scenthound comparison", "version": 1}', r"comparison\.json"),
        ('{"format": "scenthound comparison", "version": 1, "bounds": 5, "topics_won": 5}', "bounds"),
    ],
)
def test_a_file_that_is_not_a_comparison_raises(tmp_path, content, says):
    (tmp_path / "comparison.json").write_text(content)
    with pytest.raises(InvalidInput, match=says) as result:
        read_comparison(tmp_path)
    assert "\n" not in str(result.value)


def test_an_empty_folder_is_not_a_comparison(tmp_path):
    with pytest.raises(InvalidInput, match=f"{tmp_path}.*`scenthound compare`"):
        read_comparison(tmp_path)
