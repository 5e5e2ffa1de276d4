"""Scenthound's part of the live benchmarks: one crawl in a process of its own, or one more run of it.

The work (`live_crawl.Work`) comes as JSON in the first argument. What is printed is what `live_process` reads: pages
are told when they are on the disk.
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.live_crawl import Work
from scenthound.crawler.plan import CrawlSettings
from scenthound.crawler.start import RunOptions, crawl, resume
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.model import Topic
from scenthound.store.crawl_folder import is_crawl
from scenthound.store.crawl_records import CrawlStatus


def main() -> None:
    work = Work(**json.loads(sys.argv[1]))
    options = RunOptions(
        time_s=work.time_s, commit_s=work.commit_s, watch=_tell, watch_s=work.watch_s, obey_signals=True
    )
    folder = Path(work.folder)
    if is_crawl(folder):
        summary = resume(folder, replace(options, page_budget=work.n_pages))
    else:
        summary = crawl(_plan(work), folder, options)
    reasons = {reason.value: count for reason, count in summary.reasons.items()}
    print_line(summary.status, ended=summary.ended, reasons=reasons)


def _plan(work: Work) -> CrawlSettings:
    return CrawlSettings(
        topic=Topic("benchmark", tuple(work.keywords)),
        seeds=tuple(work.seeds),
        strategy=work.strategy,
        relevance="cosine",
        page_budget=work.n_pages,
        # Loopback answers at once, so no rest beside the delay that is asked for.
        politeness=PolitenessSettings(delay_s=work.delay_s, delay_factor=0.0),
        connections=work.connections,
        allow_private=True,
    )


def _tell(status: CrawlStatus) -> None:
    print_line(status)


def print_line(status: CrawlStatus, **further: object) -> None:
    said = {
        "pages": status.n_pages,
        "relevance": status.harvest,
        "regret": status.regret,
        "frontier": status.frontier,
        "in_flight": status.in_flight,
        "cpu_s": time.process_time(),
    }
    print(json.dumps(said | further), flush=True)


if __name__ == "__main__":
    main()
