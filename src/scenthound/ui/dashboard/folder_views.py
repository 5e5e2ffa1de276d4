"""The list of folders on the first page, and the page of an experiment, read from small files only.

A file of another version may lack any value; missing values are left out. A folder that cannot be read is listed with
its problem.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scenthound.crawler.state import crawl_state
from scenthound.errors import InvalidInput, ScenthoundError, printable
from scenthound.experiments.compare.ranking import MARGIN_SHARE, Mark
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.store.folder import KNOWN_KINDS
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.rank_file import Generation, read_rank_file
from scenthound.ui.dashboard.crawl_views import topic_of
from scenthound.ui.dashboard.folders import FolderIndex, FoundFolder, file_signature, unexpected
from scenthound.ui.dashboard.responses import Experiment, Fact, Folder, Folders, Problem
from scenthound.ui.formats import counted, format_percent

#: The facts of an experiment: labels and the keys of their values in the marker file; a dot leads into an object.
_FACTS = {
    "run": {
        "Strategies": "settings.strategies",
        "Page budget": "settings.page_budget",
        "Random seeds": "settings.repeats",
        "Mode": "settings.mode",
        "Web": "settings.web",
        "Made by": "scenthound",
    },
    "comparison": {
        "Decided by": "by",
        "Topics": "topics",
        "Page budget": "pages",
        "Random seeds": "seeds",
        "Mode": "mode",
        "Web": "web",
        "Made by": "scenthound",
    },
    "study": {"Study": "study", "Crawls": "crawls.all", "Pages of the web": "n_pages", "Web": "web"},
    "search": {
        "Search": "settings.search",
        "Fitness": "settings.fitness",
        "Topics": "settings.crawls_of.topics",
        "Page budget": "settings.crawls_of.page_budget",
        "Crawls per evaluation": "settings.n_crawls",
        "Web": "settings.crawls_of.web",
        "Made by": "scenthound",
    },
    "validation": {"Findings": "findings", "Pages of the web": "n_pages", "Web": "web", "Made by": "scenthound"},
    "web": {name.capitalize(): name for name in ("pages", "hosts", "urls", "links", "words", "vocabulary")},
}
#: Their changes show that a crawl has changed.
_CRAWL_FILES = (ABOUT_FILE, DATABASE_FILE, f"{DATABASE_FILE}-wal")


def experiment_response(found: FoundFolder) -> Experiment:
    about = _about(found)
    facts = [(name, value) for name, value in _facts(found.kind, about) if value not in (None, "", [])]
    return Experiment(
        id=found.id,
        name=found.path.name,
        path=str(found.path),
        kind=found.kind,
        title=_title(found, about),
        summary=tuple(_summary(found.kind, about)),
        facts=tuple(Fact(name, _text(value)) for name, value in facts),
        report=f"/report/{found.id}" if found.kind != "web" else None,
        generations=_generations(found.path) if found.kind == "search" else None,
    )


def _about(found: FoundFolder) -> dict[str, Any]:
    """The content of the marker file."""
    file = found.path / KNOWN_KINDS[found.kind].file  # type: ignore[index]
    try:
        about = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as reason:
        raise InvalidInput(f"Cannot read {printable(file)} ({printable(reason, 200)}).") from None
    return about if isinstance(about, dict) else {}


def _value(about: Mapping[str, Any], key: str) -> Any:
    """The value of a key such as `settings.web`; None if it is missing."""
    value: Any = about
    for name in key.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _title(found: FoundFolder, about: Mapping[str, Any]) -> str:
    titles = {
        "run": _counted(_value(about, "settings.strategies"), "strategy"),
        "comparison": f"{_counted(about.get('topics'), 'topic')}, by {about.get('by', '')}",
        "study": about.get("title") or about.get("study"),
        "search": "search for rank functions",
        "validation": _counted(about.get("findings"), "finding"),
        "web": _counted(about.get("pages"), "page"),
    }
    return str(titles[found.kind] or found.kind)


def _counted(value: object, noun: str) -> str:
    """The length of a list, or a number, with its noun; empty for anything else."""
    number = len(value) if isinstance(value, list) else value
    return counted(number, noun) if isinstance(number, int) else ""


def _facts(kind: str, about: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if kind == "comparison":
        because = _value(about, "verdict.because")
        yield "Best", f"cannot tell, because {because}" if because else about.get("winner")
        yield f"As good, within {format_percent(MARGIN_SHARE)}", _marked(about, Mark.ALIKE)
        yield "Not distinguishable from it", _marked(about, Mark.UNCLEAR)
    for label, key in _FACTS[kind].items():
        value = _value(about, key)
        if key == "scenthound":
            value = f"Scenthound {value}" if isinstance(value, str) else None
        yield label, len(value) if key == "findings" and isinstance(value, list) else value


def _marked(about: Mapping[str, Any], mark: str) -> list[str]:
    """The strategies with a mark."""
    ranking = about.get("ranking")
    rows = [row for row in ranking if isinstance(row, Mapping)] if isinstance(ranking, list) else []
    return [str(row["strategy"]) for row in rows if row.get("mark") == mark and "strategy" in row]


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _summary(kind: str, about: Mapping[str, Any]) -> Iterator[str]:
    if kind == "comparison" and isinstance(about.get("says"), str):
        yield about["says"]
    if isinstance(about.get("notes"), list):
        yield from map(str, about["notes"])


def _generations(folder: Path) -> tuple[Generation, ...]:
    """From the result, which is written after each generation. The log has only individuals that were crawled for."""
    from scenthound.experiments.evolve.folder import RESULT_FILE

    result = folder / RESULT_FILE
    return tuple(read_rank_file(result).history) if result.is_file() else ()


class FolderOverview:
    """All folders in short. Crawls that do not run are read again only if their files changed. Thread-safe."""

    def __init__(self, index: FolderIndex) -> None:
        self._index = index
        self._cache: dict[Path, tuple[object, Folder]] = {}
        self._lock = threading.Lock()

    def all(self) -> Folders:
        with self._lock:
            return Folders(version("scenthound"), tuple(map(self._folder, self._index.all())))

    def _folder(self, found: FoundFolder) -> Folder:
        signature = [file_signature(found.path / name) for name in _CRAWL_FILES]
        cached = self._cache.get(found.path)
        if cached is not None and cached[0] == signature and cached[1].id == found.id:
            return cached[1]
        folder, is_final = folder_response(found)
        if is_final:
            self._cache[found.path] = signature, folder
        return folder


def folder_response(found: FoundFolder) -> tuple[Folder, bool]:
    """The folder, and whether it stays the same while its files do."""
    name, path = found.path.name or str(found.path), str(found.path)
    problem = found.problem
    try:
        if problem is None and found.kind == "crawl":
            return _crawl(found)
        if problem is None:
            return Folder(found.id, name, path, found.kind, _title(found, _about(found))), False
    except ScenthoundError as error:
        problem = Problem(str(error))
    except Exception as error:  # noqa: BLE001 - one bad folder must not hide the others
        problem = Problem(unexpected(error))
    return Folder(found.id, name, path, "unreadable", name, problem=problem), False


def _crawl(found: FoundFolder) -> tuple[Folder, bool]:
    with StoredCrawl.open(found.path) as crawl:
        state, settings = crawl_state(crawl), crawl.about.settings
        folder = Folder(
            id=found.id,
            name=found.path.name,
            path=str(found.path),
            kind="crawl",
            title=f"{topic_of(settings).get('id') or 'no topic'}, by {settings.get('strategy')}",
            state=state.state,
            pages=state.n_pages,
            page_budget=state.page_budget,
            harvest=state.status.harvest if state.status is not None else None,
            n_on_topic=state.status.n_on_topic if state.status is not None else None,
        )
        return folder, not state.is_alive
