"""The archive: WARC files that other programs accept, and that can be truncated and continued."""

import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from scenthound.errors import InvalidInput
from scenthound.store.archive import ArchiveEnd, ArchiveReader, ArchiveWriter, check_complete, file_name, truncate
from scenthound.store.crawl_records import ArchiveLocation
from scenthound.store.warc_format import record_of, response_record, unpacked
from scenthound.web.fetch import Response
from stored_crawls import CRAWL_ID, NOON_S, redirect, response

FIELDS = b"software: Scenthound\r\n"


def written(
    folder: Path, *responses: Response, most_file_bytes: int = 1 << 30
) -> tuple[list[ArchiveLocation], ArchiveEnd]:
    folder.mkdir(exist_ok=True)
    writer = ArchiveWriter(folder, CRAWL_ID, FIELDS, ArchiveEnd(), most_file_bytes)
    locations = [writer.add(each, NOON_S) for each in responses]
    batch = writer.take()
    writer.write(batch)
    writer.close()
    return locations, batch.end


def stored_head(each: Response) -> bytes:
    """The head as it is stored."""
    return record_of(unpacked(response_record("x", NOON_S, each), "here"), "here").head


def test_a_response_is_read_back_as_it_was_stored(tmp_path: Path) -> None:
    responses = [
        response("http://a.test/", b"dogs\r\n\r\ncats"),
        response("http://a.test/2", b"\x00\xff", truncated=True),
    ]
    locations, end = written(tmp_path, *responses)
    with ArchiveReader(tmp_path) as archive:
        first, second = (archive.record(location) for location in locations)
        everything = list(archive.records(end))
    assert (first.kind, first.url, first.body) == ("response", "http://a.test/", b"dogs\r\n\r\ncats")
    assert first.head == b"HTTP/1.1 200 Said\r\nContent-Type: text/html\r\nContent-Length: 12\r\n"
    assert (first.date, first.status, first.truncated) == ("2026-01-31T12:00:00.250000Z", 200, False)
    assert (second.body, second.truncated) == (b"\x00\xff", True)
    assert [record.kind for _, record in everything] == ["warcinfo", "response", "response"]
    assert [location for location, _ in everything[1:]] == locations
    assert everything[0][1].body == FIELDS


def test_dates_have_microseconds_and_are_rounded() -> None:
    def date(time_s: float) -> str:
        return record_of(unpacked(response_record("x", time_s, response()), "here"), "here").date

    assert date(NOON_S + 0.5) == "2026-01-31T12:00:00.750000Z"
    # It is a quarter of a second past noon; a tenth of a microsecond before the next second is that second.
    assert date(NOON_S + 0.749_999_9) == "2026-01-31T12:00:01.000000Z"


def test_warcio_reads_what_is_written_and_finds_the_digests_right(tmp_path: Path) -> None:
    written(tmp_path, response(body=b"dogs", truncated=True), redirect("http://a.test/old", "/"))
    path = tmp_path / file_name(0)
    with path.open("rb") as file:
        found = [
            (record.rec_type, dict(record.rec_headers.headers), record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    (info, said, fields), (kind, headers, body), (_, _, nothing) = found
    assert (info, fields, said["WARC-Filename"]) == ("warcinfo", FIELDS, "scenthound-00000.warc.gz")
    assert (kind, body, nothing) == ("response", b"dogs", b"")
    assert headers["WARC-Target-URI"] == "http://a.test/"
    assert headers["WARC-IP-Address"] == "127.0.0.1"
    assert headers["WARC-Truncated"] == "length"
    assert headers["Content-Type"] == "application/http;msgtype=response"
    # echo -n dogs | sha1sum, in base 32
    assert headers["WARC-Payload-Digest"] == "sha1:ZSIP3KNRU5ED3YFPBIRWIFT55T63DUSH"
    assert re.fullmatch("<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>",
                        headers["WARC-Record-ID"])  # fmt: skip


def test_warcio_and_fastwarc_accept_an_archive(tmp_path: Path) -> None:
    fastwarc = pytest.importorskip("fastwarc")
    responses = [response(f"http://a.test/{i}", b"dogs " * i, truncated=i % 2 == 0) for i in range(20)]
    _, end = written(tmp_path, *responses, most_file_bytes=4_000)
    files = sorted(str(file) for file in tmp_path.iterdir())
    assert len(files) == end.file + 1 > 1

    class Options:
        inputs = files
        verbose = False

    checker = Checker(Options())
    checker.process_all()
    assert checker.exit_value == 0
    for path in files:
        with open(path, "rb") as file:
            for record in fastwarc.ArchiveIterator(file, parse_http=False):
                assert record.verify_block_digest()
                # Digests of a payload are checked behind its head.
                record.parse_http()
                assert record.record_type == fastwarc.WarcRecordType.warcinfo or record.verify_payload_digest()


def revisits(folder: Path) -> list[ArchiveLocation]:
    """A page, that it was not modified, and that it was sent again."""
    folder.mkdir(exist_ok=True)
    writer = ArchiveWriter(folder, CRAWL_ID, FIELDS, ArchiveEnd())
    first = writer.add(response(body=b"dogs", headers=("ETag: 1", "Transfer-Encoding: chunked")), NOON_S)
    writer.write(writer.take())
    with ArchiveReader(folder) as archive:
        original = archive.record(first)
    not_modified = response(body=b"", status=304, headers=("ETag: 2",), protocol="HTTP/2")
    again = response(body=b"dogs", headers=("ETag: 3", "Transfer-Encoding: chunked"))
    locations = [writer.add(each, NOON_S + 60, original) for each in (not_modified, again)]
    writer.write(writer.take())
    writer.close()
    return locations


def test_a_revisit_has_the_headers_of_its_response_and_the_digest_of_the_original(tmp_path: Path) -> None:
    with ArchiveReader(tmp_path) as archive:
        not_modified, again = map(archive.record, revisits(tmp_path))
    assert (not_modified.kind, not_modified.status, not_modified.header("ETag")) == ("revisit", 304, "2")
    assert not_modified.header("Content-Length") is None
    assert (again.kind, again.status, again.header("ETag"), again.header("Content-Length")) == (
        "revisit",
        200,
        "3",
        "4",
    )
    for record in (not_modified, again):
        assert (record.body, record.url) == (b"", "http://a.test/")
        assert record.payload_digest == "sha1:ZSIP3KNRU5ED3YFPBIRWIFT55T63DUSH"


def test_warcio_reads_revisits_and_finds_what_they_refer_to(tmp_path: Path) -> None:
    revisits(tmp_path)
    with (tmp_path / file_name(0)).open("rb") as file:
        records = [
            (dict(record.rec_headers.headers), record.http_headers and record.http_headers.get_statuscode())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    (original, _), *found = records[1:]
    assert [status for _, status in found] == ["304", "200"]
    for headers, _ in found:
        assert headers["WARC-Type"] == "revisit"
        assert headers["WARC-Refers-To"] == original["WARC-Record-ID"]
        assert headers["WARC-Refers-To-Target-URI"] == original["WARC-Target-URI"]
        assert headers["WARC-Refers-To-Date"] == original["WARC-Date"] < headers["WARC-Date"]
        assert headers["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    profiles = [
        headers["WARC-Profile"].removeprefix("http://netpreserve.org/warc/1.1/revisit/") for headers, _ in found
    ]
    assert profiles == ["server-not-modified", "identical-payload-digest"]
    assert found[0][0]["WARC-Protocol"] == "h2"


def test_record_ids_are_unique(tmp_path: Path) -> None:
    written(tmp_path, *(response(f"http://a.test/{i}") for i in range(30)), most_file_bytes=3_000)
    ids = []
    for path in tmp_path.iterdir():
        with path.open("rb") as file:
            ids += [record.rec_headers.get_header("WARC-Record-ID") for record in ArchiveIterator(file)]
    assert len(ids) > 31
    assert len(set(ids)) == len(ids)


def test_a_head_is_stored_as_received_when_it_is_true() -> None:
    each = response(body=b"dogs", headers=("content-length: 4", "X-Odd: \xe9"))
    assert stored_head(each) == b"HTTP/1.1 200 Said\r\ncontent-length: 4\r\nX-Odd: \xe9\r\n"


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (("Transfer-Encoding: chunked",), ("X-Archive-Orig-Transfer-Encoding: chunked", "Content-Length: 4")),
        (("Content-Length: 9",), ("X-Archive-Orig-Content-Length: 9", "Content-Length: 4")),
        (
            ("transfer-encoding:chunked", "Content-Length: 4", "Content-Encoding: br"),
            (
                "X-Archive-Orig-transfer-encoding: chunked",
                "X-Archive-Orig-Content-Length: 4",
                "Content-Encoding: br",
                "Content-Length: 4",
            ),
        ),
        (("X-Content-Length: 7",), ("X-Content-Length: 7", "Content-Length: 4")),
    ],
)
def test_a_stored_head_is_true_to_the_stored_body(said: tuple[str, ...], stored: tuple[str, ...]) -> None:
    head = stored_head(response(body=b"dogs", headers=said)).decode()
    assert head.split("\r\n") == ["HTTP/1.1 200 Said", *stored, ""]


def test_a_response_over_http_2_is_stored_in_the_form_of_http_1() -> None:
    record = unpacked(response_record("x", NOON_S, response(body=b"dogs", protocol="HTTP/2", headers=())), "here")
    assert b"\r\nWARC-Protocol: h2\r\n" in record
    read = next(iter(ArchiveIterator(BytesIO(record))))
    assert (read.http_headers.get_statuscode(), read.content_stream().read()) == ("200", b"dogs")


@pytest.mark.parametrize(
    "line", ["HTTP/1.1 200: OK", "HTTP/1.1 200OK", "http/1.1 200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200", "HTTP/3 200"]
)
def test_a_malformed_status_line_is_stored_as_a_valid_one(line: str) -> None:
    odd = replace(response(body=b"dogs"), head=f"{line}\r\nContent-Type: text/html\r\n".encode())
    record = unpacked(response_record("x", NOON_S, odd), "here")
    assert record_of(record, "here").status == 200
    read = next(iter(ArchiveIterator(BytesIO(record))))
    assert (read.http_headers.get_statuscode(), read.content_stream().read()) == ("200", b"dogs")


@given(st.binary(max_size=300), st.sampled_from([b"", b"\r\n\r\n", b"WARC/1.1\r\n"]))
def test_any_body_is_read_back(body: bytes, end: bytes) -> None:
    record = unpacked(response_record("x", NOON_S, response(body=body + end)), "here")
    assert record_of(record, "here").body == body + end


def test_a_new_file_with_a_warcinfo_record_is_started_when_one_is_full(tmp_path: Path) -> None:
    locations, end = written(tmp_path, *(response(f"http://a.test/{i}") for i in range(3)), most_file_bytes=1)
    assert [location.file for location in locations] == [0, 1, 2] == list(range(end.file + 1))
    with ArchiveReader(tmp_path) as archive:
        kinds = [(location.file, record.kind) for location, record in archive.records(end)]
        size = archive.size_bytes(end)
    assert kinds == [(file, kind) for file in range(3) for kind in ("warcinfo", "response")]
    assert size == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_an_archive_continues_at_its_end(tmp_path: Path) -> None:
    _, end = written(tmp_path, response("http://a.test/1"))
    writer = ArchiveWriter(tmp_path, CRAWL_ID, FIELDS, end)
    location = writer.add(response("http://a.test/2"), NOON_S)
    batch = writer.take()
    writer.write(batch)
    writer.close()
    assert location.offset == end.offset
    with ArchiveReader(tmp_path) as archive:
        assert [record.url for _, record in archive.records(batch.end)] == ["", "http://a.test/1", "http://a.test/2"]


def test_what_follows_the_end_is_truncated_and_later_files_removed(tmp_path: Path) -> None:
    _, end = written(tmp_path, response())
    content = (tmp_path / file_name(0)).read_bytes()
    with (tmp_path / file_name(0)).open("ab") as file:
        file.write(content[:100])
    (tmp_path / file_name(1)).write_bytes(content)
    (tmp_path / "notes.txt").write_text("mine")
    truncate(tmp_path, end)
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {
        file_name(0): len(content),
        "notes.txt": 4,
    }
    check_complete(tmp_path, end)


def test_an_archive_without_acknowledged_records_is_emptied(tmp_path: Path) -> None:
    written(tmp_path, response())
    truncate(tmp_path, ArchiveEnd())
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_archive_is_reported_with_the_offset(tmp_path: Path) -> None:
    locations, end = written(tmp_path, response(), response("http://a.test/2"))
    path = tmp_path / file_name(0)
    content = bytearray(path.read_bytes())
    content[locations[1].offset + 40] ^= 0xFF
    path.write_bytes(content)
    where = re.escape(f"{path}, byte {locations[1].offset:,}")
    with pytest.raises(InvalidInput, match=where):
        check_complete(tmp_path, end)
    with ArchiveReader(tmp_path) as archive, pytest.raises(InvalidInput, match=where):
        list(archive.records(end))


def test_a_missing_or_truncated_file_is_reported(tmp_path: Path) -> None:
    locations, end = written(tmp_path, response(), response(), most_file_bytes=1)
    last = tmp_path / file_name(1)
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(InvalidInput, match=r"scenthound-00001\.warc\.gz"):
        check_complete(tmp_path, end)
    with (
        ArchiveReader(tmp_path) as archive,
        pytest.raises(InvalidInput, match=rf"scenthound-00001\.warc\.gz .*\b{end.offset:,}\b"),
    ):
        archive.record(locations[1])
    (tmp_path / file_name(0)).unlink()
    with pytest.raises(InvalidInput, match=r"scenthound-00000\.warc\.gz"):
        check_complete(tmp_path, end)
