"""Which crawl in which folder something was counted or indexed for: what is known of one holds for no other.

A copy of a crawl has the id of the crawl, and goes its own way when it is resumed; a folder may be moved, or replaced.
"""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from scenthound.store.crawl_folder import ABOUT_FILE
from scenthound.store.stored_crawl import StoredCrawl


@dataclass(frozen=True, slots=True)
class CrawlKey:
    """`made` tells a folder from one that was put into its place: the file of a crawl that never changes."""

    folder: Path
    crawl_id: UUID
    made: tuple[int, int]

    @classmethod
    def of(cls, crawl: StoredCrawl) -> "CrawlKey":
        """OSError if the folder is gone."""
        found = (crawl.folder / ABOUT_FILE).stat()
        return cls(crawl.folder, crawl.about.crawl_id, (found.st_ino, found.st_mtime_ns))
