"""Crawl folders that version 0.8.0 wrote can be read and resumed: one that had finished, one killed by kill -9.

Both are crawls of `small_site(80)` on ADDRESS. `finished` has 40 pages, in strict order. `killed` has a checkpoint
after 20 pages, and was killed in its second run, with four connections, after more pages had been stored.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import scenthound as sh
from goldens import Golden
from net_site import Site, served, small_site
from test_net_crawl import reachable

ADDRESS = "127.80.80.80"
Program = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def old_site() -> Site:
    return small_site(80)


@pytest.mark.parametrize("name", ["finished", "killed"])
def test_read(name: str, folder_of: Callable[[str], Path], program: Program, tmp_path: Path, golden: Golden) -> None:
    folder = folder_of(name)
    crawl = sh.open_crawl(folder)
    skipped = sorted([page.url, page.reason.value] for page in crawl.skipped)
    runs = [[run.version, run.n_pages_before, run.ended] for run in crawl.runs]
    pages = [[page.visit, page.relevance, len(page.links), page.url, page.title] for page in crawl.pages]
    assert program("report", folder)[0] == 0
    assert pages[0][3] in (folder / "report.html").read_text()
    code, out, _ = program("explain", folder, pages[9][3], "--json")
    assert (code, json.loads(out)["visit"]["visit"]) == (0, 9)
    assert program("export", folder, "--to", "jsonl", "--out", tmp_path / "x.jsonl", "--workers", 1)[0] == 0
    documents = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert sorted(each["url"] for each in documents) == sorted(page[3] for page in pages)
    run = sh.simulate(folder, sh.Topic("b", keywords=("balloon",)), "otie", seeds=pages[0][3], pages=20, workers=1)
    simulated = [page.url for page in run.pages]
    golden.json({"runs": runs, "skipped": skipped, "pages": pages, "simulated": simulated})


def test_resume_finished(
    folder_of: Callable[[str], Path], old_site: Site, program: Program, tmp_path: Path, golden: Golden
) -> None:
    """The order is that in which 0.8.0 would have gone on."""
    folder = folder_of("finished")
    stored = [page.url for page in sh.open_crawl(folder).pages]
    with served(old_site, tmp_path, ADDRESS) as server:
        code, out, _ = program("crawl", "--resume", folder, "--pages", 60, "--json")
    assert (code, json.loads(out)["n_pages"]) == (0, 60)
    assert not {*stored} & {*server.requests}
    urls = [page.url for page in sh.open_crawl(folder).pages]
    assert urls[:40] == stored
    golden.json(urls[40:])


def test_resume_killed(folder_of: Callable[[str], Path], old_site: Site, program: Program, tmp_path: Path) -> None:
    """All pages that can be reached are visited once; those that were stored are not requested."""
    folder = folder_of("killed")
    stored = [page.url for page in sh.open_crawl(folder).pages]
    assert len(stored) > 25
    with served(old_site, tmp_path, ADDRESS) as server:
        code, out, _ = program("crawl", "--resume", folder, "--json")
    assert (code, json.loads(out)["ended"]) == (0, "frontier")
    assert not {*stored} & {*server.requests}
    urls = [page.url for page in sh.open_crawl(folder).pages]
    assert urls[: len(stored)] == stored
    assert sorted(urls) == sorted(reachable(old_site, [*old_site.pages][:2]))
