"""Scrapy in its own virtual environment, created once, and crawls of the spider `live_scrapy_spider.py` in it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.live_site import Site
from benchmarks.processes import MeasuredCrawl, measure_crawl
from scenthound.errors import Failure
from scenthound.text.stop_words import STOP_WORDS

#: When this changes, the environment is created again.
PACKAGES = ("scrapy", "selectolax", "ada-url", "PyStemmer", "warcio", "uvloop", "isal")
SPIDER = Path(__file__).with_name("live_scrapy_spider.py")


class ScrapyEnvironment:
    """A virtual environment with Scrapy, in the system's temporary folder."""

    def __init__(self) -> None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        folder = Path(tempfile.gettempdir()) / f"scenthound-live-scrapy-{version}-{os.getuid()}"
        self.python = folder / "bin" / "python"
        stamp = folder / "packages.txt"
        if not stamp.is_file() or stamp.read_text().split() != list(PACKAGES):
            print(f"  installing {', '.join(PACKAGES)} into {folder}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            _run([sys.executable, "-m", "venv", str(folder)])
            _run([str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
            stamp.write_text("\n".join(PACKAGES))

    def versions(self) -> str:
        code = "import sys, importlib.metadata as m; print(', '.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
        return _run([str(self.python), "-c", code, *PACKAGES]).strip()

    def crawl(
        self, site: Site, n_pages: int, concurrency: int, *, links: str = "quick", zlib: str = "default"
    ) -> MeasuredCrawl:
        with tempfile.TemporaryDirectory(prefix="scenthound-live-scrapy-") as folder:
            task = {
                "seed": site.seeds[0],
                "keywords": list(site.keywords),
                "stop_words": sorted(STOP_WORDS),
                "n_pages": n_pages,
                "concurrency": concurrency,
                "links": links,
                "zlib": zlib,
                "folder": folder,
            }
            return measure_crawl([str(self.python), str(SPIDER), json.dumps(task)], "Scrapy")


def _run(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        last = (ended.stderr.strip().splitlines() or ["no output"])[-1]
        raise Failure(f"Cannot install Scrapy for the comparison: {last}. Check that pip can install packages.")
    return ended.stdout
