"""Jupyter executes the notebooks in docs/ from the first cell to the last.

Jupyter is in an environment of its own, as for most users; the kernel is this Python. It listens on loopback.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from environments import environment
from timing import WAIT_S

JUPYTER = "nbconvert==7.17.2"
KERNEL = "scenthound"
COMMAND = ("nbconvert", "--to", "notebook", "--execute", f"--ExecutePreprocessor.kernel_name={KERNEL}")
DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOKS = sorted(path.name for path in DOCS.glob("*.ipynb"))

Output = dict[str, Any]


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def add_kernel(folder: Path) -> Path:
    """Make this Python a kernel of Jupyter; its data folder."""
    command = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(folder), "--name", KERNEL]
    subprocess.run(command, check=True, capture_output=True, timeout=WAIT_S)
    return folder / "share" / "jupyter"


def executed(name: str, folder: Path) -> list[Output]:
    """The outputs of all cells, executed in this folder."""
    jupyter = environment(JUPYTER) / "bin" / "jupyter"
    kernels = add_kernel(folder)
    shutil.copy(DOCS / name, folder)
    where = {each: str(folder) for each in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "MPLCONFIGDIR")}
    done = subprocess.run(
        [jupyter, *COMMAND, "--output-dir", "executed", name],
        # Jupyter looks for its subcommands on the path.
        env={
            **os.environ,
            **where,
            "JUPYTER_PATH": str(kernels),
            "JUPYTER_PLATFORM_DIRS": "1",
            "PATH": f"{jupyter.parent}{os.pathsep}{os.environ['PATH']}",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cells = code_cells(folder / "executed" / name)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    return [output for cell in cells for output in cell["outputs"]]


def check_tutorial(outputs: list[Output]) -> None:
    assert not any(each["output_type"] == "stream" for each in outputs)
    shown = [each["data"] for each in outputs if "data" in each]
    assert any("<svg" in "".join(data.get("text/html", "")) for data in shown)
    assert any("Bonus:bonus=2.0" in "".join(data.get("text/plain", "")) for data in shown)
    last = [data["text/plain"] for data in shown if "text/html" not in data][-1]
    assert "".join(last) == "5"


#: What is also expected of some notebooks.
CHECKS: dict[str, Callable[[list[Output]], None]] = {"tutorial.ipynb": check_tutorial}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_jupyter_executes_a_notebook(name: str, tmp_path: Path) -> None:
    outputs = executed(name, tmp_path)
    assert [each for each in outputs if each["output_type"] == "error" or each.get("name") == "stderr"] == []
    assert any("data" in each for each in outputs)
    if name in CHECKS:
        CHECKS[name](outputs)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_without_outputs(name: str) -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code_cells(DOCS / name))
