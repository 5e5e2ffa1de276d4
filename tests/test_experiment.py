"""Experiments on a small recorded web, from topics to judged curves."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from scenthound.errors import BadInput, BadParameter, BadTopic, UnknownName
from scenthound.lab.evaluate import chosen_metrics, evaluate
from scenthound.lab.experiment import Experiment, plan, run
from scenthound.lab.run_folder import RunFolder
from scenthound.lab.simulation import TopicChoice, simulate_topics
from scenthound.lab.starts import Starts, Task, known_relevant
from scenthound.lab.statistics import mean_over_topics
from scenthound.model import Topic
from scenthound.report.evaluation_files import as_json, write_evaluation
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.topics.files import write_topics

N = 40


def url(i):
    return f"http://w.test/{i}"


@pytest.fixture(scope="module")
def web_path(tmp_path_factory):
    """A ring of pages with chords; even pages are about balloons, odd ones about trains. Page 0 has an alias."""
    folder = tmp_path_factory.mktemp("experiment")
    with (folder / "pages.jsonl").open("w") as file:
        for i in range(N):
            word = "balloon" if i % 2 == 0 else "train"
            links = "".join(f"<a href={(i + step) % N}>on</a>" for step in (1, 2, 7))
            page = {"url": url(i), "html": f"<title>{word}</title><p>{word} {links}", "topics": [word]}
            file.write(json.dumps(page | ({"aliases": [url("zero")]} if i == 0 else {})) + "\n")
    record([folder / "pages.jsonl"], folder / "web", workers=1)
    return folder / "web"


def topic(name="balloon", **fields):
    start = 0 if name == "balloon" else 1
    examples = tuple(url(i) for i in range(start, N, 2))
    return Topic(
        **{"id": name, "keywords": (name,), "description": f"All about a {name}.", "examples": examples} | fields
    )


@pytest.fixture
def topics_file(tmp_path):
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), topic("train")])
    return tmp_path / "topics.jsonl"


def experiment(web_path, **settings):
    return Experiment(
        **{"web": web_path, "topics": (topic(),), "strategies": ("breadth_first", "best_first"), "page_budget": 20}
        | settings
    )


def runs(settings, web_path, workers=1):
    web = RecordedWeb.open(web_path)
    return list(run(settings, plan(settings, web), workers=workers))


def test_seeds_and_targets_are_drawn_from_the_examples_and_disjoint(web_path):
    start = Starts(RecordedWeb.open(web_path)).draw(topic(), seed=3)
    assert len(start.seeds) == 10
    assert len(start.targets) == 10
    assert not set(start.seeds) & set(start.targets)
    assert all(page % 2 == 0 for page in (*start.seeds, *start.targets))


def test_starts_depend_on_the_seed_and_the_topic_only(web_path):
    starts = Starts(RecordedWeb.open(web_path))
    assert starts.draw(topic(), 1) == starts.draw(topic(), 1)
    assert starts.draw(topic(), 1).seeds != starts.draw(topic(), 2).seeds


def test_a_page_and_its_alias_are_one_example(web_path):
    aliased = topic(examples=(url("zero"), url(0), url(2)))
    start = Starts(RecordedWeb.open(web_path)).draw(aliased, 0)
    assert sorted((*start.seeds, *start.targets)) == [0, 2]


def test_neighbours_start_two_links_before_the_examples(web_path):
    start = Starts(RecordedWeb.open(web_path), Task.NEIGHBOURS).draw(topic(examples=(url(20),)), 0)
    # In-links of 20: 19, 18, 13; in-links of those: 18, 17, 12, 16, 11, 6.
    assert set(start.seeds) == {6, 11, 12, 16, 17, 18}
    assert start.targets == (20,)


def test_all_strategies_start_alike(web_path):
    done = runs(experiment(web_path, n_seeds=2), web_path)
    assert [(each.start.seed, each.strategy) for each in done] == [
        (0, "breadth_first"),
        (0, "best_first"),
        (1, "breadth_first"),
        (1, "best_first"),
    ]
    assert done[0].start == done[1].start
    assert set(done[0].crawl.pages[:10]) == set(done[1].crawl.pages[:10]) == set(done[0].start.seeds)


def test_two_workers_give_the_traces_of_one(web_path):
    settings = experiment(web_path, topics=(topic("balloon"), topic("train")), n_seeds=2)
    one, two = runs(settings, web_path, workers=1), runs(settings, web_path, workers=2)
    assert [each.crawl.pages.tolist() for each in one] == [each.crawl.pages.tolist() for each in two]
    assert [each.start for each in one] == [each.start for each in two]


def test_the_relevant_pages_are_those_labelled_or_named(web_path):
    web = RecordedWeb.open(web_path)
    assert known_relevant(web, topic(examples=(url(1),))).tolist() == [*range(0, 2, 2), 1, *range(2, N, 2)]
    assert known_relevant(web, topic(id="unlabelled", examples=(url(5), url("gone")))).tolist() == [5]


def simulated(web_path, topics_file, out, **settings):
    chosen = {"strategies": ["breadth_first", "best_first"], "page_budget": 20, "n_seeds": 2, "workers": 1}
    return simulate_topics(web_path, TopicChoice(topics_file), out, **chosen | settings)


def test_a_run_folder_gives_back_what_was_crawled(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    folder = RunFolder.open(tmp_path / "run")
    traces = list(folder.traces())
    expected = runs(experiment(web_path, topics=(topic("balloon"), topic("train")), n_seeds=2), web_path)
    assert [trace.pages.tolist() for trace in traces] == [each.crawl.pages.tolist() for each in expected]
    assert [trace.relevance.tolist() for trace in traces] == [each.crawl.relevance.tolist() for each in expected]
    assert [(t.topic, t.strategy, t.seed) for t in traces] == [
        (e.start.topic, e.strategy, e.start.seed) for e in expected
    ]
    assert folder.starts() == [each.start for each in expected[::2]]
    assert {crawl.ended for crawl in folder.crawls()} == {"page budget reached"}


def test_traces_are_a_table_that_other_programs_can_read(web_path, topics_file, tmp_path):
    import pyarrow.parquet as pq

    simulated(web_path, topics_file, tmp_path / "run")
    table = pq.read_table(tmp_path / "run" / "traces.parquet")
    assert table.column_names == ["topic", "strategy", "seed", "step", "url", "relevance", "cpu_us"]
    assert table.num_rows == 2 * 2 * 2 * 20
    first = table.slice(0, 20).to_pydict()
    assert first["step"] == list(range(1, 21))
    assert set(first["topic"]) == {"balloon"}
    assert all(address.startswith("http://w.test/") for address in first["url"])


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


def test_json_and_csv_say_the_same(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    evaluation = evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics(["precision"])[0])
    as_files = write_evaluation(evaluation, tmp_path)
    read = json.loads(as_files[0].read_text())
    assert read == as_json(evaluation)
    curve = read["strategies"]["best_first"]["curves"]["precision"]
    rows = [row for row in csv.DictReader(as_files[1].read_text().splitlines()) if row["strategy"] == "best_first"]
    assert [int(row["step"]) for row in rows] == curve["steps"]
    assert [float(row["mean"]) for row in rows] == pytest.approx(curve["mean"], rel=1e-5)


def test_a_topic_without_a_page_in_the_web_is_refused_or_skipped(web_path, tmp_path):
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), topic("lost", examples=("http://gone.test/",))])
    with pytest.raises(BadTopic, match="'lost' has no example in the recorded web"):
        simulated(web_path, tmp_path / "topics.jsonl", tmp_path / "run")
    done = simulate_topics(
        web_path,
        TopicChoice(tmp_path / "topics.jsonl", skip_missing=True),
        tmp_path / "run",
        strategies=["breadth_first"],
        page_budget=5,
        workers=1,
    )
    assert list(done.skipped_topics) == ["lost"]
    assert "no example in the recorded web" in done.skipped_topics["lost"]
    assert done.n_crawls == 1


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"strategies": ["best_frist"]}, UnknownName, "Did you mean 'best_first'"),
        ({"strategies": []}, BadParameter, "No strategy"),
        ({"page_budget": 0}, BadParameter, "pages is 0"),
        ({"task": "example"}, UnknownName, "Did you mean 'examples'"),
    ],
)
def test_nothing_is_left_behind_by_a_run_that_cannot_start(web_path, topics_file, tmp_path, settings, error, says):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(error, match=says):
        simulated(web_path, topics_file, tmp_path / "run", **settings)
    assert sorted(tmp_path.iterdir()) == before


def test_an_interrupted_run_leaves_nothing_behind(web_path, topics_file, tmp_path):
    def stop(share: float, words: str) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        simulated(web_path, topics_file, tmp_path / "run", progress=stop)
    assert sorted(tmp_path.iterdir()) == before


def test_an_existing_folder_is_replaced_only_when_it_is_a_run_and_when_told(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    with pytest.raises(BadInput, match="exists already"):
        simulated(web_path, topics_file, tmp_path / "run")
    simulated(web_path, topics_file, tmp_path / "run", force=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(BadInput, match="choose another name"):
        simulated(web_path, topics_file, tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_run_is_judged_only_with_the_web_it_ran_on(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    (tmp_path / "other.jsonl").write_text(json.dumps({"url": url(0), "html": "<p>other"}) + "\n")
    record([tmp_path / "other.jsonl"], tmp_path / "other", workers=1)
    with pytest.raises(BadInput, match="another recording"):
        RunFolder.open(tmp_path / "run", tmp_path / "other")


@pytest.mark.parametrize("content", [None, "{}", "no json", "[]"])
def test_what_is_no_run_folder_is_said_to_be_none(tmp_path: Path, content):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(BadInput, match="not the folder of an experiment"):
        RunFolder.open(tmp_path)


#: Every page of this star is as good as any other, so a crawl's order is its generator's.
STAR = {"hub": [f"leaf{i}" for i in range(30)]}


def star_orders(tmp_path, topics, n_seeds=1):
    with (tmp_path / "star.jsonl").open("w") as file:
        for name in ["hub", *STAR["hub"]]:
            links = "".join(f"<a href={leaf}>on</a>" for leaf in STAR.get(name, []))
            file.write(json.dumps({"url": url(name), "html": f"<p>balloon {links}"}) + "\n")
    record([tmp_path / "star.jsonl"], tmp_path / "star", workers=1)
    settings = Experiment(web=tmp_path / "star", topics=topics, strategies=("best_first",), n_seeds=n_seeds)
    return [each.crawl.pages.tolist() for each in runs(settings, tmp_path / "star")]


def from_the_hub(name):
    return topic("balloon", id=name, seeds=(url("hub"),), examples=(url("leaf0"),))


def test_crawls_of_different_topics_and_seeds_are_independent(tmp_path):
    orders = star_orders(tmp_path, (from_the_hub("one"), from_the_hub("two")), n_seeds=2)
    assert len({tuple(order) for order in orders}) == 4
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(31))}


def test_topics_with_the_same_examples_draw_different_starts(web_path):
    starts = Starts(RecordedWeb.open(web_path))
    assert starts.draw(topic(id="one"), 0).seeds != starts.draw(topic(id="two"), 0).seeds


def test_the_crawl_is_guided_by_the_keywords_and_never_by_the_judging_description(web_path):
    settings = experiment(web_path, topics=(topic("balloon", description="Train, train, train."),))
    for each in runs(settings, web_path):
        even = each.crawl.pages % 2 == 0
        assert (each.crawl.relevance[even] > 0).all()
        assert (each.crawl.relevance[~even] == 0).all()


def test_the_crawl_can_be_guided_by_the_description_when_told_so(web_path):
    settings = experiment(
        web_path, topics=(topic("balloon", description="Trains."),), relevance="cosine:description=true"
    )
    for each in runs(settings, web_path):
        even = each.crawl.pages % 2 == 0
        assert (each.crawl.relevance[even] == 0).all()
        assert (each.crawl.relevance[~even] > 0).all()


def test_pages_a_description_was_taken_from_are_no_targets_even_under_an_alias(web_path):
    web = RecordedWeb.open(web_path)
    described = topic(description_from=(url("zero"), url(2)))
    for task in Task:
        for seed in range(5):
            assert not {0, 2} & set(Starts(web, task).draw(described, seed).targets)


def test_as_many_neighbours_start_a_crawl_as_were_asked_for(web_path):
    web = RecordedWeb.open(web_path)
    assert len(Starts(web, Task.NEIGHBOURS, n_start=3).draw(topic(examples=(url(20),)), 0).seeds) == 3


def test_named_targets_that_are_not_recorded_are_refused_in_both_tasks(web_path):
    lost = topic(targets=("http://gone.test/",))
    for task in Task:
        with pytest.raises(BadTopic, match="No target of topic 'balloon' can be found"):
            Starts(RecordedWeb.open(web_path), task).draw(lost, 0)


def test_neighbours_are_taken_by_their_in_degree(tmp_path):
    # 25 pages link to the example; the first 5 have no in-link of their own, the others have one.
    pages = {"goal": []}
    for i in range(25):
        pages[f"near{i:02}"] = ["goal"]
        if i >= 5:
            pages[f"far{i:02}"] = [f"near{i:02}"]
    with (tmp_path / "pages.jsonl").open("w") as file:
        for name, links in pages.items():
            html = "".join(f"<a href={link}>on</a>" for link in links)
            file.write(json.dumps({"url": url(name), "html": f"<p>balloon {html}"}) + "\n")
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    web = RecordedWeb.open(tmp_path / "web")
    start = Starts(web, Task.NEIGHBOURS, n_start=100).draw(topic(examples=(url("goal"),)), 0)
    # The 20 in-links of the goal with the highest in-degree are near05 to near24, so all 20 far pages are reached.
    assert {web.url(page) for page in start.seeds} == {url(f"far{i:02}") for i in range(5, 25)}


NOFOLLOW = {
    "a": '<p>balloon <a href=b rel=nofollow>b</a> <a href=c>c</a> <a href="http://gone.test/">x</a>',
    "b": "<p>b",
    "c": "<p>c",
}


def test_the_rules_of_the_web_reach_the_crawls(tmp_path):
    with (tmp_path / "pages.jsonl").open("w") as file:
        file.writelines(json.dumps({"url": url(name), "html": html}) + "\n" for name, html in NOFOLLOW.items())
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    start = topic(seeds=(url("a"),), examples=(url("c"),))

    def crawled(**rules):
        (each,) = runs(
            experiment(tmp_path / "web", topics=(start,), strategies=("breadth_first",), **rules), tmp_path / "web"
        )
        return len(each.crawl.pages), each.crawl.n_missing

    assert crawled() == (2, 1)
    assert crawled(obey_nofollow=False) == (3, 1)
    assert crawled(closed_world=True) == (2, 0)


def judged(tmp_path, traces, topics, starts, pages):
    """Write a run of given traces on a web of given texts, and judge it."""
    from scenthound.drivers.simulate import Crawl, Ended
    from scenthound.lab.experiment import Run
    from scenthound.lab.run_writer import write_run
    from scenthound.lab.starts import Start

    with (tmp_path / "pages.jsonl").open("w") as file:
        file.writelines(
            json.dumps({"url": url(i), "text": text, "topics": list(labels)}) + "\n"
            for i, (text, labels) in enumerate(pages)
        )
    record([tmp_path / "pages.jsonl"], tmp_path / "web", workers=1)
    web = RecordedWeb.open(tmp_path / "web")
    settings = Experiment(
        web=tmp_path / "web", topics=topics, strategies=("breadth_first", "best_first"), page_budget=4
    )
    begun = {key: Start(*key, *pages) for key, pages in starts.items()}

    def crawl(visited):
        n = len(visited)
        return Crawl(np.array(visited, np.int32), np.zeros(n), np.full(n, 2.0), Ended.FRONTIER, 0, 0)

    done = [Run(begun[name, seed], strategy, crawl(visited)) for (name, strategy, seed), visited in traces.items()]
    (tmp_path / "run").mkdir()
    write_run(tmp_path / "run", settings, web, begun.values(), done)
    return evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics()[0], [1, 2])


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
        ("crawls.jsonl", "[]\n"),
        ("crawls.jsonl", "no json\n"),
        ("traces.parquet", "PAR1"),
        ("topics.jsonl", '{"id": "other", "keywords": ["other"]}\n'),
    ],
)
def test_a_damaged_run_is_refused_in_one_line(web_path, topics_file, tmp_path, file, content):
    simulated(web_path, topics_file, tmp_path / "run")
    (tmp_path / "run" / file).write_text(content)
    with pytest.raises(BadInput) as refused:
        evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics()[0])
    assert "\n" not in str(refused.value)


def test_steps_that_no_crawl_has_are_refused(web_path, topics_file, tmp_path):
    simulated(web_path, topics_file, tmp_path / "run")
    with pytest.raises(BadParameter, match="no value after 21"):
        evaluate(RunFolder.open(tmp_path / "run"), chosen_metrics()[0], [21])


def test_a_metric_may_be_named_with_its_step():
    metrics, steps = chosen_metrics(["precision@10", "precision", "target_recall@5"])
    assert [str(metric) for metric in metrics] == ["precision", "target_recall"]
    assert steps == [10, 5]


def test_a_budget_beyond_all_measure_is_refused(web_path):
    with pytest.raises(BadParameter, match="pages is 3000000000"):
        experiment(web_path, page_budget=3_000_000_000)
