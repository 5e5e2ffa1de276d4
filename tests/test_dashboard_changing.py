"""The dashboard's pages in Chromium when something is to be changed: what is asked first, refused, and said of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import watched
from made_dashboard import TOKEN, MadeDashboard, crawl, curves, live, shipped_pages, status, taken
from scenthound.ui.dashboard.responses import Done, Labels, ModelQuality, Problem, Retrained

EVENTS = "/api/crawls/balloons/events"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with shipped_pages() as address:
        yield address


@pytest.fixture
def made(watched_page: Page, address: str) -> MadeDashboard:
    return MadeDashboard(watched_page, address)


@pytest.mark.parametrize("taken_up", [True, False])
def test_retraining_tells_what_came_of_it_and_how_to_crawl_by_it(made: MadeDashboard, taken_up: bool) -> None:
    made.answers["/api/crawls/balloons/labels"] = Labels((taken(3, label=True),), 4, 4, None)
    quality = ModelQuality(0.5, 0.875, 4, 4)
    says, command = "The relevance model is trained.", "scenthound crawl --train 'a b'"
    made.answers["/api/crawls/balloons/retrain"] = Retrained(quality, taken_up, "relevance_models/1", command, says)
    made.open("/crawls/balloons/pages")
    made.page.get_by_role("button", name="Retrain the relevance model").click()
    training = made.page.locator(".training")
    expect(training).to_contain_text("The relevance model is trained.")
    expect(training.locator(".counts").nth(1)).to_have_text("Quality before0.500Quality after0.875")
    expect(training.locator("code")).to_have_text([] if taken_up else [command])
    expect(made.page.get_by_text("To crawl with the new relevance model:")).to_have_count(0 if taken_up else 1)
    expect(training).not_to_contain_text("[object")
    expect(made.page.get_by_role("button", name="Retrain the relevance model")).to_be_enabled()


def test_a_page_budget_that_ends_the_crawl_is_set_only_after_a_yes(made: MadeDashboard) -> None:
    made.answers["/api/crawls/balloons/budget"] = Done("It ends.")
    made.open("/crawls/balloons")
    field = made.page.get_by_label("Page budget")
    for answer in ("Keep crawling", "End the crawl"):
        assert made.changes == []
        # The crawl has as many pages.
        field.fill("1234")
        made.page.get_by_role("button", name="Set").click()
        expect(made.page.get_by_role("dialog")).to_contain_text("The crawl has 1,234 pages already: it would end now.")
        made.page.get_by_role("button", name=answer).click()
        if answer == "Keep crawling":
            expect(field).to_have_value("2000")
    expect(made.page.get_by_text("It ends.")).to_be_visible()
    assert made.changes == [("/api/crawls/balloons/budget", TOKEN, {"pages": 1_234})]


@pytest.mark.parametrize(("state", "pages"), [("running", 1_235), ("ended", 1_000)])
def test_a_page_budget_that_ends_nothing_is_set_at_once(made: MadeDashboard, state: str, pages: int) -> None:
    told = crawl(state=state)
    made.answers |= {"/api/crawls/balloons": told, EVENTS: live(told, curves(10))}
    made.answers["/api/crawls/balloons/budget"] = Done("It is changed.")
    made.open("/crawls/balloons")
    made.page.get_by_label("Page budget").fill(str(pages))
    made.page.get_by_role("button", name="Set").click()
    expect(made.page.get_by_text("It is changed.")).to_be_visible()
    assert made.changes == [("/api/crawls/balloons/budget", TOKEN, {"pages": pages})]


@pytest.fixture
def restarted(browser: Browser, address: str) -> Iterator[MadeDashboard]:
    """A dashboard that has another token than its pages."""
    with watched(browser, "403") as page:
        made = MadeDashboard(page, address)
        refusal = (403, Problem("Changes need the token."))
        made.answers |= {f"/api/crawls/balloons/{name}": refusal for name in ("pause", "retrain")}
        yield made


def test_after_a_restart_a_change_is_refused_and_the_page_says_where_to_go(restarted: MadeDashboard) -> None:
    page = restarted.page
    restarted.open("/crawls/balloons#page=3", token=None)
    page.evaluate("sessionStorage.setItem('scenthound-token', 'of the last one')")
    page.reload()
    expect(page.locator(".panel .labels button").first).to_be_enabled()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".steering .message")).to_have_text("Not done: the dashboard was started anew.")
    expect(page.locator("#read-only")).to_contain_text("its new address, which is on its terminal")
    expect(page.locator("#steering-reason")).to_contain_text("started anew")
    for name in ("Pause", "Stop", "Set"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    assert all(label.is_disabled() for label in page.locator("[data-label]").all())
    assert page.evaluate("sessionStorage.length") == 0


def test_after_a_restart_the_guide_cannot_be_trained_either(restarted: MadeDashboard) -> None:
    restarted.answers["/api/crawls/balloons/labels"] = Labels((), 4, 4, None)
    restarted.open("/crawls/balloons/pages")
    retrain = restarted.page.get_by_role("button", name="Retrain the relevance model")
    retrain.click()
    expect(restarted.page.locator("#retrain-reason")).to_contain_text("started anew")
    expect(retrain).to_be_disabled()
    assert restarted.page.locator("li.page [data-label]:enabled").count() == 0


def test_a_token_that_is_pasted_into_the_address_counts(made: MadeDashboard) -> None:
    made.answers["/api/crawls/balloons/pause"] = Done("It pauses.")
    made.open("/crawls/balloons", token=None)
    expect(made.page.get_by_role("button", name="Pause")).to_be_disabled()
    made.page.goto(f"{made.address}/crawls/balloons#token=new")
    made.page.get_by_role("button", name="Pause").click()
    expect(made.page.get_by_text("It pauses.")).to_be_visible()
    expect(made.page.locator("#read-only")).to_be_hidden()
    assert made.changes == [("/api/crawls/balloons/pause", "new", {})]
    assert "token" not in made.page.url


def test_a_crawl_is_not_steered_while_the_connection_is_lost(made: MadeDashboard) -> None:
    made.answers[EVENTS] = None
    made.open("/crawls/balloons")
    made.release(live(crawl(), curves(10)))
    expect(made.page.locator("#steering-reason")).to_have_text("Not while the connection is lost.")
    for name in ("Pause", "Stop", "Set"):
        expect(made.page.get_by_role("button", name=name)).to_be_disabled()
    made.answers[EVENTS] = live(crawl(status=status(n_pages=1_300)), curves(10))
    made.release(live(crawl(), curves(10)))
    expect(made.page.locator("#number-n_pages")).to_have_text("1,300")
    expect(made.page.locator("#steering-reason")).to_be_empty()
    for name in ("Pause", "Stop", "Set"):
        expect(made.page.get_by_role("button", name=name)).to_be_enabled()
