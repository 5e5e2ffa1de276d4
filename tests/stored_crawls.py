"""Responses, rows, and a small crawl in a folder, for tests of stored crawls."""

from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from scenthound.store.crawl_folder import ArchiveSettings
from scenthound.store.crawl_records import ArchiveLocation, VisitRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.web.fetch import Response

#: 2026-01-31 12:00:00.25 UTC
NOON_S = 1_769_860_800.25
CRAWL_ID = UUID("6f3b1c7e-58a4-4f0e-9b62-0d5a1f2e3c4b")
AGENT = "Scenthound/1.0 (+http://example.org/bot)"


def response(
    url: str = "http://a.test/",
    body: bytes = b"<title>A</title>dogs",
    *,
    status: int = 200,
    headers: tuple[str, ...] = ("Content-Type: text/html",),
    protocol: str = "HTTP/1.1",
    truncated: bool = False,
) -> Response:
    head = "".join(f"{line}\r\n" for line in (f"{protocol} {status} Said", *headers)).encode("latin-1")
    return Response(url, status, head, body, body, truncated, "127.0.0.1", 0.01)


def redirect(url: str, target: str) -> Response:
    return response(url, b"", status=301, headers=(f"Location: {target}",))


def visit(number: int = 0, **changes: Any) -> VisitRecord:
    """The visit of a page with the number of the visit."""
    values: dict[str, Any] = {
        "visit": number,
        "page": number,
        "url": f"http://a.test/{number}",
        "status": 200,
        "time_s": NOON_S + number,
        "relevance": 0.5,
        "title": f"Page {number}",
        "content_bytes": 20,
        "simhash": -number,
        "links": np.array([], np.int32),
        "location": None,
    }
    return VisitRecord(**{**values, **changes})


def new_crawl(folder: Path, most_file_bytes: int = 1 << 30, **settings: Any) -> CrawlStore:
    archive = ArchiveSettings(AGENT, most_file_bytes=most_file_bytes)
    return CrawlStore.create(folder, settings, archive, crawl_id=CRAWL_ID)


def add_page(store: CrawlStore, number: int, response: Response, **changes: Any) -> ArchiveLocation:
    """Archive a response and visit it."""
    location = store.archive_response(response, NOON_S + number)
    store.add(visit(number, url=response.url, location=location, content_bytes=len(response.content), **changes))
    return location


def small_crawl(folder: Path, **settings: Any) -> Path:
    """Three pages, the second reached by a redirect from URL 1, the third with noindex; a robots.txt, an error and a
    skipped page."""
    with new_crawl(folder, **settings) as store:
        store.add_urls(["http://a.test/", "http://a.test/old", "http://b.test/secret", "http://a.test/copy"])
        store.archive_response(response("http://a.test/robots.txt", b"", headers=("Content-Type: text/plain",)), NOON_S)
        links = np.array([1, 2], np.int32)
        html = b"<title>A</title>start <a href=/old>dogs</a> <a href=http://b.test/secret>cats</a>"
        add_page(store, 0, response("http://a.test/", html), links=links)
        store.archive_response(redirect("http://a.test/old", "/older"), NOON_S + 1)
        store.archive_response(redirect("http://a.test/older", "/dogs"), NOON_S + 1)
        latin = response(
            "http://a.test/dogs", b"caf\xe9 dogs", headers=("Content-Type: text/html; charset=iso-8859-1",)
        )
        add_page(store, 1, latin, relevance=0.9, title="Café")
        add_page(store, 2, response("http://b.test/secret", b"hush"), noindex=True)
        store.archive_response(response("http://a.test/copy", b"caf\xe9 dogs"), NOON_S + 3)
        store.archive_response(response("http://a.test/gone", b"no", status=404), NOON_S + 4)
        store.commit()
    return folder
