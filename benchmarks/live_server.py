"""Serves a site in a separate process: with nginx if installed, else with the project's static server.

Rules
- Loopback addresses only, one listening socket per host of the site.
- One nginx worker, persistent connections, no access log, no compression.
- `python -m benchmarks.live_server FOLDER PORT` runs the static server until its standard input is closed.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from benchmarks.live_site import Site
from scenthound.errors import Failure
from scenthound.web.static_server import PageOf, StaticPage, StaticServer, content_type

START_TIMEOUT_S = 20.0
_CONFIGURATION = """
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 8192; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    keepalive_timeout 120s;
    open_file_cache max=4096;
    default_type application/octet-stream;
    types {{ text/html html htm; text/plain txt; application/xml xml; }}
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    charset utf-8;
    server {{
{listen}
        root {site}/$server_addr;
    }}
}}
"""


def server_name() -> str:
    """The name and version of the server that is used."""
    nginx = _nginx()
    if nginx is None:
        return "the static server (no nginx found)"
    return subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True).stderr.split()[-1]


@contextmanager
def serving(site: Site) -> Iterator[None]:
    """Serve the site until the end of the block."""
    nginx = _nginx()
    _check_port(site)
    with tempfile.TemporaryDirectory(prefix="scenthound-live-server-") as folder:
        command = _static_command(site) if nginx is None else _nginx_command(nginx, site, Path(folder))
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        try:
            _wait_for(site, process)
            yield
        finally:
            process.terminate()
            process.communicate()


def _nginx() -> str | None:
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin")


def _nginx_command(nginx: str, site: Site, folder: Path) -> list[str]:
    listen = "\n".join(f"        listen {host}:{site.port};" for host in site.hosts)
    # By default nginx, started by root, changes to a user that cannot read the folders of root.
    user = "user root;" if os.geteuid() == 0 else ""
    file = folder / "nginx.conf"
    file.write_text(_CONFIGURATION.format(folder=folder, site=site.folder, listen=listen, user=user))
    return [nginx, "-p", str(folder), "-c", str(file), "-e", str(folder / "error.log")]


def _static_command(site: Site) -> list[str]:
    return [sys.executable, "-m", "benchmarks.live_server", str(site.folder), str(site.port)]


def _check_port(site: Site) -> None:
    """Another server on the port would be crawled instead."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((site.hosts[-1], site.port))
        except OSError as reason:
            raise Failure(f"Port {site.port} cannot be used: {reason.strerror}. Choose another with --port.") from None


def _wait_for(site: Site, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline_s:
        try:
            socket.create_connection((site.hosts[-1], site.port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise Failure(f"The web server did not start on port {site.port}. Choose another port with --port.")


def folder_pages(folder: Path) -> PageOf:
    """The files `FOLDER/host/path`, read on request; `index.html` for paths that end with a slash. Files outside the
    folder are not served."""
    root = folder.resolve()

    def page_of(host: str, path: str) -> StaticPage | None:
        path = path.partition("?")[0]
        name = f"{host}{path}index.html" if path.endswith("/") else f"{host}{path}"
        if "\0" in name:
            return None
        file = (root / name.lstrip("/")).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            return None
        return StaticPage(file.read_bytes(), content_type=content_type(file.name))

    return page_of


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A line of the log. The URL includes the port."""

    time_s: float
    url: str


def read_request_log(file: Path) -> list[LoggedRequest]:
    """All requests so far, in order."""
    lines = (line.split(" ", 1) for line in file.read_text("latin-1").splitlines())
    return [LoggedRequest(float(time_s), url) for time_s, url in lines]


def main() -> None:
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    hosts = sorted(host.name for host in folder.iterdir())
    page_of = folder_pages(folder)
    # Like nginx: the name of a file is the decoded path.
    with StaticServer(lambda host, path: page_of(host, unquote(path)), hosts, port):
        sys.stdin.read()


if __name__ == "__main__":
    main()
