"""The dashboard's pages in Chromium, with answers made up: what they show, ask for, and do not let through."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from dashboard_pages import fits, points_drawn
from made_dashboard import HOSTILE, TOKEN, MadeDashboard, crawl, curves, folder, live, shipped_pages, status, taken
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
    with shipped_pages() as address:
        yield address


@pytest.fixture
def made(watched_page: Page, address: str) -> MadeDashboard:
    return MadeDashboard(watched_page, address)


def test_what_crawled_pages_say_is_text_in_all_views_and_all_fit_a_phone(
    browser: Browser, address: str, screenshots: Path
) -> None:
    with watched(browser, viewport={"width": 390, "height": 844}, color_scheme="dark") as page:
        made = MadeDashboard(page, address)
        for path in (*VIEWS, "/crawls/balloons#page=3"):
            made.open(path, token=None)
            expect(page.get_by_text(HOSTILE).first).to_be_visible()
            page.wait_for_timeout(100)
            assert fits(page), path
            assert page.locator("main img, main script, aside img, aside script").count() == 0
            assert page.locator("a[href^='javascript' i]").count() == 0
            assert "hacked" not in page.title().replace(HOSTILE, "")
        page.screenshot(path=screenshots / "dashboard-phone-dark.png")


def test_an_address_from_outside_is_a_link_only_if_it_is_of_the_web(made: MadeDashboard) -> None:
    made.open("/")
    hrefs = """(urls) => import("/assets/dom.js").then((dom) => urls.map((url) =>
        [dom.element("a", {href: url}).getAttribute("href"), dom.outside(url).tagName]))"""
    for url in (
        "javascript:1",
        " javascript:1",
        "data:text/html,1",
        "//elsewhere.test",
        "/\\elsewhere.test",
        "ftp://a.test",
    ):
        assert made.page.evaluate(hrefs, [url]) == [[None, "BDI"]], url
    assert made.page.evaluate(hrefs, ["HTTPS://a.test/"]) == [["HTTPS://a.test/", "A"]]
    listening = "() => import('/assets/dom.js').then((dom) => dom.element('a', {onclick: 'hacked = 1'})).catch(String)"
    assert "cannot be set" in made.page.evaluate(listening)


def test_the_token_leaves_the_address_and_goes_with_every_change(made: MadeDashboard) -> None:
    made.answers["/api/crawls/balloons/pause"] = Done("It pauses.")
    made.answers["/api/crawls/balloons/budget"] = Done("It is changed.")
    made.open("/crawls/balloons")
    made.page.get_by_role("button", name="Pause").click()
    expect(made.page.get_by_text("It pauses.")).to_be_visible()
    assert made.page.url == f"{made.address}/crawls/balloons"
    made.page.get_by_label("Page budget").fill("2500")
    made.page.get_by_role("button", name="Set").click()
    expect(made.page.get_by_text("It is changed.")).to_be_visible()
    asked = [("/api/crawls/balloons/pause", TOKEN, {}), ("/api/crawls/balloons/budget", TOKEN, {"pages": 2500})]
    assert made.changes == asked


def test_without_the_token_nothing_can_be_changed_and_the_page_says_so(made: MadeDashboard) -> None:
    made.open("/crawls/balloons/pages#page=3", token=None)
    expect(made.page.locator("#read-only")).to_contain_text("Read-only")
    expect(made.page.locator(".panel .labels button")).to_have_count(3)
    assert all(not label.is_enabled() for label in made.page.locator(".labels button").all())
    made.open("/crawls/balloons", token=None)
    expect(made.page.locator(".why-not").first).to_contain_text("Read-only")
    for name in ("Pause", "Stop", "Set"):
        expect(made.page.get_by_role("button", name=name)).to_be_disabled()


def test_a_crawl_is_stopped_only_after_a_yes(made: MadeDashboard) -> None:
    made.answers["/api/crawls/balloons/stop"] = Done("It stops.")
    made.open("/crawls/balloons")
    for answer in ("Keep crawling", "Stop the crawl"):
        assert made.changes == []
        made.page.get_by_role("button", name="Stop", exact=True).click()
        made.page.get_by_role("button", name=answer).click()
    expect(made.page.get_by_text("It stops.")).to_be_visible()
    assert [path for path, _, _ in made.changes] == ["/api/crawls/balloons/stop"]


def test_new_points_make_the_curve_longer_and_a_new_connection_begins_it_anew(made: MadeDashboard) -> None:
    made.answers["/api/crawls/balloons/events"] = None
    made.open("/crawls/balloons")
    made.release(live(crawl(), curves(10, 20, 30)) + live(crawl(), curves(40)))
    expect(made.page.locator(".connection")).to_contain_text("Connection lost")
    assert points_drawn(made.page) == 4
    made.release(live(crawl(status=status(n_pages=1_300)), curves(10, 20, 30, 40, 50)))
    expect(made.page.locator("#number-n_pages")).to_have_text("1,300")
    assert points_drawn(made.page) == 5


def test_a_refused_connection_is_tried_again(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        made = MadeDashboard(page, address)
        made.answers["/api/crawls/balloons/events"] = None
        page.clock.install()
        made.open("/crawls/balloons")
        made.release(Problem("Too many watch."))
        expect(page.locator(".connection")).to_contain_text("Connection lost")
        page.clock.run_for(3_000)
        made.release(live(crawl(status=status(n_pages=1_300)), curves(10)))
        expect(page.locator("#number-n_pages")).to_have_text("1,300")


def test_the_numbers_of_a_crawl_are_told(made: MadeDashboard) -> None:
    made.open("/crawls/balloons")
    expect(made.page.locator("#number-n_pages")).to_have_text("1,234")
    told = {
        "harvest": "0.412",
        "recent_harvest": "0.380",
        "pages_per_s": "4.20",
        "seconds_left": "5 min",
        "frontier": "9,876",
        "n_skipped": "7",
    }
    for name, text in told.items():
        expect(made.page.locator(f"#number-{name}")).to_have_text(text)
    expect(made.page.locator(".of-budget")).to_have_text("of 2,000")
    expect(made.page.locator(".host-state")).to_have_text(["● active", "◔ waiting 2 s"])
    # The most frequent reason stands first.
    expect(made.page.locator(".reasons a")).to_have_text(["not HTML", "disallowed by robots.txt"])


def test_a_crawl_of_an_old_version_tells_what_its_curves_know(made: MadeDashboard) -> None:
    old = crawl(
        status=None, state="ended", ended="It reached its page budget.", resume_command="scenthound crawl --resume x"
    )
    unknown = curves(10, 1_020) | {"n_skipped": (None, None)}
    made.answers |= {"/api/crawls/balloons": old, "/api/crawls/balloons/events": live(old, unknown)}
    made.open("/crawls/balloons")
    expect(made.page.locator("#number-n_pages")).to_have_text("1,020")
    expect(made.page.locator("#number-harvest")).to_have_text("0.500")
    expect(made.page.locator("#number-n_skipped")).to_have_text(NONE)
    expect(made.page.locator(".going-on")).to_contain_text("It reached its page budget.")
    expect(made.page.get_by_role("button", name="Pause")).to_be_disabled()


def test_a_dead_crawl_has_its_resume_command_to_copy(browser: Browser, address: str) -> None:
    with watched(browser, permissions=["clipboard-read", "clipboard-write"]) as page:
        made = MadeDashboard(page, address)
        dead = crawl(state="died", ended="Its process is gone.", resume_command="scenthound crawl --resume '/data/a b'")
        made.answers |= {"/api/crawls/balloons": dead, "/api/crawls/balloons/events": live(dead, curves(10))}
        made.open("/crawls/balloons")
        page.locator(".died").get_by_role("button", name="Copy").click()
        expect(page.locator(".died").get_by_role("button")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == "scenthound crawl --resume '/data/a b'"


def test_an_explanation_can_be_linked_and_is_left_by_escape(made: MadeDashboard) -> None:
    made.open("/crawls/balloons")
    made.page.locator(".latest .title").first.click()
    panel = made.page.locator(".panel")
    expect(panel).to_contain_text("after 1 other page, with 20 pages queued")
    expect(panel).to_contain_text("Found on 4 pages")
    assert made.page.url.endswith("#page=3")
    made.page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert made.page.evaluate("document.activeElement.getAttribute('href')") == "#page=3"
    made.page.go_back()
    expect(panel).to_be_visible()


def test_the_latest_pages_hold_still_under_the_pointer(made: MadeDashboard) -> None:
    made.answers["/api/crawls/balloons/events"] = None
    made.open("/crawls/balloons")
    made.release(live(crawl(), curves(10), taken(3, title="older")))
    made.page.locator(".latest .title").first.hover()
    made.release(live(crawl(), curves(10), taken(9, title="newer")))
    expect(made.page.locator(".held")).to_have_text("Held while you point at it.")
    expect(made.page.locator(".latest .title")).to_have_text("older")
    made.page.locator("h1").hover()
    expect(made.page.locator(".latest .title")).to_have_text("newer")


def test_a_search_stands_in_the_address_and_more_pages_come_on_request(made: MadeDashboard) -> None:
    found = [Pages((taken(5),), None, 2, None), Pages((taken(4, excerpt="a Balloon flew"),), 1, 2, None)]
    made.answers["/api/crawls/balloons/pages"] = found.pop
    made.open("/crawls/balloons/pages?query=balloon&host=a.test")
    expect(made.page.locator("mark")).to_have_text("Balloon")
    expect(made.page.get_by_label("Host")).to_have_value("a.test")
    made.page.get_by_role("button", name="Load more").click()
    expect(made.page.locator("li.page")).to_have_count(2)
    expect(made.page.get_by_role("button", name="Load more")).to_have_count(0)
    asked = "/api/crawls/balloons/pages?query=balloon&host=a.test&order=latest"
    assert [path for path in made.asked if "query" in path] == [f"{asked}&limit=25", f"{asked}&from=1&limit=25"]


def test_pages_that_give_way_to_others_cannot_be_pressed(made: MadeDashboard) -> None:
    made.open("/crawls/balloons/pages")
    made.page.locator("li.page").first.wait_for()
    made.answers["/api/crawls/balloons/pages"] = None
    made.page.get_by_label("Order").select_option("worst")
    expect(made.page.locator("ol.pages[inert]")).to_have_count(1)
    made.release(Pages((taken(8, title="worst"),), None, 1, None))
    expect(made.page.locator("ol.pages:not([inert]) .title")).to_have_text("worst")


def test_a_label_is_shown_wherever_the_page_is(made: MadeDashboard) -> None:
    made.open("/crawls/balloons/pages")
    expect(made.page.get_by_role("button", name="Retrain the relevance model")).to_be_disabled()
    made.answers["/api/crawls/balloons/labels"] = Labels((taken(3, label=False),), 0, 1, None)
    made.page.locator("li.page .title").first.click()
    made.page.locator(".panel").get_by_role("button", name="Not relevant").click()
    pressed = made.page.locator("li.page").first.locator("[aria-pressed='true']")
    expect(pressed).to_have_text("Not relevant")
    expect(made.page.get_by_role("button", name="Retrain the relevance model")).to_be_enabled()
    assert made.changes == [("/api/crawls/balloons/labels", TOKEN, {"visit": 3, "relevant": False})]


def test_a_label_that_was_refused_is_not_shown_and_the_reason_is(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        made = MadeDashboard(page, address)
        made.open("/crawls/balloons")
        made.page.locator(".latest .title").first.click()
        made.answers["/api/crawls/balloons/labels"] = Problem("The token is wrong.")
        page.locator(".panel").get_by_role("button", name="Not relevant").click()
        expect(page.locator(".panel .labels")).to_contain_text("The token is wrong.")
        expect(page.locator(".panel [aria-pressed='true']")).to_have_text("No label")


def test_differences_are_those_to_the_first_crawl(made: MadeDashboard) -> None:
    made.open("/compare?crawl=balloons&crawl=trains")
    rows = made.page.get_by_role("region", name="Figures").locator("tbody tr")
    expect(rows.nth(0).locator("td").nth(2)).to_have_text(f"120{MINUS}80")
    # 120 pages in 2 seconds, 200 in the same time.
    expect(rows.nth(4).locator("td").nth(2)).to_have_text(f"60.0{MINUS}40.0")
    # Each strategy has scores of its own.
    expect(rows.nth(5).locator("td").nth(2)).to_have_text("0.500")
    differing = made.page.get_by_role("region", name="Settings that differ").locator("tbody tr")
    expect(differing).to_have_text(["Strategyotieopic"])
    expect(made.page.get_by_role("region", name="Pages in common").locator("tbody")).to_contain_text("6.7 %")


def test_harvests_are_compared_where_both_crawls_have_as_many_pages(made: MadeDashboard) -> None:
    made.open("/compare?crawl=balloons&crawl=trains")
    figures = made.page.get_by_role("region", name="Figures")
    rows = figures.locator("tbody tr")
    # At their ends, after 200 and 120 pages, they are told and not compared.
    expect(rows.nth(1)).to_have_text("Harvest0.4000.250")
    # Of 100 pages the sum is 60, of 200 it is 80: so of 120 it is 64, and 64 / 120 = 0.533.
    expect(rows.nth(2)).to_have_text(f"Harvest after 120 pages0.5330.250{MINUS}0.283")
    expect(rows.nth(3)).to_have_text("Recent harvest after 120 pages0.2500.250±0.000")
    expect(rows.nth(5)).to_have_text("Regret after 120 pages0.0200.500")
    expect(figures).to_contain_text("Means are compared after 120 pages, which all of these crawls have")


def test_harvests_of_models_trained_on_other_pages_are_not_compared(made: MadeDashboard) -> None:
    told = made.answers["/api/compare"]
    made.answers["/api/compare"] = replace(told, crawls=(told.crawls[0], replace(told.crawls[1], scored_by="other")))
    made.open("/compare?crawl=balloons&crawl=trains")
    figures = made.page.get_by_role("region", name="Figures")
    expect(figures.locator("tbody tr").nth(2)).to_have_text("Harvest after 120 pages0.5330.250")
    expect(figures).to_contain_text("training pages")


def test_a_crawl_without_a_page_is_compared_without_figures(made: MadeDashboard) -> None:
    told = made.answers["/api/compare"]
    made.answers["/api/compare"] = replace(told, curves=(told.curves[0], curves()))
    made.open("/compare?crawl=balloons&crawl=trains")
    rows = made.page.get_by_role("region", name="Figures").locator("tbody tr")
    expect(rows.nth(2)).to_have_text(f"Harvest after 0 pages{NONE}{NONE}")
    expect(made.page.get_by_role("region", name="Figures")).to_contain_text("One of these crawls has no page yet")


def test_what_cannot_be_shown_is_told_with_a_command(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        made = MadeDashboard(page, address)
        made.answers["/api/crawls/gone"] = Problem("There is no crawl here.", "scenthound dashboard DIR")
        made.open("/crawls/gone")
        expect(page.get_by_role("alert")).to_contain_text("There is no crawl here.")
        expect(page.get_by_role("alert").locator("code")).to_have_text("scenthound dashboard DIR")


def test_an_address_that_stands_for_no_text_is_told_as_that(made: MadeDashboard) -> None:
    made.open("/crawls/%E0%A4%A")
    expect(made.page.get_by_role("alert")).to_contain_text("There is no page at this address")
    expect(made.page.get_by_role("link", name="All crawls and experiments")).to_be_visible()


def test_an_empty_dashboard_says_how_to_begin_and_shows_what_comes(made: MadeDashboard) -> None:
    broken = folder("broken", kind="unreadable", problem=Problem(HOSTILE, "pip install --upgrade scenthound"))
    answers = [Folders("0", (folder("trains"), broken)), Folders("0", ())]
    made.answers["/api/folders"] = lambda: answers.pop() if len(answers) > 1 else answers[0]
    made.page.clock.install()
    made.open("/")
    expect(made.page.locator("main")).to_contain_text("scenthound crawl")
    made.page.clock.run_for(5_000)
    expect(made.page.get_by_role("link", name="trains")).to_have_attribute("href", "/crawls/trains")
    expect(made.page.locator(".card .kind").first).to_have_text(HOSTILE)
    expect(made.page.get_by_role("alert")).to_contain_text(HOSTILE)
