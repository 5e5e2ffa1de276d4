"""Digests of what decides a crawl beside its settings: code, plug-ins, libraries, folders of pages.

They change with every version that may crawl otherwise.
"""

import hashlib
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

#: The rooms whose code decides in which order pages are visited.
DECIDING_ROOMS = ("drivers", "frontier", "registry", "relevance", "strategies", "store", "text", "web")
#: Not even if it stands in one of them: what judges crawls afterwards.
JUDGES = "judging"
#: The libraries that guides are made with, or that cut words.
DECIDING_LIBRARIES = ("numpy", "scipy", "scikit-learn", "PyStemmer")


@cache
def code_digest(further_rooms: tuple[str, ...] = ()) -> str:
    """Of all code that decides a trace, and of that in further rooms."""
    digest = hashlib.sha256(" ".join(map(_version, DECIDING_LIBRARIES)).encode())
    for room in (*DECIDING_ROOMS, *further_rooms):
        for file in _sources(files("scenthound").joinpath(room)):
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"


def _sources(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != JUDGES:
            found += _sources(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found


def plug_in_digest(made: object) -> str:
    """Of the whole package that an object's class came from; empty for what is part of Scenthound."""
    package = type(made).__module__.partition(".")[0]
    return "" if package == "scenthound" else _package_digest(package)


@cache
def _package_digest(package: str) -> str:
    root = import_module(package)
    if hasattr(root, "__path__"):
        sources = [file for folder in root.__path__ for file in sorted(Path(folder).rglob("*.py"))]
    else:
        sources = [Path(str(root.__file__))]
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


def folder_digest(folder: Path) -> str:
    """Of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(folder)).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
