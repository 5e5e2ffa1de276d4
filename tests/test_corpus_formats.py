"""Exports as other programs read them."""

import json
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

import scenthound as sh
from corpus_crawls import ENGLISH, GERMAN, crawl_of, page
from scenthound.corpus.documents import Document, DocumentSettings, Selection
from scenthound.corpus.export import export
from scenthound.corpus.formats import folder_of_host, markdown_file, slug
from scenthound.errors import InvalidInput, UsageError
from stored_crawls import small_crawl

COLUMNS = {"id", "text", "url", "metadata", "title", "author", "language", "language_score", "published", "fetched"}
COLUMNS |= {"published_from", "relevance", "on_topic", "n_words", "status", "extractor", "quality", "duplicate_of"}
COLUMNS |= {"aliases", "markdown"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bodies = [page(2 * ENGLISH, "Balloons"), page(2 * GERMAN, "Ballone"), page(2 * ENGLISH, "Copy")]
    return crawl_of(tmp_path_factory.mktemp("crawls") / "crawl", bodies)


@pytest.fixture(scope="module")
def exports(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exports")
    for kind in ("jsonl", "parquet"):
        export(folder, kind, out / f"pages.{kind}")
    return out


def checked(rows: list[dict[str, Any]]) -> None:
    assert set(rows[0]) == COLUMNS
    assert [row["language"] for row in rows] == ["en", "de", "en"]
    assert rows[0]["text"].startswith("Hot air balloons rise")
    assert [row["metadata"]["visit"] for row in rows] == [0, 1, 2]
    assert rows[2]["duplicate_of"] == "http://a.test/0"
    assert [*rows[0]["quality"]] == [*rows[2]["quality"]]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_pandas_reads_exports(exports: Path, kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    read = {"jsonl": lambda file: pandas.read_json(file, lines=True), "parquet": pandas.read_parquet}[kind]
    checked(read(exports / f"pages.{kind}").to_dict("records"))


@pytest.mark.parametrize(("kind", "loader"), [("jsonl", "json"), ("parquet", "parquet")])
def test_datasets_loads_exports(
    exports: Path, tmp_path: Path, kind: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    file = str(exports / f"pages.{kind}")
    loaded = datasets.load_dataset(loader, data_files=file, split="train", cache_dir=str(tmp_path / "cache"))
    checked(loaded.to_list())


@pytest.mark.parametrize("name", ["texts.wet", "texts.wet.gz"])
def test_wet_files_have_the_texts_as_conversions_of_the_archived_pages(folder: Path, tmp_path: Path, name: str) -> None:
    assert export(folder, "wet", tmp_path / name).written == 3
    with (tmp_path / name).open("rb") as file:
        info, *records = [
            (record.rec_type, record.rec_headers, record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert info[0] == "warcinfo"
    assert {kind for kind, _, _ in records} == {"conversion"}
    _, headers, text = records[1]
    assert headers.get_header("WARC-Target-URI") == "http://a.test/1"
    assert headers.get_header("WARC-Identified-Content-Language") == "de"
    assert headers.get_header("Content-Type") == "text/plain; charset=utf-8"
    assert text.decode().startswith("Heißluftballone steigen")
    export(folder, "warc", tmp_path / "all.warc.gz")
    with (tmp_path / "all.warc.gz").open("rb") as file:
        ids = [record.rec_headers.get_header("WARC-Record-ID") for record in ArchiveIterator(file)]
    assert all(headers.get_header("WARC-Refers-To") in ids for _, headers, _ in records)


def test_markdown_files_have_front_matter_and_a_folder_for_each_host(folder: Path, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    out = tmp_path / "corpus"
    summary = export(folder, "markdown", out, selection=Selection(deduplicate=True))
    assert summary.written == 2
    assert [path.name for path in sorted((out / "a.test").iterdir())] == ["000000-balloons.md", "000001-ballone.md"]
    _, front, text = (out / "a.test" / "000001-ballone.md").read_text("utf-8").split("---\n", 2)
    facts = yaml.safe_load(front)
    assert (facts["title"], facts["language"], facts["url"]) == ("Ballone", "de", "http://a.test/1")
    assert text.strip().startswith("Heißluftballone")
    assert json.loads((out / "corpus.json").read_text())["dropped"] == {"near-duplicate": 1}


def test_a_markdown_folder_is_replaced_only_with_force_and_nothing_else_is(folder: Path, tmp_path: Path) -> None:
    out, mine = tmp_path / "corpus", tmp_path / "mine"
    export(folder, "markdown", out)
    with pytest.raises(InvalidInput, match="--force"):
        export(folder, "markdown", out)
    export(folder, "markdown", out, selection=Selection(language=("de",)), force=True)
    assert [path.name for path in (out / "a.test").iterdir()] == ["000001-ballone.md"]
    mine.mkdir()
    (mine / "diary.md").write_text("dear diary")
    with pytest.raises(InvalidInput, match="not replaced"):
        export(folder, "markdown", mine, force=True)
    assert (mine / "diary.md").read_text() == "dear diary"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Hot Air: Balloons!", "hot-air-balloons"),
        ("Heißluft Ölé", "heiluft-ole"),
        ("../../etc/passwd", "etc-passwd"),
        ("熱気球", ""),
        ("x" * 200, "x" * 60),
        ("a\x00b\nc", "a-b-c"),
    ],
)
def test_names_of_files_are_safe(title: str, expected: str) -> None:
    assert slug(title) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://A.test:8080/x", "a.test_8080"),
        ("http://[::1]/", "_1_"),
        ("http://../x", "_"),
        ("http://a.test./", "a.test"),
    ],
)
def test_names_of_folders_are_safe(url: str, expected: str) -> None:
    assert folder_of_host(url) == expected


def test_front_matter_cannot_be_broken_by_a_page() -> None:
    yaml = pytest.importorskip("yaml")
    title = 'a"b\n---\nrelevance: 1 # \u2028 {{ }} \x07 é'
    document = Document(
        id="1",
        text="",
        url="http://a.test/",
        title=title,
        fetched="",
        relevance=0.25,
        on_topic=None,
        n_words=0,
        status=200,
        extractor=None,
        quality=(),
        aliases=(),
        metadata={"visit": 0},
        markdown="---\nrelevance: 1\n---",
    )
    _, front, _ = markdown_file(document).decode().split("---\n", 2)
    facts = yaml.safe_load(front)
    assert (facts["title"], facts["relevance"]) == (title, 0.25)


def test_options_that_make_no_sense_for_a_kind_are_one_line(folder: Path, tmp_path: Path) -> None:
    for kind in ("warc", "cdxj"):
        for options in ({"min_words": 5}, {"html": True}):
            with pytest.raises(UsageError, match=kind):
                sh.export(folder, kind, tmp_path / "x", **options)
    for kind in ("markdown", "wet"):
        with pytest.raises(UsageError, match="markdown=False is for"):
            sh.export(folder, kind, tmp_path / "x", markdown=False)
        with pytest.raises(UsageError, match="html=True is for"):
            sh.export(folder, kind, tmp_path / "x", html=True)
    assert not (tmp_path / "x").exists()


def test_html_and_markdown_are_columns_only_on_request(tmp_path: Path) -> None:
    crawl = small_crawl(tmp_path / "crawl")
    export(crawl, "jsonl", tmp_path / "a.jsonl", settings=DocumentSettings(markdown=False))
    row = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert set(row) == COLUMNS - {"markdown"}
    export(crawl, "jsonl", tmp_path / "b.jsonl", settings=DocumentSettings(html=True))
    row = json.loads((tmp_path / "b.jsonl").read_text().splitlines()[0])
    assert set(row) == COLUMNS | {"html"}


@pytest.mark.parametrize(("kind", "name"), [("jsonl", "a.jsonl.GZ"), ("wet", "a.wet.Gz"), ("warc", "a.warc.GZ")])
def test_suffixes_in_capitals_compress_too(folder: Path, tmp_path: Path, kind: str, name: str) -> None:
    export(folder, kind, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b")
