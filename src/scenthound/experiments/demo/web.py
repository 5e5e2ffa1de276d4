"""The demo web: the documentation of Python's standard library as pydoc renders it.

Pages are linked by package, inheritance and import. The demo web needs no download, is the same everywhere
for the same Python and platform, and has a host for each top-level module under the reserved domain `.test`.
Modules are imported in a child process, because importing has side effects: a module that fails, hangs or
kills the child is skipped and counted. Ten topics come with it, whose pages were judged by hand.
"""

import json
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from scenthound.experiments.demo import render as demo_render
from scenthound.experiments.demo.render import demo_url
from scenthound.files import write_atomic
from scenthound.model import Progress, Topic, silent
from scenthound.topics.files import read_topics

#: Modules and packages, with all below them, that are left out, and why.
LEFT_OUT = {
    "__hello__": "prints when it is imported",
    "__phello__": "prints when it is imported",
    "_tkinter": "needs Tk, which many installations lack",
    "antigravity": "opens a web browser when it is imported",
    "distutils": "gone from Python 3.12 on, so that the demo web stays alike",
    "idlelib": "an application that needs Tk; a part of it starts when it is imported",
    "lib2to3": "gone from Python 3.13 on, so that the demo web stays alike",
    "test": "Python's own tests, some of which change the process",
    "this": "prints when it is imported",
    "tkinter": "needs Tk, which many installations lack",
    "turtle": "needs Tk, which many installations lack",
    "turtledemo": "needs Tk, which many installations lack",
}
#: Parts of a module's name that leave it out wherever they stand: scripts that run at once, and tests.
LEFT_OUT_PARTS = frozenset({"__main__", "test", "tests"})
MODULE_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class DemoPages:
    """What became of the modules. `skipped` has a reason for each module that gave no page."""

    n_pages: int
    skipped: dict[str, str]


def demo_modules() -> list[str]:
    """The modules that the demo web is made of, sorted by name; none is imported to find out."""
    found = []
    for name in sorted(sys.stdlib_module_names - LEFT_OUT.keys()):
        spec = find_spec(name) if name not in sys.builtin_module_names else None
        if spec is not None or name in sys.builtin_module_names:
            found.append(name)
        if spec is not None and spec.submodule_search_locations:
            found += _submodules(name, list(spec.submodule_search_locations))
    return sorted(name for name in found if not LEFT_OUT_PARTS & set(name.split(".")))


def write_demo_pages(path: Path, progress: Progress = silent, modules: Iterable[str] | None = None) -> DemoPages:
    """Write the demo web as JSON Lines of `url`, `title` and `html`, one page a module, in order of names."""
    names = demo_modules() if modules is None else list(modules)
    rendered: list[_Answer] = []
    skipped: dict[str, str] = {}
    for number, answer in enumerate(_answers(names), 1):
        if answer.error:
            skipped[answer.module] = answer.error
        else:
            rendered.append(answer)
        progress(number / len(names), f"{len(rendered)} pages of the standard library")
    write_atomic(path, _json_lines(rendered).encode("utf-8"))
    return DemoPages(len(rendered), skipped)


def load_demo_topics() -> list[Topic]:
    """The ten topics of the demo web. Their examples are all of its pages that belong to them."""
    with resources.as_file(resources.files("scenthound.experiments.demo") / "demo_topics.toml") as file:
        return read_topics(file)


def _submodules(package: str, folders: list[str]) -> Iterator[str]:
    for module in pkgutil.iter_modules(folders):
        name = f"{package}.{module.name}"
        yield name
        if module.ispkg:
            yield from _submodules(name, [os.path.join(folder, module.name) for folder in folders])


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the child said of a module: its page, or why there is none."""

    module: str
    html: str = ""
    title: str = ""
    imports: tuple[str, ...] = ()
    error: str = ""


def _json_lines(answers: list[_Answer]) -> str:
    """The pages, each with one more section: who imports the module. Without it the modules that no other one
    needs, which are those that people use, could not be reached."""
    importers: dict[str, dict[str, tuple[str, ...]]] = {}
    for answer in answers:
        for imported in answer.imports:
            importers.setdefault(imported, {})[answer.module] = ()
    lines = []
    for answer in answers:
        html = demo_render.with_links(answer.html, "Imported by", importers.get(answer.module, {}))
        lines.append(json.dumps({"url": demo_url(answer.module), "title": answer.title, "html": html}) + "\n")
    return "".join(lines)


def _answers(modules: list[str]) -> Iterator[_Answer]:
    """The child's answers in order. A child that died is replaced for the modules after it."""
    child: _Child | None = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            for module in modules:
                child = child or _Child(folder)
                answer = child.render(module, MODULE_TIMEOUT_S)
                if answer is None:
                    child.stop()
                    child = None
                yield answer or _Answer(module, error=f"no answer in {MODULE_TIMEOUT_S:g} s, or the child died")
        finally:
            if child is not None:
                child.stop()


class _Child:
    """A process that renders modules until one of them ends it."""

    def __init__(self, folder: str) -> None:
        # No site-packages (-S, -s) and no current folder (-P): only the standard library is to be found.
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-s", "-P", "-W", "ignore", demo_render.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=_bare_environment(),
            encoding="utf-8",
        )

    def render(self, module: str, timeout_s: float) -> _Answer | None:
        """The child's answer; None if it was too slow or died, and then it is of no more use."""
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
        # A line that was cut by the kill is no answer either.
        return _Answer(**json.loads(line)) if line.endswith("\n") else None

    def stop(self) -> None:
        self._process.kill()
        # communicate() closes the pipes as well, and does not mind one that broke.
        self._process.communicate()


def _bare_environment() -> dict[str, str]:
    """Pages show the environment (os.environ is documented data), so it holds nothing of the user's.

    The hash seed is fixed because pages show sets."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    return {"PATH": os.defpath, "HOME": "/", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", **kept}
