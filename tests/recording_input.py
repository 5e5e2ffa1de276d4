"""Input of recordings: files of pages, records of a file, and what a folder contains."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scenthound.store.batches import RawPage, RawRecord, Skipped
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources import source_of
from scenthound.store.sources.records import ReadOptions

PAGE = {
    "url": "http://a.org/",
    "html": "<p>dogs",
    "title": "Dogs",
    "aliases": ["http://a.org/index"],
    "topics": ["pets"],
    "kind": "article",
}
PLAIN = ReadOptions()


def records_of(path: Path, options: ReadOptions = PLAIN) -> list[RawRecord]:
    return [record for chunk in source_of(path).chunks(options) for record in chunk.records(options)]


def reasons(records: Iterable[RawRecord]) -> Counter[str]:
    return Counter(record.reason for record in records if isinstance(record, Skipped))


def pages(records: Iterable[RawRecord]) -> list[RawPage]:
    return [record for record in records if isinstance(record, RawPage)]


def lines(*rows: Any) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def write_pages(path: Path, *rows: Any) -> Path:
    path.write_bytes(lines(*rows))
    return path


def many_pages(path: Path, count: int = 400) -> Path:
    """Pages with links to each other and to other hosts, words that first occur late, and aliases."""
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
    """A file of pages, and a web recorded from its earlier content."""
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/old", "text": "x"})
    record([pages], tmp_path / "web")
    return write_pages(pages, {"url": "http://a.org/new", "text": "x"}), tmp_path / "web"


def three_pages() -> list[RawRecord]:
    """Dogs links to cats (twice, once by an alias) and to another host, cats to dogs and to itself, fish nowhere."""
    return [
        RawPage(
            "http://a.org/dogs",
            html=(
                "<title>Dogs</title><p>the dog chases a cat <a href='/cats'>the cats</a> "
                "<a href='/old-cats' rel=nofollow>cat</a> <a href='http://b.org/out'>dogs</a>"
            ),
            topics=("pets", "loud"),
        ),
        RawPage(
            "http://a.org/cats",
            text="cat dog",
            title="Cats",
            links=("dogs", "http://a.org/cats", "mailto:cat@a.org"),
            aliases=("http://a.org/old-cats", "http://c.org/cats"),
            topics=("pets",),
        ),
        RawPage("http://a.org/fish", text="the fish"),
    ]


def terms_of(web: RecordedWeb, page: int) -> dict[str, int]:
    where = slice(web.term_offset[page], web.term_offset[page + 1])
    assert web.term[where].tolist() == sorted(web.term[where].tolist())
    return {
        web.vocabulary[term]: int(count) for term, count in zip(web.term[where], web.term_count[where], strict=True)
    }
