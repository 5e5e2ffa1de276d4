"""Live crawls of a site on loopback in strict order: rows, archive, resuming, refreshing, explanations.

In strict order with no delay the rows do not depend on time. Times, process ids and addresses are left out.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

import scenthound as sh
from conftest import Crawled
from goldens import Golden, trace_of
from net_site import ODD, Site
from test_net_traces import STRATEGIES

Program = Callable[..., tuple[int, str, str]]
VISIT = (
    *("visit", "url", "status", "title", "relevance", "score", "regret", "rank", "queue_size", "content_bytes"),
    *("noindex", "truncated"),
)
Timeless = Callable[[str], Any]


def test_visits(crawled: Crawled, golden: Golden) -> None:
    pages = sh.open_crawl(crawled.folder).pages
    assert len(pages) == 90
    golden.json([{name: getattr(page, name) for name in VISIT} | {"links": len(page.links)} for page in pages])


def test_skipped(crawled: Crawled, golden: Golden) -> None:
    skipped = sh.open_crawl(crawled.folder).skipped
    rows = sorted((page.url, page.reason.value, page.status, page.detail) for page in skipped)
    golden.json([" ".join(map(str, row)).strip() for row in rows])


def test_requests(crawled: Crawled, golden: Golden) -> None:
    golden.text("".join(f"{url}\n" for url in crawled.requests))


def archived(folder: Path) -> Iterator[Any]:
    for file in sorted((folder / "archive").glob("*.warc.gz")):
        with file.open("rb") as stream:
            yield from ArchiveIterator(stream)


def test_archive(crawled: Crawled, golden: Golden) -> None:
    """Records in their order, with the names of their headers. Dates, ids and addresses differ, and are left out."""
    records, headers_of = [], {}
    for record in archived(crawled.folder):
        headers, http = dict(record.rec_headers.headers), record.http_headers
        body = record.content_stream().read()
        headers_of.setdefault(record.rec_type, [*headers])
        records.append([record.rec_type, headers.get("WARC-Target-URI"), headers.get("WARC-Payload-Digest")])
        if record.rec_type == "response":
            digest = hashlib.sha256(body).hexdigest()[:12]
            records[-1] += [http.protocol, http.statusline, [name for name, _ in http.headers], digest]
    golden.json({"headers": headers_of, "records": records})


def test_the_order_is_the_simulated_one(web: Path, site: Site, crawled: Crawled, tmp_path: Path) -> None:
    topic, seeds = sh.Topic("balloons", keywords=("balloon", "balloonist")), [*site.pages][:2]
    how = {"hosts": crawled.server.hosts_file, "allow_private": True, "delay": 0, "render": "never", "progress": False}
    for strategy in ("otie", "best_n_first:n=8"):
        named = {"strategy": strategy, "pages": 60, "random_seed": 3}
        live = sh.crawl(topic, seeds, out=tmp_path / strategy, strict_order=True, **named, **how)
        run = sh.simulate(web, topic, strategy, seeds=seeds, pages=60, random_seed=3, workers=1, progress=False)
        assert [page.url for page in live.pages] == [page.url for page in run.pages]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_offline_trace(strategy: str, web: Path, site: Site, tmp_path: Path, golden: Golden) -> None:
    topic = sh.Topic("trains", keywords=("locomotive", "railway"), description="Trains and steam engines.")
    seeds = [url for url in site.pages if "rail" in url][:3]
    how = {"web": web, "offline": True, "strict_order": True, "render": "never", "progress": False}
    crawl = sh.crawl(topic, seeds, out=tmp_path / "crawl", strategy=strategy, pages=50, random_seed=3, **how)
    golden.json(trace_of([page.url for page in crawl.pages], [page.relevance for page in crawl.pages]))


LIMITS: dict[str, dict[str, Any]] = {
    "hosts": {"pages_per_host": 3},
    "domains": {"pages_per_domain": 5},
    "depth": {"max_depth": 2},
    "patterns": {"include": ["*-1*", "*.test:8099/"], "exclude": "re:.*5[.]html"},
    "some domains": {"allow_domain": ["balloons.test", "rail.test"], "deny_domain": "steam.rail.test"},
    "harvest": {"min_harvest": 0.9},
    "all": {"follow_nofollow": True, "keep_duplicates": True, "no_traps": True, "no_throttle": True},
}


def test_limits(web: Path, site: Site, tmp_path: Path, golden: Golden) -> None:
    found = {}
    topic, seeds = sh.Topic("balloons", keywords=("balloon", "balloonist")), [*site.pages][:2]
    how = {"web": web, "offline": True, "strict_order": True, "render": "never", "progress": False, "pages": 1000}
    for name, limits in LIMITS.items():
        crawl = sh.crawl(topic, seeds, out=tmp_path / name, strategy="breadth_first", **{**how, **limits})
        reasons = [page.reason.value for page in crawl.skipped]
        found[name] = {
            "ended": crawl.ended,
            "skipped": {reason: reasons.count(reason) for reason in sorted({*reasons})},
            **trace_of([page.url for page in crawl.pages], [page.relevance for page in crawl.pages]),
        }
    golden.json(found)


def test_a_crawl_with_many_connections_visits_the_same_pages(site: Site, crawled: Crawled, tmp_path: Path) -> None:
    """In an order that depends on time."""
    how = {"hosts": crawled.server.hosts_file, "allow_private": True, "delay": 0, "render": "never", "progress": False}
    how |= {"follow_nofollow": True, "no_throttle": True, "no_traps": True, "keep_duplicates": True}
    topic = sh.Topic("balloons", keywords=("balloon", "balloonist"))
    crawl = sh.crawl(topic, [*site.pages][:2], out=tmp_path / "crawl", connections=8, pages=1000, **how)
    assert crawl.ended is not None
    assert crawl.ended.value == "frontier empty"
    assert sorted(page.url for page in crawl.pages) == sorted(reachable(site, [*site.pages][:2]))


def reachable(site: Site, seeds: list[str]) -> set[str]:
    found, waiting = set(seeds), [*seeds]
    while waiting:
        for link in re.findall(r"href='([^']+)'", site.pages[waiting.pop()].html):
            target = site.redirects.get(link, link)
            if target in site.pages and target not in found:
                found.add(target)
                waiting.append(target)
    return found


def test_resume(program: Program, crawled: Crawled, tmp_path: Path, golden: Golden, timeless: Timeless) -> None:
    folder = crawled.copy(tmp_path)
    stored = {page.url for page in sh.open_crawl(folder).pages}
    before = len(crawled.server.requests)
    code, out, err = program("crawl", "--resume", folder, "--pages", 110, "--json")
    assert (code, err) == (0, "")
    pages = [*sh.open_crawl(folder).pages]
    assert [page.visit for page in pages] == [*range(110)]
    assert not stored & {*crawled.server.requests[before:]}
    golden.json({"summary": timeless(out), "urls": [page.url for page in pages[90:]]})


def test_refresh(
    program: Program, site: Site, crawled: Crawled, tmp_path: Path, golden: Golden, timeless: Timeless
) -> None:
    folder, html = crawled.copy(tmp_path), {"Content-Type": "text/html; charset=utf-8"}
    urls = [page.url for page in sh.open_crawl(folder).pages if page.url in site.pages]
    changed = {urls[3]: (200, html, b"<title>New</title><p>A new balloon."), urls[5]: (404, html, b"<title>No</title>")}
    changed[urls[7]] = (301, {"Location": urls[8]}, b"")
    crawled.server.others |= changed
    try:
        code, out, _ = program("crawl", "--refresh", folder, "--json")
    finally:
        for url in changed:
            del crawled.server.others[url]
    assert code == 0
    checks = sorted((each.url, each.outcome.value, each.status) for each in sh.open_crawl(folder).checks)
    latest = {page.url: [page.title, page.relevance] for page in sh.open_crawl(folder).pages if page.url in changed}
    golden.json({"summary": timeless(out), "checks": checks, "latest": latest})


def test_explain(program: Program, crawled: Crawled, golden: Golden, timeless: Timeless) -> None:
    crawl = sh.open_crawl(crawled.folder)
    visited = [page.url for page in crawl.pages]
    explained = {}
    for url in [visited[1], visited[20], visited[60], f"{ODD}copy", f"{ODD}gone", "http://aero.test/none"]:
        code, out, err = program("explain", crawled.folder, url, "--json")
        explained[url] = timeless(out) if code == 0 else [code, err]
    golden.json(explained)


def test_dry_run(
    program: Program, topics: Path, crawled: Crawled, golden: Golden, timeless: Timeless, plain: Callable[[str], str]
) -> None:
    known = ("--hosts", crawled.server.hosts_file, "--allow-private")
    planned = [
        program("crawl", topics, "--topic", "from seeds", *known, "--out", "none", "--dry-run", "--json"),
        program("crawl", "--resume", crawled.folder, "--pages", 100, "--dry-run", "--json"),
    ]
    golden.json([[code, timeless(out), plain(err)] for code, out, err in planned])
    assert not Path("none").exists()


class VisibleText(HTMLParser):
    """The texts of a report, without those of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self._hidden += tag in {"script", "style", "svg"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style", "svg"}

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.texts.append(" ".join(data.split()))


def test_report(program: Program, crawled: Crawled, tmp_path: Path, golden: Golden) -> None:
    """Headings and captions; numbers are in the tests of rows."""
    code, _, err = program("report", crawled.folder, "--out", tmp_path / "report.html")
    assert (code, err) == (0, "")
    text = (tmp_path / "report.html").read_text()
    assert "http-equiv" in text
    assert "default-src 'none'" in text
    page = VisibleText()
    page.feed(text)
    visited = [each.url for each in sh.open_crawl(crawled.folder).pages]
    assert any(visited[0] in each for each in page.texts)
    headings = re.findall(r"<h[1-3][^>]*>(.*?)</h[1-3]>", text, re.S)
    columns = [
        re.findall(r"<th\b[^>]*>(.*?)</th>", table, re.S) for table in re.findall(r"<thead.*?</thead>", text, re.S)
    ]
    # The columns of curves are numbers, some of them seconds.
    tables = [[name for name in names if not re.match(r"[\d.,:]+$", name)] for names in columns]
    golden.json({"headings": headings, "columns": tables})


def test_a_crawl_is_a_recorded_web(
    program: Program, crawled: Crawled, tmp_path: Path, golden: Golden, timeless: Timeless
) -> None:
    code, out, _ = program("record", "--from", crawled.folder, "--out", tmp_path / "web", "--workers", 1, "--json")
    assert code == 0
    topic, seeds = sh.Topic("balloons", keywords=("balloon",)), [ODD]
    urls = []
    for web in (tmp_path / "web", crawled.folder):
        run = sh.simulate(web, topic, "link_context", seeds=seeds, pages=40, workers=1, progress=False)
        urls.append([page.url for page in run.pages])
    assert urls[0] == urls[1]
    summary = {name: each for name, each in timeless(out).items() if name != "folder"}
    golden.json({"summary": summary, "urls": urls[0], "pages": sh.open_web(tmp_path / "web").pages.to_dict()})
