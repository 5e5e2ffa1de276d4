"""What the dashboard says of folders of the laboratory: as much as their reports say, and no more."""

import json
from pathlib import Path
from typing import Any

import pytest

from asked_dashboard import Asker, search


def comparison(folder: Path, *ranking: Any) -> Asker:
    folder.mkdir()
    about = {"format": "scenthound comparison", "version": 1, "winner": "otie", "ranking": list(ranking)}
    (folder / "comparison.json").write_text(json.dumps(about))
    return Asker(folder)


def facts(asker: Asker) -> dict[str, str]:
    return {fact["name"]: fact["value"] for fact in asker.get("/api/experiments/experiment").json["facts"]}


def test_the_curves_of_a_search_are_the_whole_population_of_every_generation(tmp_path: Path) -> None:
    told = Asker(search(tmp_path / "search")).get("/api/experiments/search").json["search"]
    assert told == {"generation": [0, 1, 2], "best": [0.5, 0.5, 0.625], "mean": [0.25, 0.375, 0.5]}


@pytest.mark.parametrize("left", [["evaluations.jsonl"], []], ids=["some evaluations", "none"])
def test_a_search_that_has_no_whole_generation_yet_has_no_points(tmp_path: Path, left: list[str]) -> None:
    folder = search(tmp_path / "search")
    for name in {"evaluations.jsonl", "evolved.toml"}.difference(left):
        (folder / name).unlink()
    told = Asker(folder).get("/api/experiments/search").json["search"]
    assert told == {"generation": [], "best": [], "mean": []}


def test_a_result_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    folder = search(tmp_path / "search")
    (folder / "evolved.toml").write_text("{")
    answer = Asker(folder).get("/api/experiments/search")
    assert 400 <= answer.status < 500
    assert "evolved.toml is no rank file" in answer.json["says"]


def test_who_is_not_told_apart_from_the_best_is_not_beaten(tmp_path: Path) -> None:
    told = facts(
        comparison(
            tmp_path / "experiment",
            {"strategy": "otie", "mark": ""},
            {"strategy": "best_first", "mark": "="},
            {"strategy": "opic", "mark": "~"},
            {"strategy": "random", "mark": "*"},
        )
    )
    assert "Winner" not in told
    assert told["Best so far"] == "otie"
    assert told["Not told apart from it"] == "best_first"
    assert told["As good, to within 5 %"] == "opic"


def test_who_is_clearly_ahead_is_the_best(tmp_path: Path) -> None:
    ranking = ({"strategy": "otie", "mark": ""}, {"strategy": "random", "mark": "*"})
    told = facts(comparison(tmp_path / "experiment", *ranking))
    assert told == {"Best": "otie"}


def test_a_ranking_that_another_version_wrote_says_nothing(tmp_path: Path) -> None:
    assert facts(comparison(tmp_path / "experiment", 1, {"mark": "="}, {"strategy": "a"})) == {"Best": "otie"}
