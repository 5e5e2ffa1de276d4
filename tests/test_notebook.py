"""The notebook in docs/ runs from its first cell to its last, in a kernel that only this machine can reach."""

import json
import os
import subprocess
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[1] / "docs" / "tutorial.ipynb"
#: Runs a notebook, and prints what its cells returned: a list of media types for each cell.
RUN = """
import json, sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
print(json.dumps([[dict(each) for each in cell.outputs] for cell in code]))
"""


def test_the_notebook_runs(tmp_path):
    where = {
        name: str(tmp_path) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "MPLCONFIGDIR")
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, NOTEBOOK],
        env={**os.environ, **where, "JUPYTER_PLATFORM_DIRS": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outputs = json.loads(done.stdout.splitlines()[-1])
    errors = [each for cell in outputs for each in cell if each["output_type"] in ("error", "stream")]
    assert errors == []
    shown = [each["data"] for cell in outputs for each in cell if "data" in each]
    assert any("<svg" in "".join(data.get("text/html", "")) for data in shown)
    assert any("Bonus:bonus=2.0" in "".join(data.get("text/plain", "")) for data in shown)
    assert [data["text/plain"] for data in shown if "text/html" not in data][-1] == "5"


def test_the_notebook_is_stored_without_outputs():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
