"""A new package for a strategy, made from the files in `strategy_template`.

In these files `$name` is the name of the strategy, `$class_name` that of its class, `$package` the Python package,
`$project` the project, and `$version` the version of Scenthound that is installed.
"""

import builtins
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain, count
from keyword import iskeyword
from pathlib import Path
from string import Template

from scenthound.errors import InvalidInput, InvalidParameter, printable
from scenthound.store.folder import new_folder
from scenthound.strategies.base import STRATEGIES

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
#: Names of files have at most 255 bytes.
MAX_NAME_LENGTH = 60
#: If nothing of a name can be used.
ANY_NAME = "my_strategy"
#: By path in the new package.
TEMPLATE_OF = {
    "pyproject.toml": "pyproject.toml.template",
    "README.md": "README.md.template",
    ".gitignore": "gitignore.template",
    "src/$package/__init__.py": "strategy.py.template",
    "src/$package/py.typed": "py.typed.template",
    "tests/test_$name.py": "test_strategy.py.template",
}
#: Names that the files import or define.
USED_NAMES = {"Annotated", "Bounds", "FrontierStrategy", "SyntheticWeb", "Visit"}


@dataclass(frozen=True, slots=True)
class StrategyPackage:
    """The names in a package for one strategy."""

    name: str
    folder: Path

    @property
    def class_name(self) -> str:
        camel = "".join(part.capitalize() for part in self.name.split("_"))
        is_used = camel in USED_NAMES or hasattr(builtins, camel)
        return f"{camel}Strategy" if is_used else camel

    @property
    def package(self) -> str:
        return f"scenthound_{self.name}"

    @property
    def project(self) -> str:
        return f"scenthound-{self.name.replace('_', '-')}"

    def files(self) -> Iterator[tuple[str, str]]:
        """The path and the content of each file."""
        values = {
            "name": self.name,
            "class_name": self.class_name,
            "package": self.package,
            "project": self.project,
            # A local version, after the plus sign, is not valid in a requirement.
            "version": version("scenthound").partition("+")[0],
        }
        folder = files("scenthound.plugins") / "strategy_template"
        for path, template in TEMPLATE_OF.items():
            content = (folder / template).read_text(encoding="utf-8")
            yield Template(path).substitute(values), Template(content).substitute(values)


def make_strategy_package(name: str, out: Path | None = None) -> StrategyPackage:
    """Write a new package, or nothing. Hyphens in the name become underscores."""
    made = _package(name.replace("-", "_"), out)
    _check_name(made, out)
    _check_folder(made, out)
    with new_folder(made.folder) as folder:
        for path, content in made.files():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8")
    return made


def _package(name: str, out: Path | None) -> StrategyPackage:
    return StrategyPackage(name, out or Path(StrategyPackage(name, Path()).project))


def _check_name(made: StrategyPackage, out: Path | None) -> None:
    """InvalidParameter with a name that can be used instead."""
    name = made.name
    if problem := _invalid(name) or _taken(made):
        raise InvalidParameter(f"{printable(problem, 300)}: choose another name, such as {_free_name(name, out)}.")


def _invalid(name: str) -> str:
    if iskeyword(name):
        return f"{name!r} is a keyword of Python"
    if len(name) > MAX_NAME_LENGTH:
        return f"{name[:20] + '...'!r} has more than {MAX_NAME_LENGTH} characters"
    if not NAME.fullmatch(name):
        return f"{name!r} is not a valid name (lower-case letters, digits, single underscores)"
    return ""


def _taken(made: StrategyPackage) -> str:
    if made.name in STRATEGIES.names():
        return f"There is a strategy {made.name!r} already"
    if find_spec(made.package) is not None:
        return f"There is a Python package {made.package} already"
    try:
        return f"A package {distribution(made.project).name} is installed already"
    except PackageNotFoundError:
        return ""


def _check_folder(made: StrategyPackage, out: Path | None) -> None:
    if not os.path.lexists(made.folder):
        return
    if out is None:
        advice = f"choose another name, such as {_free_name(made.name, out)}, or another folder with --out"
    else:
        other = next(each for each in _numbered(str(out), "-") if not os.path.lexists(each))
        advice = f"choose another folder with --out, such as {printable(other)}"
    raise InvalidInput(f"{printable(made.folder)} exists already: {advice}.")


def _free_name(name: str, out: Path | None) -> str:
    """The nearest name that is valid and free, and without `out` also that of a new folder."""
    nearest = _nearest_valid(name)
    for each in chain([nearest], _numbered(nearest, "_")):
        made = _package(each, out)
        if not _taken(made) and (out is not None or not os.path.lexists(made.folder)):
            return each
    raise AssertionError("one of all numbers is free")


def _nearest_valid(name: str) -> str:
    """The words of a name: `BestLinks!` is `best_links`."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", letters).lower())
    valid = "_".join(words)[: MAX_NAME_LENGTH - 10].rstrip("_")
    if not valid:
        return ANY_NAME
    if valid[0].isdigit():
        return f"strategy_{valid}"
    return f"{valid}_strategy" if iskeyword(valid) else valid


def _numbered(text: str, sign: str) -> Iterator[str]:
    return (f"{text}{sign}{number}" for number in count(2))
