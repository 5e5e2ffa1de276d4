"""Recording files into a web: what comes out, what is said of what was left out, and that nothing stays half done."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from scenthound.errors import BadInput, BadParameter, Failure
from scenthound.store import batch_maker, folder, folder_lock
from scenthound.store import record as record_module
from scenthound.store.columns import FileColumns
from scenthound.store.raw_page import RawRecord
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources.chunk import ReadOptions
from scenthound.store.summary import SkippedCount
from scenthound.web.parse import parse_html


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


def test_a_recorded_web_holds_the_pages_of_all_files_in_order(tmp_path: Path) -> None:
    first = write_pages(tmp_path / "1.jsonl", {"url": "http://a.org/", "html": "<a href=b>b</a> <a href=x>x</a>"})
    second = write_pages(tmp_path / "2.jsonl", {"url": "http://a.org/b", "text": "dogs", "aliases": ["http://b.org"]})
    summary = record([first, str(second)], tmp_path / "web")
    web = RecordedWeb.open(tmp_path / "web")
    assert list(web.urls) == ["http://a.org/", "http://a.org/b", "http://b.org/", "http://a.org/x"]
    assert (summary.pages, summary.urls, summary.links, summary.links_recorded) == (2, 4, 2, 1)
    assert (summary.words, summary.vocabulary, summary.hosts, summary.aliases) == (3, 1, 1, 1)
    assert summary.bytes_read == first.stat().st_size + second.stat().st_size
    assert web.about["sources"][1] == {"file": "2.jsonl", "bytes": second.stat().st_size, "pages": 1}
    assert web.about["pages"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.jsonl", "2.jsonl", "web"]


def test_two_workers_write_the_same_bytes_as_one(tmp_path: Path) -> None:
    pages = many_pages(tmp_path / "pages.jsonl")
    summaries = [record([pages], tmp_path / f"web{workers}", workers=workers) for workers in (1, 2)]
    assert contents(tmp_path / "web1") == contents(tmp_path / "web2")
    assert summaries[0] == summaries[1]
    assert summaries[0].pages == 400
    assert summaries[0].aliases == 90


def test_leaks_are_cut_and_only_wanted_records_kept_when_asked(tmp_path: Path) -> None:
    pages = write_pages(
        tmp_path / "pages.jsonl",
        {"url": "http://a.org/", "html": "dog<i>Pets</i>cat", "leak": [[3, 14]], "kind": "article"},
        {"url": "http://a.org/index", "html": "everything", "kind": "index"},
    )
    summary = record([pages], tmp_path / "web", without_leaks=True, where={"kind": "article"})
    web = RecordedWeb.open(tmp_path / "web")
    assert list(web.vocabulary) == ["", "dog", "cat"]
    assert summary.skipped == {"not wanted: kind is not article": SkippedCount(1, ("pages.jsonl, line 2",))}
    assert web.about["options"] == {"without_leaks": True, "where": {"kind": "article"}}


def test_bad_records_are_counted_by_reason_and_the_first_few_named(tmp_path: Path) -> None:
    good = {"url": "http://a.org/", "html": "x"}
    nameless = [{"html": "x"}] * 5
    strange = [{"url": "gopher://a.org/", "html": "x"}, good | {"url": "HTTP://A.org"}]
    summary = record([write_pages(tmp_path / "p.jsonl", good, *nameless, *strange)], tmp_path / "web")
    assert summary.skipped == {
        "no url": SkippedCount(5, ("p.jsonl, line 2", "p.jsonl, line 3", "p.jsonl, line 4")),
        "duplicate url": SkippedCount(1, ("p.jsonl, line 8",)),
        "url is not http(s)": SkippedCount(1, ("p.jsonl, line 7",)),
    }


def test_a_page_that_cannot_be_parsed_does_not_stop_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = parse_html

    def easily_upset(html: str, *rest: Any, **options: Any) -> Any:
        if "poison" in html:
            raise RecursionError
        return parse(html, *rest, **options)

    monkeypatch.setattr(batch_maker, "parse_html", easily_upset)
    rows = [{"url": f"http://a.org/{i}", "html": "poison" if i == 1 else "dog"} for i in range(3)]
    summary = record([write_pages(tmp_path / "p.jsonl", *rows)], tmp_path / "web", workers=1)
    assert summary.pages == 2
    assert summary.skipped == {"cannot be parsed (RecursionError)": SkippedCount(1, ("p.jsonl, line 2",))}


def test_progress_goes_up_to_the_whole_and_tells_the_pages(tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    record([many_pages(tmp_path / "p.jsonl", 130)], tmp_path / "web", progress=lambda *news: told.append(news))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert told[0][1] == "64 pages"


def nothing_but(tmp_path: Path, *names: str) -> bool:
    return sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize("text", ["", "\n\n", "no json\n", '{"url": "ftp://a.org/", "text": "x"}\n'])
def test_a_file_without_a_page_is_refused_by_name_and_nothing_is_written(text: str, tmp_path: Path) -> None:
    good = write_pages(tmp_path / "good.jsonl", {"url": "http://a.org/", "text": "x"})
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(BadInput, match=r"bad\.jsonl holds no page") as refused:
        record([good, tmp_path / "bad.jsonl"], tmp_path / "web")
    assert "\n" not in str(refused.value)
    assert nothing_but(tmp_path, "good.jsonl", "bad.jsonl")


def test_a_file_without_even_a_row_is_refused_by_name(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    good = write_pages(tmp_path / "good.jsonl", {"url": "http://a.org/", "text": "x"})
    nothing = pyarrow.Table.from_pylist([], pyarrow.schema([("url", pyarrow.string())]))
    parquet.write_table(nothing, tmp_path / "empty.parquet")
    for files in ([good, tmp_path / "empty.parquet"], [tmp_path / "empty.parquet", good]):
        with pytest.raises(BadInput, match=r"empty\.parquet holds no page \(it is empty\)"):
            record(files, tmp_path / "web")


def test_a_file_of_pages_that_came_before_is_no_mistake(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    assert record([pages, pages], tmp_path / "web").skipped["duplicate url"].count == 1


def test_when_no_page_is_wanted_nothing_is_written(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    with pytest.raises(BadInput, match="kind is not article"):
        record([pages], tmp_path / "web", where={"kind": "article"})
    assert nothing_but(tmp_path, "p.jsonl")


def test_wrong_use_is_refused_before_anything_starts(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    with pytest.raises(BadInput, match="no file to record"):
        record([], tmp_path / "web")
    with pytest.raises(BadInput, match="missing"):
        record([pages, tmp_path / "missing"], tmp_path / "web")
    with pytest.raises(BadParameter, match="workers is 0"):
        record([pages], tmp_path / "web", workers=0)
    assert nothing_but(tmp_path, "p.jsonl")


def test_what_exists_is_replaced_only_by_force_and_only_if_it_is_a_recorded_web(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    out = tmp_path / "web"
    record([pages], out)
    with pytest.raises(BadInput, match="exists already"):
        record([pages], out)
    write_pages(pages, {"url": "http://a.org/other", "text": "x"})
    record([pages], out, force=True)
    assert RecordedWeb.open(out).url(0) == "http://a.org/other"
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    with pytest.raises(BadInput, match="so it stays"):
        record([pages], tmp_path / "precious", force=True)
    assert nothing_but(tmp_path, "p.jsonl", "web", "precious")
    assert (tmp_path / "precious" / "thesis.txt").exists()


def test_a_failed_recording_leaves_the_old_web_as_it_was(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    record([pages], tmp_path / "web")
    before = contents(tmp_path / "web")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(BadInput):
        record([tmp_path / "empty.jsonl"], tmp_path / "web", force=True)
    assert contents(tmp_path / "web") == before


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_leaves_nothing_behind(workers: int, tmp_path: Path) -> None:
    def interrupt(_share: float, _words: str) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record([many_pages(tmp_path / "p.jsonl")], tmp_path / "web", workers=workers, progress=interrupt)
    assert nothing_but(tmp_path, "p.jsonl")


def test_a_full_disk_is_told_in_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FileColumns, "take", full)
    with pytest.raises(Failure, match="No space left on device") as failed:
        record([many_pages(tmp_path / "p.jsonl", 5)], tmp_path / "web")
    assert "\n" not in str(failed.value)
    assert nothing_but(tmp_path, "p.jsonl")


def test_a_place_that_cannot_be_is_refused(tmp_path: Path) -> None:
    pages = many_pages(tmp_path / "p.jsonl", 5)
    with pytest.raises(BadInput, match="cannot be made: Not a directory"):
        record([pages], pages / "web")


@dataclass(frozen=True)
class DeadlyChunk:
    bytes_read: int = 0

    def records(self, _options: ReadOptions) -> Iterator[RawRecord]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()


@dataclass(frozen=True)
class DeadlySource:
    path: Path

    def chunks(self, _options: ReadOptions) -> Iterator[DeadlyChunk]:
        yield DeadlyChunk()


def test_a_worker_that_dies_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = many_pages(tmp_path / "p.jsonl", 10)
    monkeypatch.setattr(record_module, "source_of", DeadlySource)
    with pytest.raises(Failure, match="A worker process died") as failed:
        record([pages], tmp_path / "web", workers=2)
    assert "\n" not in str(failed.value)
    assert nothing_but(tmp_path, "p.jsonl")


SLOW_RECORDING = """
import sys, time
from scenthound.store.record import record

def dawdle(_share, _words):
    print("going", flush=True)
    time.sleep(60)

if __name__ == "__main__":
    record([sys.argv[1]], sys.argv[2], workers=2, progress=dawdle)
"""


def processes_with(mark: str) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to see processes")
def test_a_killed_recording_leaves_no_web_no_process_and_its_litter_goes_with_the_next(tmp_path: Path) -> None:
    pages = many_pages(tmp_path / "p.jsonl")
    mark = f"RECORDING_OF={tmp_path}"
    name, value = mark.split("=")
    command = [sys.executable, "-c", SLOW_RECORDING, str(pages), str(tmp_path / "web")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {name: value}) as recording:
        assert recording.stdout is not None
        assert recording.stdout.readline() == b"going\n"
        assert len(processes_with(mark)) > 2
        recording.kill()
    assert not (tmp_path / "web").exists()
    for _ in range(100):
        if not processes_with(mark):
            break
        time.sleep(0.1)
    assert processes_with(mark) == []
    assert len(list(tmp_path.glob(".web.*.part"))) == 1
    record([pages], tmp_path / "web", workers=1)
    assert nothing_but(tmp_path, "p.jsonl", "web")


def litter(path: Path) -> Path:
    path.mkdir()
    (path / "word.npy").write_bytes(b"half a wo")
    return path


def test_litter_goes_unless_somebody_works_on_it(tmp_path: Path) -> None:
    dead = litter(tmp_path / ".web.0123456789abcdef.part")
    others = [litter(tmp_path / ".web.notes.part"), litter(tmp_path / ".web2.0123456789abcdef.part")]
    with folder.new_folder(tmp_path / "web") as ours:
        (ours / "word.npy").write_bytes(b"a word")
        folder.remove_leftovers(tmp_path / "web")
        assert ours.exists()
        assert not dead.exists()
        assert nothing_but(tmp_path, ours.name, *(path.name for path in others))
    assert (tmp_path / "web" / "word.npy").read_bytes() == b"a word"


def test_litter_never_stands_in_the_way_whatever_the_process_is_called(tmp_path: Path) -> None:
    for number in (1, os.getpid()):
        litter(tmp_path / f".web.{number}.part")
        litter(tmp_path / f".web.{number}.old")
    with folder.new_folder(tmp_path / "web") as ours:
        (ours / "word.npy").write_bytes(b"a word")
    assert (tmp_path / "web" / "word.npy").exists()


def recorded_twice(tmp_path: Path) -> tuple[Path, Path]:
    """Pages, and a web recorded of others."""
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/old", "text": "x"})
    record([pages], tmp_path / "web")
    return write_pages(pages, {"url": "http://a.org/new", "text": "x"}), tmp_path / "web"


def test_a_web_moved_aside_by_a_killed_process_comes_back(tmp_path: Path) -> None:
    pages, web = recorded_twice(tmp_path)
    web.rename(tmp_path / ".web.0123456789abcdef.old")
    with pytest.raises(BadInput, match="exists already"):
        record([pages], web)
    assert RecordedWeb.open(web).url(0) == "http://a.org/old"
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_who_comes_between_the_two_renames_of_another_waits_and_finds_the_new_web(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, web = recorded_twice(tmp_path)
    rename, told = Path.rename, []

    def come() -> None:
        with pytest.raises(BadInput, match="exists already"), folder.new_folder(web):
            pass
        told.append(RecordedWeb.open(web).url(0))

    comer = threading.Thread(target=come)

    def while_another_comes(path: Path, target: Path) -> Path:
        renamed = rename(path, target)
        if target.suffix == ".old":
            comer.start()
            comer.join(0.2)
            assert comer.is_alive()
        return renamed

    monkeypatch.setattr(Path, "rename", while_another_comes)
    record([pages], web, force=True)
    comer.join()
    assert told == ["http://a.org/new"]
    assert nothing_but(tmp_path, "p.jsonl", "web")


REPLACING = """
import sys
from pathlib import Path
from scenthound.store.folder import new_folder

for _ in range(60):
    with new_folder(Path(sys.argv[1]), True, lambda folder: (folder / "whole").exists()) as folder:
        (folder / "begun").touch()
        (folder / "whole").touch()
"""


def test_processes_that_replace_one_folder_at_the_same_time_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    command = [sys.executable, "-c", REPLACING, str(tmp_path / "out")]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[1] for process in processes] == [b""] * 3
    assert nothing_but(tmp_path, "out")
    assert nothing_but(tmp_path / "out", "begun", "whole")


def test_a_folder_half_removed_never_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, web = recorded_twice(tmp_path)

    def killed(_path: Path, **_options: bool) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            record([pages], web, force=True)
    assert RecordedWeb.open(web).url(0) == "http://a.org/new"
    shutil.rmtree(web)
    record([pages], web)
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_when_the_new_web_cannot_take_its_place_the_old_one_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages, web = recorded_twice(tmp_path)
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.suffix == ".part":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(Failure, match="Input/output error"):
        record([pages], web, force=True)
    assert RecordedWeb.open(web).url(0) == "http://a.org/old"
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_without_locks_nothing_is_removed_but_what_was_moved_aside_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_lock, "fcntl", None)
    pages, web = recorded_twice(tmp_path)
    maybe_alive = litter(tmp_path / ".web.0123456789abcdef.part")
    record([pages], web, force=True)
    assert RecordedWeb.open(web).url(0) == "http://a.org/new"
    web.rename(tmp_path / ".web.0123456789abcdef.old")
    with pytest.raises(BadInput, match="exists already"):
        record([pages], web)
    assert nothing_but(tmp_path, "p.jsonl", "web", maybe_alive.name)


def test_a_web_is_on_the_disk_before_it_has_its_name_and_its_name_before_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def noting_fsync(handle: int) -> None:
        done.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        fsync(handle)

    def noting_rename(path: Path, target: Path) -> Path:
        done.append("renamed")
        return rename(path, target)

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to see what is open")
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(Path, "rename", noting_rename)
    record([pages], tmp_path / "web")
    renamed = done.index("renamed")
    files, (working_folder,) = set(done[: renamed - 1]), done[renamed - 1 : renamed]
    assert files == {file.name for file in (tmp_path / "web").iterdir()}
    assert working_folder.startswith(".web.")
    assert done[renamed + 1 :] == [tmp_path.name]


def test_folders_made_on_the_way_go_again_when_the_recording_fails(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "there").mkdir()
    for out in (tmp_path / "n1" / "n2" / "web", tmp_path / "there" / "n1" / "web"):
        with pytest.raises(BadInput, match="holds no page"):
            record([tmp_path / "empty.jsonl"], out)
    assert nothing_but(tmp_path, "empty.jsonl", "there")
    assert nothing_but(tmp_path / "there")
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    record([pages], tmp_path / "n1" / "n2" / "web")
    assert RecordedWeb.open(tmp_path / "n1" / "n2" / "web").n_pages == 1


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    pages, web = recorded_twice(tmp_path)
    (tmp_path / "link").symlink_to("web")
    record([pages], tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert RecordedWeb.open(web).url(0) == "http://a.org/new"
    assert nothing_but(tmp_path, "p.jsonl", "web", "link")


def test_messages_are_safe_to_print_whatever_a_file_is_called_or_says(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[2J.warc"
    path.write_bytes(
        b"WARC/1.0\r\nWARC-Type: \x1b]0;owned\x07" + b"y" * 5_000 + b"\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    )
    with pytest.raises(BadInput, match=r"x1b\[2J\.warc holds no page \(1 x record of unknown type") as refused:
        record([path], tmp_path / "web")
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1_000


def test_real_pages_are_recorded_as_their_files_describe_them(shared: Path, tmp_path: Path) -> None:
    """A real collection, small enough for a test: its counts are those of its description."""
    summary = record([shared / "data" / "mdn" / "pages.jsonl.zst"], tmp_path / "web")
    web = RecordedWeb.open(tmp_path / "web")
    assert summary.pages + summary.skipped.get("duplicate url", SkippedCount(0, ())).count == 11_635
    assert summary.hosts == 1
    offset, _ = web.inlinks()
    assert 80_000 < offset[-1] < 96_000  # described as 88 k links inside
    anatomy = web.page_of("https://developer.mozilla.org/en-US/docs/Games/Anatomy_of_a_vIdeo_game")
    assert anatomy is not None
    assert web.title(anatomy) == "Anatomy of a video game"
    assert anatomy in web.labelled("Games/Anatomy")
    assert len(web.labelled("Web/CSS")) == 950
