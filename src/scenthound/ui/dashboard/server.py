"""`scenthound dashboard`: a server on this machine, and on this machine only.

Rules
- It listens on 127.0.0.1. There is no way to tell it otherwise: it shows files of the user who runs it.
- The token is new with every start, and stands in the address that is printed.
- Ctrl-C ends it at once, whoever is watching.
"""

import asyncio
import errno
import secrets
import socket
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scenthound.errors import Failure, InvalidInput, MissingExtra, UsageError, printable

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8787
#: Ports after the default one that are tried.
_MORE_PORTS = 20
#: What answers are still being made when it ends may take so long.
_ENDS_WITHIN_S = 1
#: Who connects, or stays connected, and asks nothing for so long is let go.
_ASKS_WITHIN_S = 3


def serve(folders: list[Path], port: int | None, said: Callable[[str], None], *, open_browser: bool = False) -> None:
    """Serve the dashboard until a signal ends it. `said` is told the address, with the token."""
    require_server()
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"{printable(folder)} is no folder: name crawls, experiments or folders that hold some.")
    with listening(port) as place:
        number = place.getsockname()[1]
        token = secrets.token_urlsafe(24)
        address = f"http://{ADDRESS}:{number}/#token={token}"
        said(address)
        if open_browser:
            webbrowser.open(address)
        _run(folders, place, number, token)


def require_server() -> None:
    """MissingExtra if what serves is not installed."""
    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise MissingExtra.named("dashboard", "The dashboard")


def _run(folders: list[Path], place: socket.socket, port: int, token: str) -> None:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from scenthound.ui.dashboard.app import Dashboard

    dashboard = Dashboard(folders, port=port, token=token)

    class Server(uvicorn.Server):
        """Lets go of those who watch before it waits for the rest."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            dashboard.watching.end()
            await super().shutdown(sockets)

    class Connection(H11Protocol):
        """Ends if nothing is asked: idle connections would take the places of those who ask."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(_ASKS_WITHIN_S, self._end_if_silent)

        def _end_if_silent(self) -> None:
            asked: Any = self.scope
            if asked is None:
                self.transport.close()

    config = uvicorn.Config(
        dashboard.app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        # Who asked is told by the connection, and not by headers that anybody can send.
        proxy_headers=False,
        server_header=False,
        limit_concurrency=200,
        timeout_keep_alive=_ASKS_WITHIN_S,
        timeout_graceful_shutdown=_ENDS_WITHIN_S,
    )
    try:
        Server(config).run([place])
    except KeyboardInterrupt:
        # That is how it is meant to be ended.
        return


def listening(port: int | None) -> socket.socket:
    """A socket at the port, or at the next one that is free if none was asked for."""
    if port is not None:
        if not 1 <= port <= 65_535:
            raise UsageError(f"--port {port} is no port: they go from 1 to 65535.")
        return _bound(port)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + _MORE_PORTS):
        try:
            return _bound(candidate)
        except UsageError:
            continue
    return _bound(0)


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as reason:
        if reason.errno in (errno.EADDRINUSE, errno.EACCES):
            why = "is taken by another program" if reason.errno == errno.EADDRINUSE else "may not be used by you"
            raise UsageError(f"Port {port} {why}: choose another --port, or leave it out.") from None
        raise Failure(f"Port {port} of {ADDRESS} cannot be listened at: {reason.strerror}.") from None
