"""Reading values from the dashboard's pages in browser tests."""

import re

from playwright.sync_api import Locator, Page

#: The number of points of the longest line in the harvest chart.
_POINTS = """() => Math.max(0, ...[...document.querySelectorAll("#chart-harvest svg path")]
    .map((path) => (path.getAttribute("d") ?? "").split(/[ML]/).length - 1))"""


def n_pages(page: Page) -> int:
    """The number of visited pages; 0 while it is unknown."""
    text = page.locator("#number-n_pages").inner_text()
    return int(re.sub(r"\D", "", text) or 0)


def wait_for_pages(page: Page, more_than: int) -> None:
    shown = "document.getElementById('number-n_pages')?.textContent.replace(/\\D/g, '') ?? 0"
    page.wait_for_function(f"(than) => Number({shown}) > than", arg=more_than)


def state(page: Page) -> Locator:
    return page.locator(".crawl-head .state")


def points_drawn(page: Page) -> int:
    return int(page.evaluate(_POINTS))


def assert_nothing_was_run(page: Page) -> None:
    """No text of a crawled page became a script or an element."""
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert (
        page.locator(
            "img[src=x], svg[onload], [onerror], main script:not([type='application/json']), aside script"
        ).count()
        == 0
    )


def fits(page: Page) -> bool:
    """The page needs no horizontal scrolling."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
