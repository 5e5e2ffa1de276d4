"""Reading pages from JSON lines: every compression, bad lines and damaged files."""

import gzip
import random
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

import pytest

from recording_input import PAGE, PLAIN, lines, pages, reasons, records_of
from scenthound.store.batches import RawPage, Skipped
from scenthound.store.sources import files as jsonl
from scenthound.store.sources import source_of
from scenthound.store.sources.files import JsonLinesFile
from scenthound.store.sources.records import ReadOptions


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


def test_a_byte_order_mark_does_not_cost_the_first_page(tmp_path: Path) -> None:
    file = tmp_path / "bom.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b'{"url": "http://a.org/", "html": "dog"}\n')
    (chunk,) = JsonLinesFile(file).chunks(ReadOptions())
    assert [type(found) for found in chunk.records(ReadOptions())] == [RawPage]


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
