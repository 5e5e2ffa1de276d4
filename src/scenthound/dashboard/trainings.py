"""Which guides are being trained now: one of each crawl at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scenthound.errors import BadInput


class Trainings:
    """Any thread may ask."""

    def __init__(self) -> None:
        self._folders: set[Path] = set()
        self._lock = threading.Lock()

    @contextmanager
    def of(self, folder: Path) -> Iterator[None]:
        """BadInput if the guide of the crawl is in training: another would learn from the same labels."""
        with self._lock:
            if folder in self._folders:
                raise BadInput("The guide of this crawl is being trained already: wait for what that comes to.")
            self._folders.add(folder)
        try:
            yield
        finally:
            with self._lock:
                self._folders.discard(folder)
