"""The dashboard in Chromium with running crawls: live updates, controls, retraining, comparison, and their ends.

The tests share the crawls, and the last one stops the crawl that runs for all; each test also works alone.
"""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard_pages import assert_nothing_was_run, n_pages, points_drawn, state, wait_for_pages
from dashboard_site import HOSTILE_NAME, Dashboard, dashboard, hostile_site, running
from scenthound.store.crawl_folder import ABOUT_FILE
from timing import wait_until

pytestmark = pytest.mark.slow

PAGE_BUDGET = 1_900
#: A crawl writes its status once per second.
STILL_MS = 2_000
#: Enough pages for every test.
N_FIRST_PAGES = 20


@dataclass(frozen=True, slots=True)
class Crawls:
    """`balloons` runs, and one with a hostile name until it is killed."""

    board: Dashboard
    folder: Path
    doomed: "subprocess.Popen[bytes]"

    def page(self, name: str, *further: str) -> str:
        return self.board.page(self.board.path_of(name, *further))


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    root = tmp_path_factory.mktemp("dashboard")
    folder = root / "crawls"
    folder.mkdir()
    with ExitStack() as stack:
        site = stack.enter_context(hostile_site(root))

        def start(name: str, *more: object) -> "subprocess.Popen[bytes]":
            return stack.enter_context(running(root / f"{name} output", *site.crawl(folder / name, *more)))

        start("balloons", "--pages", PAGE_BUDGET)
        doomed = start(HOSTILE_NAME, "--pages", PAGE_BUDGET, "--strategy", "breadth_first")
        board = stack.enter_context(dashboard(root / "dashboard output", folder))
        for name in ("balloons", HOSTILE_NAME):
            wait_until((folder / name / ABOUT_FILE).exists, "the crawls")
        wait_until(lambda: len(board.get("/api/folders")["folders"]) == 2, "the folders")
        for name in ("balloons", HOSTILE_NAME):
            wait_until(lambda name=name: (board.crawl(name)["status"] or {}).get("n_pages", 0) >= N_FIRST_PAGES, name)
        yield Crawls(board, folder, doomed)
        assert "Traceback" not in board.output.read_text()


def test_the_curves_of_a_running_crawl_grow(watched_page: Page, crawls: Crawls, screenshots: Path) -> None:
    watched_page.goto(crawls.page("balloons"))
    expect(state(watched_page)).to_contain_text("running")
    wait_for_pages(watched_page, 0)
    first_pages, first_points = n_pages(watched_page), points_drawn(watched_page)
    wait_for_pages(watched_page, first_pages + 40)
    wait_until(lambda: points_drawn(watched_page) > first_points, "points on the curve")
    assert "token" not in watched_page.url
    watched_page.screenshot(path=screenshots / "dashboard-crawl.png", full_page=True)


def test_a_paused_crawl_visits_no_page_until_resumed(watched_page: Page, crawls: Crawls, screenshots: Path) -> None:
    watched_page.goto(crawls.page("balloons"))
    watched_page.get_by_role("button", name="Pause").click()
    expect(state(watched_page)).to_contain_text("paused")
    wait_until(lambda: not crawls.board.crawl("balloons")["status"]["in_flight"], "the end of requests in flight")
    # The last of these pages are counted with the next commit.
    watched_page.wait_for_timeout(STILL_MS)
    before = crawls.board.crawl("balloons")["status"]["n_pages"]
    watched_page.wait_for_timeout(STILL_MS)
    assert crawls.board.crawl("balloons")["status"]["n_pages"] == before
    wait_until(lambda: n_pages(watched_page) == before, "the number on the page")
    watched_page.screenshot(path=screenshots / "dashboard-paused.png")
    watched_page.get_by_role("button", name="Resume").click()
    expect(state(watched_page)).to_contain_text("running")
    wait_for_pages(watched_page, before)


def test_a_new_page_budget_is_applied(watched_page: Page, crawls: Crawls) -> None:
    watched_page.goto(crawls.page("balloons"))
    expect(watched_page.locator(".of-budget")).to_contain_text("of 1,")
    watched_page.get_by_label("Page budget").fill("1950")
    watched_page.get_by_role("button", name="Set").click()
    expect(watched_page.locator(".of-budget")).to_contain_text("of 1,950")
    assert crawls.board.crawl("balloons")["status"]["page_budget"] == 1_950


def test_a_running_crawl_uses_a_model_retrained_on_labels(
    watched_page: Page, crawls: Crawls, screenshots: Path
) -> None:
    watched_page.goto(crawls.page("balloons", "pages"))
    for order, label in (("best", "Relevant"), ("worst", "Not relevant")):
        watched_page.get_by_label("Order").select_option(order)
        watched_page.wait_for_url(f"**/pages?order={order}")
        for index in range(4):
            button = watched_page.locator("li.page").nth(index).get_by_role("button", name=label, exact=True)
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
    watched_page.get_by_role("button", name="Retrain the relevance model").click()
    expect(watched_page.locator(".training")).to_contain_text("Quality after")
    watched_page.screenshot(path=screenshots / "dashboard-labels.png")
    relevance_models = wait_until(lambda: crawls.board.crawl("balloons")["relevance_models"], "the new model")
    assert (relevance_models[0]["n_positive"] >= 4, relevance_models[0]["n_negative"]) == (True, 4)


def test_two_crawls_are_compared(watched_page: Page, crawls: Crawls, screenshots: Path) -> None:
    watched_page.goto(crawls.board.page("/"))
    for name in ("balloons", HOSTILE_NAME):
        watched_page.get_by_label(f"Compare {name}").check()
    watched_page.screenshot(path=screenshots / "dashboard-folders.png", full_page=True)
    watched_page.get_by_role("button", name="Compare 2 crawls").click()
    expect(watched_page.locator("h1")).to_have_text("Side by side")
    in_common = watched_page.get_by_role("region", name="Pages in common").locator("tbody tr")
    expect(in_common).to_have_count(1)
    # Both have the same seed.
    assert int(in_common.locator("td").nth(1).inner_text().replace(",", "")) >= 1
    expect(watched_page.locator("#chart-harvest")).to_contain_text(HOSTILE_NAME)
    assert points_drawn(watched_page) >= 1
    assert_nothing_was_run(watched_page)
    watched_page.screenshot(path=screenshots / "dashboard-compare.png", full_page=True)


def test_a_killed_crawl_is_shown_as_died_with_its_resume_command(
    watched_page: Page, crawls: Crawls, screenshots: Path
) -> None:
    watched_page.goto(crawls.page(HOSTILE_NAME))
    expect(state(watched_page)).to_contain_text(re.compile("running|died"))
    crawls.doomed.send_signal(signal.SIGKILL)
    expect(state(watched_page)).to_contain_text("died")
    resume = re.compile(rf"scenthound crawl --resume '/\S+/{re.escape(HOSTILE_NAME)}'")
    expect(watched_page.locator(".died .command code")).to_have_text(resume)
    expect(watched_page.get_by_role("button", name="Pause")).to_be_disabled()
    watched_page.screenshot(path=screenshots / "dashboard-died.png")


def test_without_the_token_a_crawl_can_only_be_viewed(watched_page: Page, crawls: Crawls, tmp_path: Path) -> None:
    with dashboard(tmp_path / "output", crawls.folder, "--open") as board:
        watched_page.goto(board.address + board.path_of("balloons"))
        wait_for_pages(watched_page, more_than=0)
        for name in ("Pause", "Stop", "Set"):
            expect(watched_page.get_by_role("button", name=name)).to_be_disabled()
        expect(watched_page.locator("#controls-reason")).to_contain_text("Read-only")


def test_a_crawl_is_stopped_after_confirmation(watched_page: Page, crawls: Crawls) -> None:
    watched_page.goto(crawls.page("balloons"))
    watched_page.get_by_role("button", name="Stop").click()
    watched_page.get_by_role("button", name="Keep crawling").click()
    watched_page.wait_for_timeout(300)
    expect(state(watched_page)).to_contain_text("running")
    watched_page.get_by_role("button", name="Stop").click()
    watched_page.get_by_role("button", name="Stop the crawl").click()
    expect(state(watched_page)).to_contain_text("stopped")
    expect(watched_page.locator(".outcome .command code")).to_contain_text("--resume")
