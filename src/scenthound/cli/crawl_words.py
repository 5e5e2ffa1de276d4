"""A live crawl in words and figures, as people and as programs are told of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenthound.drivers.live.status import CrawlStatus
    from scenthound.lab.crawl import CrawlSummary
    from scenthound.reasons import Reason

#: Reasons named while a crawl runs; the summary has all of them.
REASONS_SHOWN = 3


def counted(count: int, one: str, many: str) -> str:
    """1 page, 2,000 pages."""
    return f"{count:,} {one if count == 1 else many}"


def clock_time(seconds: float) -> str:
    """1:05, or 2:01:05 from an hour on."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def speed(status: CrawlStatus) -> str:
    return f"{status.pages_per_s:,.1f} pages/s"


def pages_of_budget(status: CrawlStatus) -> str:
    return f"{status.n_pages:,} of {counted(status.page_budget, 'page', 'pages')}"


def hosts(status: CrawlStatus) -> str:
    retired = f", {status.hosts_retired:,} retired" if status.hosts_retired else ""
    return f"{status.hosts_active:,} active, {status.hosts_resting:,} resting{retired}"


def hosts_met(status: CrawlStatus) -> str:
    """Over all runs of the crawl."""
    n_hosts = status.hosts_active + status.hosts_resting + status.hosts_ready + status.hosts_retired
    retired = f", {status.hosts_retired:,} of them retired" if status.hosts_retired else ""
    return f"{n_hosts:,}{retired}"


def harvest(status: CrawlStatus) -> str:
    return f"{status.harvest:.3f}, of late {status.harvest_of_late:.3f}"


def regret(status: CrawlStatus) -> str:
    return "not known" if status.regret is None or not math.isfinite(status.regret) else f"{status.regret:.4f}"


def seconds_left(status: CrawlStatus, time_s: float | None) -> float | None:
    """Until the page budget is reached or the time is up, whichever comes first."""
    until_time = [] if time_s is None else [max(0.0, time_s - status.seconds)]
    until_budget = [] if status.seconds_left is None else [status.seconds_left]
    return min((*until_time, *until_budget), default=None)


def time_left(status: CrawlStatus, time_s: float | None) -> str:
    """Empty while it cannot be told."""
    seconds = seconds_left(status, time_s)
    return "" if seconds is None else f"{clock_time(seconds)} left"


def most_frequent(reasons: Mapping[Reason, int]) -> list[tuple[Reason, int]]:
    return sorted(reasons.items(), key=lambda counted: (-counted[1], counted[0]))


def not_taken(status: CrawlStatus) -> str:
    counted = most_frequent(status.reasons)
    named = [f"{reason} {count:,}" for reason, count in counted[:REASONS_SHOWN]]
    n_others = sum(count for _, count in counted[REASONS_SHOWN:])
    others = [f"others {n_others:,}"] if n_others else []
    return f"{status.n_not_taken:,}" + (f": {', '.join((*named, *others))}" if named else "")


def ending(status: CrawlStatus) -> str:
    """What a crawl that is about to end still waits for, or that it is paused; nothing while it goes on."""
    from scenthound.drivers.ended import Ended

    if status.paused and status.ending is None:
        finishing = f": finishing {status.in_flight:,} in flight" if status.in_flight else ""
        return f"paused from the dashboard{finishing}; Ctrl-C stops"
    if status.ending is None or not status.in_flight:
        return ""
    finishing = f"{status.ending}: finishing {status.in_flight:,} in flight"
    return f"{finishing}; Ctrl-C again stops now" if status.ending is Ended.STOPPED else finishing


def status_values(status: CrawlStatus, time_s: float | None) -> dict[str, Any]:
    """Plain values for programs; docs/crawling.md lists them."""
    left_s = seconds_left(status, time_s)
    return {
        "pages": status.n_pages,
        "page_budget": status.page_budget,
        "seconds": round(status.seconds, 3),
        "seconds_left": None if left_s is None else round(left_s, 1),
        "pages_per_s": round(status.pages_per_s, 3),
        "harvest": status.harvest,
        "harvest_of_late": status.harvest_of_late,
        "regret": status.regret,
        "frontier": status.frontier,
        "in_flight": status.in_flight,
        "hosts_active": status.hosts_active,
        "hosts_resting": status.hosts_resting,
        "hosts_ready": status.hosts_ready,
        "hosts_retired": status.hosts_retired,
        "not_taken": status.n_not_taken,
        "reasons": {reason.value: count for reason, count in most_frequent(status.reasons)},
        "ending": status.ending and status.ending.name.lower(),
        "paused": status.paused,
    }


def summary_values(summary: CrawlSummary) -> dict[str, Any]:
    """What a crawl came to, for programs."""
    values = status_values(summary.status, None)
    del values["ending"], values["seconds_left"], values["in_flight"], values["paused"]
    reasons = {reason.value: count for reason, count in most_frequent(summary.reasons)}
    return {"folder": str(summary.folder), "ended": summary.ended.name.lower(), **values, "reasons": reasons}
