"""Crawl folders of format 1, made by Scenthound up to 0.6: present names for their tables, columns and settings."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from scenthound.reasons import CODES_OF_0_6

_CASES = " ".join(f"WHEN '{old}' THEN '{new}'" for old, new in CODES_OF_0_6.items())
_REASON = f"CASE reason {_CASES} ELSE reason END"

#: By the table of format 1 that a view reads.
_VIEWS = {
    "not_taken": f"skipped AS SELECT page, url, {_REASON} AS reason, detail, time_s, status FROM main.not_taken",
    "visit": "visit AS SELECT *, waiting AS queue_size, flags & 1 AS noindex, (flags & 2) / 2 AS truncated "
    "FROM main.visit",
    "moment": "sample AS SELECT number, time_s, run, pages AS n_pages, page_budget, harvest, "
    "harvest_of_late AS recent_harvest, regret, frontier, in_flight, hosts_active, hosts_resting AS hosts_waiting, "
    "hosts_ready, hosts_retired AS hosts_disabled, not_taken AS n_skipped, paused FROM main.moment",
    "guide": "relevance_model AS SELECT * FROM main.guide",
}


_SETTINGS = {
    "longest_adaptive_s": "max_adaptive_delay_s",
    "longest_rest_s": "max_delay_s",
    "failures_to_retire": "max_failures",
    "obey_nofollow": "respect_nofollow",
}


def renamed_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a crawl of format 1 under their present names."""
    return {
        _SETTINGS.get(name, name): renamed_settings(value) if name == "politeness" else value
        for name, value in settings.items()
    }


def add_views(connection: sqlite3.Connection) -> None:
    """Give the tables of format 1 their present names, by temporary views; other databases stay as they are."""
    tables = {name for (name,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")}
    if "not_taken" in tables:
        connection.execute("PRAGMA temp_store = MEMORY")
        for table, view in _VIEWS.items():
            if table in tables:
                connection.execute(f"CREATE TEMP VIEW {view}")
