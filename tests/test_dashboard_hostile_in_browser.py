"""The dashboard in Chromium with finished crawls: explanations, labels, search, and hostile content.

Titles, anchors and a folder name are markup; one folder is not a crawl, another has a newer version; other sites send
requests.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from dashboard_pages import assert_nothing_was_run, fits
from dashboard_site import (
    HOSTILE_NAME,
    HOSTILE_TITLES,
    N_PAGES,
    Dashboard,
    Site,
    dashboard,
    hostile_site,
    running,
)
from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.web.static_server import StaticPage, StaticServer
from timing import WAIT_S, wait_until

#: Enough for a curve, in two seconds.
N_VISITED = 120
POSTING = """([path, token]) => fetch(path, {method: "POST", body: '{"visit": 0, "relevant": true}',
    headers: {"Content-Type": "application/json", "X-Scenthound-Token": token}})
    .then((response) => response.status, () => "rejected")"""
READING = "(address) => fetch(address).then((response) => response.status, () => 'rejected')"
LOADING = """(address) => new Promise((done) => {
    const script = document.createElement("script");
    script.addEventListener("error", () => done("rejected"));
    script.addEventListener("load", () => done("loaded"));
    script.src = address;
    document.head.append(script);
})"""


@dataclass(frozen=True, slots=True)
class EndedCrawl:
    """A crawl with a hostile name; `notes` is not a crawl, `newer` cannot be read by this version."""

    board: Dashboard
    site: Site
    folder: Path

    def page(self, *further: str) -> str:
        return self.board.page(self.board.path_of(HOSTILE_NAME, *further))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndedCrawl]:
    root = tmp_path_factory.mktemp("dashboard")
    folder, notes = root / "crawls", root / "notes"
    (folder / "newer").mkdir(parents=True)
    (folder / "newer" / ABOUT_FILE).write_text(json.dumps({"format": "scenthound crawl", "version": 99}))
    notes.mkdir()
    (notes / "notes.txt").write_text("no crawl")
    crawl = ("--pages", N_VISITED, "--strategy", "breadth_first")
    with (
        hostile_site(root) as site,
        running(root / "crawl output", *site.crawl(folder / HOSTILE_NAME, *crawl)) as crawling,
        dashboard(root / "dashboard output", folder, notes) as board,
    ):
        assert crawling.wait(WAIT_S) == 0
        wait_until(lambda: len(board.get("/api/folders")["folders"]) == 3, "the folders")
        yield EndedCrawl(board, site, folder)
        assert "Traceback" not in board.output.read_text()


def test_a_visited_page_is_explained(watched_page: Page, ended: EndedCrawl, screenshots: Path) -> None:
    watched_page.goto(ended.page("pages"))
    watched_page.locator("li.page a.title").first.click()
    panel = watched_page.locator("aside.panel")
    expect(panel).to_contain_text("Why was it visited?")
    expect(panel.locator(".sentences li").first).not_to_be_empty()
    expect(panel).to_contain_text("Found on")
    expect(panel).to_contain_text("Beginning of the text")
    assert re.search(r"#page=\d+$", watched_page.url)
    watched_page.screenshot(path=screenshots / "dashboard-explain.png")
    watched_page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_a_skipped_url_is_explained(watched_page: Page, ended: EndedCrawl) -> None:
    watched_page.goto(ended.page())
    watched_page.get_by_label("What happened to a URL?").fill(ended.site.url(N_PAGES))
    watched_page.get_by_role("button", name="Explain").click()
    expect(watched_page.locator("aside.panel .sentences")).to_contain_text("client error (4xx)")


def test_a_label_is_stored_and_can_be_removed(watched_page: Page, ended: EndedCrawl) -> None:
    watched_page.goto(ended.page("pages"))
    row = watched_page.locator("li.page").first
    row.get_by_role("button", name="Relevant", exact=True).click()
    wait_until(lambda: len(ended.board.crawl(HOSTILE_NAME, "labels")["pages"]) == 1, "the label")
    watched_page.reload()
    relevant = row.get_by_role("button", name="Relevant", exact=True)
    expect(relevant).to_have_attribute("aria-pressed", "true")
    row.get_by_role("button", name="No label").click()
    expect(relevant).to_have_attribute("aria-pressed", "false")
    wait_until(lambda: not ended.board.crawl(HOSTILE_NAME, "labels")["pages"], "no label")


def test_search_finds_words_of_pages(watched_page: Page, ended: EndedCrawl) -> None:
    watched_page.goto(ended.page("pages"))
    watched_page.get_by_label("Search").fill("word17x3")
    found = watched_page.locator("li.page")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Page 17")


def test_hostile_titles_are_shown_as_text(watched_page: Page, ended: EndedCrawl, screenshots: Path) -> None:
    watched_page.goto(f"{ended.page('pages')}&order=first")
    titles = watched_page.locator("li.page a.title")
    expect(titles.nth(5)).to_be_visible()
    shown = titles.all_text_contents()
    # The longest title is cut by the crawl, not by the page.
    for title in HOSTILE_TITLES:
        assert any(one.startswith(title[:200]) for one in shown), title
    assert fits(watched_page)
    watched_page.screenshot(path=screenshots / "dashboard-hostile-titles.png", full_page=True)
    for title in HOSTILE_TITLES[:3]:
        titles.get_by_text(title, exact=True).first.click()
        expect(watched_page.locator("aside.panel .anchor").first).to_contain_text(title)
        watched_page.keyboard.press("Escape")
    assert_nothing_was_run(watched_page)


def test_hostile_titles_are_harmless_in_the_overview_and_in_the_report(watched_page: Page, ended: EndedCrawl) -> None:
    path = ended.board.path_of(HOSTILE_NAME)
    for address in (ended.board.page(path), ended.board.address + path.replace("/crawls", "/report")):
        watched_page.goto(address)
        # Which pages are among the latest or the best is chance; the name of the folder is hostile, too.
        expect(watched_page.get_by_text(HOSTILE_NAME).first).to_be_attached()
        assert_nothing_was_run(watched_page)
    # All titles are in the report, in its graph.
    assert "window.hacked" in watched_page.content()


def test_unreadable_folders_are_explained(browser: Browser, ended: EndedCrawl, screenshots: Path) -> None:
    with watched(browser, "Failed to load resource") as page:
        page.goto(ended.board.page("/"))
        unreadable = page.get_by_role("region", name="Unreadable")
        expect(unreadable).to_contain_text("version 99")
        expect(unreadable).to_contain_text("notes")
        page.screenshot(path=screenshots / "dashboard-unreadable.png", full_page=True)
        paths = [ended.board.path_of("newer"), ended.board.path_of("notes"), "/crawls/nowhere", "/experiments/nowhere"]
        for path in [*paths, ended.board.path_of("newer").replace("/crawls", "/report")]:
            page.goto(ended.board.page(path))
            expect(page.locator("main")).to_contain_text(re.compile(r"version 99|notes|nowhere"))
            assert "Traceback" not in page.content()


def test_without_the_token_nothing_can_be_changed(
    browser: Browser, ended: EndedCrawl, screenshots: Path, tmp_path: Path
) -> None:
    labels = ended.board.path_of(HOSTILE_NAME, "labels")
    with (
        dashboard(tmp_path / "output", ended.folder, "--open") as board,
        watched(browser, "status of 401") as page,
    ):
        page.goto(board.address + board.path_of(HOSTILE_NAME, "pages"))
        for name in ("Relevant", "Not relevant", "No label"):
            expect(page.get_by_role("button", name=name, exact=True).first).to_be_disabled()
        expect(page.locator("#read-only")).to_contain_text("Read-only")
        page.screenshot(path=screenshots / "dashboard-read-only.png")
        for token in ("guessed", ""):
            assert page.evaluate(POSTING, [f"/api{labels}", token]) == 401
        page.goto(board.address + board.path_of(HOSTILE_NAME))
        expect(page.get_by_role("button", name="Set")).to_be_disabled()
        page.goto(board.page(board.path_of(HOSTILE_NAME)))
        expect(page.get_by_role("button", name="Set")).to_be_enabled()
        expect(page.locator("#read-only")).to_be_hidden()
    assert ended.board.get(f"/api{labels}")["pages"] == []


def test_without_the_token_nothing_can_be_read(browser: Browser, ended: EndedCrawl, screenshots: Path) -> None:
    path = ended.board.path_of(HOSTILE_NAME, "pages")
    with watched(browser, "status of 401") as page:
        page.goto(f"{ended.board.address}{path}?order=first")
        expect(page.get_by_label("Token")).to_be_focused()
        assert page.evaluate(READING, f"/api{path}") == 401
        page.screenshot(path=screenshots / "dashboard-no-token.png")
        page.get_by_label("Token").fill("guessed")
        page.get_by_role("button", name="Open").click()
        expect(page.locator("main")).to_contain_text("not valid")
        page.screenshot(path=screenshots / "dashboard-wrong-token.png")
        page.get_by_label("Token").fill(ended.board.token)
        page.keyboard.press("Enter")
        expect(page.locator("li.page").first).to_be_visible()
        assert page.url == f"{ended.board.address}{path}?order=first"
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
        assert ended.board.token not in page.content() + cookie["value"]
        # Other tabs have the cookie, too.
        other = page.context.new_page()
        other.goto(ended.board.address)
        expect(other.get_by_text(HOSTILE_NAME).first).to_be_visible()


def test_a_page_of_another_site_can_neither_read_nor_change(browser: Browser, ended: EndedCrawl) -> None:
    elsewhere = StaticServer(lambda _host, _path: StaticPage(b"<!doctype html><title>elsewhere</title>"))
    labels = f"/api{ended.board.path_of(HOSTILE_NAME, 'labels')}"
    with elsewhere, watched(browser, "CORS", "Failed to load resource", "ERR_") as page:
        page.goto(elsewhere.url("http://127.0.0.1/"))
        assert page.evaluate(READING, f"{ended.board.address}/api/folders") == "rejected"
        # Even with the token, which no other site knows.
        assert page.evaluate(POSTING, [ended.board.address + labels, ended.board.token]) == "rejected"
        # A script of ours that another page loads would run there.
        assert page.evaluate(LOADING, f"{ended.board.address}/assets/elements.js") == "rejected"
        # Not even a link leads in: the page that has it would know the window.
        page.evaluate("(address) => location.assign(address)", f"{ended.board.address}/")
        expect(page.locator("main")).to_contain_text("Cross-site")
    assert ended.board.get(labels)["pages"] == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_crawl_page_fits_a_phone(browser: Browser, ended: EndedCrawl, screenshots: Path, colours: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": colours}
    with watched(browser, **phone) as page:
        page.goto(ended.page())
        expect(page.locator("#chart-harvest svg path").first).to_be_attached()
        assert fits(page)
        page.screenshot(path=screenshots / f"dashboard-crawl-phone-{colours}.png", full_page=True)
