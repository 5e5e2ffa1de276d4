"""The contract of fetching: callbacks, connections, and what is sent."""

import asyncio
from dataclasses import replace

import pytest

from fetching import PATIENT, fetched
from hostile_cases import PAGE, response_bytes
from page_server import ADDRESS, PageServer, not_fetched, page, page_server, response, with_server
from scenthound.errors import InvalidParameter
from scenthound.reasons import SkipReason
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from timing import WAIT_S, skip, until


def test_the_callback_is_called_once_and_never_from_start() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        calls: list[Response | NotFetched] = []
        fetcher.start(page(server), calls.append)
        fetcher.start(Request(server.url(host="nobody.test"), ("127.0.0.2",)), calls.append)
        assert calls == []
        await until(lambda: len(calls) >= 2)
        await asyncio.sleep(0.05)
        assert sorted(type(call).__name__ for call in calls) == ["NotFetched", "Response"]

    with_server(use)


def test_a_callback_may_start_the_next_fetch() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        results: list[Response | NotFetched] = []
        done = asyncio.Event()

        def on_done(result: Response | NotFetched) -> None:
            results.append(result)
            if len(results) == 20:
                done.set()
            else:
                fetcher.start(page(server, f"/{len(results)}"), on_done)

        fetcher.start(page(server), on_done)
        await asyncio.wait_for(done.wait(), WAIT_S)
        assert [response(result).url for result in results[:3]] == [server.url(path) for path in ("/", "/1", "/2")]

    with_server(use)


def test_a_callback_that_raises_does_not_lose_other_results() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        errors: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(str(context["exception"])))

        def fail(result: Response | NotFetched) -> None:
            raise RuntimeError("mine")

        for _ in range(5):
            fetcher.start(page(server), fail)
        results = await asyncio.gather(*(fetched(fetcher, page(server)) for _ in range(5)))
        await until(lambda: len(errors) >= 5)
        assert [response(result).status for result in results] == [200] * 5
        assert errors == ["mine"] * 5

    with_server(use)


def test_close_aborts_transfers() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        calls: list[Response | NotFetched] = []
        silent = CurlFetcher(PATIENT, user_agent="test", allow_private=True)
        silent.start(page(server), calls.append)
        silent.start(page(server), calls.append)
        await asyncio.sleep(0)
        silent.close()
        await asyncio.sleep(0.1)
        skip(2 * PATIENT.total_s)
        await asyncio.sleep(0.1)
        assert calls == []

    with_server(use)


@pytest.mark.parametrize("path", ["/page", "/silent"])
def test_a_callback_may_close_the_fetcher(path: str) -> None:
    async def use(_: CurlFetcher, server: PageServer) -> None:
        fetcher = CurlFetcher(PATIENT, user_agent="test", allow_private=True)
        calls: list[Response | NotFetched] = []

        def close(result: Response | NotFetched) -> None:
            calls.append(result)
            fetcher.close()

        for _ in range(3):
            fetcher.start(page(server, path), close)
        if path == "/silent":
            await until(lambda: len(server.heads) == 3)
            skip(PATIENT.headers_s)
        await until(lambda: calls)
        await asyncio.sleep(0.1)
        assert len(calls) == 1

    with_server(use, lambda path: b"" if path == "/silent" else response_bytes())


def test_hundreds_of_concurrent_fetches() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        requests = [page(server, f"/{number}") for number in range(300)]
        results = await asyncio.gather(*(fetched(fetcher, request) for request in requests))
        assert [response(result).url for result in results] == [request.url for request in requests]

    with_server(use)


def test_fetching_works_on_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop", reason="uvloop is not installed")

    async def run() -> Response | NotFetched:
        async with page_server() as server:
            fetcher = CurlFetcher(PATIENT, user_agent="test", allow_private=True)
            result = await fetched(fetcher, page(server))
            fetcher.close()
            return result

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert response(runner.run(run())).content == PAGE


def test_a_connection_is_reused() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        for _ in range(5):
            response(await fetched(fetcher, page(server)))
        assert (len(server.connections), len(server.heads)) == (1, 5)

    with_server(use)


def test_an_idle_connection_closed_by_the_host_is_replaced() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        response(await fetched(fetcher, page(server)))
        server.connections[0].close()
        await asyncio.sleep(0.05)
        assert response(await fetched(fetcher, page(server))).content == PAGE
        assert len(server.connections) == 2

    with_server(use)


def test_a_silent_host_on_a_reused_connection_is_a_headers_timeout() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        response(await fetched(fetcher, page(server)))
        result = asyncio.ensure_future(fetched(fetcher, page(server, "/silent")))
        await until(lambda: len(server.heads) == 2)
        assert len(server.connections) == 1
        skip(PATIENT.headers_s)
        assert not_fetched(await result).reason is SkipReason.HEADERS_TIMEOUT

    with_server(use, lambda path: b"" if path == "/silent" else response_bytes())


def test_a_silent_host_has_as_long_as_the_limit_says() -> None:
    limits = replace(PATIENT, headers_s=0.2)

    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        assert not_fetched(await fetched(fetcher, page(server))).elapsed_s >= limits.headers_s

    with_server(use, lambda path: b"", limits)


def test_each_silent_request_times_out_at_its_own_time() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        ended: list[str] = []
        for number in range(4):
            fetcher.start(page(server, f"/{number}"), lambda result, number=number: ended.append(f"/{number}"))
            await until(lambda number=number: len(server.heads) > number)
            skip(1_000)
        assert ended == []
        for number in range(4):
            skip(limits.headers_s - 3_500 if number == 0 else 1_000)
            await until(lambda number=number: len(ended) > number)
            await asyncio.sleep(0.02)
            assert ended == [f"/{ended_number}" for ended_number in range(number + 1)]

    limits = replace(PATIENT, headers_s=100_000.0, total_s=200_000.0)
    with_server(use, lambda path: b"", limits)


def test_bytes_after_a_response_are_not_part_of_the_next() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        response(await fetched(fetcher, page(server, "/first")))
        await asyncio.sleep(0.02)
        assert response(await fetched(fetcher, page(server, "/second"))).content == b"<p>honest"

    forged = response_bytes(b"<p>honest") + response_bytes(b"<p>forged")
    with_server(use, lambda path: forged)


def test_the_headers_of_requests() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        await fetched(fetcher, page(server, "/a"))
        assert server.heads[0].split("\r\n") == [
            "GET /a HTTP/1.1",
            f"Host: {ADDRESS}:{server.port}",
            "User-Agent: hound/1.0 (+https://a.test)",
            "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding: gzip, deflate, br, zstd",
            "",
            "",
        ]

    with_server(use)


def test_the_from_header() -> None:
    async def use(_: CurlFetcher, server: PageServer) -> None:
        fetcher = CurlFetcher(PATIENT, user_agent="hound", from_address="me@a.test", allow_private=True)
        await fetched(fetcher, page(server))
        fetcher.close()
        assert "From: me@a.test" in server.heads[0].split("\r\n")

    with_server(use)


def test_cookies_are_not_kept() -> None:
    async def use(fetcher: CurlFetcher, server: PageServer) -> None:
        for _ in range(2):
            await fetched(fetcher, page(server))
        assert "cookie" not in server.heads[1].lower()

    with_server(use, lambda path: response_bytes(Set_Cookie="a=b; Path=/"))


@pytest.mark.parametrize("agent", ["hound\r\nCookie: a=b", "hound\n", "hünd"])
def test_an_invalid_user_agent_is_rejected(agent: str) -> None:
    async def make() -> None:
        CurlFetcher(PATIENT, user_agent=agent)

    with pytest.raises(InvalidParameter, match="header"):
        asyncio.run(make())


@pytest.mark.parametrize("name", ["connect_s", "headers_s", "total_s"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_invalid_timeouts_are_rejected(name: str, value: float) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name} .* not {value}\.$"):
        FetchLimits(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("body_bytes", 0), ("header_bytes", -5), ("expansion", 0.5)])
def test_invalid_sizes_are_rejected(name: str, value: float) -> None:
    with pytest.raises(InvalidParameter, match=rf"^{name} .* not {value}\.$"):
        FetchLimits(**{name: value})


def test_the_minimum_of_limits_is_one() -> None:
    assert FetchLimits(connect_s=0.001, body_bytes=1, header_bytes=1, expansion=1.0).body_bytes == 1
    with pytest.raises(InvalidParameter, match=r"expansion .* nan"):
        FetchLimits(expansion=float("nan"))
