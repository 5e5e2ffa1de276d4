"""The state of a spider that was stopped, in the folder `scenthound` of its JOBDIR.

Rules
- The state is written when the spider is closed, and deleted when it is resumed. So a run that was killed leaves none,
  and is not resumed by mistake: Scrapy's own list of requests that were seen is ahead of any earlier state.
- A spider is resumed with the settings that it was started with.
"""

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidInput, UsageError, printable
from scenthound.saved_state import State
from scenthound.scrapy.settings import setting_name
from scenthound.store.checkpoints import Checkpoints, DamagedCheckpoint

FOLDER = "scenthound"
#: Written by Scrapy's filter of duplicates.
SEEN_FILE = "requests.seen"


class JobFolder:
    """The folder of one spider. `identity` has the settings that must not change, by name."""

    def __init__(self, jobdir: str, identity: State) -> None:
        self._jobdir = Path(jobdir)
        self._folder = self._jobdir / FOLDER
        self._identity = identity
        self._states = Checkpoints(self._folder / "state")
        self.pages = self._folder / "pages"

    def saved(self) -> State | None:
        """The state of a spider that was stopped; None if this is a new job. UsageError if it cannot be resumed."""
        if not self._folder.exists():
            seen = self._jobdir / SEEN_FILE
            if seen.exists() and seen.stat().st_size:
                raise InvalidInput(
                    f"JOBDIR {printable(self._jobdir)} was made by another scheduler: choose another folder for "
                    "scenthound.scrapy.Scheduler."
                )
            self._make()
            return None
        numbers = self._states.numbers()
        if not numbers:
            raise InvalidInput(
                f"JOBDIR {printable(self._jobdir)} cannot be resumed, because its last run was killed: delete the "
                "folder and start again, and stop the next run with one Ctrl-C."
            )
        try:
            state = self._states.read(numbers[0])
        except DamagedCheckpoint as damage:
            raise InvalidInput(
                f"JOBDIR {printable(self._jobdir)} is damaged: restore it from a backup, or delete it and start again. "
                f"({damage})"
            ) from None
        self._check_identity(state.get("identity", {}))
        return state

    def _make(self) -> None:
        try:
            self._folder.mkdir(parents=True)
        except OSError as reason:
            raise self._unwritable(reason) from None

    def _unwritable(self, reason: OSError) -> InvalidInput:
        return InvalidInput(
            f"Cannot write to JOBDIR {printable(self._jobdir)}: {reason.strerror}. Choose another folder, or make room."
        )

    def _check_identity(self, saved: State) -> None:
        for name, value in self._identity.items():
            if saved.get(name) != value:
                before = printable(saved.get(name), 80)
                raise UsageError(
                    f"JOBDIR {printable(self._jobdir)} was started with {setting_name(name)} = {before!r}, not "
                    f"{printable(value, 80)!r}: use that value, or another folder."
                )

    def begin(self) -> None:
        """Delete the state: what follows changes the job."""
        self._states.delete_after(0)

    def save(self, state: State) -> None:
        try:
            self._states.write({"identity": self._identity, **state})
        except OSError as reason:
            raise self._unwritable(reason) from None


def packed(values: Iterable[Any]) -> npt.NDArray[np.uint8]:
    """Dictionaries of requests, which contain bytes and whatever a spider passes to its callbacks, for a state."""
    return np.frombuffer(pickle.dumps(list(values), pickle.HIGHEST_PROTOCOL), np.uint8)


def unpacked(content: npt.NDArray[np.uint8]) -> list[Any]:
    values: list[Any] = pickle.loads(content.tobytes())
    return values
