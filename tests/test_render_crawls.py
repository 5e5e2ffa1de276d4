"""Crawls of a site that is made by scripts, with a real browser on loopback."""

import os
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import orjson
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

import browsers
from live_site import started
from scenthound.cli import INTERRUPTED
from scenthound.corpus.documents import DocumentSettings
from scenthound.corpus.export import export
from scenthound.crawler.explain import explain
from scenthound.crawler.recrawl import refresh
from scenthound.crawler.rendering import RenderMode
from scenthound.crawler.runner import RunOptions
from scenthound.crawler.start import crawl, resume
from scenthound.store.archive import file_name
from scenthound.store.crawl_records import CheckOutcome
from scenthound.store.record import open_web
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web import browser
from scenthound.web.static_server import StaticPage
from script_site import (
    CDN,
    HOST,
    N_PAGES,
    PRIVATE,
    ScriptSite,
    browsers_of,
    data_of,
    descendants,
    script_site,
    shell,
)
from timing import wait_until

CLI = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def has_browser() -> None:
    browsers.browser_path()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[ScriptSite]:
    with script_site(tmp_path) as running:
        yield running


def titles(folder: Path) -> set[str]:
    with StoredCrawl.open(folder) as stored:
        return {row.title for row in stored.visits()}


ALL_TITLES = {f"Page {number}" for number in range(N_PAGES)}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete crawl, to be read."""
    browsers.browser_path()
    folder = tmp_path_factory.mktemp("site")
    with script_site(folder) as running:
        summary = crawl(running.settings(), folder / "crawl")
        assert (summary.status.n_rendered, summary.status.n_renders_paid) == (N_PAGES, N_PAGES)
        assert summary.status.n_renders_failed == 0
        assert running.count("/app.js") == 1
        assert all(running.count(f"/{n}") == running.count(f"/data/{n}.json") == 1 for n in range(N_PAGES))
        assert running.count("/logo.png") == 0
    return folder / "crawl"


def test_a_site_that_is_made_by_scripts_is_crawled_completely(crawled: Path) -> None:
    assert titles(crawled) == ALL_TITLES


def test_without_rendering_it_has_no_links(site: ScriptSite, tmp_path: Path) -> None:
    summary = crawl(site.settings(render="never"), tmp_path / "crawl")
    assert (summary.status.n_pages, summary.status.n_rendered) == (1, 0)
    assert titles(tmp_path / "crawl") == {"App"}


def test_the_archive_has_the_response_and_after_it_the_rendered_document(crawled: Path) -> None:
    path = crawled / "archive" / file_name(0)
    with path.open("rb") as file:
        records = [
            (each.rec_type, dict(each.rec_headers.headers), each.content_stream().read())
            for each in ArchiveIterator(file, check_digests="raise")
        ]
    pairs = [(before, after) for before, after in pairwise(records) if after[0] == "conversion"]
    assert len(pairs) == N_PAGES
    for (kind, response, raw), (_, rendered, html) in pairs:
        assert kind == "response"
        assert rendered["WARC-Refers-To"] == response["WARC-Record-ID"]
        assert rendered["WARC-Target-URI"] == response["WARC-Target-URI"]
        assert rendered["Content-Type"] == "text/html; charset=utf-8"
        assert b"balloon" not in raw
        assert b"balloon" in html

    class Options:
        inputs = (str(path),)
        verbose = False

    checker = Checker(Options())
    checker.process_all()
    assert checker.exit_value == 0


def test_fastwarc_reads_the_archive(crawled: Path) -> None:
    fastwarc = pytest.importorskip("fastwarc")
    with (crawled / "archive" / file_name(0)).open("rb") as file:
        kinds = [each.record_type for each in fastwarc.ArchiveIterator(file) if each.verify_block_digest()]
    assert kinds.count(fastwarc.WarcRecordType.conversion) == N_PAGES


def test_exports_explanations_text_and_simulations_have_the_rendered_page(crawled: Path, tmp_path: Path) -> None:
    export(crawled, "jsonl", tmp_path / "pages.jsonl", settings=DocumentSettings(html=True))
    pages = [orjson.loads(line) for line in (tmp_path / "pages.jsonl").read_bytes().splitlines()]
    assert len(pages) == N_PAGES
    assert all("balloon word" in page["html"] for page in pages)
    assert all("balloon word" in page["text"] for page in pages)
    explained = explain(crawled, pages[0]["url"])
    assert explained.rendering is not None
    assert (explained.rendering.words_before, explained.rendering.links) == (1, 2)
    with StoredCrawl.open(crawled) as stored:
        assert all("balloon word" in stored.text_of(row) for row in stored.visits())
    web = open_web(crawled)
    assert web.n_pages == N_PAGES
    assert all(len(web.words_copy(page)) > 30 for page in range(N_PAGES))


def test_an_index_of_the_archive_has_the_responses_only(crawled: Path, tmp_path: Path) -> None:
    export(crawled, "cdxj", tmp_path / "index.cdxj")
    lines = (tmp_path / "index.cdxj").read_text().splitlines()
    assert len(lines) == N_PAGES + 1  # and robots.txt


def test_requests_of_pages_obey_robots_txt_delays_and_the_address_guard(site: ScriptSite, tmp_path: Path) -> None:
    delay_s = 0.15
    sources = (
        site.url("/lib.js", CDN),
        site.url("/hidden/lib.js", CDN),
        site.url("/hidden/own.js"),
        site.url("/lib.js", PRIVATE),
        site.url("/more.js", CDN),
        site.url("/moved.js"),
    )
    scripts = "".join(f"<script src='{source}'></script>" for source in sources)
    site.pages[HOST, "/0"] = shell(scripts)
    for host in (CDN, PRIVATE):
        site.pages[host, "/lib.js"] = StaticPage(b"1", content_type="text/javascript")
    location = (("Location", site.url("/hidden/moved.js", CDN)),)
    site.pages[HOST, "/moved.js"] = StaticPage(b"", 302, headers=location)
    crawl(site.settings(delay=delay_s, pages=1), tmp_path / "crawl")
    assert titles(tmp_path / "crawl") == {"Page 0"}
    assert site.count("/lib.js", CDN) == site.count("/more.js", CDN) == site.count("/robots.txt", CDN) == 1
    assert not [url for url in site.server.requests if "/hidden" in url]
    assert site.log(PRIVATE) == []
    for host, n_requests in ((HOST, 5), (CDN, 3)):
        times = [time_s for time_s, _ in site.log(host)]
        assert len(times) == n_requests
        assert all(after - before >= delay_s for before, after in pairwise(times))


def test_tasks_of_the_crawl_and_requests_of_pages_share_the_delays_of_a_host(site: ScriptSite, tmp_path: Path) -> None:
    delay_s, n_scripts = 0.12, 8
    sources = [site.url(f"/lib{number}.js", CDN) for number in range(n_scripts)]
    site.pages[HOST, "/0"] = shell("".join(f"<script src='{source}'></script>" for source in sources))
    data = orjson.dumps({**data_of(0), "links": []})
    site.pages[HOST, "/data/0.json"] = StaticPage(data, content_type="application/json")

    def add_text(path: str) -> None:
        """The host of the scripts has pages, too, until the last script was requested."""
        if path.startswith("/text"):
            number = int(path.removeprefix("/text"))
            text = " ".join(f"balloon{number}x{n}" for n in range(60))
            is_last = all(site.server.requests[source] for source in sources)
            link = "" if is_last else f"<a href='/text{number + 1}'>balloon</a>"
            site.pages[CDN, path] = StaticPage(f"<title>Text {number}</title><p>{text}{link}".encode())

    site.on_request = add_text
    seeds = [site.url(), site.url("/text0", CDN)]
    settings = site.settings(seeds=seeds, delay=delay_s, patience=0, pages=1_000, no_traps=True)
    crawl(settings, tmp_path / "crawl")
    assert "Page 0" in titles(tmp_path / "crawl")
    requests = site.log(CDN)
    assert "/text0" in requests[1][1]
    assert "/text" in requests[-1][1]
    assert sum("/lib" in url for _, url in requests) == n_scripts
    assert all(after_s - before_s >= delay_s for (before_s, _), (after_s, _) in pairwise(requests))


def test_pages_with_text_are_rendered_only_if_that_is_asked_for(site: ScriptSite, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    html = f"<title>t</title><p>{text}</p><script>document.title = 'rendered'</script>"
    site.pages[HOST, "/0"] = StaticPage(html.encode())
    assert crawl(site.settings(pages=1), tmp_path / "auto").status.n_rendered == 0
    summary = crawl(site.settings(pages=1, render="always"), tmp_path / "always")
    assert (titles(tmp_path / "auto"), titles(tmp_path / "always")) == ({"t"}, {"rendered"})
    assert (summary.status.n_rendered, summary.status.n_renders_paid) == (1, 0)


@pytest.mark.parametrize("code", ["location = 'about:blank'", "document.documentElement.remove()"])
def test_a_page_that_its_scripts_empty_is_visited_as_it_was_fetched(
    code: str, site: ScriptSite, tmp_path: Path
) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    site.pages[HOST, "/0"] = StaticPage(f"<title>t</title><p>{text}<script>{code}</script>".encode())
    summary = crawl(site.settings(pages=1, render="always"), tmp_path / "crawl")
    assert titles(tmp_path / "crawl") == {"t"}
    assert (summary.status.n_rendered, summary.status.n_renders_paid) == (1, 0)


def test_a_page_that_leads_elsewhere_by_script_is_a_redirect(site: ScriptSite, tmp_path: Path) -> None:
    site.pages[HOST, "/0"] = StaticPage(b"<title>old</title><script>location = '/5'</script>")
    crawl(site.settings(), tmp_path / "crawl")
    assert titles(tmp_path / "crawl") == {"Page 5"}
    with StoredCrawl.open(tmp_path / "crawl") as stored:
        (row,) = stored.visits()
        assert (row.url, stored.url_of(row.page)) == (site.url("/5"), site.url("/0"))


@pytest.mark.slow
def test_a_crawl_goes_on_if_its_browser_is_killed(site: ScriptSite, tmp_path: Path) -> None:
    def kill_once(path: str) -> None:
        if path == "/data/1.json":
            site.on_request = lambda path: None
            for browser_process in browsers_of(os.getpid()):
                os.kill(browser_process, signal.SIGKILL)

    site.on_request = kill_once
    summary = crawl(site.settings(), tmp_path / "crawl")
    # The page was visited as it was fetched, and another one links to those that it would have led to.
    assert titles(tmp_path / "crawl") == ALL_TITLES - {"Page 1"} | {"App"}
    assert (summary.status.n_renders_failed, summary.status.n_rendered) == (1, N_PAGES - 1)
    assert summary.status.render_problem == ""


def n_stored(folder: Path) -> int:
    if not (folder / "crawl.json").exists():
        return 0
    with StoredCrawl.open(folder) as stored:
        return stored.n_visits()


def ended(processes: set[int]) -> bool:
    return not any(Path(f"/proc/{each}").exists() for each in processes)


def n_page_requests(site: ScriptSite) -> int:
    return sum(site.count(f"/{n}") for n in range(N_PAGES))


@pytest.mark.slow
def test_a_killed_crawl_leaves_no_browser_and_is_resumed_to_the_same_pages(site: ScriptSite, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    process = started(*site.command("--out", folder, "--json"))
    wait_until(lambda: n_stored(folder) >= 2, "two pages", process)
    started_by_it = descendants(process.pid)
    assert browsers_of(process.pid) <= started_by_it
    assert len(browsers_of(process.pid)) == 1
    process.kill()
    process.communicate()
    wait_until(lambda: ended(started_by_it), "the end of the browser")
    n_before, n_requested = n_stored(folder), n_page_requests(site)
    summary = resume(folder)
    assert titles(folder) == ALL_TITLES
    # Nothing stored is fetched again.
    assert n_page_requests(site) <= n_requested + N_PAGES - n_before
    assert summary.status.n_rendered in (N_PAGES, N_PAGES + 1)
    assert n_before >= 2


@pytest.mark.slow
def test_an_interrupt_of_the_terminal_finishes_the_page_that_is_rendered(
    site: ScriptSite, tmp_path: Path, interruptible: None
) -> None:
    folder = tmp_path / "crawl"
    process = started(*site.command("--out", folder))
    wait_until(lambda: site.count("/data/1.json") or site.count("/data/2.json"), "the second page", process)
    started_by_it = descendants(process.pid)
    # The terminal sends the signal to the group of the crawl, to which the browser does not belong.
    assert all(os.getpgid(each) != os.getpgid(process.pid) for each in browsers_of(process.pid))
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == INTERRUPTED
    assert "App" not in titles(folder)
    wait_until(lambda: ended(started_by_it), "the end of the browser")


def test_a_refresh_renders_pages_whose_response_has_changed(site: ScriptSite, tmp_path: Path) -> None:
    tag = (("ETag", '"1"'),)
    for number in range(3):
        site.pages[HOST, f"/{number}"] = shell(headers=tag)
    crawl(site.settings(pages=3), tmp_path / "crawl")
    site.pages[HOST, "/1"] = shell("<p>new", headers=(("ETag", '"2"'),))
    summary = refresh(tmp_path / "crawl")
    outcomes = summary.status.counts.outcomes
    assert (outcomes[CheckOutcome.UNCHANGED], outcomes[CheckOutcome.CHANGED]) == (2, 1)
    with StoredCrawl.open(tmp_path / "crawl") as stored:
        (changed,) = (row for row in stored.visits() if row.url == site.url("/1"))
        assert changed.location is not None
        record = stored.archive.record(changed.location)
        assert (record.kind, "<p>new" in record.html, "balloon word1x0" in record.html) == ("conversion", True, True)
        assert stored.rendering_of(changed) is not None
    # The second refresh compares with the response, which precedes the rendered document.
    again = refresh(tmp_path / "crawl").status.counts.outcomes
    assert again[CheckOutcome.UNCHANGED] == 3


def test_without_a_browser_rendering_is_an_error_before_the_crawl_starts(
    site: ScriptSite, tmp_path: Path, scenthound: CLI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCENTHOUND_BROWSER", "no-such-browser")
    status, _, errors = scenthound(*site.command("--out", tmp_path / "crawl"))
    assert (status, len(errors.splitlines())) == (2, 1)
    assert "SCENTHOUND_BROWSER" in errors
    monkeypatch.setattr(browser, "has_playwright", lambda: False)
    status, _, errors = scenthound(*site.command("--out", tmp_path / "crawl"))
    assert (status, len(errors.splitlines())) == (2, 1)
    assert "scenthound[browser]" in errors
    assert not (tmp_path / "crawl").exists()


def test_the_note_that_no_page_is_rendered_names_a_browser_that_is_none(
    site: ScriptSite, tmp_path: Path, scenthound: CLI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCENTHOUND_BROWSER", "no-such-browser")
    command = site.command("--out", tmp_path / "crawl", "--pages", 1)
    at = command.index("--render")
    status, _, errors = scenthound(*command[:at], *command[at + 2 :])
    assert status == 0
    assert [line for line in errors.splitlines() if "no-such-browser" in line]


def test_without_a_browser_the_default_is_not_to_render(
    site: ScriptSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert site.settings(render=None).render is RenderMode.AUTO
    summary = crawl(site.settings(pages=1), tmp_path / "crawl")
    monkeypatch.setenv("SCENTHOUND_BROWSER", "no-such-browser")
    assert site.settings(render=None).render is RenderMode.NEVER
    # A crawl that was started with one goes on without.
    notes: list[str] = []
    summary = resume(tmp_path / "crawl", RunOptions(page_budget=2, note=notes.append))
    assert (len(notes), summary.status.n_rendered) == (1, 1)
