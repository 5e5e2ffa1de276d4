"""Structure of the source code: importers, files used by one page or one study (1 minute)."""

import ast
import json
import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks import command_parser
from benchmarks.lines import files
from scenthound.web.static_server import StaticPage, StaticServer

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "scenthound"
#: Names of fields: the number of source files that mention each of them is counted.
FACTS = ("hosts_disabled", "truncated", "noindex", "closed_world")
N_PAGES = 40
N_IMPORTS = 5

#: Runs the command line in another checkout and prints, as JSON, the number of calls of functions of each file.
PROFILED_COMMAND = """
import json, sys, threading
from collections import Counter
calls, root = Counter(), sys.argv[1]
def profile(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(root):
        calls[code.co_filename] += 1
from scenthound.cli import main
sys.argv = ["scenthound", *sys.argv[2:]]
threading.setprofile(profile)
sys.setprofile(profile)
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
print("\\n" + json.dumps(calls))
"""


def importers(root: Path) -> dict[str, set[str]]:
    """The modules that import each module, imports inside functions included."""
    modules = {_module_name(path, root): path for path in files(root / "src" / PACKAGE, ".py")}
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in modules.items():
        for imported in _imports(ast.parse(path.read_text(encoding="utf-8")), modules):
            if imported != name:
                found[imported].add(name)
    return found


def _module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.AST, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in modules else str(node.module)


def single_sibling_importers(root: Path) -> int:
    """Modules with one importer, in the same package."""
    return sum(
        len(users) == 1 and next(iter(users)).rpartition(".")[0] == name.rpartition(".")[0]
        for name, users in importers(root).items()
    )


def files_that_mention(root: Path, name: str) -> int:
    word = re.compile(rf"\b{name}\b")
    paths = files(root / "src" / PACKAGE, ".py", ".js", ".sql")
    return sum(bool(word.search(path.read_text(encoding="utf-8"))) for path in paths)


def _linked_page(_host: str, path: str) -> StaticPage | None:
    """A page of a site whose pages link to each other."""
    if path != "/" and not path.endswith(".html"):
        return None
    links = "".join(f'<p>A balloon in the air, <a href="/{n}.html">page {n}</a></p>' for n in range(2 * N_PAGES))
    return StaticPage(f"<title>{path}</title><h1>Balloons</h1>{path * 7}{links}".encode())


def profiled(root: Path, *arguments: str | Path) -> dict[str, int]:
    """The number of calls of functions of each source file, in one command of the checkout."""
    source = root / "src" / PACKAGE
    command = [root / ".venv/bin/python", "-c", PROFILED_COMMAND, source, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        list(map(str, command)), env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    calls: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return calls


def files_per_page(root: Path) -> int:
    """Files with a function that is called at least once per page of a live crawl."""
    with StaticServer(_linked_page) as server, tempfile.TemporaryDirectory() as folder:
        crawl = ("crawl", "--keywords", "balloon", "--seed", f"http://127.0.0.1:{server.port}/")
        limits = ("--pages", str(N_PAGES), "--delay", "0", "--allow-private", "--keep-duplicates", "--no-traps")
        calls = profiled(root, *crawl, *limits, "--out", Path(folder) / "crawl", "--json")
    return sum(count >= N_PAGES for count in calls.values())


def files_per_study(root: Path) -> int:
    """Files with a function that one `study` calls, in one process."""
    with tempfile.TemporaryDirectory() as folder:
        web = Path(folder) / "web"
        profiled(root, "synthesize", "--pages", "1500", "--out", web)
        study = ("study", "pant2002", "--web", web, "--topics", web / "topics.jsonl", "--topics-max", "6")
        return len(profiled(root, *study, "--pages", "200", "--workers", "1", "--out", Path(folder) / "study"))


def import_ms(root: Path) -> int:
    """Milliseconds of `import scenthound` in a new process: the median of several."""
    code = "import time; began_s = time.perf_counter(); import scenthound; print(time.perf_counter() - began_s)"
    command = [str(root / ".venv/bin/python"), "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    times_s = [
        float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
        for _ in range(N_IMPORTS)
    ]
    return round(1e3 * median(times_s))


def measures(root: Path) -> dict[str, int]:
    return {
        "modules with a single importer, a sibling": single_sibling_importers(root),
        **{f"files that mention {name}": files_that_mention(root, name) for name in FACTS},
        "files used by one live page": files_per_page(root),
        "files used by one study": files_per_study(root),
        "milliseconds to import scenthound": import_ms(root),
    }


def main() -> None:
    parser = command_parser("codebase", __doc__)
    parser.add_argument("--beside", type=Path, help="another checkout to compare, with its environment in .venv")
    options = parser.parse_args()
    checkouts = [ROOT, *([options.beside.resolve()] if options.beside else [])]
    columns = [measures(root) for root in checkouts]
    print(f"{'':56}" + "".join(f"{name:>16}" for name in ("this checkout", "other checkout")[: len(columns)]))
    for measure in columns[0]:
        print(f"{measure:56}" + "".join(f"{column[measure]:16,}" for column in columns))


if __name__ == "__main__":
    main()
