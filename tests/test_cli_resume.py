"""`scenthound crawl --resume`: options of a run are kept for the next, and damaged folders are reported."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from live_site import LiveSite, live_site
from scenthound.crawler.settings import CrawlSettings
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from stored_crawls import add_page, new_crawl, response

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


def summary(scenthound: Call, *arguments: object) -> tuple[str, int, int]:
    """Why the crawl ended, its pages, and how many it was to get."""
    code, out, err = scenthound(*arguments, "--json")
    assert code == 0, err
    printed = json.loads(out)
    return printed["ended"], printed["n_pages"], printed["page_budget"]


def test_the_page_budget_of_a_run_is_that_of_later_ones(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    assert summary(scenthound, *site.crawl("--pages", 3, "--out", folder)) == ("budget", 3, 3)
    assert summary(scenthound, "crawl", "--resume", folder, "--pages", 9) == ("budget", 9, 9)
    assert summary(scenthound, "crawl", "--resume", folder) == ("budget", 9, 9)


def test_min_harvest_is_kept_for_later_runs_until_it_is_removed(tmp_path: Path, scenthound: Call) -> None:
    folder = tmp_path / "out"
    with live_site(tmp_path) as site:
        command = site.crawl("--pages", 3, "--out", folder, "--min-harvest", 0.5)
        assert summary(scenthound, *command) == ("budget", 3, 3)
    assert json.loads((folder / "run.json").read_bytes()) == {"page_budget": 3, "harvest_floor": 0.5}
    assert scenthound("crawl", "--resume", folder, "--pages", 2)[0] == 0
    assert json.loads((folder / "run.json").read_bytes()) == {"page_budget": 2, "harvest_floor": 0.5}
    assert scenthound("crawl", "--resume", folder, "--min-harvest", 0)[0] == 0
    assert json.loads((folder / "run.json").read_bytes()) == {"page_budget": 2, "harvest_floor": 0}


@pytest.mark.parametrize("damage", ["", "[]", "null", '{"pages": 3}', '{"page_budget": -1}', '{"harvest_floor": "x"}'])
def test_a_corrupt_run_file_is_reported(damage: str, tmp_path: Path, scenthound: Call, site: LiveSite) -> None:
    folder = tmp_path / "out"
    assert scenthound(*site.crawl("--pages", 1, "--out", folder))[0] == 0
    (folder / "run.json").write_text(damage)
    code, _, err = scenthound("crawl", "--resume", folder)
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(folder / "run.json") in err
    assert "--pages" in err
    assert "--min-harvest" in err


def damaged(folder: Path, name: str) -> None:
    """A database that was cut off, or of which pages were lost."""
    database = folder / "crawl.sqlite"
    content = bytearray(database.read_bytes())
    half = len(content) // 8192 * 4096
    if name == "cut off":
        content = content[:half]
    elif name == "cut off early":
        content = content[:100]
    elif name == "emptied":
        content = bytearray()
    else:
        # The tables' names and the end of the archive stay: the damage shows when rows are read.
        content[8192:] = b"\xab" * (len(content) - 8192)
    database.write_bytes(content)
    for more in ("crawl.sqlite-wal", "crawl.sqlite-shm"):
        (folder / more).unlink(missing_ok=True)


def a_crawl(folder: Path) -> Path:
    """Two hundred pages, and a turn of the engine."""
    plan = CrawlSettings(Topic("b", ("balloon",)), ("http://a.test/0",), politeness=PolitenessSettings(delay_s=0))
    with new_crawl(folder, **plan.as_settings()) as store:
        store.add_urls([f"http://a.test/{number}" for number in range(200)])
        store.add_event_bytes(b'["t",1.0,1,1,[0]]')
        for number in range(200):
            add_page(store, number, response(f"http://a.test/{number}"))
        store.commit()
    return folder


@pytest.mark.parametrize("name", ["cut off", "cut off early", "emptied", "overwritten"])
@pytest.mark.parametrize("command", ["explain", "export", "warc", "resume", "simulate"])
def test_a_damaged_database_is_one_clear_line(name: str, command: str, tmp_path: Path, scenthound: Call) -> None:
    folder = a_crawl(tmp_path / "crawl")
    damaged(folder, name)
    assert_one_line(command, folder, scenthound)


#: Invalid values in a readable database, and the command that reads them.
WRONG_ROWS = {
    "strings that cannot be unpacked": ("resume", "UPDATE url SET text = x'00'"),
    "strings that are missing": ("resume", "UPDATE url SET text = NULL"),
    "no end of the archive": ("resume", "DELETE FROM archive_end"),
    "an end that is no number": ("resume", "UPDATE archive_end SET offset = NULL"),
    "a count that is missing": ("resume", "UPDATE url SET count = NULL"),
    "arrays cut off": ("export", "UPDATE visit_arrays SET lengths = x'0001'"),
    "a visit without a URL": ("export", "UPDATE visit SET url = NULL"),
    "a visit of no page": ("export", "UPDATE visit SET page = NULL"),
    "a visit without an archive file": ("export", "UPDATE visit SET offset = NULL"),
}


@pytest.mark.parametrize("wrong", WRONG_ROWS)
def test_rows_that_are_wrong_are_one_clear_line(wrong: str, tmp_path: Path, scenthound: Call) -> None:
    command, sql = WRONG_ROWS[wrong]
    folder = a_crawl(tmp_path / "crawl")
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        database.execute(sql)
        database.commit()
    assert_one_line(command, folder, scenthound)


def test_a_damaged_journal_costs_no_page(tmp_path: Path, scenthound: Call) -> None:
    """The pages are in the database; only the order of further requests may be another one."""
    folder = a_crawl(tmp_path / "crawl")
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        database.execute("UPDATE event SET packed = 0, bytes = x'ab'")
        database.commit()
        (n_pages,) = database.execute("SELECT count(*) FROM visit").fetchone()
    code, out, _ = scenthound("crawl", "--resume", folder, "--json")
    assert code == 0
    summary = json.loads(out)
    assert (summary["n_caught_up"], summary["n_pages"]) == (n_pages, n_pages)


def assert_one_line(command: str, folder: Path, scenthound: Call) -> None:
    tmp_path = folder.parent
    commands: dict[str, tuple[object, ...]] = {
        "explain": ("explain", folder, "http://a.test/"),
        "export": ("export", folder, "--to", "jsonl", "--out", tmp_path / "pages.jsonl"),
        "warc": ("export", folder, "--to", "warc", "--out", tmp_path / "pages.warc"),
        "resume": ("crawl", "--resume", folder),
        "simulate": ("simulate", "--web", folder, "--topics", "t", "--strategy", "otie", "--out", tmp_path / "run"),
    }
    code, out, err = scenthound(*commands[command])
    assert (code, out, len(err.splitlines())) == (2, "", 1), err
    assert str(folder) in err
