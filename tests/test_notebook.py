"""The notebooks in docs/ run from their first cell to their last, in kernels that only this machine can reach."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
NOTEBOOKS = sorted(path.stem for path in DOCS.glob("*.ipynb"))
#: Runs a notebook, and prints what its cells returned: a list of outputs for each cell.
RUN = """
import json, sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
print(json.dumps([[dict(each) for each in cell.outputs] for cell in code]))
"""


def outputs_of(notebook: str, folder: Path, python: str = sys.executable) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of a notebook, which is run in a folder."""
    where = {name: str(folder) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "MPLCONFIGDIR")}
    done = subprocess.run(
        [python, "-W", "ignore", "-c", RUN, DOCS / f"{notebook}.ipynb"],
        env={**os.environ, **where, "JUPYTER_PLATFORM_DIRS": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outputs: list[list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    assert not [each for cell in outputs for each in cell if each["output_type"] == "error"]
    assert not [each for cell in outputs for each in cell if each.get("name") == "stderr"]
    return outputs


def shown_by(outputs: list[list[dict[str, Any]]]) -> list[dict[str, str]]:
    """What cells display, by media type."""
    return [each["data"] for cell in outputs for each in cell if "data" in each]


def printed_by(outputs: list[list[dict[str, Any]]]) -> str:
    return "".join(each["text"] for cell in outputs for each in cell if each["output_type"] == "stream")


def test_the_tutorial_simulates_and_crawls_with_a_strategy_of_a_cell(tmp_path: Path) -> None:
    shown = shown_by(outputs_of("tutorial", tmp_path))
    assert any("<svg" in data.get("text/html", "") for data in shown)
    assert any("Bonus:bonus=2.0" in data.get("text/plain", "") for data in shown)
    assert [data["text/plain"] for data in shown if "text/html" not in data][-1] == "5"


def test_a_corpus_is_built(tmp_path: Path) -> None:
    outputs = outputs_of("build_corpus", tmp_path)
    shown = shown_by(outputs)
    assert sum("image/png" in data for data in shown) == 2
    assert "Python: module socket" in next(data["text/html"] for data in shown if "dataframe" in str(data))
    assert "This module provides socket operations" in printed_by(outputs)
    (n_on_topic,) = [found[1] for data in shown if (found := re.fullmatch(r"\(60, (\d+)\)", data["text/plain"]))]
    assert 0 < int(n_on_topic) < 60


def test_strategies_are_compared(tmp_path: Path) -> None:
    shown = shown_by(outputs_of("compare_strategies", tmp_path))
    texts = [data["text/plain"] for data in shown]
    assert sum("<svg" in data.get("text/html", "") for data in shown) >= 2
    assert any("best_n_first:n=128" in text for text in texts)
    assert any("FewLinks:power=0.25" in text for text in texts)


def test_a_paper_is_reproduced(tmp_path: Path) -> None:
    outputs = outputs_of("reproduce_paper", tmp_path)
    findings = next(data["text/html"] for data in shown_by(outputs) if "findings of menczer2001" in str(data))
    assert [f">H{number}<" in findings for number in (1, 2, 3, 4)] == [True] * 4
    assert any("image/png" in data for data in shown_by(outputs))
    assert "InfoSpiders" in printed_by(outputs)


def test_every_notebook_is_run_by_a_test() -> None:
    assert NOTEBOOKS == ["build_corpus", "compare_strategies", "reproduce_paper", "tutorial"]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_is_stored_without_outputs(notebook: str) -> None:
    cells = json.loads((DOCS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
