"""What the tests of recording share: files of pages, and a look at what a folder holds."""

import json
from pathlib import Path
from typing import Any

from scenthound.store.record import record


def write_pages(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def many_pages(path: Path, count: int = 400) -> Path:
    """Pages that link to each other and to the outside, with words that appear late and aliases in between."""
    return write_pages(
        path,
        *(
            {
                "url": f"http://{'abc'[i % 3]}.org/{i}",
                "html": f"<title>Page {i}</title><p>dog number{i} word{i % 17} <a href='/{i * 7 % count}'>next</a> "
                f"<a href='http://out.org/{i % 50}'>out</a>",
                "aliases": [f"http://alias.org/{i % 90}"],
                "topics": [f"t{i % 4}"],
            }
            for i in range(count)
        ),
    )


def contents(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in out.iterdir()}


def nothing_but(tmp_path: Path, *names: str) -> bool:
    return sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def recorded_twice(tmp_path: Path) -> tuple[Path, Path]:
    """Pages, and a web recorded of others."""
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/old", "text": "x"})
    record([pages], tmp_path / "web")
    return write_pages(pages, {"url": "http://a.org/new", "text": "x"}), tmp_path / "web"
