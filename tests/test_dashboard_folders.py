"""The folders that the dashboard shows, their ids, and unreadable ones."""

import json
import re
from pathlib import Path

import pytest

from dashboard_client import Client, ended_crawl, search
from scenthound.errors import InvalidInput
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.ui.dashboard import folders as folders_module
from scenthound.ui.dashboard.folders import SEARCH_INTERVAL_S, FolderIndex
from scenthound.ui.dashboard.parameters import MAX_COMPARED
from scenthound.ui.dashboard.problems import NotFound


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def marked(
    folder: Path, text: str = '{"format": "scenthound search", "version": 1}', name: str = "search.json"
) -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    return folder


def listed(*folders: Path) -> list[tuple[str, str]]:
    return [(found.id, found.kind) for found in FolderIndex(list(folders), Clock()).all()]


def test_a_result_folder_is_shown_and_not_searched(tmp_path: Path) -> None:
    folder = marked(tmp_path / "search")
    marked(folder / "inner")
    assert listed(folder) == [("search", "search")]


def test_other_folders_are_searched_two_levels_deep(tmp_path: Path) -> None:
    for name in ("one", "a/two", "a/b/three", ".hidden/four"):
        marked(tmp_path / name)
    assert listed(tmp_path) == [("two", "search"), ("one", "search")]


def test_ids_are_slugs_of_the_names_and_unique(tmp_path: Path) -> None:
    for name in ("x/My Crawl!", "y/My Crawl!", "z/my-crawl", "x/??"):
        marked(tmp_path / name)
    assert sorted(name for name, _ in listed(tmp_path)) == ["folder", "my-crawl", "y-my-crawl", "z-my-crawl"]


def test_a_folder_named_twice_is_shown_once(tmp_path: Path) -> None:
    folder = marked(tmp_path / "search")
    assert listed(folder, tmp_path, folder) == [("search", "search")]


def test_new_folders_are_found_later_and_ids_stay(tmp_path: Path) -> None:
    clock = Clock()
    marked(tmp_path / "b" / "search")
    index = FolderIndex([tmp_path], clock)
    assert [found.id for found in index.all()] == ["search"]
    marked(tmp_path / "a" / "search")
    assert len(index.all()) == 1
    clock.now_s = SEARCH_INTERVAL_S
    assert {str(found.path.relative_to(tmp_path)): found.id for found in index.all()} == {
        "a/search": "a-search",
        "b/search": "search",
    }


def test_the_number_of_searched_folders_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        marked(tmp_path / f"search{number}")
    monkeypatch.setattr(folders_module, "MAX_FOUND", 4)
    assert len(listed(tmp_path)) == 4
    # The root itself counts.
    monkeypatch.setattr(folders_module, "MAX_SEARCHED", 3)
    assert len(listed(tmp_path)) == 2


@pytest.mark.parametrize("name", ["crawl.json", "search.json"])
def test_marker_files_of_other_programs_are_ignored_but_not_an_invalid_crawl(tmp_path: Path, name: str) -> None:
    marked(tmp_path / "folder", "{}", name)
    marked(tmp_path / "search")
    expected = [("folder", "unreadable")] if name == "crawl.json" else []
    assert listed(tmp_path) == [*expected, ("search", "search")]


def test_an_empty_folder_is_shown_with_its_problem(tmp_path: Path) -> None:
    (folder,) = Client(tmp_path).get("/api/folders").json["folders"]
    assert (folder["kind"], folder["path"]) == ("unreadable", str(tmp_path))
    assert str(tmp_path) in folder["problem"]["message"]


def test_without_arguments_the_current_folder_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert listed() == []
    marked(tmp_path / "search")
    assert listed() == [("search", "search")]


def test_a_crawl_of_a_newer_version_is_shown_with_its_problem(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "good")
    about = json.loads((ended_crawl(tmp_path / "newer") / ABOUT_FILE).read_text())
    (tmp_path / "newer" / ABOUT_FILE).write_text(json.dumps({**about, "version": 99}))
    client = Client(tmp_path)
    good, newer = client.get("/api/folders").json["folders"]
    assert (good["kind"], good["title"], good["pages"], good["state"]) == (
        "crawl",
        "ballooning, by best_first",
        4,
        "ended",
    )
    assert newer["kind"] == "unreadable"
    assert "version 99" in newer["problem"]["message"]
    response = client.get("/api/crawls/newer")
    assert (response.status, "version 99" in response.json["message"]) == (409, True)
    assert client.get("/report/newer").status == 409


def test_a_corrupt_crawl_is_shown_with_its_problem(tmp_path: Path) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    (folder / DATABASE_FILE).write_bytes(b"no database at all" * 100)
    client = Client(folder)
    (folder_info,) = client.get("/api/folders").json["folders"]
    assert folder_info["kind"] == "unreadable"
    assert DATABASE_FILE in folder_info["problem"]["message"]
    for path in ("/api/crawls/crawl", "/api/crawls/crawl/pages", "/api/crawls/crawl/events", "/report/crawl"):
        response = client.get(path)
        assert (response.status, "Traceback" in response.text) == (409, False)


def test_a_finished_crawl_is_read_again_only_if_its_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    client = Client(folder)
    first = client.get("/api/folders").json
    monkeypatch.setattr("scenthound.ui.dashboard.folder_views.folder_response", None)
    assert client.get("/api/folders").json == first
    monkeypatch.undo()
    about = json.loads((folder / ABOUT_FILE).read_text())
    about["settings"]["topic"]["id"] = "trains"
    (folder / ABOUT_FILE).write_text(json.dumps(about))
    assert client.get("/api/folders").json["folders"][0]["title"] == "trains, by best_first"


def test_an_unknown_id_names_the_nearest(tmp_path: Path) -> None:
    index = FolderIndex([marked(tmp_path / "balloons")], Clock())
    with pytest.raises(NotFound, match="'balloons'"):
        index.find("baloons")
    with pytest.raises(NotFound, match="/experiments/balloons"):
        index.crawl("balloons")


def test_an_unreadable_folder_raises_its_problem(tmp_path: Path) -> None:
    index = FolderIndex([marked(tmp_path / "crawl", "{", "crawl.json")], Clock())
    with pytest.raises(InvalidInput, match=r"crawl\.json"):
        index.crawl("crawl")


@pytest.mark.parametrize("ids", [[], ["crawl"], ["crawl"] * 9])
def test_a_comparison_of_too_few_or_too_many_crawls_says_how_many_to_choose(tmp_path: Path, ids: list[str]) -> None:
    ended_crawl(tmp_path / "crawl")
    response = Client(tmp_path).get("/api/compare?" + "&".join(f"crawl={each}" for each in ids))
    assert response.status == 400
    assert re.search(rf"\b2 .*\b{MAX_COMPARED} ", response.json["message"])


def test_a_crawl_requested_as_an_experiment_is_reported_with_its_path(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "a crawl")
    search(tmp_path / "a search")
    client = Client(tmp_path)
    ids = {folder["kind"]: folder["id"] for folder in client.get("/api/folders").json["folders"]}
    # The page turns the end of these messages into links.
    message = client.get(f"/api/experiments/{ids['crawl']}").json["message"]
    assert message.endswith(f" /crawls/{ids['crawl']}.")
    message = client.get(f"/api/crawls/{ids['search']}").json["message"]
    assert message.endswith(f" /experiments/{ids['search']}.")
