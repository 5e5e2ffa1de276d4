"""Every kind of export of a crawl folder of version 0.8.0, whose dates and ids are fixed, and of a simulated run."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

import scenthound as sh
from goldens import Golden
from net_site import small_site

Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def finished(folder_of: Callable[[str], Path]) -> Path:
    return folder_of("finished")


@pytest.fixture
def exported(program: Program, finished: Path, tmp_path: Path) -> Callable[..., Path]:
    def export(to: str, name: str, *more: object) -> Path:
        code, _, err = program("export", finished, "--to", to, "--out", tmp_path / name, *more)
        assert code == 0, err
        return tmp_path / name

    return export


def shortened(documents: list[dict[str, Any]]) -> list[Any]:
    """The first documents with their texts, the others with digests of them."""
    rest = [{**each, "text": digest(each["text"]), "markdown": digest(each["markdown"])} for each in documents[2:]]
    return [*documents[:2], *rest]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_jsonl(exported: Callable[..., Path], golden: Golden) -> None:
    golden.json(shortened([json.loads(line) for line in exported("jsonl", "pages.jsonl").read_text().splitlines()]))


def test_selections(exported: Callable[..., Path], golden: Golden) -> None:
    chosen = {
        "on topic": ("--on-topic",),
        "relevant": ("--min-relevance", 0.9),
        "long": ("--min-words", 220),
        "without near-duplicates": ("--deduplicate",),
        "of quality": ("--quality-rule", "all"),
    }
    found = {}
    for name, options in chosen.items():
        file = exported("jsonl", f"{name}.jsonl", "--no-markdown", "--html", *options)
        documents = [json.loads(line) for line in file.read_text().splitlines()]
        assert all("markdown" not in each and each["html"].startswith("<!doctype") for each in documents)
        found[name] = [each["url"] for each in documents]
    golden.json(found)


def test_parquet(exported: Callable[..., Path], golden: Golden) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(exported("parquet", "pages.parquet"))
    golden.json(
        {"schema": [f"{field.name}: {field.type}" for field in table.schema], "rows": shortened(table.to_pylist())}
    )


def test_markdown(exported: Callable[..., Path], golden: Golden) -> None:
    folder = exported("markdown", "pages")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {str(path.relative_to(folder)): path.read_text() for path in files}
    golden.json({name: digest(text) for name, text in texts.items()})
    golden.text(next(text for name, text in texts.items() if name.endswith(".md")), "first", "md")


def records_of(path: Path) -> list[list[Any]]:
    records = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            headers = dict(record.rec_headers.headers)
            body = record.content_stream().read()
            # The record that describes the file has the date of the export, and a new id.
            is_info = record.rec_type == "warcinfo"
            values = [
                headers.get(name) for name in ("WARC-Target-URI", "WARC-Date", "WARC-Record-ID", "WARC-Refers-To")
            ]
            names = [name for name in headers if name != "WARC-Filename"]
            records.append([record.rec_type, names] if is_info else [record.rec_type, *values, digest(body.decode())])
    return records


@pytest.mark.parametrize("to", ["warc", "wet"])
def test_archives(to: str, exported: Callable[..., Path], golden: Golden) -> None:
    records = records_of(exported(to, f"pages.{to}"))
    if to == "wet":
        # Records of texts get new ids.
        records = [[*each[:3], *each[4:]] if len(each) > 3 else each for each in records]
    golden.json(records)
    assert [each[0] for each in records_of(exported(to, "more." + to + ".gz"))] == [each[0] for each in records]


def test_cdxj(exported: Callable[..., Path], golden: Golden) -> None:
    golden.text(exported("cdxj", "index.cdxj").read_text())


def test_tables(finished: Path, golden: Golden) -> None:
    """The public tables of a crawl, as data frames have them."""
    crawl = sh.open_crawl(finished)
    tables = {name: getattr(crawl, name) for name in ("pages", "on_topic", "skipped", "samples", "runs", "checks")}
    golden.json({name: {"columns": table.columns, "rows": len(table)} for name, table in tables.items()})
    frame, arrow = crawl.pages.to_pandas(), crawl.pages.to_arrow()
    golden.json({name: [str(frame[name].dtype), str(arrow.schema.field(name).type)] for name in frame}, "types")
    assert frame["url"].tolist() == [page.url for page in crawl.pages]
    assert {page.url for page in crawl.pages} <= {*small_site(80).pages}


def test_trec(program: Program, run: Path, tmp_path: Path, golden: Golden) -> None:
    assert program("export", run, "--to", "trec", "--out", tmp_path / "trec")[0] == 0
    for path in sorted(path for path in (tmp_path / "trec").rglob("*") if path.is_file()):
        lines = path.read_text().splitlines()
        golden.json({"lines": len(lines), "digest": digest("\n".join(lines)), "first": lines[:12]}, path.name)
