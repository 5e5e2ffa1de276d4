"""The folder of a study: whose it is, who works on it, and how its files come to be there.

study.json     written first: which study on which web this is; at the end with all there is to say of the run
figures/, tables/, measures.csv, topics.csv, settings.toml, report.html
findings.json  written last, and removed before anything else is written anew: where it is, all files belong together
crawls/        the crawls that were made, so that the next run need not make them

Rules
- A folder belongs to one study on one web. Other sizes and settings go on in it; files that they no longer have go.
- One process at a time works on a folder.
- A folder that was begun and came to nothing, not even a crawl, is removed again.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scenthound.errors import BadInput, printable
from scenthound.files import write_whole
from scenthound.report.json_text import json_text
from scenthound.store.folder_lock import locked_unless_taken

FORMAT = "scenthound study"
VERSION = 1
ABOUT_FILE = "study.json"
FINDINGS_FILE = "findings.json"
SETTINGS_FILE = "settings.toml"
REPORT_FILE = "report.html"
CRAWLS_FOLDER = "crawls"


@contextmanager
def study_place(out: Path, study: str, web_fingerprint: str) -> Iterator[None]:
    """Hold the folder of a study, and make it if there is none; BadInput if it is something else."""
    _check(out, study, web_fingerprint)
    is_new = not (out / ABOUT_FILE).is_file()
    _make(out)
    with locked_unless_taken(out) as is_ours:
        if not is_ours:
            raise BadInput(f"Another run is at work in {printable(out)}: wait for it, or choose another --out.")
        if is_new:
            write_whole(out / ABOUT_FILE, _text(_about(study, web_fingerprint)))
        try:
            yield
        except BaseException:
            if is_new:
                _remove_if_unused(out)
            raise


def write_results(
    out: Path, contents: Mapping[str, bytes], about: Mapping[str, Any], findings: Mapping[str, Any]
) -> None:
    """Write all files of a study, given by their paths in the folder. `about` is for study.json and tells the study and
    the fingerprint of its web, `findings` is for findings.json."""
    earlier = _earlier_files(out) - set(contents)
    (out / FINDINGS_FILE).unlink(missing_ok=True)
    for name, content in contents.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(out / name, content)
    for name in sorted(earlier):
        _remove_within(out, name)
    beginning = _about(str(about["study"]), str(about["web_fingerprint"]))
    write_whole(out / ABOUT_FILE, _text({**beginning, **about, "files": sorted(contents)}))
    write_whole(out / FINDINGS_FILE, _text(findings))


def _check(out: Path, study: str, web_fingerprint: str) -> None:
    if not os.path.lexists(out) or (out.is_dir() and not any(out.iterdir())):
        return
    about = _read(out)
    if about.get("format") != FORMAT:
        raise BadInput(f"{printable(out)} exists and is not the folder of a study: choose another --out.")
    if about.get("study") != study:
        raise BadInput(f"{printable(out)} has the study {printable(about.get('study'))}: choose another --out.")
    if about.get("web_fingerprint") != web_fingerprint:
        raise BadInput(
            f"{printable(out)} has {study} on another web, {printable(about.get('web', 'or an earlier state of it'))}: "
            "choose another --out; crawls can be shared with --cache."
        )


def _read(out: Path) -> dict[str, Any]:
    """What study.json says; nothing if it cannot be read."""
    try:
        about = json.loads((out / ABOUT_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise BadInput(f"{printable(out)} cannot be made: {reason.strerror}. Choose another --out.") from None


def _remove_if_unused(out: Path) -> None:
    if [entry.name for entry in out.iterdir()] == [ABOUT_FILE]:
        (out / ABOUT_FILE).unlink()
        out.rmdir()


def _earlier_files(out: Path) -> set[str]:
    """What the run before this one wrote, as far as it is known."""
    listed = _read(out).get("files")
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _remove_within(out: Path, name: str) -> None:
    """Remove a file of an earlier run, and nothing that a damaged list names outside of the folder."""
    place = out / name
    if out.resolve() in place.resolve().parents:
        place.unlink(missing_ok=True)


def _about(study: str, web_fingerprint: str) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "study": study, "web_fingerprint": web_fingerprint}


def _text(values: Mapping[str, Any]) -> bytes:
    return (json_text(dict(values), indent=1) + "\n").encode("utf-8")
