"""What the folder of a search tells, finished or on its way. Nothing in it is changed, so a search that runs is not
disturbed.

The log may end in a line that is being written; it counts when it is whole.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from scenthound.errors import BadInput, printable
from scenthound.evolve.naming import parse_search
from scenthound.lab.evolving.search_folder import ABOUT_FILE, LOG_FILE, RESULT_FILE, SearchFolder, read_about
from scenthound.store.folder_lock import is_taken
from scenthound.strategies.rank_file import RankFile, read_rank_file


class SearchState(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class ToldSearch:
    """`result` is None until the first generation is whole; `compared` is the fitness of known strategies, empty until
    the search is at its end. `settings` are those of `search.json`, and `about` all of it."""

    folder: Path
    state: SearchState
    result: RankFile | None
    compared: Mapping[str, float]
    n_evaluated: int
    n_visits: int
    most_evaluations: int
    settings: Mapping[str, Any]
    about: Mapping[str, Any]


def read_search(folder: Path) -> ToldSearch:
    """BadInput if the folder is no search, or damaged."""
    about, place = read_about(folder), SearchFolder(folder)
    result = read_rank_file(place.result) if (folder / RESULT_FILE).is_file() else None
    visits = list(_visits(folder / LOG_FILE))
    try:
        settings = about["settings"]
        most = parse_search(str(settings["search"])).most_evaluations
        _ = settings["crawls_of"]["web"], settings["fitness"], about["web_fingerprint"]
    except (KeyError, TypeError):
        raise BadInput(f"{printable(folder / ABOUT_FILE)} is damaged: begin a new search.") from None
    compared = place.compared()
    return ToldSearch(
        folder, _state(folder, result, compared), result, compared, len(visits), sum(visits), most, settings, about
    )


def _state(folder: Path, result: RankFile | None, compared: Mapping[str, float]) -> SearchState:
    if is_taken(folder):
        return SearchState.RUNNING
    is_complete = result is not None and bool(result.training.get("is_complete")) and bool(compared)
    return SearchState.FINISHED if is_complete else SearchState.STOPPED


def _visits(log: Path) -> Iterator[int]:
    """Of every evaluation in the log that is whole."""
    for line in log.read_bytes().splitlines() if log.is_file() else ():
        try:
            yield int(json.loads(line)["visits"])
        except (ValueError, TypeError, KeyError):
            continue
