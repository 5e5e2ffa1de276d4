"""Programs of others that tests run: Python packages in environments of their own, and packages of the system.

Rules
- An environment is made once for each user and list of requirements, in the system's folder for temporary files, and is
  never changed afterwards. Test processes that need the same one wait for the first to make it.
- If a program cannot be installed, the test is skipped with the reason. In CI (`CI` is set) it fails.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

INSTALL_TIMEOUT_S = 280


def environment(*requirements: str, python: str = sys.executable) -> Path:
    """The folder of a virtual environment of this Python with these requirements of pip: `bin/python` is in it."""
    folder = Path(tempfile.gettempdir()) / f"scenthound-tests-{os.getuid()}" / _digest(python, *requirements)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = folder / "complete"
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(folder, python, requirements)
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
        try:
            subprocess.run(command, capture_output=True, check=True, text=True, timeout=INSTALL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            missing(f"{', '.join(requirements)} could not be installed within {INSTALL_TIMEOUT_S} s")
        except subprocess.CalledProcessError as failed:
            last_line = (failed.stderr.strip().splitlines() or ["no message"])[-1]
            missing(f"{', '.join(requirements)} cannot be installed: {last_line}")


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
        # Two test processes may install at the same time: the second waits for the first.
        waiting = ["apt-get", *command, "-o", f"DPkg::Lock::Timeout={INSTALL_TIMEOUT_S}"]
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
