"""The extension in C: the work that every page and link costs.

It is part of wheels, and built when the package is installed from source (`setup.py`).

Rules
- Functions take bytes and arrays, and return new ones; those that change an array say so in its kind (`native.h`). Only
  `CrawledWeb` keeps arrays, which must not change any more: it checks them once, when it is made.
- They never fail because of what a page contains. They check lengths and indices, because wrong ones would otherwise
  read or write foreign memory.
"""

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from scenthound.errors import BrokenInstallation, printable

try:
    from scenthound.native import _native as _native
except ImportError as reason:
    _folder = Path(__file__).parent
    if any((_folder / f"_native{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
        raise BrokenInstallation(
            f"Scenthound's extension in C cannot be loaded ({printable(reason)}). Install the wheel of this platform: "
            "`pip install --force-reinstall scenthound`."
        ) from None
    raise BrokenInstallation(
        "Scenthound's extension in C is missing: it is a wheel of another platform, or a checkout that was not built. "
        "Run `pip install --force-reinstall scenthound`, or in a checkout `python setup.py build_ext --inplace`."
    ) from None
