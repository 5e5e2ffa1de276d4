"""Numbers as people read them in tables and sentences; a dash where there is none."""

import json
import math
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from math import isnan
from platform import python_version
from typing import Any

#: From here on values are no shares.
LARGE = 100
#: What stands where there is no number.
NOTHING = "-"


def percent_told(share: float) -> str:
    return NOTHING if isnan(share) else f"{100 * share:.0f} %"


def number_told(value: float, sign: str = "") -> str:
    """Shares need three decimals, ranks among thousands one."""
    if isnan(value):
        return NOTHING
    return f"{value:{sign}.3f}" if abs(value) < LARGE else f"{value:{sign},.1f}"


def things(number: int, thing: str) -> str:
    """The word for so many of a thing."""
    if number == 1:
        return thing
    return f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"


def counted(number: int, thing: str) -> str:
    return f"{number:,} {things(number, thing)}"


def mean_told(mean: float, error: float) -> str:
    return number_told(mean) if isnan(error) else f"{number_told(mean)} ± {error:.3f}"


def interval_told(low: float, high: float) -> str:
    return NOTHING if isnan(low) else f"{number_told(low, '+')} to {number_told(high, '+')}"


# JSON as other programs can read it: the format has no word for what is endless or no number, so null stands for
# them.
#
# The score of a seed is endless, for one.


def json_text(values: Any, indent: int | None = None) -> str:
    """Plain values as JSON; letters beyond ASCII are escaped, so that any terminal can show it."""
    return json.dumps(finite(values), indent=indent, allow_nan=False)


def finite(values: Any) -> Any:
    """Plain values with null for what is endless or no number."""
    if isinstance(values, dict):
        return {name: finite(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [finite(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


# Settings that a file keeps as plain values, as rows of names and values for people.

#: What settings are called whose names in files are short.
NAMES = {
    "page_budget": "pages per crawl",
    "budgets": "pages per crawl",
    "repeats": "random seeds",
    "n_seeds": "random seeds",
    "n_crawls": "crawls of each individual",
    "n_start": "start pages",
    "n_large": "pages in the large seed set",
    "n_small": "pages in the small seed set",
    "n_train": "examples set aside for guides",
    "n_judge": "examples set aside for judges",
    "task": "crawls start from",
    "relevance": "guide of all strategies",
    "train_from": "guides learn from",
    "closed_world": "links to pages not recorded are hidden",
    "respect_nofollow": "nofollow is obeyed",
    "plain": "without compiled code",
    "same_start": "all crawls of a topic from the same pages",
    "reevaluate": "the same genes crawled for again",
}


def setting_rows(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """In their order; those that are empty are left out."""
    told = ((NAMES.get(name, name.replace("_", " ")), value) for name, value in settings.items())
    return tuple((name, _told(value)) for name, value in told if value not in (None, []))


def _told(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value)


# Which versions numbers come from, so that a run can be repeated.

#: The packages whose versions may change a number.
PACKAGES = ("scenthound", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")


def versions() -> dict[str, str]:
    """Of Python and of the packages that numbers come from; those that are not installed are left out."""
    return {"python": python_version(), **dict(_installed())}


def versions_told(numbers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def maker_rows(about: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Who made what a folder holds, of which it keeps no more than this, and who made the report of it."""
    return ("made by", f"scenthound {about['scenthound']}"), ("this report was made by", versions_told(versions()))


def _installed() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
