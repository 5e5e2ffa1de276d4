"""What decides a search: scores, splits, earlier winners, and settings that survive JSON."""

import json
from pathlib import Path

import pytest

from ring_web import topic
from scenthound.errors import InvalidInput, InvalidParameter, UnknownName
from scenthound.experiments.evolve.settings import MAX_RULES, EvolutionSettings, parse_scores, parse_split
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Task
from scenthound.strategies.rank_rules import SCORE_NAMES, STUDY_SCORES, RankRules

EXPERIMENT = Experiment(
    web=Path("web"), topics=(topic(),), strategies=("breadth_first",), other_topics=(topic("train"),)
)


def row(**weights: float) -> tuple[float, ...]:
    return tuple(weights.get(name, 0.0) for name in SCORE_NAMES)


def test_an_individual_weighs_the_chosen_scores_and_no_others():
    settings = EvolutionSettings(experiment=EXPERIMENT, scores=("parent_1", "comm_out"))
    # Scores stand in their one order, in which comm_out comes before parent_1.
    assert settings.scores == ("comm_out", "parent_1")
    assert settings.rules_of((1.0, 3.0)) == RankRules((row(comm_out=0.25, parent_1=0.75),))


def test_the_rules_of_an_individual_stand_one_after_the_other():
    settings = EvolutionSettings(experiment=EXPERIMENT, scores=("comm_out", "anchor"), split="distance:2")
    wanted = RankRules((row(comm_out=1), row(comm_out=0.5, anchor=0.5)), "distance", (2,))
    assert settings.rules_of((1.0, 0.0, 2.0, 2.0)) == wanted
    assert len(settings.new_search().ask()[0]) == 4


def test_the_rules_of_an_earlier_winner_become_weights_again():
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


def test_a_winner_that_weighs_what_the_search_does_not_is_refused():
    settings = EvolutionSettings(experiment=EXPERIMENT)
    with pytest.raises(InvalidParameter, match=r"one\.toml weighs anchor, which this search does not"):
        settings.weights_of(RankRules((row(anchor=1),)), "one.toml")


def test_a_winner_whose_rules_are_split_otherwise_is_refused():
    settings = EvolutionSettings(experiment=EXPERIMENT, split="distance:1,2")
    with pytest.raises(
        InvalidParameter, match=r"two\.toml has rules split by distance:1, but this search splits by distance:1,2"
    ):
        settings.weights_of(RankRules((row(hub=1), row(hub=1)), "distance", (1,)), "two.toml")


def test_crawls_start_from_the_same_pages_unless_told_otherwise():
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
def test_settings_survive_json(settings):
    written = json.loads(json.dumps(settings.as_json()))
    assert EvolutionSettings.from_json(written, [topic(), topic("train")], Path("web")).as_json() == settings.as_json()
    read = EvolutionSettings.from_json(written, settings.experiment.all_topics(), Path("web"))
    assert read == settings


@pytest.mark.parametrize("damage", [{}, {"crawls_of": {}}, {"crawls_of": None}])
def test_settings_that_are_damaged_are_refused(damage):
    with pytest.raises(InvalidInput, match="cannot be read"):
        EvolutionSettings.from_json(damage, [topic()], Path("web"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_crawls": 0}, "crawls is 0"),
        ({"threshold": 1.0}, "threshold is 1.0"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"scores": ()}, "No score is given"),
        ({"search": "chc:population=1"}, "population=1"),
    ],
)
def test_bad_settings_are_refused_in_one_line(settings, said):
    with pytest.raises(InvalidParameter) as refused:
        EvolutionSettings(experiment=EXPERIMENT, **settings)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_sets_of_scores_have_names():
    assert parse_scores("nine") == STUDY_SCORES
    assert parse_scores("all") == SCORE_NAMES
    assert parse_scores("COMM_OUT, anchor") == ("comm_out", "anchor")


def test_an_unknown_score_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'comm_out'"):
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
def test_a_split_that_makes_no_sense_is_refused(text):
    with pytest.raises((InvalidParameter, UnknownName)):
        parse_split(text)
