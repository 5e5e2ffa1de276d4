"""A stored crawl as the API tells of it: how it stands, its settings, its curves.

Rules
- Nothing here counts or looks through visits, so a crawl of a million pages costs what one of ten does.
- What a crawl of an older version does not say is null, or empty.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from scenthound.crawler.explain import Explanation as Explained
from scenthound.crawler.explain import Outcome
from scenthound.crawler.settings import CrawlSettings, StopConditions
from scenthound.crawler.state import CrawlState, State, crawl_state
from scenthound.errors import InvalidInput, ScenthoundError, UnknownName
from scenthound.experiments.labels import Labels
from scenthound.reasons import EndReason, SkipReason
from scenthound.records import Column, columns_of
from scenthound.store.crawl_records import CrawlStatus, PageVisit, SkippedRecord, VisitRecord
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.crawl_curves import CrawlCurves
from scenthound.ui.crawl_overview import relevance_name, scored_by
from scenthound.ui.dashboard.folders import FoundFolder
from scenthound.ui.dashboard.queries import PagesOf, SkippedOf
from scenthound.ui.dashboard.responses import (
    ColumnInfo,
    Columns,
    Crawl,
    Curves,
    Explanation,
    Fact,
    LinkingPage,
    ModelInfo,
    Pages,
    ReasonCount,
    SkippedPage,
    SkippedPages,
    VisitedPage,
)
from scenthound.ui.reports.crawl import settings_facts
from scenthound.ui.reports.crawl_summary import format_regret, resume_command

_ENDED_WORDS = {
    EndReason.BUDGET: "It reached its page budget.",
    EndReason.FRONTIER: "No page was left to be taken.",
    EndReason.TIME: "Its time was up.",
    EndReason.HARVEST: "Its pages had become too little relevant.",
    EndReason.STOPPED: "It was stopped.",
}


def crawl_answer(found: FoundFolder, crawl: StoredCrawl) -> Crawl:
    stands = crawl_state(crawl)
    settings = crawl.about.settings
    topic, plan = topic_of(settings), _plan(settings)
    relevance_models = crawl.relevance_models()
    return Crawl(
        id=found.id,
        name=found.path.name,
        path=str(found.path),
        topic=str(topic.get("id", "")),
        keywords=tuple(map(str, topic.get("keywords", ()))),
        strategy=str(settings.get("strategy", "")),
        relevance_model=f"{relevance_models[-1].relevance}, trained anew"
        if relevance_models
        else relevance_name(plan)
        if plan
        else "unknown",
        scored_by=scored_by(plan, crawl.about.crawl_id, relevance_models) if plan else str(crawl.about.crawl_id),
        state=stands.state.value,
        ended=_ended(stands),
        resume_command=resume_command(found.path, stands) if stands.can_resume else None,
        status=stands.status,
        reasons=() if stands.status is None else reason_counts(stands.status),
        relevance_models=tuple(
            ModelInfo(
                relevance_model.visit,
                relevance_model.time_s,
                relevance_model.relevance,
                relevance_model.n_positive,
                relevance_model.n_negative,
            )
            for relevance_model in relevance_models
        ),
        n_labels=len(labels_of(crawl)),
        settings=_settings(plan, crawl) if plan else (),
    )


def labels_of(crawl: StoredCrawl) -> dict[int, bool]:
    """Visit to label. A file of labels that cannot be read keeps nobody from seeing the crawl; who labels is told."""
    try:
        return Labels.of(crawl).by_visit()
    except InvalidInput:
        return {}


def topic_of(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    topic = settings.get("topic")
    return topic if isinstance(topic, Mapping) else {}


def reason_counts(status: CrawlStatus) -> tuple[ReasonCount, ...]:
    counted = sorted(status.reasons.items(), key=lambda each: (-each[1], each[0]))
    return tuple(ReasonCount(reason.value, reason.text, pages) for reason, pages in counted)


def column_infos() -> Columns:
    """How the fields of pages and of the status are displayed."""
    return Columns(*(tuple(map(_column_info, columns_of(record))) for record in (PageVisit, CrawlStatus)))


def _column_info(column: Column) -> ColumnInfo:
    options = column.options
    return ColumnInfo(
        column.name, column.title, column.unit, column.help, options.get("listed"), options.get("host_state")
    )


def curves_answer(curves: CrawlCurves, start: int = 0) -> Curves:
    """From point `start` on."""

    def numbers(name: str) -> tuple[float | None, ...]:
        convert = _count if name.startswith(("hosts_", "n_")) else finite
        return tuple(map(convert, getattr(curves, name)[start:].tolist()))

    return {each.name: numbers(each.name) for each in fields(CrawlCurves)}


def _count(number: float) -> int | None:
    return int(number) if math.isfinite(number) else None


def finite(number: float | None) -> float | None:
    """A seed's score is endless, which JSON has no word for."""
    return number if number is not None and math.isfinite(number) else None


def _plan(settings: Mapping[str, Any]) -> CrawlSettings | None:
    """None if the settings are not those of this version."""
    try:
        return CrawlSettings.from_settings(settings)
    except ScenthoundError:
        return None


def _settings(plan: CrawlSettings, crawl: StoredCrawl) -> tuple[Fact, ...]:
    try:
        goals = StopConditions.read(crawl.folder)
    except InvalidInput:
        # The next run will complain; who only looks need not.
        goals = StopConditions()
    return tuple(Fact(name, value) for name, value in settings_facts(plan, goals, relevance_name(plan)))


def _ended(stands: CrawlState) -> str | None:
    if stands.ended is not None:
        return _ENDED_WORDS[stands.ended]
    if stands.state is State.DIED:
        return "Its process is gone and did not say why. All pages it took are on the disk."
    return None


# The pages of a crawl as the API tells of them: lists, one page, those that were not taken, and why in sentences.

#: Visit to label.
Labelled = Mapping[int, bool]


def taken_page(
    row: VisitRecord, crawl: StoredCrawl, labels: Labelled, seeds: Collection[str], excerpt: str | None = None
) -> VisitedPage:
    facts: dict[str, Any] = {each.name: _json_value(getattr(row, each.name)) for each in fields(PageVisit)}
    return VisitedPage(
        **facts,
        n_links=len(row.links),
        # A seed may redirect; then the URL that was requested is the seed.
        is_seed=row.url in seeds or (row.page < len(seeds) and crawl.url_of(row.page) in seeds),
        label=labels.get(row.visit),
        excerpt=excerpt,
    )


def _json_value(value: object) -> object:
    return finite(value) if isinstance(value, float) else value


def taken_pages(rows: Sequence[VisitRecord], crawl: StoredCrawl, labels: Labelled) -> tuple[VisitedPage, ...]:
    seeds = seeds_of(crawl)
    return tuple(taken_page(row, crawl, labels, seeds) for row in rows)


def seeds_of(crawl: StoredCrawl) -> frozenset[str]:
    return frozenset(map(str, crawl.about.settings.get("seeds", ())))


def listed_pages(crawl: StoredCrawl, asked: PagesOf, labels: Labelled) -> Pages:
    """A page more than is asked for shows whether there are more."""
    rows = crawl.listed(asked.order, asked.limit + 1, asked.start, asked.host)
    shown = rows[: asked.limit]
    following = _following(asked, shown) if len(rows) > asked.limit else None
    return Pages(taken_pages(shown, crawl, labels), following, None if asked.host else crawl.n_visits(), None)


def _following(asked: PagesOf, shown: Sequence[VisitRecord]) -> int:
    if asked.order == "latest":
        return shown[-1].visit
    return shown[-1].visit + 1 if asked.order == "first" else asked.start + len(shown)


def skipped_pages(crawl: StoredCrawl, asked: SkippedOf) -> SkippedPages:
    if asked.reason and asked.reason not in set(SkipReason):
        raise UnknownName.among("reason", asked.reason, SkipReason)
    rows = crawl.skipped_pages(asked.limit + 1, asked.start, SkipReason(asked.reason) if asked.reason else None)
    following = rows[asked.limit].page if len(rows) > asked.limit else None
    return SkippedPages(tuple(map(skipped_page, rows[: asked.limit])), following)


def skipped_page(row: SkippedRecord) -> SkippedPage:
    return SkippedPage(**{each.name: getattr(row, each.name) for each in fields(SkippedRecord)}, text=row.reason.text)


def explanation(told: Explained, crawl: StoredCrawl, labels: Labelled, text: str | None) -> Explanation:
    row = told.visit
    return Explanation(
        url=told.url,
        outcome=told.outcome.value,
        says=tuple(_sentences(told)),
        is_seed=told.is_seed,
        page=None if row is None else taken_page(row, crawl, labels, seeds_of(crawl)),
        skipped=None if told.skipped is None else skipped_page(told.skipped),
        parents=tuple(LinkingPage(**{name: getattr(each, name) for name in each.__slots__}) for each in told.parents),
        n_parents=told.n_parents,
        nearest=told.nearest,
        text=text,
    )


def _sentences(told: Explained) -> list[str]:
    if told.visit is not None:
        return [*_taken(told, told.visit), *_found_from(told)]
    if told.skipped is not None:
        return [
            f"It was not taken: {told.skipped.reason.text}. That was decided on {_sample(told.skipped.time_s)}.",
            *_found_from(told),
        ]
    if told.outcome is Outcome.QUEUED:
        return [
            "It was neither taken nor given up: it still waits, or was on its way when the crawl stopped.",
            *_found_from(told),
        ]
    unknown = "The crawl does not know it: no link that may be followed leads to it from a visited page."
    return [unknown, f"The nearest address that the crawl knows is {told.nearest}."] if told.nearest else [unknown]


def _taken(told: Explained, row: VisitRecord) -> list[str]:
    says = [f"It was taken as visit {row.visit:,}, counted from 0, on {_sample(row.time_s)}."]
    asked = f"The strategy asked for it after {row.rank:,} other {'page' if row.rank == 1 else 'pages'}"
    waiting = "no page" if not row.queue_size else "1 page" if row.queue_size == 1 else f"{row.queue_size:,} pages"
    score, regret = finite(row.score), finite(row.regret)
    with_score = "" if score is None else f", with a score of {format_regret(score)}"
    says.append(f"{asked}, when {waiting} waited{with_score}.")
    if row.regret is not None and regret is None:
        says.append("A seed had to wait because its host rested.")
    elif regret:
        says.append(f"A page with a score higher by {format_regret(regret)} had to wait, because its host rested.")
    says.append(f"It turned out to have a relevance of {format_regret(row.relevance)}.")
    if told.requested_url not in (None, row.url):
        says.append(f"It was asked for as {told.requested_url}, which led here.")
    if row.noindex:
        says.append("It asks not to be indexed; exports leave it out unless told.")
    return says


def _found_from(told: Explained) -> list[str]:
    says = ["The crawl started from it."] if told.is_seed else []
    if told.n_parents == 1:
        says.append("One visited page links to it.")
    elif told.n_parents:
        says.append(f"{told.n_parents:,} visited pages link to it.")
    elif not told.is_seed:
        says.append("No visited page links to it.")
    return says


def _sample(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d at %H:%M:%S UTC")
