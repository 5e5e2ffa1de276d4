"""The installed plug-ins, with the packages that they come from.

Each plug-in is imported, and constructed with its defaults. One that cannot be used is listed with its problem, and
never keeps others from being listed. What plug-ins print meanwhile goes to standard error.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint
from typing import Any
from urllib.parse import unquote, urlsplit

from scenthound.errors import ScenthoundError, UnknownName
from scenthound.metrics.base import METRICS
from scenthound.registry import Registry
from scenthound.relevance.base import RELEVANCE
from scenthound.strategies.base import STRATEGIES

#: By the last part of their entry-point groups, in the singular.
REGISTRIES: dict[str, Registry[Any]] = {"strategy": STRATEGIES, "metric": METRICS, "relevance": RELEVANCE}
OWN_PACKAGE = "scenthound"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """One entry point. `origin` is "built in", or where its package was installed from: the folder of an editable
    install, the URL or path of an archive or repository, or else the folder where it is."""

    kind: str
    name: str
    package: str
    version: str
    origin: str
    entry_point: str  #: module:class
    summary: str
    problem: str  #: why it cannot be used; empty if it can

    @property
    def is_built_in(self) -> bool:
        return self.package == OWN_PACKAGE


def installed_plugins(kind: str | None = None) -> list[InstalledPlugin]:
    """The plug-ins of all kinds, or of one. Those of other packages come first."""
    if kind is not None and kind not in REGISTRIES:
        raise UnknownName.among("kind of plug-in", kind, REGISTRIES)
    kinds = REGISTRIES if kind is None else [kind]
    rows = [row for each in kinds for row in _plugins_of(each)]
    return sorted(rows, key=lambda row: row.is_built_in)


def _plugins_of(kind: str) -> Iterator[InstalledPlugin]:
    registry = REGISTRIES[kind]
    for name, points in sorted(registry.installed().items()):
        summary, problem = _state(registry, name)
        for point in points:
            package, version = _package(point.dist)
            yield InstalledPlugin(kind, name, package, version, _origin(point, package), point.value, summary, problem)


def _state(registry: Registry[Any], name: str) -> tuple[str, str]:
    """The summary of a plug-in, and why it cannot be used."""
    with redirect_stdout(sys.stderr):
        try:
            registry.check(name)
            return registry.summary(name), ""
        except ScenthoundError as error:
            return "", error.message


def _package(distribution: Distribution | None) -> tuple[str, str]:
    """Name and version, which a damaged installation may not have."""
    try:
        about: Any = distribution and distribution.metadata
        return about["Name"] or UNKNOWN, about["Version"] or UNKNOWN
    except Exception:  # noqa: BLE001 - importlib.metadata raises whatever reading the damaged files raises
        return UNKNOWN, UNKNOWN


def _origin(point: EntryPoint, package: str) -> str:
    if package == OWN_PACKAGE:
        return "built in"
    return UNKNOWN if point.dist is None else _source(point.dist) or f"installed in {point.dist.locate_file('')}"


def _source(distribution: Distribution) -> str:
    """What the installer recorded of the source of a package (`direct_url.json`); nothing if it came from an index."""
    try:
        recorded = json.loads(distribution.read_text("direct_url.json") or "{}")
        source = urlsplit(recorded["url"])
        if source.scheme == "file":
            is_editable = recorded.get("dir_info", {}).get("editable", False)
            return f"editable: {unquote(source.path)}" if is_editable else f"copied from {unquote(source.path)}"
        address = source._replace(netloc=source.netloc.rpartition("@")[2]).geturl()
        repository = recorded.get("vcs_info")
        return f"{repository['vcs']}+{address}@{repository['commit_id']}" if repository else address
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""
