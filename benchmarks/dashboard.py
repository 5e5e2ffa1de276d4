"""The dashboard: how long a large crawl takes to open, what being watched costs a crawl, and how heavy pages are."""

import gzip
import tempfile
from importlib.resources import files
from pathlib import Path

from benchmarks.dashboard_opening import measure_opening
from benchmarks.dashboard_process import running_dashboard
from benchmarks.dashboard_watching import measure_watching
from benchmarks.large_crawl import write_large_crawl

N_PAGES = 1_000_000
N_PAIRS = 30
PAGES_WATCHED = 4_000
#: A report is of a crawl of ordinary size.
PAGES_REPORTED = 5_000


def main() -> None:
    measure_opening(N_PAGES)
    _measure_weights()
    measure_watching(N_PAIRS, PAGES_WATCHED)


def _measure_weights() -> None:
    with tempfile.TemporaryDirectory(prefix="scenthound-weights-") as place:
        folder = Path(place) / "crawl"
        write_large_crawl(folder, PAGES_REPORTED)
        with running_dashboard(folder) as dashboard:
            name = dashboard.crawl_id(folder)
            _print_weight(f"report of a crawl of {PAGES_REPORTED:,} pages", [dashboard.get(f"/report/{name}")])
    scripts = [
        file.read_bytes()
        for package in ("scenthound.ui.dashboard", "scenthound.ui")
        for file in _assets(Path(str(files(package) / "assets")))
    ]
    _print_weight(f"dashboard, {len(scripts)} files", scripts)


def _assets(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*")) if file.suffix in {".html", ".css", ".js", ".svg"}]


def _print_weight(what: str, parts: list[bytes]) -> None:
    whole, packed = sum(map(len, parts)), sum(len(gzip.compress(part)) for part in parts)
    print(f"  {what}: {whole / 1e3:,.0f} KB, {packed / 1e3:,.0f} KB compressed", flush=True)


if __name__ == "__main__":
    main()
