"""The dashboard under load: clients that stall, do not read, or are many, do not keep the owner out."""

import asyncio
import re
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPResponse
from pathlib import Path

import pytest

from dashboard_client import Client, begin_crawl, ended_crawl, store_page
from dashboard_program import Program, patched, started
from scenthound.store.crawl_store import CrawlStore
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.ui.dashboard import endpoints
from scenthound.ui.link_graph import CrawlGraph, crawl_graph
from timing import WAIT_S, until, wait_until

EVENTS = "/api/crawls/crawl/events"
#: On a busy machine. Without a reserve the owner would wait as long as the clients, which do not end by themselves.
PROMPT_S = WAIT_S / 4
#: Nothing but the limits ends connections.
NO_DEADLINES = f"connections.REQUEST_S = connections.READ_S = connections.IDLE_S = {10 * WAIT_S}"
#: The system accepts little that the client does not read.
SMALL_BUFFER = """
bound = server._bound
def with_small_buffer(port):
    listener = bound(port)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return listener
server._bound = with_small_buffer"""
END = b"\r\n\r\n"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def received(client: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    content = b""
    deadline_s = time.monotonic() + WAIT_S
    try:
        while part := client.recv(65_536):
            assert time.monotonic() < deadline_s
            content += part
    except ConnectionResetError:
        pass
    return content


def is_closed_after_byte(client: socket.socket) -> bool:
    """Send one more byte; whether the server has closed the connection."""
    try:
        client.sendall(b"x")
        while client.recv(65_536):
            continue
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def half_requests(program: Program) -> list[bytes]:
    """Requests without their end: also the second on a connection, and one without a part of its body."""
    complete = program.head("/assets/look.css") + END
    sent = (f"X-Scenthound-Token: {program.token}", "Content-Type: application/json", "Content-Length: 9")
    body = program.head("/api/crawls/crawl/pause", "POST", *sent) + END + b"{"
    return [b"", b"GET", program.head("/"), complete + program.head("/"), complete + complete + b"G", complete + body]


def test_every_half_request_is_cut_after_its_deadline(tmp_path: Path, stack: ExitStack) -> None:
    program = patched("connections.REQUEST_S = 2", f"connections.IDLE_S = {10 * WAIT_S}")
    running = stack.enter_context(started(tmp_path, program=program))
    clients = [(sent, stack.enter_context(running.client(sent))) for sent in half_requests(running)]
    for sent, client in clients:
        # Only complete requests have a response.
        assert received(client).count(b"HTTP/1.1 ") == sent.count(b"/assets/")
    assert running.status() == 200


def test_sending_byte_by_byte_does_not_extend_the_deadline(tmp_path: Path) -> None:
    with started(tmp_path, program=patched("connections.REQUEST_S = 1")) as running, running.client() as client:
        client.sendall(running.head("/assets/look.css") + END + running.head("/"))
        client.settimeout(0.05)
        wait_until(lambda: is_closed_after_byte(client), "the end of the connection")


def test_the_owner_gets_through_while_hundreds_of_clients_stall(tmp_path: Path, stack: ExitStack) -> None:
    ended_crawl(tmp_path / "crawl")
    running = stack.enter_context(started(tmp_path, program=patched(NO_DEADLINES)))
    watching = stack.enter_context(running.get(EVENTS))
    assert watching.readline() == b"retry: 2000\n"
    kept = stack.enter_context(closing(running.connection()))
    kept.request("GET", "/api/folders", headers={"X-Scenthound-Token": running.token})
    assert kept.getresponse().read() != b""
    connected = kept.sock
    halves = half_requests(running)
    for number in range(300):
        stack.enter_context(running.client(halves[number % len(halves)], f"127.0.0.{1 + number % 2}"))
    for _ in range(3):
        for path in ("/api/folders", "/api/crawls/crawl", "/"):
            started_s = time.monotonic()
            assert running.status(path) == 200
            assert time.monotonic() < started_s + PROMPT_S
    # Neither a stream nor a kept connection of the owner made room for them.
    assert any(watching.readline().startswith(b"event: live") for _ in range(9))
    kept.request("GET", "/assets/look.css")
    assert (kept.getresponse().status, kept.sock is connected) == (200, True)


@pytest.mark.parametrize(("hard", "n_lines"), [(None, 0), (64, 1)])
def test_the_owner_gets_through_whatever_the_limit_of_open_files(
    hard: int | None, n_lines: int, tmp_path: Path, stack: ExitStack
) -> None:
    ended_crawl(tmp_path / "crawl")
    highest = resource.getrlimit(resource.RLIMIT_NOFILE)[1] if hard is None else hard
    limit = f"resource.setrlimit(resource.RLIMIT_NOFILE, (64, {highest}))"
    running = stack.enter_context(started(tmp_path, program=patched(limit, NO_DEADLINES)))
    halves = half_requests(running)
    for number in range(190):
        stack.enter_context(running.client(halves[number % 3], f"127.0.0.{1 + number % 2}"))
    for _ in range(3):
        started_s = time.monotonic()
        assert running.status("/api/crawls/crawl") == 200
        assert time.monotonic() < started_s + PROMPT_S
    running.process.kill()
    assert running.process.stderr is not None
    lines = running.process.stderr.read().splitlines()
    assert (len(lines), all("ulimit -n" in line for line in lines)) == (n_lines, True)


def test_the_oldest_stalled_client_of_an_address_makes_room(tmp_path: Path, stack: ExitStack) -> None:
    limits = ("connections.MAX_OF_ADDRESS = 20", "connections.MAX_WITHOUT_TOKEN = 30")
    running = stack.enter_context(started(tmp_path, program=patched(NO_DEADLINES, *limits)))

    def stalled(number: int, address: str) -> list[socket.socket]:
        half = running.head("/assets/look.css")
        return [stack.enter_context(running.client(half, address)) for _ in range(number)]

    def is_served(client: socket.socket) -> bool:
        client.sendall(END)
        return client.recv(12) == b"HTTP/1.1 200"

    others, first, second = stalled(5, "127.0.0.2"), stalled(3, "127.0.0.1"), stalled(20, "127.0.0.1")
    assert {received(client) for client in first} == {b""}
    third = stalled(10, "127.0.0.3")
    assert {received(client) for client in others} == {b""}
    assert all(is_served(client) for client in (*second, *third))


@pytest.mark.parametrize("open_to_all", [False, True])
def test_hundreds_of_streams_leave_room_for_ordinary_requests(
    tmp_path: Path, stack: ExitStack, open_to_all: bool
) -> None:
    """With the token, new streams replace old ones. Without it, the owner's replace them, or none is allowed."""
    stack.enter_context(begin_crawl(tmp_path / "crawl"))
    program = patched(NO_DEADLINES, open_to_all=open_to_all)
    running = stack.enter_context(started(tmp_path, program=program))
    anonymous = [stack.enter_context(running.get(EVENTS, has_token=False)) for _ in range(150)]
    statuses = [response.status for response in anonymous]
    assert statuses == ([200] * 20 + [503] * 130 if open_to_all else [401] * 150)
    streams = []
    for number in range(150):
        streams.append(stack.enter_context(running.get(EVENTS)))
        if number % 30 == 0:
            started_s = time.monotonic()
            assert running.status("/api/crawls/crawl") == 200
            assert time.monotonic() < started_s + PROMPT_S
    assert {stream.status for stream in streams} == {200}
    for stream in streams[-20:]:
        assert any(stream.readline().startswith(b"event: live") for _ in range(9))
    # The streams that made room have ended; their reader is told not to reconnect.
    replaced = streams[-30].read()
    assert (replaced.count(b"event: replaced\n"), streams[-30].isclosed()) == (1, True)
    assert [running.status(path) for path in ("/", "/api/folders", "/metrics")] == [200] * 3


def test_slow_requests_without_the_token_do_not_delay_those_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(ended_crawl(tmp_path / "slow"), ended_crawl(tmp_path / "other"), open_to_all=True)
    ready = threading.Event()

    def graph(crawl: StoredCrawl) -> CrawlGraph:
        if crawl.folder.name == "slow":
            ready.wait(WAIT_S)
        return crawl_graph(crawl)

    async def test() -> None:
        no_token = {"authorization": ""}
        slow = [client.send("GET", "/api/crawls/slow/graph", no_token) for _ in range(100)]
        waiting = [asyncio.create_task(each) for each in slow]
        await until(lambda: any(each.done() for each in waiting), "a full queue")
        reply = await asyncio.wait_for(client.send("GET", "/api/crawls/other/graph", {}), WAIT_S)
        assert (reply.status, ready.is_set()) == (200, False)
        ready.set()
        assert {each.status for each in await asyncio.gather(*waiting)} == {200, 503}

    monkeypatch.setattr(endpoints, "crawl_graph", graph)
    asyncio.run(test())


def add_pages(store: CrawlStore, first: int) -> None:
    """Pages that fill an event with more than all buffers on the way to a client."""
    for number in range(first, first + 20):
        store.add_urls([f"http://a.test/{number}"])
        store_page(store, number, f"http://a.test/{number}", "new", title="x" * 50_000)
    store.commit()


def client_with_small_buffer(running: Program, half: bytes) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(WAIT_S)
    client.connect(("127.0.0.1", running.port))
    client.sendall(half + END)
    return client


def next_event(stream: HTTPResponse) -> str:
    """The data of the next update."""
    deadline_s = time.monotonic() + WAIT_S
    while not (line := stream.readline()).startswith(b"data: "):
        assert (line != b"", time.monotonic() < deadline_s) == (True, True)
    return line.decode()


def test_a_client_that_does_not_read_is_dropped_and_delays_no_other(tmp_path: Path, stack: ExitStack) -> None:
    store = stack.enter_context(begin_crawl(tmp_path / "crawl"))
    add_pages(store, 4)
    running = stack.enter_context(started(tmp_path, program=patched(SMALL_BUFFER, "connections.READ_S = 5")))
    reading = stack.enter_context(running.get(EVENTS))
    assert "http://a.test/23" in next_event(reading)
    before = running.n_sockets()
    half = running.head(EVENTS, "GET", f"Authorization: token {running.token}")
    slow = stack.enter_context(client_with_small_buffer(running, half))
    wait_until(lambda: running.n_sockets() > before, "the connection")
    add_pages(store, 24)
    assert "http://a.test/43" in next_event(reading)
    assert running.status("/api/crawls/crawl") == 200
    wait_until(lambda: running.n_sockets() == before, "its end")
    add_pages(store, 44)
    assert "http://a.test/63" in next_event(reading)
    # Only what was in the buffers of the system still arrives.
    content = received(slow)
    assert (content[:12], b"\n\n\r\n" in content.partition(b"data: ")[2]) == (b"HTTP/1.1 200", False)


def test_a_closed_connection_does_not_wait_for_a_client_that_does_not_read(tmp_path: Path, stack: ExitStack) -> None:
    ended_crawl(tmp_path / "crawl")
    running = stack.enter_context(started(tmp_path, program=patched(SMALL_BUFFER, "connections.READ_S = 2")))
    next_event(stack.enter_context(running.get(EVENTS)))
    before = running.n_sockets()
    stack.enter_context(client_with_small_buffer(running, running.head("/assets/plots.js", "GET", "Connection: close")))
    wait_until(lambda: running.n_sockets() > before, "the connection")
    wait_until(lambda: running.n_sockets() == before, "its end")


def test_a_client_that_reads_slowly_gets_the_complete_response(tmp_path: Path, stack: ExitStack) -> None:
    """Although that takes longer than the next request may take."""
    add_pages(stack.enter_context(begin_crawl(tmp_path / "crawl")), 4)
    program = patched(SMALL_BUFFER, "connections.REQUEST_S = 1", f"connections.IDLE_S = {10 * WAIT_S}")
    running = stack.enter_context(started(tmp_path, program=program))
    half = running.head("/api/crawls/crawl/pages", "GET", f"Authorization: token {running.token}")
    client = stack.enter_context(client_with_small_buffer(running, half))
    content = b""
    for _ in range(100):
        content += client.recv(1_000)
        time.sleep(0.03)
    content += received(client)
    headers, _, body = content.partition(END)
    assert int(re.findall(rb"content-length: (\d+)", headers)[0]) == len(body) > 1_000_000
