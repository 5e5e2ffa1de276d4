"""The package as users install it, for each Python: size, time of installation and start (3 minutes).

Builds sdist and wheel, and installs them without extras in new environments: the wheel with an empty cache of pip, and
again with a full one; the sdist, which compiles the extension. The size is the sum of all installed files, with
bytecode, without pip and setuptools. Times depend on the network and on what else the machine does.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from benchmarks import command_parser, target

ROOT = Path(__file__).resolve().parents[1]
MAX_MB = 135
N_STARTS = 5
N_LARGEST = 8
_MB = 1_000_000
_NOT_CORE = ("pip", "setuptools")
_BUILD = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
_SIZES = """
from importlib.metadata import distributions
for each in distributions():
    files = [file.locate() for file in each.files or ()]
    print(each.name, sum(file.stat().st_size for file in files if file.exists()))
"""


def main(arguments: list[str] | None = None) -> None:
    parser = command_parser("installation", __doc__ or "")
    parser.add_argument(
        "--python", action="append", metavar="PATH", help="an interpreter; repeatable (default: all found)"
    )
    pythons = _options(parser, arguments)
    with tempfile.TemporaryDirectory() as folder:
        sdist, wheel = _built(Path(folder))
        print(f"sdist {_megabytes(sdist)}, wheel {_megabytes(wheel)} ({wheel.name})")
        for python in pythons:
            print(f"\n{_output(python, '--version')}")
            _measure(python, sdist, wheel, Path(folder))


def _options(parser: argparse.ArgumentParser, arguments: list[str] | None) -> list[str]:
    named: list[str] | None = parser.parse_args(arguments).python
    return named or [path for version in _versions() if (path := _found(version))]


def _versions() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE)


def _found(version: str) -> str | None:
    """A Python of this version that runs, which a shim of pyenv may not."""
    folder = _output("pyenv", "prefix", version) if shutil.which("pyenv") else ""
    for name in (f"python{version}", f"{folder}/bin/python"):
        path = shutil.which(name)
        if path and _output(path, "--version").startswith(f"Python {version}."):
            return path
    return None


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=False, text=True).stdout.strip()


def _built(folder: Path) -> tuple[Path, Path]:
    source = folder / "source"
    leave_out = (".git", ".venv", "build", "dist", "*.so", "*.egg-info", "__pycache__", ".*_cache")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*leave_out))
    for hook in ("build_sdist", "build_wheel"):
        duration = _duration([sys.executable, "-c", _BUILD, hook, str(folder)], cwd=source)
        print(f"{hook.removeprefix('build_')} built in {duration}")
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def _measure(python: str, sdist: Path, wheel: Path, folder: Path) -> None:
    environment = folder / "environment"
    cache = folder / "cache"
    for name, file in {"wheel, empty cache": wheel, "wheel, full cache": wheel, "sdist, full cache": sdist}.items():
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([python, "-m", "venv", environment], check=True)
        pip = [str(environment / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        print(f"installed from {name} in {_duration([*pip, '--cache-dir', str(cache), str(file)])}")
    shutil.rmtree(cache, ignore_errors=True)
    _print_sizes(environment)
    programs = environment / "bin"
    print(f"import scenthound      {_best_ms([str(programs / 'python'), '-c', 'import scenthound']):5.0f} ms")
    print(f"scenthound --help      {_best_ms([str(programs / 'scenthound'), '--help']):5.0f} ms")
    print(f"python -c pass         {_best_ms([str(programs / 'python'), '-c', 'pass']):5.0f} ms")
    shutil.rmtree(environment)


def _print_sizes(environment: Path) -> None:
    lines = _output(str(environment / "bin" / "python"), "-c", _SIZES).splitlines()
    sizes = {name: int(size) / _MB for name, size in map(str.split, lines) if name not in _NOT_CORE}
    total = sum(sizes.values())
    largest = sorted(sizes, key=lambda name: -sizes[name])[:N_LARGEST]
    print(f"{total:.1f} MB in {len(sizes)} packages; {target(f'{MAX_MB} MB', is_met=total < MAX_MB)}")
    print("largest: " + ", ".join(f"{name} {sizes[name]:.1f}" for name in largest))


def _megabytes(file: Path) -> str:
    return f"{file.stat().st_size / _MB:.2f} MB"


def _duration(command: list[str], cwd: Path | None = None) -> str:
    before = os.times()
    subprocess.run(command, check=True, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return f"{after.elapsed - before.elapsed:.1f} s ({cpu_s:.1f} s of CPU time)"


def _best_ms(command: list[str]) -> float:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    times = []
    for _ in range(N_STARTS):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=variables)
        times.append(time.perf_counter() - started)
    return 1000 * min(times)


if __name__ == "__main__":
    main()
