"""The command line that makes the crawls of a run again: for the topics that are kept with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scenthound.drivers.modes import SEQUENTIAL
from scenthound.lab.command_line import command_line, unless
from scenthound.lab.starts import DEFAULT_START, Task


def repeat_command(about: Mapping[str, Any], folder: Path) -> str:
    """`scenthound simulate` with what `run.json` says, into a folder beside this one; empty if no command line can say
    it. Guides that learn from other topics than those kept here learn from fewer, so such a run needs its own file."""
    settings, place = about["settings"], folder.absolute()
    return command_line(
        ("scenthound", "simulate"),
        [
            ("--web", settings["web"]),
            ("--topics", place / "topics.jsonl"),
            ("--strategy", tuple(settings["strategies"])),
            ("--pages", settings["page_budget"]),
            ("--seeds", settings["n_seeds"]),
            ("--task", unless(settings["task"], Task.EXAMPLES.value)),
            ("--start", unless(settings["n_start"], DEFAULT_START)),
            ("--relevance", settings["relevance"]),
            ("--train", unless(settings.get("n_train"), 0)),
            ("--train-from", settings.get("train_from")),
            ("--judge", unless(settings.get("n_judge"), 0)),
            ("--as-published", bool(settings.get("as_published"))),
            ("--mode", unless(settings.get("mode"), str(SEQUENTIAL))),
            ("--closed-world", bool(settings["closed_world"])),
            ("--follow-nofollow", not settings["obey_nofollow"]),
            ("--plain", bool(settings.get("plain"))),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )
