"""Stored crawls with complete settings and samples, for tests of overviews and reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scenthound.crawler.settings import CrawlSettings
from scenthound.model import Topic
from scenthound.store.crawl_records import RunRecord, Sample
from scenthound.store.crawl_store import CrawlStore
from scenthound.ui.document import Block, Chart, Document, Table
from stored_crawls import NOON_S, new_crawl, visit

SEEDS = ("http://a.test/0", "http://b.test/1")
TOPIC = Topic("ballooning", ("hot air balloon", "ballooning"))


def plan(**changes: Any) -> CrawlSettings:
    return CrawlSettings(**{"topic": TOPIC, "seeds": SEEDS, **changes})


def planned_crawl(folder: Path, **changes: Any) -> CrawlStore:
    """An empty crawl with the settings of a plan."""
    return new_crawl(folder, **plan(**changes).as_settings())


def add_visits(
    store: CrawlStore, relevances: Sequence[float], links: dict[int, list[int]] | None = None, **changes: Any
) -> None:
    """Visits of pages 0, 1, 2, ..., a second apart, on two hosts in turn, the seeds first; all in one commit."""
    urls = [f"http://{'ab'[page % 2]}.test/{page}" for page in range(len(relevances))]
    store.add_urls(urls)
    for page, relevance in enumerate(relevances):
        store.add(
            visit(
                page,
                url=urls[page],
                relevance=relevance,
                links=np.array((links or {}).get(page, []), np.int32),
                queue_size=10 * page,
                **changes,
            )
        )
    store.commit()


def blocks_of(page: Document) -> list[Block]:
    return [block for section in page.sections for block in section.blocks]


def chart(page: Document, name: str) -> Chart:
    return next(block for block in blocks_of(page) if isinstance(block, Chart) and block.name == name)


def table(page: Document, name: str) -> Table:
    return next(block for block in blocks_of(page) if isinstance(block, Table) and block.name == name)


def a_run(number: int = 1, began_s: float = 0.0, **changes: Any) -> RunRecord:
    """`began_s` is counted from noon."""
    values: dict[str, Any] = {"n_pages_before": 0, "process": 1, "version": "1.0", **changes}
    if values.get("ended_s") is not None:
        values["ended_s"] += NOON_S
    return RunRecord(run=number, began_s=NOON_S + began_s, **values)


def a_moment(time_s: float, pages: int, run: int = 1, **changes: Any) -> Sample:
    """`time_s` is counted from noon."""
    values: dict[str, Any] = {
        "page_budget": 100,
        "harvest": 0.5,
        "recent_harvest": 0.25,
        "regret": None,
        "frontier": 7,
        "in_flight": 2,
        "hosts_active": 1,
        "hosts_waiting": 2,
        "hosts_ready": 3,
        "hosts_disabled": 4,
        "n_skipped": 5,
        "paused": False,
        **changes,
    }
    return Sample(time_s=NOON_S + time_s, run=run, n_pages=pages, **values)
