"""Completion by the shells: commands, options and values, without heavy imports."""

import os
import subprocess
import sys

import pytest

from scenthound.experiments.options import CompareOptions, EvolveOptions, SimulateOptions
from scenthound.experiments.search.methods import METHODS
from scenthound.experiments.starts import TRAINING_PAGES, Task
from scenthound.options import declared
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import MODES
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.options import RULES, SelectOptions

#: What a completion must not import.
HEAVY = ("numpy", "scenthound.api", "scenthound.registry", "asyncio")


def offered(*words: str) -> list[str]:
    """What bash offers for the last word."""
    program = f"""
import atexit, sys
atexit.register(lambda: any(name in sys.modules for name in {HEAVY}) and print("heavy"))
sys.argv = ["scenthound"]
from scenthound.cli.process import run
run()
"""
    line = {"COMP_WORDS": " ".join(["scenthound", *words]), "COMP_CWORD": str(len(words))}
    environment = {**os.environ, "_SCENTHOUND_COMPLETE": "complete_bash", **line}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_commands_options_and_values_are_offered() -> None:
    assert offered("cra") == ["crawl"]
    assert offered("topics", "se") == ["select"]
    assert offered("crawl", "--page") == ["--pages", "--pages-per-host", "--pages-per-domain", "--page-bytes"]
    assert offered("simulate", "--strategy", "best_n") == ["best_n_first"]
    assert offered("study", "pant") == ["pant2002"]
    assert offered("metrics", "target") == ["target_recall"]


@pytest.mark.parametrize(
    ("settings", "name", "known"),
    [
        (SimulateOptions, "strategies", STRATEGIES.names()),
        (SimulateOptions, "relevance", RELEVANCE.names()),
        (CompareOptions, "task", list(Task)),
        (SimulateOptions, "mode", MODES.names()),
        (SimulateOptions, "training_pages", TRAINING_PAGES),
        (EvolveOptions, "search", METHODS.names()),
        (SelectOptions, "rule", RULES),
    ],
)
def test_offered_values_are_those_that_the_program_knows(settings: type, name: str, known: list[str]) -> None:
    values = declared(settings)[name].option.values
    assert values is not None
    assert sorted(values()) == sorted(known)
