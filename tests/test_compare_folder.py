"""The folder of a comparison: what is refused before any work, who may work in it, and what an error leaves."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from comparisons import WantedComparison
from evolution_web import record_topical, write_topical
from scenthound.errors import InvalidInput, UnknownName
from scenthound.experiments import results
from scenthound.experiments.compare.results import compare_into, comparison_folder
from scenthound.experiments.starts import TopicChoice
from scenthound.ui.reports.comparison import RENDERER

pytestmark = pytest.mark.usefixtures("no_figures")

SMALL = WantedComparison(("best_first", "breadth_first"), page_budget=10, repeats=1, n_start=3)


def refusal(out: Path, **more) -> str:
    with pytest.raises(InvalidInput) as result, comparison_folder(out, **more):
        raise AssertionError("the work began")
    message = str(result.value)
    assert "--out" in message
    assert str(more.get("train_from", out)) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("entry", ["letter.txt", "study.json", "comparison.json", "training", "ranking.svg/", "crawls"])
def test_a_folder_with_other_files_is_refused(tmp_path, entry):
    folder = tmp_path / entry
    if entry in ("training", "ranking.svg/"):
        folder.mkdir()
        (folder / "mine").write_text("mine")
    else:
        folder.write_text('{"mine": 1}')
    assert f" {entry.rstrip('/')}: " in refusal(tmp_path)
    assert [found.name for found in tmp_path.iterdir()] == [entry.rstrip("/")]


def test_a_path_that_cannot_be_a_folder_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    for out in (tmp_path / "file", tmp_path / "file" / "out", tmp_path / "nowhere"):
        assert refusal(out)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_without_write_permission_is_refused(tmp_path, monkeypatch):
    # A superuser may write anywhere, so the answer of the system is made up.
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert refusal(tmp_path / "out")


def test_a_training_folder_inside_the_replaced_folder_is_refused(tmp_path):
    out = tmp_path / "out"
    for taught in (out / "training", out / "training" / "more"):
        assert f"--train-from {taught} " in refusal(out, train_from=taught)
    assert not out.exists()
    with comparison_folder(out, tmp_path / "training"):
        assert out.is_dir()


def test_an_interrupted_comparison_is_continued(tmp_path):
    (tmp_path / "crawls").mkdir()
    (tmp_path / "training").mkdir()
    (tmp_path / "comparison.csv").write_text("")
    (tmp_path / ".0123.part").write_text("")
    with comparison_folder(tmp_path):
        assert (tmp_path / "crawls").is_dir()
    assert (tmp_path / "crawls").is_dir()


def test_only_one_process_writes_to_a_folder(tmp_path):
    with comparison_folder(tmp_path / "out"):
        assert refusal(tmp_path / "out")
    with comparison_folder(tmp_path / "out"):
        pass


def test_a_new_folder_is_removed_after_an_error_and_an_old_one_is_not(tmp_path):
    (tmp_path / "old").mkdir()
    for out in (tmp_path / "new", tmp_path / "old"):
        with pytest.raises(KeyboardInterrupt), comparison_folder(out):
            raise KeyboardInterrupt
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "old").exists()


def test_a_finished_crawl_stays_after_an_error(tmp_path):
    crawl = tmp_path / "new" / "crawls" / "crawl"
    with pytest.raises(FileExistsError), comparison_folder(tmp_path / "new"):
        _written_twice(crawl)
    assert crawl.exists()


def _written_twice(file: Path) -> None:
    file.touch()
    file.touch(exist_ok=False)


@pytest.fixture(scope="module")
def web(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


def test_an_earlier_result_stays_until_the_new_one_is_rendered(web, tmp_path):
    out, choice = tmp_path / "out", TopicChoice(web / "topics.jsonl", ("balloon",))
    compare_into(out, *SMALL.on(web / "web", choice), workers=1)
    before = {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()}
    assert json.loads(before["comparison.json"])["format"] == "scenthound comparison"

    def fails(*_):
        raise ValueError("cannot be drawn")

    fewer = replace(SMALL, strategies=("best_first",)).on(web / "web", choice)
    with pytest.raises(ValueError, match="cannot be drawn"):
        compare_into(out, *fewer, render=replace(RENDERER, figures=fails), workers=1)
    assert {file.name: file.read_bytes() for file in out.iterdir() if file.is_file()} == before


def test_there_is_no_comparison_json_while_files_are_replaced(web, tmp_path, monkeypatch):
    out, choice = tmp_path / "out", TopicChoice(web / "topics.jsonl", ("balloon",))
    compare_into(out, *SMALL.on(web / "web", choice), workers=1)
    written = []

    def noted(path, content):
        written.append((path.name, (out / "comparison.json").exists()))

    monkeypatch.setattr(results, "write_atomic", noted)
    monkeypatch.setattr("scenthound.store.folder.write_atomic", noted)
    compare_into(out, *SMALL.on(web / "web", choice), workers=1)
    assert written[-1] == ("comparison.json", False)
    assert not any(is_there for _, is_there in written)


def test_invalid_input_leaves_no_folder(web, tmp_path):
    with pytest.raises(UnknownName):
        compare_into(
            tmp_path / "out", *SMALL.on(web / "web", TopicChoice(web / "topics.jsonl", ("nobody",))), workers=1
        )
    assert not (tmp_path / "out").exists()
