"""Commits of a live crawl, written by one thread while the crawl goes on."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from scenthound.drivers.live.crawl import LiveCrawl


class CommitWriter:
    """One commit at a time; `on_done` is told on the loop when it is on the disk, or how it failed."""

    def __init__(self, crawl: LiveCrawl, on_done: Callable[[BaseException | None], None]) -> None:
        self._crawl = crawl
        self._on_done = on_done
        self._thread = ThreadPoolExecutor(1, "commit")
        self._writing: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Commit what there is, unless a commit is being written."""
        if self._writing is None:
            self._writing = self._write()
            self._writing.add_done_callback(self._written)

    async def write_all(self) -> None:
        """Commit all there is, and wait until it is on the disk."""
        if self._writing is not None:
            await self._writing
        await self._write()

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    def _write(self) -> asyncio.Future[None]:
        self._crawl.begin_commit()
        return asyncio.get_running_loop().run_in_executor(self._thread, self._crawl.write_commits)

    def _written(self, writing: asyncio.Future[None]) -> None:
        self._writing = None
        if not writing.cancelled():
            self._on_done(writing.exception())
