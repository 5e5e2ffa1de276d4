"""The dashboard's pages in Chromium, with responses defined by the tests."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from dashboard_pages import fits, points_drawn
from mock_dashboard import HOSTILE, MockDashboard, crawl, curves, folder, live, served_pages, status, visited
from scenthound.ui.dashboard.responses import Done, Folders, Labels, Pages, Problem

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
VIEWS = (
    "/",
    "/crawls/balloons",
    "/crawls/balloons/pages",
    "/compare?crawl=balloons&crawl=trains",
    "/experiments/search",
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served_pages() as address:
        yield address


@pytest.fixture
def dashboard(watched_page: Page, address: str) -> MockDashboard:
    return MockDashboard(watched_page, address)


def test_hostile_texts_stay_texts_and_all_views_fit_a_phone(browser: Browser, address: str, screenshots: Path) -> None:
    with watched(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as page:
        dashboard = MockDashboard(page, address, has_token=False)
        for path in (*VIEWS, "/crawls/balloons#page=3"):
            dashboard.open(path)
            expect(page.get_by_text(HOSTILE).first).to_be_visible()
            page.wait_for_timeout(100)
            assert fits(page), path
            assert page.locator("main img, main script, aside img, aside script").count() == 0
            assert page.locator("a[href^='javascript' i]").count() == 0
            assert "hacked" not in page.title().replace(HOSTILE, "")
        page.screenshot(path=screenshots / "dashboard-phone-dark.png")


def test_only_web_urls_become_links(dashboard: MockDashboard) -> None:
    dashboard.open("/")
    hrefs = """(urls) => import("/assets/dom.js").then((dom) => urls.map((url) =>
        [dom.element("a", {href: url}).getAttribute("href"), dom.externalLink(url).tagName]))"""
    for url in (
        "javascript:1",
        " javascript:1",
        "data:text/html,1",
        "//elsewhere.test",
        "/\\elsewhere.test",
        "ftp://a.test",
    ):
        assert dashboard.page.evaluate(hrefs, [url]) == [[None, "BDI"]], url
    assert dashboard.page.evaluate(hrefs, ["HTTPS://a.test/"]) == [["HTTPS://a.test/", "A"]]
    listening = "() => import('/assets/dom.js').then((dom) => dom.element('a', {onclick: 'hacked = 1'})).catch(String)"
    assert dashboard.page.evaluate(listening).startswith("Error: onclick ")


def test_changes_are_sent_and_their_results_shown(dashboard: MockDashboard) -> None:
    dashboard.responses["/api/crawls/balloons/pause"] = Done("It pauses.")
    dashboard.responses["/api/crawls/balloons/budget"] = Done("It is changed.")
    dashboard.open("/crawls/balloons")
    dashboard.page.get_by_role("button", name="Pause").click()
    expect(dashboard.page.get_by_text("It pauses.")).to_be_visible()
    dashboard.page.get_by_label("Page budget").fill("2500")
    dashboard.page.get_by_role("button", name="Set").click()
    expect(dashboard.page.get_by_text("It is changed.")).to_be_visible()
    assert dashboard.changes == [
        ("/api/crawls/balloons/pause", {}),
        ("/api/crawls/balloons/budget", {"pages": 2500}),
    ]


def test_without_the_token_controls_are_disabled(dashboard: MockDashboard) -> None:
    dashboard.has_token = False
    dashboard.open("/crawls/balloons/pages#page=3")
    expect(dashboard.page.locator("#read-only")).to_contain_text("Read-only")
    expect(dashboard.page.locator(".panel .labels button")).to_have_count(3)
    assert all(not label.is_enabled() for label in dashboard.page.locator(".labels button").all())
    dashboard.open("/crawls/balloons")
    expect(dashboard.page.locator(".why-not").first).to_contain_text("Read-only")
    for name in ("Pause", "Stop", "Set"):
        expect(dashboard.page.get_by_role("button", name=name)).to_be_disabled()


def test_stopping_a_crawl_needs_confirmation(dashboard: MockDashboard) -> None:
    dashboard.responses["/api/crawls/balloons/stop"] = Done("It stops.")
    dashboard.open("/crawls/balloons")
    for choice in ("Keep crawling", "Stop the crawl"):
        assert dashboard.changes == []
        dashboard.page.get_by_role("button", name="Stop", exact=True).click()
        dashboard.page.get_by_role("button", name=choice).click()
    expect(dashboard.page.get_by_text("It stops.")).to_be_visible()
    assert [path for path, _ in dashboard.changes] == ["/api/crawls/balloons/stop"]


def test_new_points_extend_the_curves_and_a_new_connection_replaces_them(dashboard: MockDashboard) -> None:
    dashboard.responses["/api/crawls/balloons/events"] = None
    dashboard.open("/crawls/balloons")
    dashboard.release(live(crawl(), curves(10, 20, 30)) + live(crawl(), curves(40)))
    expect(dashboard.page.locator(".connection")).to_contain_text("Connection lost")
    assert points_drawn(dashboard.page) == 4
    dashboard.release(live(crawl(status=status(n_pages=1_300)), curves(10, 20, 30, 40, 50)))
    expect(dashboard.page.locator("#number-n_pages")).to_have_text("1,300")
    assert points_drawn(dashboard.page) == 5


def test_a_rejected_connection_is_retried(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        dashboard = MockDashboard(page, address)
        dashboard.responses["/api/crawls/balloons/events"] = None
        page.clock.install()
        dashboard.open("/crawls/balloons")
        dashboard.release(Problem("Too many watch."))
        expect(page.locator(".connection")).to_contain_text("Connection lost")
        page.clock.run_for(3_000)
        dashboard.release(live(crawl(status=status(n_pages=1_300)), curves(10)))
        expect(page.locator("#number-n_pages")).to_have_text("1,300")


def test_the_key_numbers_of_a_crawl_are_shown(dashboard: MockDashboard) -> None:
    dashboard.open("/crawls/balloons")
    expect(dashboard.page.locator("#number-n_pages")).to_have_text("1,234")
    texts = {
        "harvest": "0.412",
        "recent_harvest": "0.380",
        "pages_per_s": "4.20/s",
        "seconds_left": "5 min",
        "frontier": "9,876",
        "n_skipped": "7",
        "recall": "62 %",
    }
    for name, text in texts.items():
        expect(dashboard.page.locator(f"#number-{name}")).to_have_text(text)
    expect(dashboard.page.locator(".interval")).to_have_text("(35 to 84 %)")
    expect(dashboard.page.locator(".of-budget")).to_have_text("of 2,000")
    expect(dashboard.page.locator(".host-state")).to_have_text(["● active", "◔ waiting 2 s"])
    # The most frequent reason is first.
    expect(dashboard.page.locator(".reasons a")).to_have_text(["not HTML", "disallowed by robots.txt"])


def test_a_recall_that_is_unknown_has_a_reason(dashboard: MockDashboard) -> None:
    unknown = crawl(status=status(recall=None, recall_unknown=HOSTILE))
    dashboard.responses |= {"/api/crawls/balloons": unknown, "/api/crawls/balloons/events": live(unknown, curves(10))}
    dashboard.open("/crawls/balloons")
    expect(dashboard.page.locator("#number-recall")).to_have_text(NONE)
    expect(dashboard.page.locator("div", has=dashboard.page.locator("#number-recall")).last).to_have_attribute(
        "title", re.compile(re.escape(HOSTILE))
    )


def test_the_numbers_of_an_old_crawl_come_from_its_curves(dashboard: MockDashboard) -> None:
    old = crawl(
        status=None, state="ended", ended="The page budget is reached.", resume_command="scenthound crawl --resume x"
    )
    unknown = curves(10, 1_020) | {"n_skipped": (None, None)}
    dashboard.responses |= {"/api/crawls/balloons": old, "/api/crawls/balloons/events": live(old, unknown)}
    dashboard.open("/crawls/balloons")
    expect(dashboard.page.locator("#number-n_pages")).to_have_text("1,020")
    expect(dashboard.page.locator("#number-harvest")).to_have_text("0.500")
    expect(dashboard.page.locator("#number-n_skipped")).to_have_text(NONE)
    expect(dashboard.page.locator(".outcome")).to_contain_text("The page budget is reached.")
    expect(dashboard.page.get_by_role("button", name="Pause")).to_be_disabled()


def test_the_resume_command_of_a_dead_crawl_can_be_copied(browser: Browser, address: str) -> None:
    with watched(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        dashboard = MockDashboard(page, address)
        dead = crawl(state="died", ended="Its process is gone.", resume_command="scenthound crawl --resume '/data/a b'")
        dashboard.responses |= {"/api/crawls/balloons": dead, "/api/crawls/balloons/events": live(dead, curves(10))}
        dashboard.open("/crawls/balloons")
        page.locator(".died").get_by_role("button", name="Copy").click()
        expect(page.locator(".died").get_by_role("button")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == "scenthound crawl --resume '/data/a b'"


def test_a_crawl_without_a_page_is_shown_as_failed_with_the_reason(dashboard: MockDashboard) -> None:
    ended = "0 pages: 1 of 1 seed failed."
    failed = crawl(state="failed", ended=ended, resume_command=None, status=status(n_pages=0))
    dashboard.responses |= {"/api/crawls/balloons": failed, "/api/crawls/balloons/events": live(failed, curves())}
    dashboard.open("/crawls/balloons")
    expect(dashboard.page.get_by_label("Curves")).to_be_hidden()
    expect(dashboard.page.locator(".state.failed")).to_contain_text("failed")
    expect(dashboard.page.locator(".outcome .box.failed")).to_contain_text("0 pages: 1 of 1 seed failed.")


def test_an_explanation_has_a_url_and_is_closed_by_escape(dashboard: MockDashboard) -> None:
    dashboard.open("/crawls/balloons")
    dashboard.page.locator(".latest .title").first.click()
    panel = dashboard.page.locator(".panel")
    expect(panel).to_contain_text("after 1 other page, with 20 pages queued")
    expect(panel).to_contain_text("Found on 4 pages")
    assert dashboard.page.url.endswith("#page=3")
    dashboard.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert dashboard.page.evaluate("document.activeElement.getAttribute('href')") == "#page=3"
    dashboard.page.go_back()
    expect(panel).to_be_visible()


def test_the_latest_pages_are_not_updated_under_the_pointer(dashboard: MockDashboard) -> None:
    dashboard.responses["/api/crawls/balloons/events"] = None
    dashboard.open("/crawls/balloons")
    dashboard.release(live(crawl(), curves(10), visited(3, title="older")))
    dashboard.page.locator(".latest .title").first.hover()
    dashboard.release(live(crawl(), curves(10), visited(9, title="newer")))
    expect(dashboard.page.locator(".held")).to_contain_text("paused")
    expect(dashboard.page.locator(".latest .title")).to_have_text("older")
    dashboard.page.locator("h1").hover()
    expect(dashboard.page.locator(".latest .title")).to_have_text("newer")


def test_a_search_is_part_of_the_url_and_more_pages_are_loaded_on_request(dashboard: MockDashboard) -> None:
    found = [Pages((visited(5),), None, 2, None), Pages((visited(4, excerpt="a Balloon flew"),), 1, 2, None)]
    dashboard.responses["/api/crawls/balloons/pages"] = found.pop
    dashboard.open("/crawls/balloons/pages?query=balloon&host=a.test")
    expect(dashboard.page.locator("mark")).to_have_text("Balloon")
    expect(dashboard.page.get_by_label("Host")).to_have_value("a.test")
    dashboard.page.get_by_role("button", name="Load more").click()
    expect(dashboard.page.locator("li.page")).to_have_count(2)
    expect(dashboard.page.get_by_role("button", name="Load more")).to_have_count(0)
    path = "/api/crawls/balloons/pages?query=balloon&host=a.test&order=latest"
    assert [each for each in dashboard.requests if "query" in each] == [f"{path}&limit=25", f"{path}&from=1&limit=25"]


def test_pages_that_are_being_replaced_cannot_be_clicked(dashboard: MockDashboard) -> None:
    dashboard.open("/crawls/balloons/pages")
    dashboard.page.locator("li.page").first.wait_for()
    dashboard.responses["/api/crawls/balloons/pages"] = None
    dashboard.page.get_by_label("Order").select_option("worst")
    expect(dashboard.page.locator("ol.pages[inert]")).to_have_count(1)
    dashboard.release(Pages((visited(8, title="worst"),), None, 1, None))
    expect(dashboard.page.locator("ol.pages:not([inert]) .title")).to_have_text("worst")


def test_a_label_is_shown_everywhere(dashboard: MockDashboard) -> None:
    dashboard.open("/crawls/balloons/pages")
    expect(dashboard.page.get_by_role("button", name="Retrain the relevance model")).to_be_disabled()
    dashboard.responses["/api/crawls/balloons/labels"] = Labels((visited(3, label=False),), 0, 1, None)
    dashboard.page.locator("li.page .title").first.click()
    dashboard.page.locator(".panel").get_by_role("button", name="Not relevant").click()
    pressed = dashboard.page.locator("li.page").first.locator("[aria-pressed='true']")
    expect(pressed).to_have_text("Not relevant")
    expect(dashboard.page.get_by_role("button", name="Retrain the relevance model")).to_be_enabled()
    assert dashboard.changes == [("/api/crawls/balloons/labels", {"visit": 3, "relevant": False})]


def test_a_rejected_label_shows_the_reason(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        dashboard = MockDashboard(page, address)
        dashboard.open("/crawls/balloons")
        dashboard.page.locator(".latest .title").first.click()
        dashboard.responses["/api/crawls/balloons/labels"] = Problem("There is no such visit.")
        page.locator(".panel").get_by_role("button", name="Not relevant").click()
        expect(page.locator(".panel .labels")).to_contain_text("There is no such visit.")
        expect(page.locator(".panel [aria-pressed='true']")).to_have_text("No label")


def test_differences_are_relative_to_the_first_crawl(dashboard: MockDashboard) -> None:
    dashboard.open("/compare?crawl=balloons&crawl=trains")
    rows = dashboard.page.get_by_role("region", name="Key numbers").locator("tbody tr")
    expect(rows.nth(0).locator("td").nth(2)).to_have_text(f"120{MINUS}80")
    # 120 pages in 2 seconds, 200 in the same time.
    expect(rows.nth(4).locator("td").nth(2)).to_have_text(f"60.0{MINUS}40.0")
    # A share is comparable, although each strategy has scores of its own.
    expect(rows.nth(5).locator("td").nth(2)).to_have_text("50 %+48 %")
    differing = dashboard.page.get_by_role("region", name="Settings that differ").locator("tbody tr")
    expect(differing).to_have_text(["strategyotieopic"])
    expect(dashboard.page.get_by_role("region", name="Pages in common").locator("tbody")).to_contain_text("6.7 %")


def test_harvests_are_compared_at_the_same_number_of_pages(dashboard: MockDashboard) -> None:
    dashboard.open("/compare?crawl=balloons&crawl=trains")
    figures = dashboard.page.get_by_role("region", name="Key numbers")
    rows = figures.locator("tbody tr")
    # At their ends, after 200 and 120 pages, they are not compared.
    expect(rows.nth(1)).to_have_text("Harvest0.4000.250")
    # Of 100 pages the sum is 60, of 200 it is 80: so of 120 it is 64, and 64 / 120 = 0.533.
    expect(rows.nth(2)).to_have_text(f"Harvest after 120 pages0.5330.250{MINUS}0.283")
    expect(rows.nth(3)).to_have_text("Recent harvest after 120 pages0.2500.250±0.000")
    expect(rows.nth(5)).to_have_text("Score given up after 120 pages2.0 %50 %+48 %")
    expect(figures).to_contain_text("Means are compared after 120 pages, which all of these crawls have")


def test_harvests_of_models_trained_on_other_pages_are_not_compared(dashboard: MockDashboard) -> None:
    response = dashboard.responses["/api/compare"]
    crawls = response.crawls[0], replace(response.crawls[1], scored_by="other")
    dashboard.responses["/api/compare"] = replace(response, crawls=crawls)
    dashboard.open("/compare?crawl=balloons&crawl=trains")
    figures = dashboard.page.get_by_role("region", name="Key numbers")
    expect(figures.locator("tbody tr").nth(2)).to_have_text("Harvest after 120 pages0.5330.250")
    expect(figures).to_contain_text("training pages")


def test_a_crawl_without_pages_is_compared_without_numbers(dashboard: MockDashboard) -> None:
    response = dashboard.responses["/api/compare"]
    dashboard.responses["/api/compare"] = replace(response, curves=(response.curves[0], curves()))
    dashboard.open("/compare?crawl=balloons&crawl=trains")
    rows = dashboard.page.get_by_role("region", name="Key numbers").locator("tbody tr")
    expect(rows.nth(2)).to_have_text(f"Harvest after 0 pages{NONE}{NONE}")
    numbers = dashboard.page.get_by_role("region", name="Key numbers")
    expect(numbers).to_contain_text("One of these crawls has no page yet")


def test_a_problem_is_shown_with_its_command(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        dashboard = MockDashboard(page, address)
        dashboard.responses["/api/crawls/gone"] = Problem("There is no crawl here.", "scenthound dashboard DIR")
        dashboard.open("/crawls/gone")
        expect(page.get_by_role("alert")).to_contain_text("There is no crawl here.")
        expect(page.get_by_role("alert").locator("code")).to_have_text("scenthound dashboard DIR")


def test_an_invalid_url_is_reported(dashboard: MockDashboard) -> None:
    dashboard.open("/crawls/%E0%A4%A")
    expect(dashboard.page.get_by_role("alert")).to_contain_text("There is no page at this URL")
    expect(dashboard.page.get_by_role("link", name="All crawls and experiments")).to_be_visible()


def test_an_empty_dashboard_shows_a_command_and_then_new_folders(dashboard: MockDashboard) -> None:
    broken = folder("broken", kind="unreadable", problem=Problem(HOSTILE, "pip install --upgrade scenthound"))
    responses = [Folders("0", (folder("trains"), broken)), Folders("0", ())]
    dashboard.responses["/api/folders"] = lambda: responses.pop() if len(responses) > 1 else responses[0]
    dashboard.page.clock.install()
    dashboard.open("/")
    expect(dashboard.page.locator("main")).to_contain_text("scenthound crawl")
    dashboard.page.clock.run_for(5_000)
    expect(dashboard.page.get_by_role("link", name="trains")).to_have_attribute("href", "/crawls/trains")
    expect(dashboard.page.locator(".card .kind").first).to_have_text(HOSTILE)
    expect(dashboard.page.get_by_role("alert")).to_contain_text(HOSTILE)
