"""CPU time of pages rendered in a browser: in one tab, in a new tab each, and in a new browser each (a minute).

The pages are those of a generated application: a script of 300 KB, data of 20 KB, and a list of 200 links that the
script makes of it. Responses are in memory. CPU time is that of all processes: this one, the driver, and the browser
with its tabs.
"""

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from benchmarks import command_parser, positive, target
from benchmarks.processes import processes
from scenthound.crawler.page_requests import Answer
from scenthound.crawler.renderer import Renderer
from scenthound.crawler.rendering import RenderCounts, RenderedDocument, RenderMemory, RenderMode, RenderOutcome
from scenthound.web.browser import BrowserSettings, RenderLimits, browser_path
from scenthound.web.fetch import Response

SHELL = b"<!doctype html><title>App</title><div id=app></div><script src=/app.js></script>"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
N_FUNCTIONS = 3_000
N_ROWS = 200
TARGET_S = 0.27
_WARM_UP = 3


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("rendering", __doc__)
    parser.add_argument("--pages", type=positive, default=30, help="pages of each measurement (30)")
    n_pages = parser.parse_args(arguments).pages
    reused_s, wall_s = asyncio.run(_measured(n_pages, pages_per_tab=1_000_000))
    print(f"  one tab: {reused_s:.3f} CPU s a page, {wall_s:.2f} s; {target('0.27', is_met=reused_s <= TARGET_S)}")
    new_s, wall_s = asyncio.run(_measured(n_pages, pages_per_tab=1))
    print(f"  a new tab each: {new_s:.3f} CPU s a page, {wall_s:.2f} s; {new_s / reused_s:.1f} times as much")
    new_s, wall_s = asyncio.run(_measured_browsers(max(1, n_pages // 5)))
    print(f"  a new browser each: {new_s:.3f} CPU s a page, {wall_s:.2f} s; {new_s / reused_s:.1f} times as much")


class _Answers:
    """The requests of pages, answered from memory."""

    def __init__(self) -> None:
        self._script = Answer(200, {"content-type": "text/javascript"}, _script().encode())

    async def answer(self, page: str, url: str, accept: str) -> Answer:
        return self._script if url.endswith(".js") else Answer(200, {"content-type": "application/json"}, _data(url))

    def close(self) -> None:
        """Nothing to close."""


def _script() -> str:
    functions = "\n".join(
        f"function part{i}(rows) {{ return rows.filter((row, n) => n % {i + 2} === 0).map(row => row.title + {i}); }}"
        for i in range(N_FUNCTIONS)
    )
    return f"""{functions}
    fetch("/data" + location.pathname).then(response => response.json()).then(rows => {{
      const list = document.createElement("ul");
      for (const row of rows) {{
        const item = list.appendChild(document.createElement("li"));
        const link = item.appendChild(document.createElement("a"));
        link.href = row.url;
        link.textContent = row.title;
        item.append(row.text);
      }}
      document.title = part1(rows).length + " rows";
      document.getElementById("app").replaceChildren(list);
    }});"""


def _data(url: str) -> bytes:
    return orjson.dumps(
        [{"url": f"{url}/{row}", "title": f"Row {row}", "text": f"text of row {row} of {url}"} for row in range(N_ROWS)]
    )


def _renderer(pages_per_tab: int) -> Renderer:
    settings = BrowserSettings(browser_path(), "Scenthound-benchmark", RenderLimits(), pages_per_tab)
    return Renderer(RenderMode.ALWAYS, settings, _Answers(), RenderMemory(), RenderCounts())


async def _measured_browsers(n_pages: int) -> tuple[float, float]:
    """The same with the start of a browser for each page."""
    cpu_s = seconds = 0.0
    for number in range(n_pages):
        # The time of the last one counts no more when all of its processes have ended.
        while len(_family()) > 1:
            await asyncio.sleep(0.05)
        cpu_before_s, began_s, renderer = _cpu_s(), time.perf_counter(), _renderer(1)
        await _render(renderer, number, 1)
        cpu_s += _cpu_s() - cpu_before_s
        seconds += time.perf_counter() - began_s
        renderer.close()
    return cpu_s / n_pages, seconds / n_pages


async def _measured(n_pages: int, pages_per_tab: int) -> tuple[float, float]:
    """CPU seconds and seconds of a page, without the start of the browser."""
    renderer = _renderer(pages_per_tab)
    try:
        await _render(renderer, 0, _WARM_UP)
        cpu_s, began_s = _cpu_s(), time.perf_counter()
        await _render(renderer, _WARM_UP, n_pages)
        return (_cpu_s() - cpu_s) / n_pages, (time.perf_counter() - began_s) / n_pages
    finally:
        renderer.close()


async def _render(renderer: Renderer, first: int, n_pages: int) -> None:
    for number in range(first, first + n_pages):
        done: asyncio.Future[RenderOutcome] = asyncio.get_running_loop().create_future()
        url = f"http://app.test/{number}"
        renderer.render(Response(url, 200, HEAD, SHELL, SHELL, False, "127.0.0.1", 0.0), done.set_result)
        outcome = await done
        assert isinstance(outcome, RenderedDocument), outcome
        assert b"Row 199" in outcome.html, outcome.html


def _cpu_s() -> float:
    """Of this process and its descendants; those that have ended count for their parents."""
    ticks = 0
    for process in _family():
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _family() -> list[int]:
    """This process and its descendants."""
    children: dict[int, list[int]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process.id)
    found = [os.getpid()]
    for each in found:
        found += children.get(each, [])
    return found


if __name__ == "__main__":
    main()
