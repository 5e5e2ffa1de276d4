"""`scenthound export`, and crawls as recorded webs for the other commands."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scenthound.corpus.documents import PROGRESS_STEP
from stored_crawls import add_page, new_crawl, response, small_crawl
from timing import wait_until

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_crawl(tmp_path / "crawl")


def test_pages_are_exported_and_those_left_out_are_counted(folder: Path, tmp_path: Path, scenthound: Call) -> None:
    file = tmp_path / "pages.jsonl"
    code, out, _ = scenthound("export", folder, "--to", "jsonl", "--out", file)
    assert code == 0
    assert re.search(rf"\b2 pages\b.* {file}\.$", out, re.MULTILINE)
    assert re.search(r"\b1 page\b.* --include-noindex\b", out)
    urls = [json.loads(line)["url"] for line in file.read_text("utf-8").splitlines()]
    assert urls == ["http://a.test/", "http://a.test/dogs"]
    code, out, _ = scenthound("export", folder, "--to", "jsonl", "--out", file, "--include-noindex", "--force")
    assert code == 0
    assert re.search(rf"\b3 pages\b.* {file}\.$", out, re.MULTILINE)
    assert "--include-noindex" not in out


def test_an_export_counts_the_pages_on_topic_and_says_how_that_was_decided(tmp_path: Path, scenthound: Call) -> None:
    # Relevance 0.5, 0.9 and, marked noindex, 0.5.
    folder = small_crawl(tmp_path / "crawl", relevance="rocchio", on_topic_from=0.5)
    command = ("export", folder, "--to", "jsonl", "--out", tmp_path / "pages.jsonl", "--force")
    code, out, _ = scenthound(*command)
    assert code == 0
    assert re.search(r"On topic: 2 of these;.*\brocchio\b.* 0\.5\b", out)
    assert re.search(r"\b1 page\b.*\bnoindex, 1 on topic\b", out)
    values = json.loads(scenthound(*command, "--min-relevance", "0.7", "--json")[1])
    assert (values["written"], values["n_on_topic"], values["n_noindex_on_topic"]) == (1, 1, 1)
    assert (values["relevance_model"], values["on_topic_from"], values["min_relevance"]) == ("rocchio", 0.5, 0.7)
    _, out, _ = scenthound(*command, "--on-topic", "--min-relevance", "0.95")
    assert re.search(r"\b2 pages\b.* 0\.95\b", out)


def test_an_export_counts_no_pages_on_topic_if_nothing_can_tell(folder: Path, tmp_path: Path, scenthound: Call) -> None:
    assert "On topic" not in scenthound("export", folder, "--to", "jsonl", "--out", tmp_path / "pages.jsonl")[1]
    probable = small_crawl(tmp_path / "probable", relevance="rocchio", on_topic_from=0.5)
    for kind in ("warc", "cdxj"):
        _, out, _ = scenthound("export", probable, "--to", kind, "--out", tmp_path / kind, "--json")
        assert json.loads(out)["n_on_topic"] is None


@pytest.mark.parametrize("kind", ["parquet", "warc", "cdxj"])
def test_every_kind_of_export_writes_its_file(kind: str, folder: Path, tmp_path: Path, scenthound: Call) -> None:
    file = tmp_path / f"crawl.{kind}"
    code, out, _ = scenthound("export", folder, "--to", kind, "--out", file, "--json")
    assert code == 0
    assert json.loads(out)["written"] > 0
    assert file.stat().st_size > 0


#: An export that stops at its first report of progress.
UNFINISHED_EXPORT = """
import sys, time
from scenthound.corpus.export import export
export(sys.argv[1], "jsonl", sys.argv[2], progress=lambda share, text: time.sleep(3600))
"""


def parts_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == ".part"]


def test_what_a_killed_export_leaves_is_removed_by_the_next_one_and_a_running_one_is_not_disturbed(
    tmp_path: Path, scenthound: Call
) -> None:
    with new_crawl(tmp_path / "crawl") as store:
        store.add_urls([f"http://a.test/{number}" for number in range(2 * PROGRESS_STEP)])
        for number in range(2 * PROGRESS_STEP):
            add_page(store, number, response(f"http://a.test/{number}", b"dogs" * 100))
        store.commit()
    out = tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-c", UNFINISHED_EXPORT, str(tmp_path / "crawl"), str(out / "never.jsonl")]
    with subprocess.Popen(command) as running:
        try:
            # It has written pages, and stopped.
            (part,) = wait_until(
                lambda: [each for each in parts_in(out) if each.stat().st_size > 0], "a part", process=running
            )
            assert scenthound("export", tmp_path / "crawl", "--to", "warc", "--out", out / "other.warc")[0] == 0
            assert parts_in(out) == [part]
        finally:
            running.kill()
    assert parts_in(out) == [part]
    assert scenthound("export", tmp_path / "crawl", "--to", "jsonl", "--out", out / "pages.jsonl")[0] == 0
    assert {path.name for path in out.iterdir()} == {"other.warc", "pages.jsonl"}


def test_wrong_use_of_export_is_one_line(folder: Path, tmp_path: Path, scenthound: Call) -> None:
    existing = tmp_path / "existing.jsonl"
    existing.write_text("mine\n")
    code, _, err = scenthound("export", folder, "--to", "jsonl", "--out", existing)
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(existing) in err
    assert existing.read_text() == "mine\n"
    code, _, err = scenthound("export", folder, "--to", "jsnl", "--out", tmp_path / "new")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "'jsonl'" in err
    assert not (tmp_path / "new").exists()


def test_a_crawl_can_be_recorded_and_simulated_on(folder: Path, tmp_path: Path, scenthound: Call) -> None:
    code, out, _ = scenthound("record", "--from", folder, "--out", tmp_path / "web", "--workers", 1)
    assert code == 0
    assert re.search(r"\b3 pages\b.*\b2 hosts\b", out)
    topic = {"id": "dogs", "keywords": ["dogs"], "seeds": ["http://a.test/"], "targets": ["http://a.test/dogs"]}
    (tmp_path / "topics.jsonl").write_text(json.dumps(topic) + "\n")
    code, out, err = scenthound(
        *("simulate", "--web", folder, "--topics", tmp_path / "topics.jsonl", "--strategy", "best_first"),
        *("--out", tmp_path / "run", "--workers", 1),
    )
    assert code == 0, err
    assert scenthound("evaluate", tmp_path / "run")[0] == 0
