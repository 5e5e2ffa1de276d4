"""The settings of a search: scores, splits, earlier winners, JSON, and fitness with measures computed by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ring_web import topic
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName
from scenthound.experiments.evolve.settings import (
    MAX_RULES,
    MEASURES,
    EvolutionSettings,
    Fitness,
    FitnessContext,
    parse_fitness,
    parse_scores,
    parse_split,
)
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Task
from scenthound.reasons import EndReason
from scenthound.simulator.web import Crawl
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules

EXPERIMENT = Experiment(
    web=Path("web"), topics=(topic(),), strategies=("breadth_first",), other_topics=(topic("train"),), relevance="svm"
)


def row(**weights: float) -> tuple[float, ...]:
    return tuple(weights.get(name, 0.0) for name in SCORE_NAMES)


def test_an_individual_weighs_only_the_chosen_scores():
    settings = EvolutionSettings(experiment=EXPERIMENT, scores=("parent_1", "comm_out"))
    # Scores are in their standard order: comm_out comes before parent_1.
    assert settings.scores == ("comm_out", "parent_1")
    assert settings.rules_of((1.0, 3.0)) == RankRules((row(comm_out=0.25, parent_1=0.75),))


def test_the_weights_of_an_individual_are_one_rule_after_the_other():
    settings = EvolutionSettings(experiment=EXPERIMENT, scores=("comm_out", "anchor"), split="distance:2")
    expected = RankRules((row(comm_out=1), row(comm_out=0.5, anchor=0.5)), "distance", (2,))
    assert settings.rules_of((1.0, 0.0, 2.0, 2.0)) == expected
    assert len(settings.new_search().ask()[0]) == 4


def test_the_rules_of_an_earlier_winner_are_converted_to_weights():
    settings = EvolutionSettings(experiment=EXPERIMENT, scores=("comm_out", "parent_1"), split="phase:100")
    one, two = (
        RankRules((row(comm_out=0.25, parent_1=0.75),)),
        RankRules((row(comm_out=1), row(parent_1=1)), "phase", (100,)),
    )
    assert settings.weights_of(one, "one.toml") == (0.25, 0.75, 0.25, 0.75)
    assert settings.weights_of(two, "two.toml") == (1.0, 0.0, 0.0, 1.0)


def test_an_earlier_winner_takes_part_in_the_first_population():
    settings = EvolutionSettings(experiment=EXPERIMENT, scores=("comm_out", "parent_1"), winners=((0.5, 1.0),))
    assert settings.new_search().ask()[0] == (64, 127)


def test_a_winner_with_other_scores_is_rejected():
    settings = EvolutionSettings(experiment=EXPERIMENT)
    with pytest.raises(InvalidParameter, match=r"one\.toml .*anchor"):
        settings.weights_of(RankRules((row(anchor=1),)), "one.toml")


def test_a_winner_with_another_split_is_rejected():
    settings = EvolutionSettings(experiment=EXPERIMENT, split="distance:1,2")
    with pytest.raises(InvalidParameter, match=r"two\.toml .*distance:1, .*distance:1,2"):
        settings.weights_of(RankRules((row(hub=1), row(hub=1)), "distance", (1,)), "two.toml")


def test_crawls_start_from_the_same_pages_by_default():
    assert EvolutionSettings(experiment=EXPERIMENT, n_crawls=5).experiment.repeats == 1
    assert EvolutionSettings(experiment=EXPERIMENT, n_crawls=5, same_start=False).experiment.repeats == 5


@pytest.mark.parametrize(
    "settings",
    [
        EvolutionSettings(experiment=EXPERIMENT),
        EvolutionSettings(
            experiment=Experiment(
                web=Path("web"),
                topics=(topic("train"),),
                strategies=("breadth_first",),
                other_topics=(topic(),),
                task=Task.NEIGHBOURS,
                train_from=Path("/pages"),
                relevance="cosine:description=true",
                mode="roulette:size=10,refill_at=5",
            ),
            search="cma:population=8",
            fitness="0.5*harvest + distance",
            n_crawls=2,
            same_start=False,
            seed=7,
            scores=SCORE_NAMES,
            split="phase:50",
            threshold=0.3,
            winners=(tuple(0.1 * i for i in range(2 * len(SCORE_NAMES))),),
            seeded_topics=("kites", "trains"),
        ),
    ],
)
def test_settings_are_restored_from_json(settings):
    written = json.loads(json.dumps(settings.as_json()))
    assert EvolutionSettings.from_json(written, [topic(), topic("train")], Path("web")).as_json() == settings.as_json()
    read = EvolutionSettings.from_json(written, settings.experiment.all_topics(), Path("web"))
    assert read == settings


@pytest.mark.parametrize(
    ("damage", "reason"),
    [({}, "'crawls_of'"), ({"crawls_of": {}}, "'topics'"), ({"crawls_of": None}, "'NoneType'")],
)
def test_corrupt_settings_are_rejected(damage, reason):
    with pytest.raises(InvalidInput, match=rf"\({reason}"):
        EvolutionSettings.from_json(damage, [topic()], Path("web"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_crawls": 0}, "--crawls 0 must be from 1 to 10,000"),
        ({"threshold": 1.0}, "threshold is 1.0"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"scores": ()}, "--scores nine"),
        ({"search": "chc:population=1"}, "population=1"),
    ],
)
def test_invalid_settings_are_rejected_in_one_line(settings, message):
    with pytest.raises(InvalidParameter) as raised:
        EvolutionSettings(experiment=EXPERIMENT, **settings)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_sets_of_scores_have_names():
    assert parse_scores("nine") == STUDY_SCORES
    assert parse_scores("all") == SCORE_NAMES
    assert parse_scores("COMM_OUT, anchor") == ("comm_out", "anchor")


def test_an_unknown_score_is_rejected_with_the_nearest_name():
    with pytest.raises(UnknownName, match="'comm_out'"):
        EvolutionSettings(experiment=EXPERIMENT, scores=("com_out",))


@pytest.mark.parametrize("text", ["nothing", "distance:0", "distance:2,4", "phase:1000"])
def test_a_split_prints_as_it_parses(text):
    assert str(parse_split(text)) == text
    assert parse_split(text).n_rules == 1 + text.count(":") + text.count(",")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "distance",
            "nothing:3",
            "distance:4,2",
            "distance:2,2",
            "phase:0",
            "distance:x",
            "distance:-1",
            "depth:2",
            "",
        ),
        f"distance:{','.join(map(str, range(MAX_RULES)))}",
    ],
)
def test_an_invalid_split_is_rejected(text):
    with pytest.raises((InvalidParameter, UnknownName)):
        parse_split(text)


# Fitness

#: Ten pages on five hosts, two pages each; page 9 cannot be reached from the seeds 0 and 1.
CONTEXT = FitnessContext(
    page_budget=8,
    threshold=0.5,
    host=np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], np.int32),
    seeds=(0, 1),
    targets=(3, 5, 7, 8),
    distance=np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, -1], np.int32),
)


def crawl(pages: list[int], relevance: list[float]) -> Crawl:
    return Crawl(np.array(pages, np.int32), np.array(relevance), np.zeros(len(pages)), EndReason.FRONTIER, 0, 0)


#: Pages 0, 2, 3, 4 and 6 are good; the crawl visited six of its eight pages.
CRAWL = crawl([0, 2, 3, 4, 6, 5], [1.0, 0.5, 0.9, 0.7, 0.6, 0.4])


def value(text: str, done: Crawl = CRAWL) -> float:
    return parse_fitness(text)(done, CONTEXT)


def test_harvest_is_over_the_page_budget():
    assert value("harvest") == 5 / 8


def test_new_hosts_excludes_hosts_of_seeds_and_counts_each_once():
    # Good pages are on the hosts 0 (of the seeds), 1 (twice), 2 and 3.
    assert value("new_hosts") == 3 / 8


def test_distance_is_the_mean_over_good_pages_scaled_below_one():
    # 0 + 1 + 1 + 2 + 3 = 7 over 5 pages: d = 7/5, and d / (d + 1) = 7/12.
    assert value("distance") == pytest.approx(7 / 12)


def test_target_recall_counts_targets_of_any_relevance():
    # Of 3, 5, 7 and 8 the crawl visited 3 and 5; the relevance of 5 is low.
    assert value("target_recall") == 2 / 4


def test_a_sum_weights_its_measures():
    assert value("0.7*harvest + 0.3*target_recall") == pytest.approx(0.7 * 5 / 8 + 0.3 * 0.5)


@pytest.mark.parametrize("measure", MEASURES)
def test_an_empty_crawl_has_fitness_zero(measure):
    assert value(measure, crawl([], [])) == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_a_crawl_of_irrelevant_pages_has_fitness_zero(measure):
    assert value(measure, crawl([0, 2, 4], [0.1, 0.2, 0.4])) == 0


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("harvest", "harvest"),
        (" 1*harvest ", "harvest"),
        ("0.7*harvest+0.3*target_recall", "0.7*harvest + 0.3*target_recall"),
        ("1e-3 * new_hosts", "0.001*new_hosts"),
        ("1e+2*distance + harvest", "100.0*distance + harvest"),
        ("Harvest", "harvest"),
    ],
)
def test_a_fitness_prints_as_it_parses(text, printed):
    assert str(parse_fitness(text)) == printed
    assert parse_fitness(printed) == parse_fitness(text)


@given(st.dictionaries(st.sampled_from(list(MEASURES)), st.floats(1e-9, 1e6), min_size=1))
def test_a_printed_fitness_is_parsed_back(weights):
    fitness = Fitness(weights)
    assert parse_fitness(str(fitness)) == fitness


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("harvist", UnknownName, "'harvest'"),
        ("", InvalidParameter, "0.7*harvest"),
        ("harvest +", InvalidParameter, "''"),
        ("harvest - distance", InvalidParameter, "'harvest - distance'"),
        ("0*harvest", InvalidParameter, "weight 0 of harvest"),
        ("-1*harvest", InvalidParameter, "weight -1 of harvest"),
        ("nan*harvest", InvalidParameter, "'nan*harvest'"),
        ("much*harvest", InvalidParameter, "'much*harvest'"),
        ("1e7*harvest", InvalidParameter, "1,000,000"),
        ("0.5*harvest + 0.5*harvest", InvalidParameter, "measure harvest"),
    ],
)
def test_an_invalid_fitness_is_rejected_in_one_line(text, kind, message):
    with pytest.raises(kind) as raised:
        parse_fitness(text)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
