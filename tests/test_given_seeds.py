"""Topics with keywords and start pages but without known relevant pages: simulated, evaluated, compared, reported."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

import scenthound as sh
from evolution_web import WORDS, record_topical, url
from scenthound.errors import InvalidParameter, InvalidTopic, NoStartPage, ScenthoundError, UsageError
from scenthound.experiments.compare.verdict import Doubt
from scenthound.experiments.evaluate import read_evaluation
from scenthound.metrics.classified import JUDGED_BY_MODEL
from scenthound.topics.files import write_topics
from scenthound.ui.reports.run import all_tables, run_report

Call = Callable[..., tuple[int, str, str]]
BALLOON = sh.Topic("balloon", ["balloon"], seeds=[url(0), url(3)])
KEYWORDS = sh.Topic("balloon", ["balloon"])
STRATEGIES = ["best_first", "breadth_first"]
SMALL = {"pages": 40, "workers": 1}


@pytest.fixture(scope="module")
def web(tmp_path_factory) -> Path:
    return record_topical(tmp_path_factory.mktemp("topical"))


@pytest.fixture
def keywords_file(tmp_path) -> Path:
    """A topic without any page."""
    (tmp_path / "topics.toml").write_text('[[topic]]\nid = "balloon"\nkeywords = ["balloon"]\n')
    return tmp_path / "topics.toml"


def unwrapped(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("no_figures")
def test_a_topic_of_keywords_and_a_seed_goes_through_all_commands(web, keywords_file, tmp_path, scenthound: Call):
    files = ("--web", web, "--topics", keywords_file, "--seed", url(0), "--pages", 40, "--workers", 1)
    strategies = ("--strategy", "best_first", "--strategy", "breadth_first")
    code, _, err = scenthound("simulate", *files, *strategies, "--out", tmp_path / "run")
    assert code == 0, err
    code, out, err = scenthound("evaluate", tmp_path / "run")
    assert code == 0, err
    assert re.search(r"strategy +┃ +on topic +┃ +pages", out)
    assert JUDGED_BY_MODEL in unwrapped(out)
    code, out, err = scenthound("compare", *files, *strategies, "--out", tmp_path / "comparison")
    assert code == 0, err
    assert "on_topic@40" in out
    assert JUDGED_BY_MODEL in unwrapped(out)
    assert "--repeats" not in out
    for folder in ("run", "comparison"):
        code, _, err = scenthound("report", tmp_path / folder, "--out", tmp_path / f"{folder}.html")
        assert code == 0, err
        assert JUDGED_BY_MODEL.partition("'")[2] in (tmp_path / f"{folder}.html").read_text()


def test_crawls_start_from_the_given_seeds_only(web):
    run = sh.simulate(web, BALLOON, "breadth_first", seeds=[url(6), url(9)], **SMALL)
    assert {page.url for page in run.pages if page.step <= 2} == {url(6), url(9)}
    own = sh.simulate(web, BALLOON, "breadth_first", **SMALL)
    assert {page.url for page in own.pages if page.step <= 2} == {url(0), url(3)}


def test_examples_stay_targets_when_seeds_are_given(web):
    topic = sh.Topic("balloon", ["balloon"], examples=[url(i) for i in range(0, 60, 3)])
    run = sh.simulate(web, topic, "breadth_first", seeds=url(100), **SMALL)
    assert next(iter(run.pages)).url == url(100)
    scores = {score.metric: score for score in run.evaluate().scores if score.pages == 40}
    assert scores["target_recall"].n_topics == 1
    assert "on_topic" not in scores
    assert sh.compare(web, topic, STRATEGIES, seeds=url(100), repeats=1, **SMALL).compared.by == "target_recall@40"


def test_evaluate_computes_on_topic_if_a_topic_has_no_targets(web):
    plain = sh.Topic("train", ["train"], examples=[url(i) for i in range(1, 60, 3)])
    assert "on_topic" not in sh.simulate(web, plain, STRATEGIES, **SMALL).evaluate().evaluated.metrics
    both = sh.simulate(web, [BALLOON, plain], STRATEGIES, **SMALL).evaluate()
    n_topics = {score.metric: score.n_topics for score in both.scores}
    assert (n_topics["on_topic"], n_topics["target_recall"]) == (2, 1)
    assert JUDGED_BY_MODEL in unwrapped(repr(both))
    chosen = sh.simulate(web, BALLOON, STRATEGIES, **SMALL).evaluate("on_topic_recall", "precision")
    assert chosen.evaluated.metrics == ("on_topic_recall", "precision")


def test_a_metric_that_needs_known_pages_is_refused_for_topics_without_any(web, tmp_path, scenthound: Call):
    run = sh.simulate(web, BALLOON, STRATEGIES, out=tmp_path / "run", **SMALL)
    for metrics in (["target_recall"], ["precision@20"], ["recall", "precision"]):
        with pytest.raises(InvalidTopic, match=r"known pages|targets.*on_topic"):
            run.evaluate(metrics)
    code, out, err = scenthound("evaluate", tmp_path / "run", "--metric", "precision")
    assert (code, out) == (2, "")
    assert "on_topic" in err.splitlines()[-1]
    assert not (tmp_path / "run" / "evaluation.json").exists()
    assert run.evaluate("on_topic").scores


def test_bounds_of_precision_are_left_out_for_topics_without_known_pages(web):
    evaluated = sh.simulate(web, BALLOON, STRATEGIES, **SMALL).evaluate().evaluated
    gaps = tuple(replace(gap, missing_per_page=0.5) for gap in evaluated.closed_world.gaps)
    incomplete = replace(evaluated, closed_world=replace(evaluated.closed_world, gaps=gaps))
    assert all(isnan(gap.precision.high) for gap in gaps)
    assert "missing" not in all_tables(incomplete)


def test_the_report_of_a_run_names_the_judge(web, tmp_path):
    sh.simulate(web, BALLOON, STRATEGIES, out=tmp_path / "run", **SMALL).evaluate().save()
    assert read_evaluation(tmp_path / "run").caveats == {"on_topic": JUDGED_BY_MODEL}
    report = run_report(tmp_path / "run")
    assert JUDGED_BY_MODEL in report.summary[0]
    assert report.key_facts[0][0].startswith("on topic")


def test_an_evaluation_of_an_earlier_version_has_no_caveats(web, tmp_path):
    sh.simulate(web, BALLOON, STRATEGIES, out=tmp_path / "run", **SMALL).evaluate().save()
    file = tmp_path / "run" / "evaluation.json"
    values = json.loads(file.read_text())
    del values["caveats"]
    file.write_text(json.dumps(values))
    assert read_evaluation(tmp_path / "run").caveats == {}


# Comparisons


def test_a_comparison_without_targets_is_decided_by_on_topic(web):
    done = sh.compare(web, BALLOON, STRATEGIES, repeats=2, **SMALL).compared
    assert done.by == "on_topic@40"
    assert done.says.endswith(JUDGED_BY_MODEL)
    assert any("on_topic" in note and "target_recall" in note for note in done.notes)
    assert "--by on_topic" in done.repeat
    # One distinct start decides nothing, and repeats would not change that.
    assert done.verdict.doubts == (Doubt.FEW_OBSERVATIONS,)
    assert "--repeats" not in done.verdict.because
    with pytest.raises(InvalidTopic, match=r"target_recall.*targets.*on_topic"):
        sh.compare(web, BALLOON, STRATEGIES, by="target_recall", **SMALL)


def test_repeats_are_advised_where_starts_are_drawn(web):
    topic = sh.Topic("balloon", ["balloon"], examples=[url(i) for i in range(0, 60, 3)])
    done = sh.compare(web, topic, STRATEGIES, by="on_topic", repeats=2, start=3, **SMALL).compared
    assert done.says.endswith(JUDGED_BY_MODEL)
    assert done.verdict.doubts == (Doubt.FEW_OBSERVATIONS,)
    assert "--repeats" in done.verdict.because


def test_enough_topics_without_examples_can_have_a_best_strategy(web, tmp_path):
    """Topics that differ in their seeds; the web has a subject for each third of its pages."""
    topics = [sh.Topic(f"topic{i}", [WORDS[i % 3]], seeds=[url(i), url(i + 9)]) for i in range(9)]
    done = sh.compare(web, topics, STRATEGIES, topics_max=9, mode="sequential", pages=60, workers=1).compared
    assert done.by == "on_topic@60"
    assert done.verdict.best == "best_first"
    assert "--topics" in done.command
    assert done.topics_won.losses == 0


def test_topics_without_targets_are_skipped_beside_others(web):
    plain = sh.Topic("train", ["train"], examples=[url(i) for i in range(1, 60, 3)])
    done = sh.compare(web, [BALLOON, plain], STRATEGIES, topics_max=2, repeats=1, start=3, **SMALL).compared
    assert (done.by, done.topics) == ("target_recall@40", ("train",))
    assert any(re.search(r"\bballoon\b.*on_topic", note) for note in done.notes)
    both = sh.compare(web, [BALLOON, plain], STRATEGIES, topics_max=2, by="on_topic", repeats=1, start=3, **SMALL)
    assert both.compared.topics == ("balloon", "train")


def test_every_crawl_is_judged_alike_whatever_the_order_of_strategies(web):
    """A strategy with another relevance model is judged by the same model as the others."""
    one = sh.compare(web, BALLOON, STRATEGIES, repeats=2, **SMALL).compared
    other = sh.compare(web, BALLOON, STRATEGIES[::-1], repeats=2, **SMALL).compared
    assert {row.strategy: row.mean for row in one.ranking} == {row.strategy: row.mean for row in other.ranking}
    blind = sh.compare(web, BALLOON, ["breadth_first"], relevance="cosine", repeats=2, **SMALL).compared
    again = sh.compare(web, BALLOON, ["breadth_first"], repeats=2, **SMALL).compared
    assert blind.ranking[0].mean == again.ranking[0].mean > 0


def test_commands_of_a_comparison_name_the_seeds(web, keywords_file, scenthound: Call):
    done = sh.compare(web, keywords_file, STRATEGIES, seeds=[url(0), url(3)], repeats=1, **SMALL).compared
    assert f"--seed {url(0)} --seed {url(3)}" in done.repeat
    words = [*done.repeat.split()[1:], "--json", "--workers", "1"]
    code, out, err = scenthound(*words)
    assert code == 0, err
    assert json.loads(out)["ranking"][0]["mean"] == pytest.approx(done.ranking[0].mean)


# Errors


@pytest.mark.parametrize("function", [sh.simulate, sh.compare])
def test_errors_about_start_pages_name_seeds(web, function, keywords_file):
    with pytest.raises(NoStartPage, match=r"`seeds`.*seeds=") as raised:
        function(web, keywords_file, STRATEGIES, **SMALL)
    assert "--" not in str(raised.value)
    with pytest.raises(InvalidTopic, match=re.escape("http://no.test/")):
        function(web, KEYWORDS, STRATEGIES, seeds="http://no.test/", **SMALL)
    # A seed without a scheme is an https URL, as in a live crawl.
    with pytest.raises(InvalidTopic, match=rf"https://.*\b{re.escape(url(0))}\?"):
        function(web, KEYWORDS, STRATEGIES, seeds=url(0).removeprefix("http://"), **SMALL)
    with pytest.raises(UsageError, match="ftp"):
        function(web, KEYWORDS, STRATEGIES, seeds="ftp://host0.test/0", **SMALL)
    with pytest.raises(InvalidParameter, match=r"seeds=.*task="):
        function(web, KEYWORDS, STRATEGIES, seeds=url(0), task="neighbours", **SMALL)


def test_seeds_belong_to_one_topic(web, tmp_path, scenthound: Call):
    two = [KEYWORDS, sh.Topic("train", ["train"])]
    with pytest.raises(InvalidParameter, match=r"seeds=.*\b2 topics.*topic="):
        sh.simulate(web, two, STRATEGIES, seeds=url(0), **SMALL)
    run = sh.simulate(web, two, STRATEGIES, seeds=url(1), topic="train", **SMALL)
    assert {crawl.topic for crawl in run.crawls} == {"train"}
    write_topics(tmp_path / "two.jsonl", two)
    options = ("--topics", tmp_path / "two.jsonl", "--seed", url(0), "--strategy", "best_first", "--out", "run")
    code, _, err = scenthound("simulate", "--web", web, *options)
    assert code == 2
    assert "--topic" in err


def test_a_topic_may_be_its_start_pages_alone(web):
    run = sh.simulate(web, sh.Topic("start pages"), "best_first", seeds=[url(0), url(3)], **SMALL)
    assert {score.n_topics for score in run.evaluate("on_topic").scores} == {1}


@pytest.mark.parametrize(
    ("topics", "options", "says"),
    [
        (sh.Topic("balloon"), {}, r"^topics \('balloon'\)"),
        ([BALLOON, sh.Topic("empty")], {}, r"^topics\[1\] \('empty'\)"),
        (BALLOON, {"topic": "ballon"}, "'balloon'"),
        ([BALLOON, BALLOON], {}, r"^topics\[1\].*'balloon'"),
        (sh.Topic("x", ["\udc80"]), {}, "topics.*Unicode"),
    ],
)
@pytest.mark.parametrize("function", [sh.simulate, sh.compare])
def test_errors_about_topic_objects_name_no_file(web, function, topics, options, says):
    with pytest.raises(ScenthoundError, match=says) as raised:
        function(web, topics, STRATEGIES, **options, **SMALL)
    assert "topics.jsonl" not in str(raised.value)
    assert "scenthound-" not in str(raised.value)
