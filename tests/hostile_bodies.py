"""Hostile cases with valid headers and invalid bodies: codings, types, and pages that are hard to parse."""

import gzip
import sys
import zlib

import brotli

from hostile_cases import PAGE, PAGE_FETCHED, Wire, case
from scenthound.reasons import SkipReason

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LONG_PAGE = PAGE + b"<p>" + b" ".join(b"word%d" % number for number in range(3_000))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


_NOTHING = bytes(20_000_000)
GZIP_BOMB = gzip.compress(_NOTHING, 1)
DEFLATE_BOMB = zlib.compress(_NOTHING, 1)
BR_BOMB = brotli.compress(_NOTHING, quality=1)
ZSTD_BOMB = zstd.compress(_NOTHING)
MANY_ATTRIBUTES = b"<!doctype html><p " + b" ".join(b"a%d=1" % number for number in range(100_000)) + b">words"
MANY_LINKS = b"<!doctype html>" + b"".join(b"<a href=/p/%d>" % number for number in range(50_000))


@case("gzip", "a valid page in gzip", PAGE_FETCHED)
async def _gzip(wire: Wire) -> None:
    await wire.respond(gzip.compress(LONG_PAGE), Content_Encoding="gzip")


@case("deflate", "a valid page in deflate", PAGE_FETCHED)
async def _deflate(wire: Wire) -> None:
    await wire.respond(zlib.compress(LONG_PAGE), Content_Encoding="deflate")


@case("bare-deflate", "raw deflate", PAGE_FETCHED)
async def _bare_deflate(wire: Wire) -> None:
    await wire.respond(raw_deflate(LONG_PAGE), Content_Encoding="deflate")


@case("br", "a valid page in br", PAGE_FETCHED)
async def _br(wire: Wire) -> None:
    await wire.respond(brotli.compress(LONG_PAGE), Content_Encoding="br")


@case("zstd", "a valid page in zstd", PAGE_FETCHED)
async def _zstd(wire: Wire) -> None:
    await wire.respond(zstd.compress(LONG_PAGE), Content_Encoding="zstd")


@case("nested-codings", "gzip in br in zstd", PAGE_FETCHED)
async def _nested_codings(wire: Wire) -> None:
    body = zstd.compress(brotli.compress(gzip.compress(LONG_PAGE)))
    await wire.respond(body, Content_Encoding="gzip, br, zstd")


@case("hundred-codings", "gzip a hundred times over", SkipReason.BAD_CONTENT_ENCODING)
async def _hundred_codings(wire: Wire) -> None:
    await wire.respond(gzip.compress(PAGE), Content_Encoding=", ".join(["gzip"] * 100))


@case("unknown-coding", "an unknown coding on a plain page", PAGE_FETCHED)
async def _unknown_coding(wire: Wire) -> None:
    await wire.respond(Content_Encoding="utf-8")


@case("lying-coding", "says gzip and is plain", SkipReason.BAD_CONTENT_ENCODING)
async def _lying_coding(wire: Wire) -> None:
    await wire.respond(LONG_PAGE, Content_Encoding="gzip")


@case("wrong-coding", "says br and is gzip", SkipReason.BAD_CONTENT_ENCODING)
async def _wrong_coding(wire: Wire) -> None:
    await wire.respond(gzip.compress(LONG_PAGE), Content_Encoding="br")


@case("corrupt-gzip", "gzip with a byte changed in the middle", SkipReason.BAD_CONTENT_ENCODING)
async def _corrupt_gzip(wire: Wire) -> None:
    packed = bytearray(gzip.compress(LONG_PAGE))
    packed[-8] ^= 0xFF
    await wire.respond(bytes(packed), Content_Encoding="gzip")


@case("cut-gzip", "truncated gzip in a complete response: what is there is used", PAGE_FETCHED)
async def _cut_gzip(wire: Wire) -> None:
    await wire.respond(gzip.compress(LONG_PAGE)[:-2_000], Content_Encoding="gzip")


@case("empty-gzip", "gzip of no bytes at all", PAGE_FETCHED, crawled=SkipReason.EMPTY_PAGE)
async def _empty_gzip(wire: Wire) -> None:
    await wire.respond(b"", Content_Encoding="gzip")


@case("gzip-bomb", "a bomb in gzip", SkipReason.COMPRESSION_BOMB)
async def _gzip_bomb(wire: Wire) -> None:
    await wire.respond(GZIP_BOMB, Content_Encoding="gzip")


@case("deflate-bomb", "a bomb in deflate", SkipReason.COMPRESSION_BOMB)
async def _deflate_bomb(wire: Wire) -> None:
    await wire.respond(DEFLATE_BOMB, Content_Encoding="deflate")


@case("br-bomb", "a bomb in br", SkipReason.COMPRESSION_BOMB)
async def _br_bomb(wire: Wire) -> None:
    await wire.respond(BR_BOMB, Content_Encoding="br")


@case("zstd-bomb", "a bomb in zstd", SkipReason.COMPRESSION_BOMB)
async def _zstd_bomb(wire: Wire) -> None:
    await wire.respond(ZSTD_BOMB, Content_Encoding="zstd")


@case("bomb-in-a-bomb", "a bomb in gzip, in gzip", SkipReason.COMPRESSION_BOMB)
async def _bomb_in_a_bomb(wire: Wire) -> None:
    await wire.respond(gzip.compress(GZIP_BOMB), Content_Encoding="gzip, gzip")


@case("endless-empty-gzip", "endless empty gzip members", SkipReason.BAD_CONTENT_ENCODING)
async def _endless_empty_gzip(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
    await wire.flood(gzip.compress(b"") * 500)


@case("huge-zstd-window", "zstd with a window of 2 GB", SkipReason.BAD_CONTENT_ENCODING)
async def _huge_zstd_window(wire: Wire) -> None:
    # Frame header: no content size, no checksum, window descriptor 21 << 3 for 2^31 bytes (RFC 8878, 3.1.1.1.2).
    await wire.respond(b"\x28\xb5\x2f\xfd\x00\xa8" + bytes(100), Content_Encoding="zstd")


@case("image", "an image", SkipReason.NOT_HTML)
async def _image(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
    await wire.flood(b"\x89PNG" * 10_000)


@case("no-type", "a page without Content-Type", PAGE_FETCHED)
async def _no_type(wire: Wire) -> None:
    await wire.send(f"HTTP/1.1 200 OK\r\nContent-Length: {len(PAGE)}\r\n\r\n".encode() + PAGE)


@case("no-type-binary", "binary data without Content-Type", SkipReason.NOT_HTML)
async def _no_type_binary(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + bytes(range(256)) * 4)


@case("lying-type", "an image with the type of a page", PAGE_FETCHED)
async def _lying_type(wire: Wire) -> None:
    await wire.respond(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 100)


@case("deep-nesting", "elements in elements, 20,000 deep", PAGE_FETCHED)
async def _deep_nesting(wire: Wire) -> None:
    await wire.respond(b"<!doctype html>" + b"<div><b><i>" * 6_700 + b"deep")


@case("many-attributes", "one element with 100,000 attributes", PAGE_FETCHED)
async def _many_attributes(wire: Wire) -> None:
    await wire.respond(MANY_ATTRIBUTES)


@case("endless-word", "a word of 900,000 letters", PAGE_FETCHED)
async def _endless_word(wire: Wire) -> None:
    await wire.respond(b"<!doctype html><p>" + b"w" * 900_000)


@case("many-links", "50,000 links", PAGE_FETCHED)
async def _many_links(wire: Wire) -> None:
    await wire.respond(MANY_LINKS)


@case("charset-lie", "says UTF-16 and is windows-1252", PAGE_FETCHED)
async def _charset_lie(wire: Wire) -> None:
    await wire.respond(PAGE + b"caf\xe9", Content_Type="text/html; charset=utf-16")


@case("unknown-charset", "an unknown charset, with a NUL in its name", PAGE_FETCHED)
async def _unknown_charset(wire: Wire) -> None:
    await wire.respond(b"<meta charset='x\0y'>" + PAGE, Content_Type="text/html; charset=klingon")


@case("nuls", "a page of NULs", PAGE_FETCHED)
async def _nuls(wire: Wire) -> None:
    await wire.respond(PAGE.replace(b" ", b"\0") + bytes(10_000))
