"""Searches that earlier winners take part in: which do, what they had seen, and rules that do not fit."""

from pathlib import Path
from typing import Any

import pytest

from evolution_web import record_topical, small_search, write_topical
from scenthound.errors import InvalidInput, InvalidParameter
from scenthound.experiments.evolve.evolution import resume_search
from scenthound.strategies.rank_file import RankFile, rank_file_text, read_rank_file
from scenthound.strategies.rank_rules import SCORE_NAMES, RankRules

TINY = {"search": "johnson2003:population=2,generations=1"}
HUB = tuple(float(name == "hub") for name in SCORE_NAMES)
AUTHORITY = tuple(float(name == "authority") for name in SCORE_NAMES)


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("topical")
    return record_topical(folder), write_topical(folder)


def winner(file: Path, rules: RankRules | None = None, **training: Any) -> Path:
    """A rank file that somebody's search left."""
    file.write_text(rank_file_text(RankFile(rules or RankRules((HUB,)), training=training)))
    return file


def test_what_the_winners_were_searched_for_is_recorded_from_search_to_search(topical, tmp_path):
    first = small_search(*topical, tmp_path / "1", "balloon", **TINY)
    second = small_search(*topical, tmp_path / "2", "train", seed_with=[first.result], **TINY)
    third = small_search(*topical, tmp_path / "3", "garden", seed_with=[second.result, second.result], **TINY)
    records = [read_rank_file(each.result).training for each in (first, second, third)]
    assert [record["topics"] for record in records] == [["balloon"], ["train"], ["garden"]]
    # The third has the first one's topic through the second, and of the same file given twice nothing twice.
    assert [record["seeded_topics"] for record in records] == [[], ["balloon"], ["train", "balloon"]]


def test_a_search_that_goes_on_remembers_what_its_winners_saw(topical, tmp_path):
    earlier = winner(tmp_path / "earlier.toml", topics=["kites"])
    done = small_search(*topical, tmp_path / "search", seed_with=[earlier], **TINY)
    before = done.result.read_bytes()
    done.result.unlink()
    resume_search(done.folder, workers=1)
    assert done.result.read_bytes() == before
    assert read_rank_file(done.result).training["seeded_topics"] == ["kites"]


def test_winners_that_have_no_place_are_counted_out_and_bring_no_topics(topical, tmp_path):
    files = [winner(tmp_path / f"{i}.toml", topics=[f"topic{i}"]) for i in range(5)]
    done = small_search(*topical, tmp_path / "search", seed_with=files, **TINY)
    training = read_rank_file(done.result).training
    assert training["seeded_with"] == len(done.settings.winners) == 2
    assert training["seeded_topics"] == ["topic0", "topic1"]
    (note,) = done.notes
    assert note.startswith("Only the first 2 of 5 earlier winners take part")


def test_winners_that_all_have_a_place_need_no_note(topical, tmp_path):
    files = [winner(tmp_path / f"{i}.toml") for i in range(2)]
    done = small_search(*topical, tmp_path / "search", seed_with=files, **TINY)
    assert (done.notes, read_rank_file(done.result).training["seeded_with"]) == ((), 2)


@pytest.mark.parametrize(
    ("own", "split"),
    [
        (("distance", (1,)), "distance:2"),
        (("distance", (1,)), "phase:1"),
        (("phase", (7,)), "phase:7,9"),
        (("phase", (7,)), "nothing"),
    ],
)
def test_a_winner_whose_rules_are_split_otherwise_is_refused(topical, tmp_path, own, split):
    file = winner(tmp_path / "earlier.toml", RankRules((HUB, AUTHORITY), *own))
    with pytest.raises(InvalidParameter) as refused:
        small_search(*topical, tmp_path / "search", seed_with=[file], split=split, **TINY)
    its = f"{own[0]}:{own[1][0]}"
    assert f"{file} has rules split by {its}, but this search splits by {split}" in str(refused.value)
    assert f"give --split {its}" in str(refused.value)
    assert not (tmp_path / "search").exists()


def test_a_winner_whose_rules_are_split_alike_keeps_them(topical, tmp_path):
    file = winner(tmp_path / "earlier.toml", RankRules((HUB, AUTHORITY), "distance", (1,)))
    settings = {"split": "distance:1", "scores": ("hub", "authority")}
    done = small_search(*topical, tmp_path / "search", seed_with=[file], **settings, **TINY)
    assert done.settings.winners == ((1.0, 0.0, 0.0, 1.0),)
    assert done.notes == ()


def test_a_winner_with_one_rule_stands_in_all_rules_and_a_note_says_so(topical, tmp_path):
    settings = {"split": "distance:1", "scores": ("hub", "authority")}
    file = winner(tmp_path / "earlier.toml")
    done = small_search(*topical, tmp_path / "search", seed_with=[file], **settings, **TINY)
    assert done.settings.winners == ((1.0, 0.0, 1.0, 0.0),)
    assert done.notes == (f"{file} has one rule, so all 2 rules of the search get its weights.",)


@pytest.mark.parametrize("key", ["topics", "seeded_topics"])
@pytest.mark.parametrize("value", ["balloon", [1]])
def test_a_training_record_that_names_no_topics_is_refused(topical, tmp_path, key, value):
    file = winner(tmp_path / "earlier.toml", **{key: value})
    with pytest.raises(InvalidInput, match=f"`{key}` in its training record is no list of ids"):
        small_search(*topical, tmp_path / "search", seed_with=[file], **TINY)
    assert not (tmp_path / "search").exists()
