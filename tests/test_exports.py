"""A crawl written out: its pages, its archive and an index of it, whole, and without what asks not to be indexed."""

import errno
import gzip
import json
import os
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

import scenthound as sh
from scenthound.corpus.documents import DocumentSettings, Selection
from scenthound.corpus.export import export
from scenthound.corpus.surt import surt
from scenthound.errors import Failure, InvalidInput, UnknownName, UsageError
from scenthound.files import opened
from scenthound.store.crawl_records import RenderedRecord
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from stored_crawls import NOON_S, add_page, new_crawl, response, small_crawl, visit

ALL = Selection(include_noindex=True)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("crawls") / "crawl")


def lines_of(path: Path) -> list[dict[str, Any]]:
    with opened(path) as source:
        return [json.loads(line) for line in source.content.read().splitlines()]


def records_of(path: Path) -> list[tuple[str, str | None]]:
    with path.open("rb") as file:
        return [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(file, check_digests="raise")
            if record.content_stream().read() is not None
        ]


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "pages.jsonl.zst"])
def test_json_lines_contain_the_visited_pages_in_order_compressed_by_suffix(
    crawl: Path, tmp_path: Path, name: str
) -> None:
    summary = export(crawl, "jsonl", tmp_path / name, settings=DocumentSettings(html=True))
    assert (summary.written, summary.dropped) == (2, {"noindex": 1})
    start, dogs = lines_of(tmp_path / name)
    assert start["html"].startswith("<title>A</title>start")
    assert dogs == {
        "id": sha1(b"http://a.test/dogs").hexdigest(),
        "text": "café dogs",
        "url": "http://a.test/dogs",
        "title": "Café",
        "author": None,
        "language": None,
        "language_score": None,
        "published": None,
        "published_from": None,
        "fetched": "2026-01-31T12:00:01.250000+00:00",
        "relevance": 0.9,
        "on_topic": None,
        "n_words": 2,
        "status": 200,
        "extractor": dogs["extractor"],
        "quality": dogs["quality"],
        "duplicate_of": None,
        "aliases": ["http://a.test/old"],
        "metadata": {
            "visit": 1,
            "score": None,
            "regret": None,
            "noindex": False,
            "truncated": False,
            "topic": "",
            "warc_record_id": dogs["metadata"]["warc_record_id"],
        },
        "markdown": "café dogs",
        "html": "café dogs",
    }
    assert dogs["extractor"].startswith("turbohtml")
    assert "few_words" in dogs["quality"]


def test_noindex_pages_are_exported_only_on_request(crawl: Path, tmp_path: Path) -> None:
    summary = export(crawl, "jsonl", tmp_path / "all.jsonl", selection=ALL)
    assert (summary.written, summary.dropped) == (3, {})
    assert [line["url"] for line in lines_of(tmp_path / "all.jsonl")][2] == "http://b.test/secret"


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_exported_pages_can_be_recorded(crawl: Path, tmp_path: Path, kind: str) -> None:
    export(crawl, kind, tmp_path / f"pages.{kind}", settings=DocumentSettings(html=True))
    record([tmp_path / f"pages.{kind}"], tmp_path / "web")
    web = RecordedWeb.open(tmp_path / "web")
    assert [web.url(page) for page in range(web.n_pages)] == ["http://a.test/", "http://a.test/dogs"]
    assert web.page_of("http://a.test/old") == 1
    assert web.links(0).tolist() == [web.find("http://a.test/old"), web.find("http://b.test/secret")]


def test_parquet_has_the_columns_that_json_lines_have(
    crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    # Every page in a row group of its own.
    monkeypatch.setattr("scenthound.corpus.formats.GROUP_CHARACTERS", 1)
    export(crawl, "jsonl", tmp_path / "pages.jsonl", selection=ALL)
    export(crawl, "parquet", tmp_path / "pages.parquet", selection=ALL)
    assert parquet.read_table(tmp_path / "pages.parquet").to_pylist() == lines_of(tmp_path / "pages.jsonl")
    assert parquet.ParquetFile(tmp_path / "pages.parquet").num_row_groups >= 3


def test_compressed_pages_are_decoded_and_pages_of_a_recording_have_no_html(tmp_path: Path) -> None:
    packed = ("Content-Type: text/html", "Content-Encoding: gzip")
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls(["http://a.test/", "http://a.test/1"])
        add_page(store, 0, response("http://a.test/", gzip.compress(b"dogs"), headers=packed))
        store.add(visit(1))
        store.commit()
    summary = export(tmp_path / "crawl", "jsonl", tmp_path / "pages.jsonl", settings=DocumentSettings(html=True))
    assert [line["html"] for line in lines_of(tmp_path / "pages.jsonl")] == ["dogs", None]
    assert (summary.written, summary.without_html) == (2, 1)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("warc", "a.warc.zst"), ("parquet", "a.parquet.gz"), ("cdxj", "a.cdxj.gz"), ("jsonl", "a.jsonl.BZ2")],
)
def test_an_unsupported_suffix_is_rejected(crawl: Path, tmp_path: Path, kind: str, name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: .*\b{kind}\b.*{Path(name).suffix.lower()};"):
        export(crawl, kind, tmp_path / name)
    assert not list(tmp_path.iterdir())


SHARED_RECORDS = [
    ("warcinfo", None),
    ("response", "http://a.test/robots.txt"),
    ("response", "http://a.test/"),
    ("response", "http://a.test/old"),
    ("response", "http://a.test/older"),
    ("response", "http://a.test/dogs"),
    ("response", "http://a.test/copy"),
    ("response", "http://a.test/gone"),
]


NOT_TAKEN = {
    "by its header": response("http://a.test/x", headers=("Content-Type: text/html", "X-Robots-Tag: noindex")),
    "by its header, being no page": response(
        "http://a.test/x", b"%PDF", headers=("Content-Type: application/pdf", "X-Robots-Tag: none")
    ),
    "by its header, being an error": response("http://a.test/x", b"no", status=404, headers=("X-Robots-Tag: noindex",)),
    "by its meta element": response("http://a.test/x", b"<meta name=robots content='nofollow, NOINDEX'>dogs"),
    "by a packed meta element": response(
        "http://a.test/x",
        gzip.compress(b"<meta name=robots content=noindex>"),
        headers=("Content-Type: text/html", "Content-Encoding: gzip"),
    ),
    "by a meta element for this crawler": response("http://a.test/x", b"<meta name=hound content=noindex>"),
}
TAKEN_FOR_ALL = {
    "asking another crawler": response("http://a.test/x", headers=("X-Robots-Tag: otherbot: noindex",)),
    "asking another crawler in its meta element": response("http://a.test/x", b"<meta name=other content=noindex>"),
    "asking in what is no HTML": response(
        "http://a.test/x", b"<meta name=robots content=noindex>", headers=("Content-Type: text/plain",)
    ),
}


@pytest.mark.parametrize("case", [*NOT_TAKEN, *TAKEN_FOR_ALL])
@pytest.mark.parametrize("kind", ["warc", "cdxj"])
def test_a_skipped_response_is_left_out_only_if_it_is_noindex_itself(case: str, kind: str, tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl", agent="Hound") as store:
        store.add_urls(["http://a.test/"])
        add_page(store, 0, response("http://a.test/"))
        store.archive_response({**NOT_TAKEN, **TAKEN_FOR_ALL}[case], NOON_S)
        store.commit()
    summary = export(tmp_path / "crawl", kind, tmp_path / "out")
    assert (summary.written, summary.dropped.get("noindex", 0)) == ((1, 1) if case in NOT_TAKEN else (2, 0))
    assert export(tmp_path / "crawl", kind, tmp_path / "all", selection=ALL).written == 2


@pytest.mark.parametrize("name", ["crawl.warc.gz", "crawl.warc"])
def test_the_archive_is_exported_as_one_file_without_pages_that_may_not_be_indexed(
    crawl: Path, tmp_path: Path, name: str
) -> None:
    # http://a.test/copy was not taken, but asks for nothing.
    summary = export(crawl, "warc", tmp_path / name)
    assert records_of(tmp_path / name) == SHARED_RECORDS
    assert (summary.written, summary.dropped.get("noindex", 0)) == (7, 1)
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b" if name.endswith(".gz") else b"WARC/1.1")


def test_the_complete_archive_can_be_exported_byte_for_byte(crawl: Path, tmp_path: Path) -> None:
    export(crawl, "warc", tmp_path / "all.warc.gz", selection=ALL)
    assert (tmp_path / "all.warc.gz").read_bytes() == (crawl / "archive" / "scenthound-00000.warc.gz").read_bytes()


def test_what_is_not_acknowledged_is_not_exported(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    archive = folder / "archive" / "scenthound-00000.warc.gz"
    archive.write_bytes(archive.read_bytes() + archive.read_bytes()[:300])
    export(folder, "warc", tmp_path / "crawl.warc.gz")
    assert records_of(tmp_path / "crawl.warc.gz") == SHARED_RECORDS


def test_an_exported_archive_of_several_files_is_one(tmp_path: Path) -> None:
    with new_crawl(tmp_path / "crawl", most_file_bytes=1) as store:
        for number in range(3):
            add_page(store, number, response(f"http://a.test/{number}"))
        store.commit()
    told: list[tuple[float, str]] = []
    export(tmp_path / "crawl", "warc", tmp_path / "all.warc.gz", progress=lambda *said: told.append(said))
    assert [url for _, url in records_of(tmp_path / "all.warc.gz") if url] == [f"http://a.test/{i}" for i in range(3)]
    assert told[-1] == (1.0, "3 records")


def test_the_index_is_sorted_and_each_line_leads_to_its_record(crawl: Path, tmp_path: Path) -> None:
    export(crawl, "cdxj", tmp_path / "index.cdxj")
    lines = (tmp_path / "index.cdxj").read_text().splitlines()
    assert lines == sorted(lines)
    assert [line.split(" ", 2)[0] for line in lines] == [
        "test,a)/",
        "test,a)/copy",
        "test,a)/dogs",
        "test,a)/gone",
        "test,a)/old",
        "test,a)/older",
        "test,a)/robots.txt",
    ]
    _, time, fields = lines[2].split(" ", 2)
    where = json.loads(fields)
    assert time == "20260131120001"
    assert (where["url"], where["mime"], where["status"]) == ("http://a.test/dogs", "text/html", "200")
    archive = crawl / "archive" / where["filename"]
    start, length = int(where["offset"]), int(where["length"])
    member = gzip.decompress(archive.read_bytes()[start : start + length])
    assert b"WARC-Target-URI: http://a.test/dogs\r\n" in member
    assert f"WARC-Payload-Digest: sha1:{where['digest']}\r\n".encode() in member


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.Example.org/A/B/", "org,example)/a/b"),
        ("http://www23.example.org:8080/", "org,example:8080)/"),
        ("https://example.org:443/x", "org,example)/x"),
        ("http://127.0.1.9:81/x", "9,1,0,127:81)/x"),
        ("http://[::1]/", "::1)/"),
        ("http://a.org/?y=2&x=1&Y=0", "org,a)/?x=1&y=0&y=2"),
        ("http://a.org/x?", "org,a)/x"),
        ("http://a.org//x//y", "org,a)/x/y"),
        ("http://a.org/%2541%20b", "org,a)/a%20b"),
        ("http://a.org/%C3%A9?q=%E9", "org,a)/%c3%a9?q=%e9"),
        (f"http://a.org/x?PHPSESSID={'0' * 32}&b=1", "org,a)/x?b=1"),
        (f"http://a.org/(S({'a' * 24}))/page.aspx", "org,a)/page.aspx"),
        ("http://a.org/x/%2e%2e/y/.", "org,a)/y"),
    ],
)
def test_keys_are_those_of_the_wayback_machine(url: str, key: str) -> None:
    assert surt(url) == key


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), max_size=40))
def test_any_address_has_a_key_of_one_word(path: str) -> None:
    key = surt(f"http://a.org/{path.replace('#', '')}")
    assert key.startswith("org,a)/")
    assert " " not in key


def test_an_existing_file_is_replaced_only_with_force(crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages.jsonl"
    out.write_text("mine")
    with pytest.raises(InvalidInput, match="--force"):
        export(crawl, "jsonl", out)
    assert out.read_text() == "mine"
    export(crawl, "jsonl", out, force=True)
    assert len(lines_of(out)) == 2
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidInput, match=rf"{tmp_path / 'folder'} .*\bfile\b"):
        export(crawl, "jsonl", tmp_path / "folder", force=True)
    with pytest.raises(InvalidInput, match=f"{tmp_path / 'missing' / 'pages.jsonl'}: {os.strerror(errno.ENOENT)}"):
        export(crawl, "jsonl", tmp_path / "missing" / "pages.jsonl")


def test_an_export_that_fails_leaves_nothing(crawl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "pages.jsonl").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Failure, match=rf"pages\.jsonl: {os.strerror(errno.ENOSPC)}"):
        export(crawl, "jsonl", tmp_path / "pages.jsonl", force=True)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"pages.jsonl": "old"}


def test_an_unknown_kind_suggests_the_nearest_one(crawl: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"'json'.*'jsonl'"):
        sh.export(crawl, "json", tmp_path / "x")


def test_a_running_crawl_can_be_exported(tmp_path: Path) -> None:
    folder = small_crawl(tmp_path / "crawl")
    with CrawlStore.open(folder) as store:
        store.archive_response(response("http://a.test/later"), NOON_S)
        assert export(folder, "warc", tmp_path / "crawl.warc.gz").written == 7


@pytest.mark.parametrize("noindex", [False, True])
def test_the_response_of_a_rendered_page_is_left_out_with_the_rendered_document(tmp_path: Path, noindex: bool) -> None:
    fetched = response("http://a.test/", b"<title>A</title><script src=/app.js></script>")
    html = b'<title>A</title><meta name=robots content="noindex">dogs'
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls(["http://a.test/"])
        at = store.archive_response(fetched, NOON_S)
        rendered = store.archive_rendered(fetched, html, NOON_S, at)
        store.add(visit(0, location=rendered, noindex=noindex))
        store.add(RenderedRecord(0, NOON_S, at, 0, 1, 0, 0))
        store.commit()
    done = export(tmp_path / "crawl", "warc", tmp_path / "all.warc")
    kinds = [kind for kind, _ in records_of(tmp_path / "all.warc")]
    assert kinds == (["warcinfo"] if noindex else ["warcinfo", "response", "conversion"])
    assert done.dropped == ({"noindex": 2} if noindex else {})
    export(tmp_path / "crawl", "jsonl", tmp_path / "pages.jsonl", selection=ALL)
    assert [line["text"] for line in lines_of(tmp_path / "pages.jsonl")] == ["dogs"]
