"""HTTP/2 over TLS, against nginx where it is installed."""

import asyncio
import grp
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator

import pytest

from fetching import PATIENT, fetched
from hostile_cases import PAGE
from hostile_certificates import has_openssl, make_certificates
from scenthound.web.curl_fetcher import CurlFetcher
from scenthound.web.fetch import NotFetched, Request, Response
from timing import WAIT_S, wait_until

HOST = "hostile.test"
ADDRESS = "127.0.0.1"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
CONFIG = """
daemon off; user {user} {group}; worker_processes 1; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
  access_log off; types {{ text/html html; }} root {folder}/www;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; gzip on; gzip_min_length 10;
  server {{
    listen {address}:{port} ssl http2;
    ssl_certificate {certificate}; ssl_certificate_key {certificate};
  }}
}}
"""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The URL of the server, and the file of its certificate authority."""
    if NGINX is None or not has_openssl():
        pytest.skip("nginx and the openssl command are needed, and one of them is not installed")
    folder = tmp_path_factory.mktemp("nginx")
    certificates = make_certificates(folder, HOST)
    (folder / "www").mkdir()
    (folder / "www" / "page.html").write_bytes(PAGE)
    with socket.socket() as free:
        free.bind((ADDRESS, 0))
        port = free.getsockname()[1]
    # Workers of an nginx started by root would run as another user, who may not read here.
    user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
    settings = {
        "user": user,
        "group": group,
        "folder": folder,
        "address": ADDRESS,
        "port": port,
        "certificate": certificates.good,
    }
    (folder / "nginx.conf").write_text(CONFIG.format(**settings))
    server = subprocess.Popen([NGINX, "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
    wait_until(lambda: _listens(port), "nginx", server)
    yield f"https://{HOST}:{port}", str(certificates.authority)
    server.terminate()
    server.wait(WAIT_S)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((ADDRESS, port)) == 0


def test_pages_are_fetched_over_one_http_2_connection(origin: tuple[str, str]) -> None:
    url, ca_file = origin

    async def fetch_all() -> list[Response | NotFetched]:
        fetcher = CurlFetcher(PATIENT, user_agent="test", allow_private=True, ca_file=ca_file)
        results = [await fetched(fetcher, Request(f"{url}/{path}", (ADDRESS,))) for path in ("page.html", "", "x")]
        fetcher.close()
        return results

    page, folder, missing = asyncio.run(fetch_all())
    assert isinstance(page, Response)
    assert page.head.startswith(b"HTTP/2 200")
    assert (page.content, page.header("content-encoding"), page.address) == (PAGE, "gzip", ADDRESS)
    assert page.body != page.content
    assert isinstance(folder, Response)
    assert isinstance(missing, Response)
    assert (folder.status, missing.status) == (403, 404)


def test_an_unknown_certificate_authority_is_rejected(origin: tuple[str, str]) -> None:
    url, _ = origin

    async def fetch() -> Response | NotFetched:
        fetcher = CurlFetcher(PATIENT, user_agent="test", allow_private=True)
        result = await fetched(fetcher, Request(f"{url}/page.html", (ADDRESS,)))
        fetcher.close()
        return result

    result = asyncio.run(fetch())
    assert isinstance(result, NotFetched)
    assert result.reason == "tls-failed"
