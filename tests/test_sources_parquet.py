"""Reading pages from Parquet: rows like those of JSON lines, bounded chunks, damaged files."""

import sys
from pathlib import Path
from typing import Any

import pytest

from recording_input import PAGE, PLAIN, pages, reasons, records_of
from scenthound.errors import InvalidInput, MissingExtra
from scenthound.store.batches import RawPage, Skipped
from scenthound.store.sources import source_of
from scenthound.store.sources.files import ParquetRows
from scenthound.store.sources.records import CHUNK_BYTES, ReadOptions


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
    with pytest.raises(InvalidInput, match=r"pages\.parquet cannot be read as Parquet"):
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
