"""The crawls as figures for Prometheus."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from asked_dashboard import Asker, begin_crawl, ended_crawl, status_values
from scenthound.model import Topic
from scenthound.ui.dashboard.prometheus import escaped
from stored_crawls import small_crawl

HOSTILE = 'a "quoted" \\ name\nwith lines {x="y"} 1'


def samples(asker: Asker) -> dict[str, Any]:
    """Families by name, each as labels and values."""
    answer = asker.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        family.name: [(sample.labels, sample.value) for sample in family.samples]
        for family in text_string_to_metric_families(answer.text)
    }


def test_a_crawl_is_told_in_figures(tmp_path: Path) -> None:
    told = samples(Asker(ended_crawl(tmp_path / "crawl")))
    crawl = {"crawl": "crawl"}
    assert told["scenthound_pages"] == [(crawl, 4.0)]
    assert told["scenthound_page_budget"] == [(crawl, 10.0)]
    assert told["scenthound_harvest"] == [(crawl, 0.5)]
    assert told["scenthound_recent_harvest"] == [(crawl, 0.4)]
    assert told["scenthound_frontier"] == [(crawl, 7.0)]
    assert told["scenthound_regret"] == [(crawl, 0.25)]
    assert told["scenthound_running"] == [(crawl, 0.0)]
    states = {labels["state"]: value for labels, value in told["scenthound_hosts"]}
    assert states == {"active": 1, "waiting": 3, "ready": 4, "disabled": 5}
    reasons = {labels["reason"]: value for labels, value in told["scenthound_skipped"]}
    assert reasons == {"robots": 1, "not-html": 2}


def test_a_strategy_without_scores_has_no_regret(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        store.set_status(orjson.dumps(status_values(4, regret=None)))
        store.commit()
        assert samples(Asker(tmp_path / "crawl"))["scenthound_regret"] == []


def test_every_figure_says_what_it_is(tmp_path: Path) -> None:
    text = Asker(ended_crawl(tmp_path / "crawl")).get("/metrics").text
    families = list(text_string_to_metric_families(text))
    assert len(families) == 12
    assert all(family.documentation and family.type in ("gauge", "counter") for family in families)


def test_a_running_crawl_is_told_so(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl"):
        assert samples(Asker(tmp_path / "crawl"))["scenthound_running"] == [({"crawl": "crawl"}, 1.0)]


def told_while_open(folder: Path, **changes: Any) -> dict[str, Any]:
    with begin_crawl(folder) as store:
        store.set_status(orjson.dumps(status_values(4) | changes))
        store.commit()
        return samples(Asker(folder))


@pytest.mark.parametrize(
    ("changes", "speed"),
    [({}, 1.5), ({"ending": "page budget reached"}, 1.5), ({"paused": True}, 0.0)],
    ids=["running", "ending", "paused"],
)
def test_a_crawl_at_work_has_a_speed(tmp_path: Path, changes: dict[str, Any], speed: float) -> None:
    told = told_while_open(tmp_path / "crawl", **changes)
    assert told["scenthound_pages_per_second"] == [({"crawl": "crawl"}, speed)]
    assert told["scenthound_in_flight"] == [({"crawl": "crawl"}, 2.0)]


def test_a_crawl_that_nobody_works_on_has_no_speed_and_no_requests(tmp_path: Path) -> None:
    ended_crawl(tmp_path / "ended")
    begin_crawl(tmp_path / "died").close()
    told = samples(Asker(tmp_path))
    assert len(told["scenthound_pages"]) == 2
    assert told["scenthound_pages_per_second"] == []
    assert told["scenthound_in_flight"] == []


def test_without_pages_there_is_no_harvest(tmp_path: Path) -> None:
    told = told_while_open(tmp_path / "crawl", n_pages=0, harvest=0.0, recent_harvest=0.0)
    assert told["scenthound_pages"] == [({"crawl": "crawl"}, 0.0)]
    assert told["scenthound_harvest"] == []
    assert told["scenthound_recent_harvest"] == []


def test_hostile_names_stay_within_their_labels(tmp_path: Path) -> None:
    folder = ended_crawl(tmp_path / 'x"} 7\nevil 1', topic=Topic(HOSTILE, ("balloon",)))
    told = samples(Asker(folder))
    ((labels, _),) = told["scenthound_crawl_info"]
    assert (labels["topic"], labels["name"]) == (HOSTILE, folder.name)
    assert "evil" not in told


def test_what_is_not_known_is_left_out_and_others_are_told(tmp_path: Path) -> None:
    small_crawl(tmp_path / "old")
    ended_crawl(tmp_path / "new")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "crawl.json").write_text("{")
    told = samples(Asker(tmp_path))
    assert [labels["crawl"] for labels, _ in told["scenthound_pages"]] == ["new"]
    assert {labels["crawl"] for labels, _ in told["scenthound_running"]} == {"old", "new"}


@pytest.mark.parametrize(
    ("text", "expected"), [("\ud800", "?"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("ä", "ä")]
)
def test_labels_are_escaped(text: str, expected: str) -> None:
    assert escaped(text) == expected
