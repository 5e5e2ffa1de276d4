"""The child process of the demo web: imports modules of the standard library and renders them as pydoc does.

It runs as a script that can import only the standard library. It reads module names from standard input, one per line,
and writes one JSON line for each, with `html`, `title` and `imports`, or with `error`. It adds the imports of the
source to pydoc's page, because pydoc lists neither the imports of a package nor modules from which only names are
imported. The output of modules is discarded. Paths are replaced by those of a common installation, so that the same
Python makes the same pages on every machine.
"""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import pydoc
import re
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TextIO

DOMAIN = "test"

#: The memory address of an object, which differs in every run.
_ADDRESS = re.compile(r"(?: |&nbsp;)(?:at(?: |&nbsp;)0x|handle )[0-9a-f]{6,}")
_LINK = re.compile(r'<a href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
_MODULE_PAGE = re.compile(r"([A-Za-z_][\w.]*)\.html(#.*)?")


def demo_url(module: str) -> str:
    """The URL of a module's page: each top-level module or package has its own host, in lower case."""
    return f"http://{module.partition('.')[0].lower()}.{DOMAIN}/{module}.html"


def page_of(module: str) -> dict[str, object]:
    """A module's page, with links to the pages of other modules, and the names of the modules it imports."""
    imported = importlib.import_module(module)
    if imported.__name__ != module:
        return {"error": f"another name of {imported.__name__}"}
    title = pydoc.describe(imported)
    imports = _imports(imported)
    html = pydoc.html.page(title, pydoc.html.document(imported, module))
    html = _common_paths(_ADDRESS.sub("", _LINK.sub(_rewritten_link, html)))
    return {"html": with_links(html, "Imports", imports), "title": f"Python: {title}", "imports": list(imports)}


def with_links(html: str, heading: str, modules: Mapping[str, Sequence[str]]) -> str:
    """A page with one more section in the style of pydoc: linked modules, each with the names imported from it."""
    if not modules:
        return html
    lines = [
        f'<dt><a href="{demo_url(name)}">{name}</a>{": " if names else ""}{", ".join(names)}</dt>'
        for name, names in sorted(modules.items())
    ]
    section = pydoc.html.bigsection(heading, "pkg-content", f"<dl>{''.join(lines)}</dl>")
    return html.replace("</body>", f"{section}</body>")


def _imports(module: ModuleType) -> dict[str, list[str]]:
    """The modules of the library that a module's source imports, each with the names imported from it."""
    try:
        source = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):  # written in C, or frozen without its source
        return {}
    package = module.__package__ or ""
    found: dict[str, list[str]] = {}
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(_own_name(alias.name), [])
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                _add_name(found, origin, alias.name)
    found.pop(module.__name__, None)
    return {name: names for name, names in found.items() if name.partition(".")[0] in sys.stdlib_module_names}


def _add_name(found: dict[str, list[str]], origin: str, name: str) -> None:
    if f"{origin}.{name}" in sys.modules:
        found.setdefault(_own_name(f"{origin}.{name}"), [])
    else:
        names = found.setdefault(_own_name(origin), [])
        names += [name] if name != "*" and name not in names else []


def _own_name(module: str) -> str:
    """The `__name__` of a module: os.path is posixpath."""
    return getattr(sys.modules.get(module), "__name__", module)


def _rewritten_link(link: re.Match[str]) -> str:
    """Links to modules become absolute. Links that leave the demo web (files, the index, manuals) become text, because
    a demo crawl must not send requests to other servers."""
    href, attributes, text = link.groups()
    page = _MODULE_PAGE.fullmatch(href)
    if page:
        return f'<a href="{demo_url(page[1])}{page[2] or ""}"{attributes}>{text}</a>'
    return link[0] if href.startswith("#") else text


def _common_paths(html: str) -> str:
    common = {
        sysconfig.get_path("stdlib"): "/usr/lib/python3",
        os.path.dirname(os.path.abspath(__file__)): "/usr/lib/python3",
        os.path.realpath(os.getcwd()): "/tmp",
        os.path.dirname(os.path.dirname(sys.executable)): "/usr",
        sys.prefix: "/usr",
        sys.base_prefix: "/usr",
    }
    for path in sorted(common, key=len, reverse=True):
        if len(path) > 1:
            html = html.replace(path, common[path])
    return html


def _private_streams() -> tuple[TextIO, TextIO]:
    """The streams from and to the parent, which modules cannot read or write."""
    names, pages = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    return names, pages


def main() -> None:
    names, pages = _private_streams()
    sys.argv = sys.orig_argv = ["pydoc"]
    # Paths that pydoc shortens in the middle could not be replaced.
    pydoc.HTMLDoc._repr_instance.maxother = 500
    for line in names:
        module = line.strip()
        try:
            result: dict[str, object] = page_of(module)
        except BaseException as error:  # noqa: BLE001 - a module may raise anything, SystemExit too
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"module": module, **result}), file=pages, flush=True)


if __name__ == "__main__":
    main()
