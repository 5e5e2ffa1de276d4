"""The text of a page that a crawl has taken, read back from its archive."""

from scenthound.errors import BadInput
from scenthound.store.crawl_rows import VisitRow
from scenthound.store.exports.pages import html_of
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.page_text import readable_text


def text_of_visit(crawl: StoredCrawl, row: VisitRow) -> str:
    """Title and text, as `readable_text` has them; empty if the page came from a recording, if its record is damaged,
    or if it cannot be read."""
    if row.place is None:
        return ""
    try:
        return readable_text(html_of(crawl.archive.record(row.place)))
    except BadInput:
        return ""
