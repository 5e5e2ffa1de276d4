"""The pages of a crawl as the API tells of them: lists, one page, those that were not taken, and why in sentences."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from scenthound.dashboard.answers import (
    Explanation,
    LinkingPage,
    Pages,
    RefusedPage,
    RefusedPages,
    TakenPage,
)
from scenthound.dashboard.crawl_answers import finite
from scenthound.dashboard.questions import PagesOf, RefusedOf
from scenthound.errors import UnknownName
from scenthound.lab.explain import Explanation as Explained
from scenthound.lab.explain import Fate
from scenthound.reasons import REASONS
from scenthound.report.crawls.words import small
from scenthound.store.crawl_rows import NotTakenRow, VisitRow
from scenthound.store.page_lists import PageLists

#: Visit to label.
Labelled = Mapping[int, bool]


def taken_page(
    row: VisitRow, crawl: PageLists, labels: Labelled, seeds: Collection[str], excerpt: str | None = None
) -> TakenPage:
    return TakenPage(
        visit=row.visit,
        url=row.url,
        title=row.title,
        time_s=row.time_s,
        relevance=row.relevance,
        score=finite(row.score),
        regret=finite(row.regret),
        rank=row.rank,
        waiting=row.waiting,
        status=row.status,
        content_bytes=row.content_bytes,
        links=len(row.links),
        # A seed may have led elsewhere; then the address that was asked for tells.
        is_seed=row.url in seeds or (row.page < len(seeds) and crawl.url_of(row.page) in seeds),
        label=labels.get(row.visit),
        excerpt=excerpt,
    )


def taken_pages(rows: Sequence[VisitRow], crawl: PageLists, labels: Labelled) -> tuple[TakenPage, ...]:
    seeds = seeds_of(crawl)
    return tuple(taken_page(row, crawl, labels, seeds) for row in rows)


def seeds_of(crawl: PageLists) -> frozenset[str]:
    return frozenset(map(str, crawl.about.settings.get("seeds", ())))


def listed_pages(crawl: PageLists, asked: PagesOf, labels: Labelled) -> Pages:
    """A page more than is asked for shows whether there are more."""
    rows = crawl.listed(asked.order, asked.limit + 1, asked.start, asked.host)
    shown = rows[: asked.limit]
    following = _following(asked, shown) if len(rows) > asked.limit else None
    return Pages(taken_pages(shown, crawl, labels), following, None if asked.host else crawl.n_visits(), None)


def _following(asked: PagesOf, shown: Sequence[VisitRow]) -> int:
    if asked.order == "latest":
        return shown[-1].visit
    return shown[-1].visit + 1 if asked.order == "first" else asked.start + len(shown)


def refused_pages(crawl: PageLists, asked: RefusedOf) -> RefusedPages:
    if asked.reason and asked.reason not in REASONS:
        raise UnknownName.among("reason", asked.reason, REASONS)
    rows = crawl.refused(asked.limit + 1, asked.start, REASONS[asked.reason] if asked.reason else None)
    following = rows[asked.limit].page if len(rows) > asked.limit else None
    return RefusedPages(tuple(map(refused_page, rows[: asked.limit])), following)


def refused_page(row: NotTakenRow) -> RefusedPage:
    return RefusedPage(row.url, row.reason.value, row.reason.told, row.detail, row.time_s, row.status)


def explanation(told: Explained, crawl: PageLists, labels: Labelled, text: str | None) -> Explanation:
    row = told.visit
    return Explanation(
        url=told.url,
        fate=told.fate.value,
        says=tuple(_sentences(told)),
        is_seed=told.is_seed,
        page=None if row is None else taken_page(row, crawl, labels, seeds_of(crawl)),
        refused=None if told.not_taken is None else refused_page(told.not_taken),
        parents=tuple(LinkingPage(**{name: getattr(each, name) for name in each.__slots__}) for each in told.parents),
        n_parents=told.n_parents,
        nearest=told.nearest,
        text=text,
    )


def _sentences(told: Explained) -> list[str]:
    if told.visit is not None:
        return [*_taken(told, told.visit), *_found_from(told)]
    if told.not_taken is not None:
        return [
            f"It was not taken: {told.not_taken.reason.told}. That was decided on {_moment(told.not_taken.time_s)}.",
            *_found_from(told),
        ]
    if told.fate is Fate.WAITING:
        return [
            "It was neither taken nor given up: it still waits, or was on its way when the crawl stopped.",
            *_found_from(told),
        ]
    unknown = "The crawl does not know it: no link that may be followed leads to it from a visited page."
    return [unknown, f"The nearest address that the crawl knows is {told.nearest}."] if told.nearest else [unknown]


def _taken(told: Explained, row: VisitRow) -> list[str]:
    says = [f"It was taken as visit {row.visit:,}, counted from 0, on {_moment(row.time_s)}."]
    asked = f"The strategy asked for it after {row.rank:,} other {'page' if row.rank == 1 else 'pages'}"
    waiting = "no page" if not row.waiting else "1 page" if row.waiting == 1 else f"{row.waiting:,} pages"
    score, regret = finite(row.score), finite(row.regret)
    with_score = "" if score is None else f", with a score of {small(score)}"
    says.append(f"{asked}, when {waiting} waited{with_score}.")
    if row.regret is not None and regret is None:
        says.append("A seed had to wait because its host rested.")
    elif regret:
        says.append(f"A page with a score higher by {small(regret)} had to wait, because its host rested.")
    says.append(f"It turned out to have a relevance of {small(row.relevance)}.")
    if told.asked_url not in (None, row.url):
        says.append(f"It was asked for as {told.asked_url}, which led here.")
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


def _moment(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d at %H:%M:%S UTC")
