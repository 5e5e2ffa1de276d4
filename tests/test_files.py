"""Files read whatever they are compressed with, written whole or not at all, and named safely."""

import errno
import gzip
import os
import sys
from pathlib import Path
from typing import NoReturn

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound import files
from scenthound.errors import Failure, InvalidInput, printable
from scenthound.files import DAMAGE, compressed_as, first_bytes, opened, part_file, regular_bytes, write_atomic


@pytest.mark.parametrize("name", ["words", "words.gz", "words.zst"])
def test_what_is_written_compressed_reads_back_whatever_the_name(name: str, tmp_path: Path) -> None:
    content = b"dogs and cats " * 1_000
    packed = compressed_as(Path(name), content)
    assert (len(packed) < len(content)) == (name != "words")
    assert packed == compressed_as(Path(name), content), "the same content makes the same bytes"
    (tmp_path / "misnamed.txt").write_bytes(packed)
    with opened(tmp_path / "misnamed.txt") as source:
        assert source.content.read() == content
        assert source.file.tell() == len(packed)
    assert first_bytes(tmp_path / "misnamed.txt") == content[:64]


def test_several_members_are_one_content(tmp_path: Path) -> None:
    for name, pack in (("gz", gzip.compress), ("zst", zstd.compress)):
        (tmp_path / name).write_bytes(pack(b"dogs ") + pack(b"cats"))
        with opened(tmp_path / name) as source:
            assert source.content.read() == b"dogs cats"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_truncated_file_raises_damage(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "words"
    whole = compressed_as(Path(ending), os.urandom(1_000))
    path.write_bytes(whole[:500])
    with opened(path) as source, pytest.raises(DAMAGE):
        source.content.read()
    path.write_bytes(whole[:8])
    assert first_bytes(path) == b""


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert first_bytes(tmp_path / "empty") == b""


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    wrong = {"missing": "No such file", "pipe": "a pipe or a device", "": "is a folder", "\x1b[2J": r"\\x1b\[2J"}
    for name, words in wrong.items():
        with pytest.raises(InvalidInput, match=words) as refused, opened(tmp_path / name):
            pass
        assert str(refused.value).isprintable()
        assert str(tmp_path) in str(refused.value)


def test_a_written_file_has_default_permissions_and_leaves_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_atomic(tmp_path / "words", b"dogs")
    assert (tmp_path / "words").read_bytes() == b"dogs"
    assert (tmp_path / "words").stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert {path.name for path in tmp_path.iterdir()} == {"usual", "words"}


def test_a_replaced_file_keeps_its_permissions_and_links(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"old")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "link").symlink_to("secret")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "secret").read_bytes() == b"new"
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "words").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Failure, match=f"words: {os.strerror(errno.ENOSPC)}"):
        write_atomic(tmp_path / "words", b"new")
    assert (tmp_path / "words").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["words"]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_parts_of_killed_processes_are_removed_and_those_in_use_are_not(tmp_path: Path) -> None:
    dead = tmp_path / ".scenthound-0123456789abcdef.part"
    dead.write_bytes(b"half a wo")
    with part_file(tmp_path) as ours:
        assert names_in(tmp_path) == {ours.path.name}
        write_atomic(tmp_path / "words", b"dogs")
        assert names_in(tmp_path) == {ours.path.name, "words"}
    assert names_in(tmp_path) == {"words"}


def test_nothing_but_files_with_the_names_of_parts_is_removed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"precious")
    link, pipe, folder = (f".scenthound-{number:016x}.part" for number in range(3))
    (tmp_path / link).symlink_to("theirs")
    os.mkfifo(tmp_path / pipe)
    (tmp_path / folder).mkdir()
    others = {".0123456789abcdef.part", ".scenthound-notes.part", "scenthound-0123456789abcdef.part"}
    for name in others:
        (tmp_path / name).touch()
    write_atomic(tmp_path / "words", b"dogs")
    assert names_in(tmp_path) == {"theirs", "words", link, pipe, folder, *others}
    assert (tmp_path / "theirs").read_bytes() == b"precious"


def test_without_locks_no_part_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_arguments: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(files.fcntl, "flock", no_locks)
    maybe_alive = tmp_path / ".scenthound-0123456789abcdef.part"
    maybe_alive.touch()
    write_atomic(tmp_path / "words", b"dogs")
    assert names_in(tmp_path) == {maybe_alive.name, "words"}


def test_a_part_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = files.fcntl.flock
    removed: list[Path] = []

    def remove_first(handle: int, how: int) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        flock(handle, how)

    monkeypatch.setattr(files.fcntl, "flock", remove_first)
    write_atomic(tmp_path / "words", b"dogs")
    assert len(removed) == 1
    assert names_in(tmp_path) == {"words"}
    assert (tmp_path / "words").read_bytes() == b"dogs"


def test_a_symbolic_link_is_rejected_in_folders_of_others(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"precious")
    for target in ("theirs", "nowhere"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(target)
        with pytest.raises(InvalidInput, match=f"{tmp_path / 'link'}: "):
            write_atomic(tmp_path / "link", b"new", follow_link=False)
    assert (tmp_path / "theirs").read_bytes() == b"precious"
    assert {path.name for path in tmp_path.iterdir()} == {"theirs", "link"}
    write_atomic(tmp_path / "theirs", b"new", follow_link=False)
    assert (tmp_path / "theirs").read_bytes() == b"new"


def test_a_file_is_read_up_to_a_limit_without_blocking(tmp_path: Path) -> None:
    packed = gzip.compress(bytes(100))
    (tmp_path / "words").write_bytes(packed)
    os.mkfifo(tmp_path / "pipe")
    assert regular_bytes(tmp_path / "words", len(packed)) == packed
    wrong = {"words": "more than", "pipe": "a pipe or a device", "": "Is a directory", os.devnull: "a pipe or a device"}
    for name, words in wrong.items():
        with pytest.raises(OSError, match=words):
            regular_bytes(tmp_path / name, len(packed) - 1)


def test_folders_pipes_and_devices_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "missing" / "words"):
        with pytest.raises(InvalidInput):
            write_atomic(path, b"dogs")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_text_from_outside_is_escaped_and_cut() -> None:
    assert printable("caf\u00e9 \x1b[2J\n\u202e\ud800") == "caf\u00e9 \\x1b[2J\\n\\u202e\\ud800"
    assert printable("dogs and cats", 4) == "dogs..."
    assert printable("dogs", 4) == "dogs"


@given(st.text(), st.integers(0, 50))
def test_whatever_a_text_holds_it_is_safe_to_print_and_short(text: str, longest: int) -> None:
    assert printable(text, longest).isprintable()
    assert len(printable(text, longest)) <= len("\\U00000000") * longest + len("...")
    assert printable(printable(text)) == printable(text)
