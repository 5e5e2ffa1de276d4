"""Each metric on an example worked out by hand, and the one rule for crawls that ended early."""

import re
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

from scenthound.errors import InvalidParameter, PluginError, UnknownName
from scenthound.metrics.base import METRICS, FixedFacts, GroundTruth, PoolVectors, padded, parse_metric
from scenthound.metrics.ranks import MeanSimilarity, similarities
from scenthound.metrics.retrieval import Precision, TargetRecall
from scenthound.model import Trace
from scenthound.testing import check_metric
from scenthound.text.vectors import TermRows, count_words, tf_idf_weights


def ids(*pages):
    return np.array(pages, dtype=np.int32)


def trace(*pages):
    return Trace("t", "s", 0, ids(*pages), np.zeros(len(pages)))


JUDGEMENT = GroundTruth(
    relevant=ids(1, 2, 3, 4),
    targets=ids(3, 4),
    seeds=ids(1),
    pool=ids(1, 3, 7, 9),
    facts=FixedFacts(similarities=np.array([0.8, 0.4, 0.0, 0.2])),
)
NOTHING = GroundTruth(ids(), ids(), ids(), ids(1, 3, 7, 9), FixedFacts())
CRAWL = trace(1, 9, 3, 7)


@pytest.mark.parametrize("name", METRICS.names())
def test_a_metric_keeps_its_contract(name):
    check_metric(METRICS.make(name))


def test_precision_is_the_share_of_relevant_pages_so_far():
    assert Precision().curve(CRAWL, JUDGEMENT, 4) == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4])


def test_target_recall_is_the_share_of_targets_found_so_far():
    assert TargetRecall().curve(CRAWL, JUDGEMENT, 4) == pytest.approx([0, 0, 1 / 2, 1 / 2])


def test_mean_similarity_is_the_mean_so_far():
    assert MeanSimilarity().curve(CRAWL, JUDGEMENT, 4) == pytest.approx([0.8, 0.5, 1.4 / 3, 1.4 / 4])


def test_the_similarity_to_the_description_uses_the_document_frequencies_of_the_pool():
    # Pool: page 0 = (1: 2, 2: 1), page 1 = (2: 1). Description = (1: 1, 3: 1); word 3 is on no page and weighs nothing.
    # |S| = 2, n1 = 1, n2 = 2: weights 1 + ln 2 for word 1 and 1 for word 2.
    pool = TermRows(np.array([0, 2, 3]), ids(1, 2, 2), ids(2, 1, 1))
    weight = 1 + log(2)
    expected = [2 * weight * weight / (sqrt(4 * weight**2 + 1) * weight), 0.0]
    frequency = pool.document_frequency(4)
    vectors = PoolVectors(pool, tf_idf_weights(pool, frequency, 2), frequency)
    assert similarities(vectors, count_words(ids(1, 3))) == pytest.approx(expected)


def test_pages_that_a_crawl_did_not_get_are_worth_nothing_and_count():
    # Two of four pages are relevant; if the crawl had continued to 8 irrelevant pages, it would be 2 / 8.
    assert Precision().curve(CRAWL, JUDGEMENT, 8)[4:] == pytest.approx([2 / 5, 2 / 6, 2 / 7, 2 / 8])
    assert (MeanSimilarity() @ 10)(CRAWL, JUDGEMENT) == pytest.approx(1.4 / 10)
    assert TargetRecall().curve(CRAWL, JUDGEMENT, 6)[3:] == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    assert padded(np.array([0.1, 0.2]), 4, missing=9.0).tolist() == [0.1, 0.2, 9.0, 9.0]


def test_a_crawler_does_not_gain_by_stopping_at_its_best_moment():
    stopped, went_on = trace(1), trace(1, 9, 3, 7)
    assert (Precision() @ 4)(stopped, JUDGEMENT) < (Precision() @ 4)(went_on, JUDGEMENT)


def test_pages_beyond_the_step_asked_for_do_not_count():
    assert (Precision() @ 2)(CRAWL, JUDGEMENT) == pytest.approx(1 / 2)


def test_a_crawl_that_got_no_page_scores_nothing():
    for metric in (Precision(), TargetRecall(), MeanSimilarity()):
        assert (metric @ 10)(trace(), JUDGEMENT) == 0


@pytest.mark.parametrize("metric", [METRICS.make(name) for name in METRICS.names()], ids=str)
def test_what_the_judges_cannot_know_is_not_a_number(metric):
    assert np.isnan(metric.curve(CRAWL, NOTHING, 4)).all()
    assert np.isnan((metric @ 3)(CRAWL, NOTHING))
    assert np.isnan((metric @ 3)(trace(), NOTHING))


def test_a_metric_prints_as_it_parses():
    written = ("precision", "target_recall@1000", "rank:by=linkage@5", "coverage:by=linkage,top=20", "area:of=recall@9")
    for text in written:
        assert str(parse_metric(text)) == text


def test_defaults_are_not_printed_so_that_a_metric_has_one_spelling():
    assert str(parse_metric("coverage:top=100,by=lexical@10")) == "coverage@10"
    assert str(parse_metric("area:of=rank:by=lexical")) == "area:of=rank"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("precison", UnknownName, "'precision'"),
        ("precision@ten", InvalidParameter, "'precision@ten': .*precision@1000"),
        ("precision@", InvalidParameter, "'precision@': .*precision@1000"),
        ("precision@0", InvalidParameter, "precision@0: .* 1"),
        ("rank:by=linkedge", UnknownName, "'linkage'"),
        ("coverage:top=0", InvalidParameter, "top=0 .*1"),
        ("area:of=recal", UnknownName, "'recall'"),
    ],
)
def test_a_bad_metric_is_refused(text, error, says):
    with pytest.raises(error, match=says):
        parse_metric(text)


class Forgetful(Precision):
    def __init__(self, top: int = 3) -> None:
        self._top = top


def test_a_metric_that_hides_its_parameters_breaks_the_contract():
    with pytest.raises(PluginError, match=r"\btop\b"):
        check_metric(Forgetful())


MANUAL = Path(__file__).resolve().parents[1] / "docs" / "metrics.md"


def test_the_manual_describes_every_metric_with_its_parameters():
    parts = re.split(r"^### `(\w+)`$", MANUAL.read_text(encoding="utf-8").split("\n## More")[0], flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert sorted(sections) == METRICS.names()
    for name, text in sections.items():
        assert set(re.findall(r"`(\w+=\w+)`", text)) >= {str(each) for each in METRICS.parameters(name).values()}, name
        assert ("*On request only.*" in text) == METRICS.factory(name).on_request_only, name
        assert "\nExample: " in text, name
