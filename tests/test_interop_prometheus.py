"""A Prometheus server scrapes the dashboard, with the configuration of docs/dashboard.md.

The server is a program taken out of its Debian package. That is not installed, so that no service starts. It listens
on loopback, on a port that the system chooses.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dashboard_client import ended_crawl
from dashboard_program import Program, started
from environments import program_of_debian
from timing import WAIT_S, wait_until

pytestmark = pytest.mark.slow

MANUAL = Path(__file__).resolve().parents[1] / "docs" / "dashboard.md"
#: The same job with a wrong token.
WRONG_JOB = """
  - job_name: intruder
    authorization:
      credentials: wrong
    static_configs:
      - targets: ["{target}"]
"""

Query = Callable[[str], list[dict[str, Any]]]


def configuration(dashboard: Program, token_file: Path) -> str:
    """The one in the manual, with this dashboard's port and token."""
    (block,) = re.findall(r"```yaml\n(scrape_configs:.*?)```", MANUAL.read_text("utf-8"), re.DOTALL)
    assert block.count("127.0.0.1:8787") == block.count("/home/me/scenthound-token") == 1
    target = f"127.0.0.1:{dashboard.port}"
    jobs = block.replace("127.0.0.1:8787", target).replace("/home/me/scenthound-token", str(token_file))
    return f"global:\n  scrape_interval: 1s\n{jobs}{WRONG_JOB.format(target=target)}"


@contextmanager
def prometheus(settings: str, folder: Path) -> Iterator[Query]:
    """Queries of a server that runs within the block."""
    program = shutil.which("prometheus") or program_of_debian("prometheus", "usr/bin/prometheus")
    folder.mkdir()
    (folder / "prometheus.yml").write_text(settings)
    options = {
        "config.file": folder / "prometheus.yml",
        "storage.tsdb.path": folder / "data",
        "web.listen-address": "127.0.0.1:0",
    }
    command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
    log = folder / "log"
    with log.open("w") as file, subprocess.Popen(command, cwd=folder, stdout=file, stderr=file) as server:
        try:
            address = wait_until(lambda: listening_at(log.read_text()), "Prometheus listens", process=server)
            yield lambda query: answer(address, query)
        finally:
            server.kill()


def listening_at(log: str) -> str | None:
    """The address of a server that answers queries."""
    found = re.search(r'msg="Listening on" address=(127\.0\.0\.1:[1-9]\d*)', log)
    return found[1] if found and "ready to receive" in log else None


def answer(address: str, query: str) -> list[dict[str, Any]]:
    with closing(HTTPConnection(address, timeout=WAIT_S)) as connection:
        connection.request("GET", f"/api/v1/query?{urlencode({'query': query})}")
        reply = json.load(connection.getresponse())
    assert reply["status"] == "success"
    found: list[dict[str, Any]] = reply["data"]["result"]
    return found


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "token"


@pytest.fixture
def dashboard(tmp_path: Path, token_file: Path) -> Iterator[Program]:
    crawl = ended_crawl(tmp_path / "balloons")
    with started(crawl, "--token-file", token_file) as program:
        yield program


def test_prometheus_scrapes_every_metric_of_the_dashboard(dashboard: Program, token_file: Path, tmp_path: Path) -> None:
    with dashboard.get("/metrics") as response:
        families = [*text_string_to_metric_families(response.read().decode())]
    expected = {
        (each.name, frozenset(each.labels.items()), each.value) for family in families for each in family.samples
    }
    with prometheus(configuration(dashboard, token_file), tmp_path / "prometheus") as query:
        wait_until(lambda: len(query("up")) == 2 and query("scenthound_pages_total"), "both jobs were scraped")
        up = {sample["metric"]["job"]: float(sample["value"][1]) for sample in query("up")}
        found = query('{__name__=~"scenthound_.*"}')
        shares = query("scenthound_pages_total / scenthound_page_budget")
    assert up == {"scenthound": 1.0, "intruder": 0.0}
    assert {sample["metric"]["job"] for sample in found} == {"scenthound"}
    assert {sample_of(sample) for sample in found} == expected
    assert ("scenthound_pages_total", frozenset({("crawl", "balloons")}), 4.0) in expected
    assert [float(sample["value"][1]) for sample in shares] == [0.4]


def sample_of(sample: dict[str, Any]) -> tuple[str, frozenset[tuple[str, str]], float]:
    """Name, labels and value; without the labels that Prometheus adds."""
    labels = {name: text for name, text in sample["metric"].items() if name not in ("__name__", "job", "instance")}
    return sample["metric"]["__name__"], frozenset(labels.items()), float(sample["value"][1])
