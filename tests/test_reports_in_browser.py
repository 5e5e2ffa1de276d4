"""Reports in Chromium, as somebody gets them who is sent one: a file, opened without network, on whatever screen."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from dashboard_pages import fits, nothing_was_run
from dashboard_site import HOSTILE_NAME, HOSTILE_TITLES, hostile_site, running
from made_study import made_study
from ring_web import simulated, topic
from scenthound.topics.files import write_topics
from scenthound.ui.html import document_html
from scenthound.ui.reports import report_html
from scenthound.ui.reports.study import study_report
from timing import WAIT_S

KINDS = ("crawl", "run", "comparison", "study")
#: One file to be sent around: a picture of a camera is larger.
MOST_BYTES = 500_000
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
#: Charts that have values have lines or bars, graphs have dots.
UNDRAWN = """() => [...document.querySelectorAll("figure.chart, figure.graph")]
    .filter((figure) => !figure.querySelector("svg path, svg rect, svg circle, svg line")).map((figure) => figure.id)"""

#: What is folded when the printer is at work.
NOTING_FOLDED = """() => addEventListener("beforeprint", () => {
    window.folded = document.querySelectorAll("details:not([open])").length;
})"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, web_path: Path) -> dict[str, Path]:
    """A report of each kind, by its kind."""
    place = tmp_path_factory.mktemp("reports")
    topics = place / "topics.jsonl"
    write_topics(topics, [topic("balloon"), topic("train")])
    compared = ("--web", web_path, "--topics", topics, "--relevance", "cosine", "--pages", 20, "--topics-max", 2)
    contestants = ("--strategy", "best_first", "--strategy", "breadth_first", "--out", place / "comparison")
    crawled, first_come = place / HOSTILE_NAME, ("--strategy", "breadth_first")
    with (
        hostile_site(place) as site,
        running(place / "crawl said", *site.crawl(crawled, "--pages", 60, "--delay", 0, *first_come)) as crawl,
        running(place / "compare said", "compare", *compared, *contestants) as compare,
    ):
        simulated(web_path, topics, place / "run")
        assert (crawl.wait(WAIT_S), compare.wait(WAIT_S)) == (0, 0), (place / "compare said").read_text()
    study = document_html(study_report(made_study(), place / "study"))
    texts = {"crawl": report_html(crawled), "run": report_html(place / "run"), "study": study}
    texts["comparison"] = (place / "comparison" / "report.html").read_text()
    return {kind: _written(place / f"{kind}.html", text) for kind, text in texts.items()}


def _written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_whole_in_its_file(
    browser: Browser, reports: dict[str, Path], screenshots: Path, kind: str
) -> None:
    asked: list[str] = []
    with watched(browser) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(reports[kind].as_uri())
        expect(page.locator("h1")).not_to_be_empty()
        expect(page.locator("main p").first).to_be_in_viewport()
        assert page.evaluate(UNDRAWN) == []
        assert page.locator("figure.chart").count() >= 1
        page.screenshot(path=screenshots / f"report-{kind}.png", full_page=True)
    assert asked == [reports[kind].as_uri()]
    assert reports[kind].stat().st_size < MOST_BYTES


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_read_on_a_phone_in_the_dark(
    browser: Browser, reports: dict[str, Path], screenshots: Path, kind: str
) -> None:
    with watched(browser, color_scheme="dark", **PHONE) as page:
        page.goto(reports[kind].as_uri())
        assert fits(page)
        page.screenshot(path=screenshots / f"report-{kind}-phone-dark.png", full_page=True)


@pytest.mark.parametrize("kind", ["crawl", "run"])
def test_a_report_reads_without_scripts(browser: Browser, reports: dict[str, Path], kind: str) -> None:
    with watched(browser, "Content Security Policy", java_script_enabled=False) as page:
        page.goto(reports[kind].as_uri())
        expect(page.locator("figure.chart table").first).to_be_visible()


@pytest.mark.parametrize("kind", ["crawl", "comparison"])
def test_a_report_prints_all_of_it_and_no_buttons(
    browser: Browser, reports: dict[str, Path], screenshots: Path, kind: str
) -> None:
    with watched(browser) as page:
        page.goto(reports[kind].as_uri())
        page.evaluate(NOTING_FOLDED)
        (screenshots / f"report-{kind}.pdf").write_bytes(page.pdf(format="A4"))
        assert page.evaluate("window.folded") == 0
        page.emulate_media(media="print")
        for text in ("log x", "log y", "dark"):
            assert page.get_by_role("button", name=text, exact=True).filter(visible=True).count() == 0


def test_hostile_titles_do_nothing_in_a_report(watched_page: Page, reports: dict[str, Path]) -> None:
    watched_page.goto(reports["crawl"].as_uri())
    # Which of them are among the best and the latest pages depends on how fast the hosts were.
    shown = [title for title in HOSTILE_TITLES[:4] if watched_page.get_by_text(title).count()]
    assert len(shown) >= 2
    for link in watched_page.locator("main a[href^=http]").all()[:5]:
        assert link.get_attribute("rel") == "noopener noreferrer"
    nothing_was_run(watched_page)


def test_a_curve_tells_its_values_where_it_is_pointed_at(watched_page: Page, reports: dict[str, Path]) -> None:
    watched_page.goto(reports["run"].as_uri())
    chart = watched_page.locator("figure.chart").first
    before = chart.inner_text()
    chart.locator("svg.drawing").hover()
    wait = "([before, chart]) => chart.innerText !== before"
    watched_page.wait_for_function(wait, arg=[before, chart.element_handle()])
    assert "best_first" in chart.inner_text()
