"""Responses: headers, bodies as sent and decoded, truncation, content types."""

import asyncio
import gzip
import random
import time
from collections import Counter

import pytest

from fetching import fetched
from hostile_cases import PAGE, response_bytes
from page_server import ADDRESS, PageServer, not_fetched, page, response, with_server
from scenthound.reasons import SkipReason
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.fetch import NotFetched, Response, location_of
from scenthound.web.urls import resolve


def test_the_fields_of_a_response() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        began_s = time.monotonic()
        result = response(await fetched(fetcher, page(server, "/a?b")))
        assert (result.url, result.status, result.address) == (server.url("/a?b"), 200, ADDRESS)
        assert result.head == response_bytes()[: -len(PAGE) - 2]
        assert result.body == result.content == PAGE
        assert not result.truncated
        assert 0 < result.elapsed_s <= time.monotonic() - began_s

    with_server(use)


def test_redirects_are_not_followed() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        result = response(await fetched(fetcher, page(server)))
        assert (result.status, result.header("location")) == (302, "/there")
        assert len(server.heads) == 1

    with_server(use, lambda path: response_bytes(b"", "302 Found", Location="/there"))


@pytest.mark.parametrize(("extra_bytes", "truncated"), [(0, False), (1, True), (500_000, True)])
def test_a_body_is_truncated_at_the_limit(extra_bytes: int, truncated: bool) -> None:
    body = PAGE + bytes(1_000 + extra_bytes)
    limit = len(PAGE) + 1_000

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        result = response(await fetched(fetcher, page(server, body_bytes=limit)))
        assert (result.content, result.truncated) == (body[:limit], truncated)
        assert result.body == result.content

    with_server(use, lambda path: response_bytes(body))


def test_the_limit_counts_decoded_bytes() -> None:
    text = PAGE + b" ".join(b"%d" % number for number in range(20_000))
    packed = gzip.compress(text)

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        complete = response(await fetched(fetcher, page(server)))
        assert (complete.body, complete.content, complete.truncated) == (packed, text, False)
        cut = response(await fetched(fetcher, page(server, body_bytes=50_000)))
        assert (cut.content, cut.truncated) == (text[:50_000], True)
        assert packed.startswith(cut.body)

    with_server(use, lambda path: response_bytes(packed, Content_Encoding="gzip"))


def test_other_content_types_are_accepted_on_request() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        result = not_fetched(await fetched(fetcher, page(server)))
        assert (result.reason, result.detail) == (SkipReason.NOT_HTML, "Content-Type: text/plain")
        assert response(await fetched(fetcher, page(server, html_only=False))).content == b"words"

    with_server(use, lambda path: response_bytes(b"words", Content_Type="text/plain"))


def test_the_type_of_an_error_does_not_matter() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        assert response(await fetched(fetcher, page(server))).status == 404

    with_server(use, lambda path: response_bytes(b"{}", "404 Not Found", Content_Type="application/json"))


def test_the_head_has_the_lines_of_the_final_response_ended_by_crlf() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        result = response(await fetched(fetcher, page(server)))
        assert result.head == b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n"

    head = b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 3\n\n"
    with_server(use, lambda path: b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + head + b"<p>")


def test_randomly_damaged_responses_are_pages_or_have_a_skip_reason() -> None:
    def changed(path: str) -> bytes:
        rng = random.Random(path)
        result = bytearray(response_bytes(gzip.compress(PAGE), Content_Encoding="gzip", Transfer_Encoding="identity"))
        for _ in range(rng.randrange(1, 6)):
            result[rng.randrange(len(result))] = rng.randrange(256)
        return bytes(result)

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        results = await asyncio.gather(*(fetched(fetcher, page(server, f"/{number}")) for number in range(300)))
        reasons = Counter(result.reason for result in results if isinstance(result, NotFetched))
        assert SkipReason.PROTOCOL_ERROR in reasons
        assert any(isinstance(result, Response) for result in results)
        assert not {SkipReason.CONNECT_TIMEOUT, SkipReason.HEADERS_TIMEOUT, SkipReason.BODY_TIMEOUT} & reasons.keys()
        assert len(results) == 300

    # Otherwise some would seem to go on, and their connections would have to be given up.
    with_server(use, changed, closes=True)


HEAD = b"HTTP/1.1 200 OK\r\nX-One: 1\r\nx-one:  \xe9 two \r\nX-One-More: 3\r\nEmpty:\r\n"


@pytest.mark.parametrize(
    ("name", "last", "every"),
    [
        ("X-ONE", "é two", ("1", "é two")),
        ("x-one-more", "3", ("3",)),
        ("Empty", "", ("",)),
        ("one", None, ()),
        ("HTTP/1.1 200 OK", None, ()),
    ],
)
def test_header_names_ignore_case_and_the_last_counts(name: str, last: str | None, every: tuple[str, ...]) -> None:
    result = Response("http://a.test/", 200, HEAD, b"", b"", False, ADDRESS, 0.0)
    assert result.header(name) == last
    assert result.headers(name) == every


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("/café".encode(), "http://a.test/caf%C3%A9"),
        ("/café".encode("latin-1"), "http://a.test/caf%E9"),
        (b"/caf%C3%A9", "http://a.test/caf%C3%A9"),
        ("/?q=é#ü".encode(), "http://a.test/?q=%C3%A9"),
        (b"/?q=\xe9", "http://a.test/?q=%E9"),
        ("//bücher.test/".encode(), "http://xn--bcher-kva.test/"),
        # No name: its bytes are no UTF-8.
        ("//bücher.test/".encode("latin-1"), None),
        (b"/100%", "http://a.test/100%"),
        (b' /a b\\c|"<>`{}^ ', "http://a.test/a%20b/c|%22%3C%3E%60%7B%7D%5E"),
        (b"", "http://a.test/x"),
    ],
)
def test_the_bytes_of_a_location_are_kept_as_browsers_do(value: bytes, url: str | None) -> None:
    location = location_of(b"HTTP/1.1 301 Moved\r\nLocation: /other\r\nlocation: " + value + b"\r\n")
    assert location is not None
    assert resolve("http://a.test/x", location) == url


def test_a_response_may_have_no_location() -> None:
    assert location_of(HEAD) is None
