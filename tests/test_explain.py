"""Why a crawl took a page, or did not."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from scenthound.crawler.explain import MAX_PARENTS, Evidence, Outcome, explain
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
    DOGS links to CATS, too. So does a sitemap, explained with DOGS, to SECRET."""
    folder = tmp_path / "crawl"
    with new_crawl(folder, seeds=[HOME], respect_nofollow=True) as store:
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
        store.add(SkippedRecord(2, SECRET, SkipReason.ROBOTS, "", NOON_S + 2))
        store.commit()
    return folder


def test_a_visited_page_is_explained_with_its_parents(folder: Path) -> None:
    explained = explain(folder, OLD)
    assert explained.outcome is Outcome.VISITED
    assert explained.visit is not None
    assert (explained.visit.visit, explained.visit.url, explained.visit.regret) == (1, DOGS, 0.1)
    (parent,) = explained.parents
    assert (parent.url, parent.visit, parent.relevance) == (HOME, 0, 0.25)
    assert parent.anchor == "the old dogs"
    assert (parent.context_relevance, parent.anchor_relevance) == (0.5, 0.75)
    assert not explained.is_seed
    # One page was visited before.
    assert explained.evidence == Evidence(1, 0.25, 0.25)


def test_a_page_is_found_by_its_requested_and_its_final_url(folder: Path) -> None:
    by_end = explain(folder, DOGS)
    assert by_end.outcome is Outcome.VISITED
    assert by_end.requested_url == OLD
    assert by_end.visit is not None
    assert by_end.visit.visit == 1
    assert by_end.parents == explain(folder, OLD).parents


def test_a_skipped_page_is_explained_with_its_reason(folder: Path) -> None:
    explained = explain(folder, SECRET)
    assert explained.outcome is Outcome.SKIPPED
    assert explained.skipped is not None
    assert explained.skipped.reason is SkipReason.ROBOTS
    # An image has no text; DOGS itself has no such link, so a sitemap explained it.
    assert [(parent.url, parent.anchor) for parent in explained.parents] == [(HOME, ""), (DOGS, None)]


def test_a_page_that_was_not_requested_is_queued_and_nofollow_links_do_not_count(folder: Path) -> None:
    explained = explain(folder, CATS)
    assert explained.outcome is Outcome.QUEUED
    assert [(parent.url, parent.anchor) for parent in explained.parents] == [(HOME, "all cats"), (DOGS, "")]
    assert explained.evidence is not None
    assert (explained.evidence.n_parents, explained.evidence.relevance) == (2, pytest.approx((0.25 + 0.9) / 2))


def test_the_seed_needs_no_parents(folder: Path) -> None:
    explained = explain(folder, HOME)
    assert (explained.outcome, explained.is_seed, explained.parents, explained.n_parents) == (
        Outcome.VISITED,
        True,
        (),
        0,
    )


@pytest.mark.parametrize("written", ["a.test/old", "HTTP://A.test:80/old#part"])
def test_addresses_may_be_written_as_people_do(folder: Path, written: str) -> None:
    assert explain(folder, written).outcome is Outcome.VISITED


def test_an_unknown_url_is_answered_with_the_most_similar_one(folder: Path) -> None:
    explained = explain(folder, "http://a.test/secert")
    assert (explained.outcome, explained.nearest) == (Outcome.UNKNOWN, SECRET)


def test_an_invalid_url_is_rejected(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"ftp://a\.test/"):
        explain(folder, "ftp://a.test/")


def test_the_first_parents_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    n_pages = MAX_PARENTS + 5
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([f"http://a.test/{page}" for page in range(n_pages)])
        for page in range(n_pages):
            add_page(
                store, page, response(f"http://a.test/{page}", b"<a href=/0>up</a>"), links=np.array([0], np.int32)
            )
        store.commit()
    explained = explain(tmp_path / "crawl", "http://a.test/0")
    assert explained.n_parents == n_pages
    assert [parent.visit for parent in explained.parents] == list(range(MAX_PARENTS))


def test_the_command_prints_the_explanation(folder: Path, scenthound: Call) -> None:
    code, out, _ = scenthound("explain", folder, OLD)
    assert code == 0
    assert re.search(r"\b2026-01-31 12:00:01 UTC\b.*\bvisit 1\b", out)
    assert f"requested as {OLD}, which redirects" in out
    assert "archive/scenthound-00000.warc.gz" in out
    assert "the old dogs" in out
    assert re.search(r"^1 page linked to it before its visit\b.*\b0\.25\b", out, re.MULTILINE)
    code, out, _ = scenthound("explain", folder, SECRET)
    assert "(robots)" in out
    code, out, _ = scenthound("explain", folder, CATS)
    assert "all cats" in out
    code, out, _ = scenthound("explain", folder, "http://a.test/secert")
    assert SECRET in out


def test_the_command_prints_json(folder: Path, scenthound: Call) -> None:
    code, out, _ = scenthound("explain", folder, OLD, "--json")
    assert code == 0
    explained = json.loads(out)
    assert (explained["outcome"], explained["visit"]["visit"], explained["n_parents"]) == ("visited", 1, 1)
    assert explained["parents"][0]["anchor"] == "the old dogs"
    assert (explained["visit"]["score"], explained["visit"]["regret"]) == (0.7, 0.1)
    explained = json.loads(scenthound("explain", folder, SECRET, "--json")[1])
    assert (explained["skipped"]["reason"], explained["visit"]) == ("robots", None)
    explained = json.loads(scenthound("explain", folder, CATS, "--json")[1])
    assert (explained["outcome"], explained["visit"], explained["skipped"]) == ("queued", None, None)
    explained = json.loads(scenthound("explain", folder, "http://a.test/secert", "--json")[1])
    assert (explained["outcome"], explained["nearest"]) == ("unknown", SECRET)


def refuse(word: str) -> None:
    pytest.fail(f"{word} is no JSON")


def test_the_endless_score_of_a_seed_is_null_for_programs_and_a_word_for_people(folder: Path, scenthound: Call) -> None:
    explained = json.loads(scenthound("explain", folder, HOME, "--json")[1], parse_constant=refuse)
    assert (explained["is_seed"], explained["visit"]["score"], explained["visit"]["regret"]) == (True, None, None)
    out = scenthound("explain", folder, HOME)[1]
    assert "is a seed" in out
    assert "A seed had to wait" in out
    assert "inf" not in out


def test_nofollow_links_make_no_url_known_and_no_parents(tmp_path: Path, scenthound: Call) -> None:
    with new_crawl(tmp_path / "crawl", seeds=[HOME], respect_nofollow=True) as store:
        store.add_urls([HOME])
        add_page(store, 0, response(HOME, b"<a href=/cats rel=nofollow>cats</a> <a href=/ rel=nofollow>up</a>"))
        store.commit()
    for url, outcome in ((CATS, "unknown"), (HOME, "visited")):
        explained = json.loads(scenthound("explain", tmp_path / "crawl", url, "--json")[1])
        assert (explained["outcome"], explained["parents"], explained["n_parents"]) == (outcome, [], 0)
        code, out, _ = scenthound("explain", tmp_path / "crawl", url)
        assert (code, out.splitlines()[0]) == (0, url)


def test_the_original_of_a_near_duplicate_is_named(tmp_path: Path, scenthound: Call) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([HOME, CATS])
        add_page(store, 0, response(HOME))
        store.add(SkippedRecord(1, CATS, SkipReason.NEAR_DUPLICATE, f"like {HOME}", NOON_S))
        store.commit()
    out = scenthound("explain", tmp_path / "crawl", CATS)[1]
    assert re.search(rf"^  detail +like {HOME}$", out, re.MULTILINE)


def test_a_folder_that_is_not_a_crawl_is_reported(tmp_path: Path, scenthound: Call) -> None:
    code, _, err = scenthound("explain", tmp_path, "http://a.test/")
    assert code == 2
    assert f"{tmp_path} " in err
    assert len(err.splitlines()) == 1
