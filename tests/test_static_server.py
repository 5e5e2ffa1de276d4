"""The static server, tested by sockets and by Python's HTTP client."""

import errno
import http.client
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.errors import Failure, InvalidParameter
from scenthound.web.static_server import (
    MAX_HEAD_BYTES,
    StaticPage,
    StaticServer,
    at_port,
    pages_of,
)
from timing import WAIT_S

PAGES = {
    "http://a.test/": "<p>a</p>",
    "http://a.test/x?y=1": "<p>x with y</p>",
    "http://a.test/robots.txt": "User-agent: *\nDisallow: /private\n",
    "http://b.test/": "<p>b</p>",
    "http://b.test/moved": StaticPage(b"", 301, headers=(("Location", "http://a.test/"),)),
    "http://b.test/odd": StaticPage(b"?", 799),
}


@pytest.fixture
def server() -> Iterator[StaticServer]:
    with StaticServer(pages_of(PAGES), ("127.0.0.1", "127.0.0.2")) as running:
        yield running


def fetch(server: StaticServer, host: str, path: str, address: str = "127.0.0.1") -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, server.port, timeout=WAIT_S)
    connection.request("GET", path, headers={"Host": f"{host}:{server.port}"})
    response = connection.getresponse()
    result = response.status, response.read().decode()
    connection.close()
    return result


def raw_response(server: StaticServer, sent: bytes) -> bytes:
    """Everything that the server sends until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_the_host_header_selects_the_host_whatever_the_address(server: StaticServer) -> None:
    for address in ("127.0.0.1", "127.0.0.2"):
        assert fetch(server, "a.test", "/", address=address) == (200, "<p>a</p>")
        assert fetch(server, "B.TEST", "/", address=address) == (200, "<p>b</p>")


def test_a_query_is_part_of_the_path(server: StaticServer) -> None:
    assert fetch(server, "a.test", "/x?y=1") == (200, "<p>x with y</p>")
    assert fetch(server, "a.test", "/x")[0] == 404


def test_an_unknown_host_has_no_pages(server: StaticServer) -> None:
    assert fetch(server, "c.test", "/")[0] == 404


def test_robots_txt_is_text_and_pages_are_html(server: StaticServer) -> None:
    assert b"Content-Type: text/plain" in raw_response(server, request("/robots.txt"))
    assert b"Content-Type: text/html" in raw_response(server, request("/"))


def request(path: str, *further: str, version: str = "1.1", method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/{version}", "Host: a.test", "Connection: close", *further]
    return "\r\n".join([*lines, "", ""]).encode()


def test_redirects_and_unknown_statuses_are_sent_as_given(server: StaticServer) -> None:
    response_bytes = raw_response(server, b"GET /moved HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n")
    assert response_bytes.startswith(b"HTTP/1.1 301 Moved Permanently\r\n")
    assert b"\r\nLocation: http://a.test/\r\n" in response_bytes
    assert fetch(server, "b.test", "/odd") == (799, "?")


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ('If-None-Match: "1"', 304),
        ('If-None-Match: "0", W/"1"', 304),
        ('If-None-Match: "2"', 200),
        ("If-Modified-Since: Mon, 05 Jan 2026 08:00:00 GMT", 304),
        ("If-Modified-Since: Mon, 05 Jan 2026 07:59:59 GMT", 200),
        ("If-Modified-Since: soon", 200),
        # The ETag decides.
        ('If-None-Match: "2"\r\nIf-Modified-Since: Mon, 05 Jan 2026 08:00:00 GMT', 200),
    ],
)
def test_a_page_is_sent_only_if_the_condition_of_the_request_is_met(condition: str, status: int) -> None:
    headers = (("ETag", 'W/"1"'), ("Last-Modified", "Mon, 05 Jan 2026 08:00:00 GMT"))
    with StaticServer(pages_of({"http://a.test/": StaticPage(b"dogs", headers=headers)})) as server:
        answer = raw_response(server, request("/", condition))
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        assert answer.endswith(b"\r\n\r\ndogs" if status == 200 else b"\r\n\r\n")
        assert sum(server.body_bytes.values()) == (4 if status == 200 else 0)


def test_head_is_get_without_the_body(server: StaticServer) -> None:
    response_bytes = raw_response(server, request("/", method="HEAD"))
    assert b"Content-Length: 8\r\n" in response_bytes
    assert response_bytes.endswith(b"\r\n\r\n")


def test_a_connection_is_reused(server: StaticServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
    own_ports = set()
    for _ in range(3):
        connection.request("GET", "/", headers={"Host": "a.test"})
        assert connection.getresponse().read() == b"<p>a</p>"
        own_ports.add(connection.sock.getsockname()[1])
    connection.close()
    assert len(own_ports) == 1


def test_pipelined_and_split_requests(server: StaticServer) -> None:
    first = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
    last = b"GET / HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n"
    responses = raw_response(server, first + last)
    assert responses.count(b"200 OK") == 2
    assert responses.index(b"<p>a</p>") < responses.index(b"<p>b</p>")
    with socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in last:
            connection.sendall(bytes([byte]))
        assert b"<p>b</p>" in b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a.test\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a.test\n1 http://forged.test/\r\n\r\n", 400),
        (b"GET /a b HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
        (b"GET a.test HTTP/1.1\r\nHost: a.test\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", 400),
        (b"GET / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a.test\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nHost: a.test\r\nX: " + b"x" * MAX_HEAD_BYTES, 431),
    ],
)
def test_invalid_requests_are_rejected_and_the_connection_closed(
    server: StaticServer, sent: bytes, status: int
) -> None:
    assert raw_response(server, sent).startswith(f"HTTP/1.1 {status} ".encode())
    assert not server.requests


def test_http_1_0_closes_after_the_response(server: StaticServer) -> None:
    assert raw_response(server, b"GET / HTTP/1.0\r\nHost: a.test\r\n\r\n").endswith(b"<p>a</p>")


def test_requests_are_counted_by_url_with_the_port(server: StaticServer) -> None:
    for _ in range(2):
        fetch(server, "a.test", "/")
    fetch(server, "a.test", "/none")
    assert server.requests == {server.url("http://a.test/"): 2, server.url("http://a.test/none"): 1}


def logged_requests(log: Path) -> list[tuple[float, str]]:
    lines = (line.split(" ", 1) for line in log.read_text().splitlines())
    return [(float(time_s), url) for time_s, url in lines]


def test_a_request_is_logged_before_its_response(tmp_path: Path) -> None:
    log = tmp_path / "requests.log"
    times = iter([10.5, 11.25, 12.0])
    with StaticServer(pages_of(PAGES), log=log, clock=lambda: next(times)) as server:
        fetch(server, "a.test", "/")
        first = logged_requests(log)
        fetch(server, "a.test", "/x?y=1")
        port = server.port
    assert first == [(10.5, f"http://a.test:{port}/")]
    with StaticServer(pages_of(PAGES), log=log, clock=lambda: next(times)) as server:
        fetch(server, "b.test", "/")
        entries = logged_requests(log)
    assert entries[1:] == [(11.25, f"http://a.test:{port}/x?y=1"), (12.0, f"http://b.test:{server.port}/")]


def test_all_addresses_share_a_port_that_is_released(server: StaticServer) -> None:
    with pytest.raises(Failure, match=rf"127\.0\.0\.3 .*\b{server.port}: {os.strerror(errno.EADDRINUSE)}"):
        StaticServer(pages_of({}), ("127.0.0.3", "127.0.0.2"), server.port).__enter__()
    # The address bound before the failure was released.
    with StaticServer(pages_of({}), ("127.0.0.3",), server.port) as second:
        assert second.port == server.port


def test_open_connections_are_closed_at_the_end() -> None:
    with StaticServer(pages_of(PAGES)) as short:
        connection = socket.create_connection(("127.0.0.1", short.port), timeout=WAIT_S)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        assert connection.recv(65_536)
    with connection:
        assert connection.recv(1) == b""


@pytest.mark.parametrize("address", ["0.0.0.0", "10.0.0.1", "a.test", "::1"])
def test_it_listens_on_loopback_only(address: str) -> None:
    with pytest.raises(InvalidParameter, match=r"127\.0\.0\.0/8"):
        StaticServer(pages_of({}), (address,))


@pytest.mark.parametrize("url", ["https://a.test/", "http://a.test:80/", "http://a.test", "a.test/", "http:///x"])
def test_urls_of_pages_have_no_port(url: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{url!r}: .*http://host/path"):
        pages_of({url: ""})


def test_a_url_at_a_port_is_canonical() -> None:
    assert at_port("http://a.test/x?y=http://b.test/", 8080) == "http://a.test:8080/x?y=http://b.test/"
    assert at_port("http://a.test/", 80) == "http://a.test/"
