"""The demo web, served: fetched with Python's own HTTP client."""

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenthound.errors import InvalidInput
from scenthound.experiments.demo import server as demo_server
from scenthound.experiments.demo.render import demo_url
from scenthound.experiments.demo.server import DemoServer, at_demo_port
from scenthound.experiments.demo.web import load_demo_topics, write_demo_pages
from scenthound.model import Topic
from scenthound.web.urls import canonical, host_of
from timing import WAIT_S

MODULES = ["json", "json.decoder", "re", "__future__"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "pages.jsonl"
    assert write_demo_pages(file, modules=MODULES).n_pages == len(MODULES)
    return file


@pytest.fixture
def server(pages: Path) -> Iterator[DemoServer]:
    with DemoServer(pages) as running:
        yield running


def fetch(server: DemoServer, url: str) -> tuple[int, str]:
    """Fetch as a crawler does: connect to the address of the host, and name the host."""
    connection = http.client.HTTPConnection(server.hosts[host_of(url)], server.port, timeout=WAIT_S)
    authority, _, path = url.removeprefix("http://").partition("/")
    connection.request("GET", f"/{path}", headers={"Host": authority})
    response = connection.getresponse()
    answer = response.status, response.read().decode()
    connection.close()
    return answer


def test_every_host_has_an_address_of_its_own_in_order_of_names(server: DemoServer) -> None:
    # json and json.decoder share a host.
    assert server.hosts == {"__future__.test": "127.99.0.1", "json.test": "127.99.0.2", "re.test": "127.99.0.3"}


def test_every_page_is_served_at_the_port(server: DemoServer) -> None:
    assert len(server.urls) == len(MODULES)
    for url in server.urls:
        assert f":{server.port}/" in url
        assert url == canonical(url)
        assert fetch(server, url)[0] == 200


def test_links_lead_to_the_port_and_nothing_else_of_the_page_changes(server: DemoServer, pages: Path) -> None:
    html = {record["url"]: record["html"] for record in map(json.loads, pages.read_text("utf-8").splitlines())}
    page = f"http://json.test:{server.port}/json.html"
    status, served = fetch(server, page)
    assert status == 200
    links = re.findall(r'href="(http://[^"]*)"', served)
    assert f"http://json.test:{server.port}/json.decoder.html" in links
    assert all(re.match(rf"http://[a-z0-9_]+\.test:{server.port}/", link) for link in links)
    assert served.replace(f":{server.port}", "") == html[demo_url("json")]


def test_a_link_in_the_text_of_a_page_is_left_alone(tmp_path: Path) -> None:
    html = '<p>See http://re.test/ or <a href="http://re.test">here</a>, <a href="http://re.test.org/">not there</a>'
    file = tmp_path / "pages.jsonl"
    file.write_text(json.dumps({"url": "http://re.test/re.html", "html": html}) + "\n")
    with DemoServer(file) as server:
        _, served = fetch(server, server.urls[0])
    assert served == html.replace('href="http://re.test"', f'href="http://re.test:{server.port}"')


def test_a_page_that_is_not_there_and_robots_txt_are_404_and_counted(server: DemoServer) -> None:
    assert fetch(server, f"http://re.test:{server.port}/none.html")[0] == 404
    assert fetch(server, f"http://re.test:{server.port}/robots.txt")[0] == 404
    assert server.n_requests == 2


def test_the_pages_of_a_topic_are_named_as_they_are_served(server: DemoServer) -> None:
    topic = Topic(
        "parsing",
        ("parse",),
        examples=(demo_url("json.decoder"), demo_url("re")),
        seeds=(demo_url("re"),),
        targets=(demo_url("json"),),
        description_from=(demo_url("__future__"),),
    )
    served = at_demo_port(topic, server.port)
    assert served.examples == (
        f"http://json.test:{server.port}/json.decoder.html",
        f"http://re.test:{server.port}/re.html",
    )
    assert {*served.examples, *served.seeds, *served.targets, *served.description_from} <= set(server.urls)
    assert (served.id, served.keywords) == (topic.id, topic.keywords)


def test_the_topics_of_the_demo_stay_in_canonical_form() -> None:
    for port in (80, 8080):
        for topic in load_demo_topics():
            examples = at_demo_port(topic, port).examples
            assert len(examples) == len(topic.examples)
            assert all(url == canonical(url) for url in examples)


def test_without_further_loopback_addresses_all_hosts_share_one(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_server, "_is_own", lambda address: False)
    with DemoServer(pages) as server:
        assert set(server.hosts.values()) == {"127.0.0.1"}
        assert all(fetch(server, url)[0] == 200 for url in server.urls)


@pytest.mark.parametrize("content", [None, "no JSON\n", '{"url": "http://re.test/"}\n', "[]\n"])
def test_a_file_that_is_no_demo_web_is_told_in_one_line(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "pages.jsonl"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidInput, match=r"Cannot read the demo web from .*: write it there again") as told:
        DemoServer(file)
    assert "\n" not in str(told.value)
