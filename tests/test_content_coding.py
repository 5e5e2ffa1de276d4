"""Content codings: all combinations, in pieces of any size, within limits."""

import gzip
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.reasons import SkipReason
from scenthound.web.content_coding import FLOOR_BYTES, STEP_BYTES, BodyDecoder, Decoded, codings_of, decode_all

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST = 2_000_000
TEXT = b" ".join(b"word%d" % number for number in range(5_000))


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


NOTHING = bytes(30_000_000)
QUICK_BOMBS = {
    "gzip": gzip.compress(NOTHING, 1),
    "deflate": zlib.compress(NOTHING, 1),
    "br": brotli.compress(NOTHING, quality=1),
    "zstd": zstd.compress(NOTHING),
}


def in_pieces(body: bytes, coding: tuple[str, ...], n_bytes: int, most: int = MOST) -> Decoded:
    decoder = BodyDecoder(coding, most, 100.0)
    for begin in range(0, len(body), n_bytes):
        if not decoder.feed(body[begin : begin + n_bytes]):
            break
    return decoder.finish()


@pytest.mark.parametrize("coding", PACK)
@given(data=st.binary(max_size=5_000), n_bytes=st.integers(1, 200))
def test_bodies_in_pieces_of_any_size_are_decoded(coding: str, data: bytes, n_bytes: int) -> None:
    packed = PACK[coding](data)
    assert decode_all(packed, (coding,), MOST) == Decoded(data, False)
    assert in_pieces(packed, (coding,), n_bytes) == Decoded(data, False)


@given(codings=st.lists(st.sampled_from(sorted(PACK)), max_size=5), data=st.binary(max_size=2_000))
def test_codings_are_undone_in_reverse(codings: list[str], data: bytes) -> None:
    body = data
    for coding in codings:
        body = PACK[coding](body)
    assert decode_all(body, tuple(codings), MOST) == Decoded(data, False)


@pytest.mark.parametrize("n_bytes", [1, 7, 100_000])
def test_zlib_and_raw_deflate_are_decoded(n_bytes: int) -> None:
    assert in_pieces(zlib.compress(TEXT), ("deflate",), n_bytes) == Decoded(TEXT, False)
    assert in_pieces(bare_deflate(TEXT), ("deflate",), n_bytes) == Decoded(TEXT, False)


@pytest.mark.parametrize("n_bytes", [STEP_BYTES - 1, STEP_BYTES, STEP_BYTES + 1, 3 * STEP_BYTES, 3 * STEP_BYTES + 7])
def test_pending_output_of_a_step_is_part_of_the_next(n_bytes: int) -> None:
    data = bytes(n_bytes)
    for coding, body in [*((name, pack(data)) for name, pack in PACK.items()), ("deflate", bare_deflate(data))]:
        assert decode_all(body, (coding,), MOST) == Decoded(data, False)


@pytest.mark.parametrize("n_bytes", [1, 3, 100_000])
@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_consecutive_streams_are_one_body_and_trailing_data_is_ignored(coding: str, n_bytes: int) -> None:
    body = PACK[coding](b"one ") + PACK[coding](b"two") + b"padding" + PACK[coding](b"three")
    assert in_pieces(body, (coding,), n_bytes) == Decoded(b"one two", False)


def test_skippable_frames_are_skipped() -> None:
    body = b"\x5a\x2a\x4d\x18\x03\0\0\0abc" + zstd.compress(b"text")
    assert decode_all(body, ("zstd",), MOST) == Decoded(b"text", False)


@pytest.mark.parametrize("coding", PACK)
def test_a_truncated_body_is_decoded_as_far_as_possible(coding: str) -> None:
    packed = PACK[coding](TEXT)
    for end in range(1, len(packed), 97):
        decoded = decode_all(packed[:end], (coding,), MOST)
        assert TEXT.startswith(decoded.content)
        assert (decoded.truncated, decoded.fault) == (True, None)
    # Brotli and Zstandard return complete blocks, and this text is one of them.
    assert len(decode_all(gzip.compress(TEXT)[:-100], ("gzip",), MOST).content) > 0.9 * len(TEXT)


@pytest.mark.parametrize("coding", PACK)
def test_an_empty_body(coding: str) -> None:
    assert decode_all(b"", (coding,), MOST) == Decoded(b"", False)


@pytest.mark.parametrize("coding", PACK)
@given(noise=st.binary(min_size=1, max_size=300))
def test_no_input_raises(coding: str, noise: bytes) -> None:
    assert decode_all(noise, (coding,), MOST).fault in (None, SkipReason.BAD_CONTENT_ENCODING)


@pytest.mark.parametrize("coding", PACK)
def test_changed_bytes_are_detected_or_harmless(coding: str) -> None:
    rng = random.Random(4)
    packed = PACK[coding](TEXT)
    for _ in range(200):
        changed = bytearray(packed)
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        decoded = decode_all(bytes(changed), (coding,), MOST)
        assert len(decoded.content) <= MOST
        assert decoded.fault in (None, SkipReason.BAD_CONTENT_ENCODING)


@pytest.mark.parametrize("coding", PACK)
@pytest.mark.parametrize("most", [0, 1, 1_000, len(TEXT) - 1])
def test_content_is_truncated_at_the_limit(coding: str, most: int) -> None:
    # With so small a limit, ordinary text may expand a hundredfold, so that is allowed here.
    decoded = decode_all(PACK[coding](TEXT), (coding,), most, expansion=1e9)
    assert decoded == Decoded(TEXT[:most], True)
    assert decode_all(PACK[coding](TEXT), (coding,), len(TEXT)) == Decoded(TEXT, False)


@pytest.mark.parametrize("coding", PACK)
def test_a_bomb_takes_no_more_memory_than_the_limit(coding: str) -> None:
    bomb = QUICK_BOMBS[coding]
    tracemalloc.start()
    decoded = decode_all(bomb, (coding,), MOST)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert decoded.fault is SkipReason.COMPRESSION_BOMB
    assert len(decoded.content) <= FLOOR_BYTES
    assert peak_bytes < 2 * MOST


@pytest.mark.parametrize("coding", PACK)
def test_a_bomb_is_detected_with_a_small_limit(coding: str) -> None:
    assert decode_all(QUICK_BOMBS[coding], (coding,), 100_000).fault is SkipReason.COMPRESSION_BOMB


def test_a_small_page_that_compresses_well_is_no_bomb() -> None:
    # 500 KB of one repeated line take less than 2 KB: a ratio of 300, but below the floor.
    page = b"<tr><td>same</td></tr>\n" * 22_000
    packed = gzip.compress(page)
    assert len(page) > 100 * len(packed)
    assert decode_all(packed, ("gzip",), MOST) == Decoded(page, False)


def test_a_bomb_in_an_inner_stage_is_detected() -> None:
    # The inner stream ends at once; the 40 MB that follow would be decoded only to be ignored.
    inner = gzip.compress(b"small") + bytes(40_000_000)
    decoded = decode_all(gzip.compress(inner), ("gzip", "gzip"), MOST)
    assert decoded.fault is SkipReason.COMPRESSION_BOMB


def test_the_number_of_empty_streams_is_limited() -> None:
    assert decode_all(gzip.compress(b"") * 2_000, ("gzip",), MOST).fault is SkipReason.BAD_CONTENT_ENCODING


def test_too_many_codings_are_rejected() -> None:
    assert decode_all(b"anything", ("gzip",) * 6, MOST).fault is SkipReason.BAD_CONTENT_ENCODING


@pytest.mark.parametrize(
    ("values", "codings"),
    [
        (["gzip"], ("gzip",)),
        (["x-gzip"], ("gzip",)),
        ([" GZip , BR"], ("gzip", "br")),
        (["deflate", "zstd"], ("deflate", "zstd")),
        (["identity"], ()),
        (["utf-8", "none", ""], ()),
        ([], ()),
    ],
)
def test_names_of_codings_are_in_order_without_unknown_ones(values: list[str], codings: tuple[str, ...]) -> None:
    assert codings_of(values) == codings


@pytest.mark.parametrize(
    ("name", "codings"),
    [
        ("html-br.bin", "br"),
        ("html-gzip.bin", "gzip"),
        ("html-gzip-deflate.bin", "gzip, deflate"),
        ("html-gzip-deflate-gzip.bin", "gzip, deflate, gzip"),
        ("html-zstd-static-content-size.bin", "zstd"),
        ("html-zstd-static-no-content-size.bin", "zstd"),
        ("html-zstd-streaming-no-content-size.bin", "zstd"),
    ],
)
def test_bodies_encoded_by_other_tools_are_decoded(shared: Path, name: str, codings: str) -> None:
    folder = shared / "suites" / "compressed"
    decoded = decode_all((folder / name).read_bytes(), codings_of([codings]), MOST)
    # All of them contain the same page.
    page = gzip.decompress((folder / "html-gzip.bin").read_bytes())
    assert decoded == Decoded(page, False)


@pytest.mark.parametrize("coding", PACK)
def test_bombs_made_by_other_tools_are_detected(shared: Path, coding: str) -> None:
    body = (shared / "suites" / "compressed" / f"bomb-{coding}.bin").read_bytes()
    assert decode_all(body, (coding,), MOST).fault is SkipReason.COMPRESSION_BOMB


def test_both_kinds_of_deflate_made_by_other_tools_are_decoded(shared: Path) -> None:
    folder = shared / "suites" / "compressed"
    decoded = [
        decode_all((folder / f"html-{kind}deflate.bin").read_bytes(), ("deflate",), MOST) for kind in ("zlib", "raw")
    ]
    # Both contain one page of 74,840 bytes.
    assert decoded[0] == decoded[1]
    assert (len(decoded[0].content), decoded[0].truncated, decoded[0].fault) == (74_840, False, None)


@pytest.mark.parametrize(
    ("name", "n_bytes"),
    [("unexpected-eof.gz", 8_576), ("truncated-crc-error.gz", 25_542), ("truncated-crc-error-short.gz", 3_741)],
)
def test_truncated_bodies_are_decoded_as_far_as_zlib_does(shared: Path, name: str, n_bytes: int) -> None:
    body = (shared / "suites" / "compressed" / name).read_bytes()
    decoded = decode_all(body, ("gzip",), MOST)
    assert decoded == Decoded(zlib.decompressobj(31).decompress(body), True)
    assert len(decoded.content) == n_bytes
