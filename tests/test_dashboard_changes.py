"""Changes over the API: control of a crawl, labels, retraining."""

import json
import re
from pathlib import Path
from typing import NoReturn

import pytest

from dashboard_client import Client, Reply, begin_crawl, ended_crawl
from scenthound.crawler.control import Control
from scenthound.crawler.settings import StopConditions
from scenthound.crawler.state import State
from scenthound.errors import UsageError
from scenthound.experiments.labels import LABELS_FILE
from scenthound.store.locks import locked
from stored_crawls import CRAWL_ID

CRAWL = "/api/crawls/crawl"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "crawl")


def test_a_running_crawl_is_controlled(tmp_path: Path, client: Client) -> None:
    with begin_crawl(tmp_path / "crawl"):
        assert client.post(f"{CRAWL}/pause").status == 200
        assert Control.read(tmp_path / "crawl") == Control(1, paused=True)
        assert client.post(f"{CRAWL}/resume", {}).status == 200
        assert client.post(f"{CRAWL}/budget", {"pages": 77}).status == 200
        assert client.post(f"{CRAWL}/stop").status == 200
        assert Control.read(tmp_path / "crawl") == Control(1, paused=False, stop=True, page_budget=77)


@pytest.mark.parametrize("change", ["pause", "resume", "stop"])
def test_a_crawl_that_is_not_running_cannot_be_controlled(tmp_path: Path, client: Client, change: str) -> None:
    ended_crawl(tmp_path / "crawl")
    reply = client.post(f"{CRAWL}/{change}")
    assert (reply.status, State.ENDED in reply.json["message"]) == (400, True)
    assert Control.read(tmp_path / "crawl") is None


def test_the_page_budget_of_a_stopped_crawl_applies_to_its_next_run(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    assert client.post(f"{CRAWL}/budget", {"pages": 55}).status == 200
    assert StopConditions.read(tmp_path / "crawl").page_budget == 55


def test_get_requests_change_nothing(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    for change in ("pause", "stop", "budget", "retrain"):
        assert client.get(f"{CRAWL}/{change}").status in (404, 405)
    assert Control.read(tmp_path / "crawl") is None


def test_pages_are_labelled_and_labels_removed(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    client.post(f"{CRAWL}/labels", {"visit": 1, "relevant": True})
    labels = client.post(f"{CRAWL}/labels", {"visit": 2, "relevant": False}).json
    assert [(page["visit"], page["label"]) for page in labels["pages"]] == [(2, False), (1, True)]
    assert (labels["n_positive"], labels["n_negative"]) == (1, 1)
    assert "irrelevant" in labels["missing"]
    assert client.get(CRAWL).json["n_labels"] == 2
    assert [page["label"] for page in client.get(f"{CRAWL}/pages?order=first").json["pages"]] == [
        None,
        True,
        False,
        None,
    ]
    labels = client.post(f"{CRAWL}/labels", {"visit": 1, "relevant": None}).json
    assert [page["visit"] for page in labels["pages"]] == [2]
    assert client.get(f"{CRAWL}/labels").json == labels


def test_a_missing_page_cannot_be_labelled(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    reply = client.post(f"{CRAWL}/labels", {"visit": 4, "relevant": True})
    assert (reply.status, "visit 4" in reply.json["message"]) == (404, True)
    assert not (tmp_path / "crawl" / LABELS_FILE).exists()


def test_a_label_is_true_false_or_null(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    assert client.post(f"{CRAWL}/labels", {"visit": 1}).status == 400
    assert client.post(f"{CRAWL}/labels", {"visit": 1, "relevant": 1}).status == 400


def test_an_invalid_label_file_does_not_hide_the_crawl(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    (tmp_path / "crawl" / LABELS_FILE).write_text("no label\n\n")
    assert client.get(CRAWL).json["n_labels"] == 0
    assert client.get(f"{CRAWL}/pages").status == 200
    reply = client.post(f"{CRAWL}/labels", {"visit": 1, "relevant": True})
    assert (reply.status, LABELS_FILE in reply.json["message"]) == (409, True)


def test_too_few_labels_do_not_retrain_the_model(tmp_path: Path, client: Client) -> None:
    ended_crawl(tmp_path / "crawl")
    reply = client.post(f"{CRAWL}/retrain")
    assert reply.status == 400
    assert re.search(r"\b2\b.*\brelevant\b", reply.json["message"])


def test_a_model_is_retrained_once_at_a_time(tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ended_crawl(tmp_path / "crawl")
    replies: list[Reply] = []

    def trains(_folder: Path) -> NoReturn:
        replies.append(Client.post(other, f"{CRAWL}/retrain"))
        raise UsageError("It cannot be trained.")

    other = Client(tmp_path / "crawl")
    other.dashboard = client.dashboard
    monkeypatch.setattr("scenthound.experiments.retraining.retrain", trains)
    for _ in range(2):
        replies.append(client.post(f"{CRAWL}/retrain"))
    assert [reply.status for reply in replies] == [409, 400, 409, 400]


def test_labelling_in_a_locked_folder_fails_soon(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenthound.experiments.labels.MAX_WAIT_S", 0.1)
    folder = ended_crawl(tmp_path / "crawl")
    with locked(folder):
        reply = client.post(f"{CRAWL}/labels", {"visit": 1, "relevant": True})
    assert (reply.status, str(folder) in reply.json["message"]) == (409, True)
    assert not (folder / LABELS_FILE).exists()


def test_labels_of_missing_visits_are_left_out(tmp_path: Path, client: Client) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    fields = {"url": "http://a.test/", "time_s": 0.0, "label": True, "crawl": str(CRAWL_ID)}
    lines = [json.dumps({**fields, "visit": visit}) for visit in (1, 4, -1, 10**19, 1e300)]
    (folder / LABELS_FILE).write_text("\n".join(lines) + "\n")
    labels = client.get(f"{CRAWL}/labels").json
    assert ([page["visit"] for page in labels["pages"]], labels["n_positive"]) == ([1], 1)


def test_a_budget_is_not_written_through_a_symbolic_link(tmp_path: Path, client: Client) -> None:
    folder = ended_crawl(tmp_path / "crawl")
    (folder / "run.json").symlink_to(tmp_path / "elsewhere")
    reply = client.post(f"{CRAWL}/budget", {"pages": 55})
    assert (reply.status, "run.json" in reply.json["message"]) == (409, True)
    assert not (tmp_path / "elsewhere").exists()
