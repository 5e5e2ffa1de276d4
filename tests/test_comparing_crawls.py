"""Comparisons on a small recorded web: what is crawled, measured, kept, left out, and drawn."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from comparisons import WantedComparison
from evolution_web import WORDS, record_topical, url, write_topical
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, UnknownName, UsageError
from scenthound.experiments.bounds import greedy_oracle, page_graph
from scenthound.experiments.compare.comparison import StrategyComparison, compare_strategies
from scenthound.experiments.compare.ranking import Mark, row_name
from scenthound.experiments.compare.results import as_json, compare_into, crawls_csv, parse_comparison
from scenthound.experiments.compare.settings import Sweep, check_length
from scenthound.experiments.pipeline import plan, run
from scenthound.experiments.starts import Start, Task, TopicChoice, training_of
from scenthound.metrics.retrieval import Precision
from scenthound.model import Topic
from scenthound.simulator.scores import WebWords
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training
from scenthound.topics.files import write_topics
from scenthound.ui.figures import draw
from scenthound.ui.reports.comparison import RENDERER, draw_ranking
from scenthound.ui.reports.comparison import sweep_figure as sweep_data

#: Two strategies, 40 pages from three start pages each.
SMALL = WantedComparison(("breadth_first", "best_first"), page_budget=40, repeats=6, n_start=3)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a web and its topics."""
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


@pytest.fixture(scope="module")
def crawls(tmp_path_factory) -> Path:
    """Where crawls are kept for all tests."""
    return tmp_path_factory.mktemp("crawls")


@pytest.fixture
def compare(place, crawls):
    def call(settings=SMALL, ids=("balloon",), topics=None, cache=None, **more) -> StrategyComparison:
        choice = TopicChoice(topics or place / "topics.jsonl", ids)
        return compare_strategies(*settings.on(place / "web", choice), cache or crawls, workers=1, **more)

    return call


def test_values_are_those_of_crawls_that_were_made_by_themselves(compare, place):
    done = compare(replace(SMALL, repeats=2), ids=("balloon", "train"))
    web = RecordedWeb.open(place / "web")
    for each in run(done.experiment, plan(done.experiment, web), workers=1):
        found = set(each.crawl.pages.tolist()) & set(each.start.targets)
        contestant = [known.spec for known in done.contestants].index(each.strategy)
        at = contestant, done.measured.topics.index(each.start.topic), each.start.seed
        assert done.measured.values[at] == pytest.approx(len(found) / len(each.start.targets))
        assert done.measured.n_pages[at] == len(each.crawl.pages) == 40
        assert done.measured.n_missing[at] == each.crawl.n_missing
    assert done.by == "target_recall@40"
    assert done.measured.values.shape == (2, 2, 2)


def test_bounds_enclose_the_gap(compare):
    measured = compare().measured
    assert (measured.random < measured.oracle).all()
    assert (measured.values <= measured.oracle + 1e-12).all()
    assert np.isnan(compare(replace(SMALL, by="mean_similarity")).measured.oracle).all()


def test_who_knows_all_is_after_the_targets_if_these_decide(compare, place, tmp_path):
    some = Topic("some", ("balloon",), examples=tuple(url(i) for i in range(0, 60, 3)), targets=(url(1), url(100)))
    write_topics(tmp_path / "some.jsonl", [some])
    done = compare(replace(SMALL, repeats=1, page_budget=8), ids=(), topics=tmp_path / "some.jsonl")
    web = RecordedWeb.open(place / "web")
    graph = page_graph(web, VisibleLinks(web, closed_world=False, respect_nofollow=True))
    ((_, start),) = plan(done.experiment, web)
    oracle = greedy_oracle(graph, start, np.array(sorted(start.targets), np.int32), page_budget=8)
    assert done.measured.oracle.item() == np.isin(start.targets, oracle.pages).mean() == 1


def test_judges_learn_from_pages_set_aside_for_them(compare):
    done = compare(replace(SMALL, by="harvest", n_judge=6, repeats=1))
    assert ((done.measured.values >= 0) & (done.measured.values <= 1)).all()


def test_the_one_that_halves_choose_is_told_of_itself_whatever_the_order(compare):
    for strategies in (("breadth_first", "best_first"), ("best_first", "breadth_first")):
        done = compare(replace(SMALL, strategies=strategies, by="precision"))
        assert done.winner.contestant.spec == "breadth_first"
        assert done.chosen_share(done.winner) > 0.9


def test_what_was_crawled_is_not_crawled_again(compare, tmp_path):
    first = compare(cache=tmp_path / "kept")
    assert first.n_made == 12
    again = compare(cache=tmp_path / "kept")
    assert again.n_made == 0
    assert as_json(again)["ranking"] == as_json(first)["ranking"]
    assert compare(replace(SMALL, strategies=("best_first", "opic")), cache=tmp_path / "kept").n_made == 6
    # Another metric needs no other crawls.
    assert compare(replace(SMALL, by="precision@20"), cache=tmp_path / "kept").n_made == 0


def test_all_installed_take_part_and_those_with_two_names_are_shown_once(compare):
    done = compare(replace(SMALL, strategies=(), repeats=2, page_budget=30))
    shown = {placed.contestant.spec for placed in done.ranking}
    assert {"best_first", "breadth_first", "otie", "infospiders:max_pages=30"} <= shown
    assert "best_n_first" not in shown
    assert "best_n_first crawled the same pages in the same order as best_first." in done.notes
    assert set(done.cpu_us) == {each.spec for each in done.contestants}
    assert all(cpu_us > 0 for cpu_us in done.cpu_us.values())


def test_who_cannot_crawl_for_the_topic_is_left_out_unless_it_was_named(compare, tmp_path):
    # There is no other topic for classifiers to learn from, and no keyword that the web knows.
    lonely = Topic("lonely", ("zeppelin",), description="balloon", examples=tuple(url(i) for i in range(0, 60, 3)))
    write_topics(tmp_path / "one.jsonl", [lonely])
    settings = replace(SMALL, repeats=1, page_budget=20, relevance="cosine:description=true")
    done = compare(replace(settings, strategies=()), ids=(), topics=tmp_path / "one.jsonl")
    assert not any("infospiders" in each.spec for each in done.contestants)
    assert any(note.startswith("Skipped: infospiders:max_pages=20. Topic 'lonely'") for note in done.notes)
    told = replace(lonely, keywords=("balloon",))
    write_topics(tmp_path / "told.jsonl", [told])
    done = compare(replace(settings, strategies=(), relevance=None), ids=(), topics=tmp_path / "told.jsonl")
    assert {each.spec for each in done.contestants}.isdisjoint({"otie", "link_context", "evolved"})
    assert any(note.startswith("Skipped: evolved, hub_otie, link_context, otie, rank_function.") for note in done.notes)
    with pytest.raises(InvalidTopic, match="uses the words of its keywords"):
        compare(replace(settings, strategies=("infospiders",)), ids=(), topics=tmp_path / "one.jsonl")


def test_no_crawl_takes_more_than_half_of_the_web(compare):
    done = compare(replace(SMALL, page_budget=1000, repeats=1))
    assert done.experiment.page_budget == 120
    assert any("the page budget is 120, half of the web, instead of 1,000" in note for note in done.notes)


def test_too_few_starts_and_one_start_are_told(compare):
    assert any("use at least 6 starts" in note for note in compare(replace(SMALL, repeats=5)).notes)
    assert any("One start shows no spread" in note for note in compare(replace(SMALL, repeats=1)).notes)
    assert not any("take at least" in note for note in compare().notes)


def test_five_topics_are_the_observations(compare, tmp_path):
    topics = [
        Topic(f"{word}{part}", (word,), examples=tuple(url(i) for i in range(k + 15 * part, 60, 3)))
        for k, word in enumerate(WORDS)
        for part in range(2)
    ]
    write_topics(tmp_path / "six.jsonl", topics)
    done = compare(replace(SMALL, repeats=None), ids=tuple(topic.id for topic in topics), topics=tmp_path / "six.jsonl")
    assert done.measured.observations.shape == (2, 6)
    assert done.ranking[1].difference.over == "topics"
    assert "6 topics, each with one random start" in done.says
    assert sum(as_json(done)["topics_won"].values()) == 6


def test_a_metric_without_a_value_is_refused_before_the_first_crawl(compare, place, tmp_path):
    write_topics(
        tmp_path / "bare.jsonl", [Topic("bare", ("balloon",), examples=tuple(url(i) for i in range(0, 60, 3)))]
    )
    for by in ("mean_similarity", "rank"):
        with pytest.raises(InvalidTopic, match=f"There is no {by} for topic 'bare', which needs a description"):
            compare(replace(SMALL, by=by), ids=(), topics=tmp_path / "bare.jsonl", cache=tmp_path / "none")
    with pytest.raises(InvalidTopic, match="set examples aside with --judge N"):
        compare(replace(SMALL, by="harvest"), cache=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_topic_without_the_metric_is_left_out_and_named(compare, tmp_path):
    examples = tuple(url(i) for i in range(0, 60, 3))
    topics = [Topic("told", ("balloon",), description="A balloon.", examples=examples)]
    write_topics(tmp_path / "two.jsonl", [*topics, Topic("bare", ("balloon",), examples=examples)])
    done = compare(replace(SMALL, by="mean_similarity"), ids=("bare", "told"), topics=tmp_path / "two.jsonl")
    assert done.measured.topics == ("told",)
    assert any("skipped: bare. It needs a description" in note for note in done.notes)
    assert "--topic told" in done.command


def test_what_cannot_be_compared_is_said_in_one_line(compare):
    with pytest.raises(UsageError, match="has 3 topics: choose one with --topic, for example balloon, train, garden"):
        compare(ids=())
    with pytest.raises(UnknownName, match="Did you mean 'balloon'"):
        compare(ids=("baloon",))


def test_crawls_that_end_at_their_start_are_refused_with_what_would_help(compare, place):
    def advice(**settings) -> str:
        with pytest.raises(InvalidParameter, match="before they visit any other page: ") as told:
            compare(replace(SMALL, **settings))
        return str(told.value).rpartition("before they visit any other page: ")[2]

    assert advice(n_start=1, page_budget=1) == "give larger --pages."
    assert advice(n_start=3, page_budget=3) == "give a smaller --start, or larger --pages."
    assert advice(n_start=1, by="precision@1") == "give a larger number after the @ of --by."
    assert advice(n_start=3, by="precision@3") == "give a smaller --start, or a larger number after the @ of --by."
    # Of 240 pages no crawl has more than 120.
    assert advice(n_start=200, page_budget=500, task=Task.NEIGHBOURS) == "give a smaller --start."


def test_a_web_too_small_for_any_crawl_is_told():
    with pytest.raises(InvalidParameter, match=r"start from 1 page and .*: use a web of more than 3 pages"):
        check_length(Start("balloon", 0, (0,), (1,)), Precision() @ 1, pages=1, n_pages=3)


def test_only_one_of_several_topics_can_be_skipped(compare, place, tmp_path):
    gone = [Topic(name, ("balloon",), examples=("http://gone.test/",)) for name in ("gone", "lost")]
    write_topics(tmp_path / "one.jsonl", gone[:1])
    write_topics(tmp_path / "two.jsonl", gone)
    for ids, file in (((), "one.jsonl"), (("gone",), "one.jsonl"), (("gone",), "two.jsonl")):
        with pytest.raises(InvalidTopic, match="'gone' has no example in the recorded web") as told:
            compare(ids=ids, topics=tmp_path / file)
        assert "--skip-missing" not in str(told.value)
    several = TopicChoice(tmp_path / "two.jsonl", most=1), TopicChoice(tmp_path / "two.jsonl", ("gone", "lost"))
    for choice in several:
        with pytest.raises(InvalidTopic, match="with --skip-missing"):
            compare_strategies(*SMALL.on(place / "web", choice), tmp_path / "none", workers=1)


def test_classifiers_that_judge_learn_from_the_other_topics_of_the_file(compare):
    done = compare(replace(SMALL, by="classified", repeats=2))
    assert (done.measured.values > 0).any()
    assert {start.topic for start in done_starts(done)} == {"balloon"}


def done_starts(done):
    return [start for _, start in plan(done.experiment, RecordedWeb.open(done.experiment.web))]


def test_progress_goes_from_nothing_to_the_whole_and_never_back(compare, tmp_path):
    told = []
    compare(cache=tmp_path / "kept", progress=lambda share, _: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.fixture
def swept(compare):
    """Best-N-First with sweeps of these values."""

    def call(**values) -> StrategyComparison:
        sweeps = tuple(Sweep(name, tuple(given.split(","))) for name, given in values.items())
        return compare(replace(SMALL, strategies=("best_n_first",), sweeps=sweeps, repeats=2))

    return call


def sweep_figure(done):
    return draw(sweep_data(parse_comparison(as_json(done))))


def ranking_figure(done):
    return draw_ranking(parse_comparison(as_json(done)))


def ticks(figure):
    axes = figure.axes[0]
    return axes.get_xscale(), axes.get_xticks().tolist(), [label.get_text() for label in axes.get_xticklabels()]


def test_values_that_span_much_stand_on_a_logarithmic_axis_in_their_order(swept):
    assert ticks(sweep_figure(swept(n="64,1,8"))) == ("log", [1, 8, 64], ["1", "8", "64"])
    assert ticks(sweep_figure(swept(n="1,10"))) == ("linear", [1, 10], ["1", "10"])
    assert ticks(sweep_figure(swept(n="1,11")))[0] == "log"


def test_words_and_none_stand_as_categories_in_the_order_given(swept):
    assert ticks(sweep_figure(swept(buffer="none,4,400"))) == ("linear", [0, 1, 2], ["none", "4", "400"])
    assert ticks(sweep_figure(swept(description="true,false"))) == ("linear", [0, 1], ["true", "false"])


def test_a_second_sweep_has_a_line_for_each_of_its_values(swept):
    done = swept(n="1,4", buffer="none,8")
    lines = dict(zip(*reversed(sweep_figure(done).axes[0].get_legend_handles_labels()), strict=True))
    assert list(lines) == ["best_n_first, buffer=none", "best_n_first, buffer=8"]
    drawn = lines["best_n_first, buffer=8"]
    means = {placed.contestant.swept: placed.mean for placed in done.ranking}
    assert drawn.get_xdata().tolist() == [1, 4]
    assert drawn.get_ydata().tolist() == [means[1, 8], means[4, 8]]


def test_values_of_a_sweep_that_change_nothing_share_a_row_and_are_drawn(swept):
    # No crawl of 40 pages fills a frontier of a thousand URLs.
    done = swept(buffer="4,1000,2000,3000")
    names = {row_name(placed) for placed in done.ranking}
    assert names == {"best_n_first:buffer=4", "best_n_first:buffer=1000 (also 2000, 3000)"}
    assert not any("the same pages" in note for note in done.notes)
    line, *_ = sweep_figure(done).axes[0].lines
    assert line.get_xdata().tolist() == [4, 1000, 2000, 3000]
    small, *large = line.get_ydata().tolist()
    assert len(set(large)) == 1 != len({small, *large})
    labels = {label.get_text() for label in ranking_figure(done).axes[0].get_yticklabels()}
    assert labels == names


def test_values_of_a_grid_that_change_nothing_are_named_in_full(swept):
    done = swept(n="1,4", buffer="1000,2000")
    assert {row_name(placed) for placed in done.ranking} == {
        f"best_n_first:n={n},buffer=1000 (also best_n_first:n={n},buffer=2000)" for n in (1, 4)
    }


def test_the_ranking_is_drawn_with_the_best_on_top(compare):
    done = compare()
    axes = ranking_figure(done).axes[0]
    names = {tick: label.get_text() for tick, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    assert names[max(names)] == done.winner.contestant.spec
    drawn = {names[container.lines[0].get_ydata().item()]: container for container in axes.containers}
    for placed in done.ranking:
        assert drawn[placed.contestant.spec].lines[0].get_xdata().item() == placed.mean
    assert axes.get_xlabel() == "target recall after 40 pages (more is better)"


def test_files_hold_the_ranking_and_every_crawl(compare):
    done = compare()
    told = json.loads(json.dumps(as_json(done), allow_nan=False))
    assert told["winner"] == done.winner.contestant.spec
    assert [row["place"] for row in told["ranking"]] == [1, 2]
    assert told["ranking"][0]["difference"] is None
    assert told["ranking"][1]["mark"] in {mark.value for mark in Mark}
    rows = list(csv.DictReader(io.StringIO(crawls_csv(done))))
    assert len(rows) == 12
    own = [float(row["target_recall@40"]) for row in rows if row["strategy"] == done.winner.contestant.spec]
    assert np.mean(own) == pytest.approx(done.winner.mean, abs=1e-5)


def test_a_folder_is_written_and_taken_up_again_and_what_is_not_ours_is_left_alone(place, tmp_path):
    choice, out = TopicChoice(place / "topics.jsonl", ("balloon",)), tmp_path / "out"
    sweep = replace(SMALL, strategies=("best_n_first",), sweeps=(Sweep("n", ("1", "4")),), repeats=2)
    assert compare_into(out, *sweep.on(place / "web", choice), render=RENDERER, workers=1).n_made == 4
    pictures = {"ranking.svg", "ranking.png", "sweep.svg", "sweep.png"}
    files = {"comparison.json", "comparison.csv", "report.html", *pictures}
    assert {entry.name for entry in out.iterdir()} == {"crawls", *files}
    plain = replace(sweep, strategies=("best_n_first:n=1",), sweeps=())
    assert compare_into(out, *plain.on(place / "web", choice), render=RENDERER, workers=1).n_made == 0
    # There is no sweep any more, so its pictures would tell of another comparison.
    assert not {"sweep.svg", "sweep.png"} & {entry.name for entry in out.iterdir()}
    (out / "letter.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r"not part of a comparison, such as letter\.txt"):
        compare_into(out, *plain.on(place / "web", choice), workers=1)


def test_a_live_crawl_can_learn_what_the_guide_of_the_winner_learnt(place, tmp_path):
    choice, out = TopicChoice(place / "topics.jsonl", ("balloon",)), tmp_path / "out"
    settings = replace(SMALL, strategies=("otie",), repeats=2, page_budget=20)
    done = compare_into(out, *settings.on(place / "web", choice), workers=1)
    assert f"--relevance svm --train-from {out / 'training'} " in done.command
    web = RecordedWeb.open(place / "web")
    first = done_starts(done)[0]
    learnt = training_of(web, first.training, first.negatives)
    read = read_training(out / "training", WebWords(web))
    for ours, theirs in ((learnt.positives, read.positives), (learnt.negatives, read.negatives)):
        assert [words[words > 0].tolist() for words in ours] == [words.tolist() for words in theirs]
    assert (len(learnt.positives), len(learnt.negatives)) == (3, 6)
    # The next winner has nothing to learn, and what is left of the other would be taken for its own.
    compare_into(out, *replace(settings, strategies=("best_first",)).on(place / "web", choice), workers=1)
    assert not (out / "training").exists()
