"""Where the benchmarks find real collections, and the recorded webs they make of them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scenthound.store.record import record

COLLECTIONS = Path(__file__).resolve().parents[2] / "shared" / "data"


def collection(name: str) -> Path | None:
    """The folder of a collection, or None with a word on standard output where it is absent."""
    folder = COLLECTIONS / name
    if folder.is_dir():
        return folder
    print(f"  skipped: the collection {name} is not beside the checkout (../shared/data/{name})")
    return None


@contextmanager
def recorded(folder: Path) -> Iterator[Path]:
    """A recorded web of a collection's articles with leaks cut, for as long as the block runs."""
    files = sorted(folder.glob("pages*.jsonl.zst"))
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
        out = Path(place) / "web"
        record(files, out, without_leaks=True, where={"kind": "article"})
        yield out
