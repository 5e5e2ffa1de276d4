"""How a new folder takes the place of an old one, whoever else is at work or was killed."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from recording_input import nothing_but, recorded_twice, write_pages
from scenthound.errors import Failure, InvalidInput
from scenthound.store import folder, locks
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb


def litter(path: Path) -> Path:
    path.mkdir()
    (path / "word.npy").write_bytes(b"half a wo")
    return path


def test_leftovers_are_removed_unless_they_are_locked(tmp_path: Path) -> None:
    dead = litter(tmp_path / ".web.0123456789abcdef.part")
    others = [litter(tmp_path / ".web.notes.part"), litter(tmp_path / ".web2.0123456789abcdef.part")]
    with folder.new_folder(tmp_path / "web") as ours:
        (ours / "word.npy").write_bytes(b"a word")
        folder.remove_leftovers(tmp_path / "web")
        assert ours.exists()
        assert not dead.exists()
        assert nothing_but(tmp_path, ours.name, *(path.name for path in others))
    assert (tmp_path / "web" / "word.npy").read_bytes() == b"a word"


def test_leftovers_never_block_a_new_folder(tmp_path: Path) -> None:
    for number in (1, os.getpid()):
        litter(tmp_path / f".web.{number}.part")
        litter(tmp_path / f".web.{number}.old")
    with folder.new_folder(tmp_path / "web") as ours:
        (ours / "word.npy").write_bytes(b"a word")
    assert (tmp_path / "web" / "word.npy").exists()


def test_a_web_moved_aside_by_a_killed_process_is_restored(tmp_path: Path) -> None:
    pages, web = recorded_twice(tmp_path)
    web.rename(tmp_path / ".web.0123456789abcdef.old")
    with pytest.raises(InvalidInput, match="exists already"):
        record([pages], web)
    assert RecordedWeb.open(web).url(0) == "http://a.org/old"
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_a_process_between_two_renames_waits_for_the_new_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, web = recorded_twice(tmp_path)
    rename, told = Path.rename, []

    def come() -> None:
        with pytest.raises(InvalidInput, match="exists already"), folder.new_folder(web, "web"):
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
from scenthound.store.folder import ResultFolder

for _ in range(60):
    with ResultFolder.create(Path(sys.argv[1]), kind="run", force=True) as folder:
        (folder.path / "begun").touch()
"""


def test_processes_can_replace_one_folder_at_the_same_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", REPLACING, str(tmp_path / "out")]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[1] for process in processes] == [b""] * 3
    assert nothing_but(tmp_path, "out")
    assert nothing_but(tmp_path / "out", "begun", "run.json")


def test_a_partly_removed_folder_is_never_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_old_web_is_restored_if_the_new_one_cannot_be_renamed(
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


def test_without_locks_nothing_is_removed_but_moved_folders_are_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", no_locks)
    pages, web = recorded_twice(tmp_path)
    maybe_alive = litter(tmp_path / ".web.0123456789abcdef.part")
    record([pages], web, force=True)
    assert RecordedWeb.open(web).url(0) == "http://a.org/new"
    web.rename(tmp_path / ".web.0123456789abcdef.old")
    with pytest.raises(InvalidInput, match="exists already"):
        record([pages], web)
    assert nothing_but(tmp_path, "p.jsonl", "web", maybe_alive.name)


def test_a_web_is_synced_before_and_after_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    # web.json is synced twice, at first under a temporary name.
    files = {name for name in files if not name.startswith(".")}
    assert files == {file.name for file in (tmp_path / "web").iterdir()}
    assert working_folder.startswith(".web.")
    assert done[renamed + 1 :] == [tmp_path.name]


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    pages, web = recorded_twice(tmp_path)
    (tmp_path / "link").symlink_to("web")
    record([pages], tmp_path / "link", force=True)
    assert (tmp_path / "link").is_symlink()
    assert RecordedWeb.open(web).url(0) == "http://a.org/new"
    assert nothing_but(tmp_path, "p.jsonl", "web", "link")
