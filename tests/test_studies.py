"""Studies from files to findings, on a made-up web: what is crawled, kept, measured and refused."""

import re
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from scenthound.errors import InvalidTopic
from scenthound.experiments.ground_truth import RelevantShares, TopicGroundTruth
from scenthound.experiments.pipeline import crawl_all
from scenthound.experiments.starts import Starts
from scenthound.experiments.study.arms import domains_of_pages, prepared_arms, sample_topics, study_topics
from scenthound.experiments.study.classifiers import KNOWN_PAGES
from scenthound.experiments.study.measures import arm_steps, measure_arm
from scenthound.experiments.study.settings import StudySettings, parse_settings
from scenthound.experiments.study.study import Study, run_study
from scenthound.experiments.study.tables import acceptance_table, search_length_table
from scenthound.metrics.base import METRICS
from scenthound.model import Trace
from scenthound.store.recorded_web import RecordedWeb
from scenthound.testing import topical_web
from scenthound.topics.files import read_topics, write_topics

pytestmark = pytest.mark.usefixtures("no_figures")

SMALL = """
study = "pant2002"
title = "small"
pages = 60
[needs]
topics = 5
examples = 6
[[arm]]
name = "task 1"
start = 3
tops = [0.08, 1.0]
measures = ["rank:by=lexical", "rank:by=linkage", "recall", "target_recall", "precision", "coverage:by=lexical,top=60"]
[arm.strategies]
BFS1 = "best_n_first:n=1"
BFS16 = "best_n_first:n=16"
BFS64 = "best_n_first:n=64"
BFS128 = "best_n_first:n=128"
BFS256 = "best_n_first:n=256"
Breadth-First = "breadth_first"
[[arm]]
name = "task 2"
task = "neighbours"
start = 3
tops = [0.08, 1.0]
measures = ["rank:by=lexical", "rank:by=linkage", "target_recall"]
[arm.strategies]
BFS1 = "best_n_first:n=1"
BFS256 = "best_n_first:n=256"
Breadth-First = "breadth_first"
[[arm]]
name = "cost"
start = 3
topics = 2
plain = true
measures = ["target_recall"]
[arm.strategies]
BFS1 = "best_n_first:n=1"
Spiders = "infospiders:max_pages={pages}"
"""
SETTINGS = parse_settings(SMALL, "small")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("studies") / "web"
    topical_web(out, pages=400, links_per_page=8, words_per_page=12, topics=7, pages_per_host=40, seed=3)
    return out


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def study(web: Path, cache: Path) -> Study:
    return run(SETTINGS, web, cache)


def run(settings: StudySettings, web: Path, cache: Path, workers: int = 1) -> Study:
    return run_study(settings, web, web / "topics.jsonl", cache, workers=workers)


def prepared(settings: StudySettings, recorded: RecordedWeb, web: Path):
    """The arms of a study, and the notes on them."""
    return prepared_arms(settings, recorded, study_topics(settings, recorded, web / "topics.jsonl"))


def same(one: Study, other: Study) -> bool:
    return repr(one.findings) == repr(other.findings) and all(
        np.array_equal(mine.measured[name].values, theirs.measured[name].values, equal_nan=True)
        for mine, theirs in zip(one.arms, other.arms, strict=True)
        for name in mine.measured
        if name not in {"cpu_us", "target_recall_per_cpu_s"}
    )


VOTED = """
study = "wang2009"
title = "small"
pages = 40
[[arm]]
name = "crawls"
relevance = "cosine"
start = 3
judge = 6
measures = ["harvest", "harvest:calibrated=true"]
[arm.strategies]
Blind = "breadth_first"
"""


def test_the_acceptance_rate_of_classifiers_is_measured_beside_the_known_pages(web, tmp_path):
    recorded = RecordedWeb.open(web)
    (arm,), _ = prepared(parse_settings(VOTED, "small"), recorded, web)
    pieces = list(crawl_all(arm.source(tmp_path, recorded), arm.planned, workers=1))
    visited = np.unique(np.concatenate([piece.visited for piece in pieces]))
    measured = measure_arm(recorded, arm, visited, tmp_path, workers=1)
    judges = ("svm", "naive_bayes", "neural_net", "vote")
    assert list(measured.acceptance) == [*judges, *(f"{judge}, calibrated" for judge in judges), KNOWN_PAGES]
    known = measured.acceptance[KNOWN_PAGES]
    assert known.shape == (len(measured.topics), 3)
    assert np.nanmin(known[:, 1:]) == 1
    plain, calibrated = (measured.acceptance[name][:, 0].mean() for name in ("vote", "vote, calibrated"))
    assert calibrated <= plain
    (table,) = acceptance_table(measured)
    assert [row[0] for row in table.rows] == list(measured.acceptance)
    # The ceiling of findings is that of the calibrated judges.
    (start,) = [start for topic, start in arm.planned if topic.id == measured.topics[0]]
    (run,) = arm.source(tmp_path, recorded).open().of(arm.experiment.topics[0], start)
    everything = replace(run.trace, pages=np.arange(recorded.n_pages, dtype=np.int32))
    shares = RelevantShares(recorded, arm.experiment.topics)
    truth = TopicGroundTruth(recorded, arm.experiment.topics[0], [everything], shares=shares).ground_truth(start)
    assert measured.n_accepted[0] == truth.facts.accepted_by("vote", calibrated=True).sum()


def test_a_study_makes_every_crawl_and_tests_every_finding(study):
    assert study.n_crawls == 7 * 6 + 7 * 3 + 2 * 2
    # Those of the cost arm run in Python, so that their times compare.
    assert study.n_made == study.n_crawls
    assert [finding.name for finding in study.findings] == ["H5", "H6", "H7", "H8", "H9", "H10"]
    assert {arm.page_budget for arm in study.arms} == {60}
    assert len(study.arm("cost").topics) == 2


def test_a_second_run_makes_no_crawl_and_has_the_same_result(study, web, cache):
    again = run(SETTINGS, web, cache)
    assert again.n_made == 0
    assert same(again, study)


def test_only_missing_crawls_are_made(study, web, cache):
    files = sorted(cache.rglob("*.npz"))
    for file in files[::5]:
        file.unlink()
    again = run(SETTINGS, web, cache)
    # Where a crawl in C is missing, the one in Python is read: the cost arm has two of them.
    assert len(files[::5]) - 2 <= again.n_made <= len(files[::5])
    assert same(again, study)


def test_optional_arms_are_crawled_on_request_only(study, web, cache, tmp_path):
    crawlers = {"BFS1": "best_n_first:n=1", "InfoSpiders": "infospiders:max_pages={pages}"}
    extra = replace(SETTINGS.arms[1], name="more, task 1", task="examples", optional="more", strategies=crawlers)
    optional = replace(SETTINGS, arms=(*SETTINGS.arms, extra))
    assert same(run(optional, web, cache), study)
    chosen = run(optional.with_arms(["more"]), web, tmp_path)
    assert [arm.settings.name for arm in chosen.arms] == ["task 1", "task 2", "cost", "more, task 1"]
    assert repr(chosen.findings) == repr(study.findings)
    names = {table.name for table in chosen.tables} - {table.name for table in study.tables}
    assert names == {"end-more-task-1", "diagnostics-more-task-1"}


def test_a_larger_study_crawls_with_the_new_strategy_only(study, web, cache):
    first = SETTINGS.arms[0]
    more = replace(first, strategies={**first.strategies, "Adaptive": "adaptive_n_first"})
    larger = run(replace(SETTINGS, arms=(more, *SETTINGS.arms[1:])), web, cache)
    assert larger.n_made == 7


def test_processes_change_nothing(study, web, tmp_path):
    recorded = RecordedWeb.open(web)
    arm = prepared(SETTINGS, recorded, web)[0][1]
    pieces = list(crawl_all(arm.source(tmp_path, recorded), arm.planned, workers=2))
    visited = np.unique(np.concatenate([piece.visited for piece in pieces]))
    measured = measure_arm(recorded, arm, visited, tmp_path, workers=2)
    for name in ("rank:by=linkage", "coverage:by=lexical", "target_recall"):
        assert np.array_equal(measured.of(name).values, study.arms[1].of(name).values)


def test_measures_are_those_of_the_crawls(study, web, cache):
    """One value of each kind, computed again from the crawl itself."""
    recorded = RecordedWeb.open(web)
    arm, measured = prepared(SETTINGS, recorded, web)[0][0], study.arms[0]
    (topic, start), index = arm.planned[2], 4
    kept = arm.source(cache, recorded).open().of(topic, start)[index]
    found = len(set(kept.trace.pages.tolist()) & set(start.targets)) / len(start.targets)
    assert measured.of("target_recall").values[index, 2, -1] == pytest.approx(found)
    assert measured.missed[2 * 6 + index].n_missing == kept.crawl.n_missing
    static, dynamic = measured.of("coverage:by=lexical"), measured.of("coverage:by=lexical,top=60")
    assert static.x.tolist() == [5, 60]
    assert np.allclose(static.values[:, :, 1], dynamic.values[:, :, -1])


def test_claims_are_about_steps_at_which_curves_are_kept(study):
    arm = study.arms[0]
    # Crawls start from three pages, and a twentieth of 60 is three: six pages are the first that tell crawlers apart.
    assert [arm.step(share) for share in (0.05, 0.1, 0.25, 0.5, 1.0)] == [6, 6, 15, 30, 60]
    assert set(arm_steps(replace(arm.settings, start=10), 20_000).tolist()) >= {1000, 2000, 5000, 10_000, 20_000}


def test_several_random_seeds_of_a_topic_are_averaged(web, tmp_path):
    one_arm = SETTINGS.scaled(seeds=2)
    both = run(one_arm, web, tmp_path)
    recorded = RecordedWeb.open(web)
    arm = prepared(one_arm, recorded, web)[0][0]
    kept = arm.source(tmp_path, recorded).open()
    shares = [
        len(set(kept.of(topic, start)[0].trace.pages.tolist()) & set(start.targets)) / len(start.targets)
        for topic, start in arm.planned[:2]
    ]
    assert both.arms[0].of("target_recall").values[0, 0, -1] == pytest.approx(sum(shares) / 2)


def test_seeds_that_missing_pages_cannot_displace_are_counted(study):
    assert {crawl.n_relevant_seeds for crawl in study.arm("task 1").missed} == {3}


def test_bounds_lie_below_and_above(study):
    bounds = study.arms[0].bounds["recall"]
    assert bounds.values.shape == (2, 7, len(bounds.x))
    assert bounds.values[1].mean() > bounds.values[0].mean()


def test_search_lengths_are_the_steps_at_which_recall_reaches_the_share(study):
    arm = study.arms[0]
    lengths, recall = arm.search_lengths, arm.of("recall")
    assert lengths.shape == (6, 7, 3)
    for index in range(len(arm.labels)):
        for topic in range(len(arm.topics)):
            first, curve = lengths[index, topic, 0], recall.values[index, topic]
            # The budget is 60, so recall was kept after every page.
            reached = recall.x[curve >= 0.25 - 1e-9]
            assert first == (reached[0] if len(reached) else np.inf)


def test_a_median_counts_unreached_shares_as_longest(study):
    lengths = np.array([[10.0, 20.0, np.inf], [30.0, np.inf, np.inf]])[None].repeat(6, axis=0)
    (table,) = search_length_table(replace(study.arms[0], search_lengths=lengths))
    assert table.rows[0] == ("BFS1", "20, 2 of 2", "more, 1 of 2", "more, 0 of 2")


def test_crawls_from_halves_of_the_seeds_are_compared(web, tmp_path):
    halved = replace(SETTINGS.arms[1], task="examples", start=6, halves=True, tops=())
    recorded = RecordedWeb.open(web)
    arm = prepared(replace(SETTINGS, arms=(halved,)), recorded, web)[0][0]
    pairs = list(zip(arm.planned[::2], arm.planned[1::2], strict=True))
    for (topic, one), (same_topic, other) in pairs:
        assert topic is same_topic
        assert one.seeds
        assert not set(one.seeds) & set(other.seeds)
        assert one.targets == other.targets
    pieces = list(crawl_all(arm.source(tmp_path, recorded), arm.planned, workers=1))
    visited = np.unique(np.concatenate([piece.visited for piece in pieces]))
    measured = measure_arm(recorded, arm, visited, tmp_path, workers=1)
    kept = arm.source(tmp_path, recorded).open()
    first, second = (set(kept.of(*each)[1].trace.pages.tolist()) for each in pairs[0])
    assert measured.of("shared_pages").values[1, 0, -1] == pytest.approx(len(first & second) / len(first | second))


def test_links_to_other_domains_are_counted_only_for_pagerank(study, web, tmp_path):
    assert all(isnan(arm.leaving_share) for arm in study.arms)
    recorded = RecordedWeb.open(web)
    arm = replace(SETTINGS.arms[0], strategies={"PageRank": "pagerank"}, measures=("target_recall",), tops=())
    (one,), _ = prepared(replace(SETTINGS, arms=(arm,)), recorded, web)
    pieces = list(crawl_all(one.source(tmp_path, recorded), one.planned, workers=1))
    visited = np.unique(np.concatenate([piece.visited for piece in pieces]))
    assert 0 < measure_arm(recorded, one, visited, tmp_path, workers=1).leaving_share < 1


def test_cpu_time_is_measured_in_plain_crawls(study):
    assert (study.arm("cost").of("cpu_us").values > 0).all()


def test_a_budget_of_more_than_half_of_the_web_is_reduced_with_a_note(web, tmp_path):
    arms, notes = prepared(SETTINGS.scaled(pages=5000), RecordedWeb.open(web), web)
    assert {arm.experiment.page_budget for arm in arms} == {200}
    assert any(re.search(r"\b200 pages .*\b5,000\b", note) for note in notes)
    assert arms[2].experiment.strategies[1] == "infospiders:max_pages=200"


def test_topics_are_drawn_at_random_and_reproducibly(web):
    recorded = RecordedWeb.open(web)
    drawn = [
        [topic.id for topic in study_topics(SETTINGS.scaled(topics_max=5), recorded, web / "topics.jsonl").drawn]
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 5
    assert drawn[0] != [topic.id for topic in read_topics(web / "topics.jsonl")][:5]


@pytest.mark.parametrize(
    ("kept", "result"),
    [
        (2, r"\b5 topics .*\b6 examples .*; .*\b2 in "),
        (0, r"\b5 topics .*\b6 examples .*; .*\b7 in "),
    ],
)
def test_too_few_topics_raise_with_what_is_missing_and_possible(web, tmp_path, kept, result):
    topics = read_topics(web / "topics.jsonl")
    short = [replace(topic, examples=topic.examples[:5]) for topic in topics] if not kept else topics[:kept]
    write_topics(tmp_path / "few.jsonl", short)
    with pytest.raises(InvalidTopic) as refusal:
        study_topics(SETTINGS, RecordedWeb.open(web), tmp_path / "few.jsonl")
    said = str(refusal.value)
    assert re.search(result, said)
    assert ("`examples = 5`" in said) == (not kept)
    assert "\n" not in said


def test_topics_that_lack_a_requirement_are_skipped_with_a_reason(web, tmp_path):
    topics = read_topics(web / "topics.jsonl")
    mute = replace(topics[0], description="")
    write_topics(tmp_path / "mute.jsonl", [mute, *topics[1:]])
    needing = replace(SETTINGS, needs=replace(SETTINGS.needs, description=True))
    found = study_topics(needing, RecordedWeb.open(web), tmp_path / "mute.jsonl")
    assert mute.id not in {topic.id for topic in found.drawn}
    assert any(re.match(r"1 topic .*\bdescription\.", note) for note in found.notes)


@pytest.mark.parametrize(("relevance", "is_left_out"), [("cosine", True), (None, True), ("svm", False)])
def test_topics_whose_keywords_are_not_in_the_web_are_left_out_if_crawls_read_them(
    web, tmp_path, relevance, is_left_out
):
    topics = read_topics(web / "topics.jsonl")
    strange = replace(topics[0], keywords=("zzzunknown",), path="")
    # Without keywords those of the path count.
    by_path = replace(topics[1], keywords=(), path=f"Top/{topics[1].keywords[0]}")
    write_topics(tmp_path / "strange.jsonl", [strange, by_path, *topics[2:]])
    arms = tuple(replace(arm, relevance=relevance) for arm in SETTINGS.arms)
    needing = replace(SETTINGS, needs=replace(SETTINGS.needs, keywords=True), arms=arms)
    found = study_topics(needing, RecordedWeb.open(web), tmp_path / "strange.jsonl")
    left_out = {topic.id for topic in topics} - {topic.id for topic in found.drawn}
    assert left_out == ({strange.id} if is_left_out else set())
    assert any("keywords in the web" in note for note in found.notes) == is_left_out


def test_domains_are_counted_by_recorded_pages(web):
    assert len(domains_of_pages(RecordedWeb.open(web))) > 1


def test_training_pages_are_not_to_be_found(web):
    recorded, topic = RecordedWeb.open(web), read_topics(web / "topics.jsonl")[0]
    start = Starts(recorded, n_start=3, n_train=5).draw(topic, 0)
    trace = Trace(topic.id, "any", 0, np.array(start.seeds, np.int32), np.ones(len(start.seeds)))
    ground_truth = TopicGroundTruth(recorded, topic, [trace]).ground_truth(start)
    assert set(start.training) > set(start.seeds)
    assert set(ground_truth.to_find.tolist()) == set(ground_truth.relevant.tolist()) - set(start.training)
    published = Starts(recorded, n_start=3, as_published=True).draw(topic, 0)
    found = TopicGroundTruth(recorded, topic, [trace]).ground_truth(published).to_find
    assert set(published.targets) <= set(found.tolist())


# --- pages for judges ------------------------------------------------------------------------------------------------


def test_classifiers_learn_from_pages_of_their_own(web):
    recorded = RecordedWeb.open(web)
    for topic in read_topics(web / "topics.jsonl"):
        start = Starts(recorded, n_start=3, n_train=10, n_judge=10).draw(topic, 0)
        groups = [set(start.seeds), set(start.targets), set(start.judging), set(start.training) - set(start.seeds)]
        assert start.judging
        assert sum(map(len, groups)) == len(set().union(*groups))


def test_relevance_model_and_classifiers_learn_from_equally_many_pages(web):
    topic = max(read_topics(web / "topics.jsonl"), key=lambda topic: len(topic.examples))
    start = Starts(RecordedWeb.open(web), n_start=3, n_train=75, n_judge=75).draw(topic, 0)
    assert abs(len(start.training) - len(start.judging)) <= 1


def test_as_published_classifiers_learn_from_the_pages_of_the_model(web):
    topic = read_topics(web / "topics.jsonl")[0]
    start = Starts(RecordedWeb.open(web), n_start=3, n_judge=75, as_published=True).draw(topic, 0)
    assert start.judging == start.training
    assert set(start.targets) <= set(start.judging)


def test_pages_for_classifiers_do_not_change_the_seeds(web):
    topic, recorded = read_topics(web / "topics.jsonl")[0], RecordedWeb.open(web)
    with_judges = Starts(recorded, n_start=3, n_judge=5).draw(topic, 0)
    without = Starts(recorded, n_start=3).draw(topic, 0)
    assert without.judging == ()
    assert with_judges.seeds == without.seeds
    assert set(with_judges.targets) < set(without.targets)


def test_measures_have_the_direction_of_their_metrics(study):
    for arm in study.arms:
        for name, measured in arm.measured.items():
            if name not in {"cpu_us", "running_s", "target_recall_per_cpu_s"}:
                assert measured.lower_is_better == METRICS.make(name).lower_is_better


def test_the_first_table_is_a_sample_of_the_topics_with_the_columns_of_the_paper(study, web):
    table, recorded = study.tables[0], RecordedWeb.open(web)
    topics = {topic.id: topic for topic in read_topics(web / "topics.jsonl")}
    assert table.heads == ("topic keywords", "topic description", "examples")
    assert [row[0] for row in table.rows] == [" / ".join(topics[each].keywords) for each in study.arms[0].topics]
    for topic_id, row in zip(study.arms[0].topics, table.rows, strict=True):
        examples = topics[topic_id].examples
        assert row[2].split()[:3] == [recorded.url(recorded.page_of(url)) for url in examples[:3]]
        assert row[2].endswith(f" of {len(examples)})")


def test_samples_have_the_pages_of_the_first_start(web, cache):
    recorded = RecordedWeb.open(web)
    settings = replace(SETTINGS, seeds=2)
    (arm, *_), _ = prepared(settings, recorded, web)
    samples = sample_topics(arm, recorded)
    assert len(samples) == len(arm.experiment.topics) > 1
    for sample, (topic, start) in zip(samples, arm.planned[::2], strict=True):
        assert start.seed == 0
        assert (sample.name, sample.keywords) == (topic.path or topic.id, topic.keywords)
        assert sample.seeds == tuple(map(recorded.url, start.seeds))
        assert sample.targets == tuple(map(recorded.url, start.targets))


def test_samples_are_the_first_ten_topics(web):
    recorded = RecordedWeb.open(web)
    (arm, *_), _ = prepared(SETTINGS, recorded, web)
    topics = tuple(replace(arm.experiment.topics[0], id=f"t{number}", path="") for number in range(12))
    many = replace(
        arm,
        experiment=replace(arm.experiment, topics=topics),
        planned=tuple((topic, replace(arm.planned[0][1], topic=topic.id)) for topic in topics),
    )
    assert [sample.name for sample in sample_topics(many, recorded)] == [f"t{number}" for number in range(10)]
