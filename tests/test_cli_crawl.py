"""`scenthound crawl` as a person uses it: on a small site on loopback, from its options to its last line."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from live_site import N_PAGES, LiveSite, live_site
from scenthound.api.arguments import seconds as seconds_of
from scenthound.cli import crawl_progress
from scenthound.cli.crawl_results import program
from scenthound.errors import UsageError
from scenthound.reasons import EndReason, SkipReason
from scenthound.store.stored_crawl import StoredCrawl

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


def visited(folder: Path) -> list[str]:
    with StoredCrawl.open(folder) as crawl:
        return [visit.url for visit in crawl.visits()]


def test_a_crawl_ends_at_its_page_budget_and_says_what_to_do_next(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    folder = tmp_path / "out"
    code, out, err = scenthound(*site.crawl("--pages", 7, "--out", folder))
    assert (code, err) == (0, "")
    assert EndReason.BUDGET in out
    assert f"7 of 7, in {folder}" in out
    assert f"scenthound crawl --resume {folder} --pages 14" in out
    assert f"scenthound explain {folder} URL" in out
    assert len(visited(folder)) == 7


def test_a_crawl_that_has_everything_ends_with_its_frontier_and_is_not_resumed(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    code, out, _ = scenthound(*site.crawl("--out", tmp_path / "out"))
    assert code == 0
    assert EndReason.FRONTIER in out
    assert "--resume" not in out
    assert len(visited(tmp_path / "out")) == N_PAGES


def test_the_summary_counts_reasons_and_says_what_they_mean(tmp_path: Path, scenthound: Call) -> None:
    more = "".join(f"<a href='http://h0.test:PORT/{name}'>x</a>" for name in ("private/1", "none", "old"))
    with live_site(tmp_path, more) as site:
        code, out, _ = scenthound(*site.crawl("--out", tmp_path / "out", "--strategy", "breadth_first"))
    assert code == 0
    # The redirect leads to page 4: whichever of both comes second has already been visited.
    assert re.search(r"^\s*3 ", out, re.MULTILINE)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if line.startswith("│")]
    assert sorted(rows) == [
        [reason.value, reason.text, "1"] for reason in (SkipReason.REPEATED, SkipReason.CLIENT_ERROR, SkipReason.ROBOTS)
    ]


def test_programs_get_the_summary_as_json(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    code, out, err = scenthound(*site.crawl("--pages", 5, "--out", tmp_path / "out", "--json"))
    assert (code, err) == (0, "")
    summary = json.loads(out)
    assert (summary["ended"], summary["n_pages"], summary["page_budget"]) == ("budget", 5, 5)
    assert summary["folder"] == str(tmp_path / "out")
    assert summary["reasons"] == {}


def test_programs_can_watch_by_json_lines_of_which_the_last_is_the_summary(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    code, out, err = scenthound(*site.crawl("--pages", 5, "--out", tmp_path / "out", "--log-json"))
    assert (code, err) == (0, "")
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events[-2:]] == ["status", "ended"]
    assert events[-2]["n_pages"] == events[-1]["n_pages"] == 5
    assert events[-2]["ending"] == events[-1]["ended"] == "budget"


def test_a_resumed_crawl_continues_and_fetches_nothing_again(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    assert scenthound(*site.crawl("--pages", 9, "--out", folder))[0] == 0
    before = visited(folder)
    code, out, _ = scenthound("crawl", "--resume", folder, "--pages", 25)
    assert code == 0
    assert f"25 of 25, in {folder}" in out
    assert visited(folder)[:9] == before
    assert set(site.pages_requested().values()) == {1}
    assert len(site.pages_requested()) == 25


def test_time_that_is_up_ends_a_crawl(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    # The seed has to wait for 10 s after robots.txt.
    code, out, err = scenthound(*site.crawl("--out", tmp_path / "out", "--time", "0.3s", "--delay", 10))
    assert code == 1
    assert EndReason.TIME in out
    assert EndReason.TIME in err


def test_plain_lines_tell_how_the_crawl_is_doing(
    site: LiveSite, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_progress, "SECONDS_BETWEEN_LINES", 0.0)
    code, _, err = scenthound(*site.crawl("--pages", 5, "--out", tmp_path / "out"))
    assert code == 0
    last = err.splitlines()[-1]
    assert last.startswith("5 of 5 pages, ")
    assert "; frontier " in last
    assert "; skipped 0" in last


def test_the_pages_of_a_crawl_are_a_recording_for_the_next(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    assert scenthound(*site.crawl("--pages", 12, "--out", tmp_path / "first"))[0] == 0
    site.server.requests.clear()
    code, out, _ = scenthound(*site.crawl("--out", tmp_path / "again", "--web", tmp_path / "first", "--offline"))
    assert code == 0
    assert sorted(visited(tmp_path / "again")) == sorted(visited(tmp_path / "first"))
    assert "not-recorded" in out
    assert not site.server.requests
    code, _, _ = scenthound(*site.crawl("--out", tmp_path / "more", "--web", tmp_path / "first"))
    assert code == 0
    assert len(visited(tmp_path / "more")) == N_PAGES
    assert len(site.pages_requested()) == N_PAGES - 12


def test_a_crawl_that_took_no_page_says_why_and_offers_only_what_works(
    site: LiveSite, tmp_path: Path, scenthound: Call
) -> None:
    command = ("crawl", "--keywords", "balloon", "--seed", site.url(0), "--hosts", site.hosts, "--delay", 0)
    code, out, err = scenthound(*command, "--out", tmp_path / "out", "--contact", "me@a.test")
    assert code == 1
    assert SkipReason.ADDRESS_FORBIDDEN.value in out
    assert re.search(rf"\b0 pages: 1 of 1 seed .*{SkipReason.ADDRESS_FORBIDDEN.text}", err)
    assert "--allow-private" in err
    assert "scenthound explain" in out
    assert "scenthound export" not in out
    assert "scenthound simulate" not in out


def test_commands_are_named_as_they_can_be_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv" / "bin" / "scenthound"), "crawl"])
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert program() == ".venv/bin/scenthound"
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert program() == "scenthound"


def test_an_earlier_crawl_is_replaced_only_with_force(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    command = site.crawl("--pages", 3, "--out", tmp_path / "out")
    assert scenthound(*command)[0] == 0
    code, _, err = scenthound(*command)
    assert code == 2
    assert f"{tmp_path / 'out'} " in err
    assert "--force" in err
    assert scenthound(*command, "--force")[0] == 0


def topic_file(folder: Path, *topics: dict[str, Any]) -> Path:
    file = folder / "topics.jsonl"
    file.write_text("".join(json.dumps({"keywords": ["balloon"], **topic}) + "\n" for topic in topics))
    return file


@pytest.mark.parametrize(
    ("topic", "options", "starts_from"),
    [
        ({"seeds": ["1"], "examples": ["2"]}, [], 1),
        ({"examples": ["2"]}, [], 2),
        ({"seeds": ["1"], "examples": ["2"]}, ["--seed", "3"], 3),
    ],
    ids=["its seeds", "else its examples", "those of --seed"],
)
def test_a_topic_file_says_where_to_start(
    site: LiveSite, tmp_path: Path, scenthound: Call, topic: dict[str, Any], options: list[str], starts_from: int
) -> None:
    named = {name: [site.url(int(page)) for page in pages] for name, pages in topic.items()}
    printed = [site.url(int(option)) if option.isdigit() else option for option in options]
    file = topic_file(tmp_path, {"id": "b", **named})
    where = ("--hosts", site.hosts, "--allow-private", "--out", tmp_path / "out", "--pages", 1)
    assert scenthound("crawl", file, *printed, *where)[0] == 0
    assert visited(tmp_path / "out") == [site.url(starts_from)]


HUGE = "99999999999999999999999"
WRONG_USE = {
    "nothing to crawl for": (["crawl"], "--keywords"),
    "nowhere to start": (["crawl", "--keywords", "x"], "--seed"),
    "no address": (
        ["crawl", "--keywords", "x", "--seed", "ftp://a.test"],
        "'ftp://a.test'",
    ),
    "no port": (["crawl", "--keywords", "x", "--seed", "a.test:99999/x"], "65535"),
    "no host": (["crawl", "--keywords", "x", "--seed", "http:///x y"], "'http:///x y'"),
    "several topics": (["crawl", "FILE"], "--topic"),
    "a topic nobody knows": (["crawl", "FILE", "--topic", "d"], "'d'"),
    "two sets of keywords": (["crawl", "FILE", "--keywords", "x"], "--keywords"),
    "no span of time": (["crawl", "--keywords", "x", "--seed", "a.test", "--time", "soon"], "--time"),
    "a strategy nobody knows": (
        ["crawl", "FILE", "--topic", "b", "--strategy", "shark"],
        "'shark_search'",
    ),
    "offline without a web": (["crawl", "FILE", "--topic", "b", "--offline"], "--web"),
    "a classifier without pages": (["crawl", "FILE", "--topic", "b", "--relevance", "svm"], "--train-from"),
    "a name of two words": (
        ["crawl", "FILE", "--topic", "b", "--user-agent", "My Bot"],
        "'My Bot'",
    ),
    "a name with a digit": (["crawl", "FILE", "--topic", "b", "--user-agent", "7bot"], "'7bot'"),
    "a name with a version": (["crawl", "FILE", "--topic", "b", "--user-agent", "Bot/2.0"], "'Bot/2.0'"),
    "a contact that no header holds": (
        ["crawl", "FILE", "--topic", "b", "--contact", "m\u00fc@a.test"],
        "'m\u00fc@a.test'",
    ),
    "pages beyond all webs": (["crawl", "FILE", "--topic", "b", "--pages", HUGE], "--pages"),
    "pages of a host beyond all webs": (
        ["crawl", "FILE", "--topic", "b", "--pages-per-host", HUGE],
        "--pages-per-host",
    ),
    "pages of a domain beyond all webs": (
        ["crawl", "FILE", "--topic", "b", "--pages-per-domain", HUGE],
        "--pages-per-domain",
    ),
    "connections beyond all machines": (["crawl", "FILE", "--topic", "b", "--connections", HUGE], "connections"),
    "redirects without end": (["crawl", "FILE", "--topic", "b", "--redirects", HUGE], "redirects"),
    "pages beyond all memory": (["crawl", "FILE", "--topic", "b", "--page-bytes", HUGE], "--page-bytes"),
    "a seed of many digits": (["crawl", "FILE", "--topic", "b", "--random-seed", HUGE], "--random-seed 9"),
    "a seed in another notation": (
        ["crawl", "FILE", "--topic", "b", "--random-seed", "1e9"],
        "'--random-seed': '1e9' is not a valid whole number",
    ),
    "pages in another notation": (
        ["crawl", "FILE", "--topic", "b", "--pages", "1e3"],
        "'--pages': '1e3' is not a valid whole number",
    ),
    "a delay in words": (["crawl", "FILE", "--delay", "long"], "'--delay': 'long' is not a valid number"),
    "an empty folder": (["crawl", "FILE", "--topic", "b", "--out", ""], "'--out': it must not be empty"),
    "an empty commit log": (["crawl", "FILE", "--topic", "b", "--commit-log="], "'--commit-log': it must not be empty"),
    "a blank file": (["crawl", "FILE", "--topic", "b", "--cookie-file", " "], "'--cookie-file': it must not be empty"),
    "an empty topic file": (["crawl", ""], "'[FILE]': it must not be empty"),
    "nothing to resume by name": (["crawl", "--resume", ""], "'--resume': it must not be empty"),
    "a folder of addresses": (["crawl", "FILE", "--topic", "b", "--hosts", "/tmp"], "with --hosts"),
    "a file of training pages": (
        ["crawl", "FILE", "--topic", "b", "--relevance", "svm", "--train-from", "/dev/null"],
        "/dev/null is not a folder: name another one with --train-from",
    ),
    "more than a day for a page": (["crawl", "FILE", "--topic", "b", "--timeout", "1e300"], "'--timeout': 1e+300"),
    "more than a day of rest": (["crawl", "FILE", "--topic", "b", "--delay", "1e300"], "'--delay': 1e+300"),
    "a floor that is no number": (["crawl", "FILE", "--topic", "b", "--min-harvest", "inf"], "--min-harvest"),
    "an empty keyword": (["crawl", "--keywords", "", "--seed", "http://a.test/"], "--keywords"),
    "blank keywords": (["crawl", "--keywords", " ", "--keywords", "\t", "--seed", "http://a.test/"], "--keywords"),
    "a time beyond all times": (["crawl", "FILE", "--topic", "b", "--time", "1e300"], "--time"),
    "a seed out of scope": (["crawl", "FILE", "--topic", "b", "--allow-domain", "b.test"], "http://a.test/"),
    "a domain both allowed and denied": (
        ["crawl", "FILE", "--topic", "b", "--allow-domain", "a.test", "--deny-domain", "test"],
        "--deny-domain",
    ),
    "no domain": (["crawl", "FILE", "--topic", "b", "--deny-domain", "http://b.test"], "--deny-domain"),
    "no regular expression": (["crawl", "FILE", "--topic", "b", "--exclude", "re:("], "--exclude"),
    "a pattern for no seed": (["crawl", "FILE", "--topic", "b", "--include", "/docs/"], "--include"),
    "a negative depth": (["crawl", "FILE", "--topic", "b", "--max-depth", "-1"], "--max-depth"),
    "no proxy": (["crawl", "FILE", "--topic", "b", "--proxy", "ftp://p:1"], "ftp://p:1"),
    "two kinds of proxies": (
        ["crawl", "FILE", "--topic", "b", "--proxy", "p:1", "--proxy-from-environment"],
        "--proxy-from-environment",
    ),
    "no header": (["crawl", "FILE", "--topic", "b", "--header", "Authorization"], "--header"),
    "a header of the crawler": (["crawl", "FILE", "--topic", "b", "--header", "Host: b.test"], "Host"),
    "no cookies": (["crawl", "FILE", "--topic", "b", "--cookie-file", "FILE"], "line 1"),
    "patience in strict order": (
        ["crawl", "FILE", "--topic", "b", "--strict-order", "--patience", "0.7"],
        "--patience",
    ),
    "another scope": (["crawl", "--resume", "x", "--max-depth", "3"], "--max-depth"),
    "nothing to resume": (["crawl", "--resume", "nowhere"], "nowhere"),
    "another strategy": (["crawl", "--resume", "x", "--strategy", "otie"], "--strategy"),
    "another topic": (["crawl", "FILE", "--resume", "x"], "FILE"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use_is_one_clear_line_and_makes_nothing(
    case: str, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, says = WRONG_USE[case]
    monkeypatch.chdir(tmp_path)
    file = topic_file(tmp_path, {"id": "b", "seeds": ["http://a.test/"]}, {"id": "c"})
    code, out, err = scenthound(*(str(file) if each == "FILE" else each for each in arguments))
    assert (code, out) == (2, "")
    assert says in err
    assert len([line for line in err.splitlines() if not line.startswith("Note: ")]) == 1
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("span", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("1d", 86_400)])
def test_spans_of_time_are_read_as_people_write_them(span: str, seconds: float) -> None:
    assert seconds_of(span) == seconds


@pytest.mark.parametrize("span", ["", "m", "0", "-1", "nan", "inf", "1w", "1h30m"])
def test_invalid_time_spans_are_rejected(span: str) -> None:
    with pytest.raises(UsageError, match="--time"):
        seconds_of(span)
