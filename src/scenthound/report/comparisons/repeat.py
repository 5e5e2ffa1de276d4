"""The command line that makes a comparison again: on the same web and topics, with the same starts."""

from scenthound.lab.command_line import command_line, unless
from scenthound.lab.comparing.comparison import StrategyComparison
from scenthound.lab.comparing.settings import ComparisonSettings

DEFAULTS = ComparisonSettings()


def repeat_command(done: StrategyComparison) -> str:
    """`scenthound compare` with all that decides, and nothing that is so anyway; empty if no command line can say it.
    Topics are named, so that it is the same ones whatever is added to their file."""
    settings, experiment = done.settings, done.experiment
    return command_line(
        ("scenthound", "compare"),
        [
            ("--web", experiment.web),
            ("--topics", done.topics_file.absolute()),
            ("--topic", tuple(topic.id for topic in experiment.topics)),
            ("--strategy", settings.strategies),
            ("--sweep", tuple(f"{each.parameter}={','.join(each.values)}" for each in settings.sweeps)),
            ("--by", settings.by),
            ("--pages", settings.page_budget),
            ("--seeds", experiment.n_seeds),
            ("--task", unless(settings.task, DEFAULTS.task)),
            ("--start", settings.n_start),
            ("--relevance", settings.relevance),
            ("--train", unless(settings.n_train, 0)),
            ("--train-from", experiment.train_from),
            ("--judge", unless(settings.n_judge, 0)),
            ("--mode", unless(settings.mode, DEFAULTS.mode)),
            ("--closed-world", settings.closed_world),
            ("--follow-nofollow", not settings.obey_nofollow),
        ],
    )
