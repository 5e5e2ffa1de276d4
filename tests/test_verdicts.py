"""From measurements to what they say of the study's findings."""

from pathlib import Path

import numpy as np
import pytest

from ring_web import topic
from scenthound.experiments.findings import Verdict
from scenthound.experiments.setup import Experiment
from scenthound.experiments.validate.crawls import MEASURES, Measurements
from scenthound.experiments.validate.settings import BEST_FIRST, ValidationSettings
from scenthound.experiments.validate.validation import (
    OF_THE_STUDY,
    EvolvedRules,
    SearchSize,
    evolved_rules,
    findings,
    weight_claims,
)
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

YES, NO, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED
N_SEEDS = 6


def rules(**weights):
    return RankRules((tuple(weights.get(name, 0.0) for name in SCORE_NAMES),))


def weighed(size=OF_THE_STUDY, **weights):
    (claim,) = weight_claims(EvolvedRules(rules(**weights), size))
    return claim


def verdict_on(**weights):
    return weighed(**weights).verdict


PUBLISHED = {"hub": 10, "authority": 10, "comm_in": 76, "comm_out": 121, "parent_1": 97, "parent_2": 36}


def test_the_published_weights_bear_out_what_was_published_of_them():
    assert verdict_on(**PUBLISHED) is YES


@pytest.mark.parametrize(
    "changed",
    [
        {"comm_out": 97},  # no more than PARENT_1
        {"comm_in": 98},  # more than PARENT_1
        {"hub": 39},  # COMM_IN is not twice that
        {"authority": 39},
        {"hub": 0, "authority": 0, "comm_in": 0},  # nothing is far above nothing
    ],
)
def test_weights_in_another_order_or_too_near_to_hub_and_authority_do_not(changed):
    assert verdict_on(**PUBLISHED | changed) is NO


def test_twice_as_much_is_far_enough():
    assert verdict_on(**PUBLISHED | {"hub": 38, "authority": 38}) is YES


def test_every_rule_has_to_bear_it_out():
    both = RankRules((*rules(**PUBLISHED).weights, *rules(parent_1=1).weights), "distance", (2,))
    first, second = weight_claims(EvolvedRules(both, OF_THE_STUDY))
    assert (first.verdict, second.verdict) == (YES, NO)
    assert first.says.startswith("rule 1: COMM_OUT")


def test_what_is_said_of_weights_is_the_claim_and_then_what_was_found():
    claim = weighed(comm_out=1, parent_1=4, comm_in=5)
    says, found = claim.says.split("; found ")
    assert says.startswith("COMM_OUT weighs more than PARENT_1, PARENT_1 more than COMM_IN, and each at least twice")
    assert found == "COMM_OUT 0.100, PARENT_1 0.400, COMM_IN 0.500, HUB 0.000, AUTHORITY 0.000"


def test_a_verdict_on_weights_says_that_they_are_of_one_search():
    assert weighed(**PUBLISHED).why == "The weights are of one search and have no interval; they are in this order."
    assert weighed(parent_1=1).why == "The weights are of one search and have no interval; they are not in this order."


@pytest.mark.parametrize("size", [SearchSize(49, 50, 3), SearchSize(50, 49, 3), SearchSize(50, 50, 2)])
def test_a_search_smaller_than_the_study_has_no_verdict_whatever_its_weights(size):
    for weights in (PUBLISHED, {"parent_1": 1}):
        assert weighed(size, **weights).verdict is OPEN
    assert weighed(SearchSize(60, 70, 4), **PUBLISHED).verdict is YES
    assert weighed(SearchSize(20, 5, 1), **PUBLISHED).why == (
        "The weights are of one search and have no interval, one of 20 individuals, 5 generations and 1 crawl of each, "
        "and the study's was of 50 individuals, 50 generations and 3 crawls of each: too small for a verdict."
    )


def test_a_file_that_does_not_tell_of_its_search_has_no_verdict():
    claim = weighed(None, **PUBLISHED)
    assert (claim.verdict, "the file does not say how large the search was" in claim.why) == (OPEN, True)


ROW = "{{generation = {}, best = 0.5, mean = 0.4, evaluations = 100}}"
HISTORY = f"[history]\ngenerations = [{ROW.format(0)}, {ROW.format(7)}]\n"


@pytest.mark.parametrize(
    ("record", "size"),
    [
        ("", None),
        ('[training]\nsearch = "johnson2003:population=60,generations=70"\ncrawls = 4\n', SearchSize(60, 70, 4)),
        # Broken off after the seventh generation of fifty.
        (f'[training]\nsearch = "johnson2003"\ncrawls = 3\n{HISTORY}', SearchSize(50, 7, 3)),
        ('[training]\nsearch = "johnson2003"\n', None),
        ('[training]\nsearch = "by hand"\ncrawls = 3\n', None),
        ("[training]\nsearch = 5\ncrawls = 3\n", None),
    ],
)
def test_how_large_a_search_was_stands_in_its_file(tmp_path, record, size):
    (tmp_path / "e.toml").write_text(f'formula = "0.5*COMM_OUT + 0.5*PARENT_1"\n{record}')
    assert evolved_rules(f"evolved:file={tmp_path / 'e.toml'}").size == size


def test_an_evolved_strategy_without_a_file_is_the_one_that_the_study_searched():
    assert evolved_rules("evolved").size == OF_THE_STUDY
    assert evolved_rules("rank_function:preset=johnson2003") is None


def settings(n_trained=1, n_unseen=1):
    topics = [topic("balloon", id=f"topic {i}") for i in range(n_trained + n_unseen)]
    return settings_on(topics, n_trained, "rank_function:preset=johnson2003")


def settings_on(topics, n_trained, *strategies):
    experiment = Experiment(
        web=Path("web"), topics=tuple(topics), strategies=(BEST_FIRST, *strategies), repeats=N_SEEDS
    )
    return ValidationSettings(experiment=experiment, n_trained=n_trained, budgets=(10, 20, 30))


def measured(fitness, good_share, cohesiveness=(0.0, 0.0), distance=0.0):
    """A strategy that differs from Best-First by so much: fitness by topic and budget, the others everywhere."""
    shape = (2, len(fitness), 2, N_SEEDS, 3)
    values = {name: np.zeros(shape) for name in MEASURES}
    values["fitness"][1] = np.array(fitness)[:, None, None, :]
    values["community_cohesiveness"][1], values["overall_cohesiveness"][1] = cohesiveness
    values["mean_distance"][1, ..., -1] = distance
    nothing = np.zeros((*shape, 1), np.int64)
    return Measurements(values, nothing, nothing, np.array(good_share))


def verdicts(wished, measurements):
    return {(each.name, each.topics): each.verdict for each in findings(wished, measurements)}


def test_the_study_comes_out_where_the_evolved_loses_late_on_the_sparse_topic_only():
    dense_and_sparse = [[0.1, 0.1, 0.1], [0.1, 0.1, -0.1]]
    found = verdicts(settings(), measured(dense_and_sparse, [0.3, 0.1], (0.5, 0.2), -1.0))
    assert found == {(name, topics): YES for topics in ("trained on", "unseen") for name in ("H18", "H19", "H20")}


def test_losing_late_on_the_dense_topic_or_winning_late_on_the_other_is_another_result():
    late = [[0.1, 0.1, -0.1], [0.1, 0.1, 0.1]]
    found = verdicts(settings(), measured(late, [0.3, 0.1]))
    assert found["H18", "trained on"] is found["H18", "unseen"] is NO


def test_losing_early_is_another_result():
    found = verdicts(settings(), measured([[0.1, -0.1, 0.1], [-0.1, 0.1, -0.1]], [0.3, 0.1]))
    assert found["H18", "trained on"] is found["H18", "unseen"] is NO


def test_both_kinds_of_cohesiveness_must_be_higher_and_the_distance_smaller():
    found = verdicts(settings(), measured(np.zeros((2, 3)), [0.3, 0.1], (0.5, -0.1), 0.2))
    assert found["H19", "unseen"] is found["H20", "unseen"] is NO


def test_one_topic_alone_is_neither_dense_nor_sparse():
    found = verdicts(settings(n_unseen=0), measured([[0.1, 0.1, 0.1]], [0.3]))
    assert found["H18", "trained on"] is OPEN
    assert ("H18", "unseen") not in found


def test_few_topics_are_judged_by_their_seeds_and_many_by_topics():
    (few, *_) = findings(settings(), measured(np.full((2, 3), 0.1), [0.3, 0.1]))
    # One topic with six seeds, each 0.1 better: one of 64 ways to flip signs is as good. Three claims are tested.
    assert (few.claims[0].effect.over, few.claims[0].p, few.claims[0].p_corrected) == ("seeds", 1 / 64, 3 / 64)
    # Five topics, each 0.1 better at every budget: one of 32 ways. Four claims, of which the last two are on the seeds
    # of two and of three topics: one of 4,096 ways, and one of 2^18, against which 10,000 are drawn.
    (many, *_) = findings(settings(5, 0), measured(np.full((5, 3), 0.1), [0.5, 0.4, 0.3, 0.2, 0.1]))
    early, late, dense, others = many.claims
    assert (early.effect.over, dense.effect.over, others.effect.n_topics) == ("topics", "seeds", 3)
    # Above 0 the p are 1 / 32 twice, 1 / 4096, and, because "no higher" is tested below 0, 1. Holm takes the smallest
    # four times and the next three times.
    assert (early.p, early.p_corrected, early.verdict) == (1 / 32, 3 / 32, OPEN)
    assert (late.p_corrected, dense.p, dense.p_corrected) == (3 / 32, 1 / 4096, 4 / 4096)
    # Of the contrary tests, that of "no higher" alone is not 1: 1 / 10,001, times four.
    assert (others.p, others.p_contrary_corrected) == (1, 4 / 10_001)
    assert (dense.verdict, others.verdict) == (YES, NO)


def test_a_finding_says_what_it_is_and_why_it_came_out_so():
    (finding, *_) = findings(settings(n_unseen=0), measured(np.full((1, 3), 0.1), [0.3]))
    assert (finding.name, finding.strategy, finding.topics) == ("H18", "rank_function:preset=johnson2003", "trained on")
    assert finding.says.startswith("more good pages than Best-First")
    reason = "The 95 % interval +0.1 to +0.1 lies above 0; corrected p of sign flips above 0 is 0.0312."
    assert finding.claims[0].why == reason
    assert finding.claims[-1].why == "One topic alone has no other to be denser than."


def test_seed_sets_count_alike_in_a_difference():
    measurements = measured(np.zeros((1, 3)), [0.3])
    measurements.values["fitness"][1, 0, 0], measurements.values["fitness"][1, 0, 1] = 0.3, -0.1
    (finding, *_) = findings(settings(n_unseen=0), measurements)
    assert finding.claims[0].effect.mean == pytest.approx(0.1)


def test_only_evolved_strategies_have_weights_to_speak_of(tmp_path):
    record = '[training]\nsearch = "johnson2003"\ncrawls = 3\n'
    (tmp_path / "e.toml").write_text(f'formula = "0.5*COMM_OUT + 0.3*PARENT_1 + 0.2*COMM_IN"\n{record}')
    evolved = f"evolved:file={tmp_path / 'e.toml'}"
    wished = settings_on(settings().trained, 1, "rank_function:preset=johnson2003", evolved)
    shape = (3, 1, 2, N_SEEDS, 3)
    nothing = np.zeros((*shape, 1), np.int64)
    found = findings(wished, Measurements({name: np.zeros(shape) for name in MEASURES}, nothing, nothing, np.zeros(1)))
    assert [(each.strategy.split(":")[0], each.verdict) for each in found if each.name == "H17"] == [("evolved", YES)]
