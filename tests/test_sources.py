"""Reading pages from JSON Lines, Parquet and other files."""

import errno
import gzip
import os
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recording_input import PAGE, PLAIN, lines, pages, reasons, records_of
from scenthound.errors import InvalidInput
from scenthound.store.batches import RawPage, Skipped
from scenthound.store.sources import source_of
from scenthound.store.sources.files import JsonLinesFile
from scenthound.store.sources.records import NOT_WANTED, ReadOptions, record_of, without_spans

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd
from scenthound.errors import MissingExtra
from scenthound.store.sources import files as jsonl
from scenthound.store.sources.files import ParquetFile
from scenthound.store.sources.records import CHUNK_BYTES


def test_unreadable_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=rf"missing\.jsonl: {os.strerror(errno.ENOENT)}"):
        source_of(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidInput, match=rf"^{tmp_path} .*\bfolder\b"):
        source_of(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(InvalidInput, match=rf"^{path} .*\bpipe\b"):
            source_of(path)


def test_unknown_files_are_read_as_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "pages.bin"
    path.write_bytes(bytes(range(256)))
    assert isinstance(source_of(path), JsonLinesFile)
    assert set(reasons(records_of(path))) == {"not JSON"}


def test_leaks_of_a_text_page_are_removed() -> None:
    fields = {"url": "http://a.org/", "text": "dog Pets cat", "leak": [[4, 8]]}
    cut = record_of(fields, "", ReadOptions(without_leaks=True))
    assert isinstance(cut, RawPage)
    assert cut.text == "dog   cat"


def test_leaks_that_are_not_removed_may_be_invalid() -> None:
    fields = {"url": "http://a.org/", "html": "dog", "leak": "everywhere"}
    assert isinstance(record_of(fields, "", ReadOptions()), RawPage)
    assert isinstance(record_of(fields, "", ReadOptions(without_leaks=True)), Skipped)


def test_leaks_are_removed_only_on_request_and_words_stay_apart() -> None:
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
def test_the_characters_outside_all_spans_are_kept(text: str, cuts: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in cuts]
    outside = [c for i, c in enumerate(text) if not any(start <= i < end for start, end in spans)]
    assert without_spans(text, spans).replace(" ", "") == "".join(outside)


def test_records_are_selected_by_value(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(lines(PAGE, PAGE | {"kind": "index"}, {"url": "http://b.org/", "text": "x"}))
    found = records_of(path, ReadOptions(where=(("kind", "article"),)))
    assert len(pages(found)) == 1
    ((reason, n_skipped),) = reasons(found).items()
    assert re.fullmatch(rf"{NOT_WANTED}: kind .*\barticle", reason)
    assert n_skipped == 2


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
def test_a_value_is_written_as_in_json(value: object, wanted: str) -> None:
    fields = {"url": "http://a.org/", "text": "x", "ok": value}
    for wish in ("true", "True", "false", "null", "None", "3", "1.5", "yes", ""):
        kept = isinstance(record_of(fields, "", ReadOptions(where=(("ok", wish),))), RawPage)
        assert kept == (wish == wanted), wish


@pytest.mark.parametrize("wish", ["null", "None", ""])
def test_a_missing_field_never_matches(wish: str) -> None:
    fields = {"url": "http://a.org/", "text": "x"}
    assert isinstance(record_of(fields, "", ReadOptions(where=(("ok", wish),))), Skipped)


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
        location=f"{name}, line 1",
    )
    assert records_of(path) == [expected]


def test_every_bad_line_is_reported_with_reason_and_number(tmp_path: Path) -> None:
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
    found = [(record.reason, record.location) for record in records_of(path) if isinstance(record, Skipped)]
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


def test_a_very_long_line_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 200)
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b"x" * 1_000 + b"\n" + lines(PAGE))
    first, second = records_of(path)
    assert first == Skipped("line too long", "pages.jsonl, line 1")
    assert isinstance(second, RawPage)
    assert second.location == "pages.jsonl, line 2"


def test_a_byte_order_mark_does_not_cost_the_first_page(tmp_path: Path) -> None:
    file = tmp_path / "bom.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b'{"url": "http://a.org/", "html": "dog"}\n')
    (chunk,) = JsonLinesFile(file, file.stat().st_size).chunks(ReadOptions())
    assert [type(found) for found in chunk.records(ReadOptions())] == [RawPage]


def noisy_lines() -> bytes:
    """Pages that do not compress, so that a file of them can be cut between blocks."""
    rng = random.Random(7)
    return lines(*({"url": f"http://a.org/{i}", "text": rng.randbytes(2_000).hex()} for i in range(200)))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_all_readable_lines_of_a_truncated_file_are_kept(pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl.zst"
    whole = pack(noisy_lines())
    path.write_bytes(whole[: len(whole) * 3 // 4])
    found = records_of(path)
    n_pages = len(pages(found))
    assert 80 < n_pages < 200
    damage = found[-1]
    assert isinstance(damage, Skipped)
    assert damage.reason == "damaged file"
    assert damage.location.startswith(f"pages.jsonl.zst, after line {n_pages}: ")


def test_a_file_with_damage_in_its_middle_ends_there(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl.gz"
    whole = bytearray(gzip.compress(noisy_lines()))
    whole[len(whole) // 2 :] = b"\xff" * (len(whole) - len(whole) // 2)
    path.write_bytes(whole)
    assert reasons(records_of(path)) == {"damaged file": 1}


def test_chunks_have_the_number_of_bytes_read(tmp_path: Path) -> None:
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
    assert isinstance(source_of(path), ParquetFile)
    page, no_url, unwanted = records_of(path, ReadOptions(True, (("kind", "article"),)))
    assert isinstance(page, RawPage)
    assert (page.html, page.topics, page.location) == (" dogs", ("pets",), "pages.parquet, row 1")
    assert no_url == Skipped("no url", "pages.parquet, row 2")
    assert isinstance(unwanted, Skipped)
    assert unwanted.reason.startswith(f"{NOT_WANTED}: kind ")
    assert unwanted.location == "pages.parquet, row 3"


def test_damaged_parquet_is_rejected_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InvalidInput, match=r"pages\.parquet .*\bParquet\b"):
        records_of(path)


def parquet_file(path: Path, rows: list[dict[str, Any]], schema: Any = None, row_group_size: int = 100) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist(rows, schema)
    parquet.write_table(table, path, row_group_size=row_group_size, compression="none", use_dictionary=False)
    return path


def test_parquet_may_contain_html_as_bytes(tmp_path: Path) -> None:
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
    assert [(page.url, page.location) for page in found] == [
        (f"http://a.org/{i}", f"p.parquet, row {i + 1}") for i in range(20)
    ]
    assert chunks[-1].bytes_read == path.stat().st_size


def test_all_readable_row_groups_of_damaged_parquet_are_kept(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.org/{i}", "text": f"dog{i} " * 50} for i in range(30)]
    path = parquet_file(tmp_path / "p.parquet", rows, row_group_size=10)
    second_group = pytest.importorskip("pyarrow.parquet").ParquetFile(path).metadata.row_group(1)
    with path.open("r+b") as file:
        file.seek(second_group.column(0).data_page_offset)
        file.write(b"\xff" * 20)
    found = records_of(path)
    assert [page.location for page in pages(found)] == [
        f"p.parquet, row {row}" for row in [*range(1, 11), *range(21, 31)]
    ]
    (damage,) = (record for record in found if isinstance(record, Skipped))
    assert damage.reason == "damaged file"
    assert damage.location.startswith("p.parquet, after row 10: ")


def test_a_parquet_row_with_invalid_utf_8_is_skipped(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.org/{i}", "text": f"dog{i}"} for i in range(3)]
    path = parquet_file(tmp_path / "p.parquet", rows)
    path.write_bytes(path.read_bytes().replace(b"dog1", b"\xff\xfe\xfd\xfc"))
    found = records_of(path)
    assert [page.text for page in pages(found)] == ["dog0", "dog2"]
    assert found[1] == Skipped("values that cannot be read", "p.parquet, row 2")


def test_parquet_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "pages.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=r"scenthound\[parquet\]"):
        records_of(path)
