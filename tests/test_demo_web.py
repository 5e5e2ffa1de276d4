"""The demo web: pages of the standard library, whatever its modules do when they are imported, and its server."""

import http.client
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import InvalidInput
from scenthound.experiments.demo import web as demo_web
from scenthound.experiments.demo.render import demo_url
from scenthound.experiments.demo.web import (
    LEFT_OUT,
    DemoPages,
    DemoServer,
    at_demo_port,
    demo_modules,
    load_demo_topics,
    write_demo_pages,
)
from scenthound.model import Topic
from scenthound.web.urls import canonical, host_of
from timing import WAIT_S

SOME = ["email.message", "email.mime.text", "gzip", "json", "json.decoder", "os", "zlib"]


def pages_in(file: Path) -> dict[str, dict[str, str]]:
    pages = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {page["url"]: page for page in pages}


def links(html: str) -> list[str]:
    return [href for href in re.findall(r'<a href="([^"]*)"', html) if not href.startswith("#")]


def module_of(url: str) -> str:
    return url.rpartition("/")[2].removesuffix(".html")


@pytest.fixture(scope="module")
def some_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "pages.jsonl"
    assert write_demo_pages(file, modules=SOME) == DemoPages(len(SOME), {})
    return file


def test_each_top_level_module_has_its_own_host() -> None:
    assert demo_url("json.decoder") == "http://json.test/json.decoder.html"
    assert demo_url("socket") == "http://socket.test/socket.html"


def test_every_url_is_canonical() -> None:
    assert demo_url("cProfile") == "http://cprofile.test/cProfile.html"
    assert [demo_url(module) for module in demo_modules()] == [canonical(demo_url(module)) for module in demo_modules()]


def test_pages_are_in_the_order_of_modules_and_have_titles(some_pages: Path) -> None:
    pages = pages_in(some_pages)
    assert list(pages) == [demo_url(module) for module in SOME]
    assert pages[demo_url("json")]["title"] == "Python: package json"
    assert "JSON" in pages[demo_url("json")]["html"]


def test_pages_link_by_package_inheritance_and_import_in_both_directions(some_pages: Path) -> None:
    pages = pages_in(some_pages)
    assert demo_url("json.decoder") in links(pages[demo_url("json")]["html"])  # what the package holds
    base = f"{demo_url('email.mime.nonmultipart')}#MIMENonMultipart"
    assert base in links(pages[demo_url("email.mime.text")]["html"])
    assert demo_url("zlib") in links(pages[demo_url("gzip")]["html"])
    assert demo_url("gzip") in links(pages[demo_url("zlib")]["html"])
    assert demo_url("posixpath") in links(pages[demo_url("os")]["html"])  # os.path by its own name


def test_no_link_leaves_the_demo_web(some_pages: Path) -> None:
    for page in pages_in(some_pages).values():
        assert links(page["html"])
        assert all(re.match(r"http://\w+\.test/[\w.]+\.html", link) for link in links(page["html"]))


def test_pages_contain_nothing_about_the_machine_or_its_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENTHOUND_SECRET", "not-for-print")
    file = tmp_path / "pages.jsonl"
    write_demo_pages(file, modules=["os", "sys"])
    text = file.read_text(encoding="utf-8")
    assert "not-for-print" not in text
    assert str(tmp_path.parent) not in text
    for folder in {sys.prefix, sys.base_prefix} - {"/usr"}:
        assert folder not in text


def test_the_same_modules_make_the_same_bytes(some_pages: Path, tmp_path: Path) -> None:
    write_demo_pages(tmp_path / "again.jsonl", modules=SOME)
    assert (tmp_path / "again.jsonl").read_bytes() == some_pages.read_bytes()


def test_a_module_that_fails_is_skipped_with_its_reason(tmp_path: Path) -> None:
    pages = write_demo_pages(tmp_path / "pages.jsonl", modules=["no_such_module", "os.path", "keyword"])
    assert pages.n_pages == 1
    assert len(pages.skipped) == 2
    assert pages.skipped["no_such_module"].startswith("ModuleNotFoundError")
    assert pages.skipped["os.path"] == f"another name of {'ntpath' if sys.platform == 'win32' else 'posixpath'}"


HOSTILE = {
    "hangs": "import time\ntime.sleep(600)\n",
    "kills": "import os\nos.kill(os.getpid(), 9)\n",
    "leaves": "raise SystemExit(3)\n",
    "prints": "import os, sys\nprint('{}')\nos.write(1, b'noise')\nsys.stdin.read()\n",
}


def test_modules_that_hang_kill_exit_or_print_do_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, source in HOSTILE.items():
        (tmp_path / f"{name}.py").write_text(source)
    bare = demo_web._bare_environment()
    monkeypatch.setattr(demo_web, "_bare_environment", lambda: {**bare, "PYTHONPATH": str(tmp_path)})
    render = demo_web._Child.render

    def impatient(child: demo_web._Child, module: str, timeout_s: float) -> Any:
        return render(child, module, 0.5 if module == "hangs" else WAIT_S)

    monkeypatch.setattr(demo_web._Child, "render", impatient)
    names = ["hangs", "keyword", "kills", "leaves", "prints", "token"]
    pages = write_demo_pages(tmp_path / "pages.jsonl", modules=names)
    assert [module_of(url) for url in pages_in(tmp_path / "pages.jsonl")] == ["keyword", "prints", "token"]
    assert set(pages.skipped) == {"hangs", "kills", "leaves"}
    assert "child died" in pages.skipped["kills"]
    assert pages.skipped["leaves"] == "SystemExit: 3"


def test_progress_is_reported_for_each_module(tmp_path: Path) -> None:
    shares: list[float] = []
    write_demo_pages(tmp_path / "p.jsonl", lambda share, _words: shares.append(share), ["keyword", "token"])
    assert shares == [0.5, 1.0]


def test_a_missing_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        write_demo_pages(tmp_path / "nowhere" / "pages.jsonl", modules=["keyword"])


def test_about_six_hundred_modules_are_used_without_those_that_must_not_be_imported() -> None:
    modules = demo_modules()
    assert 450 < len(modules) < 700
    assert modules == sorted(set(modules))
    assert {"json.decoder", "sys", "xml.etree.ElementTree"} <= set(modules)
    assert not {module.partition(".")[0] for module in modules} & LEFT_OUT.keys()
    assert not any({"__main__", "tests", "test"} & set(module.split(".")) for module in modules)


def test_the_ten_topics_name_pages_of_the_demo_web() -> None:
    topics = load_demo_topics()
    assert len(topics) == 10
    pages = {demo_url(module) for module in demo_modules()}
    for topic in topics:
        assert 12 <= len(topic.examples) <= 40
        assert len(set(topic.examples)) == len(topic.examples)
        assert len(topic.description.split()) >= 30
        missing = set(topic.examples) - pages
        # Later Pythons have dropped some modules.
        assert not missing if sys.version_info < (3, 12) else len(missing) <= 5


# The server

MODULES = ["json", "json.decoder", "re", "__future__"]


@pytest.fixture(scope="module")
def served_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "pages.jsonl"
    assert write_demo_pages(file, modules=MODULES).n_pages == len(MODULES)
    return file


@pytest.fixture
def server(served_pages: Path) -> Iterator[DemoServer]:
    with DemoServer(served_pages) as running:
        yield running


def urls_of(server: DemoServer) -> list[str]:
    return [server.url(url) for url in server.pages]


def fetch(server: DemoServer, url: str) -> tuple[int, str]:
    """Fetch like a crawler: connect to the address of the host, and send its name."""
    connection = http.client.HTTPConnection(server.hosts[host_of(url)], server.port, timeout=WAIT_S)
    authority, _, path = url.removeprefix("http://").partition("/")
    connection.request("GET", f"/{path}", headers={"Host": authority})
    response = connection.getresponse()
    result = response.status, response.read().decode()
    connection.close()
    return result


def test_every_host_has_its_own_address_in_the_order_of_names(server: DemoServer) -> None:
    # json and json.decoder share a host.
    assert server.hosts == {"__future__.test": "127.99.0.1", "json.test": "127.99.0.2", "re.test": "127.99.0.3"}


def test_every_page_is_served_at_the_port(server: DemoServer) -> None:
    assert len(server.pages) == len(MODULES)
    for url in urls_of(server):
        assert f":{server.port}/" in url
        assert url == canonical(url)
        assert fetch(server, url)[0] == 200


def test_only_the_port_of_links_is_changed(server: DemoServer, served_pages: Path) -> None:
    html = {record["url"]: record["html"] for record in map(json.loads, served_pages.read_text("utf-8").splitlines())}
    page = f"http://json.test:{server.port}/json.html"
    status, served = fetch(server, page)
    assert status == 200
    links = re.findall(r'href="(http://[^"]*)"', served)
    assert f"http://json.test:{server.port}/json.decoder.html" in links
    assert all(re.match(rf"http://[a-z0-9_]+\.test:{server.port}/", link) for link in links)
    assert served.replace(f":{server.port}", "") == html[demo_url("json")]


def test_a_url_in_the_text_of_a_page_is_not_changed(tmp_path: Path) -> None:
    html = '<p>See http://re.test/ or <a href="http://re.test">here</a>, <a href="http://re.test.org/">not there</a>'
    file = tmp_path / "pages.jsonl"
    file.write_text(json.dumps({"url": "http://re.test/re.html", "html": html}) + "\n")
    with DemoServer(file) as server:
        _, served = fetch(server, urls_of(server)[0])
    assert served == html.replace('href="http://re.test"', f'href="http://re.test:{server.port}"')


def test_missing_pages_and_robots_txt_are_404_and_counted(server: DemoServer) -> None:
    assert fetch(server, f"http://re.test:{server.port}/none.html")[0] == 404
    assert fetch(server, f"http://re.test:{server.port}/robots.txt")[0] == 404
    assert server.requests.total() == 2


def test_the_urls_of_a_topic_are_those_of_the_served_pages(server: DemoServer) -> None:
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
    assert {*served.examples, *served.seeds, *served.targets, *served.description_from} <= set(urls_of(server))
    assert (served.id, served.keywords) == (topic.id, topic.keywords)


def test_the_urls_of_topics_stay_canonical() -> None:
    for port in (80, 8080):
        for topic in load_demo_topics():
            examples = at_demo_port(topic, port).examples
            assert len(examples) == len(topic.examples)
            assert all(url == canonical(url) for url in examples)


def test_without_further_loopback_addresses_all_hosts_share_one(
    served_pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_web, "_is_usable", lambda address: False)
    with DemoServer(served_pages) as server:
        assert set(server.hosts.values()) == {"127.0.0.1"}
        assert all(fetch(server, url)[0] == 200 for url in urls_of(server))


@pytest.mark.parametrize("content", [None, "no JSON\n", '{"url": "http://re.test/"}\n', "[]\n"])
def test_an_invalid_file_is_rejected_in_one_line(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "pages.jsonl"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidInput, match=r"pages\.jsonl") as raised:
        DemoServer(file)
    assert "\n" not in str(raised.value)
