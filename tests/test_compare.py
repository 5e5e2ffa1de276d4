"""Comparisons on a small recorded web: what is crawled, measured, kept, left out, and drawn."""

import csv
import io
import json
import re
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pytest

from comparisons import WantedComparison
from evolution_web import WORDS, record_topical, url, write_topical
from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, UnknownName, UsageError
from scenthound.experiments.bounds import greedy_oracle, page_graph
from scenthound.experiments.compare.comparison import Observed, StrategyComparison, compare_strategies
from scenthound.experiments.compare.ranking import Mark
from scenthound.experiments.compare.results import compare_into, crawls_csv
from scenthound.experiments.compare.settings import check_length
from scenthound.experiments.compare.verdict import Doubt
from scenthound.experiments.pipeline import CrawlSource, plan, run
from scenthound.experiments.starts import Start, Task, TopicChoice, training_of
from scenthound.metrics.retrieval import Precision
from scenthound.model import Topic
from scenthound.records import to_json
from scenthound.simulator.web import VisibleLinks
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.training_folder import read_training
from scenthound.topics.files import read_topics, write_topics
from scenthound.ui.reports.comparison import RENDERER

pytestmark = pytest.mark.usefixtures("no_figures")

#: Two strategies, 40 pages from three start pages each.
SMALL = WantedComparison(("breadth_first", "best_first"), page_budget=40, repeats=6, n_start=3)


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> Path:
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
def compare(topical, crawls):
    def call(settings=SMALL, ids=("balloon",), topics=None, cache=None, **more) -> StrategyComparison:
        choice = TopicChoice(topics or topical / "topics.jsonl", ids)
        return compare_strategies(*settings.on(topical / "web", choice), cache or crawls, workers=1, **more)

    return call


def test_values_equal_those_of_separate_crawls(compare, topical):
    done = compare(replace(SMALL, repeats=2), ids=("balloon", "train"))
    web = RecordedWeb.open(topical / "web")
    for each in run(CrawlSource(done.experiment), plan(done.experiment, web), workers=1):
        found = set(each.crawl.pages.tolist()) & set(each.start.targets)
        crawler = [known.spec for known in done.crawlers].index(each.strategy)
        at = crawler, done.measured.topics.index(each.start.topic), each.start.seed
        assert done.measured.values[at] == pytest.approx(len(found) / len(each.start.targets))
        assert done.measured.n_pages[at] == len(each.crawl.pages) == 40
        assert done.measured.n_missing[at] == each.crawl.n_missing
    assert done.result.by == "target_recall@40"
    assert done.measured.values.shape == (2, 2, 2)


def test_bounds_enclose_the_gap(compare):
    measured = compare().measured
    assert (measured.random < measured.oracle).all()
    assert (measured.values <= measured.oracle + 1e-12).all()
    assert np.isnan(compare(replace(SMALL, by="mean_similarity")).measured.oracle).all()


def test_the_oracle_looks_for_targets_if_target_recall_decides(compare, topical, tmp_path):
    some = Topic("some", ("balloon",), examples=tuple(url(i) for i in range(0, 60, 3)), targets=(url(1), url(100)))
    write_topics(tmp_path / "some.jsonl", [some])
    done = compare(replace(SMALL, repeats=1, page_budget=8), ids=(), topics=tmp_path / "some.jsonl")
    web = RecordedWeb.open(topical / "web")
    graph = page_graph(web, VisibleLinks(web, closed_world=False, respect_nofollow=True))
    ((_, start),) = plan(done.experiment, web)
    oracle = greedy_oracle(graph, start, np.array(sorted(start.targets), np.int32), page_budget=8)
    assert done.measured.oracle.item() == np.isin(start.targets, oracle.pages).mean() == 1


@pytest.mark.parametrize("by", ["harvest", "harvest:calibrated=true"])
def test_classifiers_learn_from_pages_set_aside_for_them(compare, by):
    done = compare(replace(SMALL, by=by, n_judge=6, repeats=1))
    assert ((done.measured.values >= 0) & (done.measured.values <= 1)).all()


def test_cached_crawls_are_not_made_again(compare, tmp_path):
    first = compare(cache=tmp_path / "kept")
    assert first.result.crawls_made == 12
    again = compare(cache=tmp_path / "kept")
    assert again.result.crawls_made == 0
    assert to_json(again.result.ranking) == to_json(first.result.ranking)
    assert compare(replace(SMALL, strategies=("best_first", "opic")), cache=tmp_path / "kept").result.crawls_made == 6
    # Another metric needs no other crawls.
    assert compare(replace(SMALL, by="precision@20"), cache=tmp_path / "kept").result.crawls_made == 0


def test_all_installed_strategies_take_part_and_twins_share_a_row(compare):
    done = compare(replace(SMALL, strategies=(), repeats=2, page_budget=30))
    shown = {row.strategy for row in done.result.ranking}
    assert {"best_first", "breadth_first", "otie", "infospiders:max_pages=30"} <= shown
    assert "best_n_first" not in shown
    assert "best_n_first" in next(row.also for row in done.result.ranking if row.strategy == "best_first")
    assert any(re.match(r"best_n_first\b.*\bbest_first\b", note) for note in done.result.notes)
    assert all(row.cpu_us_per_page > 0 for row in done.result.ranking)


def test_a_strategy_that_cannot_crawl_for_the_topic_is_skipped_unless_it_was_requested(compare, tmp_path):
    # There is no other topic for classifiers to learn from, and no keyword that the web knows.
    lonely = Topic("lonely", ("zeppelin",), description="balloon", examples=tuple(url(i) for i in range(0, 60, 3)))
    write_topics(tmp_path / "one.jsonl", [lonely])
    settings = replace(SMALL, repeats=1, page_budget=20, relevance="cosine:description=true")
    done = compare(replace(settings, strategies=()), ids=(), topics=tmp_path / "one.jsonl")
    assert not any("infospiders" in each.spec for each in done.crawlers)
    assert "'lonely'" in done.result.left_out["infospiders:max_pages=20"]
    result = replace(lonely, keywords=("balloon",))
    write_topics(tmp_path / "result.jsonl", [result])
    done = compare(replace(settings, strategies=(), relevance=None), ids=(), topics=tmp_path / "result.jsonl")
    assert not done.result.left_out
    with pytest.raises(InvalidTopic, match=r"'lonely': infospiders\b.*\bkeywords\b"):
        compare(replace(settings, strategies=("infospiders",)), ids=(), topics=tmp_path / "one.jsonl")


def test_the_page_budget_is_at_most_half_of_the_web(compare):
    done = compare(replace(SMALL, page_budget=1000, repeats=1))
    assert done.experiment.page_budget == done.result.pages == 120
    assert any(re.search(r"\b240\b.*\b120\b.*\b1,000\b", note) for note in done.result.notes)


def test_too_few_starts_are_no_verdict(compare):
    for repeats in (1, 5):
        verdict = compare(replace(SMALL, repeats=repeats)).result.verdict
        assert verdict.doubts == (Doubt.FEW_OBSERVATIONS,)
        assert re.search(r"\b6\b.*--repeats", verdict.because)
    assert Doubt.FEW_OBSERVATIONS not in compare().result.verdict.doubts


def test_five_topics_are_the_observations(compare, tmp_path):
    topics = [
        Topic(f"{word}{part}", (word,), examples=tuple(url(i) for i in range(k + 15 * part, 60, 3)))
        for k, word in enumerate(WORDS)
        for part in range(2)
    ]
    write_topics(tmp_path / "six.jsonl", topics)
    done = compare(replace(SMALL, repeats=None), ids=tuple(topic.id for topic in topics), topics=tmp_path / "six.jsonl")
    assert done.measured.observations.shape == (2, 6)
    assert done.result.ranking[1].difference.over == "topics"
    assert done.result.observed == Observed("topics", tuple(topic.id for topic in topics))
    assert done.result.seeds == 1
    assert sum(astuple(done.result.topics_won)) == 6


def test_a_metric_without_a_value_raises_before_the_first_crawl(compare, topical, tmp_path):
    write_topics(
        tmp_path / "bare.jsonl", [Topic("bare", ("balloon",), examples=tuple(url(i) for i in range(0, 60, 3)))]
    )
    for by in ("mean_similarity", "rank"):
        with pytest.raises(InvalidTopic, match=rf"\b{by} .*'bare'.*\bdescription\b"):
            compare(replace(SMALL, by=by), ids=(), topics=tmp_path / "bare.jsonl", cache=tmp_path / "none")
    with pytest.raises(InvalidTopic, match=r"'balloon'.*--judge"):
        compare(replace(SMALL, by="harvest"), cache=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_topic_without_the_metric_is_skipped_with_a_note(compare, tmp_path):
    examples = tuple(url(i) for i in range(0, 60, 3))
    topics = [Topic("result", ("balloon",), description="A balloon.", examples=examples)]
    write_topics(tmp_path / "two.jsonl", [*topics, Topic("bare", ("balloon",), examples=examples)])
    done = compare(
        replace(SMALL, by="mean_similarity", relevance="cosine"), ids=("bare", "result"), topics=tmp_path / "two.jsonl"
    )
    assert done.measured.topics == ("result",)
    assert done.measured.lacking == ("bare",)
    assert any(re.search(r"\bmean_similarity\b.*\bbare\b.*\bdescription\b", note) for note in done.result.notes)
    assert "--topic result" in done.result.command


def test_an_ambiguous_or_unknown_topic_raises(compare):
    with pytest.raises(UsageError, match=r"\b3\b.*--topic\b.*balloon, train, garden"):
        compare(ids=())
    with pytest.raises(UnknownName, match="'balloon'"):
        compare(ids=("baloon",))


def test_crawls_that_end_at_their_start_pages_raise_with_advice(compare, topical):
    def options_to_change(**settings) -> list[str]:
        with pytest.raises(InvalidParameter, match=rf"'balloon' .*\b{settings['n_start']} page") as result:
            compare(replace(SMALL, **settings))
        return re.findall(r"--\w+", str(result.value))

    assert options_to_change(n_start=1, page_budget=1) == ["--pages"]
    assert options_to_change(n_start=3, page_budget=3) == ["--start", "--pages"]
    assert options_to_change(n_start=1, by="precision@1") == ["--by"]
    assert options_to_change(n_start=3, by="precision@3") == ["--start", "--by"]
    # Of 240 pages no crawl has more than 120.
    assert options_to_change(n_start=200, page_budget=500, task=Task.NEIGHBOURS) == ["--start"]


def test_a_web_too_small_for_any_crawl_raises():
    with pytest.raises(InvalidParameter, match=r"'balloon' .*\b1 page\b.*: .*\b3 pages") as result:
        check_length(Start("balloon", 0, (0,), (1,)), Precision() @ 1, pages=1, n_pages=3)
    assert "--" not in str(result.value)


def test_only_one_of_several_topics_can_be_skipped(compare, topical, tmp_path):
    gone = [Topic(name, ("balloon",), examples=("http://gone.test/",)) for name in ("gone", "lost")]
    write_topics(tmp_path / "one.jsonl", gone[:1])
    write_topics(tmp_path / "two.jsonl", gone)
    for ids, file in (((), "one.jsonl"), (("gone",), "one.jsonl"), (("gone",), "two.jsonl")):
        with pytest.raises(InvalidTopic, match="'gone'") as result:
            compare(ids=ids, topics=tmp_path / file)
        assert "--skip-missing" not in str(result.value)
    several = TopicChoice(tmp_path / "two.jsonl", most=1), TopicChoice(tmp_path / "two.jsonl", ("gone", "lost"))
    for choice in several:
        with pytest.raises(InvalidTopic, match="--skip-missing"):
            compare_strategies(*SMALL.on(topical / "web", choice), tmp_path / "none", workers=1)


def test_topics_without_usable_keywords_are_skipped_on_request(topical, tmp_path):
    (balloon,) = (topic for topic in read_topics(topical / "topics.jsonl") if topic.id == "balloon")
    file = tmp_path / "topics.jsonl"
    write_topics(file, [replace(balloon, id="odd", keywords=("go",), description=""), balloon])
    choice = TopicChoice(file, most=1)
    with pytest.raises(InvalidTopic, match=r"'odd'.*--skip-missing"):
        compare_strategies(*SMALL.on(topical / "web", choice), tmp_path / "crawls", workers=1)
    skipping = replace(choice, skip_missing=True)
    done = compare_strategies(*SMALL.on(topical / "web", skipping), tmp_path / "crawls", workers=1)
    assert {start.topic for start in done_starts(done)} == {"balloon"}
    assert any(re.search(r"\b1 topic: odd\b", note) for note in done.result.notes)


def test_means_over_visited_pages_can_decide(compare):
    settings = replace(SMALL, strategies=("fish_search:depth=0", "best_first"), repeats=2)
    (padded, _), (visited, _) = (
        compare(replace(settings, by=by)).measured.values.mean(axis=(1, 2)).tolist()
        for by in ("precision", "visited:of=precision")
    )
    assert visited > padded > 0


def test_linear_classifiers_learn_from_the_other_topics_of_the_file(compare):
    done = compare(replace(SMALL, by="classified", repeats=2))
    assert (done.measured.values > 0).any()
    assert {start.topic for start in done_starts(done)} == {"balloon"}


def done_starts(done):
    return [start for _, start in plan(done.experiment, RecordedWeb.open(done.experiment.web))]


def test_progress_rises_to_one(compare, tmp_path):
    result = []
    compare(cache=tmp_path / "kept", progress=lambda share, _: result.append(share))
    assert result == sorted(result)
    assert result[-1] == 1


@pytest.fixture
def swept(compare):
    """Best-N-First with sweeps of these values."""

    def call(**values) -> StrategyComparison:
        sweeps = {name: tuple(given.split(",")) for name, given in values.items()}
        settings = replace(SMALL, strategies=("best_n_first",), sweeps=sweeps, repeats=2, relevance="cosine")
        return compare(settings)

    return call


def test_values_of_a_sweep_with_equal_crawls_share_a_row(swept):
    # No crawl of 40 pages fills a frontier of a thousand URLs.
    done = swept(buffer="4,1000,2000,3000")
    names = {row.name for row in done.result.ranking}
    assert names == {"best_n_first:buffer=4", "best_n_first:buffer=1000 (also 2000, 3000)"}
    assert not any("1000" in note for note in done.result.notes)


def test_values_of_a_grid_with_equal_crawls_are_named_in_full(swept):
    done = swept(n="1,4", buffer="1000,2000")
    assert {row.name for row in done.result.ranking} == {
        f"best_n_first:n={n},buffer=1000 (also best_n_first:n={n},buffer=2000)" for n in (1, 4)
    }


def test_files_hold_the_ranking_and_every_crawl(compare):
    done = compare()
    result = json.loads(json.dumps(to_json(done.result), allow_nan=False))
    assert result["winner"] == done.result.winner == ""
    assert [row["rank"] for row in result["ranking"]] == [1, 2]
    assert result["ranking"][0]["difference"] is None
    assert result["ranking"][1]["mark"] in {mark.value for mark in Mark}
    rows = list(csv.DictReader(io.StringIO(crawls_csv(done))))
    assert len(rows) == 12
    own = [float(row["target_recall@40"]) for row in rows if row["strategy"] == done.result.ranking[0].strategy]
    assert np.mean(own) == pytest.approx(done.result.ranking[0].mean, abs=1e-5)


def test_a_folder_is_reused_and_foreign_files_are_refused(topical, tmp_path):
    choice, out = TopicChoice(topical / "topics.jsonl", ("balloon",)), tmp_path / "out"
    sweep = replace(SMALL, strategies=("best_n_first",), sweeps={"n": ("1", "4")}, repeats=2)
    assert compare_into(out, *sweep.on(topical / "web", choice), render=RENDERER, workers=1).crawls_made == 4
    pictures = {"curves.svg", "curves.png"}
    files = {"comparison.json", "comparison.csv", "report.html", *pictures}
    assert {entry.name for entry in out.iterdir()} == {"crawls", *files}
    (out / "sweep.svg").write_text("old")
    plain = replace(sweep, strategies=("best_n_first:n=1",), sweeps={})
    assert compare_into(out, *plain.on(topical / "web", choice), render=RENDERER, workers=1).crawls_made == 0
    # An image that version 0.8 drew here would show another comparison.
    assert not (out / "sweep.svg").exists()
    (out / "letter.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r" letter\.txt: .*--out"):
        compare_into(out, *plain.on(topical / "web", choice), workers=1)


def test_a_live_crawl_can_be_trained_on_the_pages_of_the_winners_model(compare, topical, tmp_path):
    choice, out = TopicChoice(topical / "topics.jsonl", ("balloon",)), tmp_path / "out"
    settings = replace(SMALL, strategies=("otie", "breadth_first"), repeats=8, page_budget=100, relevance="svm")
    done = compare_into(out, *settings.on(topical / "web", choice), workers=1)
    assert f"--relevance svm --train-from {out / 'training'} " in done.command
    web = RecordedWeb.open(topical / "web")
    first = done_starts(compare(settings))[0]
    learnt = training_of(web, first.training, first.negatives)
    read = read_training(out / "training", web.word_index)
    for ours, theirs in ((learnt.positives, read.positives), (learnt.negatives, read.negatives)):
        assert [words[words > 0].tolist() for words in ours] == [words.tolist() for words in theirs]
    assert (len(learnt.positives), len(learnt.negatives)) == (3, 6)
    # The next winner has nothing to learn, and what is left of the other would be taken for its own.
    untrained = replace(settings, strategies=("best_first", "breadth_first"), relevance="cosine")
    assert compare_into(out, *untrained.on(topical / "web", choice), workers=1).winner == "best_first"
    assert not (out / "training").exists()
