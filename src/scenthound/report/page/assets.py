"""The style sheets and scripts of pages: where they are, in which order they go, and how they are put into one file.

Rules
- Scripts are plain: each adds to the one global name `scenthound`, so they can be put one after another, or be served
  one by one. What is in `CHART_SCRIPTS` and `CHART_STYLES` knows nothing of reports: a dashboard may use it too.
- Whoever puts them into a page takes them without comments and indents. So no text in them goes over several lines.
"""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

#: Colours, fonts, light and dark; charts and graphs; what floats above them.
CHART_STYLES = ("look.css", "charts.css")
CHART_SCRIPTS = (
    "elements.js",
    "theme.js",
    "scales.js",
    "chart_frame.js",
    "chart_axes.js",
    "chart_curves.js",
    "chart_bars.js",
    "chart_reading.js",
    "chart.js",
    "graph_layout.js",
    "graph.js",
    "tables.js",
)
PAGE_STYLES = (*CHART_STYLES, "tables.css", "page.css", "print.css")
PAGE_SCRIPTS = (*CHART_SCRIPTS, "win_loss.js", "page.js")


def asset_text(name: str) -> str:
    """One of the files, as it is."""
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def page_script() -> str:
    """All scripts in one."""
    lines = (line.strip() for line in _in_one(PAGE_SCRIPTS).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@cache
def page_style() -> str:
    """All style sheets in one."""
    bare = re.sub(r"/\*.*?\*/", "", _in_one(PAGE_STYLES), flags=re.DOTALL)
    return re.sub(r"\s*([{};,>])\s*|(:)\s+", r"\1\2", bare).replace(";}", "}").strip()


def _in_one(names: Iterable[str]) -> str:
    return "\n".join(map(asset_text, names))
