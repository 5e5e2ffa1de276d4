"""`scenthound dashboard`: a web server on this machine.

Rules
- It listens on 127.0.0.1 only, because it shows files of the user who runs it. There is no option to change that.
- Each start has a new token, unless it is kept in a file. It is part of the printed URL and written nowhere else.
- Ctrl-C ends it at once, also while pages show live crawls.
"""

import asyncio
import errno
import os
import re
import secrets
import socket
import stat
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from scenthound.errors import Failure, InvalidInput, MissingExtra, UsageError, printable
from scenthound.web.open_files import NO_FILES_LEFT

if TYPE_CHECKING:
    from scenthound.ui.dashboard.app import Dashboard
    from scenthound.ui.dashboard.security import Token

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8787
#: Ports that are tried, from the default one on.
_N_PORTS = 20
#: How long requests in progress may take at the end.
_SHUTDOWN_S = 1
#: Connections that the system keeps until they are accepted.
_MAX_QUEUED = 1024


#: Characters that need no quoting in URLs and headers.
_TOKEN = re.compile(r"[\w.~-]{16,200}", re.ASCII)


def serve(
    folders: list[Path],
    port: int | None,
    report: Callable[[str], None],
    *,
    open_browser: bool = False,
    open_to_all: bool = False,
    token_file: Path | None = None,
) -> None:
    """Serve the dashboard until a signal ends it. `report` is called with the URL, which includes the token. If it is
    `open_to_all`, reading needs no token. Without a `token_file` each start has a new token."""
    require_server()
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"{printable(folder)} is not a folder: name crawls, experiments, or folders of them.")
    value = _new_token() if token_file is None else _kept_token(token_file)
    one_time = _new_token() if open_browser else None
    with listening(port) as listener:
        from scenthound.ui.dashboard.app import Dashboard
        from scenthound.ui.dashboard.security import TOKEN_PARAMETER, Token

        number = listener.getsockname()[1]
        token = Token(value, number, one_time)
        url = f"http://{ADDRESS}:{number}/?{TOKEN_PARAMETER}="
        report(url + value)
        if one_time is not None:
            webbrowser.open(url + one_time)
        _run(Dashboard(folders, port=number, token=token, open_to_all=open_to_all), token, listener)


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def _kept_token(file: Path) -> str:
    """The token in the file, which is made if it does not exist."""
    with suppress(FileExistsError), _creating(file) as made:
        made.write(f"{_new_token()}\n")
    try:
        is_readable_by_others = file.stat().st_mode & stat.S_IROTH
        token = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        raise InvalidInput(f"Cannot read the token in {printable(file)}: {error.strerror}.") from None
    if is_readable_by_others:
        raise InvalidInput(f"Every user can read the token in {printable(file)}: chmod o-r the file.")
    if not _TOKEN.fullmatch(token):
        raise InvalidInput(
            f"{printable(file)} has no valid token: it must be one line of 16 to 200 letters, digits, - or _. "
            "Remove the file to make a new one."
        )
    return token


def _creating(file: Path) -> TextIO:
    try:
        return os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii")
    except FileExistsError:
        raise
    except OSError as error:
        raise InvalidInput(f"Cannot write the token to {printable(file)}: {error.strerror}.") from None


def require_server() -> None:
    """MissingExtra if the web server is not installed."""
    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise MissingExtra.named("dashboard", "The dashboard")


def _run(dashboard: "Dashboard", token: "Token", listener: socket.socket) -> None:
    import uvicorn

    from scenthound.ui.dashboard import connections

    most, note = connections.reserve_files()
    if note:
        print(note, file=sys.stderr, flush=True)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().set_exception_handler(FileShortage().note)
            await super().startup(sockets)
            # The backlog of the configuration is also the number of connections that are accepted at once.
            listener.listen(_MAX_QUEUED)

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Event streams would not end by themselves.
            dashboard.live.end()
            await super().shutdown(sockets)

    class Connection(connections.Connection):
        limits = connections.ConnectionLimits(token, most)

    config = uvicorn.Config(
        dashboard.app,
        http=Connection,
        # Others accept connections in another way.
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        # Anybody can send such headers.
        proxy_headers=False,
        server_header=False,
        backlog=most.accepted_at_once,
        timeout_keep_alive=connections.IDLE_S,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    try:
        Server(config).run([listener])
    except KeyboardInterrupt:
        return


class FileShortage:
    """Handles errors of the event loop. If too many files are open it stops accepting connections for a second, and
    reports an error for each of them: here that is one line."""

    def __init__(self) -> None:
        self._is_noted = False

    def note(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in NO_FILES_LEFT:
            loop.default_exception_handler(context)
        elif not self._is_noted:
            self._is_noted = True
            print(
                f"New connections to the dashboard have to wait: {error.strerror}. Raise the limit with `ulimit -n`.",
                file=sys.stderr,
                flush=True,
            )


def listening(port: int | None) -> socket.socket:
    """A socket on the port, or on the next free one if none is named."""
    if port is not None:
        if not 1 <= port <= 65_535:
            raise UsageError(f"--port {port} is not a port: use a number between 1 and 65535.")
        return _bound(port)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + _N_PORTS):
        try:
            return _bound(candidate)
        except UsageError:
            continue
    return _bound(0)


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            reason = "already in use" if error.errno == errno.EADDRINUSE else "permission denied"
            raise UsageError(f"Cannot listen on port {port}: {reason}. Choose another --port, or omit it.") from None
        raise Failure(f"Cannot listen on port {port} of {ADDRESS}: {error.strerror}.") from None
