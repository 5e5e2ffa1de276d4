"""Charts of a report in a browser: drawing, and reading values by mouse, touch and keyboard."""

import re

import numpy as np

from browsers import watched
from report_pages import HOSTILE, HOSTS, X, all_above_zero, axis_numbers, bars, curves, floating, point_at, table
from scenthound.ui.document import Chart, Document, Section, Series
from scenthound.ui.html import document_html


def test_a_gap_is_drawn_as_a_gap(open_page):
    with open_page(curves()) as tab:
        paths = tab.locator("#curves svg.drawing .line.hue-2")
        assert paths.count() == 2
        assert tab.locator("#curves svg.drawing .line.hue-0").count() == 1


def test_pointing_at_a_chart_shows_the_values_of_all_visible_curves(open_page, screenshots):
    with open_page(curves()) as tab:
        drawing = tab.locator("#curves .drawing")
        point_at(tab, drawing, 0.52)
        words = floating(tab, "#curves").split()
        assert words == ["pages:", "50", "rising", "0.5", "±", "0.05", "half", "0.25", "model", "retrained"]
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


def test_a_curve_is_hidden_and_shown_by_its_legend_entry(open_page):
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
        assert tab.locator("#curves .drawing .empty").text_content()
        assert tab.locator("#curves .visible-count").inner_text().startswith("0 of 4 ")


def test_axes_can_be_logarithmic(open_page, screenshots):
    with open_page(all_above_zero()) as tab:
        # The curve goes from 1 to 100.
        assert axis_numbers(tab, "#above")[:6] == ["0", "20", "40", "60", "80", "100"]
        tab.locator("#above").get_by_role("button", name="log y").click()
        assert axis_numbers(tab, "#above")[:7] == ["1", "2", "5", "10", "20", "50", "100"]
        tab.locator("#above").get_by_role("button", name="log x").click()
        assert tab.locator("#above .label").all_text_contents() == ["pages per second (log)", "pages (log)"]
        tab.locator("#above").screenshot(path=screenshots / "report-log.png")


def test_integer_values_have_integer_ticks(open_page):
    few = np.array([0.0, 1.0, 1.0])
    counts = Chart("counts", "Hosts", "generation", "hosts", (Series("hosts", np.arange(3.0), few),))
    shares = Chart("shares", "Shares", "seconds", "share", (Series("a", np.array([0.0, 0.5, 1.0]), few / 2),))
    categories = ("0", "1", "2")
    vertical = Chart("vertical", "Pages", "links", "pages", (Series("a", np.arange(3.0), few),), "bars", categories)
    horizontal = Chart("horizontal", "Pages", "host", "pages", (Series("a", np.arange(3.0), few),), "bars", HOSTS)
    with open_page(counts, shares, vertical, horizontal) as tab:
        assert axis_numbers(tab, "#counts") == ["0", "1", "0", "1", "2"]
        assert axis_numbers(tab, "#shares")[:4] == ["0", "0.1", "0.2", "0.3"]
        assert "0.5" in axis_numbers(tab, "#shares")[6:]
        assert axis_numbers(tab, "#vertical") == ["0", "1"]
        assert axis_numbers(tab, "#horizontal") == ["0", "1"]


DASHES = "nodes => nodes.map((node) => getComputedStyle(node).strokeDasharray)"
COLOURS = "nodes => nodes.map((node) => getComputedStyle(node).stroke)"


def test_curves_differ_in_dashes_in_drawing_legend_and_tooltip(open_page, screenshots):
    series = tuple(Series(f"crawler {number}", X, X * (16 - number)) for number in range(16))
    with open_page(Chart("many", "Many", "pages", "share", series)) as tab:
        drawn = tab.locator("#many svg.drawing .line")
        dashes = drawn.evaluate_all(DASHES)
        assert dashes[0] == "none"
        assert (len(set(dashes[:8])), len(set(dashes[8:]))) == (8, 8)
        assert len(set(zip(drawn.evaluate_all(COLOURS), dashes, strict=True))) == 16
        assert tab.locator("#many .legend .line").evaluate_all(DASHES) == dashes
        point_at(tab, tab.locator("#many .drawing"), 0.9)
        # The highest value is first, and the first series is the highest.
        assert tab.locator("#many .floating .line").evaluate_all(DASHES) == dashes
        tab.locator("#many").screenshot(path=screenshots / "report-many-curves.png")


def test_a_chart_says_how_many_series_are_shown(open_page):
    with open_page(curves(), all_above_zero()) as tab:
        count = tab.locator("#curves .visible-count")
        assert count.inner_text().startswith("3 of 4 ")
        assert count.locator(".on-screen").is_visible()
        assert not tab.locator("#above .visible-count").is_visible()
        tab.emulate_media(media="print")
        assert count.inner_text().startswith("3 of 4 ")
        assert not count.locator(".on-screen").is_visible()
        tab.emulate_media(media="screen")


def test_a_logarithmic_axis_that_is_not_possible_is_explained(open_page):
    with open_page(curves()) as tab:
        button = tab.locator("#curves").get_by_role("button", name="log y")
        button.click(force=True)
        assert button.get_attribute("aria-pressed") == "false"
        reason = tab.locator("#curves .reason").inner_text()
        assert re.search(r"\b0\b", reason)
        assert button.get_attribute("title") == reason
        for name in ("rising", "half"):
            tab.locator("#curves .legend button", has_text=name).click()
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert tab.locator("#curves .reason").inner_text() == ""


def test_bars_with_long_names_are_horizontal(open_page):
    with open_page(bars("distance", ("0", "1", "2")), bars("host", HOSTS)) as tab:
        sides = {name: tab.locator(f"#{name} .bar").nth(2).bounding_box() for name in ("distance", "host")}
        assert sides["distance"]["height"] > sides["distance"]["width"]
        assert sides["host"]["width"] > sides["host"]["height"]
        point_at(tab, tab.locator("#host .drawing"), 0.5, 0.2)
        assert floating(tab, "#host").split() == ["one.example", "relevant", "30", "±", "3", "others", "10"]
        point_at(tab, tab.locator("#distance .drawing"), 0.9)
        assert floating(tab, "#distance").split() == ["2", "others", "30", "relevant", "10", "±", "1"]


NEWER = """() => {
  const container = document.createElement("div");
  document.body.append(container);
  const series = (name, last) => ({name, x: [1, 2], y: [1, last], error: null, hidden: name === "late"});
  const chart = (...all) => ({name: "live", title: "Live", x_label: "x", y_label: "y", kind: "curves", categories: [],
    markers: [], note: "", series: all});
  const handle = scenthound.drawChart(container, chart(series("a", 2), series("b", 3)));
  const button = (text) => [...container.querySelectorAll("button")].find((each) => each.textContent === text);
  button("a").click();
  button("log y").click();
  button("b").focus();
  handle.update(chart(series("a", 2), series("b", 40)));
  const focused = document.activeElement.textContent;
  handle.update(chart(series("a", 2), series("b", 50), series("late", 5)));
  const pressed = Object.fromEntries([...container.querySelectorAll("button")].map((each) =>
    [each.textContent, each.getAttribute("aria-pressed")]));
  return {pressed, focused, lines: container.querySelectorAll(".drawing .line").length,
    numbers: [...container.querySelectorAll(".drawing .number")].map((each) => each.textContent)};
}"""


def test_an_update_keeps_hidden_series_and_axes(open_page):
    with open_page(table()) as tab:
        state = tab.evaluate(NEWER)
    assert state["pressed"] == {"a": "false", "b": "true", "late": "false", "log x": "false", "log y": "true"}
    assert (state["focused"], state["lines"]) == ("b", 1)
    assert "50" in state["numbers"]


def test_a_page_with_many_charts_loads_within_a_second(browser, tmp_path):
    x = np.arange(1.0, 201.0)
    series = tuple(Series(f"crawler {number}", x, np.sqrt(x) * number, np.ones(200)) for number in range(15))
    charts = tuple(Chart(f"c{number}", f"Chart {number}", "pages", "share", series) for number in range(12))
    (tmp_path / "many.html").write_text(document_html(Document("run", "Many", (), (Section("All", charts),))))
    with watched(browser) as tab:
        tab.goto((tmp_path / "many.html").as_uri())
        assert tab.locator(".drawing .line").count() == 180
        ready_ms = tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    # Busy machines are slower.
    assert ready_ms < 3000
