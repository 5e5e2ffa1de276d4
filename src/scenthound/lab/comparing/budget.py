"""How long the crawls of a comparison are: no longer than half of the web, and longer than what they start from."""

from scenthound.errors import BadParameter
from scenthound.lab.starts import Start
from scenthound.lab.studies.settings import fitting_pages
from scenthound.metrics.base import Point


def budget_notes(wanted: int, pages: int, n_pages: int) -> list[str]:
    """That crawls are shorter than was wished for."""
    if pages == wanted:
        return []
    return [
        f"The web has {n_pages:,} pages. A crawl that takes most of it says little about a strategy, so crawls have "
        f"{pages:,} pages, half of the web, and not {wanted:,}."
    ]


def check_length(start: Start, point: Point, pages: int, n_pages: int) -> None:
    """Refuse crawls of `pages` pages that are measured before they have left their seeds, and say what would help."""
    n_seeds = len(start.seeds)
    if n_seeds < point.step:
        return
    ways = ["a smaller --start"] if n_seeds > 1 else []
    if point.step < pages:
        ways.append("a larger number after the @ of --by")
    elif fitting_pages(pages + 1, n_pages) > pages:
        ways.append("larger --pages")
    advice = f"give {', or '.join(ways)}" if ways else f"take a web of more than {n_pages:,} pages"
    told = f"{n_seeds:,} pages" if n_seeds > 1 else "1 page"
    raise BadParameter(
        f"Crawls for topic {start.topic!r} start from {told} and are measured after {point.step:,}, when they have "
        f"found nothing yet: {advice}."
    )
