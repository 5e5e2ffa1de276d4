"""Hostile cases with invalid headers: sizes, interim responses, status lines, header lines."""

import asyncio

from hostile_cases import PAGE_FETCHED, case
from hostile_http import OK
from hostile_wire import PAGE, Wire, response_bytes
from scenthound.reasons import SkipReason


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


@case("odd-status", "a status of 999", PAGE_FETCHED, crawled=SkipReason.UNEXPECTED_STATUS)
async def _odd_status(wire: Wire) -> None:
    await wire.answer(status="999 Request denied")


@case("no-status", "a status line without a number", SkipReason.PROTOCOL_ERROR)
async def _no_status(wire: Wire) -> None:
    await wire.send(b"HTTP/1.1 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)


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
