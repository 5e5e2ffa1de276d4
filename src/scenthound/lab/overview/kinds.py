"""What a folder is: a crawl, a run, a comparison, a study, a search, a validation or a recorded web.

Each of them has a file that names its format and the version of it. A folder is what the first of these files says.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from scenthound.errors import BadInput, printable

FolderKind = Literal["crawl", "run", "comparison", "study", "search", "validation", "web"]

#: Such a file is small; what is longer is something else.
MOST_ABOUT_BYTES = 64 << 20
#: Folders within one that is none of these, looked at to name one that is.
MOST_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """How a folder says what it is."""

    kind: FolderKind
    file: str
    format: str
    version: int
    made_by: str


#: A crawl has a run.json too, and a study a findings.json, so these are looked for first.
KNOWN = (
    KnownFolder("crawl", "crawl.json", "scenthound crawl", 1, "scenthound crawl"),
    KnownFolder("comparison", "comparison.json", "scenthound comparison", 1, "scenthound compare"),
    KnownFolder("study", "study.json", "scenthound study", 1, "scenthound study"),
    KnownFolder("search", "search.json", "scenthound search", 1, "scenthound evolve"),
    KnownFolder("run", "run.json", "scenthound run", 1, "scenthound simulate"),
    KnownFolder("validation", "findings.json", "scenthound validation", 1, "scenthound validate"),
    KnownFolder("web", "web.json", "scenthound recorded web", 1, "scenthound record"),
)


def folder_kind(path: str | Path) -> FolderKind:
    """BadInput if there is no such folder, if it is none of these, or if this version cannot read it."""
    folder = Path(path)
    _check_folder(folder)
    for known in KNOWN:
        if (folder / known.file).is_file():
            about = _read(folder / known.file)
            if about.get("format") == known.format:
                _check_version(folder, known, about.get("version"))
                return known.kind
    raise BadInput(_unknown(folder))


def _check_folder(folder: Path) -> None:
    try:
        if folder.is_dir():
            next(folder.iterdir(), None)
            return
        is_file = folder.exists()
    except (OSError, ValueError) as reason:
        why = getattr(reason, "strerror", None) or reason
        raise BadInput(
            f"{printable(folder)} cannot be read: {printable(why)}; check the path and its rights."
        ) from None
    if is_file:
        raise BadInput(f"{printable(folder)} is a file: name the folder of a crawl or of an experiment.")
    raise BadInput(f"There is no folder {printable(folder)}: check the path.")


def _read(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > MOST_ABOUT_BYTES:
            return {}
        about = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as reason:
        why = getattr(reason, "strerror", None) or f"it is no JSON: {reason}"
        raise BadInput(
            f"{printable(file)} cannot be read ({printable(why, 200)}): check its rights, or bring it back from a copy."
        ) from None
    return about if isinstance(about, dict) else {}


def _check_version(folder: Path, known: KnownFolder, version: object) -> None:
    if version != known.version:
        said = printable(version, 40)
        raise BadInput(
            f"{printable(folder)} is a {known.kind} of version {said} of its format and this Scenthound reads "
            f"{known.version}: install the Scenthound that made it."
        )


def _unknown(folder: Path) -> str:
    inner = _known_within(folder)
    hint = f"one that is: {printable(inner)}" if inner else "`scenthound crawl` and the laboratory's commands make them"
    return f"{printable(folder)} is neither the folder of a crawl nor of an experiment; {hint}."


def _known_within(folder: Path) -> Path | None:
    """The first folder in it, or in one of its folders, that is one of these."""
    try:
        inner = [entry for entry in sorted(folder.iterdir())[:MOST_LOOKED_AT] if entry.is_dir()]
        deeper = [deep for entry in inner[:MOST_LOOKED_AT] for deep in sorted(entry.iterdir())[:10]]
    except OSError:
        return None
    return next((entry for entry in (*inner, *deeper) if _names_itself(entry)), None)


def _names_itself(folder: Path) -> bool:
    return any((folder / known.file).is_file() for known in KNOWN)
