"""The pages of a crawl with what is known of their changes, and the order in which a refresh checks them.

Rules
- Pages come in the order of the probability that they have changed since they were last seen (`expected_change`); of
  equal ones the more relevant come first.
- Pages that were gone at the last check come last: few come back.
- Checks that failed say nothing about changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from scenthound.crawler.expected_change import ChangeHistory, change_probability, change_rate, host_rates
from scenthound.model import Progress, silent
from scenthound.store.crawl_records import ArchiveLocation, CheckOutcome, CheckRecord
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.conditions import last_modified_s
from scenthound.web.urls import host_of

#: Outcomes that say whether a page has changed.
SEEN = frozenset({CheckOutcome.UNCHANGED, CheckOutcome.CHANGED})
#: Pages between two reports of progress.
PAGES_PER_REPORT = 100


@dataclass(slots=True)
class KnownPage:
    """A page of the crawl as it is known. `url` is that of its visit, and `found_url` that of its latest version, whose
    response is at `location`; `last` is the response to the latest request there. `seen_s` is when it was last known
    whether the page had changed, and `checked_in` the refresh that checked it last, or 0."""

    visit: int
    url: str
    found_url: str
    relevance: float
    location: ArchiveLocation
    last: ArchiveLocation
    seen_s: float
    history: ChangeHistory = field(default_factory=ChangeHistory)
    is_gone: bool = False
    checked_in: int = 0


def known_pages(crawl: StoredCrawl, progress: Progress = silent) -> list[KnownPage]:
    """The pages of the crawl that can be checked again, in the order of their visits."""
    n_visits = crawl.n_visits()
    (first_s,) = crawl.numbers(("time_s",), n_visits)
    urls = [url for batch in crawl.url_relevance(n_visits) for url, _ in batch]
    # Of a rendered page, the record of its response, which precedes that of the document.
    responses = {(each.location.file, each.location.end): each.location for each in crawl.rendered()}

    def response_at(location: ArchiveLocation) -> ArchiveLocation:
        return responses.get((location.file, location.offset), location)

    known: dict[int, KnownPage] = {}
    for row in crawl.visits():
        if row.location is not None and row.visit < n_visits:
            location, seen_s = response_at(row.location), float(first_s[row.visit])
            page = KnownPage(row.visit, urls[row.visit], row.url, row.relevance, location, location, seen_s)
            known[row.visit] = page
    for check in crawl.checks():
        if check.visit in known:
            page = known[check.visit]
            _add_check(page, check)
            if check.outcome in SEEN:
                page.last = page.location if check.location is None else response_at(check.location)
    for number, (visit, page) in enumerate(known.items()):
        if number % PAGES_PER_REPORT == 0:
            progress(number / len(known), f"{number:,} of {len(known):,} pages read")
        _add_last_change(crawl, page, float(first_s[visit]))
    return list(known.values())


def _add_check(known: KnownPage, check: CheckRecord) -> None:
    known.checked_in = check.refresh
    if check.outcome is CheckOutcome.GONE:
        known.is_gone = True
    elif check.outcome in SEEN:
        known.is_gone = False
        known.history.add_check(check.time_s - known.seen_s, changed=check.outcome is CheckOutcome.CHANGED)
        known.seen_s = check.time_s


def _add_last_change(crawl: StoredCrawl, known: KnownPage, first_s: float) -> None:
    """The last change before the first visit, if the page has not changed since."""
    if not known.history.changed_s:
        modified_s = last_modified_s(crawl.archive.record(known.location).head)
        if modified_s is not None:
            known.history.add_last_change(first_s - modified_s)


def in_order(known: Sequence[KnownPage], now_s: float) -> list[KnownPage]:
    """The pages in the order in which they are checked."""
    hosts = [host_of(each.url) for each in known]
    rates = host_rates([each.history for each in known], hosts)

    def key(number: int) -> tuple[bool, float, float, int]:
        each = known[number]
        rate = change_rate(each.history, rates[hosts[number]])
        probability = change_probability(rate, now_s - each.seen_s)
        return each.is_gone, -probability, -each.relevance, each.visit

    return [known[number] for number in sorted(range(len(known)), key=key)]
