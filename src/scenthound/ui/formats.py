"""Numbers, settings, versions and counts of sitemaps and rendered pages as text, and JSON for other programs."""

import json
from collections.abc import Mapping
from math import isnan
from typing import Any

from scenthound.errors import printable
from scenthound.experiments.results import versions
from scenthound.reasons import SkipReason
from scenthound.records import to_json
from scenthound.store.crawl_records import CrawlStatus, RenderedRecord

#: Stands for a missing number.
NO_VALUE = "-"
#: For curves and points: pages show errors as bands, images as bars.
ERRORS_NOTE = "Bands and bars are one standard error to either side."
#: Larger values are not shares and need fewer decimals.
LARGE = 100


def format_percent(share: float) -> str:
    return NO_VALUE if isnan(share) else f"{100 * share:.0f} %"


def format_number(value: float, sign: str = "") -> str:
    """Three decimals for shares, one for larger values such as ranks."""
    if isnan(value):
        return NO_VALUE
    return f"{value:{sign}.3f}" if abs(value) < LARGE else f"{value:{sign},.1f}"


def format_mean(mean: float, error: float) -> str:
    """`0.512 ± 0.031`, or the mean alone if there is no standard error."""
    return format_number(mean) if isnan(error) else f"{format_number(mean)} ± {error:.3f}"


def format_interval(low: float, high: float) -> str:
    return NO_VALUE if isnan(low) else f"{format_number(low, '+')} to {format_number(high, '+')}"


def format_range(low: float, high: float) -> str:
    return NO_VALUE if isnan(low) else f"{low:.3f} to {high:.3f}"


def plural(number: int, noun: str) -> str:
    """The noun in the form for this number."""
    if number == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def counted(number: int, noun: str, many: str = "") -> str:
    """`1 page`, `2,000 pages`; `many` is the plural if it is irregular, such as `pages were` of `page was`."""
    return f"{number:,} {(many or plural(number, noun)) if number != 1 else noun}"


def sitemaps_text(skipped: Mapping[SkipReason, int], n_elsewhere: int) -> str:
    """What was not read of the sitemaps of a crawl; empty if everything was."""
    by_count = sorted(skipped.items(), key=lambda each: (-each[1], each[0]))
    reasons = ", ".join(f"{reason.text} {count:,}" for reason, count in by_count)
    parts = [f"{sum(skipped.values()):,} skipped ({reasons})"] if skipped else []
    if n_elsewhere:
        parts.append(f"{counted(n_elsewhere, 'URL')} of other hosts left out")
    return "; ".join(parts)


def renders_text(status: CrawlStatus) -> str:
    """How many pages of a crawl were rendered; empty if that was not tried."""
    parts = []
    if status.n_rendered:
        pages = counted(status.n_rendered, "page")
        parts.append(f"{pages} in a browser, {status.n_renders_paid:,} of them with much more text or more links")
    if status.n_renders_failed:
        parts.append(f"{counted(status.n_renders_failed, 'page')} could not be rendered")
    if status.render_problem:
        parts.append(f"no more pages in this run, because {printable(status.render_problem, 300)}")
    return "; ".join(parts)


def rendering_text(rendering: RenderedRecord) -> str:
    """What rendering brought for a page."""
    words, links = counted(rendering.words, "word"), counted(rendering.links, "link")
    return f"in a browser: {words} instead of {rendering.words_before:,}, {links} instead of {rendering.links_before:,}"


def json_text(values: Any, indent: int | None = None) -> str:
    """ASCII JSON; null stands for NaN and infinity, which the format lacks (the score of a seed is infinite)."""
    return json.dumps(to_json(values), indent=indent, allow_nan=False)


#: Labels of settings whose names in files are short.
SETTING_LABELS = {
    "page_budget": "pages per crawl",
    "budgets": "pages per crawl",
    "repeats": "repeats of each crawl",
    "n_crawls": "crawls of each individual",
    "n_start": "start pages",
    "n_large": "pages in the large seed set",
    "n_small": "pages in the small seed set",
    "n_train": "examples set aside to train relevance models",
    "n_judge": "examples set aside to train judges",
    "task": "crawls start from",
    "relevance": "relevance model of all strategies",
    "train_from": "relevance models are trained on",
    "training_pages": "training pages as in",
    "closed_world": "links to pages not recorded are hidden",
    "respect_nofollow": "nofollow is respected",
    "plain": "all strategies in Python",
    "same_start": "all crawls of a topic start from the same pages",
    "reevaluate": "the same genes are evaluated again",
    "random_streams": "random numbers of crawls by",
    "renew": "ranks renewed by a good page",
}


def setting_rows(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Labels and values, in order; empty settings are left out."""
    return tuple(
        (SETTING_LABELS.get(name, name.replace("_", " ")), _setting_text(value))
        for name, value in settings.items()
        if value not in (None, [])
    )


def _setting_text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value)


def format_versions(numbers: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def version_rows(about: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The versions that made a result folder, as far as they are stored, and those that made its report."""
    made_by = about.get("versions") or {"scenthound": about["scenthound"]}
    return ("made by", format_versions(made_by)), ("report made by", format_versions(versions()))
