"""Experiments in the API."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard_client import Client, search


def comparison(folder: Path, *ranking: Any) -> Client:
    folder.mkdir()
    about = {"format": "scenthound comparison", "version": 1, "winner": "otie", "ranking": list(ranking)}
    (folder / "comparison.json").write_text(json.dumps(about))
    return Client(folder)


def facts(client: Client) -> dict[str, str]:
    return {fact["name"]: fact["value"] for fact in client.get("/api/experiments/experiment").json["facts"]}


def test_generations_of_a_search_come_from_its_result(tmp_path: Path) -> None:
    generations = Client(search(tmp_path / "search")).get("/api/experiments/search").json["generations"]
    assert [(each["generation"], each["best"], each["mean"]) for each in generations] == [
        (0, 0.5, 0.25),
        (1, 0.5, 0.375),
        (2, 0.625, 0.5),
    ]


@pytest.mark.parametrize("remaining", [["evaluations.jsonl"], []], ids=["some evaluations", "none"])
def test_a_search_without_a_complete_generation_has_no_points(tmp_path: Path, remaining: list[str]) -> None:
    folder = search(tmp_path / "search")
    for name in {"evaluations.jsonl", "evolved.toml"}.difference(remaining):
        (folder / name).unlink()
    assert Client(folder).get("/api/experiments/search").json["generations"] == []


def test_an_unreadable_result_is_reported(tmp_path: Path) -> None:
    folder = search(tmp_path / "search")
    (folder / "evolved.toml").write_text("{")
    response = Client(folder).get("/api/experiments/search")
    assert 400 <= response.status < 500
    assert "evolved.toml" in response.json["message"]


def test_strategies_that_are_as_good_or_unclear_are_named(tmp_path: Path) -> None:
    found = facts(
        comparison(
            tmp_path / "experiment",
            {"strategy": "otie", "mark": ""},
            {"strategy": "best_first", "mark": "?"},
            {"strategy": "opic", "mark": "≈"},
            {"strategy": "random", "mark": "*"},
        )
    )
    best, alike, unclear = list(found.values())[:3]
    assert (best, alike, unclear) == ("otie", "opic", "best_first")


def test_a_strategy_that_is_clearly_ahead_is_the_best(tmp_path: Path) -> None:
    ranking = ({"strategy": "otie", "mark": ""}, {"strategy": "random", "mark": "*"})
    assert facts(comparison(tmp_path / "experiment", *ranking)) == {"Best": "otie"}


def test_invalid_rows_of_a_ranking_are_ignored(tmp_path: Path) -> None:
    assert facts(comparison(tmp_path / "experiment", 1, {"mark": "?"}, {"strategy": "a"})) == {"Best": "otie"}
