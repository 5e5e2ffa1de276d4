"""Reading pages from WARC files: responses, redirects, compressed bodies, and hostile files."""

import gzip
import random
import re
import tracemalloc
import zlib
from pathlib import Path

import brotli
import pytest

from recording_input import pages, reasons, records_of
from scenthound.files import zstd
from scenthound.store.batches import RawRecord, RawRedirect, Skipped
from scenthound.store.sources import source_of
from scenthound.store.sources.records import ReadOptions, reason_not_wanted
from scenthound.store.sources.warc import (
    MAX_HEADER_BYTES,
    UNKNOWN_ENCODING,
    UNKNOWN_TYPE,
    WRONG_LENGTH,
    WarcFile,
)
from scenthound.web.parse import MAX_PAGE_BYTES
from timing import cpu_cost_s


def warc(tmp_path: Path, *responses: tuple[str, str, list[str], bytes]) -> Path:
    """A file of HTTP responses: URL, status line, header lines, body."""
    path = tmp_path / "crawl.warc.gz"
    with path.open("wb") as file:
        for url, status, headers, body in responses:
            response = "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body
            record = ["WARC/1.0", "WARC-Type: response", f"WARC-Target-URI: {url}", "Content-Type: application/http"]
            head = "\r\n".join([*record, f"Content-Length: {len(response)}", "", ""]).encode()
            file.write(gzip.compress(head + response + b"\r\n\r\n"))
    return path


HTML = "Content-Type: text/html; charset=ISO-8859-1"


def test_html_responses_are_pages_and_redirects_are_aliases(tmp_path: Path) -> None:
    chunked = b"6\r\n<p>dog\r\n4\r\n cat\r\n0\r\n\r\n"
    path = warc(
        tmp_path,
        ("http://a.org/", "200 OK", [HTML], b"caf\xe9"),
        ("http://a.org/z", "200 OK", [HTML, "Content-Encoding: gzip"], gzip.compress(b"zipped")),
        ("http://a.org/c", "200 OK", [HTML, "Transfer-Encoding: chunked"], chunked),
        ("http://a.org/old", "301 Moved", ["Location: /"], b""),
        ("http://a.org/lost", "302 Found", [], b""),
        ("http://a.org/x", "404 Not Found", [HTML], b"gone"),
        ("http://a.org/p", "200 OK", ["Content-Type: image/png"], b"png"),
        ("http://a.org/e", "200 OK", [HTML], b""),
        ("http://a.org/b", "200 OK", [HTML, "Content-Encoding: compress"], b"\x1f\x9d\x90"),
    )
    found = records_of(path)
    assert [(page.url, page.html, page.charset) for page in pages(found)] == [
        ("http://a.org/", b"caf\xe9", "ISO-8859-1"),
        ("http://a.org/z", b"zipped", "ISO-8859-1"),
        ("http://a.org/c", b"<p>dog cat", "ISO-8859-1"),
    ]
    assert found[3] == RawRedirect("http://a.org/old", "/", "crawl.warc.gz, record 4")
    assert reasons(found) == {
        "status 302": 1,
        "status 404": 1,
        "not HTML": 1,
        "empty body": 1,
        UNKNOWN_ENCODING: 1,
    }
    assert found[-1] == Skipped(UNKNOWN_ENCODING, "crawl.warc.gz, record 9: compress")


def test_values_of_a_warc_file_are_printable_and_not_in_reasons(tmp_path: Path) -> None:
    unusual = "\x1b[31mred\u202e" + "x" * 5_000
    path = warc(
        tmp_path,
        ("http://a.org/1", f"{unusual} OK", [HTML], b"x"),
        ("http://a.org/2", "٤٠٤ OK", [HTML], b"x"),
        ("http://a.org/3", "200 OK", [HTML, f"Content-Encoding: {unusual}"], b"x"),
    )
    with path.open("ab") as file:
        head = f"WARC/1.0\r\nWARC-Type: {unusual}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        file.write(gzip.compress(head.encode()) + b"\x1b[31mred, and no gzip")
    *odd_records, damage = records_of(path)
    printed = r"\x1b[31mred\u202e" + "x" * 51 + "..."
    assert odd_records == [
        Skipped("no status", f"crawl.warc.gz, record 1: {printed}"),
        Skipped("no status", "crawl.warc.gz, record 2: ٤٠٤"),
        Skipped(UNKNOWN_ENCODING, f"crawl.warc.gz, record 3: {printed}"),
        Skipped(UNKNOWN_TYPE, f"crawl.warc.gz, record 4: {printed}"),
    ]
    assert isinstance(damage, Skipped)
    assert damage.reason == "damaged file"
    for record in (*odd_records, damage):
        assert isinstance(record, Skipped)
        assert record.location.isprintable()
        assert len(record.location) < 400


@pytest.mark.parametrize("head", [b"WARC/1.0\r\nX: ", b"WARC/1.0\r\n", b"http://a.org/ "])
@pytest.mark.parametrize("tail", [b"x", b"a: b\r\n", b"\r\n", b" y\r\n"])
def test_endless_headers_are_read_up_to_a_megabyte(head: bytes, tail: bytes, tmp_path: Path) -> None:
    complete = warc(tmp_path, ("http://a.org/", "200 OK", [HTML], b"x" * 3_000_000)).read_bytes()
    path = tmp_path / "endless.warc.gz"
    path.write_bytes(complete + gzip.compress(head + tail * ((16 << 20) // len(tail))))
    tries: list[list[RawRecord]] = []
    assert cpu_cost_s(lambda: tries.append(records_of(path)), 4) < 4
    found = tries[0]
    assert len(pages(found)) == 1
    assert set(reasons(found)) <= {"damaged file", WRONG_LENGTH, UNKNOWN_TYPE}


def deflated(body: bytes) -> bytes:
    raw = zlib.compressobj(wbits=-15)
    return raw.compress(body) + raw.flush()


def test_bodies_are_decoded_as_far_as_possible(tmp_path: Path) -> None:
    noise = random.Random(3).randbytes(40_000)
    bodies = [
        ("gzip", gzip.compress(b"dogs"), b"dogs"),
        ("X-GZip", gzip.compress(b"dogs"), b"dogs"),
        ("deflate", zlib.compress(b"dogs"), b"dogs"),
        ("deflate", deflated(b"dogs"), b"dogs"),
        ("br", brotli.compress(b"dogs"), b"dogs"),
        ("zstd", zstd.compress(b"dogs"), b"dogs"),
        ("gzip, br", brotli.compress(gzip.compress(b"dogs")), b"dogs"),
        ("gzip", b"<p>never packed", b"<p>never packed"),
        ("identity", b"dogs", b"dogs"),
        ("gzip", gzip.compress(b"dogs") + b"and more", b"dogs"),
    ]
    cut = gzip.compress(noise)[:30_000]
    responses = [
        (f"http://a.org/{i}", "200 OK", [HTML, f"Content-Encoding: {encoding}"], body)
        for i, (encoding, body, _) in enumerate([*bodies, ("gzip", cut, b"")])
    ]
    *complete, partly = pages(records_of(warc(tmp_path, *responses)))
    assert [page.html for page in complete] == [expected for *_, expected in bodies]
    assert isinstance(partly.html, bytes)
    assert len(partly.html) > 10_000
    assert noise.startswith(partly.html)


def test_a_compressed_empty_page_has_an_empty_body(tmp_path: Path) -> None:
    path = warc(tmp_path, ("http://a.org/", "200 OK", [HTML, "Content-Encoding: gzip"], gzip.compress(b"")))
    assert reasons(records_of(path)) == {"empty body": 1}


def test_a_compression_bomb_is_read_up_to_the_page_limit(tmp_path: Path) -> None:
    bomb = gzip.compress(b"x" * (64 << 20))
    chunk = f"{len(bomb):x}\r\n".encode() + bomb + b"\r\n0\r\n\r\n"
    packed = [HTML, "Content-Encoding: gzip"]
    path = warc(
        tmp_path,
        ("http://a.org/1", "200 OK", packed, bomb),
        ("http://a.org/2", "200 OK", [*packed, "Transfer-Encoding: Chunked"], chunk),
        ("http://a.org/3", "200 OK", [HTML, "Transfer-Encoding: chunked"], b"7fffffff\r\n" + b"y" * (32 << 20)),
        ("http://a.org/4", "200 OK", [HTML], b"dogs"),
    )
    tracemalloc.start()
    found = records_of(path)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [len(page.html or "") for page in pages(found)] == [MAX_PAGE_BYTES] * 3 + [4]
    assert most_bytes < 16 * MAX_PAGE_BYTES


def test_http_headers_without_end_are_damage_too(tmp_path: Path) -> None:
    path = warc(
        tmp_path,
        ("http://a.org/1", "200 OK", [HTML], b"x"),
        ("http://a.org/2", "200 OK", [HTML, "X: " + "y" * (4 << 20)], b"x"),
    )
    found = records_of(path)
    assert [page.url for page in pages(found)] == ["http://a.org/1"]
    damage = found[-1]
    assert isinstance(damage, Skipped)
    assert damage.reason == "damaged file"
    assert re.match(rf"crawl\.warc\.gz, after record 1: .*\b{MAX_HEADER_BYTES:,}\b", damage.location)


def test_records_of_a_warc_file_have_no_fields_to_select(tmp_path: Path) -> None:
    path = warc(tmp_path, ("http://a.org/", "200 OK", [HTML], b"x"))
    options = ReadOptions(where=(("kind", "article"),))
    assert reasons(records_of(path, options)) == {reason_not_wanted({}, options): 1}


def test_the_start_of_a_truncated_warc_file_is_kept(tmp_path: Path) -> None:
    rng = random.Random(5)
    path = warc(tmp_path, *((f"http://a.org/{i}", "200 OK", [HTML], rng.randbytes(900)) for i in range(9)))
    path.write_bytes(path.read_bytes()[:-1_500])
    found = records_of(path)
    assert [page.url for page in pages(found)][:7] == [f"http://a.org/{i}" for i in range(7)]
    assert reasons(found) == {"damaged file": 1}


#: Files of the shared suite and the pages that each holds.
SUITE = {
    "bad.arc": [],
    "cc.warc.gz": ["http://commoncrawl.org/"],
    "example-bad-non-chunked.warc.gz": ["http://example.com/"],
    "example-bad.warc.gz.bad": ["http://example.com?example=1"],
    "example-digest.warc": [],
    "example-iana.org-chunked.warc": ["http://www.iana.org/"],
    "example-resource.warc.gz": ["http://example.com/"],
    "example-space-in-target-uri.warc.gz": [],
    "example-space-in-url.arc": [
        "http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples%20From%20The%20Live%20Web&IsPopUp=False"
    ],
    "example-trunc.warc": ["http://example.com/"],
    "example-wget-bad-target-uri.warc.gz": ["http://example.com/"],
    "example-wrong-chunks.warc.gz": ["http://example.com/"],
    "example.arc": ["http://example.com/"],
    "example.arc.gz": ["http://example.com/"],
    "example.warc": ["http://example.com/"],
    "example.warc.gz": ["http://example.com/"],
    "gzip_extra_sl.warc.gz": [],
    "post-test.warc.gz": [],
}


@pytest.mark.parametrize("name", SUITE)
def test_of_the_shared_warc_files_all_is_read_that_can_be(
    name: str, shared: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = source_of(shared / "suites" / "warc" / name)
    assert isinstance(source, WarcFile)
    found = records_of(source.path)
    assert [page.url for page in pages(found)] == SUITE[name]
    assert all(page.html for page in pages(found))
    assert capfd.readouterr().err == "", "warnings belong into the summary"


def test_all_files_of_the_shared_suite_are_tested(shared: Path) -> None:
    names = {path.name for path in (shared / "suites" / "warc").iterdir() if not path.name.startswith("LICENSE")}
    assert names == set(SUITE)
