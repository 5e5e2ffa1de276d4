"""Which folders the dashboard shows, under which ids, and what it says of those that it cannot read."""

import json
from pathlib import Path

import pytest

from asked_dashboard import Asker, ended_crawl
from scenthound.errors import InvalidInput
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.ui.dashboard import folders as folders_module
from scenthound.ui.dashboard.folders import LOOKED_EVERY_S, FolderBook
from scenthound.ui.dashboard.problems import NotThere


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def told(folder: Path, text: str = '{"format": "scenthound search", "version": 1}', name: str = "search.json") -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    return folder


def shown(*folders: Path) -> list[tuple[str, str]]:
    return [(found.id, found.kind) for found in FolderBook(list(folders), Clock()).all()]


def test_a_folder_that_is_something_is_shown_and_not_looked_into(tmp_path: Path) -> None:
    folder = told(tmp_path / "search")
    told(folder / "inner")
    assert shown(folder) == [("search", "search")]


def test_other_folders_are_looked_through_two_levels_deep(tmp_path: Path) -> None:
    for place in ("one", "a/two", "a/b/three", ".hidden/four"):
        told(tmp_path / place)
    assert shown(tmp_path) == [("two", "search"), ("one", "search")]


def test_ids_are_words_of_the_name_and_never_the_same_twice(tmp_path: Path) -> None:
    for place in ("x/My Crawl!", "y/My Crawl!", "z/my-crawl", "x/??"):
        told(tmp_path / place)
    assert sorted(name for name, _ in shown(tmp_path)) == ["folder", "my-crawl", "y-my-crawl", "z-my-crawl"]


def test_a_folder_given_twice_is_shown_once(tmp_path: Path) -> None:
    folder = told(tmp_path / "search")
    assert shown(folder, tmp_path, folder) == [("search", "search")]


def test_new_folders_are_found_after_a_while_and_ids_stay(tmp_path: Path) -> None:
    clock = Clock()
    told(tmp_path / "b" / "search")
    book = FolderBook([tmp_path], clock)
    assert [found.id for found in book.all()] == ["search"]
    told(tmp_path / "a" / "search")
    assert len(book.all()) == 1
    clock.now_s = LOOKED_EVERY_S
    assert {str(found.path.relative_to(tmp_path)): found.id for found in book.all()} == {
        "a/search": "a-search",
        "b/search": "search",
    }


def test_only_so_many_folders_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        told(tmp_path / f"search{number}")
    monkeypatch.setattr(folders_module, "MOST_SHOWN", 4)
    assert len(shown(tmp_path)) == 4
    # The folder itself is one of them.
    monkeypatch.setattr(folders_module, "MOST_LOOKED_AT", 3)
    assert len(shown(tmp_path)) == 2


@pytest.mark.parametrize("name", ["crawl.json", "search.json"])
def test_files_of_other_programs_are_none_of_ours_but_a_torn_crawl_is(tmp_path: Path, name: str) -> None:
    told(tmp_path / "folder", "{}", name)
    told(tmp_path / "search")
    expected = [("folder", "unreadable")] if name == "crawl.json" else []
    assert shown(tmp_path) == [*expected, ("search", "search")]


def test_a_folder_that_holds_nothing_is_shown_with_its_problem(tmp_path: Path) -> None:
    (folder,) = Asker(tmp_path).get("/api/folders").json["folders"]
    assert (folder["kind"], folder["path"]) == ("unreadable", str(tmp_path))
    assert "neither a crawl nor an experiment" in folder["problem"]["says"]


def test_without_a_folder_it_is_the_one_it_was_started_in_which_may_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown() == []
    told(tmp_path / "search")
    assert shown() == [("search", "search")]


def test_a_crawl_of_a_newer_version_is_shown_with_its_problem_beside_others(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "good")
    about = json.loads((ended_crawl(tmp_path / "newer") / ABOUT_FILE).read_text())
    (tmp_path / "newer" / ABOUT_FILE).write_text(json.dumps({**about, "version": 99}))
    asker = Asker(tmp_path)
    good, newer = asker.get("/api/folders").json["folders"]
    assert (good["kind"], good["title"], good["pages"], good["state"]) == (
        "crawl",
        "ballooning, by best_first",
        4,
        "ended",
    )
    assert newer["kind"] == "unreadable"
    assert "version 99" in newer["problem"]["says"]
    answer = asker.get("/api/crawls/newer")
    assert (answer.status, "version 99" in answer.json["says"]) == (409, True)
    assert asker.get("/report/newer").status == 409


def test_a_damaged_crawl_is_shown_with_its_problem(tmp_path: Path) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    (folder / DATABASE_FILE).write_bytes(b"no database at all" * 100)
    asker = Asker(folder)
    (shown,) = asker.get("/api/folders").json["folders"]
    assert shown["kind"] == "unreadable"
    assert DATABASE_FILE in shown["problem"]["says"]
    for path in ("/api/crawls/crawl", "/api/crawls/crawl/pages", "/api/crawls/crawl/events", "/report/crawl"):
        answer = asker.get(path)
        assert (answer.status, "Traceback" in answer.text) == (409, False)


def test_a_crawl_that_goes_on_is_read_anew_and_one_that_rests_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    asker = Asker(folder)
    first = asker.get("/api/folders").json
    monkeypatch.setattr("scenthound.ui.dashboard.folder_views.folder_answer", None)
    assert asker.get("/api/folders").json == first
    monkeypatch.undo()
    about = json.loads((folder / ABOUT_FILE).read_text())
    about["settings"]["topic"]["id"] = "trains"
    (folder / ABOUT_FILE).write_text(json.dumps(about))
    assert asker.get("/api/folders").json["folders"][0]["title"] == "trains, by best_first"


def test_an_unknown_id_names_the_nearest(tmp_path: Path) -> None:
    book = FolderBook([told(tmp_path / "balloons")], Clock())
    with pytest.raises(NotThere, match="Did you mean 'balloons'"):
        book.named("baloons")
    with pytest.raises(NotThere, match="/experiments/balloons"):
        book.crawl("balloons")


def test_a_folder_that_cannot_be_read_is_refused_with_its_problem(tmp_path: Path) -> None:
    book = FolderBook([told(tmp_path / "crawl", "{", "crawl.json")], Clock())
    with pytest.raises(InvalidInput, match=r"crawl\.json"):
        book.crawl("crawl")
