"""A small server on the loop of the test that keeps connections open and records requests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from fetching import PATIENT, no_errors_in_callbacks
from hostile_cases import response_bytes
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.fetch import FetchLimits, NotFetched, Request, Response
from timing import SkippingLoop

ADDRESS = "127.0.0.1"


@dataclass(slots=True)
class PageServer:
    """`respond` returns the bytes of the response for a path; None closes the connection."""

    respond: Callable[[str], bytes | None]
    closes: bool = False  #: the connection after each response
    port: int = 0
    heads: list[str] = field(default_factory=list)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)

    def url(self, path: str = "/", host: str = ADDRESS) -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.append(writer)
        with suppress(ConnectionError, EOFError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                self.heads.append(head)
                data = self.respond(head.split(" ")[1])
                if data is None:
                    break
                writer.write(data)
                await writer.drain()
                if self.closes:
                    break
        writer.close()


@asynccontextmanager
async def page_server(
    respond: Callable[[str], bytes | None] = lambda path: response_bytes(), *, closes: bool = False
) -> AsyncIterator[PageServer]:
    site = PageServer(respond, closes)
    server = await asyncio.start_server(site.serve, ADDRESS, 0, backlog=1_000)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for writer in site.connections:
            writer.close()
        # The tasks of the connections see the end of the stream in the next turns of the loop.
        await asyncio.sleep(0.01)


def with_server(
    use: Callable[[CurlFetcher, PageServer], Awaitable[None]],
    respond: Callable[[str], bytes | None] = lambda path: response_bytes(),
    limits: FetchLimits = PATIENT,
    *,
    closes: bool = False,
) -> None:
    """Use a fetcher and a server on a `SkippingLoop`; what goes wrong in callbacks is an error, too."""

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context))
        async with page_server(respond, closes=closes) as server:
            fetcher = CurlFetcher(limits, user_agent="hound/1.0 (+https://a.test)", allow_private=True)
            try:
                await use(fetcher, server)
            finally:
                fetcher.close()

    errors: list[object] = []
    with no_errors_in_callbacks(), asyncio.Runner(loop_factory=SkippingLoop) as runner:
        runner.run(run())
    assert errors == []


def page(server: PageServer, path: str = "/", html_only: bool = True, body_bytes: int | None = None) -> Request:
    return Request(server.url(path), (ADDRESS,), html_only, body_bytes)


def response(result: Response | NotFetched) -> Response:
    assert isinstance(result, Response), result
    return result


def not_fetched(result: Response | NotFetched) -> NotFetched:
    assert isinstance(result, NotFetched), result
    return result
