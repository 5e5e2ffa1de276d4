"""Jupyter executes the notebooks in docs/ from the first cell to the last.

Jupyter is in an environment of its own, as for most users; the kernel is this Python. It listens on loopback.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from environments import environment
from timing import WAIT_S

JUPYTER = "nbconvert==7.17.2"
KERNEL = "scenthound"
COMMAND = ("nbconvert", "--to", "notebook", "--execute", f"--ExecutePreprocessor.kernel_name={KERNEL}")
DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOKS = sorted(path.stem for path in DOCS.glob("*.ipynb"))

Output = dict[str, Any]


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def add_kernel(folder: Path) -> Path:
    """Make this Python a kernel of Jupyter; its data folder."""
    command = [sys.executable, "-m", "ipykernel", "install", "--prefix", str(folder), "--name", KERNEL]
    subprocess.run(command, check=True, capture_output=True, timeout=WAIT_S)
    return folder / "share" / "jupyter"


def executed(notebook: str, folder: Path) -> list[Output]:
    """The outputs of all cells, executed in this folder."""
    jupyter = environment(JUPYTER) / "bin" / "jupyter"
    kernels = add_kernel(folder)
    name = f"{notebook}.ipynb"
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
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [each for each in outputs if each["output_type"] == "error" or each.get("name") == "stderr"]
    return outputs


def shown_by(outputs: list[Output]) -> list[dict[str, str]]:
    """What cells display, by media type."""
    return [{kind: "".join(text) for kind, text in each["data"].items()} for each in outputs if "data" in each]


def printed_by(outputs: list[Output]) -> str:
    return "".join("".join(each["text"]) for each in outputs if each["output_type"] == "stream")


@pytest.mark.slow
def test_the_tutorial_simulates_and_crawls_with_a_strategy_of_a_cell(tmp_path: Path) -> None:
    shown = shown_by(executed("tutorial", tmp_path))
    assert any("<svg" in data.get("text/html", "") for data in shown)
    assert any("Bonus:bonus=2.0" in data.get("text/plain", "") for data in shown)
    assert [data["text/plain"] for data in shown if "text/html" not in data][-1] == "5"


@pytest.mark.slow
def test_a_corpus_is_built(tmp_path: Path) -> None:
    outputs = executed("build_corpus", tmp_path)
    shown = shown_by(outputs)
    assert sum("image/png" in data for data in shown) == 2
    assert "Python: module socket" in next(data["text/html"] for data in shown if "dataframe" in str(data))
    assert "This module provides socket operations" in printed_by(outputs)
    (n_on_topic,) = [found[1] for data in shown if (found := re.fullmatch(r"\(60, (\d+)\)", data["text/plain"]))]
    assert 0 < int(n_on_topic) < 60


@pytest.mark.slow
def test_strategies_are_compared(tmp_path: Path) -> None:
    shown = shown_by(executed("compare_strategies", tmp_path))
    texts = [data["text/plain"] for data in shown]
    assert sum("<svg" in data.get("text/html", "") for data in shown) >= 2
    assert any("best_n_first:n=128" in text for text in texts)
    assert any("FewLinks:power=0.25" in text for text in texts)


@pytest.mark.slow
def test_a_paper_is_reproduced(tmp_path: Path) -> None:
    outputs = executed("reproduce_paper", tmp_path)
    findings = next(data["text/html"] for data in shown_by(outputs) if "findings of menczer2001" in str(data))
    assert [f">H{number}<" in findings for number in (1, 2, 3, 4)] == [True] * 4
    assert any("image/png" in data for data in shown_by(outputs))
    assert "InfoSpiders" in printed_by(outputs)


def test_every_notebook_is_run_by_a_test() -> None:
    assert NOTEBOOKS == ["build_corpus", "compare_strategies", "reproduce_paper", "tutorial"]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_is_stored_without_outputs(notebook: str) -> None:
    code = code_cells(DOCS / f"{notebook}.ipynb")
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
