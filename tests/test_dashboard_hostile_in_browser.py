"""The dashboard in Chromium over crawls that are over: explained, labelled, searched, and hostile in every way.

Titles, anchors and a folder's name are markup; a folder is no crawl, another of a newer version; other sites ask.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from dashboard_pages import fits, nothing_was_run
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

#: Enough for a curve: it takes two seconds.
N_TAKEN = 120
POSTING = """([path, token]) => fetch(path, {method: "POST", body: '{"visit": 0, "relevant": true}',
    headers: {"Content-Type": "application/json", "X-Scenthound-Token": token}})
    .then((answer) => answer.status, () => "refused")"""
READING = "(address) => fetch(address).then((answer) => answer.status, () => 'refused')"
LOADING = """(address) => new Promise((done) => {
    const script = document.createElement("script");
    script.addEventListener("error", () => done("refused"));
    script.addEventListener("load", () => done("loaded"));
    script.src = address;
    document.head.append(script);
})"""


@dataclass(frozen=True, slots=True)
class EndReason:
    """A crawl with a hostile name; `notes` is no crawl, `newer` one that this version cannot read."""

    board: Dashboard
    site: Site

    def page(self, *further: str) -> str:
        return self.board.page(self.board.path_of(HOSTILE_NAME, *further))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EndReason]:
    place = tmp_path_factory.mktemp("dashboard")
    folder, notes = place / "crawls", place / "notes"
    (folder / "newer").mkdir(parents=True)
    (folder / "newer" / ABOUT_FILE).write_text(json.dumps({"format": "scenthound crawl", "version": 99}))
    notes.mkdir()
    (notes / "notes.txt").write_text("no crawl")
    crawl = ("--pages", N_TAKEN, "--strategy", "breadth_first")
    with (
        hostile_site(place) as site,
        running(place / "crawl said", *site.crawl(folder / HOSTILE_NAME, *crawl)) as crawling,
        dashboard(place / "dashboard said", folder, notes) as board,
    ):
        assert crawling.wait(WAIT_S) == 0
        wait_until(lambda: len(board.get("/api/folders")["folders"]) == 3, "the folders")
        yield EndReason(board, site)
        assert "Traceback" not in board.said.read_text()


def test_a_page_says_why_it_was_chosen(watched_page: Page, ended: EndReason, screenshots: Path) -> None:
    watched_page.goto(ended.page("pages"))
    watched_page.locator("li.page a.title").first.click()
    panel = watched_page.locator("aside.panel")
    expect(panel).to_contain_text("Why was it chosen?")
    expect(panel.locator(".sentences li").first).not_to_be_empty()
    expect(panel).to_contain_text("Found on")
    expect(panel).to_contain_text("Beginning of the text")
    assert re.search(r"#page=\d+$", watched_page.url)
    watched_page.screenshot(path=screenshots / "dashboard-explain.png")
    watched_page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_an_address_that_was_not_taken_says_why(watched_page: Page, ended: EndReason) -> None:
    watched_page.goto(ended.page())
    watched_page.get_by_label("What became of an address?").fill(ended.site.url(N_PAGES))
    watched_page.get_by_role("button", name="Explain").click()
    expect(watched_page.locator("aside.panel .sentences")).to_contain_text("client error (4xx)")


def test_a_label_stays_and_can_be_taken_away(watched_page: Page, ended: EndReason) -> None:
    watched_page.goto(ended.page("pages"))
    row = watched_page.locator("li.page").first
    row.get_by_role("button", name="Relevant", exact=True).click()
    wait_until(lambda: len(ended.board.crawl(HOSTILE_NAME, "labels")["pages"]) == 1, "the label")
    watched_page.reload()
    chosen = row.get_by_role("button", name="Relevant", exact=True)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    row.get_by_role("button", name="No label").click()
    expect(chosen).to_have_attribute("aria-pressed", "false")
    wait_until(lambda: not ended.board.crawl(HOSTILE_NAME, "labels")["pages"], "no label")


def test_words_of_pages_are_found(watched_page: Page, ended: EndReason) -> None:
    watched_page.goto(ended.page("pages"))
    watched_page.get_by_label("Search").fill("word17x3")
    found = watched_page.locator("li.page")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Page 17")


def test_hostile_titles_are_shown_as_text(watched_page: Page, ended: EndReason, screenshots: Path) -> None:
    watched_page.goto(ended.page("pages").replace("#", "?order=first#"))
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
    nothing_was_run(watched_page)


def test_hostile_titles_do_nothing_in_the_overview_and_in_the_report(watched_page: Page, ended: EndReason) -> None:
    path = ended.board.path_of(HOSTILE_NAME)
    for address in (ended.board.page(path), ended.board.address + path.replace("/crawls", "/report")):
        watched_page.goto(address)
        # Which pages are among the latest or the best is chance; the name of the folder is hostile, too.
        expect(watched_page.get_by_text(HOSTILE_NAME).first).to_be_attached()
        nothing_was_run(watched_page)
    # All titles are in the report, in its graph.
    assert "window.hacked" in watched_page.content()


def test_what_is_no_crawl_or_a_newer_one_is_told_in_words(
    browser: Browser, ended: EndReason, screenshots: Path
) -> None:
    with watched(browser, "Failed to load resource") as page:
        page.goto(ended.board.page("/"))
        unreadable = page.get_by_role("region", name="Not readable")
        expect(unreadable).to_contain_text("version 99")
        expect(unreadable).to_contain_text("notes")
        page.screenshot(path=screenshots / "dashboard-not-readable.png", full_page=True)
        paths = [ended.board.path_of("newer"), ended.board.path_of("notes"), "/crawls/nowhere", "/experiments/nowhere"]
        for path in [*paths, ended.board.path_of("newer").replace("/crawls", "/report")]:
            page.goto(ended.board.page(path))
            expect(page.locator("main")).to_contain_text(re.compile(r"version 99|notes|nowhere"))
            assert "Traceback" not in page.content()


def test_without_the_token_nothing_can_be_changed(browser: Browser, ended: EndReason, screenshots: Path) -> None:
    labels = ended.board.path_of(HOSTILE_NAME, "labels")
    with watched(browser, "status of 403") as page:
        page.goto(ended.board.address + ended.board.path_of(HOSTILE_NAME, "pages"))
        for name in ("Relevant", "Not relevant", "No label"):
            expect(page.get_by_role("button", name=name, exact=True).first).to_be_disabled()
        expect(page.locator("#read-only")).to_contain_text("Read-only")
        page.screenshot(path=screenshots / "dashboard-read-only.png")
        for token in ("guessed", ""):
            assert page.evaluate(POSTING, [f"/api{labels}", token]) == 403
        page.goto(ended.board.address + ended.board.path_of(HOSTILE_NAME))
        expect(page.get_by_role("button", name="Set")).to_be_disabled()
    assert ended.board.get(f"/api{labels}")["pages"] == []


def test_a_page_of_another_site_learns_and_changes_nothing(browser: Browser, ended: EndReason) -> None:
    elsewhere = StaticServer(lambda _host, _path: StaticPage(b"<!doctype html><title>elsewhere</title>"))
    labels = f"/api{ended.board.path_of(HOSTILE_NAME, 'labels')}"
    with elsewhere, watched(browser, "CORS", "Failed to load resource", "ERR_") as page:
        page.goto(elsewhere.url("http://127.0.0.1/"))
        assert page.evaluate(READING, f"{ended.board.address}/api/folders") == "refused"
        # Even with the token, which no other site knows.
        assert page.evaluate(POSTING, [ended.board.address + labels, ended.board.token]) == "refused"
        # A script of ours that another page loads would run there.
        assert page.evaluate(LOADING, f"{ended.board.address}/assets/elements.js") == "refused"
        # Not even a link leads in: the page that has it would know the window.
        page.evaluate("(address) => location.assign(address)", f"{ended.board.address}/")
        expect(page.locator("main")).to_contain_text("Another site asked for this")
    assert ended.board.get(labels)["pages"] == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_phone_shows_all_of_it(browser: Browser, ended: EndReason, screenshots: Path, colours: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": colours}
    with watched(browser, **phone) as page:
        page.goto(ended.page())
        expect(page.locator("#chart-harvest svg path").first).to_be_attached()
        assert fits(page)
        page.screenshot(path=screenshots / f"dashboard-crawl-phone-{colours}.png", full_page=True)
