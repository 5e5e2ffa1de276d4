"""A crawl at a glance: curves, hosts, overlap and the kinds of folders."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from overview_crawls import a_moment, a_run, add_visits, planned_crawl
from scenthound.crawler.live_crawl import Harvest
from scenthound.errors import InvalidInput
from scenthound.store import folder as kinds
from scenthound.store.folder import folder_kind
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import WINDOW, WorkingTime, crawl_curves
from scenthound.ui.crawl_overview import HostPages, hosts_of
from scenthound.ui.link_graph import in_common, page_numbers
from scenthound.web.urls import host_of
from stored_crawls import NOON_S, new_crawl, visit


def test_curves_come_from_samples_without_the_time_between_runs(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(a_run(1, 0.0, ended_s=5.0, ended="time limit reached"))
        store.add(a_run(2, 1000.0, n_pages_before=8))
        late = (a_moment(1002, 12, run=2), a_moment(1014, 30, run=2))
        for sample in (a_moment(1, 2), a_moment(4, 8), *late):
            store.add(sample)
        store.commit()
        curves = crawl_curves(store)
    # The first run lasted 5 s, so what was 2 s after the beginning of the second is at 7 s.
    assert curves.seconds.tolist() == [1, 4, 7, 19]
    assert curves.pages.tolist() == [2, 8, 12, 30]
    # Since the beginning, 6 pages in 3 s and 10 in 6 s; at 19 s the last point of ten seconds ago is the one at 7 s.
    assert curves.pages_per_s[1:].tolist() == [2, pytest.approx(10 / 6), pytest.approx(18 / 12)]
    assert math.isnan(curves.pages_per_s[0])
    assert (curves.hosts_disabled[0], curves.n_skipped[0], curves.frontier[0]) == (4, 5, 7)


def test_a_run_that_died_lasted_until_its_last_sample(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(a_run(1, 0.0))
        store.add(a_run(2, 500.0, n_pages_before=8))
        for sample in (a_moment(3, 8), a_moment(501, 9, run=2)):
            store.add(sample)
        store.commit()
        assert crawl_curves(store).seconds.tolist() == [3, 4]


def test_curves_without_samples_come_from_visits(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(a_run(1, 0.0))
        add_visits(store, [1.0, 0.0, 0.5, 0.5])
        curves = crawl_curves(store)
    assert curves.harvest.tolist() == [1.0, 0.5, 0.5, 0.5]
    assert curves.seconds.tolist() == [0, 1, 2, 3]
    assert curves.frontier.tolist() == [0, 10, 20, 30]
    assert np.isnan(curves.n_skipped).all()
    assert np.isnan(curves.hosts_waiting).all()


def test_the_recent_harvest_equals_that_of_a_running_crawl(tmp_path: Path) -> None:
    relevances = np.random.default_rng(5).random(2 * WINDOW + 50).tolist()
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, relevances)
        curves = crawl_curves(store, max_points=1000)
    harvest = Harvest()
    recent = []
    for relevance in relevances:
        harvest.add(relevance)
        recent.append(harvest.recent)
    assert curves.recent_harvest == pytest.approx(np.array(recent))


def test_a_run_that_died_lasted_until_its_last_page_if_that_is_later(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        for number, seconds in enumerate((1, 3.5, 101)):
            store.add(visit(number, time_s=NOON_S + seconds))
        store.add(a_run(1, 0.0))
        store.add(a_run(2, 100.0, n_pages_before=2))
        for sample in (a_moment(3, 1), a_moment(101, 3, run=2)):
            store.add(sample)
        store.commit()
        assert crawl_curves(store).seconds.tolist() == [3, 4.5]
        assert crawl_curves(store, from_visits=True).seconds.tolist() == [1, 3.5, 4.5]


def test_time_between_paused_samples_is_not_active(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(visit(0, time_s=NOON_S + 1))
        store.add(visit(1, time_s=NOON_S + 34))
        store.add(a_run(1, 0.0, ended_s=35.0, ended="stopped"))
        for sample in (
            a_moment(2, 1),
            a_moment(3, 1, paused=True),
            a_moment(20, 1, paused=True),
            a_moment(30, 1, paused=True),
            a_moment(32, 1),
            a_moment(35, 2),
        ):
            store.add(sample)
        store.commit()
        assert crawl_curves(store).seconds.tolist() == [2, 3, 3, 3, 5, 8]
        assert crawl_curves(store, from_visits=True).seconds.tolist() == [1, 7]


def test_a_clock_that_is_set_back_never_decreases_active_time() -> None:
    samples = [a_moment(5, 1), a_moment(2, 2), a_moment(6, 3)]
    clock = WorkingTime([a_run(1, 0.0)], samples, {})
    assert clock.at(np.array([each.time_s for each in samples])).tolist() == [5, 5, 6]
    assert clock.at(np.array([])).tolist() == []


def test_the_score_given_up_comes_from_visits_without_those_that_waited_for_a_seed(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        for number, regret in enumerate((math.inf, 0.5, None, 0.125)):
            store.add(visit(number, score=0.5, regret=regret))
        store.commit()
        regrets = crawl_curves(store).regret
    # 0.5 of 1.0 and 0.125 of 0.625.
    assert np.isnan(regrets[:1]).all()
    assert regrets[1:].tolist() == pytest.approx([0.5, 0.5, 0.35])


def test_scores_below_0_have_no_share(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        for number, regret in enumerate((0.0, 4.0, 0.0)):
            store.add(visit(number, score=-10.0, regret=regret))
        store.commit()
        assert np.isnan(crawl_curves(store).regret).all()


def test_the_frontier_is_that_of_the_order_of_requests(tmp_path: Path) -> None:
    """A page whose host had to wait was requested when the frontier was another one."""
    with planned_crawl(tmp_path / "crawl") as store:
        for number, (rank, queue_size) in enumerate(((0, 1), (2, 30), (3, 40), (1, 20))):
            store.add(visit(number, rank=rank, queue_size=queue_size))
        store.commit()
        assert crawl_curves(store, from_visits=True).frontier.tolist() == [1, 20, 30, 40]


def test_curves_are_thinned_and_keep_their_ends(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        store.add(a_run(1, 0.0))
        add_visits(store, [0.5] * 1000)
        curves = crawl_curves(store, max_points=50, from_visits=True)
    assert len(curves) == 50
    assert (curves.pages[0], curves.pages[-1]) == (1, 1000)
    assert curves.pages_per_s[1:] == pytest.approx(np.ones(49))


def test_a_crawl_without_pages_has_empty_curves(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        assert len(crawl_curves(store)) == len(crawl_curves(store, from_visits=True)) == 0


def test_hosts_are_counted_over_their_ports(tmp_path: Path) -> None:
    with planned_crawl(tmp_path / "crawl") as store:
        add_visits(store, [1.0, 0.25, 0.5])
        assert hosts_of(store) == [HostPages("a.test", 2, 0.75), HostPages("b.test", 1, 0.25)]
        store.add(visit(3, url="http://b.test:81/", relevance=0.75))
        store.add(visit(4, url="http://b.test/x", relevance=0.5))
        store.commit()
        assert hosts_of(store) == [HostPages("b.test", 3, 0.5), HostPages("a.test", 2, 0.75)]


def test_hosts_are_named_as_in_the_crawler(tmp_path: Path) -> None:
    urls = ["http://u:p@a.test/x", "http://[::1]:8/", "https://a.test/?q=/", "https://a.test:444/@b.test/"]
    with new_crawl(tmp_path / "crawl") as store:
        for number, url in enumerate(urls):
            store.add(visit(number, url=url))
        store.commit()
        found = {each.host for each in hosts_of(store)}
    assert found == set(map(host_of, urls)) == {"a.test", "[::1]"}


def test_common_pages_are_those_that_both_crawls_visited(tmp_path: Path) -> None:
    for name, numbers in (("one", (0, 1, 2)), ("other", (1, 2, 3, 4)), ("none", ())):
        with new_crawl(tmp_path / name) as store:
            for index, number in enumerate(numbers):
                store.add(visit(index, url=f"http://a.test/{number}"))
            store.commit()
    with StoredCrawl.open(tmp_path / "one") as one, StoredCrawl.open(tmp_path / "other") as other:
        common = in_common(page_numbers(one), page_numbers(other))
        with StoredCrawl.open(tmp_path / "none") as none:
            nothing = page_numbers(none)
            assert in_common(nothing, nothing).jaccard == 0
            assert in_common(page_numbers(one), nothing).only_first == 3
    assert (common.both, common.only_first, common.only_second, common.jaccard) == (2, 1, 2, 0.4)


def a_folder(folder: Path, known: kinds.KnownFolder, **changes: object) -> Path:
    folder.mkdir()
    (folder / known.file).write_text(json.dumps({"format": known.format, "version": known.version, **changes}))
    return folder


@pytest.mark.parametrize("known", kinds.KNOWN, ids=lambda known: known.kind)
def test_the_kind_of_a_folder_is_that_of_its_marker_file(known: kinds.KnownFolder, tmp_path: Path) -> None:
    assert folder_kind(a_folder(tmp_path / "one", known)) == known.kind
    with pytest.raises(InvalidInput, match="version 99"):
        folder_kind(a_folder(tmp_path / "newer", known, version=99))


def test_other_folders_are_rejected_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "crawl.json").write_text("{")
    (tmp_path / "empty").mkdir()
    messages = {
        "nowhere": "There is no folder",
        "file": "is a file",
        "broken": "crawl.json is not valid JSON",
        "empty": "neither a crawl nor",
    }
    for name, words in messages.items():
        with pytest.raises(InvalidInput) as error:
            folder_kind(tmp_path / name)
        assert words in str(error.value)
        assert "\n" not in str(error.value)


def test_a_parent_folder_suggests_a_result_folder(tmp_path: Path) -> None:
    (tmp_path / "demo" / "crawls").mkdir(parents=True)
    inner = a_folder(tmp_path / "demo" / "crawls" / "web", kinds.KNOWN[0])
    with pytest.raises(InvalidInput, match=rf"{inner}\b"):
        folder_kind(tmp_path / "demo")
