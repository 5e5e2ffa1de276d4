"""Functions in C for the work that every page and link costs. Optional: without them plain Python does the same.

The extension is built when the package is installed, if there is a C compiler (`setup.py`). `SCENTHOUND_NATIVE=0` in
the environment disables it, to compare both or to rule it out as the cause of a problem. Callers check `is_available`
before they import `_native`.

Rules
- Functions take bytes and arrays, whose contents they never keep, and return new bytes or arrays of numbers.
- They never fail because of what a page contains. They check the lengths of their arguments, because a wrong one would
  otherwise read foreign memory.
"""

import os
from functools import cache
from importlib.util import find_spec


@cache
def is_available() -> bool:
    """Whether the extension was built, and may be used."""
    return os.environ.get("SCENTHOUND_NATIVE", "1") != "0" and find_spec("scenthound.native._native") is not None
