"""From measurements to verdicts on the findings of the study."""

import re
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from ring_web import topic
from scenthound.experiments.findings import Verdict, decided_claims
from scenthound.experiments.setup import Experiment
from scenthound.experiments.validate.crawls import MEASURES, Measurements
from scenthound.experiments.validate.settings import BEST_FIRST, ValidationSettings
from scenthound.experiments.validate.validation import findings
from scenthound.experiments.validate.weights import (
    OF_THE_STUDY,
    SearchResult,
    SearchSize,
    search_results,
    weight_claims,
)
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

YES, NO, UNDECIDED = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED
NOT_ASKED = Verdict.CANNOT_BE_ASKED
N_SEEDS = 7


def rules(**weights):
    return RankRules((tuple(weights.get(name, 0.0) for name in SCORE_NAMES),))


PUBLISHED = {"hub": 10, "authority": 10, "comm_in": 76, "comm_out": 121, "parent_1": 97, "parent_2": 36}
#: A little noise for each search, so that searches differ.
NOISE = (0, 3, -2, 1, -3, 2)


def searches(*changes, n=5, size=OF_THE_STUDY, topics=("one", "two")):
    """This many searches of each topic, with the published weights, changes of them for each search, and noise."""
    changes = changes or ({},)
    return [
        SearchResult(rules(**PUBLISHED | {"parent_2": 36 + NOISE[k % 6]} | changes[k % len(changes)]), size, (topic,))
        for topic in topics
        for k in range(n)
    ]


def on_weights(found):
    claims = decided_claims(list(weight_claims(found)))
    return Verdict.of_all(claim.verdict for claim in claims), claims


def test_searches_with_the_published_order_reproduce_it():
    verdict, claims = on_weights(searches())
    assert verdict is YES
    assert len(claims) == 4
    for claim in claims:
        assert (claim.effect.over, claim.effect.n_topics, claim.effect.n_seeds) == ("searches", 2, 5)
        assert 0 < claim.effect.low <= claim.effect.mean <= claim.effect.high
        # Ten searches, all on the same side: 1 of 1,024 sign flips, corrected for four claims.
        assert (claim.p, claim.p_corrected) == (1 / 1024, 4 / 1024)
    # 121 - 97 of a sum of about 350.
    assert claims[0].effect.mean == pytest.approx(24 / 350, abs=1e-3)


@pytest.mark.parametrize(
    ("changed", "refuted"),
    [
        ({"comm_out": 50}, 0),  # less than PARENT_1
        ({"comm_in": 120}, 1),  # more than PARENT_1
        ({"hub": 45}, 2),  # COMM_IN is not twice that
        ({"authority": 45}, 3),
    ],
)
def test_searches_that_agree_on_another_order_refute_it(changed, refuted):
    verdict, claims = on_weights(searches(changed))
    assert verdict is NO
    assert [claim.verdict for claim in claims] == [NO if index == refuted else YES for index in range(4)]
    assert claims[refuted].effect.high < 0


def test_searches_that_disagree_leave_it_undecided():
    # Every other search has COMM_OUT and PARENT_1 in the other order.
    verdict, claims = on_weights(searches({}, {"comm_out": 97, "parent_1": 121}, n=6))
    assert verdict is UNDECIDED
    assert [claim.verdict for claim in claims] == [UNDECIDED, YES, YES, YES]
    assert claims[0].effect.low < 0 < claims[0].effect.high


@pytest.mark.parametrize("n", [1, 4])
def test_fewer_than_five_searches_of_a_topic_cannot_be_asked(n):
    verdict, claims = on_weights(searches(n=n))
    assert verdict is Verdict.CANNOT_BE_ASKED
    assert all(claim.effect is None and isnan(claim.p) for claim in claims)
    assert all(re.search(r"\b5 searches\b", claim.why) for claim in claims)
    # The weights are shown nevertheless: 121 and 97 of about 350.
    assert re.search(r"; found 0\.34\d and 0\.27\d$", claims[0].says)


def test_one_search_of_each_of_five_topics_is_enough_to_ask():
    verdict, claims = on_weights(searches(n=1, topics=tuple("abcdefgh")))
    assert claims[0].effect.over == "topics"
    assert verdict is YES


def test_five_searches_of_one_topic_are_too_few_to_test_four_claims():
    verdict, claims = on_weights(searches(topics=("one",)))
    assert verdict is UNDECIDED
    assert re.search(r"\b5 searches .*\b7\b", claims[0].why)
    assert on_weights(searches(topics=("one",), n=7))[0] is YES


@pytest.mark.parametrize("size", [None, SearchSize(49, 50, 3), SearchSize(50, 49, 3), SearchSize(50, 50, 2)])
def test_searches_smaller_than_that_of_the_study_or_unknown_cannot_be_asked(size):
    for changed in ({}, {"comm_out": 1}):
        assert on_weights(searches(changed, size=size))[0] is Verdict.CANNOT_BE_ASKED
    assert on_weights(searches(size=SearchSize(60, 70, 4)))[0] is YES
    assert str(SearchSize(20, 5, 1)) == "20 individuals, 5 generations and 1 crawl of each"


def test_searches_must_be_equally_many_for_each_topic():
    verdict, claims = on_weights(searches()[:-1])
    assert verdict is Verdict.CANNOT_BE_ASKED
    assert len(claims) == 4


def test_every_rule_has_its_own_claims():
    first = rules(**PUBLISHED).weights
    split = [
        SearchResult(
            RankRules((*first, *rules(parent_1=10, hub=k + 1).weights), "distance", (2,)), OF_THE_STUDY, ("a",)
        )
        for k in range(9)
    ]
    claims = on_weights(split)[1]
    assert [claim.says.split(":")[0] for claim in claims] == ["rule 1"] * 4 + ["rule 2"] * 4
    assert claims[4].verdict is NO
    # Other splits cannot be compared with these.
    verdict, _ = on_weights([*split, *searches(topics=("a",))])
    assert verdict is Verdict.CANNOT_BE_ASKED


ROW = "{{generation = {}, best = 0.5, mean = 0.4, evaluations = 100}}"
HISTORY = f"[history]\ngenerations = [{ROW.format(0)}, {ROW.format(7)}]\n"


@pytest.mark.parametrize(
    ("record", "size"),
    [
        ("", None),
        ('[training]\nsearch = "johnson2003:population=60,generations=70"\ncrawls = 4\n', SearchSize(60, 70, 4)),
        # Interrupted after the seventh generation of fifty.
        (f'[training]\nsearch = "johnson2003"\ncrawls = 3\n{HISTORY}', SearchSize(50, 7, 3)),
        ('[training]\nsearch = "johnson2003"\n', None),
        ('[training]\nsearch = "by hand"\ncrawls = 3\n', None),
        ("[training]\nsearch = 5\ncrawls = 3\n", None),
    ],
)
def test_the_size_of_a_search_is_in_its_file(tmp_path, record, size):
    (tmp_path / "e.toml").write_text(f'formula = "0.5*COMM_OUT + 0.5*PARENT_1"\n{record}')
    (found,) = search_results([f"evolved:file={tmp_path / 'e.toml'}"])
    assert found.size == size


def test_only_the_best_individuals_of_searches_count(tmp_path):
    for individual in (1, 2):
        record = f'[training]\ntopics = ["t"]\nindividual = {individual}\n'
        (tmp_path / f"{individual}.toml").write_text(f'formula = "COMM_OUT"\n{record}')
    files = [f"evolved:file={tmp_path / name}" for name in ("1.toml", "2.toml")]
    assert [each.topics for each in search_results([*files, "evolved", "rank_function"])] == [("t",)]


def settings(n_trained=1, n_unseen=1):
    topics = [topic("balloon", id=f"topic {i}") for i in range(n_trained + n_unseen)]
    return settings_on(topics, n_trained, "rank_function:preset=johnson2003")


def settings_on(topics, n_trained, *strategies):
    experiment = Experiment(
        web=Path("web"), topics=tuple(topics), strategies=(BEST_FIRST, *strategies), repeats=N_SEEDS
    )
    return ValidationSettings(experiment=experiment, n_trained=n_trained, budgets=(10, 20, 30))


def measured(fitness, good_share, cohesiveness=(0.0, 0.0), distance=0.0, best_first=0.0, n_pages=(10, 20, 30)):
    """A strategy with these differences to Best-First: fitness by topic and budget, the others everywhere. Crawls have
    `n_pages` by budget, or by topic and budget."""
    shape = (2, len(fitness), 2, N_SEEDS, 3)
    values = {name: np.zeros(shape) for name in MEASURES}
    values["fitness"][0] = best_first
    values["fitness"][1] = best_first + np.array(fitness)[:, None, None, :]
    values["community_cohesiveness"][1], values["overall_cohesiveness"][1] = cohesiveness
    values["mean_distance"][1, ..., -1] = distance
    by_topic = np.broadcast_to(np.array(n_pages), (len(fitness), 3))[:, None, None, :, None]
    pages = np.broadcast_to(by_topic, (*shape, 1)).astype(np.int64)
    return Measurements(values, pages, pages, np.array(good_share))


def verdicts(validation, measurements):
    return {(each.name, each.topics): each.verdict for each in findings(validation, measurements)}


#: Of two topics trained on and two unseen ones, the first is dense.
SHARES = [0.3, 0.1, 0.3, 0.1]


def test_losing_late_on_the_sparse_topic_only_reproduces_the_study():
    dense_and_sparse = [[0.1, 0.1, 0.1], [0.1, 0.1, -0.1]] * 2
    found = verdicts(settings(2, 2), measured(dense_and_sparse, SHARES, (0.5, 0.2), -1.0))
    assert found == {(name, topics): YES for topics in ("trained on", "unseen") for name in ("H18", "H19", "H20")}


def test_losing_late_on_the_dense_topic_or_winning_late_on_the_other_does_not_reproduce_it():
    late = [[0.1, 0.1, -0.1], [0.1, 0.1, 0.1]] * 2
    found = verdicts(settings(2, 2), measured(late, SHARES))
    assert found["H18", "trained on"] is found["H18", "unseen"] is NO


def test_losing_early_does_not_reproduce_the_study():
    found = verdicts(settings(2, 2), measured([[0.1, -0.1, 0.1], [0.1, -0.1, -0.1]] * 2, SHARES))
    assert found["H18", "trained on"] is found["H18", "unseen"] is NO


@pytest.mark.parametrize(
    ("difference", "verdict"), [(-0.1, YES), (0.0, YES), (0.02, YES), (0.025, UNDECIDED), (0.03, NO), (0.1, NO)]
)
def test_no_higher_is_less_or_hardly_more(difference, verdict):
    # A twentieth of 0.5 is 0.025.
    noise = 0.002 * np.array([1, -1, 1, -1, 1, -1, 0])
    measurements = measured([[0.1, 0.1, 0.1], [0.1, 0.1, difference]], [0.3, 0.1], best_first=0.5)
    measurements.values["fitness"][1, 1, :, :, -1] += noise
    (finding, *_) = findings(settings(2, 0), measurements)
    assert (finding.claims[-1].verdict, finding.verdict) == (verdict, verdict)


def test_a_finding_about_dense_topics_cannot_be_asked_if_none_is_dense_or_all_are():
    for shares in ([0.2, 0.2, 0.2, 0.2], [0.3, 0.3, 0.1, 0.1]):
        (finding, *_) = findings(settings(2, 2), measured(np.full((4, 3), 0.1), shares))
        assert len(finding.claims) == 4
        assert NOT_ASKED in {claim.verdict for claim in finding.claims}
    found = verdicts(settings(2, 0), measured([[0.1, 0.1, -0.1]] * 2, [0.2, 0.2]))
    assert found["H18", "trained on"] is NOT_ASKED


def test_fitness_above_1_cannot_be_asked_for():
    found = verdicts(settings(2, 0), measured(np.full((2, 3), -0.1), [0.3, 0.1], best_first=1.0))
    assert found["H18", "trained on"] is NOT_ASKED


def test_crawls_that_visited_all_pages_cannot_be_asked_about():
    (fitness, cohesiveness, distance) = findings(
        settings(2, 0), measured(np.full((2, 3), 0.0), [0.3, 0.1], n_pages=(10, 15, 15))
    )
    assert [claim.verdict for claim in fitness.claims] == [UNDECIDED, *[NOT_ASKED] * 3]
    # After the shortest of three lengths they still differ, after most they do not.
    assert {claim.verdict for claim in (*cohesiveness.claims, *distance.claims)} == {NOT_ASKED}


def test_topics_whose_pages_were_all_visited_are_left_out():
    n_pages = [(10, 20, 30)] * 5 + [(7, 7, 7)]
    shares = [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    (fitness, *_) = findings(settings(6, 0), measured(np.full((6, 3), 0.1), shares, n_pages=n_pages))
    assert [claim.effect.n_topics for claim in fitness.claims] == [5, 5, 3, 2]
    (fitness, *_) = findings(settings(6, 0), measured(np.full((6, 3), 0.1), shares, n_pages=n_pages[1:] + n_pages[-1:]))
    assert [claim.verdict for claim in fitness.claims[:2]] == [NOT_ASKED, NOT_ASKED]


def test_both_kinds_of_cohesiveness_must_be_higher_and_the_distance_smaller():
    found = verdicts(settings(), measured(np.zeros((2, 3)), [0.3, 0.1], (0.5, -0.1), 0.2))
    assert found["H19", "unseen"] is found["H20", "unseen"] is NO


def test_one_topic_alone_is_neither_dense_nor_sparse():
    found = verdicts(settings(n_unseen=0), measured([[0.1, 0.1, 0.1]], [0.3]))
    assert found["H18", "trained on"] is UNDECIDED
    assert ("H18", "unseen") not in found


def test_few_topics_are_tested_over_seeds_and_many_over_topics():
    (few, *_) = findings(settings(), measured(np.full((2, 3), 0.1), [0.3, 0.1]))
    # One topic with seven seeds, each 0.1 better: one of 128 sign flips is as good. Three claims are tested.
    assert (few.claims[0].effect.over, few.claims[0].p, few.claims[0].p_corrected) == ("seeds", 1 / 128, 3 / 128)
    # Five topics, each 0.1 better at every budget: one of 32 sign flips. Four claims, of which the last two are on
    # the seeds of two and of three topics: one of 16,384, and one of 2^21, against which 10,000 are drawn.
    (many, *_) = findings(settings(5, 0), measured(np.full((5, 3), 0.1), [0.5, 0.4, 0.3, 0.2, 0.1]))
    early, late, dense, others = many.claims
    assert (early.effect.over, dense.effect.over, others.effect.n_topics) == ("topics", "seeds", 3)
    # Above 0 the p are 1 / 32 twice, 1 / 16384, and, because "no higher" is tested below 0, 1. Holm takes the smallest
    # four times and the next three times.
    assert (early.p, early.p_corrected, early.verdict) == (1 / 32, 3 / 32, UNDECIDED)
    assert (late.p_corrected, dense.p, dense.p_corrected) == (3 / 32, 1 / 16384, 4 / 16384)
    # Of the contrary tests, that of "no higher" alone is not 1: 1 / 10,001, times four.
    assert (others.p, others.p_contrary_corrected) == (1, 4 / 10_001)
    assert (dense.verdict, others.verdict) == (YES, NO)


def test_a_finding_has_its_claim_and_the_reason_for_its_verdict():
    (finding, *_) = findings(settings(n_unseen=0), measured(np.full((1, 3), 0.1), [0.3]))
    assert (finding.name, finding.strategy, finding.topics) == ("H18", "rank_function:preset=johnson2003", "trained on")
    assert "Best-First" in finding.says
    assert re.search(r"\+0\.1 to \+0\.1 .*\b0; .*\b0\.0156\.", finding.claims[0].why)
    assert finding.claims[-1].verdict is UNDECIDED
    assert finding.claims[-1].why


def test_seed_sets_have_equal_weight_in_a_difference():
    measurements = measured(np.zeros((1, 3)), [0.3])
    measurements.values["fitness"][1, 0, 0], measurements.values["fitness"][1, 0, 1] = 0.3, -0.1
    (finding, *_) = findings(settings(n_unseen=0), measurements)
    assert finding.claims[0].effect.mean == pytest.approx(0.1)


def test_the_finding_about_weights_is_about_all_searches_that_are_validated(tmp_path):
    record = '[training]\nsearch = "johnson2003"\ncrawls = 3\ntopics = ["topic 0"]\n'
    files = []
    for number in range(7):
        formula = f"{0.5 + number / 100}*COMM_OUT + 0.3*PARENT_1 + 0.2*COMM_IN"
        (tmp_path / f"{number}.toml").write_text(f'formula = "{formula}"\n{record}')
        files.append(f"evolved:file={tmp_path / f'{number}.toml'}")
    for strategies, verdict in ((files, YES), (files[:1], Verdict.CANNOT_BE_ASKED), ([], None)):
        validation = settings_on(settings().trained, 1, "rank_function:preset=johnson2003", *strategies)
        shape = (2 + len(strategies), 1, 2, N_SEEDS, 3)
        pages = np.full((*shape, 1), 30)
        measurements = Measurements({name: np.zeros(shape) for name in MEASURES}, pages, pages, np.zeros(1))
        found = [each for each in findings(validation, measurements) if each.name == "H17"]
        assert [(each.strategy, each.topics, each.verdict) for each in found] == (
            [("", "", verdict)] if verdict else []
        )
