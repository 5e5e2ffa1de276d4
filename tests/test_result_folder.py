"""Result folders: complete or absent, typed, and replaced atomically."""

import errno
import json
import math
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from recording_input import nothing_but, recorded_twice, write_pages
from scenthound.errors import CorruptData, Failure, InvalidInput
from scenthound.model import FloatArray
from scenthound.records import column, columns_of, from_json, to_json
from scenthound.store import folder, locks
from scenthound.store.folder import KNOWN_KINDS, FolderKind, ResultFolder, folder_kind
from scenthound.store.locks import locked
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb


class Verdict(StrEnum):
    HOLDS = "holds"
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    verdict: Verdict
    difference: float
    p_value: float | None = None
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    claims: list[Claim]
    means: dict[str, float]
    pair: tuple[int, str] = (0, "")
    old_style: int = column("old style", default=7)


def fail_after_writing(folder: ResultFolder) -> None:
    folder.write_json("crawls/1.json", 1)
    raise ZeroDivisionError


FINDINGS = Findings([Claim("a > b", Verdict.HOLDS, 0.5, 0.01, ("x", "y"))], {"otie": 1.5}, (3, "c"))


def test_a_folder_appears_complete_and_names_its_kind(tmp_path: Path) -> None:
    with ResultFolder.create(tmp_path / "out", kind="study") as folder:
        folder.write_json("tables/findings.json", FINDINGS)
        folder.write_json("study.json", {"study": "pant2002"})
        assert not (tmp_path / "out").exists()
    assert nothing_but(tmp_path, "out")
    opened = ResultFolder.open(tmp_path / "out", kind="study")
    assert opened.read_json("tables/findings.json", Findings) == FINDINGS
    assert opened.about == {"format": "scenthound study", "version": 1, "study": "pant2002"}
    assert folder_kind(tmp_path / "out") == "study"


@pytest.mark.parametrize("kind", ["run", "comparison", "study", "search", "validation"])
def test_each_kind_has_a_marker_file_even_if_nothing_is_written(tmp_path: Path, kind: FolderKind) -> None:
    with ResultFolder.create(tmp_path / "out", kind=kind):
        pass
    assert folder_kind(tmp_path / "out") == kind


def test_a_failed_block_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), ResultFolder.create(tmp_path / "new" / "out", kind="study"):
        raise ZeroDivisionError
    assert nothing_but(tmp_path)


def test_force_replaces_only_the_same_kind(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ResultFolder.create(out, kind="study"):
        pass
    with pytest.raises(InvalidInput, match="--force"), ResultFolder.create(out, kind="study"):
        pass
    with (
        pytest.raises(InvalidInput, match=rf"{out} .*\b{KNOWN_KINDS['run'].name}\b"),
        ResultFolder.create(out, kind="run", force=True),
    ):
        pass
    with ResultFolder.create(out, kind="study", force=True) as folder:
        folder.write_json("new.json", [1])
    assert ResultFolder.open(out, kind="study").read_json("new.json", list[int]) == [1]


def test_opening_another_kind_names_what_it_is_or_the_command_that_makes_one(tmp_path: Path) -> None:
    with ResultFolder.create(tmp_path / "study", kind="study"):
        pass
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidInput, match="scenthound study"):
        ResultFolder.open(tmp_path / "study", kind="run")
    with pytest.raises(InvalidInput, match="scenthound simulate"):
        ResultFolder.open(tmp_path / "empty", kind="run")
    with pytest.raises(InvalidInput, match=f"{tmp_path / 'nowhere'}: "):
        ResultFolder.open(tmp_path / "nowhere", kind="run")


@pytest.mark.parametrize(
    ("version", "message"),
    [(0, "damaged"), (99, rf" 99, .* {KNOWN_KINDS['study'].version}: "), (None, "damaged"), ("1", "damaged: .*'1'")],
)
def test_an_unknown_version_cannot_be_opened(tmp_path: Path, version: object, message: str) -> None:
    (tmp_path / "study.json").write_text(json.dumps({"format": "scenthound study", "version": version}))
    with pytest.raises(InvalidInput, match=message):
        ResultFolder.open(tmp_path, kind="study")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("content", ['{"format": "scenthound study", "version": 9}', "{}", None])
def test_what_force_would_not_replace_is_never_offered_to_be_replaced(
    force: bool, content: str | None, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if content is not None:
        (out / "study.json").write_text(content)
    with pytest.raises(InvalidInput) as problem, ResultFolder.create(out, kind="study", force=force):
        pass
    assert "--force" not in str(problem.value)
    assert out.is_dir()


def test_a_folder_of_a_later_version_is_named_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "crawl.json").write_text('{"format": "scenthound crawl", "version": 9}')
    for kind in ("crawl", "web"):
        with pytest.raises(InvalidInput, match="version 9"):
            ResultFolder.open(tmp_path, kind=kind)


def test_one_process_at_a_time_updates_a_folder(tmp_path: Path) -> None:
    with ResultFolder.update(tmp_path / "out", kind="study") as folder:
        folder.write_json("findings.json", FINDINGS)
    with (
        locked(tmp_path / "out"),
        pytest.raises(InvalidInput, match=rf"\bprocess .*{tmp_path / 'out'}: .*--out\b"),
        ResultFolder.update(tmp_path / "out", kind="study"),
    ):
        pass
    with pytest.raises(InvalidInput, match="scenthound study"), ResultFolder.update(tmp_path / "out", kind="run"):
        pass


def test_a_failed_first_update_removes_the_folder_unless_it_has_results(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), ResultFolder.update(tmp_path / "out", kind="study"):
        raise ZeroDivisionError
    assert nothing_but(tmp_path)
    with pytest.raises(ZeroDivisionError), ResultFolder.update(tmp_path / "out", kind="study") as folder:
        fail_after_writing(folder)
    assert ResultFolder.open(tmp_path / "out", kind="study").read_json("crawls/1.json", int) == 1


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('{"means": {}}', "claims"),
        ('{"claims": 3, "means": {}}', "claims"),
        ('{"claims": [{"text": 1, "verdict": "holds", "difference": 0}], "means": {}}', "text"),
        ('{"claims": [{"text": "", "verdict": "maybe", "difference": 0}], "means": {}}', "verdict"),
        ('{"claims": [], "means": {"a": "b"}}', "means"),
        ('{"claims": [], "means": {}, "pair": [1]}', "pair"),
        ("[]", "Findings"),
    ],
)
def test_json_that_does_not_fit_its_type_names_the_field(tmp_path: Path, content: str, names: str) -> None:
    with ResultFolder.create(tmp_path / "out", kind="study") as folder:
        (folder.path / "findings.json").write_text(content)
    with pytest.raises(CorruptData, match=names):
        ResultFolder.open(tmp_path / "out", kind="study").read_json("findings.json", Findings)


def test_json_that_is_cut_off_is_reported_with_its_file(tmp_path: Path) -> None:
    with ResultFolder.create(tmp_path / "out", kind="study") as folder:
        (folder.path / "findings.json").write_text('{"claims": [')
    with pytest.raises(InvalidInput, match=r"findings\.json"):
        ResultFolder.open(tmp_path / "out", kind="study").read_json("findings.json", Findings)


def test_numbers_that_are_not_finite_become_null_and_are_read_as_nan() -> None:
    claim = Claim("", Verdict.FAILS, math.inf, None)
    assert to_json(claim)["difference"] is None
    read = from_json(Claim, to_json(claim))
    assert math.isnan(read.difference)
    assert read.p_value is None


def test_unknown_keys_are_ignored_and_missing_ones_have_defaults() -> None:
    assert from_json(Findings, {"claims": [], "means": {}, "old_style": 1, "later": 2}).old_style == 1
    assert from_json(Findings, {"claims": [], "means": {}}).old_style == 7


def test_arrays_enums_and_paths_survive_a_round_trip() -> None:
    @dataclass(frozen=True)
    class Mixed:
        scores: FloatArray
        counts: dict[Verdict, int]
        path: Path

    mixed = Mixed(np.array([0.5, 1.0]), {Verdict.HOLDS: 2}, Path("a/b"))
    read = from_json(Mixed, json.loads(json.dumps(to_json(mixed))))
    assert read.scores.tolist() == [0.5, 1.0]
    assert (read.counts, read.path) == (mixed.counts, mixed.path)


def test_columns_describe_fields_in_order() -> None:
    assert [(each.name, each.title) for each in columns_of(Findings)][-2:] == [
        ("pair", "pair"),
        ("old_style", "old style"),
    ]


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


def test_links_pipes_and_files_with_the_names_of_leftovers_stay_where_they_are(tmp_path: Path) -> None:
    theirs = litter(tmp_path / "theirs")
    names = [f".web.{number:016x}.{kind}" for number, kind in enumerate(["part", "part", "part", "old", "old", "old"])]
    for link, pipe, file in (names[:3], names[3:]):
        (tmp_path / link).symlink_to("theirs")
        os.mkfifo(tmp_path / pipe)
        (tmp_path / file).write_bytes(b"mine")
    with locked(tmp_path):
        folder.remove_leftovers(tmp_path / "web")
    assert nothing_but(tmp_path, "theirs", *names)
    assert (theirs / "word.npy").exists()


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
    with pytest.raises(InvalidInput, match="--force"):
        record([pages], web)
    assert RecordedWeb.open(web).url(0) == "http://a.org/old"
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_a_process_between_two_renames_waits_for_the_new_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages, web = recorded_twice(tmp_path)
    rename, told = Path.rename, []

    def come() -> None:
        with pytest.raises(InvalidInput, match="--force"), folder.new_folder(web, "web"):
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
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(Failure, match=os.strerror(errno.EIO)):
        record([pages], web, force=True)
    assert RecordedWeb.open(web).url(0) == "http://a.org/old"
    assert nothing_but(tmp_path, "p.jsonl", "web")


def test_without_locks_nothing_is_removed_but_moved_folders_are_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_arguments: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(locks.fcntl, "flock", no_locks)
    pages, web = recorded_twice(tmp_path)
    maybe_alive = litter(tmp_path / ".web.0123456789abcdef.part")
    record([pages], web, force=True)
    assert RecordedWeb.open(web).url(0) == "http://a.org/new"
    web.rename(tmp_path / ".web.0123456789abcdef.old")
    with pytest.raises(InvalidInput, match="--force"):
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
