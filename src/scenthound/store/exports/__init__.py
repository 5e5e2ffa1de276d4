"""A crawl written out for others: its pages as JSON Lines or Parquet, its archive as WARC, or an index of that.

What is written is what the crawl has acknowledged, also while it is running, and it appears whole or not at all.
"""

from pathlib import Path

from scenthound.errors import UnknownName, WrongUse, printable
from scenthound.model import Progress, silent
from scenthound.store.exports.cdxj import write_cdxj
from scenthound.store.exports.jsonl import write_jsonl
from scenthound.store.exports.kind import Exporter, ExportOptions, ExportSummary
from scenthound.store.exports.new_file import new_file
from scenthound.store.exports.parquet import write_parquet
from scenthound.store.exports.warc import write_warc
from scenthound.store.stored_crawl import StoredCrawl

KINDS: dict[str, Exporter] = {
    "cdxj": write_cdxj,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "warc": write_warc,
}

#: Endings that promise compression, and which of them each kind keeps. Parquet is compressed within.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".br", ".lz4", ".zip")
KEPT_ENDINGS: dict[str, tuple[str, ...]] = {"cdxj": (), "jsonl": (".gz", ".zst"), "parquet": (), "warc": (".gz",)}


def export(
    folder: str | Path,
    kind: str,
    out: str | Path,
    *,
    include_noindex: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> ExportSummary:
    """Write the crawl in a folder to the file `out`, as one of `KINDS`."""
    if kind not in KINDS:
        raise UnknownName.among("kind of export", kind, KINDS)
    _check_ending(kind, Path(out))
    with StoredCrawl.open(folder) as crawl, new_file(Path(out), force) as file:
        return KINDS[kind](crawl, file, Path(out), ExportOptions(include_noindex, progress))


def _check_ending(kind: str, out: Path) -> None:
    """A name that says how the file is compressed must not lie."""
    ending = out.suffix.lower()
    if ending in COMPRESSED and ending not in KEPT_ENDINGS[kind]:
        kept = " or ".join(KEPT_ENDINGS[kind])
        instead = f"only as {kept}" if kept else "not at all"
        raise WrongUse(f"{printable(out)}: a {kind} export is compressed {instead}; choose a name that ends otherwise.")
