"""Hostile cases that violate HTTP: slow or endless data, lengths, chunks, early ends, and invalid headers."""

import asyncio

from hostile_cases import PAGE, PAGE_FETCHED, Wire, case, response_bytes
from scenthound.reasons import SkipReason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@case("page", "a valid page", PAGE_FETCHED)
async def _page(wire: Wire) -> None:
    await wire.respond()


@case("no-response", "accepts the request and sends nothing", SkipReason.HEADERS_TIMEOUT)
async def _no_response(wire: Wire) -> None:
    await wire.hold()


@case("slow-headers", "headers sent byte by byte", SkipReason.HEADERS_TIMEOUT)
async def _slow_headers(wire: Wire) -> None:
    await wire.trickle(OK + b"X-More: no end\r\n" * 1_000)


@case("slow-header-lines", "endless headers, sent line by line", SkipReason.HEADERS_TIMEOUT)
async def _slow_header_lines(wire: Wire) -> None:
    await wire.send(OK)
    for number in range(1_000):
        await wire.send(f"X-Line-{number}: value\r\n".encode())
        await asyncio.sleep(wire.pace_s)


@case("slow-body", "a body sent byte by byte", SkipReason.BODY_TIMEOUT)
async def _slow_body(wire: Wire) -> None:
    await wire.send(OK + b"Content-Length: 100000\r\n\r\n")
    await wire.trickle(b"x" * 100_000)


@case("stalled-body", "half of the body, then nothing", SkipReason.BODY_TIMEOUT)
async def _stalled_body(wire: Wire) -> None:
    await wire.send(OK + f"Content-Length: {2 * len(PAGE)}\r\n\r\n".encode() + PAGE)
    await wire.hold()


@case("endless-body", "an endless body without length: truncated", PAGE_FETCHED)
async def _endless_body(wire: Wire) -> None:
    await wire.send(OK + b"\r\n" + PAGE)
    await wire.flood(b"<p>more</p>" * 5_000)


@case("endless-chunks", "endless chunks: truncated", PAGE_FETCHED)
async def _endless_chunks(wire: Wire) -> None:
    await wire.send(CHUNKED)
    await wire.flood(b"2710\r\n" + b"x" * 10_000 + b"\r\n")


@case("endless-tiny-chunks", "endless chunks of one byte: truncated", PAGE_FETCHED)
async def _endless_tiny_chunks(wire: Wire) -> None:
    await wire.send(CHUNKED)
    await wire.flood(b"1\r\nx\r\n" * 10_000)


@case("short-body", "fewer bytes than Content-Length says", SkipReason.PROTOCOL_ERROR)
async def _short_body(wire: Wire) -> None:
    await wire.send(OK + f"Content-Length: {len(PAGE) + 1}\r\n\r\n".encode() + PAGE)


@case("long-body", "more bytes than Content-Length says: the length counts", PAGE_FETCHED)
async def _long_body(wire: Wire) -> None:
    await wire.send(response_bytes() + b"HTTP/1.1 200 OK\r\n\r\nanother response")


@case("huge-content-length", "a length of 10^18 and then a stall", SkipReason.BODY_TIMEOUT)
async def _huge_content_length(wire: Wire) -> None:
    await wire.send(OK + b"Content-Length: 1000000000000000000\r\n\r\n" + PAGE)
    await wire.hold()


@case("overflowing-content-length", "a length that exceeds any integer", PAGE_FETCHED)
async def _overflowing_content_length(wire: Wire) -> None:
    await wire.send(OK + b"Content-Length: " + b"9" * 40 + b"\r\n\r\n" + PAGE)


@case("negative-content-length", "Content-Length: -1", SkipReason.PROTOCOL_ERROR)
async def _negative_content_length(wire: Wire) -> None:
    await wire.send(OK + b"Content-Length: -1\r\n\r\n" + PAGE)


@case("garbage-content-length", "Content-Length: many", SkipReason.PROTOCOL_ERROR)
async def _garbage_content_length(wire: Wire) -> None:
    await wire.send(OK + b"Content-Length: many\r\n\r\n" + PAGE)


@case("two-content-lengths", "two different lengths", SkipReason.PROTOCOL_ERROR)
async def _two_content_lengths(wire: Wire) -> None:
    await wire.send(OK + f"Content-Length: 5\r\nContent-Length: {len(PAGE)}\r\n\r\n".encode() + PAGE)


@case("length-and-chunks", "a length and chunks: chunks count (RFC 9112, 6.3)", PAGE_FETCHED)
async def _length_and_chunks(wire: Wire) -> None:
    chunk = f"{len(PAGE):x}\r\n".encode() + PAGE + b"\r\n0\r\n\r\n"
    await wire.send(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)


@case("bad-chunk-size", "a chunk with an invalid size", SkipReason.PROTOCOL_ERROR)
async def _bad_chunk_size(wire: Wire) -> None:
    await wire.send(CHUNKED + b"zz\r\n" + PAGE + b"\r\n0\r\n\r\n")


@case("huge-chunk-size", "a chunk with a size that exceeds any integer", SkipReason.PROTOCOL_ERROR)
async def _huge_chunk_size(wire: Wire) -> None:
    await wire.send(CHUNKED + b"f" * 30 + b"\r\n" + PAGE)


@case("chunk-without-end", "a chunk longer than its size", SkipReason.PROTOCOL_ERROR)
async def _chunk_without_end(wire: Wire) -> None:
    await wire.send(CHUNKED + b"5\r\nhelloworld\r\n0\r\n\r\n")


@case("cut-chunks", "the connection ends before the last chunk", SkipReason.PROTOCOL_ERROR)
async def _cut_chunks(wire: Wire) -> None:
    await wire.send(CHUNKED + f"{len(PAGE):x}\r\n".encode() + PAGE + b"\r\n")


@case("endless-chunk-extension", "an endless chunk extension", SkipReason.BODY_TIMEOUT)
async def _endless_chunk_extension(wire: Wire) -> None:
    await wire.send(CHUNKED + b"5;")
    await wire.flood(b"a" * 50_000, pause_s=wire.pace_s)


@case("trailer-bomb", "endless trailers", SkipReason.HEADERS_TOO_LARGE)
async def _trailer_bomb(wire: Wire) -> None:
    await wire.send(CHUNKED + b"5\r\nhello\r\n0\r\n")
    await wire.flood(b"X-Trailer: " + b"t" * 1_000 + b"\r\n")


@case("reset-at-once", "the connection is reset before a response", SkipReason.PROTOCOL_ERROR)
async def _reset_at_once(wire: Wire) -> None:
    await wire.reset()


@case("closed-at-once", "the connection is closed before a response", SkipReason.PROTOCOL_ERROR)
async def _closed_at_once(wire: Wire) -> None:
    wire.writer.close()


@case("reset-in-body", "the connection is reset in the middle of a body without length", SkipReason.PROTOCOL_ERROR)
async def _reset_in_body(wire: Wire) -> None:
    await wire.send(OK + b"\r\n" + PAGE)
    await asyncio.sleep(0.05)
    await wire.reset()


@case("close-at", "closes the connection after as many bytes as the query says, here none", SkipReason.PROTOCOL_ERROR)
async def _close_at(wire: Wire) -> None:
    await wire.send(response_bytes()[: _offset(wire)])


@case("reset-at", "resets the connection after as many bytes as the query says, here none", SkipReason.PROTOCOL_ERROR)
async def _reset_at(wire: Wire) -> None:
    await wire.send(response_bytes()[: _offset(wire)])
    await wire.reset()


def _offset(wire: Wire) -> int:
    return int(wire.path.partition("?")[2] or 0)


@case("headers-only", "the connection is closed within the headers", SkipReason.PROTOCOL_ERROR)
async def _headers_only(wire: Wire) -> None:
    await wire.send(OK)


@case("header-bomb", "endless header lines", SkipReason.HEADERS_TOO_LARGE)
async def _header_bomb(wire: Wire) -> None:
    await wire.send(OK)
    await wire.flood(b"X-Bomb: " + b"b" * 200 + b"\r\n")


@case("long-header", "an endless header line", SkipReason.HEADERS_TOO_LARGE)
async def _long_header(wire: Wire) -> None:
    await wire.send(OK + b"X-Long: ")
    await wire.flood(b"l" * 50_000)


@case("cookie-bomb", "thousands of cookies", SkipReason.HEADERS_TOO_LARGE)
async def _cookie_bomb(wire: Wire) -> None:
    await wire.send(OK)
    await wire.flood(b"Set-Cookie: name=" + b"c" * 4_000 + b"; Path=/; Max-Age=9999999\r\n", 20_000_000)


@case("endless-interim", "endless 100 Continue", SkipReason.HEADERS_TOO_LARGE)
async def _endless_interim(wire: Wire) -> None:
    await wire.flood(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


@case("slow-interim", "endless slow 103 Early Hints", SkipReason.HEADERS_TIMEOUT)
async def _slow_interim(wire: Wire) -> None:
    for _ in range(1_000):
        await wire.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n")
        await asyncio.sleep(wire.pace_s)


@case("a-few-interim", "three interim responses, then a page", PAGE_FETCHED)
async def _a_few_interim(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 3 + response_bytes())


@case("switching-protocols", "unexpected 101", SkipReason.PROTOCOL_ERROR)
async def _switching_protocols(wire: Wire) -> None:
    await wire.send(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello"
    )


@case("http-0.9", "a page without headers", SkipReason.PROTOCOL_ERROR)
async def _http_0_9(wire: Wire) -> None:
    await wire.send(PAGE)


@case("garbage", "bytes that are not HTTP", SkipReason.PROTOCOL_ERROR)
async def _garbage(wire: Wire) -> None:
    await wire.send(bytes(range(256)) * 4)


@case("endless-garbage", "endless bytes that are not HTTP", SkipReason.PROTOCOL_ERROR)
async def _endless_garbage(wire: Wire) -> None:
    await wire.flood(bytes(range(255, -1, -1)) * 40)


@case("huge-status-line", "an endless status line", SkipReason.HEADERS_TOO_LARGE)
async def _huge_status_line(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 200 ")
    await wire.flood(b"O" * 50_000)


@case("unknown-status", "a status of 999", PAGE_FETCHED, crawled=SkipReason.UNEXPECTED_STATUS)
async def _unknown_status(wire: Wire) -> None:
    await wire.respond(status="999 Request denied")


@case("no-status", "a status line without a number", SkipReason.PROTOCOL_ERROR)
async def _no_status(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)


@case("status-with-colon", "a colon behind the status, which browsers and curl ignore", PAGE_FETCHED)
async def _status_with_colon(wire: Wire) -> None:
    await wire.respond(status="200: OK")


@case("long-status", "a status of four digits, of which libcurl reads three", PAGE_FETCHED)
async def _long_status(wire: Wire) -> None:
    await wire.respond(status="2000 OK")


@case("leading-line-feed", "an empty line before the status line", SkipReason.PROTOCOL_ERROR)
async def _leading_line_feed(wire: Wire) -> None:
    await wire.send(b"\n" + response_bytes())


@case("empty-head", "two empty lines instead of headers", SkipReason.PROTOCOL_ERROR)
async def _empty_head(wire: Wire) -> None:
    await wire.send(b"\r\n\r\n" + PAGE)


@case("future-version", "HTTP/9.9", SkipReason.PROTOCOL_ERROR)
async def _future_version(wire: Wire) -> None:
    await wire.send(b"HTTP/9.9 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)


@case("nul-in-header", "a NUL in a header", SkipReason.PROTOCOL_ERROR)
async def _nul_in_header(wire: Wire) -> None:
    await wire.send(OK + b"X-Nul: a\0b\r\nContent-Length: 5\r\n\r\nhello")


@case("bare-line-feeds", "headers that end with LF only", PAGE_FETCHED)
async def _bare_line_feeds(wire: Wire) -> None:
    await wire.send(response_bytes().replace(b"\r\n", b"\n"))


@case("folded-header", "a header folded over two lines", PAGE_FETCHED)
async def _folded_header(wire: Wire) -> None:
    await wire.send(OK + f"X-Folded: one\r\n two\r\nContent-Length: {len(PAGE)}\r\n\r\n".encode() + PAGE)


@case("no-colon-header", "a header line without a colon", SkipReason.PROTOCOL_ERROR)
async def _no_colon_header(wire: Wire) -> None:
    await wire.send(OK + b"this is no header\r\nContent-Length: 5\r\n\r\nhello")
