"""The dashboard over HTTP: all JSON that can be read, and requests that are refused."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import scenthound as sh
from goldens import Golden
from net_site import free_port

START_S = 120.0


@dataclass(frozen=True)
class Dashboard:
    port: int
    token: str

    def request(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=START_S)
        known = {"Authorization": f"Bearer {self.token}", "Connection": "close"}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {name: value for name, value in {**known, **given}.items() if value})
        with connection.getresponse() as response:
            return response.status, response.read().decode()


@pytest.fixture(scope="module")
def dashboard(
    old_folders: Callable[[str, Path], Path], run: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Dashboard]:
    folder, port = tmp_path_factory.mktemp("dashboard"), free_port()
    for name in ("finished", "killed"):
        old_folders(name, folder)
    command = [sys.executable, "-m", "scenthound", "dashboard", str(folder), str(run), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            token = re.search(r"token=(\S+)", process.stdout.readline())
            assert token is not None
            yield Dashboard(port, token[1])
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def url(old_folders: Callable[[str, Path], Path], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page that was visited."""
    return str(sh.open_crawl(old_folders("finished", tmp_path_factory.mktemp("read"))).pages[9].url)


READ = {
    "folders": "/api/folders",
    "columns": "/api/columns",
    "run": "/api/experiments/run",
    "two crawls": "/api/compare?crawl=finished&crawl=killed",
    "crawl": "/api/crawls/finished",
    "killed crawl": "/api/crawls/killed",
    "curves": "/api/crawls/finished/curves",
    "pages": "/api/crawls/finished/pages?limit=5",
    "best pages": "/api/crawls/finished/pages?order=best&from=2&limit=3",
    "host": "/api/crawls/finished/pages?host=town.test&limit=3",
    "page": "/api/crawls/finished/pages/9",
    "explain": "/api/crawls/finished/explain?url=URL",
    "skipped": "/api/crawls/finished/skipped?limit=4",
    "hosts": "/api/crawls/finished/hosts",
    "graph": "/api/crawls/finished/graph",
    "labels": "/api/crawls/finished/labels",
}


@pytest.mark.parametrize("name", READ)
def test_read(name: str, dashboard: Dashboard, url: str, timeless: Callable[[str], Any], golden: Golden) -> None:
    status, text = dashboard.request(READ[name].replace("URL", quote(url, safe="")))
    assert status == 200
    # The folders are in a temporary folder.
    golden.json(timeless(re.sub(r'/[^"\s]*/((dashboard|net)\d+)/', "FOLDER/", text)))


def test_operations(dashboard: Dashboard, golden: Golden) -> None:
    status, text = dashboard.request("/api/openapi.json")
    assert status == 200
    paths = json.loads(text)["paths"]
    golden.json(sorted(f"{method} {path}" for path, operations in paths.items() for method in operations))


def test_metrics_for_prometheus(dashboard: Dashboard, golden: Golden) -> None:
    status, text = dashboard.request("/metrics")
    assert status == 200
    names = sorted({line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")})
    values = [line for line in text.splitlines() if re.match(r"scenthound_pages\w*\{", line)]
    golden.json({"names": names, "pages": sorted(values)})


def test_refused(dashboard: Dashboard, golden: Golden) -> None:
    stop, own = "/api/crawls/finished/stop", f"http://127.0.0.1:{dashboard.port}"
    as_json = {"Content_Type": "application/json"}
    statuses = {
        "no token": dashboard.request("/api/folders", Authorization="")[0],
        "wrong token": dashboard.request("/api/folders", Authorization="Bearer wrong")[0],
        "page without token": dashboard.request("/", Authorization="")[0],
        "metrics without token": dashboard.request("/metrics", Authorization="")[0],
        "foreign host name": dashboard.request("/api/folders", Host="evil.test")[0],
        "foreign origin": dashboard.request(stop, "POST", "{}", Origin="http://evil.test", **as_json)[0],
        "cross-site": dashboard.request(stop, "POST", "{}", Sec_Fetch_Site="cross-site", **as_json)[0],
        "stop without token": dashboard.request(stop, "POST", "{}", Authorization="", Origin=own, **as_json)[0],
        "stop what does not run": dashboard.request(stop, "POST", "{}", Origin=own, **as_json)[0],
        "not JSON": dashboard.request("/api/crawls/finished/budget", "POST", "pages=5", Origin=own)[0],
        "no number": dashboard.request("/api/crawls/finished/budget", "POST", '{"pages": "x"}', Origin=own, **as_json)[
            0
        ],
        "no such crawl": dashboard.request("/api/crawls/none")[0],
        "no such page": dashboard.request("/api/crawls/finished/pages/4000")[0],
        "no such path": dashboard.request("/api/none")[0],
        "outside": dashboard.request("/api/crawls/..%2F..%2Fetc")[0],
        "wrong order": dashboard.request("/api/crawls/finished/pages?order=colour")[0],
        "other method": dashboard.request("/api/folders", "DELETE")[0],
        "the page": dashboard.request("/")[0],
        "a report that was not written": dashboard.request("/report/finished")[0],
    }
    golden.json(statuses)
