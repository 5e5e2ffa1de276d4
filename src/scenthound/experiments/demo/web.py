"""The demo web: the documentation of Python's standard library as pydoc renders it, and a server for it.

Pages are linked by package, inheritance and import. The demo web needs no download, is the same everywhere for the same
Python and platform, and has a host for each top-level module under the reserved domain `.test`. Modules are imported in
a child process, because importing has side effects: a module that fails, hangs or kills the child is skipped and
counted. Ten topics come with it, whose pages were labelled by hand.

The server runs on loopback, each host at its own address, in the order of their names, so that the same demo web has
the same addresses in every run. If the system has only one loopback address, all hosts share it. The pages name no
port: their links are changed to the port of the server when they are served, and `at_demo_port` does the same for the
URLs of a topic.
"""

import json
import os
import pkgutil
import re
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import orjson

from scenthound.errors import InvalidInput, printable
from scenthound.experiments.demo import render as demo_render
from scenthound.experiments.demo.render import demo_url
from scenthound.files import write_atomic
from scenthound.model import Progress, Topic, silent, with_pages
from scenthound.topics.files import read_topics
from scenthound.web.static_server import LOOPBACK, StaticPage, StaticServer, at_port
from scenthound.web.urls import host_of

#: Modules and packages, with all below them, that are left out, and why.
LEFT_OUT = {
    "__hello__": "prints when it is imported",
    "__phello__": "prints when it is imported",
    "_tkinter": "needs Tk, which many installations lack",
    "antigravity": "opens a web browser when it is imported",
    "distutils": "removed in Python 3.12, so that the demo web stays the same",
    "idlelib": "an application that needs Tk; a part of it starts when it is imported",
    "lib2to3": "removed in Python 3.13, so that the demo web stays the same",
    "test": "Python's own tests, some of which change the process",
    "this": "prints when it is imported",
    "tkinter": "needs Tk, which many installations lack",
    "turtle": "needs Tk, which many installations lack",
    "turtledemo": "needs Tk, which many installations lack",
}
#: Modules with one of these parts in their name are left out too: scripts that run at once, and tests.
LEFT_OUT_PARTS = frozenset({"__main__", "test", "tests"})
MODULE_TIMEOUT_S = 20.0

#: The hosts' addresses start at 127.99.0.1, a part of the loopback network that others do not use.
_FIRST_ADDRESS = (127 << 24) + (99 << 16) + 1
_LINK = re.compile(rb'(href="http://[a-z0-9_.-]+\.test)(?=[/"])')


@dataclass(frozen=True, slots=True)
class DemoPages:
    """The number of pages, and the reason for each module that was skipped."""

    n_pages: int
    skipped: dict[str, str]


def demo_modules() -> list[str]:
    """The modules of the demo web, sorted by name; none is imported to find out."""
    found = []
    for name in sorted(sys.stdlib_module_names - LEFT_OUT.keys()):
        spec = find_spec(name) if name not in sys.builtin_module_names else None
        if spec is not None or name in sys.builtin_module_names:
            found.append(name)
        if spec is not None and spec.submodule_search_locations:
            found += _submodules(name, list(spec.submodule_search_locations))
    return sorted(name for name in found if not LEFT_OUT_PARTS & set(name.split(".")))


def _submodules(package: str, folders: list[str]) -> Iterator[str]:
    for module in pkgutil.iter_modules(folders):
        name = f"{package}.{module.name}"
        yield name
        if module.ispkg:
            yield from _submodules(name, [os.path.join(folder, module.name) for folder in folders])


def write_demo_pages(path: Path, progress: Progress = silent, modules: Iterable[str] | None = None) -> DemoPages:
    """Write the demo web as JSON Lines of `url`, `title` and `html`, one page per module, in order of names."""
    names = demo_modules() if modules is None else list(modules)
    rendered: list[_Rendered] = []
    skipped: dict[str, str] = {}
    for number, result in enumerate(_render(names), 1):
        if result.error:
            skipped[result.module] = result.error
        else:
            rendered.append(result)
        progress(number / len(names), f"{len(rendered)} pages of the standard library")
    write_atomic(path, _json_lines(rendered).encode("utf-8"))
    return DemoPages(len(rendered), skipped)


def load_demo_topics() -> list[Topic]:
    """The ten topics of the demo web. Their examples are all of its pages that belong to them."""
    with resources.as_file(resources.files("scenthound.experiments.demo") / "demo_topics.toml") as file:
        return read_topics(file)


@dataclass(frozen=True, slots=True)
class _Rendered:
    """The page of a module, or the error why there is none."""

    module: str
    html: str = ""
    title: str = ""
    imports: tuple[str, ...] = ()
    error: str = ""


def _json_lines(rendered: list[_Rendered]) -> str:
    """The pages, each with a section that lists the importers of the module. Without it the modules that no other
    module imports, which are those that people use, could not be reached."""
    importers: dict[str, dict[str, tuple[str, ...]]] = {}
    for page in rendered:
        for imported in page.imports:
            importers.setdefault(imported, {})[page.module] = ()
    lines = []
    for page in rendered:
        html = demo_render.with_links(page.html, "Imported by", importers.get(page.module, {}))
        lines.append(json.dumps({"url": demo_url(page.module), "title": page.title, "html": html}) + "\n")
    return "".join(lines)


def _render(modules: list[str]) -> Iterator[_Rendered]:
    """The results of a child process, in order. A child that died is replaced for the modules after it."""
    child: _Child | None = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            for module in modules:
                child = child or _Child(folder)
                result = child.render(module, MODULE_TIMEOUT_S)
                if result is None:
                    child.stop()
                    child = None
                yield result or _Rendered(module, error=f"no result in {MODULE_TIMEOUT_S:g} s, or the child died")
        finally:
            if child is not None:
                child.stop()


class _Child:
    """A process that renders modules until one of them ends it."""

    def __init__(self, folder: str) -> None:
        # No site-packages (-S, -s) and no current folder (-P): only the standard library can be imported.
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-s", "-P", "-W", "ignore", demo_render.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_bare_environment(),
            encoding="utf-8",
        )

    def render(self, module: str, timeout_s: float) -> _Rendered | None:
        """The result for a module; None if the child was too slow or died. It cannot be used again then."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(timeout_s, process.kill)
        watchdog.start()
        try:
            process.stdin.write(f"{module}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watchdog.cancel()
        # The kill may have cut the line.
        return _Rendered(**json.loads(line)) if line.endswith("\n") else None

    def stop(self) -> None:
        self._process.kill()
        # communicate() also closes the pipes, and accepts one that broke.
        self._process.communicate()


def _bare_environment() -> dict[str, str]:
    """Pages show the environment (os.environ is documented data), so it contains nothing of the user's. The hash seed
    is fixed because pages show sets."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    return {"PATH": os.defpath, "HOME": "/", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", **kept}


class DemoServer(StaticServer):
    """Serves the demo web. `hosts` has the address of every host name, for the crawler's resolver."""

    def __init__(self, file: Path, port: int = 0) -> None:
        self.pages = _load(file)
        names = sorted({host_of(url) for url in self.pages})
        self.hosts = dict(zip(names, _addresses(len(names)), strict=True))
        super().__init__(self._served, sorted(set(self.hosts.values())), port)

    def _served(self, host: str, path: str) -> StaticPage | None:
        html = self.pages.get(f"http://{host}{path}")
        return None if html is None else StaticPage(_LINK.sub(rb"\1:%d" % self.port, html))


def at_demo_port(topic: Topic, port: int) -> Topic:
    """A topic of the demo web with the port of the server in all URLs."""
    return with_pages(topic, lambda urls: tuple(at_port(url, port) for url in urls))


def _load(file: Path) -> dict[str, bytes]:
    try:
        records = [orjson.loads(line) for line in file.read_bytes().splitlines()]
        return {record["url"]: record["html"].encode() for record in records}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            f"Cannot read the demo web from {printable(file)} ({printable(error)}): write it there again."
        ) from None


def _addresses(n_hosts: int) -> list[str]:
    numbers = range(_FIRST_ADDRESS, _FIRST_ADDRESS + n_hosts)
    addresses = [socket.inet_ntoa(number.to_bytes(4, "big")) for number in numbers]
    return addresses if _is_usable(addresses[0]) else [LOOPBACK] * n_hosts


def _is_usable(address: str) -> bool:
    with closing(socket.socket()) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
    return True
