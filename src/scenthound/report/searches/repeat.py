"""The command line that makes a search again, for the topics that are kept with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenthound.lab.command_line import command_line, unless
from scenthound.lab.evolving.search_folder import TOPICS_FILE
from scenthound.lab.evolving.settings import DEFAULT_MODE
from scenthound.lab.starts import Task


def repeat_command(settings: Mapping[str, Any], folder: Path) -> str:
    """`scenthound evolve` with the settings of `search.json`, into a folder beside this one; empty if no command line
    can say it. Earlier winners, if some took part, are not among them: only their weights are kept."""
    crawls, place = settings["crawls_of"], folder.absolute()
    return command_line(
        ("scenthound", "evolve"),
        [
            ("--web", crawls["web"]),
            ("--topics", place / TOPICS_FILE),
            ("--topic", tuple(crawls["topics"])),
            ("--search", settings["search"]),
            ("--fitness", settings["fitness"]),
            ("--seed", settings["seed"]),
            ("--scores", ",".join(settings["scores"])),
            ("--split", unless(settings["split"], "nothing")),
            ("--reevaluate", bool(settings["reevaluate"])),
            ("--crawls", settings["n_crawls"]),
            ("--pages", crawls["page_budget"]),
            ("--start", crawls["n_start"]),
            ("--own-starts", not settings["same_start"]),
            ("--mode", unless(crawls["mode"], DEFAULT_MODE)),
            ("--task", unless(crawls["task"], Task.EXAMPLES.value)),
            ("--closed-world", bool(crawls["closed_world"])),
            ("--follow-nofollow", not crawls["obey_nofollow"]),
            ("--relevance", crawls["relevance"]),
            ("--threshold", unless(settings["threshold"], 0.5)),
            ("--train", unless(crawls["n_train"], 0)),
            ("--train-from", crawls["train_from"]),
            ("--as-published", bool(crawls["as_published"])),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )
