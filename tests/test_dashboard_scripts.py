"""Static checks of the dashboard's scripts."""

import re
from importlib.resources import files

from scenthound.ui.html import CHART_SCRIPTS

ASSETS = files("scenthound.ui.dashboard").joinpath("assets")
PAGE = files("scenthound.ui.dashboard").joinpath("index.html")
FORBIDDEN = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style"


def scripts() -> dict[str, str]:
    folders = {"": ASSETS, "views/": ASSETS.joinpath("views"), "parts/": ASSETS.joinpath("parts")}
    entries = {before + entry.name: entry for before, folder in folders.items() for entry in folder.iterdir()}
    return {name: entry.read_text(encoding="utf-8") for name, entry in entries.items() if name.endswith(".js")}


def test_no_script_builds_html_from_text() -> None:
    assert len(scripts()) > 15
    assert {name: found for name, text in scripts().items() if (found := re.findall(FORBIDDEN, text))} == {}


def test_every_script_is_used() -> None:
    imported = {path.rpartition("/")[2] for text in scripts().values() for path in re.findall(r'from "([^"]+)"', text)}
    assert {name.rpartition("/")[2] for name in scripts()} - imported == {"dashboard.js"}


def test_the_page_loads_the_scripts_of_charts_in_their_order() -> None:
    page = PAGE.read_text(encoding="utf-8")
    loaded = re.findall(r'src="/assets/(\w+\.js)"', page)
    assert loaded == [*CHART_SCRIPTS, "dashboard.js"]


def test_the_page_has_no_inline_script_or_style() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)", page) == []
