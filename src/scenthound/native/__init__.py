"""Functions in C for the work that every page and link costs. Optional: without them plain Python does the same.

The extension is built when the package is installed, if there is a C compiler (`setup.py`). `SCENTHOUND_NATIVE=0` in
the environment disables it, to compare both or to rule it out as the cause of a problem. Callers check `is_available`
before they import `_native`; one that cannot be loaded, for example because it was built for another system, is not
available.

Rules
- Functions take bytes and arrays, whose contents they never keep, and return new bytes or arrays of numbers.
- They never fail because of what a page contains. They check the lengths of their arguments, because a wrong one would
  otherwise read foreign memory.
"""

import os
from functools import cache
from importlib import import_module

_DISABLED = frozenset({"0", "no", "off", "false"})


@cache
def is_available() -> bool:
    """Whether the extension was built, and may be used."""
    if os.environ.get("SCENTHOUND_NATIVE", "").lower() in _DISABLED:
        return False
    try:
        import_module("scenthound.native._native")
    except ImportError:
        return False
    return True
