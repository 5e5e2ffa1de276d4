"""Signal handlers that are replaced for a while."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def restored_signals(*numbers: signal.Signals) -> Iterator[None]:
    """Restore the handlers of these signals when the block ends; those not set from Python stay."""
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


@contextmanager
def noted_interrupts() -> Iterator[Callable[[], None]]:
    """Note interrupts (Ctrl-C) within the block, and call the handler as usual. The block gets a function that raises
    KeyboardInterrupt if there was one: Python loses its exception if an object is being deleted at that moment, and
    libraries may lose it in their callbacks."""
    before = signal.getsignal(signal.SIGINT)
    was_interrupted = False

    def raise_if_interrupted() -> None:
        if was_interrupted:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield raise_if_interrupted
        return

    def note(number: int, frame: Any) -> None:
        nonlocal was_interrupted
        was_interrupted = True
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield raise_if_interrupted
    finally:
        signal.signal(signal.SIGINT, before)
