"""Signal handlers that are replaced for a while."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


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
