"""Reading pages from files: every format and compression, what is cut, what is skipped and how it is named."""

import gzip
import json
import os
import random
import sys
import time
import tracemalloc
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import BadInput, MissingExtra
from scenthound.store.raw_page import RawPage, RawRecord, RawRedirect, Skipped
from scenthound.store.sources import jsonl, source_of
from scenthound.store.sources.chunk import CHUNK_BYTES, ReadOptions
from scenthound.store.sources.fields import record_of, without_spans
from scenthound.store.sources.jsonl import JsonLinesFile
from scenthound.store.sources.parquet import ParquetRows
from scenthound.store.sources.warc import WarcFile
from scenthound.web.parse import MAX_PAGE_BYTES

PLAIN = ReadOptions()


def records_of(path: Path, options: ReadOptions = PLAIN) -> list[RawRecord]:
    return [record for chunk in source_of(path).chunks(options) for record in chunk.records(options)]


def reasons(records: Iterable[RawRecord]) -> Counter[str]:
    return Counter(record.reason for record in records if isinstance(record, Skipped))


def pages(records: Iterable[RawRecord]) -> list[RawPage]:
    return [record for record in records if isinstance(record, RawPage)]


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


PAGE = {
    "url": "http://a.org/",
    "html": "<p>dogs",
    "title": "Dogs",
    "aliases": ["http://a.org/index"],
    "topics": ["pets"],
    "kind": "article",
}


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz", "pages.jsonl.zst", "misnamed"])
def test_json_lines_are_read_whatever_they_are_compressed_with(name: str, tmp_path: Path) -> None:
    pack: Any = {".gz": gzip.compress, ".zst": zstd.compress}.get(Path(name).suffix, bytes)
    path = tmp_path / name
    path.write_bytes(pack(lines(PAGE)))
    expected = RawPage(
        "http://a.org/",
        html="<p>dogs",
        title="Dogs",
        aliases=("http://a.org/index",),
        topics=("pets",),
        place=f"{name}, line 1",
    )
    assert records_of(path) == [expected]


def test_every_bad_line_is_named_with_its_reason_and_number(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    bad = [
        [1, 2],
        {"html": "x"},
        {"url": "http://a.org/"},
        {"url": 3, "html": "x"},
        {"url": "http://a.org/", "html": ["x"]},
        {"url": "http://a.org/", "html": "x", "topics": "pets"},
        {"url": "http://a.org/", "html": "x", "aliases": [1]},
    ]
    path.write_bytes(b"not json\n\n" + lines(*bad))
    found = [(record.reason, record.place) for record in records_of(path) if isinstance(record, Skipped)]
    assert found == [
        ("not JSON", "pages.jsonl, line 1"),
        ("not an object with fields", "pages.jsonl, line 3"),
        ("no url", "pages.jsonl, line 4"),
        ("neither html nor text", "pages.jsonl, line 5"),
        ("url is not text", "pages.jsonl, line 6"),
        ("html is not text", "pages.jsonl, line 7"),
        ("topics is not a list of texts", "pages.jsonl, line 8"),
        ("aliases is not a list of texts", "pages.jsonl, line 9"),
    ]


def test_a_line_too_long_to_be_a_page_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE_BYTES", 200)
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"x" * 1_000 + b"\n" + lines(PAGE))
    first, second = records_of(path)
    assert first == Skipped("line too long", "pages.jsonl, line 1")
    assert isinstance(second, RawPage)
    assert second.place == "pages.jsonl, line 2"


def test_leaks_of_a_text_page_are_cut_too() -> None:
    fields = {"url": "http://a.org/", "text": "dog Pets cat", "leak": [[4, 8]]}
    cut = record_of(fields, "", ReadOptions(without_leaks=True))
    assert isinstance(cut, RawPage)
    assert cut.text == "dog   cat"


def test_leaks_that_nobody_asked_to_cut_need_not_make_sense() -> None:
    fields = {"url": "http://a.org/", "html": "dog", "leak": "everywhere"}
    assert isinstance(record_of(fields, "", ReadOptions()), RawPage)
    assert isinstance(record_of(fields, "", ReadOptions(without_leaks=True)), Skipped)


def test_a_byte_order_mark_does_not_cost_the_first_page(tmp_path: Path) -> None:
    file = tmp_path / "bom.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b'{"url": "http://a.org/", "html": "dog"}\n')
    (chunk,) = JsonLinesFile(file).chunks(ReadOptions())
    assert [type(found) for found in chunk.records(ReadOptions())] == [RawPage]


def test_leaks_are_cut_only_when_asked_and_keep_words_apart() -> None:
    fields = {"url": "http://a.org/", "html": "dog<b>Pets</b>cat", "leak": [[3, 14]]}
    (kept, cut) = (record_of(fields, "", ReadOptions(without_leaks=wish)) for wish in (False, True))
    assert isinstance(kept, RawPage)
    assert isinstance(cut, RawPage)
    assert (kept.html, cut.html) == ("dog<b>Pets</b>cat", "dog cat")


def test_spans_may_touch_overlap_and_reach_beyond_the_end() -> None:
    assert without_spans("0123456789", [(6, 8), (2, 4), (3, 5), (9, 99)]) == "01 5 8 "
    assert without_spans("abc", []) == "abc"
    assert without_spans("abc", [(0, 3)]) == " "


@given(st.text("abc", max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=4))
def test_cutting_leaves_just_the_characters_outside_all_spans(text: str, cuts: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in cuts]
    outside = [c for i, c in enumerate(text) if not any(start <= i < end for start, end in spans)]
    assert without_spans(text, spans).replace(" ", "") == "".join(outside)


def test_only_records_with_the_wanted_values_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(lines(PAGE, PAGE | {"kind": "index"}, {"url": "http://b.org/", "text": "x"}))
    found = records_of(path, ReadOptions(where=(("kind", "article"),)))
    assert len(pages(found)) == 1
    assert reasons(found) == {"not wanted: kind is not article": 2}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (3, "3"),
        (1.5, "1.5"),
        ("yes", "yes"),
        ("true", "true"),
        ("", ""),
    ],
)
def test_a_wanted_value_is_written_as_in_json(value: object, wanted: str) -> None:
    fields = {"url": "http://a.org/", "text": "x", "ok": value}
    for wish in ("true", "True", "false", "null", "None", "3", "1.5", "yes", ""):
        kept = isinstance(record_of(fields, "", ReadOptions(where=(("ok", wish),))), RawPage)
        assert kept == (wish == wanted), wish


@pytest.mark.parametrize("wish", ["null", "None", ""])
def test_a_missing_field_is_never_the_wanted_one(wish: str) -> None:
    fields = {"url": "http://a.org/", "text": "x"}
    assert isinstance(record_of(fields, "", ReadOptions(where=(("ok", wish),))), Skipped)


def noisy_lines() -> bytes:
    """Pages that do not compress, so that a file of them can be cut between blocks."""
    rng = random.Random(7)
    return lines(*({"url": f"http://a.org/{i}", "text": rng.randbytes(2_000).hex()} for i in range(200)))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_of_a_file_cut_short_all_is_kept_that_can_be_read(pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl.zst"
    whole = pack(noisy_lines())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = records_of(path)
    n_pages = len(pages(found))
    assert 80 < n_pages < 200
    damage = found[-1]
    assert isinstance(damage, Skipped)
    assert damage.reason == "damaged file"
    assert damage.place.startswith(f"pages.jsonl.zst, after line {n_pages}: ")


def test_a_file_with_damage_in_its_middle_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl.gz"
    whole = bytearray(gzip.compress(noisy_lines()))
    whole[len(whole) // 2 :] = b"\xff" * (len(whole) - len(whole) // 2)
    path.write_bytes(whole)
    assert reasons(records_of(path)) == {"damaged file": 1}


def test_chunks_tell_how_much_of_the_file_was_read(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(noisy_lines())
    read = [chunk.bytes_read for chunk in source_of(path).chunks(PLAIN)]
    assert read == sorted(read)
    assert len(read) == 4
    assert read[-1] == path.stat().st_size


def test_parquet_has_the_same_records_as_json_lines(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [PAGE | {"leak": [[0, 3]]}, PAGE | {"url": None, "leak": None}, PAGE | {"kind": "index", "leak": []}]
    path = tmp_path / "pages.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=1)
    assert isinstance(source_of(path), ParquetRows)
    page, no_url, unwanted = records_of(path, ReadOptions(True, (("kind", "article"),)))
    assert isinstance(page, RawPage)
    assert (page.html, page.topics, page.place) == (" dogs", ("pets",), "pages.parquet, row 1")
    assert no_url == Skipped("no url", "pages.parquet, row 2")
    assert unwanted == Skipped("not wanted: kind is not article", "pages.parquet, row 3")


def test_damaged_parquet_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(BadInput, match=r"pages\.parquet cannot be read as Parquet"):
        records_of(path)


def parquet_file(path: Path, rows: list[dict[str, Any]], schema: Any = None, row_group_size: int = 100) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist(rows, schema)
    parquet.write_table(table, path, row_group_size=row_group_size, compression="none", use_dictionary=False)
    return path


def test_parquet_may_hold_html_as_bytes(tmp_path: Path) -> None:
    html = "<meta charset=windows-1251><p>собака<i>Pets</i>".encode("windows-1251")
    row = {"url": "http://a.org/", "html": html, "leak": [[36, 47]]}
    path = parquet_file(tmp_path / "p.parquet", [row])
    (kept,), (cut,) = pages(records_of(path)), pages(records_of(path, ReadOptions(without_leaks=True)))
    assert kept.html == html
    assert isinstance(cut.html, str)
    assert cut.html == "<meta charset=windows-1251><p>собака "
    assert reasons(records_of(parquet_file(path, [{"url": b"http://a.org/", "html": "x"}]))) == {"url is not text": 1}


def test_rows_of_parquet_are_sent_in_chunks_of_bounded_size(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.org/{i}", "text": "x" * (1 << 20)} for i in range(20)]
    path = parquet_file(tmp_path / "p.parquet", rows)
    chunks = list(source_of(path).chunks(PLAIN))
    assert all(sum(len(page.text or "") for page in pages(chunk.records(PLAIN))) <= CHUNK_BYTES for chunk in chunks)
    found = pages(record for chunk in chunks for record in chunk.records(PLAIN))
    assert [(page.url, page.place) for page in found] == [
        (f"http://a.org/{i}", f"p.parquet, row {i + 1}") for i in range(20)
    ]
    assert chunks[-1].bytes_read == path.stat().st_size


def test_of_damaged_parquet_all_row_groups_are_read_that_can_be(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.org/{i}", "text": f"dog{i} " * 50} for i in range(30)]
    path = parquet_file(tmp_path / "p.parquet", rows, row_group_size=10)
    second_group = pytest.importorskip("pyarrow.parquet").ParquetFile(path).metadata.row_group(1)
    with path.open("r+b") as file:
        file.seek(second_group.column(0).data_page_offset)
        file.write(b"\xff" * 20)
    found = records_of(path)
    assert [page.place for page in pages(found)] == [f"p.parquet, row {row}" for row in [*range(1, 11), *range(21, 31)]]
    (damage,) = (record for record in found if isinstance(record, Skipped))
    assert damage.reason == "damaged file"
    assert damage.place.startswith("p.parquet, after row 10: ")


def test_a_row_of_parquet_that_is_no_unicode_is_passed_over(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.org/{i}", "text": f"dog{i}"} for i in range(3)]
    path = parquet_file(tmp_path / "p.parquet", rows)
    path.write_bytes(path.read_bytes().replace(b"dog1", b"\xff\xfe\xfd\xfc"))
    found = records_of(path)
    assert [page.text for page in pages(found)] == ["dog0", "dog2"]
    assert found[1] == Skipped("values that cannot be read", "p.parquet, row 2")


def test_parquet_without_its_library_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=r"scenthound\[lab\]"):
        records_of(path)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"missing\.jsonl cannot be read: No such file"):
        source_of(tmp_path / "missing.jsonl")
    with pytest.raises(BadInput, match="is a folder"):
        source_of(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(BadInput, match=f"{path} is a pipe or a device"):
            source_of(path)


def warc(tmp_path: Path, *answers: tuple[str, str, list[str], bytes]) -> Path:
    """A file of HTTP answers: URL, status line, header lines, body."""
    path = tmp_path / "crawl.warc.gz"
    with path.open("wb") as file:
        for url, status, headers, body in answers:
            answer = "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode() + body
            record = ["WARC/1.0", "WARC-Type: response", f"WARC-Target-URI: {url}", "Content-Type: application/http"]
            head = "\r\n".join([*record, f"Content-Length: {len(answer)}", "", ""]).encode()
            file.write(gzip.compress(head + answer + b"\r\n\r\n"))
    return path


HTML = "Content-Type: text/html; charset=ISO-8859-1"


def test_of_a_warc_file_html_answers_are_pages_and_redirects_aliases(tmp_path: Path) -> None:
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
        ("http://a.org/b", "200 OK", [HTML, "Content-Encoding: br"], b"\x0b\x02\x80dog\x03"),
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
        "content encoding that cannot be read": 1,
    }
    assert found[-1] == Skipped("content encoding that cannot be read", "crawl.warc.gz, record 9: br")


def test_what_a_warc_file_says_of_itself_makes_no_new_reasons_and_is_safe_to_print(tmp_path: Path) -> None:
    odd = "\x1b[31mred\u202e" + "x" * 5_000
    path = warc(
        tmp_path,
        ("http://a.org/1", f"{odd} OK", [HTML], b"x"),
        ("http://a.org/2", "٤٠٤ OK", [HTML], b"x"),
        ("http://a.org/3", "200 OK", [HTML, f"Content-Encoding: {odd}"], b"x"),
    )
    with path.open("ab") as file:
        head = f"WARC/1.0\r\nWARC-Type: {odd}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        file.write(gzip.compress(head.encode()) + b"\x1b[31mred, and no gzip")
    *odd_records, damage = records_of(path)
    shown = r"\x1b[31mred\u202e" + "x" * 51 + "..."
    assert odd_records == [
        Skipped("no status", f"crawl.warc.gz, record 1: {shown}"),
        Skipped("no status", "crawl.warc.gz, record 2: ٤٠٤"),
        Skipped("content encoding that cannot be read", f"crawl.warc.gz, record 3: {shown}"),
        Skipped("record of unknown type", f"crawl.warc.gz, record 4: {shown}"),
    ]
    assert isinstance(damage, Skipped)
    assert damage.reason == "damaged file"
    for record in (*odd_records, damage):
        assert isinstance(record, Skipped)
        assert record.place.isprintable()
        assert len(record.place) < 400


@pytest.mark.parametrize("head", [b"WARC/1.0\r\nX: ", b"WARC/1.0\r\n", b"http://a.org/ "])
@pytest.mark.parametrize("tail", [b"x", b"a: b\r\n", b"\r\n", b" y\r\n"])
def test_headers_without_end_cost_no_more_than_a_megabyte(head: bytes, tail: bytes, tmp_path: Path) -> None:
    whole = warc(tmp_path, ("http://a.org/", "200 OK", [HTML], b"x" * 3_000_000)).read_bytes()
    path = tmp_path / "endless.warc.gz"
    path.write_bytes(whole + gzip.compress(head + tail * ((16 << 20) // len(tail))))
    started = time.process_time()
    found = records_of(path)
    assert time.process_time() - started < 4
    assert len(pages(found)) == 1
    assert set(reasons(found)) <= {"damaged file", "record of another length than it says", "record of unknown type"}


def deflated(body: bytes) -> bytes:
    raw = zlib.compressobj(wbits=-15)
    return raw.compress(body) + raw.flush()


def test_bodies_are_unpacked_as_far_as_they_can_be(tmp_path: Path) -> None:
    noise = random.Random(3).randbytes(40_000)
    bodies = [
        ("gzip", gzip.compress(b"dogs"), b"dogs"),
        ("X-GZip", gzip.compress(b"dogs"), b"dogs"),
        ("deflate", zlib.compress(b"dogs"), b"dogs"),
        ("deflate", deflated(b"dogs"), b"dogs"),
        ("gzip", b"<p>never packed", b"<p>never packed"),
        ("identity", b"dogs", b"dogs"),
        ("gzip", gzip.compress(b"dogs") + b"and more", b"dogs"),
    ]
    cut = gzip.compress(noise)[:30_000]
    answers = [
        (f"http://a.org/{i}", "200 OK", [HTML, f"Content-Encoding: {encoding}"], body)
        for i, (encoding, body, _) in enumerate([*bodies, ("gzip", cut, b"")])
    ]
    *whole, partly = pages(records_of(warc(tmp_path, *answers)))
    assert [page.html for page in whole] == [expected for *_, expected in bodies]
    assert isinstance(partly.html, bytes)
    assert len(partly.html) > 10_000
    assert noise.startswith(partly.html)


def test_a_page_packed_to_nothing_has_an_empty_body(tmp_path: Path) -> None:
    path = warc(tmp_path, ("http://a.org/", "200 OK", [HTML, "Content-Encoding: gzip"], gzip.compress(b"")))
    assert reasons(records_of(path)) == {"empty body": 1}


def test_a_small_body_that_unpacks_to_much_costs_no_more_than_a_page(tmp_path: Path) -> None:
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
    assert found[-1] == Skipped("damaged file", "crawl.warc.gz, after record 1: headers of more than 1,048,576 bytes")


def test_a_warc_has_no_fields_that_could_be_wanted(tmp_path: Path) -> None:
    path = warc(tmp_path, ("http://a.org/", "200 OK", [HTML], b"x"))
    assert reasons(records_of(path, ReadOptions(where=(("kind", "article"),)))) == {
        "not wanted: kind is not article": 1
    }


def test_a_warc_cut_short_keeps_what_came_before(tmp_path: Path) -> None:
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


def test_the_shared_suite_has_no_file_that_this_test_does_not_know(shared: Path) -> None:
    names = {path.name for path in (shared / "suites" / "warc").iterdir() if not path.name.startswith("LICENSE")}
    assert names == set(SUITE)


def test_a_file_of_no_known_kind_is_tried_as_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "pages.bin"
    path.write_bytes(bytes(range(256)))
    assert isinstance(source_of(path), JsonLinesFile)
    assert set(reasons(records_of(path))) == {"not JSON"}
