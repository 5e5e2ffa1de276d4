"""`scenthound crawl --dry-run` and `scenthound.plan`: start pages and a ranking of what a crawl would request next."""

import json
import os

import pytest

import scenthound as sh
from live_site import live_site
from ring_web import url
from scenthound.errors import InvalidInput, InvalidParameter, UsageError
from scenthound.reasons import SkipReason


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def site(tmp_path):
    with live_site(tmp_path) as running:
        yield running


def contents(folder):
    """All files with their bytes and times."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): (path.read_bytes(), os.stat(path).st_mtime_ns) for path in files}


def plan(scenthound, *arguments):
    code, out, errors = scenthound(*arguments, "--dry-run", "--json")
    assert code == 0, errors
    return json.loads(out)


def test_start_pages_are_requested_and_their_links_ranked(here, site, scenthound):
    seeds = [site.url(page) for page in (8, 4, 0)] + [f"{site.url(0)}no-such-page"]
    command = ["--keywords", "balloon", *(word for url in seeds for word in ("--seed", url))]
    known = ["--hosts", site.hosts, "--allow-private", "--delay", 0]
    printed = plan(scenthound, "crawl", *command, *known, "--strict-order", "--pages", 9, "--out", "out")
    assert not (here / "out").exists()
    found = {each["url"]: each for each in printed["start_pages"]}
    assert list(found) == seeds
    assert [found[url]["outcome"] for url in seeds[:3]] == ["visited"] * 3
    assert all(found[url]["n_links"] for url in seeds[:3])
    assert found[seeds[3]]["outcome"] == SkipReason.CLIENT_ERROR.text
    assert len([path for path in site.server.requests if "robots.txt" not in path]) == 4
    ranking = [each["url"] for each in printed["ranking"]]
    assert (printed["n_visits"], len(ranking)) == (3, 6)
    assert all("linked" in each["why"] and each["score"] is not None for each in printed["ranking"])
    assert scenthound("crawl", *command, *known, "--strict-order", "--pages", 4, "--out", "out")[0] == 0
    crawled = [row.url for row in sh.open_crawl("out").pages]
    assert (set(crawled[:3]), crawled[3]) == (set(seeds[:3]), ranking[0])


def test_skipped_start_pages_have_reasons(here):
    found = sh.plan(["balloon"], ["http://127.0.0.1/", "http://[::1]:8080/"])
    skipped = {row.url: row.outcome for row in found.start_pages}
    assert list(skipped) == ["http://127.0.0.1/", "http://[::1]:8080/"]
    assert all(outcome.startswith(SkipReason.ADDRESS_FORBIDDEN.text) for outcome in skipped.values())
    assert (len(found.ranking), found.start.n_queued) == (0, 0)
    assert list(here.iterdir()) == []
    assert "127.0.0.1" in repr(found)
    assert "127.0.0.1" in found._repr_html_()


def test_a_plan_to_resume_has_the_next_pages_with_reasons_and_changes_nothing(here, site, scenthound):
    order = ["--strict-order", "--out", "out"]
    assert scenthound(*site.crawl("--pages", 5, *order))[0] == 0
    before, requested = contents(here / "out"), dict(site.server.requests)
    printed = plan(scenthound, "crawl", "--resume", "out", "--pages", 8)
    assert contents(here / "out") == before
    assert site.server.requests == requested
    assert (printed["new"], printed["n_visits"], printed["page_budget"]) == (False, 5, 8)
    first = printed["ranking"]
    assert (len(first), printed["start_pages"]) == (3, [])
    assert all("linked" in each["why"] for each in first)
    assert first[0]["score"] is not None
    code, out, _ = scenthound("crawl", "--resume", "out", "--pages", 8, "--dry-run")
    assert code == 0
    assert first[0]["url"] in out
    assert scenthound("crawl", "--resume", "out", "--pages", 6)[0] == 0
    assert [row.url for row in sh.open_crawl("out").pages][5] == first[0]["url"]
    assert len(sh.open_crawl("out").plan(pages=7).ranking) == 1


def test_a_plan_to_resume_says_why_nothing_would_be_requested(here, site, scenthound):
    assert scenthound(*site.crawl("--pages", 4, "--out", "out"))[0] == 0
    assert plan(scenthound, "crawl", "--resume", "out")["ranking"] == []
    code, out, _ = scenthound("crawl", "--resume", "out", "--dry-run")
    assert code == 0
    assert "4 of 4 pages" in out
    assert "--pages" in out
    assert "resumes" in out.splitlines()[-1]


def test_an_offline_plan_reads_start_pages_from_the_recording(here, web_path, scenthound):
    arguments = ["crawl", "--keywords", "balloon", "--seed", url(0), "--web", web_path, "--offline"]
    printed = plan(scenthound, *arguments, "--out", "out")
    assert list(here.iterdir()) == []
    assert scenthound(*arguments, "--pages", 2, "--out", "out")[0] == 0
    assert [printed[name][0]["url"] for name in ("start_pages", "ranking")] == [
        row.url for row in sh.open_crawl("out").pages
    ]


def test_a_dry_run_refuses_what_the_crawl_refuses(here, site, scenthound, monkeypatch):
    with pytest.raises(InvalidParameter):
        sh.plan(["balloon"], "a.test", delay=-1)
    with pytest.raises(UsageError):
        sh.plan(["balloon"], "a.test", allow_domain="b.test")
    with pytest.raises(UsageError):
        sh.plan(["balloon"], "a.test", relevance="svm")
    assert scenthound(*site.crawl("--pages", 1, "--out", "out"))[0] == 0
    with pytest.raises(InvalidInput):
        sh.plan(["balloon"], "a.test", out="out")
    assert sh.plan(["balloon"], "127.0.0.1", out="out", force=True).start_pages
    code, _, errors = scenthound("crawl", "--refresh", "out", "--dry-run")
    assert (code, errors.count("\n")) == (2, 1)
    assert scenthound("crawl", "--resume", "no-such-folder", "--dry-run")[0] == 2
    monkeypatch.setenv("SCENTHOUND_CRAWL_DRY_RUN", "true")
    requested = dict(site.server.requests)
    assert scenthound("crawl", "--refresh", "out")[0] == 2
    assert site.server.requests == requested


def test_options_are_shown_with_where_they_come_from(here, scenthound, monkeypatch):
    (here / "scenthound.toml").write_text('[crawl]\ndelay = 0.5\nheader = "Authorization: secret"\n')
    monkeypatch.setenv("SCENTHOUND_CRAWL_CONTACT", "me@example.org")
    arguments = ["crawl", "--keywords", "balloon", "--seed", "127.0.0.1", "--connections", 3]
    printed = plan(scenthound, *arguments)
    options = {each["option"]: (each["value"], each["set_by"]) for each in printed["options"]}
    assert options["delay"] == (0.5, "scenthound.toml, [crawl]")
    assert options["contact"] == ("me@example.org", "SCENTHOUND_CRAWL_CONTACT")
    assert options["connections"] == (3, "command line")
    assert options["header"][0] == ["Authorization: ***"]
    assert printed["user_agent"].endswith("(+me@example.org)")
    code, out, errors = scenthound(*arguments, "--dry-run")
    assert code == 0
    assert "secret" not in out + errors
    assert "SCENTHOUND_CRAWL_CONTACT" in out


def test_configured_settings_of_new_crawls_do_not_change_one_that_is_resumed(here, site, scenthound):
    assert scenthound(*site.crawl("--pages", 6, "--out", "out"))[0] == 0
    (here / "scenthound.toml").write_text("[crawl]\npages = 2\ndelay = 9\nstrategy = 'breadth_first'\n")
    printed = plan(scenthound, "crawl", "--resume", "out")
    assert (printed["page_budget"], printed["options"]) == (6, [])
    assert printed["settings"]["politeness"]["delay_s"] == 0
    code, out, _ = scenthound("crawl", "--resume", "out", "--json")
    assert (code, json.loads(out)["page_budget"]) == (0, 6)
