"""What somebody else wants of a crawl that is running: `wishes.json` in its folder, which the crawl looks at.

Rules
- The file is written whole, and says which run it is for: wishes for an earlier run are not heard.
- Wishes are a state, not a list of orders: what is wanted now, whoever wanted it. Whoever writes last is heard.
- Who may write into the folder may have wishes; nobody else can.
"""

import re
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from scenthound.files import regular_bytes, write_whole

WISHES_FILE = "wishes.json"
#: A longer file is none of ours.
MOST_BYTES = 10_000
_FOLDER = re.compile(r"[\w-]+(/[\w-]+)*")


@dataclass(frozen=True, slots=True)
class CrawlWishes:
    """None leaves as it is. `guide` is a folder of pages to learn from, in the folder of the crawl."""

    run: int
    paused: bool = False
    stop: bool = False
    page_budget: int | None = None
    guide: str | None = None

    def __post_init__(self) -> None:
        """TypeError or ValueError for values that are none of ours: the file may hold anything."""
        kinds = {"run": int, "paused": bool, "stop": bool, "page_budget": int | None, "guide": str | None}
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is no {kind}")
        if self.guide is not None and not _FOLDER.fullmatch(self.guide):
            raise ValueError(f"{self.guide!r} is no folder in that of the crawl")

    @classmethod
    def read(cls, folder: Path) -> "CrawlWishes | None":
        """None if there are none, or none that can be read."""
        try:
            return cls(**orjson.loads(regular_bytes(folder / WISHES_FILE, MOST_BYTES)))
        except (OSError, TypeError, ValueError):
            return None

    def write(self, folder: Path) -> None:
        write_whole(folder / WISHES_FILE, orjson.dumps(asdict(self)) + b"\n", follow_link=False)


class WishReader:
    """Looks at the file when it was changed; a glance costs a few microseconds."""

    def __init__(self, folder: Path, run: int) -> None:
        self._folder = folder
        self._run = run
        self._seen: tuple[int, int] | None = None

    def news(self) -> CrawlWishes | None:
        """The wishes for this run, if they were written since the last glance."""
        try:
            stat = (self._folder / WISHES_FILE).stat()
        except OSError:
            return None
        if (stat.st_mtime_ns, stat.st_ino) == self._seen:
            return None
        self._seen = stat.st_mtime_ns, stat.st_ino
        wishes = CrawlWishes.read(self._folder)
        return wishes if wishes is not None and wishes.run == self._run else None
