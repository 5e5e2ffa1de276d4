"""Why a crawl took a page, or did not."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from scenthound.crawler.explain import MOST_PARENTS, Fate, explain
from scenthound.errors import UsageError
from scenthound.reasons import SkipReason
from scenthound.store.crawl_records import SkippedRecord
from stored_crawls import NOON_S, add_page, new_crawl, redirect, response

Call = Callable[..., tuple[int, str, str]]
HOME, OLD, SECRET, CATS, DOGS = (f"http://a.test/{name}" for name in ("", "old", "secret", "cats", "dogs"))
HTML = (
    b"<title>A</title>start <a href=/cats rel=nofollow>not this one</a> <a href=/old>the\n old <b>dogs</b></a> "
    b"<a href=/secret><img></a> <a href=/cats>all cats</a>"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """HOME, the seed, links to OLD, which led to DOGS; to SECRET, which robots.txt barred; and to CATS, which waits.
    DOGS links to CATS, too. So does a sitemap, told with DOGS, to SECRET."""
    place = tmp_path / "crawl"
    with new_crawl(place, seeds=[HOME], respect_nofollow=True) as store:
        store.add_urls([HOME, OLD, SECRET, CATS])
        add_page(
            store,
            0,
            response(HOME, HTML),
            links=np.array([1, 2, 3], np.int32),
            relevance=0.25,
            score=math.inf,
            regret=math.inf,
            predicted=np.array([0.5, 0.0, 0.125]),
            anchors=np.array([0.75, 0.0, 0.25]),
        )
        store.archive_response(redirect(OLD, "/dogs"), NOON_S)
        links = np.array([3, 2], np.int32)
        add_page(store, 1, response(DOGS, b"<a href=/cats></a>"), links=links, relevance=0.9, score=0.7, regret=0.1)
        store.add_skipped(SkippedRecord(2, SECRET, SkipReason.ROBOTS, "", NOON_S + 2))
        store.commit()
    return place


def test_a_page_that_was_taken_is_told_with_its_visit_and_its_parents(folder: Path) -> None:
    told = explain(folder, OLD)
    assert told.fate is Fate.TAKEN
    assert told.visit is not None
    assert (told.visit.visit, told.visit.url, told.visit.regret) == (1, DOGS, 0.1)
    (parent,) = told.parents
    assert (parent.url, parent.visit, parent.relevance) == (HOME, 0, 0.25)
    assert parent.anchor == "the old dogs"
    assert (parent.context_relevance, parent.anchor_relevance) == (0.5, 0.75)
    assert not told.is_seed


def test_a_page_is_found_by_the_address_that_it_was_asked_for_or_that_it_ended_at(folder: Path) -> None:
    by_end = explain(folder, DOGS)
    assert by_end.fate is Fate.TAKEN
    assert by_end.asked_url == OLD
    assert by_end.visit is not None
    assert by_end.visit.visit == 1
    assert by_end.parents == explain(folder, OLD).parents


def test_a_page_that_was_not_taken_is_told_with_its_reason(folder: Path) -> None:
    told = explain(folder, SECRET)
    assert told.fate is Fate.NOT_TAKEN
    assert told.skipped is not None
    assert told.skipped.reason is SkipReason.ROBOTS
    # An image has no text; DOGS itself has no such link, so a sitemap told it.
    assert [(parent.url, parent.anchor) for parent in told.parents] == [(HOME, ""), (DOGS, None)]


def test_a_page_that_was_not_asked_for_waits_and_links_that_were_not_followed_do_not_count(folder: Path) -> None:
    told = explain(folder, CATS)
    assert told.fate is Fate.WAITING
    assert [(parent.url, parent.anchor) for parent in told.parents] == [(HOME, "all cats"), (DOGS, "")]


def test_the_seed_needs_no_parents(folder: Path) -> None:
    told = explain(folder, HOME)
    assert (told.fate, told.is_seed, told.parents, told.n_parents) == (Fate.TAKEN, True, (), 0)


@pytest.mark.parametrize("written", ["a.test/old", "HTTP://A.test:80/old#part"])
def test_addresses_may_be_written_as_people_do(folder: Path, written: str) -> None:
    assert explain(folder, written).fate is Fate.TAKEN


def test_an_unknown_address_is_answered_with_the_nearest_known_one(folder: Path) -> None:
    told = explain(folder, "http://a.test/secert")
    assert (told.fate, told.nearest) == (Fate.UNKNOWN, SECRET)


def test_what_is_no_address_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="is no URL"):
        explain(folder, "ftp://a.test/")


def test_of_many_parents_the_first_are_told_and_all_are_counted(tmp_path: Path) -> None:
    n_pages = MOST_PARENTS + 5
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([f"http://a.test/{page}" for page in range(n_pages)])
        for page in range(n_pages):
            add_page(
                store, page, response(f"http://a.test/{page}", b"<a href=/0>up</a>"), links=np.array([0], np.int32)
            )
        store.commit()
    told = explain(tmp_path / "crawl", "http://a.test/0")
    assert told.n_parents == n_pages
    assert [parent.visit for parent in told.parents] == list(range(MOST_PARENTS))


def test_people_are_told_when_how_and_from_where(folder: Path, scenthound: Call) -> None:
    code, out, _ = scenthound("explain", folder, OLD)
    assert code == 0
    assert "Visited: visit 1 (counted from 0), on 2026-01-31 12:00:01 UTC." in out
    assert f"requested as {OLD}, redirected to {DOGS}" in out
    assert "archive/scenthound-00000.warc.gz" in out
    assert "the old dogs" in out
    code, out, _ = scenthound("explain", folder, SECRET)
    assert "(robots)" in out
    code, out, _ = scenthound("explain", folder, CATS)
    assert "it is in the frontier" in out
    code, out, _ = scenthound("explain", folder, "http://a.test/secert")
    assert f"The most similar known URL: {SECRET}" in out


def test_programs_are_told_in_json(folder: Path, scenthound: Call) -> None:
    code, out, _ = scenthound("explain", folder, OLD, "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["fate"], told["visit"]["visit"], told["n_parents"]) == ("taken", 1, 1)
    assert told["parents"][0]["anchor"] == "the old dogs"
    assert (told["visit"]["score"], told["visit"]["regret"]) == (0.7, 0.1)
    told = json.loads(scenthound("explain", folder, SECRET, "--json")[1])
    assert (told["skipped"]["reason"], told["visit"]) == ("robots", None)


def refuse(word: str) -> None:
    pytest.fail(f"{word} is no JSON")


def test_the_endless_score_of_a_seed_is_null_for_programs_and_a_word_for_people(folder: Path, scenthound: Call) -> None:
    told = json.loads(scenthound("explain", folder, HOME, "--json")[1], parse_constant=refuse)
    assert (told["is_seed"], told["visit"]["score"], told["visit"]["regret"]) == (True, None, None)
    out = scenthound("explain", folder, HOME)[1]
    assert re.search(r"^  score +seed$", out, re.MULTILINE)
    assert re.search(r"^  regret +a seed had to wait$", out, re.MULTILINE)
    assert "inf" not in out


def test_links_that_may_not_be_followed_are_not_said_to_be_missing(tmp_path: Path, scenthound: Call) -> None:
    with new_crawl(tmp_path / "crawl", seeds=[HOME], respect_nofollow=True) as store:
        store.add_urls([HOME])
        add_page(store, 0, response(HOME, b"<a href=/cats rel=nofollow>cats</a>"))
        store.commit()
    assert "no visited page has a link to it that may be followed" in scenthound("explain", tmp_path / "crawl", CATS)[1]
    assert "No visited page has a link to it that may be followed" in scenthound("explain", tmp_path / "crawl", HOME)[1]


def test_what_a_page_nearly_repeats_is_told(tmp_path: Path, scenthound: Call) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([HOME, CATS])
        add_page(store, 0, response(HOME))
        store.add_skipped(SkippedRecord(1, CATS, SkipReason.NEAR_DUPLICATE, f"like {HOME}", NOON_S))
        store.commit()
    out = scenthound("explain", tmp_path / "crawl", CATS)[1]
    assert re.search(rf"^  detail +like {HOME}$", out, re.MULTILINE)


def test_a_folder_that_is_no_crawl_is_named(tmp_path: Path, scenthound: Call) -> None:
    code, _, err = scenthound("explain", tmp_path, "http://a.test/")
    assert code == 2
    assert "is not a crawl" in err
    assert len(err.splitlines()) == 1
