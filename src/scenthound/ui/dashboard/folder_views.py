"""All folders at a glance, as the first page and Prometheus are told of them.

Rules
- A folder that cannot be read is told of with its problem; it keeps nobody from seeing the others.
- What cannot have changed is not read again: a crawl that nobody is at work on, whose files are as they were.
"""

import json
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scenthound.crawler.state import crawl_state
from scenthound.errors import InvalidInput, ScenthoundError, printable
from scenthound.experiments.compare.ranking import MARGIN_SHARE, Mark, mark_of
from scenthound.store.crawl_folder import ABOUT_FILE, DATABASE_FILE
from scenthound.store.folder import KNOWN
from scenthound.store.stored_crawl import StoredCrawl
from scenthound.strategies.rank_file import read_rank_file
from scenthound.ui.dashboard.crawl_views import topic_of
from scenthound.ui.dashboard.folders import FolderBook, FoundFolder, why_unreadable
from scenthound.ui.dashboard.responses import Experiment, Fact, Folder, Folders, Problem, SearchProgress
from scenthound.ui.formats import format_percent

# Folders of the laboratory as the API tells of them, from the files in which they say what they are.
#
# Rules
# - Only small files are read: what costs more is in the report, which is made when somebody opens it.
# - A file that another version wrote may lack anything; what is not there is not told.

#: What there is a report of.
_WITH_REPORT = ("run", "comparison", "study", "search", "validation")


def experiment_answer(found: FoundFolder) -> Experiment:
    about = about_of(found)
    facts = [Fact(name, _shown(value)) for name, value in _FACTS[found.kind](about) if value not in (None, "", [], {})]
    return Experiment(
        id=found.id,
        name=found.path.name,
        path=str(found.path),
        kind=found.kind,
        title=title_of(found, about),
        summary=_summary(found.kind, about),
        facts=tuple(facts),
        report=f"/report/{found.id}" if found.kind in _WITH_REPORT else None,
        search=search_progress(found.path) if found.kind == "search" else None,
    )


def about_of(found: FoundFolder) -> dict[str, Any]:
    """What the folder says of itself; BadInput if that cannot be read any more."""
    file = found.path / next(known.file for known in KNOWN if known.kind == found.kind)
    try:
        about = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as reason:
        raise InvalidInput(f"{printable(file)} cannot be read ({printable(reason, 200)}).") from None
    return about if isinstance(about, dict) else {}


def title_of(found: FoundFolder, about: Mapping[str, Any]) -> str:
    """In a few words."""
    settings = _mapping(about, "settings")
    titles: dict[str, object] = {
        "run": _counted(settings.get("strategies"), "strategy", "strategies"),
        "comparison": f"{_counted(about.get('topics'), 'topic', 'topics')}, by {about.get('by', '')}",
        "study": about.get("title") or about.get("study"),
        "search": "rules for a rank function",
        "validation": _counted(about.get("findings"), "finding", "findings"),
        "web": _counted_number(about.get("pages"), "page", "pages"),
    }
    return str(titles.get(found.kind) or found.kind)


def search_progress(folder: Path) -> SearchProgress:
    """As its result has it, which is written anew after each generation. The log would not do: it has only individuals
    that were crawled for, and those of a generation that were known before belong to its mean."""
    from scenthound.experiments.evolve.folder import RESULT_FILE

    result = folder / RESULT_FILE
    history = read_rank_file(result).history if result.is_file() else ()
    return SearchProgress(
        tuple(each.generation for each in history),
        tuple(each.best for each in history),
        tuple(each.mean for each in history),
    )


_Facts = Callable[[Mapping[str, Any]], list[tuple[str, Any]]]


def _run_facts(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    settings = _mapping(about, "settings")
    return [
        ("Strategies", settings.get("strategies")),
        ("Page budget", settings.get("page_budget")),
        ("Random seeds", settings.get("repeats", settings.get("n_seeds"))),
        ("Mode", settings.get("mode")),
        ("Web", settings.get("web")),
        ("Made by", _maker(about)),
    ]


def _comparison_facts(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        *_best(about),
        ("Decided by", about.get("by")),
        ("Topics", about.get("topics")),
        ("Page budget", about.get("pages")),
        ("Random seeds", about.get("seeds")),
        ("Mode", about.get("mode")),
        ("Web", about.get("web")),
        ("Made by", _maker(about)),
    ]


def _best(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Who is ahead, and who is not shown to be behind, by the marks of the ranking."""
    unclear, alike = _marked(about, Mark.UNCLEAR), _marked(about, Mark.ALIKE)
    return [
        ("Best so far" if unclear else "Best", about.get("winner")),
        (f"As good, to within {format_percent(MARGIN_SHARE)}", alike),
        ("Not told apart from it", unclear),
    ]


def _marked(about: Mapping[str, Any], mark: Mark) -> list[str]:
    ranking = about.get("ranking")
    rows = [row for row in ranking if isinstance(row, Mapping)] if isinstance(ranking, list) else []
    return [str(row["strategy"]) for row in rows if mark_of(str(row.get("mark"))) == mark and "strategy" in row]


def _study_facts(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [
        ("Study", about.get("study")),
        ("Crawls", _mapping(about, "crawls").get("all")),
        ("Pages of the web", about.get("n_pages")),
        ("Web", about.get("web")),
    ]


def _search_facts(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    settings = _mapping(about, "settings")
    crawls = _mapping(settings, "crawls_of")
    return [
        ("Search", settings.get("search")),
        ("Fitness", settings.get("fitness")),
        ("Topics", crawls.get("topics")),
        ("Page budget", crawls.get("page_budget")),
        ("Crawls for an evaluation", settings.get("n_crawls")),
        ("Web", crawls.get("web")),
        ("Made by", _maker(about)),
    ]


def _validation_facts(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    findings = about.get("findings")
    return [
        ("Findings", len(findings) if isinstance(findings, list) else None),
        ("Pages of the web", about.get("n_pages")),
        ("Web", about.get("web")),
        ("Made by", _maker(about)),
    ]


def _web_facts(about: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name.capitalize(), about.get(name)) for name in ("pages", "hosts", "urls", "links", "words", "vocabulary")]


_FACTS: dict[str, _Facts] = {
    "run": _run_facts,
    "comparison": _comparison_facts,
    "study": _study_facts,
    "search": _search_facts,
    "validation": _validation_facts,
    "web": _web_facts,
}


def _summary(kind: str, about: Mapping[str, Any]) -> tuple[str, ...]:
    says = about.get("says") if kind == "comparison" else None
    notes = about.get("notes")
    texts = [says] if isinstance(says, str) else []
    return tuple(texts + [str(note) for note in notes] if isinstance(notes, list) else texts)


def _maker(about: Mapping[str, Any]) -> str | None:
    version = about.get("scenthound")
    return f"Scenthound {version}" if isinstance(version, str) else None


def _mapping(about: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = about.get(name)
    return found if isinstance(found, Mapping) else {}


def _counted(listed: object, one: str, many: str) -> str:
    return _counted_number(len(listed) if isinstance(listed, list) else None, one, many)


def _counted_number(count: object, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}" if isinstance(count, int) else ""


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


_SIGNS_OF_CHANGE = (ABOUT_FILE, DATABASE_FILE, f"{DATABASE_FILE}-wal")


class FolderGlances:
    """Remembers what it saw. Any thread may ask."""

    def __init__(self, book: FolderBook) -> None:
        self._book = book
        self._kept: dict[Path, tuple[object, Folder]] = {}
        self._lock = threading.Lock()

    def all(self) -> Folders:
        with self._lock:
            return Folders(version("scenthound"), tuple(self._glance(found) for found in self._book.all()))

    def _glance(self, found: FoundFolder) -> Folder:
        signs = _signs(found.path)
        kept = self._kept.get(found.path)
        if kept is not None and kept[0] == signs and kept[1].id == found.id:
            return kept[1]
        folder, is_settled = folder_answer(found)
        if is_settled:
            self._kept[found.path] = signs, folder
        return folder


def folder_answer(found: FoundFolder) -> tuple[Folder, bool]:
    """The folder, and whether it stays so as long as its files do."""
    if found.problem is not None:
        return _unreadable(found, found.problem), False
    try:
        if found.kind == "crawl":
            return _crawl(found)
        title = title_of(found, about_of(found))
        return _folder(found, title), False
    except ScenthoundError as error:
        return _unreadable(found, Problem(str(error))), False
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this folder's problem alone
        return _unreadable(found, Problem(why_unreadable(error))), False


def _crawl(found: FoundFolder) -> tuple[Folder, bool]:
    with StoredCrawl.open(found.path) as crawl:
        stands = crawl_state(crawl)
        topic = topic_of(crawl.about.settings)
        folder = Folder(
            id=found.id,
            name=found.path.name,
            path=str(found.path),
            kind="crawl",
            title=f"{topic.get('id') or 'no topic'}, by {crawl.about.settings.get('strategy')}",
            state=stands.state.value,
            pages=stands.n_pages,
            page_budget=stands.page_budget,
            harvest=stands.status.harvest if stands.status is not None else None,
            problem=None,
        )
        return folder, not stands.is_alive


def _folder(found: FoundFolder, title: str) -> Folder:
    return Folder(found.id, found.path.name, str(found.path), found.kind, title, None, None, None, None, None)


def _unreadable(found: FoundFolder, problem: Problem) -> Folder:
    name = found.path.name or str(found.path)
    return Folder(found.id, name, str(found.path), "unreadable", name, None, None, None, None, problem)


def _signs(folder: Path) -> object:
    return [_sign(folder / name) for name in _SIGNS_OF_CHANGE]


def _sign(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    # Who reads the database leaves an empty log beside it.
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None
