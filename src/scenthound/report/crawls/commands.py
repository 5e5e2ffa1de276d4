"""The command line that lets a crawl go on."""

from pathlib import Path

from scenthound.lab.command_line import command_line
from scenthound.lab.crawl_state import CrawlState


def resume_command(folder: Path, state: CrawlState) -> str:
    """With a larger page budget, if the crawl has all pages that its own allows. A report is read elsewhere than it was
    made, so the path is whole."""
    more = None
    if state.page_budget is not None and state.n_pages >= state.page_budget:
        more = 2 * state.n_pages
    return command_line(["scenthound", "crawl"], [("--resume", str(folder.absolute())), ("--pages", more)])
