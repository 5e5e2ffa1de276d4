"""The crawls as figures for Prometheus, in its text format 0.0.4.

Rules
- A figure that is not known is left out, rather than told as 0: no page has no harvest.
- Only a crawl that a process is at work on has a speed and requests; one that is paused has the speed 0.
- Names of crawls, topics and reasons may hold anything; they are escaped here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scenthound.ui.dashboard.handlers import crawl as crawl_of
from scenthound.ui.dashboard.queries import OfFolder
from scenthound.ui.dashboard.responses import Crawl, Status
from scenthound.ui.dashboard.services import Rooms

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ALIVE = ("running", "paused", "ending")

#: Labels beside that of the crawl, and the figure.
Samples = Iterator[tuple[dict[str, str], float | None]]


@dataclass(slots=True)
class Metric:
    """One figure for each crawl, or several that differ by a label."""

    name: str
    kind: str
    says: str
    samples: Callable[[Crawl], Samples]
    lines: list[str] = field(default_factory=list)


def metrics_text(rooms: Rooms) -> str:
    """All crawls that can be read."""
    metrics = _metrics()
    for found in rooms.book.all():
        if found.kind != "crawl":
            continue
        try:
            crawl = crawl_of(rooms, OfFolder(found.id))
            lines = [list(_lines(metric, crawl)) for metric in metrics]
        except Exception:  # noqa: BLE001 - whatever is wrong with one crawl, the others are told of
            continue
        for metric, more in zip(metrics, lines, strict=True):
            metric.lines += more
    return "".join(
        f"# HELP {metric.name} {metric.says}\n# TYPE {metric.name} {metric.kind}\n{''.join(metric.lines)}"
        for metric in metrics
    )


def _lines(metric: Metric, crawl: Crawl) -> Iterator[str]:
    for more, value in metric.samples(crawl):
        if value is not None:
            labels = ",".join(f'{name}="{escaped(text)}"' for name, text in {"crawl": crawl.id, **more}.items())
            yield f"{metric.name}{{{labels}}} {float(value)!r}\n"


def escaped(text: str) -> str:
    """A label's value. Halves of characters have no bytes in UTF-8."""
    whole = text.encode("utf-8", "replace").decode()
    return whole.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _of_status(figure: Callable[[Status], float | None]) -> Callable[[Crawl], Samples]:
    def samples(crawl: Crawl) -> Samples:
        if crawl.status is not None:
            yield {}, figure(crawl.status)

    return samples


def _of_harvest(figure: Callable[[Status], float]) -> Callable[[Crawl], Samples]:
    return _of_status(lambda status: figure(status) if status.pages else None)


def _speed(crawl: Crawl) -> Samples:
    if crawl.status is not None and crawl.state in _ALIVE:
        yield {}, 0.0 if crawl.state == "paused" else crawl.status.pages_per_s


def _in_flight(crawl: Crawl) -> Samples:
    if crawl.status is not None and crawl.state in _ALIVE:
        yield {}, crawl.status.in_flight


def _information(crawl: Crawl) -> Samples:
    yield {"topic": crawl.topic, "strategy": crawl.strategy, "state": crawl.state, "name": crawl.name}, 1


def _running(crawl: Crawl) -> Samples:
    yield {}, float(crawl.state in _ALIVE)


def _hosts(crawl: Crawl) -> Samples:
    status = crawl.status
    if status is not None:
        yield {"state": "in process"}, status.hosts_active
        yield {"state": "resting"}, status.hosts_waiting
        yield {"state": "ready"}, status.hosts_ready
        yield {"state": "retired"}, status.hosts_disabled


def _not_taken(crawl: Crawl) -> Samples:
    for reason in crawl.status.reasons if crawl.status is not None else ():
        yield {"reason": reason.reason}, reason.pages


def _metrics() -> list[Metric]:
    """Each with no lines yet."""
    return [
        Metric("scenthound_crawl_info", "gauge", "What the crawl is; always 1.", _information),
        Metric("scenthound_running", "gauge", "1 while a process is at work on the crawl, else 0.", _running),
        Metric("scenthound_pages_total", "counter", "Pages taken.", _of_status(lambda status: status.pages)),
        Metric("scenthound_page_budget", "gauge", "Pages wanted.", _of_status(lambda status: status.page_budget)),
        Metric("scenthound_harvest", "gauge", "Mean relevance of the pages.", _of_harvest(lambda each: each.harvest)),
        Metric(
            "scenthound_recent_harvest",
            "gauge",
            "Mean relevance of the last 200 pages.",
            _of_harvest(lambda status: status.recent_harvest),
        ),
        Metric("scenthound_pages_per_second", "gauge", "Speed of late, of a crawl at work.", _speed),
        Metric("scenthound_frontier", "gauge", "Pages that wait.", _of_status(lambda status: status.frontier)),
        Metric("scenthound_in_flight", "gauge", "Requests under way.", _in_flight),
        Metric("scenthound_hosts", "gauge", "Hosts by state.", _hosts),
        Metric(
            "scenthound_regret",
            "gauge",
            "Mean score given up because hosts of better pages rested.",
            _of_status(lambda status: status.regret),
        ),
        Metric("scenthound_skipped_total", "counter", "Pages not taken, by reason.", _not_taken),
    ]
