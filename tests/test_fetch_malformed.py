"""Malformed responses: every reply of a server is a response or has a skip reason, and no callback raises an error."""

import asyncio
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetching import PATIENT, fetched, no_errors_in_callbacks
from page_server import PageServer, not_fetched, page, response, with_server
from scenthound.reasons import SkipReason
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.curl_handle import STOP, ResponseReader
from scenthound.web.fetch import NotFetched, Request, Response, status_of

REST = b"Content-Type: text/html\r\nContent-Length: 5\r\n\r\n<p>hi"

#: Status lines with the status that libcurl reads from them.
READ = {
    b"HTTP/1.1 200 OK": 200,
    b"HTTP/1.1 200": 200,
    b"HTTP/1.0 404 Not Found": 404,
    b"HTTP/1.1 200: OK": 200,
    b"HTTP/1.1 200OK": 200,
    b"HTTP/1.1 200;OK": 200,
    b"HTTP/1.1 200\xa0OK": 200,
    b"HTTP/1.1\t200 OK": 200,
    b"http/1.1 200 OK": 200,
    b"HTTP/1.1 2000 OK": 200,
    b"HTTP/1.1 999999999999 OK": 999,
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200: OK": 200,
    b"HTTP/1.1 200 \xc3\xa9\xff": 200,
}
#: Status lines that it rejects, or that it accepts as headers without a status.
NOT_READ = [
    *(b"", b"\n", b"\r\n", b"\r\n\r\n", b"\nHTTP/1.1 200 OK", b"\r\nHTTP/1.1 200 OK", b" HTTP/1.1 200 OK"),
    *(b"HTTP/1.1", b"HTTP/1.1 ", b"HTTP/1.1 OK", b"HTTP/1.1 20", b"HTTP/1.1 2 00 OK", b"HTTP/1.1 -20 OK"),
    *(b"HTTP/1.1 000 OK", b"HTTP/1.1 1_0 OK", b"HTTP/1.1 \xd9\xa2\xd9\xa0\xd9\xa0 OK", b"HTTP/1.1.1 200 OK"),
    *(b"HTTP/9 200 OK", b"HTTP 200 OK", b"ICY 200 OK", b"RTSP/1.0 200 OK", b"\x00\x01\x02", b"HTTP/"),
    *(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n\r\n", b"HTTP/1.1 101 Switching Protocols"),
]


def test_status_lines_are_read_as_libcurl_reads_them() -> None:
    lines = list(READ)

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        for number, line in enumerate(lines):
            result = response(await fetched(fetcher, page(server, f"/{number}")))
            assert (result.status, result.content) == (READ[line], b"<p>hi"), line
            assert status_of(result.head) == READ[line]

    with_server(use, lambda path: lines[int(path[1:])] + b"\r\n" + REST, closes=True)


def test_other_status_lines_are_protocol_errors() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        for number, line in enumerate(NOT_READ):
            result = not_fetched(await fetched(fetcher, page(server, f"/{number}")))
            assert result.reason is SkipReason.PROTOCOL_ERROR, line

    with_server(use, lambda path: NOT_READ[int(path[1:])] + b"\r\n" + REST, closes=True)


def test_errors_of_callbacks_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_reader: ResponseReader, _line: bytes) -> int:
        raise IndexError

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        assert not_fetched(await fetched(fetcher, page(server))).reason is SkipReason.PROTOCOL_ERROR

    monkeypatch.setattr(ResponseReader, "add_line", fail)
    hook = sys.excepthook
    with pytest.raises(AssertionError, match="IndexError"):
        with_server(use)
    assert sys.excepthook is hook


PIECES = st.sampled_from(
    [
        *(
            b"HTTP/1.1",
            b"HTTP/",
            b"http/1.0",
            b"HTTP/2",
            b" ",
            b"  ",
            b"\t",
            b"200",
            b"20",
            b"100",
            b"101",
            b"301",
            b"9",
        ),
        *(b"OK", b":", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\x00", b"\xff", b"-1", b"Content-Length: ", b"chunked"),
        *(b"Transfer-Encoding: ", b"Content-Encoding: ", b"gzip", b"br", b"Content-Type: ", b"text/html", b"; ", b","),
        *(b"Location: ", b"/x", b"5", b"<p>hi", b"0\r\n\r\n", b"Connection: close"),
    ]
)
REPLIES = st.one_of(
    st.binary(max_size=60),
    st.lists(PIECES, max_size=24).map(b"".join),
    st.builds(lambda start, rest: start + rest, st.lists(PIECES, max_size=8).map(b"".join), st.just(b"\r\n" + REST)),
    st.builds(lambda pieces: b"HTTP/1.1 200" + b"".join(pieces), st.lists(PIECES, max_size=16)),
)


@given(st.lists(REPLIES, min_size=1, max_size=8))
def test_any_reply_over_a_socket_is_a_response_or_has_a_skip_reason(replies: list[bytes]) -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        requests = [page(server, f"/{number}", html_only=number % 2 == 0) for number in range(len(replies))]
        results = await asyncio.gather(*(fetched(fetcher, request) for request in requests))
        assert all(isinstance(result, Response | NotFetched) for result in results)
        assert all(100 <= result.status <= 999 for result in results if isinstance(result, Response))

    with_server(use, lambda path: replies[int(path[1:])], closes=True)


LINES = st.one_of(st.binary(max_size=20), st.lists(PIECES, max_size=6).map(b"".join)).map(lambda line: line + b"\r\n")


@given(st.lists(LINES | st.just(b"\r\n"), max_size=12), st.lists(st.binary(max_size=30), max_size=4), st.booleans())
def test_the_reader_accepts_any_lines_and_pieces(lines: list[bytes], pieces: list[bytes], html_only: bool) -> None:
    """Also those that this version of libcurl would not pass."""
    reader = ResponseReader(replace(PATIENT, header_bytes=200, body_bytes=50))
    reader.begin(Request("http://a.test/", (), html_only))
    with no_errors_in_callbacks():
        fed = [*((reader.add_line, line) for line in lines), *((reader.add_body, piece) for piece in pieces)]
        any(add(data) == STOP for add, data in fed)
        result = reader.result("127.0.0.1", 0.0)
    assert isinstance(result, Response | NotFetched)
    assert reader.headers_ended or isinstance(result, NotFetched)
