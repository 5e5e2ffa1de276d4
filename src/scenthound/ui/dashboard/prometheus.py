"""Metrics of the crawls for Prometheus, in its text format 0.0.4.

Rules
- Unknown values are left out, not reported as 0.
- Speed and requests in flight are reported only while a process crawls; a paused crawl has the speed 0.
- Names of crawls, topics and reasons may contain anything and are escaped.
"""

from collections.abc import Iterator

from scenthound.crawler.state import ALIVE, State
from scenthound.records import columns_of
from scenthound.store.crawl_records import CrawlStatus
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard.crawl_views import crawl_response
from scenthound.ui.dashboard.responses import Crawl
from scenthound.ui.dashboard.services import Services

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: What metrics say, by name. Most are derived from the fields of the status.
METRICS = {
    "crawl_info": "Facts about the crawl, as labels; always 1.",
    "running": "1 while a process crawls, else 0.",
    **{
        str(each.options["metric"]): f"{each.help[:1].upper()}{each.help[1:]}."
        for each in columns_of(CrawlStatus)
        if "metric" in each.options
    },
    "hosts": "Hosts by state.",
    "skipped_total": "Pages skipped, by reason.",
}

#: Name, labels besides that of the crawl, and value.
Sample = tuple[str, dict[str, str], float | None]


def metrics_text(services: Services) -> str:
    """All readable crawls."""
    lines: dict[str, list[str]] = {name: [] for name in METRICS}
    for found in services.folders.all():
        if found.kind != "crawl":
            continue
        try:
            with StoredCrawl.open(found.path) as stored:
                crawl = crawl_response(found, stored)
            samples = list(_samples(crawl))
        except Exception:  # noqa: BLE001 - one bad crawl must not hide the others
            continue
        for name, labels, value in samples:
            if value is not None:
                texts = ",".join(f'{each}="{escaped(text)}"' for each, text in {"crawl": crawl.id, **labels}.items())
                lines[name].append(f"scenthound_{name}{{{texts}}} {float(value)!r}\n")
    return "".join(
        f"# HELP scenthound_{name} {METRICS[name]}\n"
        f"# TYPE scenthound_{name} {'counter' if name.endswith('_total') else 'gauge'}\n{''.join(of_metric)}"
        for name, of_metric in lines.items()
    )


def escaped(text: str) -> str:
    """The value of a label, without lone surrogates, which UTF-8 cannot encode."""
    valid = text.encode("utf-8", "replace").decode()
    return valid.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _samples(crawl: Crawl) -> Iterator[Sample]:
    """One of each metric, or several that differ by a label."""
    yield "crawl_info", {"topic": crawl.topic, "strategy": crawl.strategy, "state": crawl.state, "name": crawl.name}, 1
    yield "running", {}, crawl.state in ALIVE
    for reason in crawl.reasons:
        yield "skipped_total", {"reason": reason.reason}, reason.pages
    status = crawl.status
    if status is None:
        return
    for state, n_hosts in status.hosts.items():
        yield "hosts", {"state": state.value}, n_hosts
    for column in columns_of(CrawlStatus):
        is_known = crawl.state in ALIVE or not column.options.get("is_live")
        if "metric" in column.options and is_known and (status.n_pages or not column.options.get("needs_pages")):
            is_paused = column.name == "pages_per_s" and crawl.state is State.PAUSED
            yield column.options["metric"], {}, 0 if is_paused else getattr(status, column.name)
