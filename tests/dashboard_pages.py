"""What the browser tests of the dashboard read off its pages."""

import re

from playwright.sync_api import Locator, Page

#: Of the longest line in the chart of the harvest.
_POINTS = """() => Math.max(0, ...[...document.querySelectorAll("#chart-harvest svg path")]
    .map((path) => (path.getAttribute("d") ?? "").split(/[ML]/).length - 1))"""


def n_pages(page: Page) -> int:
    """The number of pages at the head of a crawl's page; 0 while there is none."""
    text = page.locator("#number-n_pages").inner_text()
    return int(re.sub(r"\D", "", text) or 0)


def wait_for_pages(page: Page, more_than: int) -> None:
    shown = "document.getElementById('number-n_pages')?.textContent.replace(/\\D/g, '') ?? 0"
    page.wait_for_function(f"(than) => Number({shown}) > than", arg=more_than)


def state(page: Page) -> Locator:
    return page.locator(".crawl-head .state")


def points_drawn(page: Page) -> int:
    return int(page.evaluate(_POINTS))


def nothing_was_run(page: Page) -> None:
    """No text of a crawled page became a script or an element."""
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert (
        page.locator(
            "img[src=x], svg[onload], [onerror], main script:not([type='application/json']), aside script"
        ).count()
        == 0
    )


def fits(page: Page) -> bool:
    """The page need not be moved sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
