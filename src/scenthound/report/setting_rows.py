"""Settings that a file keeps as plain values, as rows of names and values for people."""

import json
from collections.abc import Mapping
from typing import Any

#: What settings are called whose names in files are short.
NAMES = {
    "page_budget": "pages per crawl",
    "budgets": "pages per crawl",
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
    "obey_nofollow": "nofollow is obeyed",
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
