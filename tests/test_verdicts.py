"""From measurements to verdicts on the findings of the study."""

import re
from pathlib import Path

import numpy as np
import pytest

from ring_web import topic
from scenthound.experiments.findings import Verdict
from scenthound.experiments.setup import Experiment
from scenthound.experiments.validate.crawls import MEASURES, Measurements
from scenthound.experiments.validate.settings import BEST_FIRST, ValidationSettings
from scenthound.experiments.validate.validation import (
    H17_SAYS,
    OF_THE_STUDY,
    ONE_SEARCH,
    EvolvedRules,
    SearchSize,
    evolved_rules,
    findings,
    weight_claims,
)
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

YES, NO, UNDECIDED = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED
N_SEEDS = 6


def rules(**weights):
    return RankRules((tuple(weights.get(name, 0.0) for name in SCORE_NAMES),))


def weighed(size=OF_THE_STUDY, **weights):
    (claim,) = weight_claims(EvolvedRules(rules(**weights), size))
    return claim


def verdict_on(**weights):
    return weighed(**weights).verdict


PUBLISHED = {"hub": 10, "authority": 10, "comm_in": 76, "comm_out": 121, "parent_1": 97, "parent_2": 36}


def test_the_published_weights_reproduce_the_published_claim():
    assert verdict_on(**PUBLISHED) is YES


@pytest.mark.parametrize(
    "changed",
    [
        {"comm_out": 97},  # no more than PARENT_1
        {"comm_in": 98},  # more than PARENT_1
        {"hub": 39},  # COMM_IN is not twice that
        {"authority": 39},
        {"hub": 0, "authority": 0, "comm_in": 0},  # 0 is not far above 0
    ],
)
def test_weights_in_another_order_or_too_near_to_hub_and_authority_do_not_reproduce_it(changed):
    assert verdict_on(**PUBLISHED | changed) is NO


def test_twice_as_much_is_far_above():
    assert verdict_on(**PUBLISHED | {"hub": 38, "authority": 38}) is YES


def test_every_rule_has_its_own_claim():
    both = RankRules((*rules(**PUBLISHED).weights, *rules(parent_1=1).weights), "distance", (2,))
    first, second = weight_claims(EvolvedRules(both, OF_THE_STUDY))
    assert (first.verdict, second.verdict) == (YES, NO)
    assert first.says.startswith("rule 1: COMM_OUT")


def test_a_claim_about_weights_ends_with_the_found_weights():
    claim = weighed(comm_out=1, parent_1=4, comm_in=5)
    says, found = claim.says.split("; found ")
    assert says == H17_SAYS
    assert found == "COMM_OUT 0.100, PARENT_1 0.400, COMM_IN 0.500, HUB 0.000, AUTHORITY 0.000"


def test_the_reason_says_that_the_weights_are_of_one_search():
    whys = {weighed(**PUBLISHED).why, weighed(parent_1=1).why}
    assert len(whys) == 2
    assert all(why.startswith(ONE_SEARCH) for why in whys)


@pytest.mark.parametrize("size", [SearchSize(49, 50, 3), SearchSize(50, 49, 3), SearchSize(50, 50, 2)])
def test_a_search_smaller_than_that_of_the_study_is_undecided(size):
    for weights in (PUBLISHED, {"parent_1": 1}):
        assert weighed(size, **weights).verdict is UNDECIDED
    assert weighed(SearchSize(60, 70, 4), **PUBLISHED).verdict is YES
    assert str(SearchSize(20, 5, 1)) == "20 individuals, 5 generations and 1 crawl of each"
    assert re.match(
        rf"{ONE_SEARCH}, .*{SearchSize(20, 5, 1)}, .*{OF_THE_STUDY}: ", weighed(SearchSize(20, 5, 1), **PUBLISHED).why
    )


def test_weights_of_an_unknown_search_are_undecided():
    claim = weighed(None, **PUBLISHED)
    assert claim.verdict is UNDECIDED
    assert str(OF_THE_STUDY) not in claim.why
    assert re.search(r"\bfile\b", claim.why)


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
    assert evolved_rules(f"evolved:file={tmp_path / 'e.toml'}").size == size


def test_an_evolved_strategy_without_a_file_is_the_result_of_the_study():
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
    """A strategy with these differences to Best-First: fitness by topic and budget, the others everywhere."""
    shape = (2, len(fitness), 2, N_SEEDS, 3)
    values = {name: np.zeros(shape) for name in MEASURES}
    values["fitness"][1] = np.array(fitness)[:, None, None, :]
    values["community_cohesiveness"][1], values["overall_cohesiveness"][1] = cohesiveness
    values["mean_distance"][1, ..., -1] = distance
    empty = np.zeros((*shape, 1), np.int64)
    return Measurements(values, empty, empty, np.array(good_share))


def verdicts(validation, measurements):
    return {(each.name, each.topics): each.verdict for each in findings(validation, measurements)}


def test_losing_late_on_the_sparse_topic_only_reproduces_the_study():
    dense_and_sparse = [[0.1, 0.1, 0.1], [0.1, 0.1, -0.1]]
    found = verdicts(settings(), measured(dense_and_sparse, [0.3, 0.1], (0.5, 0.2), -1.0))
    assert found == {(name, topics): YES for topics in ("trained on", "unseen") for name in ("H18", "H19", "H20")}


def test_losing_late_on_the_dense_topic_or_winning_late_on_the_other_does_not_reproduce_it():
    late = [[0.1, 0.1, -0.1], [0.1, 0.1, 0.1]]
    found = verdicts(settings(), measured(late, [0.3, 0.1]))
    assert found["H18", "trained on"] is found["H18", "unseen"] is NO


def test_losing_early_does_not_reproduce_the_study():
    found = verdicts(settings(), measured([[0.1, -0.1, 0.1], [-0.1, 0.1, -0.1]], [0.3, 0.1]))
    assert found["H18", "trained on"] is found["H18", "unseen"] is NO


def test_both_kinds_of_cohesiveness_must_be_higher_and_the_distance_smaller():
    found = verdicts(settings(), measured(np.zeros((2, 3)), [0.3, 0.1], (0.5, -0.1), 0.2))
    assert found["H19", "unseen"] is found["H20", "unseen"] is NO


def test_one_topic_alone_is_neither_dense_nor_sparse():
    found = verdicts(settings(n_unseen=0), measured([[0.1, 0.1, 0.1]], [0.3]))
    assert found["H18", "trained on"] is UNDECIDED
    assert ("H18", "unseen") not in found


def test_few_topics_are_tested_over_seeds_and_many_over_topics():
    (few, *_) = findings(settings(), measured(np.full((2, 3), 0.1), [0.3, 0.1]))
    # One topic with six seeds, each 0.1 better: one of 64 sign flips is as good. Three claims are tested.
    assert (few.claims[0].effect.over, few.claims[0].p, few.claims[0].p_corrected) == ("seeds", 1 / 64, 3 / 64)
    # Five topics, each 0.1 better at every budget: one of 32 sign flips. Four claims, of which the last two are on
    # the seeds of two and of three topics: one of 4,096, and one of 2^18, against which 10,000 are drawn.
    (many, *_) = findings(settings(5, 0), measured(np.full((5, 3), 0.1), [0.5, 0.4, 0.3, 0.2, 0.1]))
    early, late, dense, others = many.claims
    assert (early.effect.over, dense.effect.over, others.effect.n_topics) == ("topics", "seeds", 3)
    # Above 0 the p are 1 / 32 twice, 1 / 4096, and, because "no higher" is tested below 0, 1. Holm takes the smallest
    # four times and the next three times.
    assert (early.p, early.p_corrected, early.verdict) == (1 / 32, 3 / 32, UNDECIDED)
    assert (late.p_corrected, dense.p, dense.p_corrected) == (3 / 32, 1 / 4096, 4 / 4096)
    # Of the contrary tests, that of "no higher" alone is not 1: 1 / 10,001, times four.
    assert (others.p, others.p_contrary_corrected) == (1, 4 / 10_001)
    assert (dense.verdict, others.verdict) == (YES, NO)


def test_a_finding_has_its_claim_and_the_reason_for_its_verdict():
    (finding, *_) = findings(settings(n_unseen=0), measured(np.full((1, 3), 0.1), [0.3]))
    assert (finding.name, finding.strategy, finding.topics) == ("H18", "rank_function:preset=johnson2003", "trained on")
    assert "Best-First" in finding.says
    assert re.search(r"\+0\.1 to \+0\.1 .*\b0; .*\b0\.0312\.", finding.claims[0].why)
    assert finding.claims[-1].verdict is UNDECIDED
    assert finding.claims[-1].why


def test_seed_sets_have_equal_weight_in_a_difference():
    measurements = measured(np.zeros((1, 3)), [0.3])
    measurements.values["fitness"][1, 0, 0], measurements.values["fitness"][1, 0, 1] = 0.3, -0.1
    (finding, *_) = findings(settings(n_unseen=0), measurements)
    assert finding.claims[0].effect.mean == pytest.approx(0.1)


def test_only_evolved_strategies_have_a_finding_about_weights(tmp_path):
    record = '[training]\nsearch = "johnson2003"\ncrawls = 3\n'
    (tmp_path / "e.toml").write_text(f'formula = "0.5*COMM_OUT + 0.3*PARENT_1 + 0.2*COMM_IN"\n{record}')
    evolved = f"evolved:file={tmp_path / 'e.toml'}"
    validation = settings_on(settings().trained, 1, "rank_function:preset=johnson2003", evolved)
    shape = (3, 1, 2, N_SEEDS, 3)
    empty = np.zeros((*shape, 1), np.int64)
    found = findings(validation, Measurements({name: np.zeros(shape) for name in MEASURES}, empty, empty, np.zeros(1)))
    assert [(each.strategy.split(":")[0], each.verdict) for each in found if each.name == "H17"] == [("evolved", YES)]
