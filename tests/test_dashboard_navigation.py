"""The dashboard's pages in Chromium: focus, headings, links, and empty states."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from mock_dashboard import MockDashboard, crawl, curves, folder, live, search, served_pages, status
from scenthound.ui.dashboard.responses import Folders, Pages, Problem, ReasonCount, TopHosts
from scenthound.ui.link_graph import CrawlGraph

EVENTS = "/api/crawls/balloons/events"
#: The levels and texts of visible headings.
_LEVELS = """() => [...document.querySelectorAll("h1, h2, h3, h4")].filter((head) => head.checkVisibility())
    .map((head) => [Number(head.tagName[1]), head.textContent])"""
_FOCUSED = "() => document.activeElement.getAttribute('href') ?? document.activeElement.tagName"
_COUNT_FOCUS = "() => { window.nFocused = 0; addEventListener('focusin', () => window.nFocused++); }"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served_pages() as address:
        yield address


@pytest.fixture
def dashboard(watched_page: Page, address: str) -> MockDashboard:
    return MockDashboard(watched_page, address)


def refresh(dashboard: MockDashboard, *names: str, pages: int) -> None:
    """Change the folders, and wait until they are shown."""
    dashboard.responses["/api/folders"] = Folders("0", tuple(folder(name, pages=pages) for name in names))
    dashboard.page.clock.run_for(4_100)
    expect(dashboard.page.locator(".card .figure").first).to_have_text(f"{pages} of 40 pages")


def test_a_focused_card_keeps_the_focus_during_updates(dashboard: MockDashboard) -> None:
    dashboard.page.clock.install()
    dashboard.open("/")
    dashboard.page.get_by_label("Compare balloons").check()
    dashboard.page.get_by_role("link", name="trains").focus()
    dashboard.page.evaluate(_COUNT_FOCUS)
    refresh(dashboard, "balloons", "trains", pages=11)
    refresh(dashboard, "alpacas", "balloons", "trains", pages=12)
    refresh(dashboard, "alpacas", "trains", pages=13)
    # The focus never left it, so screen readers announce nothing.
    assert dashboard.page.evaluate("[document.activeElement.getAttribute('href'), nFocused]") == ["/crawls/trains", 0]
    refresh(dashboard, "trains", "alpacas", pages=14)
    assert dashboard.page.evaluate(_FOCUSED) == "/crawls/trains"


def test_a_selected_crawl_stays_selected_during_updates(dashboard: MockDashboard) -> None:
    dashboard.page.clock.install()
    dashboard.open("/")
    box = dashboard.page.get_by_label("Compare trains")
    box.check()
    refresh(dashboard, "trains", "balloons", pages=11)
    refresh(dashboard, "alpacas", "trains", pages=12)
    expect(box).to_be_checked()
    assert dashboard.page.evaluate(_FOCUSED) == "INPUT"


def test_a_focused_reason_keeps_the_focus_when_others_are_added(dashboard: MockDashboard) -> None:
    dashboard.responses[EVENTS] = None
    dashboard.open("/crawls/balloons")
    dashboard.release(live(crawl(), curves(10)))
    dashboard.page.get_by_role("link", name="not HTML").focus()
    more = (ReasonCount("timeout", "too slow", 9), ReasonCount("not-html", "not HTML", 5))
    dashboard.release(live(crawl(reasons=more), curves(10)))
    expect(dashboard.page.locator(".reasons a")).to_have_text(["too slow", "not HTML"])
    assert dashboard.page.evaluate(_FOCUSED) == "#reason=not-html"


def test_long_paths_are_cut_at_their_beginning(browser: Browser, address: str) -> None:
    before = "/home/somebody/with/a/long/path/that/no/phone/can/show/in/one/line/"
    paths = [f"{before}first/run", f"{before}second/run"]
    folders = [folder("run", id=str(n), kind="run", title="2 strategies", path=path) for n, path in enumerate(paths)]
    with watched(browser, viewport={"width": 390, "height": 844}) as page:
        dashboard = MockDashboard(page, address)
        dashboard.responses["/api/folders"] = Folders("0", tuple(folders))
        dashboard.open("/")
        for index, path in enumerate(paths):
            line = page.locator(".card .path").nth(index)
            expect(line).to_have_attribute("title", path)
            cut = line.evaluate("""(line) => {
                const [text, frame] = [line.firstChild, line].map((each) => each.getBoundingClientRect());
                return [text.left < frame.left, text.right <= frame.right + 1, line.scrollWidth > line.clientWidth];
            }""")
            assert cut == [True, True, True]


def test_a_short_path_is_left_aligned(dashboard: MockDashboard) -> None:
    dashboard.open("/")
    line = dashboard.page.locator(".card .path").first
    assert (
        line.evaluate("(line) => line.firstChild.getBoundingClientRect().left - line.getBoundingClientRect().left") < 1
    )
    expect(line).to_have_text("/data/balloons")


@pytest.mark.parametrize(
    "path", ["/", "/crawls/balloons", "/crawls/balloons/pages", "/compare?crawl=a&crawl=b", "/experiments/search"]
)
def test_heading_levels_have_no_gaps_and_no_heading_is_empty(dashboard: MockDashboard, path: str) -> None:
    dashboard.open(path)
    dashboard.page.locator("h1").wait_for()
    if path not in ("/", "/crawls/balloons/pages"):
        dashboard.page.locator("#chart-harvest h3, #chart-fitness h3").wait_for()
    levels = dashboard.page.evaluate(_LEVELS)
    assert levels[0][0] == 1
    assert all(text for _, text in levels)
    assert all(after - before <= 1 for (before, _), (after, _) in pairwise(levels)), levels
    for landmark in ("banner", "navigation", "main"):
        expect(dashboard.page.get_by_role(landmark).first).to_be_visible()


def test_the_link_graph_has_a_heading(dashboard: MockDashboard) -> None:
    page = {"title": "a", "url": "http://a.test/", "visit": 0, "relevance": 0.5, "distance": 0, "parent": None}
    dashboard.responses["/api/crawls/balloons/graph"] = {"nodes": [page], "links": [], "note": ""}
    dashboard.open("/crawls/balloons")
    dashboard.page.get_by_text("Link graph").click()
    expect(dashboard.page.locator(".graph h3")).to_have_text("Pages and how they were discovered")


def test_a_recorded_web_shows_a_command_and_no_report(dashboard: MockDashboard) -> None:
    web = replace(search(), id="web", kind="web", path="/data/my web", generations=None)
    dashboard.responses["/api/experiments/web"] = web
    dashboard.open("/experiments/web")
    command = "scenthound simulate --web '/data/my web' --topics FILE --strategy NAME --out DIR"
    expect(dashboard.page.locator("main code")).to_have_text(command)
    expect(dashboard.page.locator("main")).not_to_contain_text("report")


def test_reports_open_in_a_new_tab(dashboard: MockDashboard) -> None:
    dashboard.responses["/api/experiments/search"] = replace(search(), report="/report/search")
    for path, name in (("/crawls/balloons", "Report"), ("/experiments/search", "Open the report")):
        dashboard.open(path)
        link = dashboard.page.get_by_role("link", name=name)
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", "noopener")
        expect(link).to_have_attribute("title", "Opens in a new tab")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("-trains", "Add a word"),
        ('-"fast trains" -cars', "Add a word"),
        ("-\N{LEFT DOUBLE QUOTATION MARK}fast trains\N{RIGHT DOUBLE QUOTATION MARK} -", "Add a word"),
        ("-trains balloon", "No pages found."),
        ("hot-air", "No pages found."),
        ("--", "No pages found."),
    ],
)
def test_a_search_with_only_excluded_words_explains_the_empty_result(
    dashboard: MockDashboard, query: str, message: str
) -> None:
    dashboard.responses["/api/crawls/balloons/pages"] = Pages((), None, 0, None)
    dashboard.open("/crawls/balloons/pages")
    dashboard.page.get_by_label("Search").fill(query)
    dashboard.page.keyboard.press("Enter")
    expect(dashboard.page.locator(".list-end")).to_contain_text(message)


def test_a_search_is_ordered_by_match_and_restores_the_selected_order(dashboard: MockDashboard) -> None:
    dashboard.open("/crawls/balloons/pages?order=best")
    order, words = dashboard.page.get_by_label("Order"), dashboard.page.get_by_label("Search")
    shown = "(order) => order.value"
    assert order.evaluate(shown) == "best"
    words.fill("balloon")
    expect(order).to_be_disabled()
    assert order.evaluate(shown) == "match"
    dashboard.page.reload()
    expect(order).to_be_disabled()
    assert order.evaluate(shown) == "match"
    words.fill("")
    expect(order).to_be_enabled()
    assert order.evaluate(shown) == "best"
    assert dashboard.page.url.endswith("/pages?order=best")
    assert not any("order=match" in path for path in dashboard.requests)


def test_a_comparison_of_one_crawl_shows_the_problem_and_a_link_home(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        dashboard = MockDashboard(page, address)
        dashboard.responses["/api/compare"] = Problem("Choose 2 to 8 crawls to compare.")
        dashboard.open("/compare?crawl=balloons")
        expect(page.get_by_role("alert")).to_have_text("Choose 2 to 8 crawls to compare.")
        expect(page.get_by_role("link", name="All crawls and experiments")).to_have_attribute("href", "/")


def test_the_message_about_a_crawl_requested_as_experiment_has_a_link(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        dashboard = MockDashboard(page, address)
        message = "/data/a b is not an experiment: it is shown at /crawls/a b."
        dashboard.responses["/api/experiments/a%20b"] = Problem(message)
        dashboard.open("/experiments/a%20b")
        expect(page.get_by_role("alert")).to_have_text(message)
        expect(page.get_by_role("alert").get_by_role("link")).to_have_attribute("href", "/crawls/a%20b")


def test_a_crawl_without_pages_says_so_and_whether_it_may_get_some(dashboard: MockDashboard) -> None:
    assert message_without_pages(dashboard, "running") != message_without_pages(dashboard, "ended")


def message_without_pages(dashboard: MockDashboard, state: str) -> str:
    """What is shown, everywhere alike, instead of pages."""
    empty = crawl(state=state, ended="Nothing was left.", status=status(n_pages=0))
    dashboard.responses |= {
        "/api/crawls/balloons": empty,
        EVENTS: live(empty, curves()),
        "/api/crawls/balloons/hosts": TopHosts((), 0),
        "/api/crawls/balloons/graph": CrawlGraph((), (), ""),
        "/api/crawls/balloons/pages": Pages((), None, 0, None),
    }
    dashboard.open("/crawls/balloons")
    expect(dashboard.page.locator(".latest .empty")).not_to_be_empty()
    message = dashboard.page.locator(".latest .empty").inner_text()
    expect(dashboard.page.get_by_role("region", name="Top hosts").locator(".empty")).to_have_text(message)
    dashboard.page.get_by_text("Link graph").click()
    expect(dashboard.page.locator(".graph .empty")).to_have_text(message)
    dashboard.open("/crawls/balloons/pages")
    expect(dashboard.page.locator(".list-end .empty")).to_have_text(message)
    return message


def test_an_ended_crawl_shows_no_host_states(dashboard: MockDashboard) -> None:
    dashboard.responses[EVENTS] = None
    dashboard.open("/crawls/balloons")
    dashboard.release(live(crawl(), curves(10)))
    recent = dashboard.page.get_by_role("region", name="Recent hosts")
    expect(recent.locator("th")).to_have_text(["Host", "State", "Pages"])
    dashboard.release(live(crawl(state="ended", ended="It is over."), curves(10)))
    expect(recent.locator("th")).to_have_text(["Host", "Pages"])
    expect(recent.locator("tr").nth(1).locator("td")).to_have_text(["b.test", "9"])
    expect(recent.locator(".note")).not_to_be_empty()
    expect(recent).not_to_contain_text("waiting")
