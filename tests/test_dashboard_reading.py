"""The dashboard's pages in Chromium as they are read: focus, headings, ways on and back, and what empty places say."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from made_dashboard import MadeDashboard, crawl, curves, folder, live, search, shipped_pages, status
from scenthound.ui.dashboard.responses import Folders, Pages, Problem, ReasonCount, TopHosts
from scenthound.ui.link_graph import CrawlGraph

EVENTS = "/api/crawls/balloons/events"
#: Of the headings that are not hidden: 1 for an h1 and so on.
_LEVELS = """() => [...document.querySelectorAll("h1, h2, h3, h4")].filter((head) => head.checkVisibility())
    .map((head) => [Number(head.tagName[1]), head.textContent])"""
_FOCUSED = "() => document.activeElement.getAttribute('href') ?? document.activeElement.tagName"
_COUNT_FOCUS = "() => { window.told = 0; addEventListener('focusin', () => window.told++); }"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with shipped_pages() as address:
        yield address


@pytest.fixture
def made(watched_page: Page, address: str) -> MadeDashboard:
    return MadeDashboard(watched_page, address)


def look_again(made: MadeDashboard, *names: str, pages: int) -> None:
    """Show other folders, and wait until they are there."""
    made.answers["/api/folders"] = Folders("0", tuple(folder(name, pages=pages) for name in names))
    made.page.clock.run_for(4_100)
    expect(made.page.locator(".card .figure").first).to_have_text(f"{pages} of 40 pages")


def test_who_is_on_a_card_by_keyboard_stays_there_while_crawls_run(made: MadeDashboard) -> None:
    made.page.clock.install()
    made.open("/")
    made.page.get_by_label("Compare balloons").check()
    made.page.get_by_role("link", name="trains").focus()
    made.page.evaluate(_COUNT_FOCUS)
    look_again(made, "balloons", "trains", pages=11)
    look_again(made, "alpacas", "balloons", "trains", pages=12)
    look_again(made, "alpacas", "trains", pages=13)
    # It was never left, so nothing was read out again.
    assert made.page.evaluate("[document.activeElement.getAttribute('href'), told]") == ["/crawls/trains", 0]
    look_again(made, "trains", "alpacas", pages=14)
    assert made.page.evaluate(_FOCUSED) == "/crawls/trains"


def test_a_tick_stays_while_its_crawl_goes_on(made: MadeDashboard) -> None:
    made.page.clock.install()
    made.open("/")
    box = made.page.get_by_label("Compare trains")
    box.check()
    look_again(made, "trains", "balloons", pages=11)
    look_again(made, "alpacas", "trains", pages=12)
    expect(box).to_be_checked()
    assert made.page.evaluate(_FOCUSED) == "INPUT"


def test_who_is_on_a_reason_by_keyboard_stays_there_when_others_come(made: MadeDashboard) -> None:
    made.answers[EVENTS] = None
    made.open("/crawls/balloons")
    made.release(live(crawl(), curves(10)))
    made.page.get_by_role("link", name="not HTML").focus()
    more = (ReasonCount("timeout", "too slow", 9), ReasonCount("not-html", "not HTML", 5))
    made.release(live(crawl(reasons=more), curves(10)))
    expect(made.page.locator(".reasons a")).to_have_text(["too slow", "not HTML"])
    assert made.page.evaluate(_FOCUSED) == "#reason=not-html"


def test_folders_of_one_name_are_told_apart_by_the_ends_of_their_paths(browser: Browser, address: str) -> None:
    before = "/home/somebody/with/a/long/path/that/no/phone/can/show/in/one/line/"
    paths = [f"{before}first/run", f"{before}second/run"]
    folders = [folder("run", id=str(n), kind="run", title="2 strategies", path=path) for n, path in enumerate(paths)]
    with watched(browser, viewport={"width": 390, "height": 844}) as page:
        made = MadeDashboard(page, address)
        made.answers["/api/folders"] = Folders("0", tuple(folders))
        made.open("/")
        for place, path in enumerate(paths):
            line = page.locator(".card .path").nth(place)
            expect(line).to_have_attribute("title", path)
            cut = line.evaluate("""(line) => {
                const [text, frame] = [line.firstChild, line].map((each) => each.getBoundingClientRect());
                return [text.left < frame.left, text.right <= frame.right + 1, line.scrollWidth > line.clientWidth];
            }""")
            assert cut == [True, True, True]


def test_a_short_path_begins_where_all_else_begins(made: MadeDashboard) -> None:
    made.open("/")
    line = made.page.locator(".card .path").first
    assert (
        line.evaluate("(line) => line.firstChild.getBoundingClientRect().left - line.getBoundingClientRect().left") < 1
    )
    expect(line).to_have_text("/data/balloons")


@pytest.mark.parametrize(
    "path", ["/", "/crawls/balloons", "/crawls/balloons/pages", "/compare?crawl=a&crawl=b", "/experiments/search"]
)
def test_no_level_of_headings_is_left_out_and_none_is_empty(made: MadeDashboard, path: str) -> None:
    made.open(path)
    made.page.locator("h1").wait_for()
    if path not in ("/", "/crawls/balloons/pages"):
        made.page.locator("#chart-harvest h3, #chart-fitness h3").wait_for()
    levels = made.page.evaluate(_LEVELS)
    assert levels[0][0] == 1
    assert all(text for _, text in levels)
    assert all(after - before <= 1 for (before, _), (after, _) in pairwise(levels)), levels
    for landmark in ("banner", "navigation", "main"):
        expect(made.page.get_by_role(landmark).first).to_be_visible()


def test_the_link_graph_has_a_heading(made: MadeDashboard) -> None:
    page = {"title": "a", "url": "http://a.test/", "visit": 0, "relevance": 0.5, "distance": 0, "parent": None}
    made.answers["/api/crawls/balloons/graph"] = {"nodes": [page], "links": [], "note": ""}
    made.open("/crawls/balloons")
    made.page.get_by_text("Link graph").click()
    expect(made.page.locator(".graph h3")).to_have_text("Pages and how they were found")


def test_a_recorded_web_is_offered_to_strategies_and_has_no_report(made: MadeDashboard) -> None:
    web = replace(search(), id="web", kind="web", path="/data/my web", search=None)
    made.answers["/api/experiments/web"] = web
    made.open("/experiments/web")
    command = "scenthound simulate --web '/data/my web' --topics FILE --strategy NAME --out DIR"
    expect(made.page.locator("main code")).to_have_text(command)
    expect(made.page.locator("main")).not_to_contain_text("report")


def test_reports_are_opened_apart_because_they_have_no_way_back(made: MadeDashboard) -> None:
    made.answers["/api/experiments/search"] = replace(search(), report="/report/search")
    for path, name in (("/crawls/balloons", "Report"), ("/experiments/search", "Open the report")):
        made.open(path)
        link = made.page.get_by_role("link", name=name)
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", "noopener")
        expect(link).to_have_attribute("title", "Opens in a new tab")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("-trains", "Name a word that must be there, too."),
        ('-"fast trains" -cars', "Name a word that must be there, too."),
        ("-\N{LEFT DOUBLE QUOTATION MARK}fast trains\N{RIGHT DOUBLE QUOTATION MARK} -", "Name a word"),
        ("-trains balloon", "No page found."),
        ("hot-air", "No page found."),
        ("--", "No page found."),
    ],
)
def test_a_search_that_names_nothing_wanted_says_why_it_finds_nothing(
    made: MadeDashboard, query: str, says: str
) -> None:
    made.answers["/api/crawls/balloons/pages"] = Pages((), None, 0, None)
    made.open("/crawls/balloons/pages")
    made.page.get_by_label("Search").fill(query)
    made.page.keyboard.press("Enter")
    expect(made.page.locator(".list-end")).to_contain_text(says)


def test_a_search_shows_its_own_order_and_gives_the_chosen_one_back(made: MadeDashboard) -> None:
    made.open("/crawls/balloons/pages?order=best")
    order, words = made.page.get_by_label("Order"), made.page.get_by_label("Search")
    shown = "(order) => order.selectedOptions[0].textContent"
    assert order.evaluate(shown) == "most relevant first"
    words.fill("balloon")
    expect(order).to_be_disabled()
    assert order.evaluate(shown) == "best match first"
    made.page.reload()
    expect(order).to_be_disabled()
    assert order.evaluate(shown) == "best match first"
    words.fill("")
    expect(order).to_be_enabled()
    assert order.evaluate(shown) == "most relevant first"
    assert made.page.url.endswith("/pages?order=best")
    assert not any("order=match" in path for path in made.asked)


def test_a_comparison_of_one_crawl_says_what_to_do_and_leads_back(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        made = MadeDashboard(page, address)
        made.answers["/api/compare"] = Problem("Choose 2 to 8 crawls to compare.")
        made.open("/compare?crawl=balloons")
        expect(page.get_by_role("alert")).to_have_text("Choose 2 to 8 crawls to compare.")
        expect(page.get_by_role("link", name="All crawls and experiments")).to_have_attribute("href", "/")


def test_a_crawl_that_is_looked_for_among_experiments_is_a_click_away(browser: Browser, address: str) -> None:
    with watched(browser, "404") as page:
        made = MadeDashboard(page, address)
        says = "/data/a b is no experiment: it is shown at /crawls/a b."
        made.answers["/api/experiments/a%20b"] = Problem(says)
        made.open("/experiments/a%20b")
        expect(page.get_by_role("alert")).to_have_text(says)
        expect(page.get_by_role("alert").get_by_role("link")).to_have_attribute("href", "/crawls/a%20b")


@pytest.mark.parametrize(("state", "says"), [("running", "No page yet."), ("ended", "It took no page.")])
def test_a_crawl_without_pages_says_whether_some_may_come(made: MadeDashboard, state: str, says: str) -> None:
    told = crawl(state=state, ended="Nothing was left.", status=status(n_pages=0))
    made.answers |= {
        "/api/crawls/balloons": told,
        EVENTS: live(told, curves()),
        "/api/crawls/balloons/hosts": TopHosts((), 0, 1.0),
        "/api/crawls/balloons/graph": CrawlGraph((), (), ""),
        "/api/crawls/balloons/pages": Pages((), None, 0, None),
    }
    made.open("/crawls/balloons")
    expect(made.page.locator(".latest .empty")).to_have_text(says)
    expect(made.page.get_by_role("region", name="Top hosts").locator(".empty")).to_have_text(says)
    made.page.get_by_text("Link graph").click()
    expect(made.page.locator(".graph .empty")).to_have_text(says)
    made.open("/crawls/balloons/pages")
    expect(made.page.locator(".list-end .empty")).to_have_text(says)


def test_a_crawl_that_is_over_tells_no_states_of_hosts(made: MadeDashboard) -> None:
    made.answers[EVENTS] = None
    made.open("/crawls/balloons")
    made.release(live(crawl(), curves(10)))
    asked = made.page.get_by_role("region", name="Recent hosts")
    expect(asked.locator("th")).to_have_text(["Host", "State", "Pages"])
    made.release(live(crawl(state="ended", ended="It is over."), curves(10)))
    expect(asked.locator("th")).to_have_text(["Host", "Pages"])
    expect(asked.locator("tr").nth(1).locator("td")).to_have_text(["b.test", "9"])
    expect(asked).to_contain_text("At the end of the last run.")
    expect(asked).not_to_contain_text("waiting")
