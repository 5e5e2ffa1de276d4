"""Folders of the laboratory as the API tells of them, from the files in which they say what they are.

Rules
- Only small files are read: what costs more is in the report, which is made when somebody opens it.
- A file that another version wrote may lack anything; what is not there is not told.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scenthound.dashboard.answers import Experiment, Fact, SearchProgress
from scenthound.dashboard.folders import FoundFolder
from scenthound.errors import BadInput, printable
from scenthound.lab.comparing.ranking import MARGIN_SHARE, Mark, mark_of
from scenthound.lab.overview.kinds import KNOWN
from scenthound.report.number_words import percent_told
from scenthound.strategies.rank_file import read_rank_file

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
        raise BadInput(f"{printable(file)} cannot be read ({printable(reason, 200)}).") from None
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
    from scenthound.lab.evolving.search_folder import RESULT_FILE

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
        ("Random seeds", settings.get("n_seeds")),
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
        (f"As good, to within {percent_told(MARGIN_SHARE)}", alike),
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
