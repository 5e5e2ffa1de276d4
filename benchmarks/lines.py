"""Size of the project: lines of code per package, words of documentation, megabytes of dependencies (5 seconds).

Lines of code are those that are not blank and are more than a comment or a docstring. The dependencies are those of an
installation without extras, as they are installed in this environment.
"""

import argparse
import ast
import io
import re
import subprocess
import tarfile
import tempfile
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from benchmarks import command_parser

ROOT = Path(__file__).resolve().parents[1]
MAX_ARGUMENTS = 10
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
# Comment markers within strings start no comment.
_STRING_OR_COMMENT = re.compile(
    r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|//[^\n]*|/\*.*?\*/""", re.DOTALL
)


def python_lines(text: str) -> int:
    docstrings = {line for node in ast.walk(ast.parse(text)) for line in _docstring_lines(node)}
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - docstrings)


def _docstring_lines(node: ast.AST) -> Iterable[int]:
    if not isinstance(node, _DOCUMENTED) or ast.get_docstring(node, clean=False) is None:
        return ()
    return range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)


def braces_lines(text: str) -> int:
    """Lines of C or JavaScript."""

    def without_comment(found: re.Match[str]) -> str:
        return found[1] or "\n" * found[0].count("\n")

    return sum(bool(line.strip()) for line in _STRING_OR_COMMENT.sub(without_comment, text).splitlines())


def files(root: Path, *suffixes: str) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.suffix in suffixes)


def _lines(paths: Iterable[Path]) -> int:
    texts = ((path.suffix, path.read_text(encoding="utf-8")) for path in paths)
    return sum(python_lines(text) if suffix == ".py" else braces_lines(text) for suffix, text in texts)


def packages(source: Path) -> tuple[Counter[str], Counter[str]]:
    """The number of Python files and of their lines, for each package."""
    n_files: Counter[str] = Counter()
    n_lines: Counter[str] = Counter()
    for path in files(source, ".py"):
        parts = path.relative_to(source).parts
        name = f"{parts[0]}/" if len(parts) > 1 else "single modules"
        n_files[name] += 1
        n_lines[name] += _lines([path])
    return n_files, n_lines


def functions_with_many_arguments(source: Path) -> list[str]:
    """Without the constructors of plug-ins, which declare their parameters for the registry."""
    found = []
    for path in files(source, ".py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}
        plugins = [each for each in classes.values() if _is_plugin(each, classes)]
        declarations = [each for plugin in plugins for each in plugin.body if getattr(each, "name", "") == "__init__"]
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node not in declarations:
                arguments = node.args
                names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
                if len([name for name in names if name not in ("self", "cls")]) > MAX_ARGUMENTS:
                    found.append(f"{path.relative_to(source)}:{node.lineno} {node.name}")
    return found


def _is_plugin(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a class, or one of its bases in the same file, has a `summary`, as all strategies, metrics and relevance
    models do."""
    targets = (target for each in node.body if isinstance(each, ast.Assign) for target in each.targets)
    bases = (classes.get(base.id) for base in node.bases if isinstance(base, ast.Name))
    return any(isinstance(target, ast.Name) and target.id == "summary" for target in targets) or any(
        _is_plugin(base, classes) for base in bases if base is not None
    )


def dependencies(root: Path) -> dict[str, float]:
    """The megabytes of each package that an installation without extras has."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sizes: dict[str, float] = {}
    waiting = [Requirement(text) for text in project["dependencies"]]
    while waiting:
        requirement = waiting.pop()
        if requirement.name.lower() in sizes or not _applies(requirement, {""}):
            continue
        try:
            installed = distribution(requirement.name)
        except PackageNotFoundError:
            print(f"{requirement.name} is not installed: its size is not counted.")
            continue
        paths = [Path(str(file.locate())) for file in installed.files or () if file.suffix != ".pyc"]
        sizes[requirement.name.lower()] = sum(path.stat().st_size for path in paths if path.is_file()) / 1e6
        extras = {"", *requirement.extras}
        needed = (Requirement(text) for text in installed.requires or ())
        waiting.extend(each for each in needed if _applies(each, extras))
    return sizes


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras)


def measures(root: Path) -> dict[str, int]:
    source = root / "src/scenthound"
    n_files, n_lines = packages(source)
    documents = [*root.glob("*.md"), *files(root / "docs", ".md")]
    return {
        **{f"{name} ({n_files[name]} files)": count for name, count in n_lines.most_common()},
        "Python": n_lines.total(),
        "Python files": n_files.total(),
        "C": _lines(files(source, ".c", ".h")),
        "JavaScript": _lines(files(source, ".js")),
        "tests": _lines(files(root / "tests", ".py")),
        "benchmarks": _lines(files(root / "benchmarks", ".py")),
        "words of documentation": sum(len(path.read_text(encoding="utf-8").split()) for path in documents),
        f"functions with more than {MAX_ARGUMENTS} arguments": len(functions_with_many_arguments(source)),
        "MB of dependencies, without bytecode": round(sum(dependencies(root).values())),
    }


def _compared(old: dict[str, int], new: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Rows of both; packages are the same whatever the number of their files."""
    by_name = {name.partition(" (")[0]: count for name, count in old.items()}
    for name, count in new.items():
        yield name, by_name.pop(name.partition(" (")[0], 0), count
    yield from ((name, count, 0) for name, count in by_name.items())


def _print_details(root: Path) -> None:
    sizes = sorted(dependencies(root).items(), key=lambda item: -item[1])
    print("\nMB of dependencies: " + ", ".join(f"{name} {size:.1f}" for name, size in sizes))
    print(f"\nFunctions with more than {MAX_ARGUMENTS} arguments:")
    print("\n".join(functions_with_many_arguments(root / "src/scenthound")))


def _of_revision(revision: str) -> dict[str, int]:
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive)) as files_of_revision:
        files_of_revision.extractall(folder, filter="data")
        return measures(Path(folder))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = command_parser("lines", __doc__ or "")
    parser.add_argument("--against", metavar="REVISION", help="a git revision to compare with")
    parser.add_argument("--details", action="store_true", help="list dependencies, and functions with many arguments")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    found = measures(ROOT)
    if options.against:
        print(f"{'':46}{options.against:>12}{'here':>12}{'difference':>12}")
        for name, before, after in _compared(_of_revision(options.against), found):
            print(f"{name:46}{before:12,}{after:12,}{after - before:+12,}")
    else:
        for name, count in found.items():
            print(f"{name:46}{count:12,}")
    if options.details:
        _print_details(ROOT)


if __name__ == "__main__":
    main()
