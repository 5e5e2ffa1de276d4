"""Responses of the API for stored crawls."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from dashboard_client import RELEVANCE, Client, begin_crawl, ended_crawl, status_values, store_page
from scenthound.crawler.settings import StopConditions
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.crawl_records import RelevanceRecord
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S, new_crawl, small_crawl
from timing import wait_until

CRAWL = "/api/crawls/crawl"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("folders")
    ended_crawl(folder / "crawl")
    ended_crawl(folder / "other", strategy="breadth_first")
    return Client(folder)


def visits(response: Any) -> list[int]:
    return [page["visit"] for page in response.json["pages"]]


def test_a_crawl_has_its_topic_strategy_state_and_status(client: Client) -> None:
    crawl = client.get(CRAWL).json
    assert (crawl["topic"], crawl["keywords"]) == ("ballooning", ["hot air balloon"])
    assert (crawl["strategy"], crawl["relevance_model"], crawl["state"]) == ("best_first", "rocchio", "ended")
    assert crawl["end_reason"] == EndReason.BUDGET.value
    assert crawl["ended"]
    status = crawl["status"]
    assert (status["n_pages"], status["page_budget"], status["regret"]) == (4, 10, 0.25)
    assert [(each["reason"], each["pages"]) for each in crawl["reasons"]] == [("not-html", 2), ("robots", 1)]
    assert crawl["reasons"][1]["text"] == SkipReason.ROBOTS.text
    assert status["host_statistics"][0] == {"host": "a.test", "state": "waiting", "waits_s": 0.8, "n_pages": 3}


def test_a_crawl_says_how_many_pages_are_on_topic_and_how_that_was_decided(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl", relevance="rocchio", on_topic_from=0.5) as store:
        store.set_status(orjson.dumps(status_values(4, n_on_topic=3)))
        store.commit()
        client = Client(tmp_path / "crawl")
        (folder,) = client.get("/api/folders").json["folders"]
        crawl = client.get(CRAWL).json
        assert (folder["n_on_topic"], crawl["status"]["n_on_topic"]) == (3, 3)
        assert crawl["on_topic"] == {"relevance_model": "rocchio", "threshold": 0.5}
        store.add(RelevanceRecord(4, NOON_S, "svm", "relevance_models/1", 3, 3))
        store.commit()
        assert client.get(CRAWL).json["on_topic"]["relevance_model"] == "rocchio, then svm"


def test_scores_that_are_no_probabilities_do_not_tell_what_is_on_topic(client: Client) -> None:
    assert {folder["n_on_topic"] for folder in client.get("/api/folders").json["folders"]} == {None}
    assert client.get(CRAWL).json["on_topic"] is None


def test_settings_are_facts_for_people(client: Client) -> None:
    facts = {fact["name"]: fact["value"] for fact in client.get(CRAWL).json["settings"]}
    assert facts["start pages"] == "http://a.test/"
    assert (facts["delay"], facts["timeout"], facts["page bytes"], facts["redirects"]) == (
        "1 s",
        "30 s",
        "2000000",
        "5",
    )
    assert not {"web", "no traps", "allow private"} & facts.keys()


@pytest.mark.parametrize(("budget", "more"), [(4, ["--pages", "8"]), (2, ["--pages", "8"]), (5, [])])
def test_a_crawl_that_used_its_page_budget_is_resumed_with_a_larger_one(
    tmp_path: Path, budget: int, more: list[str]
) -> None:
    folder = ended_crawl(tmp_path / "it's; a crawl")
    StopConditions(page_budget=budget).write(folder)
    client = Client(folder)
    crawl = client.get("/api/crawls/it-s-a-crawl").json
    assert shlex.split(crawl["resume_command"]) == ["scenthound", "crawl", "--resume", str(folder), *more]
    assert crawl["status"]["page_budget"] == client.get("/api/folders").json["folders"][0]["page_budget"] == budget


def test_a_crawl_is_running_while_its_process_lives_and_died_without_a_recorded_end(tmp_path: Path) -> None:
    client = Client(tmp_path / "crawl")
    with begin_crawl(tmp_path / "crawl"):
        crawl = client.get(CRAWL).json
        assert (crawl["state"], crawl["resume_command"]) == ("running", None)
    crawl = client.get(CRAWL).json
    assert crawl["state"] == "died"
    assert crawl["ended"]
    assert crawl["resume_command"] == f"scenthound crawl --resume {tmp_path / 'crawl'}"


def test_curves_come_from_samples_and_after_a_short_crawl_from_visits(tmp_path: Path) -> None:
    client = Client(tmp_path / "crawl")
    with begin_crawl(tmp_path / "crawl"):
        curves = client.get(f"{CRAWL}/curves").json
        assert (curves["seconds"], curves["pages"]) == ([1, 2, 3, 4], [1, 2, 3, 4])
        assert curves["pages_per_s"] == [None, 1, 1, 1]
        assert curves["regret"] == [None] * 4
        assert (str(curves["n_skipped"]), str(curves["hosts_disabled"])) == ("[3, 3, 3, 3]", "[5, 5, 5, 5]")
    curves = client.get(f"{CRAWL}/curves").json
    assert (curves["seconds"], curves["pages"], curves["n_skipped"]) == ([0, 1, 2, 3], [1, 2, 3, 4], [None] * 4)


@pytest.mark.parametrize(
    ("order", "expected"),
    [("latest", [3, 2, 1, 0]), ("first", [0, 1, 2, 3]), ("best", [1, 3, 0, 2]), ("worst", [2, 0, 3, 1])],
)
def test_pages_are_paginated_in_any_order_without_gaps(client: Client, order: str, expected: list[int]) -> None:
    assert visits(client.get(f"{CRAWL}/pages?order={order}")) == expected
    found, start = [], 0
    while start is not None:
        response = client.get(f"{CRAWL}/pages?order={order}&limit=1&from={start}")
        found += visits(response)
        start = response.json["next"]
    assert found == expected


def test_pages_of_a_host_include_all_ports_and_no_other_host(client: Client) -> None:
    assert visits(client.get(f"{CRAWL}/pages?host=b.test&order=first")) == [2, 3]
    assert visits(client.get(f"{CRAWL}/pages?host=B.TEST&order=best")) == [3, 2]
    assert visits(client.get(f"{CRAWL}/pages?host=b.tes")) == []
    assert visits(client.get(f"{CRAWL}/pages?host=%25")) == []


def test_an_infinite_score_is_null(client: Client) -> None:
    seed, other = client.get(f"{CRAWL}/pages?order=first&limit=2").json["pages"]
    assert (seed["score"], seed["is_seed"], seed["n_links"]) == (None, True, 2)
    assert (other["score"], other["is_seed"], other["relevance"]) == (0.25, False, RELEVANCE[1])
    assert other["time_s"] == NOON_S + 1


def test_search_finds_indexed_pages(client: Client) -> None:
    path = f"{CRAWL}/pages?query=number+3"
    wait_until(lambda: client.get(path).json["indexing"] == {"indexed": 4, "pages": 4, "running": False})
    response = client.get(path)
    assert (visits(response), response.json["found"]) == ([3], 1)
    assert "balloon number 3" in response.json["pages"][0]["excerpt"]
    assert visits(client.get(f"{CRAWL}/pages?query=balloon&host=b.test")) in ([2, 3], [3, 2])


def test_a_visited_page_is_explained(client: Client) -> None:
    explained = client.get(f"{CRAWL}/pages/3").json
    assert explained["outcome"] == "visited"
    assert explained["page"]["visit"] == 3
    assert re.search(r"\b3\b.*\b0\b.*\b0\.25\b", explained["sentences"][1])
    assert re.search(r"\b1\b", explained["sentences"][-1])
    assert (explained["parents"][0]["visit"], explained["n_parents"]) == (1, 1)
    assert explained["text"].startswith("Page 3")
    assert client.get(f"{CRAWL}/explain?url=http://b.test:81/3").json == explained


def test_small_scores_are_shown_with_significant_digits(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        tiny = {"score": 2.84e-6, "regret": 1.5e-7, "relevance": 0.0000123}
        store_page(store, 4, "http://c.test/", "four", links=np.zeros(0, np.int32), **tiny)
        store.commit()
    sentences = Client(tmp_path / "crawl").get(f"{CRAWL}/pages/4").json["sentences"]
    for sentence, number in zip(sentences[1:], ("0.00000284", "5.0%", "0.0000123"), strict=False):
        assert number in sentence


def test_scored_by_is_equal_only_for_crawls_with_the_same_topic_and_model(tmp_path: Path) -> None:
    learnt = {"relevance": "svm", "train_from": "pages"}
    for name, changes in {
        "plain": {},
        "other strategy": {"strategy": "breadth_first"},
        "one": {**learnt, "train_digest": "one"},
        "other": {**learnt, "train_digest": "other"},
    }.items():
        ended_crawl(tmp_path / name, **changes)
    with begin_crawl(tmp_path / "retrained") as store:
        store.add(RelevanceRecord(2, NOON_S, "svm", "relevance_models/1", 3, 3))
        store.commit()
    client = Client(tmp_path)
    ids = {folder["name"]: folder["id"] for folder in client.get("/api/folders").json["folders"]}
    scored_by = {name: client.get(f"/api/crawls/{each}").json["scored_by"] for name, each in ids.items()}
    assert scored_by["plain"] == scored_by["other strategy"]
    assert len(set(scored_by.values())) == 4


def test_a_skipped_page_is_explained(client: Client) -> None:
    explained = client.get(f"{CRAWL}/explain?url=c.test").json
    assert (explained["outcome"], explained["skipped"]["reason"], explained["page"]) == ("skipped", "robots", None)
    assert SkipReason.ROBOTS.text in explained["sentences"][0]


def test_for_an_unknown_url_the_nearest_one_is_named(client: Client) -> None:
    explained = client.get(f"{CRAWL}/explain?url=a.test/balloon").json
    assert (explained["outcome"], explained["nearest"]) == ("unknown", "http://a.test/balloons")


def test_skipped_pages_are_listed_by_reason(client: Client) -> None:
    listed = client.get(f"{CRAWL}/skipped?reason=robots").json
    assert [page["url"] for page in listed["pages"]] == ["http://c.test/"]
    assert client.get(f"{CRAWL}/skipped?reason=not-html").json == {"pages": [], "next": None}


def test_hosts_are_counted(client: Client) -> None:
    top = client.get(f"{CRAWL}/hosts").json
    assert top["n_hosts"] == 2
    assert [(each["host"], each["pages"]) for each in top["hosts"]] == [("a.test", 2), ("b.test", 2)]
    assert top["hosts"][0]["mean_relevance"] == pytest.approx(0.7)


def test_the_parent_of_a_page_in_the_graph_is_the_page_it_was_discovered_on(client: Client) -> None:
    nodes = client.get(f"{CRAWL}/graph").json["nodes"]
    assert [(node["visit"], node["distance"], node["parent"]) for node in nodes] == [
        (0, 0, None), (1, 1, 0), (2, 1, 0), (3, 2, 1)
    ]  # fmt: skip


def test_crawls_are_compared(client: Client) -> None:
    compared = client.get("/api/compare?crawl=other&crawl=crawl").json
    assert [crawl["id"] for crawl in compared["crawls"]] == ["other", "crawl"]
    assert compared["overlaps"] == [
        {"first": "other", "second": "crawl", "both": 4, "only_first": 0, "only_second": 0, "jaccard": 1.0}
    ]


def test_unrecorded_values_of_an_older_crawl_are_null(tmp_path: Path) -> None:
    client = Client(small_crawl(tmp_path / "crawl"))
    crawl = client.get(CRAWL).json
    assert (crawl["topic"], crawl["status"], crawl["settings"], crawl["state"]) == ("", None, [], "stopped")
    curves = client.get(f"{CRAWL}/curves").json
    assert curves["pages"] == [1, 2, 3]
    for name in ("hosts_active", "hosts_waiting", "hosts_ready", "hosts_disabled", "n_skipped"):
        assert curves[name] == [None] * 3
    assert visits(client.get(f"{CRAWL}/pages")) == [2, 1, 0]


def test_a_crawl_without_pages_can_be_requested(tmp_path: Path) -> None:
    new_crawl(tmp_path / "crawl", seeds=["http://a.test/"]).close()
    client = Client(tmp_path / "crawl")
    assert client.get(CRAWL).json["state"] == "not begun"
    for path in ("curves", "pages", "pages?order=best", "hosts", "graph", "skipped", "labels"):
        assert client.get(f"{CRAWL}/{path}").status == 200


def test_lone_surrogates_do_not_break_a_response(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        store.add_urls(["http://a.test/5"])
        store_page(store, 4, "http://a.test/4", "four", title="\ud800 half", links=np.zeros(0, np.int32))
        store.commit()
    client = Client(tmp_path / "crawl")
    assert client.get(f"{CRAWL}/pages?limit=1").status == 200
    assert client.get(f"{CRAWL}/explain?url=a.test/%ED%A0%80").status == 200


def test_visits_are_read_by_number_in_the_requested_order(tmp_path: Path) -> None:
    with StoredCrawl.open(ended_crawl(tmp_path / "crawl")) as crawl:
        rows = crawl.visits_numbered([3, 0, 9, 1])
        assert [(row.visit, row.links.tolist()) for row in rows] == [(3, []), (0, [1, 2]), (1, [3])]
        assert (rows[1].url, rows[1].location) == ("http://a.test/", next(crawl.visits(0)).location)
