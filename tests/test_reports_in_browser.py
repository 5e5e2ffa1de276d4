"""Reports in Chromium, opened as files without network."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from dashboard_pages import assert_nothing_was_run, fits
from dashboard_site import HOSTILE_NAME, HOSTILE_TITLES, hostile_site, running
from made_study import made_study
from ring_web import simulated, topic
from scenthound.experiments.evaluate import chosen_metrics, evaluate, write_evaluation
from scenthound.experiments.runs import RunFolder
from scenthound.topics.files import write_topics
from scenthound.ui.html import document_html
from scenthound.ui.reports import report_html
from scenthound.ui.reports.study import study_report
from timing import WAIT_S

KINDS = ("crawl", "run", "comparison", "study")
MAX_BYTES = 500_000
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
#: Charts that have values have lines or bars, graphs have dots.
UNDRAWN = """() => [...document.querySelectorAll("figure.chart, figure.graph")]
    .filter((figure) => !figure.querySelector("svg path, svg rect, svg circle, svg line")).map((figure) => figure.id)"""

#: Counts collapsed sections when the page is printed.
COUNT_COLLAPSED = """() => addEventListener("beforeprint", () => {
    window.nCollapsed = document.querySelectorAll("details:not([open])").length;
})"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, web_path: Path) -> dict[str, Path]:
    """A report of each kind, by its kind."""
    folder = tmp_path_factory.mktemp("reports")
    topics = folder / "topics.jsonl"
    write_topics(topics, [topic("balloon"), topic("train")])
    compared = ("--web", web_path, "--topics", topics, "--relevance", "cosine", "--pages", 20, "--topics-max", 2)
    strategies = ("--strategy", "best_first", "--strategy", "breadth_first", "--out", folder / "comparison")
    crawled, first_come = folder / HOSTILE_NAME, ("--strategy", "breadth_first")
    with (
        hostile_site(folder) as site,
        running(folder / "crawl output", *site.crawl(crawled, "--pages", 60, "--delay", 0, *first_come)) as crawl,
        running(folder / "compare output", "compare", *compared, *strategies) as compare,
    ):
        simulated(web_path, topics, folder / "run")
        metrics, _ = chosen_metrics()
        write_evaluation(evaluate(RunFolder.open(folder / "run"), metrics), folder / "run")
        assert (crawl.wait(WAIT_S), compare.wait(WAIT_S)) == (0, 0), (folder / "compare output").read_text()
    study = document_html(study_report(made_study(), folder / "study"))
    texts = {"crawl": report_html(crawled), "run": report_html(folder / "run"), "study": study}
    texts["comparison"] = (folder / "comparison" / "report.html").read_text()
    return {kind: _written(folder / f"{kind}.html", text) for kind, text in texts.items()}


def _written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_complete_in_one_file(
    browser: Browser, reports: dict[str, Path], screenshots: Path, kind: str
) -> None:
    requests: list[str] = []
    with watched(browser) as page:
        page.on("request", lambda request: requests.append(request.url))
        page.goto(reports[kind].as_uri())
        expect(page.locator("h1")).not_to_be_empty()
        expect(page.locator("main p").first).to_be_in_viewport()
        assert page.evaluate(UNDRAWN) == []
        assert page.locator("figure.chart").count() >= 1
        page.screenshot(path=screenshots / f"report-{kind}.png", full_page=True)
    assert requests == [reports[kind].as_uri()]
    assert reports[kind].stat().st_size < MAX_BYTES


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_fits_a_phone_in_dark_mode(
    browser: Browser, reports: dict[str, Path], screenshots: Path, kind: str
) -> None:
    with watched(browser, color_scheme="dark", **PHONE) as page:
        page.goto(reports[kind].as_uri())
        assert fits(page)
        page.screenshot(path=screenshots / f"report-{kind}-phone-dark.png", full_page=True)


@pytest.mark.parametrize("kind", ["crawl", "run"])
def test_a_report_is_readable_without_scripts(browser: Browser, reports: dict[str, Path], kind: str) -> None:
    with watched(browser, "Content Security Policy", java_script_enabled=False) as page:
        page.goto(reports[kind].as_uri())
        expect(page.locator("figure.chart table").first).to_be_visible()


@pytest.mark.parametrize("kind", ["crawl", "comparison"])
def test_a_printed_report_is_complete_and_has_no_buttons(
    browser: Browser, reports: dict[str, Path], screenshots: Path, kind: str
) -> None:
    with watched(browser) as page:
        page.goto(reports[kind].as_uri())
        page.evaluate(COUNT_COLLAPSED)
        (screenshots / f"report-{kind}.pdf").write_bytes(page.pdf(format="A4"))
        assert page.evaluate("window.nCollapsed") == 0
        page.emulate_media(media="print")
        for text in ("log x", "log y", "dark"):
            assert page.get_by_role("button", name=text, exact=True).filter(visible=True).count() == 0


def test_hostile_titles_are_harmless_in_a_report(watched_page: Page, reports: dict[str, Path]) -> None:
    watched_page.goto(reports["crawl"].as_uri())
    # Which of them are among the best and the latest pages depends on how fast the hosts were.
    shown = [title for title in HOSTILE_TITLES[:4] if watched_page.get_by_text(title).count()]
    assert len(shown) >= 2
    for link in watched_page.locator("main a[href^=http]").all()[:5]:
        assert link.get_attribute("rel") == "noopener noreferrer"
    assert_nothing_was_run(watched_page)


def test_pointing_at_a_chart_shows_values(watched_page: Page, reports: dict[str, Path]) -> None:
    watched_page.goto(reports["run"].as_uri())
    chart = watched_page.locator("figure.chart").first
    before = chart.inner_text()
    chart.locator("svg.drawing").hover()
    wait = "([before, chart]) => chart.innerText !== before"
    watched_page.wait_for_function(wait, arg=[before, chart.element_handle()])
    assert "best_first" in chart.inner_text()
