"""A page in a browser: it draws itself, answers to mouse, touch and keyboard, and reads well wherever it is opened."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator
from playwright.sync_api import Page as Tab

from browsers import Watch, watched
from scenthound.report.page.html import content_security_policy, page_html
from scenthound.report.page.values import (
    Block,
    Cell,
    Chart,
    Facts,
    GraphNode,
    LinkGraph,
    Mark,
    Page,
    Prose,
    Section,
    Series,
    TableBlock,
    Verbatim,
    WinLoss,
)

OpenPage = Callable[..., AbstractContextManager[Tab]]
HOSTILE = "<img src=x onerror=document.title='broken'></script><script>document.title='broken'</script>"
LONG = "averylongword" * 12
HOSTS = ("one.example", "two.example", f"{LONG}.example")
X = np.arange(0.0, 101.0, 10.0)


def curves() -> Chart:
    """Three curves that can be worked out: at x = 50 they are 0.5, 0.25 and unknown."""
    gap = np.where((X > 30) & (X < 70), np.nan, 0.9)
    series = (
        Series("rising", X, X / 100, np.full(11, 0.05)),
        Series("half", X, X / 200),
        Series("gap", X, gap),
        Series(HOSTILE, X, np.full(11, 0.1), hidden=True),
    )
    return Chart("curves", "How it went", "pages", "share", series, marks=(Mark(50.0, "trained anew"),), note="A note.")


def all_above_zero() -> Chart:
    return Chart("above", "All above zero", "pages", "pages a second", (Series("a", X, 10.0 ** (X / 50)),))


def bars(name: str, places: tuple[str, ...]) -> Chart:
    values = np.array([30.0, 20.0, 10.0])
    both = (Series("relevant", np.arange(3.0), values, values / 10), Series("others", np.arange(3.0), values[::-1]))
    return Chart(name, f"Pages by {name}", name, "pages", both, "bars", places)


def table() -> TableBlock:
    rows = (("b", "10.5 ± 1", "2 min", 120.0), ("a", "9", "1 h", 3600.0), ("c", "1,200", "5 s", 5.0))
    cells = tuple(
        (Cell(name, link=f"https://{name}.example/"), Cell(pages, mark="*"), Cell(time, value=seconds))
        for name, pages, time, seconds in rows
    )
    return TableBlock("table", "Hosts", ("host", "pages", "time"), cells, note="* is a mark.")


def grid() -> WinLoss:
    """Three crawlers, 60 topics: the one of place r differs by (r + 1) / 10, for better where a topic's number is
    even."""
    signs = np.where(np.arange(60) % 2 == 0, 1.0, -1.0)
    topics = tuple(f"topic {place}" for place in range(60))
    return WinLoss("grid", "By topic", "best", ("one", "two", "three"), topics, np.outer([0.1, 0.2, 0.3], signs))


def graph(n_nodes: int = 400) -> LinkGraph:
    """A tree of threes, four links deep and more."""
    nodes: list[GraphNode] = []
    for place in range(n_nodes):
        parent = None if place == 0 else (place - 1) // 3
        distance = 0 if parent is None else nodes[parent].distance + 1
        url = "javascript:alert(1)" if place == 1 else f"https://example.org/{place}"
        nodes.append(GraphNode(f"{HOSTILE} {place}", url, place + 1, (place % 11) / 10, distance, parent))
    return LinkGraph("graph", "Links of the crawl", tuple(nodes), ((0, 5), (5, 9)), note="The first pages.")


def whole_page() -> Page:
    sections = (
        Section("Curves", (curves(), all_above_zero())),
        Section("Bars", (bars("distance", ("0", "1", "2")), bars("host", HOSTS))),
        Section("Tables", (table(), grid())),
        Section("Links", (graph(),)),
        Section("Settings", (Facts(((LONG, LONG),)), Verbatim(LONG, LONG), Prose((LONG,))), folded=True),
    )
    return Page("crawl", f"A crawl of {HOSTILE}", ("It went well.", LONG), sections, (("pages", "10,000"),) * 5)


@pytest.fixture(scope="module")
def shared_tab(browser: Browser) -> Iterator[Tab]:
    """One for all tests that want nothing special: it takes time to open another."""
    with watched(browser) as tab:
        yield tab


@pytest.fixture
def open_page(browser: Browser, shared_tab: Tab, tmp_path: Path) -> OpenPage:
    """Opens a page of some blocks, or one that has everything. It may complain of nothing."""

    @contextmanager
    def opened(*blocks: Block, **options: object) -> Iterator[Tab]:
        page = Page("crawl", "A crawl", (), (Section("Part", blocks),)) if blocks else whole_page()
        file = tmp_path / "report.html"
        file.write_text(page_html(page), encoding="utf-8")
        with watched(browser, **options) if options else nullcontext(shared_tab) as tab:
            watch = Watch()
            watch.over(tab)
            tab.goto(file.as_uri())
            yield tab
            assert watch.complaints == []

    return opened


def point_at(tab: Tab, drawing: Locator, right: float, down: float = 0.5) -> None:
    """Move the mouse to a place of a drawing, in shares of its sides."""
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + right * box["width"], box["y"] + down * box["height"])


def floating(tab: Tab, figure: str) -> str:
    return tab.locator(f"{figure} .floating:visible").inner_text()


def numbers_along(tab: Tab, figure: str) -> list[str]:
    return tab.locator(f"{figure} .axes .number").all_text_contents()


def test_a_page_draws_all_its_figures_and_runs_nothing_from_outside(open_page, screenshots):
    with open_page() as tab:
        assert tab.locator("figure .drawing").count() == 5
        assert tab.title().startswith("A crawl of <img")
        tab.screenshot(path=screenshots / "report-light.png", full_page=True)


def test_a_gap_is_drawn_as_a_gap(open_page):
    with open_page(curves()) as tab:
        paths = tab.locator("#curves svg.drawing .line.hue-2")
        assert paths.count() == 2
        assert tab.locator("#curves svg.drawing .line.hue-0").count() == 1


def test_pointing_at_a_chart_tells_the_values_of_all_shown_curves_there(open_page, screenshots):
    with open_page(curves()) as tab:
        drawing = tab.locator("#curves .drawing")
        point_at(tab, drawing, 0.52)
        told = floating(tab, "#curves").split()
        assert told == ["pages:", "50", "rising", "0.5", "±", "0.05", "half", "0.25", "trained", "anew"]
        drawing.screenshot(path=screenshots / "report-hover.png")
        tab.mouse.move(0, 0)
        assert not tab.locator("#curves .floating").is_visible()


def test_a_chart_can_be_read_by_keyboard(open_page):
    with open_page(curves()) as tab:
        tab.locator("#curves .drawing").focus()
        tab.keyboard.press("ArrowRight")
        tab.keyboard.press("ArrowRight")
        assert floating(tab, "#curves").startswith("pages: 10")
        assert "rising: 0.1 ± 0.05" in tab.locator("#curves [aria-live]").inner_text()
        tab.keyboard.press("End")
        assert floating(tab, "#curves").startswith("pages: 100")
        tab.keyboard.press("Escape")
        assert not tab.locator("#curves .floating").is_visible()


def test_a_chart_can_be_read_by_touch(open_page):
    with open_page(curves(), has_touch=True, viewport={"width": 390, "height": 800}) as tab:
        tab.locator("#curves .drawing").tap(position={"x": 20, "y": 100})
        assert floating(tab, "#curves").startswith("pages: 0")


def test_a_curve_is_hidden_and_shown_by_its_name(open_page):
    with open_page(curves()) as tab:
        entry = tab.get_by_role("button", name="rising")
        entry.click()
        assert entry.get_attribute("aria-pressed") == "false"
        assert tab.locator("#curves svg.drawing .hue-0").count() == 0
        entry.press("Enter")
        assert tab.locator("#curves svg.drawing .line.hue-0").count() == 1
        assert tab.locator("#curves .legend button[aria-pressed=false]").inner_text() == HOSTILE


def test_with_all_curves_hidden_the_chart_says_so(open_page):
    with open_page(curves()) as tab:
        for name in ("rising", "half", "gap"):
            tab.locator("#curves .legend button", has_text=name).click()
        assert "All are hidden" in (tab.locator("#curves .drawing").text_content() or "")


def test_axes_become_logarithmic_where_they_can(open_page, screenshots):
    with open_page(all_above_zero()) as tab:
        # The curve goes from 1 to 100.
        assert numbers_along(tab, "#above")[:6] == ["0", "20", "40", "60", "80", "100"]
        tab.locator("#above").get_by_role("button", name="log y").click()
        assert numbers_along(tab, "#above")[:7] == ["1", "2", "5", "10", "20", "50", "100"]
        tab.locator("#above").get_by_role("button", name="log x").click()
        assert tab.locator("#above .label").all_text_contents() == ["pages a second (log)", "pages (log)"]
        tab.locator("#above").screenshot(path=screenshots / "report-log.png")


def test_an_axis_that_cannot_be_logarithmic_says_why(open_page):
    with open_page(curves()) as tab:
        button = tab.locator("#curves").get_by_role("button", name="log y")
        button.click(force=True)
        assert button.get_attribute("aria-pressed") == "false"
        assert "needs values above 0" in tab.locator("#curves .reason").inner_text()
        for name in ("rising", "half"):
            tab.locator("#curves .legend button", has_text=name).click()
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert tab.locator("#curves .reason").inner_text() == ""


def test_bars_lie_down_where_their_names_are_long(open_page):
    with open_page(bars("distance", ("0", "1", "2")), bars("host", HOSTS)) as tab:
        sides = {name: tab.locator(f"#{name} .bar").nth(2).bounding_box() for name in ("distance", "host")}
        assert sides["distance"]["height"] > sides["distance"]["width"]
        assert sides["host"]["width"] > sides["host"]["height"]
        point_at(tab, tab.locator("#host .drawing"), 0.5, 0.2)
        assert floating(tab, "#host").split() == ["one.example", "relevant", "30", "±", "3", "others", "10"]
        point_at(tab, tab.locator("#distance .drawing"), 0.9)
        assert floating(tab, "#distance").split() == ["2", "others", "30", "relevant", "10", "±", "1"]


def column(tab: Tab, number: int) -> list[str]:
    return [text.strip("*\n") for text in tab.locator(f"#table tbody tr > :nth-child({number})").all_inner_texts()]


def test_a_table_is_sorted_by_words_numbers_and_given_values(open_page):
    with open_page(table()) as tab:
        heads = tab.locator("#table th[scope=col]")
        heads.nth(1).get_by_role("button").click()
        assert (column(tab, 2), heads.nth(1).get_attribute("aria-sort")) == (["1,200", "10.5 ± 1", "9"], "descending")
        heads.nth(1).get_by_role("button").click()
        assert (column(tab, 2), heads.nth(1).get_attribute("aria-sort")) == (["9", "10.5 ± 1", "1,200"], "ascending")
        heads.nth(1).get_by_role("button").click()
        assert (column(tab, 1), heads.nth(1).get_attribute("aria-sort")) == (["b", "a", "c"], "none")
        heads.nth(0).get_by_role("button").press("Enter")
        assert column(tab, 1) == ["a", "b", "c"]
        heads.nth(2).get_by_role("button").click()
        assert column(tab, 3) == ["1 h", "2 min", "5 s"]


def test_the_grid_tells_topic_and_difference(open_page, screenshots):
    with open_page(grid()) as tab:
        tab.locator("#grid tbody tr").nth(1).locator("td").nth(2).hover()
        assert floating(tab, "#grid").split("\n") == ["topic 2", "", "two: 0.2 better than best"]
        tab.locator("#grid .wide").focus()
        tab.keyboard.press("ArrowRight")
        tab.keyboard.press("ArrowDown")
        assert floating(tab, "#grid").split("\n") == ["topic 3", "", "three: 0.3 worse than best"]
        assert tab.locator("#grid [aria-live]").inner_text() == "topic 3. three: 0.3 worse than best"
        tab.locator("#grid").screenshot(path=screenshots / "report-topics.png")


def test_the_graph_tells_what_a_page_is_and_shows_its_way_and_links(open_page, screenshots):
    with open_page(graph(40)) as tab:
        drawing = tab.locator("#graph .drawing")
        point_at(tab, drawing, 0.5)
        facts = "relevance 0, visit 1, a seed; 1 link more to or from pages shown here"
        assert floating(tab, "#graph").split("\n") == [f"{HOSTILE} 0", "", "https://example.org/0", "", facts]
        assert tab.locator("#graph .other-link").count() == 1
        drawing.focus()
        for _ in range(5):
            tab.keyboard.press("ArrowRight")
        # The sixth page was found two links from the seed, and has two other links.
        assert "visit 6, 2 links from a seed; 2 links more" in tab.locator("#graph [aria-live]").inner_text()
        assert tab.locator("#graph .way").count() == 2
        assert tab.locator("#graph .other-link").count() == 2
        tab.locator("#graph").screenshot(path=screenshots / "report-graph.png")


def test_only_addresses_of_the_web_can_be_followed_from_the_graph(open_page):
    with open_page(graph(3)) as tab:
        tab.locator("#graph .drawing").focus()
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#graph .chosen-page a").get_attribute("href") == "https://example.org/0"
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#graph .chosen-page a").count() == 0
        assert f"{HOSTILE} 1" in tab.locator("#graph .chosen-page").inner_text()


def test_the_graph_is_coloured_by_distance_when_asked(open_page):
    with open_page(graph(40)) as tab:
        shades = "nodes => nodes.map(node => node.getAttribute('class'))"
        pages = tab.locator("#graph circle.page")
        before = pages.evaluate_all(shades)
        # Relevance goes from 0 to 1 in elevenths, in seven steps of colour.
        assert [before[place] for place in (0, 5, 10)] == ["page shade-0", "page shade-3", "page shade-6"]
        tab.locator("#graph").get_by_role("button", name="distance").click()
        after = pages.evaluate_all(shades)
        assert [after[place] for place in (0, 1, 4)] == ["page shade-6", "page shade-5", "page shade-4"]


def test_a_phone_shows_the_page_without_moving_it_sideways(open_page, screenshots):
    with open_page(viewport={"width": 390, "height": 844}) as tab:
        tab.locator("details summary").click()
        for width in (390, 320):
            tab.set_viewport_size({"width": width, "height": 844})
            assert tab.evaluate("document.documentElement.scrollWidth") == width
        tab.set_viewport_size({"width": 390, "height": 844})
        tab.screenshot(path=screenshots / "report-phone.png", full_page=True)


GROUND = "getComputedStyle(document.body).backgroundColor"
WHITE = "rgb(255, 255, 255)"


def test_the_page_is_dark_where_the_system_is_unless_the_reader_says_otherwise(open_page, screenshots):
    with open_page(color_scheme="dark") as tab:
        assert tab.evaluate(GROUND) != WHITE
        tab.screenshot(path=screenshots / "report-dark.png", full_page=True)
        tab.get_by_role("button", name="Light").click()
        assert tab.evaluate(GROUND) == WHITE
        tab.reload()
        assert tab.evaluate(GROUND) == WHITE
        tab.get_by_role("button", name="Auto").click()
        assert tab.evaluate(GROUND) != WHITE


def test_paper_is_white_has_no_buttons_and_shows_what_is_folded(open_page, screenshots):
    with open_page(color_scheme="dark") as tab:
        tab.emulate_media(media="print")
        assert tab.evaluate(GROUND) == WHITE
        assert not tab.locator(".switch:visible").count()
        assert tab.locator(".facts").is_visible()
        dashes = "node => getComputedStyle(node).strokeDasharray"
        assert tab.locator("#curves svg.drawing .line.hue-1").evaluate(dashes) != "none"
        tab.screenshot(path=screenshots / "report-print.png", full_page=True)


def test_without_scripts_figures_are_tables(open_page):
    with open_page(curves(), graph(40), java_script_enabled=False) as tab:
        assert tab.locator("#curves table").is_visible()
        assert tab.locator("#graph table tbody tr").count() == 20
        assert tab.locator("#curves .drawing").count() == 0


NEWER = """() => {
  const place = document.createElement("div");
  document.body.append(place);
  const series = (name, last) => ({name, x: [1, 2], y: [1, last], error: null, hidden: name === "late"});
  const chart = (...all) => ({name: "live", title: "Live", x_label: "x", y_label: "y", kind: "curves", places: [],
    marks: [], note: "", series: all});
  const handle = scenthound.drawChart(place, chart(series("a", 2), series("b", 3)));
  const button = (text) => [...place.querySelectorAll("button")].find((each) => each.textContent === text);
  button("a").click();
  button("log y").click();
  button("b").focus();
  handle.update(chart(series("a", 2), series("b", 40)));
  const focused = document.activeElement.textContent;
  handle.update(chart(series("a", 2), series("b", 50), series("late", 5)));
  const pressed = Object.fromEntries([...place.querySelectorAll("button")].map((each) =>
    [each.textContent, each.getAttribute("aria-pressed")]));
  return {pressed, focused, lines: place.querySelectorAll(".drawing .line").length,
    numbers: [...place.querySelectorAll(".drawing .number")].map((each) => each.textContent)};
}"""


def test_newer_data_keeps_what_the_reader_hid_and_the_axes(open_page):
    with open_page(table()) as tab:
        told = tab.evaluate(NEWER)
    assert told["pressed"] == {"a": "false", "b": "true", "late": "false", "log x": "false", "log y": "true"}
    assert (told["focused"], told["lines"]) == ("b", 1)
    assert "50" in told["numbers"]


def test_a_page_of_many_charts_is_there_within_a_second(browser, tmp_path):
    x = np.arange(1.0, 201.0)
    series = tuple(Series(f"crawler {place}", x, np.sqrt(x) * place, np.ones(200)) for place in range(15))
    charts = tuple(Chart(f"c{place}", f"Chart {place}", "pages", "share", series) for place in range(12))
    (tmp_path / "many.html").write_text(page_html(Page("run", "Many", (), (Section("All", charts),))))
    with watched(browser) as tab:
        tab.goto((tmp_path / "many.html").as_uri())
        assert tab.locator(".drawing .line").count() == 180
        ready_ms = tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    # A second on a machine of our own; others may be busy.
    assert ready_ms < 3000


def test_a_page_under_the_policy_of_a_server_works_as_well(browser):
    html = page_html(Page("crawl", "A crawl", (), (Section("Part", (curves(),)),)))
    with watched(browser) as tab:
        headers = {"content-security-policy": content_security_policy(html)}
        tab.route(
            "http://localhost/report", lambda route: route.fulfill(body=html, content_type="text/html", headers=headers)
        )
        tab.goto("http://localhost/report")
        assert tab.locator("figure .drawing").count() == 1
        tab.get_by_role("button", name="Dark").click()
        assert tab.evaluate(GROUND) != WHITE
        assert tab.evaluate("origin") == "null"
