"""The command line that makes a validation again: with the same strategies, topics and seed sets."""

from pathlib import Path

from scenthound.lab.command_line import command_line, unless
from scenthound.lab.validating.validation import Validation


def repeat_command(validation: Validation, topics_file: Path, out: Path) -> str:
    """`scenthound validate` with all that decides, into a folder beside `out`; empty if no command line can say it.
    Topics are named, so that those drawn by lot are the same."""
    settings, place = validation.settings, out.absolute()
    return command_line(
        ("scenthound", "validate"),
        [
            ("--web", validation.web),
            ("--topics", topics_file.absolute()),
            ("--strategy", settings.strategies),
            ("--against", settings.against),
            ("--topic", tuple(topic.id for topic in settings.trained)),
            ("--unseen", tuple(topic.id for topic in settings.unseen)),
            ("--pages", settings.budgets),
            ("--large", settings.n_large),
            ("--small", settings.n_small),
            ("--seeds", settings.n_seeds),
            ("--mode", settings.mode),
            ("--relevance", settings.relevance),
            ("--threshold", unless(settings.threshold, 0.5)),
            ("--closed-world", settings.closed_world),
            ("--follow-nofollow", not settings.obey_nofollow),
            ("--out", place.with_name(f"{place.name}-again")),
        ],
    )
