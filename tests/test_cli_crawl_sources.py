"""Crawls with a recording or training pages: what is stored about them, and the error when they changed."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from live_site import N_PAGES, LiveSite, live_site
from scenthound.store.crawl_folder import CrawlAbout
from scenthound.store.sources.crawl import FROM_RECORDED_WEB

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LiveSite]:
    with live_site(tmp_path) as running:
        yield running


@pytest.fixture
def first(site: LiveSite, tmp_path: Path, scenthound: Call) -> Path:
    """A crawl of twelve pages, to be read by others."""
    assert scenthound(*site.crawl("--pages", 12, "--out", tmp_path / "first"))[0] == 0
    return tmp_path / "first"


def settings(folder: Path) -> dict[str, Any]:
    return dict(CrawlAbout.read(folder).settings)


def one_line(err: str) -> str:
    (line,) = err.splitlines()
    return line


def test_the_path_and_the_fingerprint_of_a_recording_are_stored(
    site: LiveSite, first: Path, tmp_path: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert scenthound(*site.crawl("--out", "again", "--web", "first", "--offline"))[0] == 0
    kept = settings(tmp_path / "again")
    # The crawl that was named, not the web that was made of it.
    assert kept["web"] == str(first)
    assert kept["web_fingerprint"] == json.loads((first / "web" / "web.json").read_bytes())["fingerprint"]


def test_a_crawl_whose_recording_was_changed_or_moved_does_not_go_on(
    site: LiveSite, first: Path, tmp_path: Path, scenthound: Call
) -> None:
    again = tmp_path / "again"
    assert scenthound(*site.crawl("--out", again, "--web", first, "--pages", 5))[0] == 0
    assert scenthound("crawl", "--resume", again, "--pages", 6)[0] == 0
    first.rename(tmp_path / "elsewhere")
    code, _, err = scenthound("crawl", "--resume", again, "--pages", 7)
    assert code == 2
    assert f", {first}," in one_line(err)
    (tmp_path / "elsewhere").rename(first)
    assert scenthound("crawl", "--resume", first, "--pages", 20)[0] == 0
    code, _, err = scenthound("crawl", "--resume", again, "--pages", 7)
    assert code == 2
    assert f", {first}," in one_line(err)


def test_a_crawl_that_only_read_a_recording_offers_that_recording_and_is_no_web_itself(
    site: LiveSite, first: Path, tmp_path: Path, scenthound: Call
) -> None:
    code, out, _ = scenthound(*site.crawl("--out", tmp_path / "again", "--web", first, "--offline"))
    assert code == 0
    assert f"scenthound simulate --web {first} ..." in out
    assert f"scenthound simulate --web {tmp_path / 'again'}" not in out
    (tmp_path / "topics.jsonl").write_text(json.dumps({"id": "b", "keywords": ["x"], "seeds": [site.url(0)]}) + "\n")
    simulate = ("simulate", "--topics", tmp_path / "topics.jsonl", "--strategy", "best_first", "--workers", 1)
    code, _, err = scenthound(*simulate, "--web", tmp_path / "again", "--out", tmp_path / "run")
    assert code == 2
    assert re.search(rf"\b12 of 12 .* {tmp_path / 'again'} .* {first} ", one_line(err))


def test_a_crawl_that_read_a_part_of_its_pages_says_so_where_its_web_is_used(
    site: LiveSite, first: Path, tmp_path: Path, scenthound: Call
) -> None:
    both = tmp_path / "both"
    assert scenthound(*site.crawl("--out", both, "--web", first))[0] == 0
    code, out, _ = scenthound("export", both, "--to", "jsonl", "--out", tmp_path / "pages.jsonl")
    assert code == 0
    assert re.search(rf"\b{N_PAGES} pages\b", out)
    assert re.search(r"^12 .*\btext\b", out, re.MULTILINE)
    code, out, _ = scenthound("export", both, "--to", "jsonl", "--out", tmp_path / "more.jsonl", "--json")
    assert json.loads(out)["without_html"] == 12
    topic = {"id": "b", "keywords": ["balloon"], "seeds": [site.url(30)], "targets": [site.url(31)]}
    (tmp_path / "topics.jsonl").write_text(json.dumps(topic) + "\n")
    simulate = ("simulate", "--topics", tmp_path / "topics.jsonl", "--strategy", "best_first", "--workers", 1)
    code, _, err = scenthound(*simulate, "--web", both, "--out", tmp_path / "run")
    assert code == 0, err
    assert re.search(rf"^Note: 12 of {N_PAGES} .* {both} .* {first} ", err, re.MULTILINE)
    code, out, _ = scenthound("record", "--from", both, "--out", tmp_path / "web", "--workers", 1)
    assert re.search(rf"\b12: {FROM_RECORDED_WEB}", out)


def training_folder(data: Path) -> Path:
    for kind, words in (("positive", "balloon number"), ("negative", "train rails")):
        (data / kind).mkdir(parents=True)
        (data / kind / "page.txt").write_text(words)
    return data


def test_unusable_training_pages_are_rejected(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    folder = training_folder(tmp_path / "pages")
    command = site.crawl("--out", tmp_path / "out", "--train-from", folder)
    for more in (("--strategy", strategy, "--relevance", "cosine") for strategy in ("best_first", "otie")):
        code, _, err = scenthound(*command, *more)
        assert code == 2
        assert re.search(r"--train-from\b.*\bcosine\b", one_line(err))
    code, _, err = scenthound(*site.crawl("--out", tmp_path / "out", "--train-from", tmp_path / "nowhere"))
    assert code == 2
    assert str(tmp_path / "nowhere") in one_line(err)
    assert not (tmp_path / "out").exists()


def test_a_crawl_resumes_only_with_unchanged_training_pages(site: LiveSite, tmp_path: Path, scenthound: Call) -> None:
    pytest.importorskip("sklearn")
    folder = training_folder(tmp_path / "pages")
    out = tmp_path / "out"
    more = ("--train-from", folder, "--relevance", "svm", "--strategy", "best_first")
    assert scenthound(*site.crawl("--out", out, "--pages", 4, *more))[0] == 0
    assert len(settings(out)["train_digest"]) == 32
    (folder / "notes.md").write_text("of no interest")
    assert scenthound("crawl", "--resume", out, "--pages", 5)[0] == 0
    (folder / "negative" / "more.txt").write_text("ships")
    code, _, err = scenthound("crawl", "--resume", out, "--pages", 6)
    assert code == 2
    assert f", {folder}," in one_line(err)
