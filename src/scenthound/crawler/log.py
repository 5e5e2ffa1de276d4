"""What crawls write to the logger `scenthound`.

- INFO: start with all settings (without credentials), progress once a minute, end with counts.
- WARNING: notes for the user, and hosts that were disabled. ERROR: why a run failed.
- DEBUG: each page that was visited or skipped.

A record is one line of a message and `name=value` pairs. Without a handler nothing is written; a program that uses the
package adds its own, and `scenthound crawl --log-file` a file.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson

from scenthound.crawler.settings import CrawlSettings
from scenthound.errors import ScenthoundError, printable
from scenthound.store.crawl_records import CrawlStatus

LOGGER = logging.getLogger("scenthound")
LOGGER.addHandler(logging.NullHandler())

SECONDS_BETWEEN_RECORDS = 60.0


def values_text(values: Mapping[str, Any]) -> str:
    """`pages=3 harvest=0.25 why="page budget reached"`; values that are None are left out."""
    return " ".join(f"{name}={_text(value)}" for name, value in values.items() if value is not None)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = printable(value)
    is_plain = text and not any(sign in text for sign in ' ="')
    return text if is_plain else orjson.dumps(text).decode()


def log_start(what: str, settings: CrawlSettings, **values: Any) -> None:
    if LOGGER.isEnabledFor(logging.INFO):
        as_json = orjson.dumps(settings.as_settings()).decode()
        LOGGER.info("%s started: %s settings=%s", what, values_text(values), as_json)


@contextmanager
def failures_logged(what: str) -> Iterator[None]:
    try:
        yield
    except ScenthoundError as error:
        LOGGER.error("%s failed: %s", what, error.message)
        raise


def noted(note: Callable[[str], None]) -> Callable[[str], None]:
    """Notes that are also logged."""

    def log_and_note(line: str) -> None:
        LOGGER.warning("%s", line)
        note(line)

    return log_and_note


class ProgressLog:
    """Logs the status of a run, at most once a minute, and changes that the user should know of."""

    def __init__(self, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._clock = clock
        self._last_s = clock()
        self._n_disabled: int | None = None
        self._is_ending = self._is_paused = False

    def __call__(self, status: CrawlStatus) -> None:
        n_disabled = status.hosts_disabled
        if self._n_disabled is not None and n_disabled > self._n_disabled:
            LOGGER.warning("%s: hosts disabled: %s", self._what, values_text({"hosts_disabled": n_disabled}))
        if status.paused != self._is_paused:
            LOGGER.info("%s %s", self._what, "paused" if status.paused else "continued")
        if status.ending is not None and not self._is_ending:
            LOGGER.info("%s ending: %s", self._what, values_text({"why": status.ending, "in_flight": status.in_flight}))
        self._n_disabled, self._is_paused, self._is_ending = n_disabled, status.paused, status.ending is not None
        if self._clock() - self._last_s >= SECONDS_BETWEEN_RECORDS:
            self._last_s = self._clock()
            LOGGER.info("%s: %s", self._what, values_text(status_values(status)))


def status_values(status: CrawlStatus) -> dict[str, Any]:
    """The most important values, for one line."""
    return {
        "pages": status.n_pages,
        "page_budget": status.page_budget,
        "on_topic": status.n_on_topic,
        "harvest": status.harvest,
        "recall": status.recall,
        "pages_per_s": status.pages_per_s,
        "queued": status.frontier,
        "in_flight": status.in_flight,
        **{f"hosts_{state}": count for state, count in status.hosts.items() if count},
        "skipped": status.n_skipped,
    }


def log_page(outcome: str, **values: Any) -> None:
    if LOGGER.isEnabledFor(logging.DEBUG):
        LOGGER.debug("%s: %s", outcome, values_text(values))
