"""What the API says of a crawl that is on the disk."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asked_dashboard import RELEVANCE, Asker, begin_crawl, ended_crawl, store_page
from scenthound.crawler.settings import StopConditions
from scenthound.store.crawl_records import RelevanceRecord
from scenthound.store.stored_crawl import StoredCrawl
from stored_crawls import NOON_S, new_crawl, small_crawl

CRAWL = "/api/crawls/crawl"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Asker:
    folder = tmp_path_factory.mktemp("folders")
    ended_crawl(folder / "crawl")
    ended_crawl(folder / "other", strategy="breadth_first")
    return Asker(folder)


def visits(answer: Any) -> list[int]:
    return [page["visit"] for page in answer.json["pages"]]


def test_a_crawl_tells_what_it_is_and_how_it_stands(asker: Asker) -> None:
    crawl = asker.get(CRAWL).json
    assert (crawl["topic"], crawl["keywords"]) == ("ballooning", ["hot air balloon"])
    assert (crawl["strategy"], crawl["relevance_model"], crawl["state"]) == ("best_first", "cosine", "ended")
    assert crawl["ended"] == "It reached its page budget."
    status = crawl["status"]
    assert (status["n_pages"], status["page_budget"], status["regret"]) == (4, 10, 0.25)
    assert [(each["reason"], each["pages"]) for each in crawl["reasons"]] == [("not-html", 2), ("robots", 1)]
    assert crawl["reasons"][1]["text"] == "disallowed by robots.txt"
    assert status["host_statistics"][0] == {"host": "a.test", "state": "waiting", "waits_s": 0.8, "n_pages": 3}


def test_its_settings_are_readable_facts(asker: Asker) -> None:
    facts = {fact["name"]: fact["value"] for fact in asker.get(CRAWL).json["settings"]}
    assert facts["start pages"] == "http://a.test/"
    assert facts["crawl delay"].startswith("1 s or more")
    assert facts["fetching"] == "30 s and 2,000,000 bytes per page, 5 redirects"
    assert facts["guards"] == "all"
    assert "pages read from" not in facts


@pytest.mark.parametrize(("budget", "more"), [(4, ["--pages", "8"]), (2, ["--pages", "8"]), (5, [])])
def test_a_crawl_that_has_the_pages_of_its_budget_is_resumed_with_a_larger_one(
    tmp_path: Path, budget: int, more: list[str]
) -> None:
    folder = ended_crawl(tmp_path / "it's; a crawl")
    StopConditions(page_budget=budget).write(folder)
    asker = Asker(folder)
    crawl = asker.get("/api/crawls/it-s-a-crawl").json
    assert shlex.split(crawl["resume_command"]) == ["scenthound", "crawl", "--resume", str(folder), *more]
    assert crawl["status"]["page_budget"] == asker.get("/api/folders").json["folders"][0]["page_budget"] == budget


def test_a_crawl_runs_while_somebody_is_at_work_and_has_died_when_nobody_is(tmp_path: Path) -> None:
    asker = Asker(tmp_path / "crawl")
    with begin_crawl(tmp_path / "crawl"):
        crawl = asker.get(CRAWL).json
        assert (crawl["state"], crawl["resume_command"]) == ("running", None)
    crawl = asker.get(CRAWL).json
    assert crawl["state"] == "died"
    assert "process is gone" in crawl["ended"]
    assert crawl["resume_command"] == f"scenthound crawl --resume {tmp_path / 'crawl'}"


def test_curves_are_those_of_its_moments_and_of_its_visits_when_a_short_crawl_is_over(tmp_path: Path) -> None:
    asker = Asker(tmp_path / "crawl")
    with begin_crawl(tmp_path / "crawl"):
        curves = asker.get(f"{CRAWL}/curves").json
        assert (curves["seconds"], curves["pages"]) == ([1, 2, 3, 4], [1, 2, 3, 4])
        assert curves["pages_per_s"] == [None, 1, 1, 1]
        assert curves["regret"] == [None] * 4
        assert (str(curves["n_skipped"]), str(curves["hosts_disabled"])) == ("[3, 3, 3, 3]", "[5, 5, 5, 5]")
    curves = asker.get(f"{CRAWL}/curves").json
    assert (curves["seconds"], curves["pages"], curves["n_skipped"]) == ([0, 1, 2, 3], [1, 2, 3, 4], [None] * 4)


@pytest.mark.parametrize(
    ("order", "expected"),
    [("latest", [3, 2, 1, 0]), ("first", [0, 1, 2, 3]), ("best", [1, 3, 0, 2]), ("worst", [2, 0, 3, 1])],
)
def test_pages_are_leafed_through_in_any_order_without_a_gap(asker: Asker, order: str, expected: list[int]) -> None:
    assert visits(asker.get(f"{CRAWL}/pages?order={order}")) == expected
    found, start = [], 0
    while start is not None:
        answer = asker.get(f"{CRAWL}/pages?order={order}&limit=1&from={start}")
        found += visits(answer)
        start = answer.json["next"]
    assert found == expected


def test_pages_of_one_host_are_those_of_all_its_ports_and_of_no_other_host(asker: Asker) -> None:
    assert visits(asker.get(f"{CRAWL}/pages?host=b.test&order=first")) == [2, 3]
    assert visits(asker.get(f"{CRAWL}/pages?host=B.TEST&order=best")) == [3, 2]
    assert visits(asker.get(f"{CRAWL}/pages?host=b.tes")) == []
    assert visits(asker.get(f"{CRAWL}/pages?host=%25")) == []


def test_a_page_tells_its_scores_and_an_endless_one_is_null(asker: Asker) -> None:
    seed, other = asker.get(f"{CRAWL}/pages?order=first&limit=2").json["pages"]
    assert (seed["score"], seed["is_seed"], seed["n_links"]) == (None, True, 2)
    assert (other["score"], other["is_seed"], other["relevance"]) == (0.25, False, RELEVANCE[1])
    assert other["time_s"] == NOON_S + 1


def test_words_are_found_once_the_pages_are_indexed(asker: Asker) -> None:
    path = f"{CRAWL}/pages?query=number+3"
    indexed = asker.get(path).json["indexing"]
    for _ in range(100):
        indexed = asker.get(path).json["indexing"]
        if not indexed["running"]:
            break
    assert (indexed["indexed"], indexed["pages"]) == (4, 4)
    answer = asker.get(path)
    assert (visits(answer), answer.json["found"]) == ([3], 1)
    assert "balloon number 3" in answer.json["pages"][0]["excerpt"]
    assert visits(asker.get(f"{CRAWL}/pages?query=balloon&host=b.test")) in ([2, 3], [3, 2])


def test_why_a_page_was_taken_is_told_in_sentences(asker: Asker) -> None:
    told = asker.get(f"{CRAWL}/pages/3").json
    assert told["outcome"] == "visited"
    assert (
        told["says"][1] == "The strategy asked for it after 3 other pages, when no page waited, with a score of 0.25."
    )
    assert told["says"][-1] == "One visited page links to it."
    assert (told["parents"][0]["visit"], told["n_parents"]) == (1, 1)
    assert told["text"].startswith("Page 3")
    assert asker.get(f"{CRAWL}/explain?url=http://b.test:81/3").json == told


def test_small_scores_are_told_with_digits_that_count(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        tiny = {"score": 2.84e-6, "regret": 1.5e-7, "relevance": 0.0000123}
        store_page(store, 4, "http://c.test/", "four", links=np.zeros(0, np.int32), **tiny)
        store.commit()
    says = Asker(tmp_path / "crawl").get(f"{CRAWL}/pages/4").json["says"]
    assert says[1].endswith("with a score of 0.00000284.")
    assert says[2] == "A page with a score higher by 0.00000015 had to wait, because its host rested."
    assert says[3] == "It turned out to have a relevance of 0.0000123."


def test_crawls_that_were_scored_alike_say_so_and_others_do_not(tmp_path: Path) -> None:
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
    asker = Asker(tmp_path)
    ids = {folder["name"]: folder["id"] for folder in asker.get("/api/folders").json["folders"]}
    scored_by = {name: asker.get(f"/api/crawls/{each}").json["scored_by"] for name, each in ids.items()}
    assert scored_by["plain"] == scored_by["other strategy"]
    assert len(set(scored_by.values())) == 4


def test_why_a_page_was_not_taken_is_told(asker: Asker) -> None:
    told = asker.get(f"{CRAWL}/explain?url=c.test").json
    assert (told["outcome"], told["skipped"]["reason"], told["page"]) == ("skipped", "robots", None)
    assert "disallowed by robots.txt" in told["says"][0]
    unknown = asker.get(f"{CRAWL}/explain?url=a.test/balloon").json
    assert (unknown["outcome"], unknown["nearest"]) == ("unknown", "http://a.test/balloons")


def test_pages_not_taken_are_listed_by_reason(asker: Asker) -> None:
    listed = asker.get(f"{CRAWL}/skipped?reason=robots").json
    assert [page["url"] for page in listed["pages"]] == ["http://c.test/"]
    assert asker.get(f"{CRAWL}/skipped?reason=not-html").json == {"pages": [], "next": None}


def test_hosts_are_counted(asker: Asker) -> None:
    told = asker.get(f"{CRAWL}/hosts").json
    assert (told["n_hosts"], told["share_read"]) == (2, 1.0)
    assert [(each["host"], each["pages"]) for each in told["hosts"]] == [("a.test", 2), ("b.test", 2)]
    assert told["hosts"][0]["mean_relevance"] == pytest.approx(0.7)


def test_the_graph_has_its_pages_under_those_that_found_them(asker: Asker) -> None:
    nodes = asker.get(f"{CRAWL}/graph").json["nodes"]
    assert [(node["visit"], node["distance"], node["parent"]) for node in nodes] == [
        (0, 0, None), (1, 1, 0), (2, 1, 0), (3, 2, 1)
    ]  # fmt: skip


def test_crawls_are_told_side_by_side(asker: Asker) -> None:
    told = asker.get("/api/compare?crawl=other&crawl=crawl").json
    assert [crawl["id"] for crawl in told["crawls"]] == ["other", "crawl"]
    assert told["overlaps"] == [
        {"first": "other", "second": "crawl", "both": 4, "only_first": 0, "only_second": 0, "jaccard": 1.0}
    ]


def test_a_crawl_of_an_older_version_is_shown_without_what_it_does_not_say(tmp_path: Path) -> None:
    asker = Asker(small_crawl(tmp_path / "crawl"))
    crawl = asker.get(CRAWL).json
    assert (crawl["topic"], crawl["status"], crawl["settings"], crawl["state"]) == ("", None, [], "stopped")
    curves = asker.get(f"{CRAWL}/curves").json
    assert curves["pages"] == [1, 2, 3]
    for name in ("hosts_active", "hosts_waiting", "hosts_ready", "hosts_disabled", "n_skipped"):
        assert curves[name] == [None] * 3
    assert visits(asker.get(f"{CRAWL}/pages")) == [2, 1, 0]


def test_a_crawl_without_a_page_is_shown(tmp_path: Path) -> None:
    new_crawl(tmp_path / "crawl", seeds=["http://a.test/"]).close()
    asker = Asker(tmp_path / "crawl")
    assert asker.get(CRAWL).json["state"] == "not begun"
    for path in ("curves", "pages", "pages?order=best", "hosts", "graph", "skipped", "labels"):
        assert asker.get(f"{CRAWL}/{path}").status == 200


def test_halves_of_characters_do_not_break_an_answer(tmp_path: Path) -> None:
    with begin_crawl(tmp_path / "crawl") as store:
        store.add_urls(["http://a.test/5"])
        store_page(store, 4, "http://a.test/4", "four", title="\ud800 half", links=np.zeros(0, np.int32))
        store.commit()
    asker = Asker(tmp_path / "crawl")
    assert asker.get(f"{CRAWL}/pages?limit=1").status == 200
    assert asker.get(f"{CRAWL}/explain?url=a.test/%ED%A0%80").status == 200


def test_visits_are_read_by_their_numbers_in_the_order_asked_for(tmp_path: Path) -> None:
    with StoredCrawl.open(ended_crawl(tmp_path / "crawl")) as crawl:
        rows = crawl.visits_numbered([3, 0, 9, 1])
        assert [(row.visit, row.links.tolist()) for row in rows] == [(3, []), (0, [1, 2]), (1, [3])]
        assert (rows[1].url, rows[1].location) == ("http://a.test/", next(crawl.visits(0)).location)
