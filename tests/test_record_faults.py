"""Recordings that fail: the old web stays, nothing stays half done, and one line tells why."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from recording_input import contents, many_pages, nothing_but, write_pages
from scenthound.errors import Failure, InvalidInput
from scenthound.processes import MAX_REPEATS
from scenthound.store import record as record_module
from scenthound.store.batches import RawRecord
from scenthound.store.layout import FileColumns
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb
from scenthound.store.sources.records import ReadOptions
from timing import wait_until


def test_a_failed_recording_leaves_the_old_web_as_it_was(tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    record([pages], tmp_path / "web")
    before = contents(tmp_path / "web")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InvalidInput):
        record([tmp_path / "empty.jsonl"], tmp_path / "web", force=True)
    assert contents(tmp_path / "web") == before


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_leaves_no_files(workers: int, tmp_path: Path) -> None:
    def interrupt(_share: float, _words: str) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record([many_pages(tmp_path / "p.jsonl")], tmp_path / "web", workers=workers, progress=interrupt)
    assert nothing_but(tmp_path, "p.jsonl")


def test_a_full_disk_is_reported_in_one_line_and_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(FileColumns, "take", full)
    with pytest.raises(Failure, match=os.strerror(errno.ENOSPC)) as failed:
        record([many_pages(tmp_path / "p.jsonl", 5)], tmp_path / "web")
    assert "\n" not in str(failed.value)
    assert nothing_but(tmp_path, "p.jsonl")


def test_an_impossible_path_is_rejected(tmp_path: Path) -> None:
    pages = many_pages(tmp_path / "p.jsonl", 5)
    with pytest.raises(InvalidInput, match=r"p\.jsonl/web"):
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
    size_bytes: int = 1

    def chunks(self, _options: ReadOptions) -> Iterator[DeadlyChunk]:
        yield DeadlyChunk()


def test_a_dead_worker_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = many_pages(tmp_path / "p.jsonl", 10)
    monkeypatch.setattr(record_module, "source_of", DeadlySource)
    with pytest.raises(Failure, match=rf"\b{MAX_REPEATS}\b.*--workers 1\b") as failed:
        record([pages], tmp_path / "web", workers=2)
    assert "\n" not in str(failed.value)
    assert nothing_but(tmp_path, "p.jsonl")


SLOW_RECORDING = """
import sys, time
from scenthound.store.record import record

def dawdle(_share, _words):
    print("going", flush=True)
    time.sleep(600)

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
def test_leftovers_of_a_killed_recording_are_removed_by_the_next(tmp_path: Path) -> None:
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
    wait_until(lambda: not processes_with(mark), "the end of all workers")
    assert len(list(tmp_path.glob(".web.*.part"))) == 1
    record([pages], tmp_path / "web", workers=1)
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_new_parent_folders_are_removed_if_the_recording_fails(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "there").mkdir()
    for out in (tmp_path / "n1" / "n2" / "web", tmp_path / "there" / "n1" / "web"):
        with pytest.raises(InvalidInput, match=r"empty\.jsonl "):
            record([tmp_path / "empty.jsonl"], out)
    assert nothing_but(tmp_path, "empty.jsonl", "there")
    assert nothing_but(tmp_path / "there")
    pages = write_pages(tmp_path / "p.jsonl", {"url": "http://a.org/", "text": "x"})
    record([pages], tmp_path / "n1" / "n2" / "web")
    assert RecordedWeb.open(tmp_path / "n1" / "n2" / "web").n_pages == 1
