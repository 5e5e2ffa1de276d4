"""Exports to URLs: an S3-compatible server on loopback, and what goes wrong with it."""

import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenthound.corpus.destinations import is_remote, local_path
from scenthound.corpus.export import export
from scenthound.errors import Failure, InvalidInput, MissingExtra, UsageError
from stored_crawls import small_crawl

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_crawl(tmp_path_factory.mktemp("crawls") / "crawl")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    moto_server = pytest.importorskip("moto.server", reason="moto is not installed")
    running = moto_server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The file system of an empty bucket `corpora`."""
    s3fs = pytest.importorskip("s3fs")
    values = {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "s3cret", "AWS_ENDPOINT_URL": server}
    for name, value in {**values, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem()
    files.mkdir("corpora")
    yield files
    files.rm("corpora", recursive=True)
    s3fs.S3FileSystem.clear_instance_cache()


def test_an_export_is_written_to_a_bucket(crawl: Path, tmp_path: Path, bucket: Any) -> None:
    export(crawl, "jsonl", tmp_path / "pages.jsonl")
    assert export(crawl, "jsonl", "s3://corpora/a/pages.jsonl").written == 2
    assert bucket.cat("corpora/a/pages.jsonl") == (tmp_path / "pages.jsonl").read_bytes()
    with pytest.raises(InvalidInput, match="--force"):
        export(crawl, "jsonl", "s3://corpora/a/pages.jsonl")
    export(crawl, "parquet", "s3://corpora/a/pages.jsonl", force=True)
    assert bucket.cat("corpora/a/pages.jsonl").startswith(b"PAR1")


def test_a_folder_is_written_to_a_bucket(crawl: Path, bucket: Any) -> None:
    export(crawl, "markdown", "s3://corpora/texts")
    assert sorted(bucket.find("corpora/texts")) == [
        "corpora/texts/a.test/000000-a.md",
        "corpora/texts/a.test/000001-cafe.md",
        "corpora/texts/corpus.json",
    ]
    assert json.loads(bucket.cat("corpora/texts/corpus.json"))["written"] == 2
    with pytest.raises(InvalidInput, match="exists") as error:
        export(crawl, "markdown", "s3://corpora/texts", force=True)
    assert "--force" not in str(error.value)


def test_a_bucket_that_refuses_is_one_line(crawl: Path, bucket: Any, scenthound: Call) -> None:
    code, _, err = scenthound("export", crawl, "--to", "jsonl", "--out", "s3://missing/pages.jsonl")
    assert (code, len(err.strip().splitlines())) == (1, 1)
    assert "s3://missing/pages.jsonl" in err
    assert "s3cret" not in err
    assert not bucket.exists("missing")


def test_what_was_uploaded_of_a_folder_is_removed_when_the_rest_fails(
    crawl: Path, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file = bucket.put_file

    def put_some(source: str, target: str, **options: Any) -> Any:
        if target.endswith(".json"):
            raise PermissionError("Access Denied")
        return put_file(source, target, **options)

    monkeypatch.setattr(bucket, "put_file", put_some)
    with pytest.raises(Failure, match="Access Denied"):
        export(crawl, "markdown", "s3://corpora/texts")
    assert bucket.find("corpora") == []


def test_a_server_that_does_not_answer_is_one_line(crawl: Path, bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    s3fs = pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    with pytest.raises(Failure, match="Nothing was written"):
        export(crawl, "jsonl", "s3://corpora/pages.jsonl")
    s3fs.S3FileSystem.clear_instance_cache()


def test_a_disk_that_fills_while_an_upload_is_prepared_is_one_line(
    crawl: Path, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("scenthound.corpus.export.write_jsonl", full)
    with pytest.raises(Failure, match=os.strerror(errno.ENOSPC)):
        export(crawl, "jsonl", "s3://corpora/pages.jsonl")
    assert bucket.find("corpora") == []
    assert [*tmp_path.iterdir()] == []


def test_other_file_systems_are_written_to(crawl: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    export(crawl, "jsonl", f"file://{tmp_path}/pages.jsonl")
    export(crawl, "jsonl", "memory://some/where/pages.jsonl.gz", force=True)
    packed = fsspec.filesystem("memory").cat("/some/where/pages.jsonl.gz")
    assert packed.startswith(b"\x1f\x8b")
    assert len((tmp_path / "pages.jsonl").read_text().splitlines()) == 2


def test_unknown_file_systems_and_missing_extras_are_one_line(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        export(crawl, "jsonl", "nowhere://x/pages.jsonl")
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(MissingExtra, match="s3"):
        export(crawl, "jsonl", "s3://x/pages.jsonl")


@pytest.mark.parametrize("password", ["s3cret", "s3/cret", "s3@cret"])
def test_credentials_in_a_url_are_not_shown(crawl: Path, password: str) -> None:
    with pytest.raises(UsageError) as error:
        export(crawl, "jsonl", f"nowhere://me:{password}@host/pages.jsonl")
    assert "cret" not in str(error.value)


@pytest.mark.parametrize("out", ["s3://", "s3:///", "s3://bucket", "s3://bucket/", "S3://bucket/folder/", "memory://"])
def test_a_url_without_a_name_is_one_line(crawl: Path, out: str) -> None:
    with pytest.raises(UsageError, match="name"):
        export(crawl, "jsonl", out)


@pytest.mark.parametrize("name", ["crawl.json", "crawl.sqlite", "pages.jsonl", "archive/pages.jsonl"])
def test_nothing_is_written_into_the_crawl_folder(tmp_path: Path, name: str) -> None:
    folder = small_crawl(tmp_path / "crawl")
    (tmp_path / "link").symlink_to(folder)
    before = (folder / "crawl.json").read_bytes()
    for out in (folder / name, tmp_path / "link" / name, f"file://{folder / name}"):
        with pytest.raises(UsageError, match="crawl folder"):
            export(folder, "jsonl", out, force=True)
    assert (folder / "crawl.json").read_bytes() == before


@pytest.mark.parametrize(
    ("out", "expected"),
    [("s3://bucket/a", True), ("GS://bucket/a", True), ("a/b", False), ("file:///a", False), ("c:/a", False)],
)
def test_urls_are_told_from_paths(out: str, expected: bool) -> None:
    assert is_remote(out) is expected


def test_a_file_url_is_a_path() -> None:
    assert local_path("file:///a/b%20c") == local_path("file://localhost/a/b%20c") == Path("/a/b c")
    with pytest.raises(UsageError, match="file:///"):
        local_path("file://elsewhere/a")
