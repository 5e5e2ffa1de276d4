"""Changes by way of the dashboard: steering a crawl, labelling its pages, training its guide anew."""

import json
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from asked_dashboard import Answer, Asker, begin_crawl, ended_crawl
from scenthound.crawler.control import Control
from scenthound.crawler.settings import StopConditions
from scenthound.errors import UsageError
from scenthound.experiments.labels import LABELS_FILE
from scenthound.store.locks import locked
from scenthound.ui.dashboard.problems import TooBusy, Workers
from stored_crawls import CRAWL_ID
from timing import WAIT_S

CRAWL = "/api/crawls/crawl"


@pytest.fixture
def asker(tmp_path: Path) -> Asker:
    return Asker(tmp_path / "crawl")


def test_a_running_crawl_is_steered(tmp_path: Path, asker: Asker) -> None:
    with begin_crawl(tmp_path / "crawl"):
        assert "no new request" in asker.post(f"{CRAWL}/pause").json["says"]
        assert Control.read(tmp_path / "crawl") == Control(1, paused=True)
        assert asker.post(f"{CRAWL}/resume", {}).status == 200
        assert asker.post(f"{CRAWL}/budget", {"pages": 77}).status == 200
        assert asker.post(f"{CRAWL}/stop").status == 200
        assert Control.read(tmp_path / "crawl") == Control(1, paused=False, stop=True, page_budget=77)


@pytest.mark.parametrize("change", ["pause", "resume", "stop"])
def test_a_crawl_that_is_not_running_cannot_be_steered(tmp_path: Path, asker: Asker, change: str) -> None:
    ended_crawl(tmp_path / "crawl")
    answer = asker.post(f"{CRAWL}/{change}")
    assert (answer.status, "is not running" in answer.json["says"]) == (400, True)
    assert Control.read(tmp_path / "crawl") is None


def test_its_page_budget_is_for_the_next_run(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    assert "next run" in asker.post(f"{CRAWL}/budget", {"pages": 55}).json["says"]
    assert StopConditions.read(tmp_path / "crawl").page_budget == 55


def test_asking_changes_nothing(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    for change in ("pause", "stop", "budget", "retrain"):
        assert asker.get(f"{CRAWL}/{change}").status in (404, 405)
    assert Control.read(tmp_path / "crawl") is None


def test_pages_are_labelled_and_labels_are_taken_back(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    asker.post(f"{CRAWL}/labels", {"visit": 1, "relevant": True})
    labels = asker.post(f"{CRAWL}/labels", {"visit": 2, "relevant": False}).json
    assert [(page["visit"], page["label"]) for page in labels["pages"]] == [(2, False), (1, True)]
    assert (labels["n_positive"], labels["n_negative"]) == (1, 1)
    assert "irrelevant" in labels["missing"]
    assert asker.get(CRAWL).json["n_labels"] == 2
    assert [page["label"] for page in asker.get(f"{CRAWL}/pages?order=first").json["pages"]] == [
        None,
        True,
        False,
        None,
    ]
    labels = asker.post(f"{CRAWL}/labels", {"visit": 1, "relevant": None}).json
    assert [page["visit"] for page in labels["pages"]] == [2]
    assert asker.get(f"{CRAWL}/labels").json == labels


def test_a_page_that_is_not_there_cannot_be_labelled(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    answer = asker.post(f"{CRAWL}/labels", {"visit": 4, "relevant": True})
    assert (answer.status, "no visit 4" in answer.json["says"]) == (404, True)
    assert not (tmp_path / "crawl" / LABELS_FILE).exists()


def test_a_label_must_be_said(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    assert asker.post(f"{CRAWL}/labels", {"visit": 1}).status == 400
    assert asker.post(f"{CRAWL}/labels", {"visit": 1, "relevant": 1}).status == 400


def test_a_damaged_file_of_labels_keeps_nobody_from_seeing_the_crawl(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    (tmp_path / "crawl" / LABELS_FILE).write_text("no label\n\n")
    assert asker.get(CRAWL).json["n_labels"] == 0
    assert asker.get(f"{CRAWL}/pages").status == 200
    answer = asker.post(f"{CRAWL}/labels", {"visit": 1, "relevant": True})
    assert (answer.status, LABELS_FILE in answer.json["says"]) == (409, True)


def test_too_few_labels_do_not_train_a_guide(tmp_path: Path, asker: Asker) -> None:
    ended_crawl(tmp_path / "crawl")
    answer = asker.post(f"{CRAWL}/retrain")
    assert (answer.status, answer.json["says"].startswith("Label 2 more relevant")) == (400, True)


def test_a_guide_is_trained_once_at_a_time(tmp_path: Path, asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    ended_crawl(tmp_path / "crawl")
    answers: list[Answer] = []

    def trains(_folder: Path) -> NoReturn:
        answers.append(Asker.post(other, f"{CRAWL}/retrain"))
        raise UsageError("It cannot be trained.")

    other = Asker(tmp_path / "crawl")
    other.dashboard = asker.dashboard
    monkeypatch.setattr("scenthound.experiments.retraining.retrain", trains)
    for _ in range(2):
        answers.append(asker.post(f"{CRAWL}/retrain"))
    assert [answer.status for answer in answers] == [409, 400, 409, 400]
    assert "being trained already" in answers[0].json["says"]


def test_a_label_for_a_folder_that_is_held_is_refused_soon(
    tmp_path: Path, asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenthound.experiments.labels.LONGEST_WAIT_S", 0.1)
    folder = ended_crawl(tmp_path / "crawl")
    with locked(folder):
        answer = asker.post(f"{CRAWL}/labels", {"visit": 1, "relevant": True})
    assert (answer.status, "held by another program" in answer.json["says"]) == (409, True)


def test_labels_of_visits_that_are_not_there_are_left_out(tmp_path: Path, asker: Asker) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    fields = {"url": "http://a.test/", "time_s": 0.0, "label": True, "crawl": str(CRAWL_ID)}
    lines = [json.dumps({**fields, "visit": visit}) for visit in (1, 4, -1, 10**19, 1e300)]
    (folder / LABELS_FILE).write_text("\n".join(lines) + "\n")
    labels = asker.get(f"{CRAWL}/labels").json
    assert ([page["visit"] for page in labels["pages"]], labels["n_positive"]) == ([1], 1)


def test_a_budget_is_not_written_through_a_link(tmp_path: Path, asker: Asker) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    (folder / "run.json").symlink_to(tmp_path / "elsewhere")
    answer = asker.post(f"{CRAWL}/budget", {"pages": 55})
    assert (answer.status, "symbolic link" in answer.json["says"]) == (409, True)
    assert not (tmp_path / "elsewhere").exists()


def test_more_work_than_can_be_done_is_refused_and_the_rest_is_done() -> None:
    workers, free = Workers("test", n_threads=1, most_waiting=1), threading.Event()
    running = threading.Event()
    first = workers.begin(lambda: (running.set(), free.wait(WAIT_S)))
    assert running.wait(WAIT_S)
    second = workers.begin(lambda: "done")
    with pytest.raises(TooBusy):
        workers.begin(lambda: "too much")
    free.set()
    assert (first.result(WAIT_S)[1], second.result(WAIT_S)) == (True, "done")
