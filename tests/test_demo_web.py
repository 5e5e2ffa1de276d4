"""The demo web: pages of the standard library, whatever its modules do when they are imported."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from scenthound.errors import InvalidInput
from scenthound.experiments.demo import web as demo_web
from scenthound.experiments.demo.render import demo_url
from scenthound.experiments.demo.web import LEFT_OUT, DemoPages, demo_modules, load_demo_topics, write_demo_pages
from scenthound.web.urls import canonical
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


def test_each_top_level_module_is_a_host_of_its_own() -> None:
    assert demo_url("json.decoder") == "http://json.test/json.decoder.html"
    assert demo_url("socket") == "http://socket.test/socket.html"


def test_every_address_is_in_its_canonical_form() -> None:
    assert demo_url("cProfile") == "http://cprofile.test/cProfile.html"
    assert [demo_url(module) for module in demo_modules()] == [canonical(demo_url(module)) for module in demo_modules()]


def test_pages_come_in_the_order_of_the_modules_with_their_titles(some_pages: Path) -> None:
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


def test_pages_tell_nothing_of_the_machine_or_its_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_progress_goes_up_to_the_end(tmp_path: Path) -> None:
    shares: list[float] = []
    write_demo_pages(tmp_path / "p.jsonl", lambda share, _words: shares.append(share), ["keyword", "token"])
    assert shares == [0.5, 1.0]


def test_a_folder_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_demo_pages(tmp_path / "nowhere" / "pages.jsonl", modules=["keyword"])


def test_the_modules_are_about_six_hundred_and_leave_out_what_must_not_be_imported() -> None:
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
