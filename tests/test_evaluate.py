"""Judging a run: curves averaged over seeds and topics, every figure of a small one by hand."""

import csv
import json

import numpy as np
import pytest

from ring_web import simulated, url
from scenthound.cli.results import print_evaluation
from scenthound.errors import InvalidParameter, PluginError
from scenthound.experiments.evaluate import as_json, chosen_metrics, default_metrics, evaluate, write_evaluation
from scenthound.experiments.runs import RunFolder
from scenthound.experiments.setup import Experiment
from scenthound.experiments.statistics import mean_over_topics
from scenthound.metrics.classified import Harvest
from scenthound.metrics.retrieval import Precision
from scenthound.model import Topic
from scenthound.store.folder import ResultFolder
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb


def test_evaluation_averages_seeds_then_topics(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    evaluation = evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics()[0], [5, 10])
    assert evaluation.checkpoints == (5, 10, 20)
    breadth, best = evaluation.results
    curve = breadth.curves["precision"]
    assert curve.n_topics == 2
    # Every crawl starts from ten relevant seeds.
    assert curve.mean[curve.steps.searchsorted(10)] == 1.0
    assert curve.standard_error[curve.steps.searchsorted(10)] == 0.0
    assert best.curves["target_recall"].mean[-1] >= breadth.curves["target_recall"].mean[-1]
    assert breadth.n_crawls == 4
    assert breadth.pages_per_crawl == 20


def test_the_standard_error_is_that_of_topic_means():
    # Topic a: curves 0.2 and 0.4, mean 0.3; topic b: 0.5. Mean 0.4; s = 0.1414, error = 0.1. Undefined topics stay out.
    steps = np.array([1], dtype=np.int32)
    curves = {"a": [np.array([0.2]), np.array([0.4])], "b": [np.array([0.5])], "c": [np.array([np.nan])]}
    curve = mean_over_topics(steps, curves)
    assert (curve.mean[0], curve.standard_error[0], curve.n_topics) == (pytest.approx(0.4), pytest.approx(0.1), 2)
    one = mean_over_topics(steps, {"a": [np.array([0.2])]})
    assert np.isnan(one.standard_error[0])
    assert mean_over_topics(steps, {}).n_topics == 0


def test_json_and_csv_agree(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    evaluation = evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics(["precision"])[0])
    as_files = write_evaluation(evaluation, tmp_path)
    read = json.loads(as_files[0].read_text())
    assert read == as_json(evaluation)
    curve = read["strategies"]["best_first"]["curves"]["precision"]
    rows = [row for row in csv.DictReader(as_files[1].read_text().splitlines()) if row["strategy"] == "best_first"]
    assert [int(row["step"]) for row in rows] == curve["steps"]
    assert [float(row["mean"]) for row in rows] == pytest.approx(curve["mean"], rel=1e-5)


def judged(tmp_path, traces, topics, starts, pages, *, cpu_us=2.0, times_s=None, mode="sequential", metrics=None):
    """Write a run of given traces on a web of given texts, and judge it. `times_s` are the running times of crawls."""
    from scenthound.experiments.pipeline import Run
    from scenthound.experiments.runs import write_run
    from scenthound.experiments.starts import Start
    from scenthound.reasons import EndReason
    from scenthound.simulator.web import Crawl

    with (tmp_path / "pages.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"url": url(i), "text": text, "topics": list(labels)}) + "\n"
            for i, (text, labels) in enumerate(pages)
        )
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    web = RecordedWeb.open(tmp_path / "web")
    settings = Experiment(
        web=tmp_path / "web", topics=topics, strategies=("breadth_first", "best_first"), page_budget=4, mode=mode
    )
    begun = {key: Start(*key, *pages) for key, pages in starts.items()}

    def crawl(key, visited):
        n = len(visited)
        time_s = np.linspace(0, times_s[key], n) if times_s and n else None
        return Crawl(np.array(visited, np.int32), np.zeros(n), np.full(n, cpu_us), EndReason.FRONTIER, 0, 0, time_s)

    done = [Run(begun[key[0], key[2]], key[1], crawl(key, visited)) for key, visited in traces.items()]
    with ResultFolder.create(tmp_path / "run", kind="run") as folder:
        write_run(folder, settings, web, begun.values(), done)
    return evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics(metrics)[0], [1, 2])


PAGES = [("balloon race", "t"), ("balloon", "t"), ("train train", ""), ("never visited race race", "t")]
TOPIC = Topic("t", ("train",), description="Balloon race.", examples=(url(0),))


def test_every_figure_of_a_small_evaluation_by_hand(tmp_path):
    evaluation = judged(
        tmp_path,
        {
            ("t", "breadth_first", 0): [0, 2],
            ("t", "best_first", 0): [1],
            ("t", "breadth_first", 1): [2, 0],
            ("t", "best_first", 1): [],
        },
        (TOPIC,),
        {("t", 0): ((0,), (1,)), ("t", 1): ((2,), (0, 3))},
        PAGES,
    )
    breadth, best = evaluation.results
    assert (breadth.n_crawls, breadth.pages_per_crawl, breadth.cpu_us_per_page) == (2, 2, 2.0)
    assert (best.n_crawls, best.pages_per_crawl) == (2, 0.5)
    assert breadth.curves["precision"].steps.tolist() == [1, 2, 3, 4]
    # Seed 0: 1/1, 1/2, then nothing: 1/3, 1/4. Seed 1: 0, 1/2, then nothing: 1/3, 1/4.
    assert breadth.curves["precision"].mean == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 4])
    # Seed 0: 1/1, 1/2, ... Seed 1 got no page: 0.
    assert best.curves["precision"].mean == pytest.approx([1 / 2, 1 / 4, 1 / 6, 1 / 8])
    # Each seed has targets of its own: seed 0 wants page 1, seed 1 wants pages 0 and 3.
    assert breadth.curves["target_recall"].mean == pytest.approx([0, 1 / 4, 1 / 4, 1 / 4])
    assert best.curves["target_recall"].mean == pytest.approx([1 / 2] * 4)
    # The pool is pages 0, 1, 2 (page 3 was never visited): balloon in two, race and train in one of three.
    balloon, race = 1 + np.log(3 / 2), 1 + np.log(3)
    page_1 = balloon / np.hypot(balloon, race)
    # Page 0 is the description itself: 1; page 2 shares no word with it: 0.
    assert breadth.curves["mean_similarity"].mean == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 4])
    assert best.curves["mean_similarity"].mean == pytest.approx([page_1 / 2, page_1 / 4, page_1 / 6, page_1 / 8])
    assert np.isnan(breadth.curves["precision"].standard_error).all()
    # Pages 0, 1 and 2 have the ranks 1, 2 and 3; what was not got has rank 4. Seed 0: 1, 4/2, 8/3, 12/4. Seed 1: 3,
    # 4/2, 8/3, 12/4. The crawl that got no page has 4 throughout.
    assert breadth.curves["rank"].mean == pytest.approx([2, 2, 8 / 3, 3])
    assert best.curves["rank"].mean == pytest.approx([3, (6 / 2 + 4) / 2, (10 / 3 + 4) / 2, (14 / 4 + 4) / 2])
    assert evaluation.lower_is_better == {"rank"}
    # Relevant are 0, 1 and 3. Seed 0 has page 0 for a seed and wants 1 and 3; seed 1 has page 2 and wants all three.
    assert breadth.curves["recall"].mean == pytest.approx([0, 1 / 6, 1 / 6, 1 / 6])


def test_linkage_ranks_use_the_page_rank_of_all_crawls_of_the_run(tmp_path):
    # Page 2 has the keyword; pages 0 and 1 have not, and no page links to another, so they share the ranks 2 and 3.
    traces = {("t", "breadth_first", 0): [2, 0], ("t", "best_first", 0): [1, 2]}
    starts = {("t", 0): ((0,), (1,))}
    evaluation = judged(tmp_path, traces, (TOPIC,), starts, PAGES, metrics=["rank:by=linkage", "classified"])
    assert evaluation.results[0].curves["rank:by=linkage"].mean[:2] == pytest.approx([1, 3.5 / 2])
    assert evaluation.results[1].curves["rank:by=linkage"].mean[:2] == pytest.approx([2.5, 3.5 / 2])
    # There is one topic, and so nothing to train classifiers against.
    assert evaluation.undefined == ("classified",)


def test_classifiers_learn_from_the_starts_of_all_topics_of_the_run(tmp_path):
    # Page 0 is about balloons and page 2 about trains: each is the seed of one topic, and what the other is not about.
    topics = (TOPIC, Topic("u", ("train",), examples=(url(2),)))
    traces = {
        ("t", "breadth_first", 0): [0, 2],
        ("t", "best_first", 0): [2],
        ("u", "breadth_first", 0): [2, 0],
        ("u", "best_first", 0): [0],
    }
    starts = {("t", 0): ((0,), (1,)), ("u", 0): ((2,), ())}
    evaluation = judged(tmp_path, traces, topics, starts, PAGES, metrics=["classified"])
    breadth, best = evaluation.results
    assert breadth.curves["classified"].n_topics == 2
    assert breadth.curves["classified"].mean == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert best.curves["classified"].mean == pytest.approx([0, 0, 0, 0])


def test_classifiers_are_trained_on_request_only():
    assert {"precision", "rank", "coverage", "recall", "novelty"} <= set(default_metrics())
    assert not {"classified", "harvest", "area", "on_topic", "on_topic_recall"} & set(default_metrics())


def test_metrics_without_values_are_left_out_with_a_reason_and_low_ranks_are_best(tmp_path, capsys):
    topic = Topic("t", ("train",), description="Balloon race.", examples=(url(0),))
    evaluation = judged(
        tmp_path, ONE_EACH, (topic,), {("t", 0): ((0,), (1,))}, PAGES, metrics=["rank", "harvest", "area:of=rank"]
    )
    told = as_json(evaluation)
    assert told["undefined"] == {"harvest": Harvest.needs}
    assert told["lower_is_better"] == ["area:of=rank", "rank"]
    print_evaluation(evaluation, print_all=True)
    shown = capsys.readouterr().out
    assert Harvest.needs in shown
    ranks = shown.split("rank; lower is better")[1].split("area")[0]
    # After one page breadth_first has page 0 of rank 1, best_first page 1 of rank 2.
    first = {row.split("│")[1].strip(): row.split("│")[2].strip() for row in ranks.splitlines() if row.startswith("│")}
    assert first == {"breadth_first": "1.000*", "best_first": "2.000"}


def test_calibrated_judges_learn_the_share_of_relevant_pages_from_the_other_topics_of_a_run(tmp_path):
    texts = [*["balloon race basket"] * 4, *["train station ticket"] * 4]
    pages = [(text, ()) for text in texts]
    topics = (Topic("t", ("balloon",), examples=(url(0),)), Topic("other", ("train",), examples=(url(4),)))
    # Seeds, targets, training pages and negatives; pages for judges, and negatives for them.
    start = ((0,), (1,), (), (), (2, 3), (5, 6))
    metrics = ["harvest", "harvest:calibrated=true"]
    traces = {("t", "breadth_first", 0): [0, 4], ("t", "best_first", 0): [0, 1]}
    evaluation = judged(tmp_path, traces, topics, {("t", 0): start}, pages, metrics=metrics)
    assert evaluation.undefined == ()
    blind, best = (result.curves["harvest:calibrated=true"].mean[1] for result in evaluation.results)
    assert (blind, best) == (0.5, 1.0)


ONE_EACH = {("t", "breadth_first", 0): [0, 2], ("t", "best_first", 0): [1, 0]}


def test_missing_cpu_times_are_left_blank(tmp_path, capsys):
    evaluation = judged(tmp_path, ONE_EACH, (TOPIC,), {("t", 0): ((0,), (1,))}, PAGES, cpu_us=np.nan)
    assert all(np.isnan(result.cpu_us_per_page) for result in evaluation.results)
    assert [each["cpu_us_per_page"] for each in as_json(evaluation)["strategies"].values()] == [None, None]
    assert json.loads(write_evaluation(evaluation, tmp_path)[0].read_text()) == as_json(evaluation)
    print_evaluation(evaluation, print_all=True)
    cost = capsys.readouterr().out.split("Cost in mode sequential")[1]
    assert [row.split("│")[4].strip() for row in cost.splitlines() if row.startswith("│")] == ["-", "-"]


def test_measured_cpu_times_are_shown_and_crawls_without_a_clock_have_no_column(tmp_path, capsys):
    evaluation = judged(tmp_path, ONE_EACH, (TOPIC,), {("t", 0): ((0,), (1,))}, PAGES)
    assert [each["running_time"] for each in as_json(evaluation)["strategies"].values()] == [None, None]
    print_evaluation(evaluation, print_all=True)
    cost = capsys.readouterr().out.split("Cost in mode")[1]
    assert [row.split("│")[4].strip() for row in cost.splitlines() if row.startswith("│")] == ["2.0", "2.0"]
    assert "minutes" not in cost


def test_simulated_running_times_are_averaged_over_seeds_and_then_topics(tmp_path, capsys):
    # Topic t: 600 and 1,200 s, mean 900; topic u: 1,500 s. Mean 1,200 s = 20 min; s = 424.26, error = 300 s = 5 min.
    # The crawl of best_first that got a page took a minute, the one that got none has no time.
    running_s = {("t", "breadth_first", 0): 600, ("t", "breadth_first", 1): 1200, ("u", "breadth_first", 0): 1500}
    traces = {key: [0, 2] for key in running_s} | {("t", "best_first", 0): [1, 2], ("u", "best_first", 0): []}
    evaluation = judged(
        tmp_path,
        dict(sorted(traces.items())),
        (TOPIC, Topic("u", ("train",), examples=(url(0),))),
        {("t", 0): ((0,), (1,)), ("t", 1): ((0,), (1,)), ("u", 0): ((0,), (1,))},
        PAGES,
        times_s=running_s | {("t", "best_first", 0): 60, ("u", "best_first", 0): 0},
        mode="polite",
    )
    breadth, best = evaluation.results
    assert (breadth.running_time.mean_s, breadth.running_time.standard_error_s) == pytest.approx((1200, 300))
    assert best.running_time.mean_s == 60
    told = as_json(evaluation)
    assert told["mode"] == "polite"
    assert told["strategies"]["best_first"]["running_time"] == {"mean_s": 60.0, "standard_error_s": None}
    print_evaluation(evaluation, print_all=True)
    cost = capsys.readouterr().out.split("Cost in mode polite\n")[1]
    shown = [row.split("│")[5].strip() for row in cost.splitlines() if row.startswith("│")]
    assert shown == ["20.00 ± 5.00", "1.00"]


def test_steps_after_the_page_budget_raise(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    with pytest.raises(InvalidParameter, match=r"\b21\b"):
        evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics()[0], [21])


def test_a_metric_may_be_named_with_its_step():
    metrics, steps = chosen_metrics(["precision@10", "precision", "target_recall@5"])
    assert [str(metric) for metric in metrics] == ["precision", "target_recall"]
    assert steps == [10, 5]


class Fails(Precision):
    def curve(self, trace, ground_truth, n_steps):
        return ground_truth["missing"]


class TooLong(Precision):
    def curve(self, trace, ground_truth, n_steps):
        return np.zeros(n_steps + 1)


@pytest.mark.parametrize(("metric", "says"), [(Fails(), "'balloon'.*TypeError"), (TooLong(), r"\b20\b")])
def test_a_metric_that_fails_is_named(web_path, topics_file, tmp_path, metric, says):
    simulated(web_path, topics_file, tmp_path / "run")
    with pytest.raises(PluginError, match=says) as broken:
        evaluate(RunFolder.open(tmp_path / "run"), [metric])
    assert "\n" not in str(broken.value)
