"""Metrics of the crawls for Prometheus, in its text format 0.0.4.

Rules
- Unknown values are left out, not reported as 0.
- Speed and requests in flight are reported only while a process crawls; a paused crawl has the speed 0.
- Names of crawls, topics and reasons may contain anything and are escaped.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scenthound.crawler.state import ALIVE, State
from scenthound.records import Column, columns_of
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard.crawl_views import crawl_response
from scenthound.ui.dashboard.responses import Crawl
from scenthound.ui.dashboard.services import Services

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Labels besides that of the crawl, and the value.
Samples = Iterator[tuple[dict[str, str], float | None]]


@dataclass(slots=True)
class Metric:
    """One value for each crawl, or several that differ by a label."""

    name: str
    help: str
    samples: Callable[[Crawl], Samples]
    lines: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        return "counter" if self.name.endswith("_total") else "gauge"


def metrics_text(services: Services) -> str:
    """All readable crawls."""
    metrics = _metrics()
    for found in services.folders.all():
        if found.kind != "crawl":
            continue
        try:
            with StoredCrawl.open(found.path) as stored:
                crawl = crawl_response(found, stored)
            lines = [list(_lines(metric, crawl)) for metric in metrics]
        except Exception:  # noqa: BLE001 - one bad crawl must not hide the others
            continue
        for metric, more in zip(metrics, lines, strict=True):
            metric.lines += more
    return "".join(
        f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.type}\n{''.join(metric.lines)}"
        for metric in metrics
    )


def _lines(metric: Metric, crawl: Crawl) -> Iterator[str]:
    for more, value in metric.samples(crawl):
        if value is not None:
            labels = ",".join(f'{name}="{escaped(text)}"' for name, text in {"crawl": crawl.id, **more}.items())
            yield f"{metric.name}{{{labels}}} {float(value)!r}\n"


def escaped(text: str) -> str:
    """The value of a label, without lone surrogates, which UTF-8 cannot encode."""
    valid = text.encode("utf-8", "replace").decode()
    return valid.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _of_status(column: Column) -> Callable[[Crawl], Samples]:
    def samples(crawl: Crawl) -> Samples:
        status = crawl.status
        if status is None or (column.options.get("is_live") and crawl.state not in ALIVE):
            return
        is_known = status.n_pages or not column.options.get("needs_pages")
        is_paused = column.name == "pages_per_s" and crawl.state is State.PAUSED
        yield {}, 0.0 if is_paused else getattr(status, column.name) if is_known else None

    return samples


def _information(crawl: Crawl) -> Samples:
    yield {"topic": crawl.topic, "strategy": crawl.strategy, "state": crawl.state, "name": crawl.name}, 1


def _running(crawl: Crawl) -> Samples:
    yield {}, float(crawl.state in ALIVE)


def _hosts(crawl: Crawl) -> Samples:
    for state, n_hosts in crawl.status.hosts.items() if crawl.status is not None else ():
        yield {"state": state.value}, n_hosts


def _skipped(crawl: Crawl) -> Samples:
    for reason in crawl.reasons:
        yield {"reason": reason.reason}, reason.pages


def _metrics() -> list[Metric]:
    """Without lines yet. Most are derived from the fields of the status."""
    derived = [
        Metric(f"scenthound_{each.options['metric']}", _sentence(each.help), _of_status(each))
        for each in columns_of(CrawlStatus)
        if "metric" in each.options
    ]
    return [
        Metric("scenthound_crawl_info", "Facts about the crawl, as labels; always 1.", _information),
        Metric("scenthound_running", "1 while a process crawls, else 0.", _running),
        *derived,
        Metric("scenthound_hosts", "Hosts by state.", _hosts),
        Metric("scenthound_skipped_total", "Pages skipped, by reason.", _skipped),
    ]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
