"""`scenthound dashboard`: a web server on this machine.

Rules
- It listens on 127.0.0.1 only, because it shows files of the user who runs it. There is no option to change that.
- Each start has a new token, unless it is kept in a file. It is part of the printed URL and written nowhere else.
- Ctrl-C ends it at once, also while pages show live crawls.
"""

import errno
import os
import re
import secrets
import socket
import stat
import webbrowser
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scenthound.errors import Failure, InvalidInput, MissingExtra, UsageError, printable
from scenthound.ui.options import DEFAULT_PORT, DashboardOptions

if TYPE_CHECKING:
    from scenthound.ui.dashboard.app import Dashboard

ADDRESS = "127.0.0.1"
#: Ports that are tried, from the default one on.
_N_PORTS = 20
#: How long requests in progress may take at the end.
_SHUTDOWN_S = 1


#: Characters that need no quoting in URLs and headers.
_TOKEN = re.compile(r"[\w.~-]{16,200}", re.ASCII)


def serve(options: DashboardOptions) -> None:
    """Serve the dashboard until a signal ends it. `on_start` is called with the URL, which includes the token."""
    require_server()
    folders = [Path(each) for each in options.folders]
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"{printable(folder)} is not a folder: name crawls, experiments, or folders of them.")
    value = _new_token() if options.token_file is None else _kept_token(Path(options.token_file))
    one_time = _new_token() if options.open_browser else None
    with listening(options.port) as listener:
        from scenthound.ui.dashboard.app import Dashboard
        from scenthound.ui.dashboard.security import TOKEN_PARAMETER, Token

        number = listener.getsockname()[1]
        token = Token(value, number, one_time)
        url = f"http://{ADDRESS}:{number}/?{TOKEN_PARAMETER}="
        options.on_start(url + value)
        if one_time is not None:
            webbrowser.open(url + one_time)
        _run(Dashboard(folders, port=number, token=token, open_to_all=options.open_to_all), listener)


def _new_token() -> str:
    return secrets.token_urlsafe(24)


def _kept_token(file: Path) -> str:
    """The token in the file, which is made if it does not exist."""
    try:
        with suppress(FileExistsError), open(file, "x", encoding="ascii", opener=partial(os.open, mode=0o600)) as made:
            made.write(f"{_new_token()}\n")
        is_readable_by_others = file.stat().st_mode & stat.S_IROTH
        token = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError as error:
        raise InvalidInput(f"Cannot read the token in {printable(file)}, or make it: {error.strerror}.") from None
    if is_readable_by_others:
        raise InvalidInput(f"Every user can read the token in {printable(file)}: chmod o-r the file.")
    if not _TOKEN.fullmatch(token):
        raise InvalidInput(
            f"{printable(file)} has no valid token: it must be one line of 16 to 200 letters, digits, - or _. "
            "Remove the file to make a new one."
        )
    return token


def require_server() -> None:
    """MissingExtra if the web server is not installed."""
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise MissingExtra.named("dashboard", "The dashboard")


def _run(dashboard: "Dashboard", listener: socket.socket) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Event streams would not end by themselves.
            dashboard.live.end()
            await super().shutdown(sockets)

    config = uvicorn.Config(
        dashboard.app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="critical",
        access_log=False,
        # Anybody can send such headers.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    try:
        Server(config).run([listener])
    except KeyboardInterrupt:
        return


def listening(port: int | None) -> socket.socket:
    """A socket on the port, or on the next free one if none is named."""
    if port is not None:
        return _bound(port)
    for candidate in range(DEFAULT_PORT, DEFAULT_PORT + _N_PORTS):
        with suppress(UsageError):
            return _bound(candidate)
    return _bound(0)


def _bound(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            reason = "already in use" if error.errno == errno.EADDRINUSE else "permission denied"
            raise UsageError(f"Cannot listen on port {port}: {reason}. Choose another --port, or omit it.") from None
        raise Failure(f"Cannot listen on port {port} of {ADDRESS}: {error.strerror}.") from None
