"""A report in a browser: tables and graphs, on screens and on paper."""

from playwright.sync_api import Locator
from playwright.sync_api import Page as Tab

from browsers import watched
from made_study import made_claim, made_study
from report_pages import HOSTILE, curves, floating, graph, point_at, table
from scenthound.experiments.findings import Finding, Verdict
from scenthound.experiments.study.tables import Table
from scenthound.ui.document import Document, Section
from scenthound.ui.html import content_security_policy, document_html
from scenthound.ui.reports.study import study_report


def test_a_page_draws_all_figures_and_runs_no_hostile_text(open_page, screenshots):
    with open_page() as tab:
        assert tab.locator("figure .drawing").count() == 5
        assert tab.title().startswith("A crawl of <img")
        tab.screenshot(path=screenshots / "report-light.png", full_page=True)


def column(tab: Tab, number: int) -> list[str]:
    return [text.strip("*\n") for text in tab.locator(f"#table tbody tr > :nth-child({number})").all_inner_texts()]


def test_a_table_is_sorted_by_texts_and_numbers(open_page):
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
        assert column(tab, 3) == ["3,600 s", "120 s", "5 s"]


def test_the_graph_shows_title_path_and_links_of_a_page(open_page, screenshots):
    with open_page(graph(40)) as tab:
        drawing = tab.locator("#graph .drawing")
        point_at(tab, drawing, 0.5)
        facts = "relevance 0, visit 1, a seed; 1 link more to or from pages shown here"
        assert floating(tab, "#graph").split("\n") == [f"{HOSTILE} 0", "", "https://example.org/0", "", facts]
        assert tab.locator("#graph .other-link").count() == 1
        drawing.focus()
        for _ in range(5):
            tab.keyboard.press("ArrowRight")
        # The sixth page is two links from the seed, and has two other links.
        assert "visit 6, 2 links from a seed; 2 links more" in tab.locator("#graph [aria-live]").inner_text()
        assert tab.locator("#graph .drawing .path").count() == 2
        assert tab.locator("#graph .other-link").count() == 2
        tab.locator("#graph").screenshot(path=screenshots / "report-graph.png")


def test_only_web_urls_are_links_below_the_graph(open_page):
    with open_page(graph(3)) as tab:
        tab.locator("#graph .drawing").focus()
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#graph .selected-page a").get_attribute("href") == "https://example.org/0"
        tab.keyboard.press("ArrowRight")
        assert tab.locator("#graph .selected-page a").count() == 0
        assert f"{HOSTILE} 1" in tab.locator("#graph .selected-page").inner_text()


def test_the_graph_can_be_coloured_by_distance(open_page):
    with open_page(graph(40)) as tab:
        shades = "nodes => nodes.map(node => node.getAttribute('class'))"
        pages = tab.locator("#graph circle.page")
        before = pages.evaluate_all(shades)
        # Relevance goes from 0 to 1 in elevenths, in seven steps of colour.
        assert [before[index] for index in (0, 5, 10)] == ["page shade-0", "page shade-3", "page shade-6"]
        tab.locator("#graph").get_by_role("button", name="distance").click()
        after = pages.evaluate_all(shades)
        assert [after[index] for index in (0, 1, 4)] == ["page shade-6", "page shade-5", "page shade-4"]


def test_a_page_fits_a_phone(open_page, screenshots):
    with open_page(viewport={"width": 390, "height": 844}) as tab:
        tab.locator("details summary").click()
        for width in (390, 320):
            tab.set_viewport_size({"width": width, "height": 844})
            assert tab.evaluate("document.documentElement.scrollWidth") == width
        tab.set_viewport_size({"width": 390, "height": 844})
        tab.screenshot(path=screenshots / "report-phone.png", full_page=True)


GROUND = "getComputedStyle(document.body).backgroundColor"


WHITE = "rgb(255, 255, 255)"


def test_the_page_follows_the_system_colours_unless_the_reader_chooses(open_page, screenshots):
    with open_page(color_scheme="dark") as tab:
        assert tab.evaluate(GROUND) != WHITE
        tab.screenshot(path=screenshots / "report-dark.png", full_page=True)
        tab.get_by_role("button", name="Light").click()
        assert tab.evaluate(GROUND) == WHITE
        tab.reload()
        assert tab.evaluate(GROUND) == WHITE
        tab.get_by_role("button", name="Auto").click()
        assert tab.evaluate(GROUND) != WHITE


def test_paper_is_white_without_buttons_and_with_open_sections(open_page, screenshots):
    with open_page(color_scheme="dark") as tab:
        tab.emulate_media(media="print")
        assert tab.evaluate(GROUND) == WHITE
        assert not tab.locator(".switch:visible").count()
        assert tab.locator(".facts").is_visible()
        dashes = "node => getComputedStyle(node).strokeDasharray"
        assert tab.locator("#curves svg.drawing .line.hue-1").evaluate(dashes) != "none"
        tab.screenshot(path=screenshots / "report-print.png", full_page=True)


def test_claims_of_a_study_fit_on_paper(browser, tmp_path, screenshots):
    statement = "BFS256 covers more than all of the others do in the mean"
    claims = tuple(made_claim(f"{number}: {statement}", Verdict.NOT_REPRODUCED, -0.0012345) for number in range(3))
    wide = Table("end", "At the end", tuple("abcdefghijk"), (("Greedy", *["0.98765 ± 0.01234*"] * 10),), "Means.")
    study = made_study(findings=(Finding("H1", statement, "", claims),), tables=(wide,))
    (tmp_path / "study.html").write_text(document_html(study_report(study, tmp_path)))
    # What A4 has between its margins, in pixels of 1/96 inch.
    with watched(browser, viewport={"width": 688, "height": 900}) as tab:
        tab.goto((tmp_path / "study.html").as_uri())
        tab.emulate_media(media="print")
        assert tab.evaluate("document.documentElement.scrollWidth") == 688
        rows = tab.locator("#claims tbody tr:not(.group)")
        assert rows.count() == 3
        # Sentences have two inches, so the row takes few lines.
        assert all(box["width"] > 190 for box in map(Locator.bounding_box, rows.locator("td:first-child").all()))
        assert all(box["height"] < 60 for box in map(Locator.bounding_box, rows.all()))
        tab.screenshot(path=screenshots / "report-study-print.png", full_page=True)


def test_without_scripts_figures_are_tables(open_page):
    with open_page(curves(), graph(40), java_script_enabled=False) as tab:
        assert tab.locator("#curves table").is_visible()
        assert tab.locator("#graph table tbody tr").count() == 20
        assert tab.locator("#curves .drawing").count() == 0


def test_a_page_works_under_the_policy_of_a_server(browser):
    html = document_html(Document("crawl", "A crawl", (), (Section("Part", (curves(),)),)))
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
