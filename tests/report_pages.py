"""A page with every kind of block of a report, and helpers that open pages in a browser and read them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Locator
from playwright.sync_api import Page as Tab

from browsers import Watch, watched
from scenthound.ui.document import (
    Block,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Facts,
    GraphNode,
    LinkGraph,
    Marker,
    Section,
    Series,
    Table,
)
from scenthound.ui.html import document_html

OpenPage = Callable[..., AbstractContextManager[Tab]]
HOSTILE = "<img src=x onerror=document.title='broken'></script><script>document.title='broken'</script>"
LONG = "averylongword" * 12
HOSTS = ("one.example", "two.example", f"{LONG}.example")
X = np.arange(0.0, 101.0, 10.0)


def curves() -> Chart:
    """Three curves, whose values at x = 50 are 0.5, 0.25 and missing."""
    gap = np.where((X > 30) & (X < 70), np.nan, 0.9)
    series = (
        Series("rising", X, X / 100, np.full(11, 0.05)),
        Series("half", X, X / 200),
        Series("gap", X, gap),
        Series(HOSTILE, X, np.full(11, 0.1), hidden=True),
    )
    return Chart(
        "curves", "How it went", "pages", "share", series, markers=(Marker(50.0, "model retrained"),), note="A note."
    )


def all_above_zero() -> Chart:
    return Chart("above", "All above zero", "pages", "pages per second", (Series("a", X, 10.0 ** (X / 50)),))


def bars(name: str, labels: tuple[str, ...]) -> Chart:
    values = np.array([30.0, 20.0, 10.0])
    both = (Series("relevant", np.arange(3.0), values, values / 10), Series("others", np.arange(3.0), values[::-1]))
    return Chart(name, f"Pages by {name}", name, "pages", both, "bars", labels)


def table() -> Table:
    rows = (("b", "10.5 ± 1", "120 s"), ("a", "9", "3,600 s"), ("c", "1,200", "5 s"))
    cells = tuple(
        (Cell(name, link=f"https://{name}.example/"), Cell(pages, mark="*"), Cell(time)) for name, pages, time in rows
    )
    return Table("table", "Hosts", ("host", "pages", "time"), cells, note="* is a mark.")


def graph(n_nodes: int = 400) -> LinkGraph:
    """A tree with three children per node."""
    nodes: list[GraphNode] = []
    for i in range(n_nodes):
        parent = None if i == 0 else (i - 1) // 3
        distance = 0 if parent is None else nodes[parent].distance + 1
        url = "javascript:alert(1)" if i == 1 else f"https://example.org/{i}"
        nodes.append(GraphNode(f"{HOSTILE} {i}", url, i + 1, (i % 11) / 10, distance, parent))
    return LinkGraph("graph", "Links of the crawl", tuple(nodes), ((0, 5), (5, 9)), note="The first pages.")


def full_page() -> Document:
    sections = (
        Section("Curves", (curves(), all_above_zero())),
        Section("Bars", (bars("distance", ("0", "1", "2")), bars("host", HOSTS))),
        Section("Tables", (table(),)),
        Section("Links", (graph(),)),
        Section("Settings", (Facts(((LONG, LONG),)), CodeBlock(LONG, LONG), LONG), collapsed=True),
    )
    return Document("crawl", f"A crawl of {HOSTILE}", ("It went well.", LONG), sections, (("pages", "10,000"),) * 5)


def opener(browser: Browser, shared_tab: Tab, folder: Path) -> OpenPage:
    """Opens a page of some blocks, or the full page. Fails on any error of the page."""

    @contextmanager
    def opened(*blocks: Block, **options: object) -> Iterator[Tab]:
        page = Document("crawl", "A crawl", (), (Section("Part", blocks),)) if blocks else full_page()
        file = folder / "report.html"
        file.write_text(document_html(page), encoding="utf-8")
        with watched(browser, **options) if options else nullcontext(shared_tab) as tab:
            watch = Watch()
            watch.attach(tab)
            tab.goto(file.as_uri())
            yield tab
            assert watch.errors == []

    return opened


def point_at(tab: Tab, drawing: Locator, right: float, down: float = 0.5) -> None:
    """Move the mouse over a drawing; the position is in shares of its width and height."""
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + right * box["width"], box["y"] + down * box["height"])


def floating(tab: Tab, figure: str) -> str:
    return tab.locator(f"{figure} .floating:visible").inner_text()


def axis_numbers(tab: Tab, figure: str) -> list[str]:
    return tab.locator(f"{figure} .axes .number").all_text_contents()
