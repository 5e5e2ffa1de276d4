"""pywb replays the archive of a crawl from its exported index, byte for byte.

pywb brings brotlipy, which takes the place of our brotli, so it gets an environment of its own.
"""

import base64
import gzip
import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import brotli
import pytest

from environments import environment
from scenthound.corpus.export import export
from scenthound.crawler.recrawl import refresh
from scenthound.crawler.settings import CrawlSettings
from scenthound.crawler.start import crawl
from scenthound.frontier.politeness import PolitenessSettings
from scenthound.store.crawl_records import CheckOutcome
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.web.static_server import StaticPage, StaticServer
from timing import WAIT_S, wait_until
from virtual_site import TOPIC, page_of_words

pytestmark = pytest.mark.slow

PYWB = "pywb==2.10.0"
REPLAYER = Path(__file__).with_name("pywb_replay.py")

PATHS = ("/gzip", "/br", "/latin", "/search?b=2&a=1", "/Upper/Case%20d.html", "/moved", "/gone")


@dataclass(frozen=True)
class Replayed:
    """What pywb answered."""

    status: int
    headers: dict[str, str]
    body: bytes


#: Paths of pywb to its answers.
Replay = Callable[[list[str]], list[Replayed]]


def pages(path: str) -> StaticPage | None:
    html = page_of_words(path, [], seed=len(path))
    if path == "/":
        return StaticPage(page_of_words("start", list(PATHS), seed=0).encode())
    if path == "/gzip":
        return StaticPage(gzip.compress(html.encode(), mtime=0), headers=(("Content-Encoding", "gzip"),))
    if path == "/br":
        return StaticPage(brotli.compress(html.encode()), headers=(("Content-Encoding", "br"),))
    if path == "/latin":
        return StaticPage(f"{html} caf\xe9".encode("latin-1"), content_type="text/html; charset=iso-8859-1")
    if path == "/moved":
        return StaticPage(b"", 302, headers=(("Location", "/target"),))
    return StaticPage(html.encode()) if path in (*PATHS[3:5], "/target") else None


@pytest.fixture(scope="module")
def pywb_python() -> Path:
    """The Python of an environment that has pywb."""
    return environment(PYWB) / "bin" / "python"


@dataclass(frozen=True)
class Crawled:
    """A crawl of all pages above, and its server, which has stopped."""

    folder: Path
    server: StaticServer

    def url(self, path: str) -> str:
        return self.server.url(f"http://a.test{path}")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("pywb") / "crawl"
    with StaticServer(lambda _host, path: pages(path)) as server:
        plan = CrawlSettings(
            TOPIC,
            (server.url("http://a.test/"),),
            strategy="breadth_first",
            politeness=PolitenessSettings(delay_s=0.0, delay_factor=0.0),
            allow_private=True,
            hosts={"a.test": "127.0.0.1"},
        )
        crawl(plan, folder)
        return Crawled(folder, server)


@pytest.fixture(scope="module")
def replay(pywb_python: Path, crawled: Crawled) -> Replay:
    return replay_of(crawled.folder, pywb_python)


def replay_of(folder: Path, pywb_python: Path) -> Replay:
    index = folder.with_suffix(".cdxj")
    export(folder, "cdxj", index)
    command = [str(pywb_python), str(REPLAYER), str(index), f"{folder / 'archive'}{os.sep}"]

    def replayed(paths: list[str]) -> list[Replayed]:
        done = subprocess.run(
            command,
            cwd=index.parent,
            input="\n".join(paths),
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        return [Replayed(answer["status"], answer["headers"], base64.b64decode(answer["body"])) for answer in answers]

    return replayed


def archived_bodies(folder: Path) -> dict[str, bytes]:
    """The bodies as the hosts sent them, by URL, for each record of the archive."""
    with StoredCrawl.open(folder) as stored:
        records = [record for _, record in stored.archive.records(stored.archive_end()) if record.kind == "response"]
        return {record.url: record.body for record in records}


def test_every_archived_response_is_replayed_byte_for_byte(crawled: Crawled, replay: Replay) -> None:
    bodies = archived_bodies(crawled.folder)
    assert {crawled.url(path) for path in ("/", "/target", *PATHS)} < set(bodies)
    # `id_` asks for what the host sent, with no link rewritten; no time means the latest.
    for (url, body), answer in zip(bodies.items(), replay([f"/crawl/id_/{url}" for url in bodies]), strict=True):
        path = url.removeprefix(crawled.url("/")[:-1])
        page = pages(path) or StaticPage(body, 404)
        assert (url, answer.status, answer.body) == (url, page.status, page.body) == (url, page.status, body)
        assert dict(page.headers).items() <= answer.headers.items()


def test_coded_pages_are_decoded_and_links_and_redirects_lead_on_within_the_replay(
    crawled: Crawled, replay: Replay
) -> None:
    start, packed, moved = replay([f"/crawl/mp_/{crawled.url(path)}" for path in ("/", "/gzip", "/moved")])
    assert start.status == packed.status == 200
    assert f'href="/crawl/mp_/{crawled.url("/gzip")}"'.encode() in start.body
    assert page_of_words("/gzip", [], seed=len("/gzip")).encode() in packed.body
    assert moved.status == 302
    assert moved.headers["Location"].endswith(f"/{crawled.url('/target')}")


def test_pages_are_found_however_their_query_is_ordered_and_others_are_not_found(
    crawled: Crawled, replay: Replay
) -> None:
    ordered, unknown = replay([f"/crawl/id_/{crawled.url(path)}" for path in ("/search?a=1&b=2", "/never")])
    assert (ordered.status, ordered.body) == (200, pages("/search?b=2&a=1").body)
    assert unknown.status == 404
    assert "Memento-Datetime" not in unknown.headers


def test_pages_that_a_refresh_found_unchanged_or_changed_are_replayed_as_they_are_now(
    pywb_python: Path, tmp_path: Path
) -> None:
    versions = {"/": 0, "/changes": 0, "/tagged": 0}

    def page(path: str) -> StaticPage | None:
        if path not in versions:
            return None
        links = [each for each in versions if each != path]
        tag = (("ETag", f'"{versions[path]}"'),) if path == "/tagged" else ()
        return StaticPage(page_of_words(path, links, seed=len(path) + 100 * versions[path]).encode(), headers=tag)

    folder = tmp_path / "crawl"
    with StaticServer(lambda _host, path: page(path)) as server:
        plan = CrawlSettings(
            TOPIC,
            (server.url("http://a.test/"),),
            politeness=PolitenessSettings(delay_s=0.0, delay_factor=0.0),
            allow_private=True,
            hosts={"a.test": "127.0.0.1"},
        )
        crawl(plan, folder)
        versions["/changes"] = 1
        # Captures of one second are one to pywb.
        crawled_s = time.time()
        wait_until(lambda: int(time.time()) > int(crawled_s) + 1)
        found = refresh(folder).status.counts.outcomes
        assert (found[CheckOutcome.UNCHANGED], found[CheckOutcome.CHANGED]) == (2, 1)
        urls = [server.url(f"http://a.test{path}") for path in versions]
    answers = replay_of(folder, pywb_python)([f"/crawl/id_/{url}" for url in urls])
    for path, answer in zip(versions, answers, strict=True):
        current = page(path)
        assert current is not None
        assert (path, answer.status, answer.body) == (path, 200, current.body)
