"""Stored crawls as responses of the API: state, settings, curves, pages, and why a page was visited or not.

Nothing here scans all visits, so the cost does not depend on the size of a crawl. What is unknown is null or empty.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from scenthound.crawler.explain import Explanation
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import CrawlState, State, crawl_state
from scenthound.errors import InvalidInput, ScenthoundError, UnknownName
from scenthound.experiments.labels import Labels
from scenthound.reasons import EndReason, SkipReason
from scenthound.records import columns_of
from scenthound.store.crawl_records import (
    CrawlStatus,
    PageVisit,
    RelevanceRecord,
    SkippedRecord,
    VisitRecord,
)
from scenthound.store.search_query import excerpt
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import CURVES, CrawlCurves
from scenthound.ui.crawl_overview import relevance_name, scored_by
from scenthound.ui.dashboard import responses
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.parameters import PagesQuery, SkippedQuery
from scenthound.ui.endings import ending_text
from scenthound.ui.explanations import explanation_sentences
from scenthound.ui.reports.crawl import settings_facts
from scenthound.ui.reports.crawl_summary import resume_command

MAX_TEXT_CHARACTERS = 2_000
_ENDED = {
    EndReason.BUDGET: "The page budget is reached.",
    EndReason.FRONTIER: "No pages are left in the frontier.",
    EndReason.TIME: "The time limit is reached.",
    EndReason.HARVEST: "The harvest fell below its limit.",
    EndReason.RECALL: "The estimated recall is reached.",
    EndReason.STOPPED: "The crawl was stopped.",
    EndReason.PROXY: "The proxy failed.",
    EndReason.FILES: "Too many files were open.",
}
_DIED = "The process ended without recording a reason. All visited pages are on disk."


def crawl_response(found: FoundFolder, crawl: StoredCrawl) -> responses.Crawl:
    state, settings = crawl_state(crawl), crawl.about.settings
    topic, plan, models = topic_of(settings), _plan(settings), crawl.relevance_models()
    first_model = relevance_name(plan) if plan else "unknown"
    return responses.Crawl(
        id=found.id,
        name=found.path.name,
        path=str(found.path),
        topic=str(topic.get("id", "")),
        keywords=tuple(map(str, topic.get("keywords", ()))),
        strategy=str(settings.get("strategy", "")),
        relevance_model=f"{models[-1].relevance}, retrained" if models else first_model,
        on_topic=_on_topic(plan, first_model, models),
        scored_by=scored_by(plan, crawl.about.crawl_id, models) if plan else str(crawl.about.crawl_id),
        state=state.state,
        ended=_ended(state),
        end_reason=state.ended,
        resume_command=resume_command(found.path, state) if state.can_resume else None,
        status=state.status,
        reasons=_reason_counts(state.status) if state.status else (),
        relevance_models=tuple(models),
        n_labels=len(labels_of(crawl)),
        settings=_settings(plan, crawl) if plan else (),
    )


def _on_topic(
    plan: CrawlSettings | None, first_model: str, retrained: Sequence[RelevanceRecord]
) -> responses.OnTopic | None:
    if plan is None or plan.on_topic_from is None:
        return None
    models = dict.fromkeys([first_model, *(each.relevance for each in retrained)])
    return responses.OnTopic(", then ".join(models), plan.on_topic_from)


def labels_of(crawl: StoredCrawl) -> dict[int, bool]:
    """Labels by visit. An unreadable file of labels does not hide the crawl; labelling a page reports it."""
    try:
        return Labels.of(crawl).by_visit()
    except InvalidInput:
        return {}


def topic_of(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    topic = settings.get("topic")
    return topic if isinstance(topic, Mapping) else {}


def _reason_counts(status: CrawlStatus) -> tuple[responses.ReasonCount, ...]:
    counts = sorted(status.reasons.items(), key=lambda each: (-each[1], each[0]))
    return tuple(responses.ReasonCount(reason.value, reason.text, pages) for reason, pages in counts)


def column_infos() -> responses.Columns:
    """How the fields of pages and of the status are displayed."""
    infos = (
        tuple(
            responses.ColumnInfo(
                each.name, each.title, each.unit, each.help, *map(each.options.get, ("listed", "host_state"))
            )
            for each in columns_of(record)
        )
        for record in (PageVisit, CrawlStatus)
    )
    return responses.Columns(*infos)


def curves_response(curves: CrawlCurves) -> responses.Curves:
    """Counts that are unknown are None, other unknown values NaN, which JSON writes as null."""
    response: responses.Curves = {name: tuple(curves[name].tolist()) for name in CURVES.names or ()}
    for name, values in response.items():
        if name.startswith(("hosts_", "n_")):
            response[name] = tuple(None if value is None or math.isnan(value) else int(value) for value in values)
    return response


def _plan(settings: Mapping[str, Any]) -> CrawlSettings | None:
    """None if the settings are not those of this version."""
    try:
        return CrawlSettings.from_settings(settings)
    except ScenthoundError:
        return None


def _settings(plan: CrawlSettings, crawl: StoredCrawl) -> tuple[responses.Fact, ...]:
    try:
        goals = StopConditions.read(crawl.folder)
    except InvalidInput:
        # The next run reports it.
        goals = StopConditions()
    return tuple(responses.Fact(name, value) for name, value in settings_facts(plan, goals, relevance_name(plan)))


def _ended(state: CrawlState) -> str | None:
    if state.ended is not None:
        more = ending_text(state.ending) if state.ending is not None else ""
        says_why = state.ending is not None and (state.ending.is_failure or state.ending.ran_dry)
        return more if says_why else f"{_ENDED[state.ended]} {more}".rstrip()
    return _DIED if state.state is State.DIED else None


# Pages


def visited_pages(
    rows: Iterable[VisitRecord], crawl: StoredCrawl, labels: Mapping[int, bool], query: str = ""
) -> tuple[responses.VisitedPage, ...]:
    """With excerpts that show what was found by a query, if there is one."""
    seeds = set(map(str, crawl.about.settings.get("seeds", ())))
    return tuple(
        responses.VisitedPage(
            **{each.name: getattr(row, each.name) for each in fields(PageVisit)},
            n_links=len(row.links),
            # If a seed was redirected, the requested URL is the seed.
            is_seed=row.url in seeds or (row.page < len(seeds) and crawl.url_of(row.page) in seeds),
            label=labels.get(row.visit),
            excerpt=(excerpt(crawl.text_of(row), query) or None) if query.strip() else None,
        )
        for row in rows
    )


def listed_visits(crawl: StoredCrawl, query: PagesQuery) -> tuple[list[VisitRecord], int | None, int | None]:
    """The visits, the start of the next request, if there are more, and how many there are, if that is known."""
    # One more row than requested shows whether there is a next page.
    rows = crawl.listed(query.order, query.limit + 1, query.start, query.host)
    listed = rows[: query.limit]
    following = None
    if len(rows) > query.limit:
        last = listed[-1].visit
        following = {"latest": last, "first": last + 1}.get(query.order, query.start + len(listed))
    return listed, following, None if query.host else crawl.n_visits()


def skipped_pages(crawl: StoredCrawl, query: SkippedQuery) -> responses.SkippedPages:
    if query.reason and query.reason not in set(SkipReason):
        raise UnknownName.among("reason", query.reason, SkipReason)
    rows = crawl.skipped_pages(query.limit + 1, query.start, SkipReason(query.reason) if query.reason else None)
    following = rows[query.limit].page if len(rows) > query.limit else None
    return responses.SkippedPages(tuple(map(_skipped_page, rows[: query.limit])), following)


def _skipped_page(row: SkippedRecord) -> responses.SkippedPage:
    return responses.SkippedPage(
        **{each.name: getattr(row, each.name) for each in fields(SkippedRecord)}, text=row.reason.text
    )


# Explanations


def explanation_response(explained: Explanation, crawl: StoredCrawl) -> responses.Explanation:
    row, skipped = explained.visit, explained.skipped
    return responses.Explanation(
        url=explained.url,
        outcome=explained.outcome.value,
        sentences=tuple(explanation_sentences(explained)),
        is_seed=explained.is_seed,
        page=None if row is None else visited_pages([row], crawl, labels_of(crawl))[0],
        skipped=None if skipped is None else _skipped_page(skipped),
        parents=explained.parents,
        n_parents=explained.n_parents,
        nearest=explained.nearest,
        text=None if row is None else crawl.text_of(row)[:MAX_TEXT_CHARACTERS] or None,
    )
