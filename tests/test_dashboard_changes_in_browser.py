"""Changes in Chromium: confirmations, rejected changes, and their messages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from mock_dashboard import MockDashboard, crawl, curves, live, served_pages, status, visited
from scenthound.experiments.retraining import ModelQuality
from scenthound.ui.dashboard.responses import Done, Labels, Problem, Retrained

pytestmark = pytest.mark.slow

EVENTS = "/api/crawls/balloons/events"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served_pages() as address:
        yield address


@pytest.fixture
def dashboard(watched_page: Page, address: str) -> MockDashboard:
    return MockDashboard(watched_page, address)


@pytest.mark.parametrize("applied", [True, False])
def test_retraining_shows_the_quality_and_the_next_command(dashboard: MockDashboard, applied: bool) -> None:
    dashboard.responses["/api/crawls/balloons/labels"] = Labels((visited(3, label=True),), 4, 4, None)
    quality = ModelQuality(0.5, 0.875, 4, 4)
    message, command = "The relevance model is trained.", "scenthound crawl --train 'a b'"
    dashboard.responses["/api/crawls/balloons/retrain"] = Retrained(
        quality, applied, "relevance_models/1", command, message
    )
    dashboard.open("/crawls/balloons/pages")
    dashboard.page.get_by_role("button", name="Retrain the relevance model").click()
    training = dashboard.page.locator(".training")
    expect(training).to_contain_text("The relevance model is trained.")
    expect(training.locator(".counts").nth(1)).to_have_text("Quality before0.500Quality after0.875")
    expect(training.locator("code")).to_have_text([] if applied else [command])
    expect(dashboard.page.get_by_text("To crawl with the new relevance model:")).to_have_count(0 if applied else 1)
    expect(training).not_to_contain_text("[object")
    expect(dashboard.page.get_by_role("button", name="Retrain the relevance model")).to_be_enabled()


def test_a_page_budget_that_ends_the_crawl_needs_confirmation(dashboard: MockDashboard) -> None:
    dashboard.responses["/api/crawls/balloons/budget"] = Done("It ends.")
    dashboard.open("/crawls/balloons")
    field = dashboard.page.get_by_label("Page budget")
    for choice in ("Keep crawling", "End the crawl"):
        assert dashboard.changes == []
        # The crawl has as many pages.
        field.fill("1234")
        dashboard.page.get_by_role("button", name="Set").click()
        expect(dashboard.page.get_by_role("dialog")).to_contain_text("1,234 pages already: it would end now.")
        dashboard.page.get_by_role("button", name=choice).click()
        if choice == "Keep crawling":
            expect(field).to_have_value("2000")
    expect(dashboard.page.get_by_text("It ends.")).to_be_visible()
    assert dashboard.changes == [("/api/crawls/balloons/budget", {"pages": 1_234})]


@pytest.mark.parametrize(("state", "pages"), [("running", 1_235), ("ended", 1_000)])
def test_other_page_budgets_are_set_at_once(dashboard: MockDashboard, state: str, pages: int) -> None:
    changed = crawl(state=state)
    dashboard.responses |= {"/api/crawls/balloons": changed, EVENTS: live(changed, curves(10))}
    dashboard.responses["/api/crawls/balloons/budget"] = Done("It is changed.")
    dashboard.open("/crawls/balloons")
    dashboard.page.get_by_label("Page budget").fill(str(pages))
    dashboard.page.get_by_role("button", name="Set").click()
    expect(dashboard.page.get_by_text("It is changed.")).to_be_visible()
    assert dashboard.changes == [("/api/crawls/balloons/budget", {"pages": pages})]


@pytest.fixture
def restarted(browser: Browser, address: str) -> Iterator[MockDashboard]:
    """A dashboard that a test can restart."""
    with watched(browser, "401") as page:
        yield MockDashboard(page, address)


def test_after_a_restart_changes_are_rejected_and_controls_disabled(restarted: MockDashboard) -> None:
    page = restarted.page
    restarted.open("/crawls/balloons#page=3")
    expect(page.locator(".panel .labels button").first).to_be_enabled()
    restarted.is_restarted = True
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".controls .message")).to_contain_text("restarted")
    expect(page.locator("#read-only")).to_contain_text("new URL")
    expect(page.locator("#controls-reason")).to_contain_text("Read-only")
    for name in ("Pause", "Stop", "Set"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    assert all(label.is_disabled() for label in page.locator("[data-label]").all())


@pytest.mark.parametrize("has_token", [True, False])
def test_after_a_restart_a_page_says_so_and_works_again_with_the_new_cookie(
    restarted: MockDashboard, has_token: bool
) -> None:
    page = restarted.page
    restarted.responses[EVENTS] = None
    restarted.open("/crawls/balloons")
    restarted.release((401, Problem("The token is not valid.")))
    restarted.is_restarted = True
    expect(page.locator(".connection")).to_contain_text("restarted")
    expect(page.locator("#read-only")).to_contain_text("new URL")
    restarted.has_token, restarted.is_restarted = has_token, False
    restarted.responses[EVENTS] = live(crawl(), curves(10))
    expect(page.locator(".connection")).to_be_empty()
    if has_token:
        expect(page.locator("#read-only")).to_be_hidden()
        expect(page.get_by_role("button", name="Pause")).to_be_enabled()
    else:
        expect(page.locator("#read-only")).to_contain_text("token is missing")
        expect(page.get_by_role("button", name="Pause")).to_be_disabled()


def test_after_a_restart_the_model_cannot_be_retrained(restarted: MockDashboard) -> None:
    restarted.responses["/api/crawls/balloons/labels"] = Labels((), 4, 4, None)
    restarted.open("/crawls/balloons/pages")
    retrain = restarted.page.get_by_role("button", name="Retrain the relevance model")
    expect(retrain).to_be_enabled()
    restarted.is_restarted = True
    retrain.click()
    expect(restarted.page.locator("#retrain-reason")).to_contain_text("restarted")
    expect(retrain).to_be_disabled()
    assert restarted.page.locator("li.page [data-label]:enabled").count() == 0


def test_controls_are_disabled_while_the_connection_is_lost(dashboard: MockDashboard) -> None:
    dashboard.responses[EVENTS] = None
    dashboard.open("/crawls/balloons")
    dashboard.release(live(crawl(), curves(10)))
    expect(dashboard.page.locator("#controls-reason")).to_contain_text("connection is lost")
    for name in ("Pause", "Stop", "Set"):
        expect(dashboard.page.get_by_role("button", name=name)).to_be_disabled()
    dashboard.responses[EVENTS] = live(crawl(status=status(n_pages=1_300)), curves(10))
    dashboard.release(live(crawl(), curves(10)))
    expect(dashboard.page.locator("#number-n_pages")).to_have_text("1,300")
    expect(dashboard.page.locator("#controls-reason")).to_be_empty()
    for name in ("Pause", "Stop", "Set"):
        expect(dashboard.page.get_by_role("button", name=name)).to_be_enabled()
