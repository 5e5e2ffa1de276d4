"""Notebooks as pages: their cells are run when the site is built, so that the outputs are those of this version.

A notebook is stored without outputs. The page shows the code, texts and tables; figures become files beside the page.
"""

import base64
import html
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The time limit of a cell.
CELL_TIMEOUT_S = 300
_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NotebookFailed(Exception):
    """A cell of a notebook raised an exception."""


@dataclass(frozen=True, slots=True)
class NotebookPage:
    """A page in Markdown, and its figures by file name."""

    markdown: str
    figures: dict[str, bytes]


def executed(files: Sequence[Path]) -> list[Any]:
    """Run notebooks, each in a process and a temporary folder of its own, as many at a time as there are cores."""
    os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_run, files))


def read_notebook(file: Path) -> Any:
    import nbformat

    return nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]


def _run(file: Path) -> Any:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = read_notebook(file)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT_S,
            kernel_name="python3",
            # Kernels warn that others on this machine could listen.
            extra_arguments=["--IPKernelApp.log_level=40"],
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env={**os.environ, "IPYTHONDIR": folder, "PYTHONWARNINGS": "ignore"})
        except CellExecutionError as failed:
            raise NotebookFailed(f"{file.name}: a cell failed with {failed.ename}: {failed.evalue}") from None
    return notebook


def notebook_page(name: str, notebook: Any) -> NotebookPage:
    """The page of a notebook with outputs. Its figures are in the folder `NAME_files`."""
    figures: dict[str, bytes] = {}
    title, *cells = (part for cell in notebook.cells for part in _cell(cell, f"{name}_files", figures))
    download = f"[Download this notebook]({name}.ipynb){{ .md-button download }}"
    return NotebookPage("\n\n".join([title, download, *cells]) + "\n", figures)


def _cell(cell: Any, folder: str, figures: dict[str, bytes]) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
    elif cell.cell_type == "code":
        yield f"```python\n{cell.source}\n```"
        shown = "".join(_output(each, folder, figures) for each in cell.outputs)
        if shown:
            yield f'<div class="output">\n{shown}\n</div>'


def _output(output: Any, folder: str, figures: dict[str, bytes]) -> str:
    """An output of a cell as HTML, in the richest format that it has."""
    if output.output_type == "stream":
        return _preformatted(output.text)

    def figure(content: bytes, ending: str) -> str:
        file = f"{folder}/{len(figures) + 1}.{ending}"
        figures[file] = content
        return f'<img src="{file}" alt="">'

    data = output.data
    if "text/html" in data:
        text = _SVG.sub(lambda found: figure(found[0].encode(), "svg"), data["text/html"])
        # A blank line would end the HTML for Markdown.
        return re.sub(r"\n\s*\n", "\n", text)
    if "image/svg+xml" in data:
        return figure(data["image/svg+xml"].encode(), "svg")
    if "image/png" in data:
        return figure(base64.b64decode(data["image/png"]), "png")
    return _preformatted(data["text/plain"])


def _preformatted(text: str) -> str:
    lines = html.escape(_ESCAPE_SEQUENCE.sub("", text)).rstrip().replace("\n\n", "\n&#8203;\n")
    return f"<pre>{lines}</pre>"
