"""Metrics for Prometheus."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from dashboard_client import Client, begin_crawl, ended_crawl, status_values
from scenthound.model import Topic
from scenthound.ui.dashboard.prometheus import escaped
from stored_crawls import small_crawl

HOSTILE = 'a "quoted" \\ name\nwith lines {x="y"} 1'


def samples(client: Client) -> dict[str, Any]:
    """Labels and values by metric."""
    response = client.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        family.name: [(sample.labels, sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(response.text)
    }


def test_a_crawl_has_metrics(tmp_path: Path) -> None:
    metrics = samples(Client(ended_crawl(tmp_path / "crawl")))
    crawl = {"crawl": "crawl"}
    assert metrics["scenthound_pages"] == [(crawl, 4.0)]
    assert metrics["scenthound_page_budget"] == [(crawl, 10.0)]
    assert metrics["scenthound_harvest"] == [(crawl, 0.5)]
    assert metrics["scenthound_recent_harvest"] == [(crawl, 0.4)]
    assert metrics["scenthound_frontier"] == [(crawl, 7.0)]
    assert metrics["scenthound_regret"] == [(crawl, 0.25)]
    assert metrics["scenthound_running"] == [(crawl, 0.0)]
    states = {labels["state"]: value for labels, value in metrics["scenthound_hosts"]}
    assert states == {"active": 1, "waiting": 3, "ready": 4, "disabled": 5}
    reasons = {labels["reason"]: value for labels, value in metrics["scenthound_skipped"]}
    assert reasons == {"robots": 1, "not-html": 2}


def test_a_strategy_without_scores_has_no_regret(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        store.set_status(orjson.dumps(status_values(4, regret=None)))
        store.commit()
        assert samples(Client(tmp_path / "crawl"))["scenthound_regret"] == []


def test_pages_on_topic_are_counted_if_the_relevance_model_can_tell(tmp_path: Path) -> None:
    assert metrics_while_running(tmp_path / "crawl")["scenthound_on_topic_pages"] == []
    metrics = metrics_while_running(tmp_path / "another", n_on_topic=3)
    assert metrics["scenthound_on_topic_pages"] == [({"crawl": "another"}, 3.0)]


def test_every_metric_has_help_and_type(tmp_path: Path) -> None:
    text = Client(ended_crawl(tmp_path / "crawl")).get("/metrics").text
    families = list(text_string_to_metric_families(text))
    assert len(families) == 18
    assert all(family.documentation and family.type in ("gauge", "counter") for family in families)


def test_a_running_crawl_is_marked(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl"):
        assert samples(Client(tmp_path / "crawl"))["scenthound_running"] == [({"crawl": "crawl"}, 1.0)]


def metrics_while_running(folder: Path, **changes: Any) -> dict[str, Any]:
    with begin_crawl(folder) as store:
        store.set_status(orjson.dumps(status_values(4) | changes))
        store.commit()
        return samples(Client(folder))


@pytest.mark.parametrize(
    ("changes", "speed"),
    [({}, 1.5), ({"ending": "page budget reached"}, 1.5), ({"paused": True}, 0.0)],
    ids=["running", "ending", "paused"],
)
def test_a_running_crawl_has_a_speed(tmp_path: Path, changes: dict[str, Any], speed: float) -> None:
    metrics = metrics_while_running(tmp_path / "crawl", **changes)
    assert metrics["scenthound_pages_per_second"] == [({"crawl": "crawl"}, speed)]
    assert metrics["scenthound_in_flight"] == [({"crawl": "crawl"}, 2.0)]


def test_a_stopped_crawl_has_neither_speed_nor_requests_in_flight(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "ended")
    begin_crawl(tmp_path / "died").close()
    metrics = samples(Client(tmp_path))
    assert len(metrics["scenthound_pages"]) == 2
    assert metrics["scenthound_pages_per_second"] == []
    assert metrics["scenthound_in_flight"] == []


def test_without_pages_there_is_no_harvest(tmp_path: Path) -> None:
    metrics = metrics_while_running(tmp_path / "crawl", n_pages=0, harvest=0.0, recent_harvest=0.0)
    assert metrics["scenthound_pages"] == [({"crawl": "crawl"}, 0.0)]
    assert metrics["scenthound_harvest"] == []
    assert metrics["scenthound_recent_harvest"] == []


def test_hostile_names_are_escaped_in_labels(tmp_path: Path) -> None:
    folder = ended_crawl(tmp_path / 'x"} 7\nevil 1', topic=Topic(HOSTILE, ("balloon",)))
    metrics = samples(Client(folder))
    ((labels, _),) = metrics["scenthound_crawl_info"]
    assert (labels["topic"], labels["name"]) == (HOSTILE, folder.name)
    assert "evil" not in metrics


def test_unknown_values_are_left_out(tmp_path: Path) -> None:
    small_crawl(tmp_path / "old")
    ended_crawl(tmp_path / "new")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "crawl.json").write_text("{")
    metrics = samples(Client(tmp_path))
    assert [labels["crawl"] for labels, _ in metrics["scenthound_pages"]] == ["new"]
    assert {labels["crawl"] for labels, _ in metrics["scenthound_running"]} == {"old", "new"}


@pytest.mark.parametrize(
    ("text", "expected"), [("\ud800", "?"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("ä", "ä")]
)
def test_labels_are_escaped(text: str, expected: str) -> None:
    assert escaped(text) == expected
