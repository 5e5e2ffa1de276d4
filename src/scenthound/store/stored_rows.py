"""Rows of the database of a crawl, made into the values that they were."""

from typing import Any

from scenthound.reasons import REASONS
from scenthound.store.crawl_database import NOINDEX, TRUNCATED
from scenthound.store.crawl_rows import NotTakenRow, Place, VisitRow
from scenthound.store.visit_arrays import JoinedArrays


def not_taken_row(values: tuple[Any, ...]) -> NotTakenRow:
    page, url, reason, detail, time_s, status = values
    return NotTakenRow(page, url, REASONS[reason], detail, time_s, status)


def visit_row(values: tuple[Any, ...], arrays: JoinedArrays) -> VisitRow:
    visit, page, url, status, time_s, relevance, title, content_bytes, simhash, *place = values[:12]
    score, regret, rank, waiting, flags = values[12:]
    return VisitRow(
        visit=visit,
        page=page,
        url=url,
        status=status,
        time_s=time_s,
        relevance=relevance,
        title=title,
        content_bytes=content_bytes,
        simhash=simhash,
        links=arrays.links(visit),
        place=None if place[0] is None else Place(*place),
        score=score,
        regret=regret,
        rank=rank,
        waiting=waiting,
        predicted=arrays.predicted(visit),
        anchors=arrays.anchors(visit),
        noindex=bool(flags & NOINDEX),
        truncated=bool(flags & TRUNCATED),
    )
