"""Completion in the shells themselves, its installation, and what it offers."""

import os
import pty
import select
import shutil
import subprocess
import sys
from time import monotonic

import pytest

from environments import system_program
from scenthound.cli import completion
from scenthound.cli.app import MODULE_OF, load, root
from scenthound.cli.completion import SCRIPTS, VALUES, Completions, completions, current_shell, install
from scenthound.cli.configuration import Commands
from scenthound.corpus.export import KINDS
from scenthound.corpus.quality import RULES
from scenthound.errors import UnknownName
from scenthound.experiments.search.methods import METHODS
from scenthound.experiments.starts import TRAINING_PAGES, Task
from scenthound.experiments.study.settings import STUDIES
from scenthound.metrics.base import METRICS
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import MODES
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.select import Rule
from timing import WAIT_S

START_FILES = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with the program on the path, and nothing else."""
    program = tmp_path / "bin" / "scenthound"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m scenthound "$@"\n')
    program.chmod(0o755)
    home = tmp_path / "home"
    (home / "crawls").mkdir(parents=True)
    (home / "topics.toml").touch()
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "BASH_ENV", "PROMPT_COMMAND"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(home)
    return home


def shell_path(name):
    return system_program(lambda: shutil.which(name), name, how_to_install=f"apt-get install {name}")


def typed(shell, keys, expected):
    """Type keys into an interactive shell in a terminal, until it shows a text."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(shell, [shell, "-i"])
    shown, deadline_s, is_typed = b"", monotonic() + WAIT_S, False
    try:
        while expected.encode() not in shown and monotonic() < deadline_s:
            ready, _, _ = select.select([terminal], [], [], 0.5)
            if ready:
                shown += os.read(terminal, 4096)
            elif not is_typed and shown:
                os.write(terminal, keys.encode())  # The prompt is there: nothing was printed for a while.
                is_typed = True
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return shown.decode(errors="replace")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_what_is_typed_after_the_installation(home, scenthound, shell):
    path = shell_path(shell)
    code, out, _ = scenthound("--install-completion", "--shell", shell)
    assert code == 0
    assert START_FILES[shell] in out
    assert "--strict-order" in typed(path, "scenthound crawl --stric\t", "--strict-order")


def test_fish_completes_after_the_installation(home, scenthound):
    path = shell_path("fish")
    assert scenthound("--install-completion", "--shell", "fish")[0] == 0

    def complete(line):
        call = [path, "-c", "complete -C $argv[1]", line]
        done = subprocess.run(call, capture_output=True, text=True, check=True, timeout=WAIT_S)
        return [each.partition("\t")[0] for each in done.stdout.splitlines()]

    assert complete("scenthound crawl --stric") == ["--strict-order"]
    assert complete("scenthound simulate --strategy best_n") == ["best_n_first"]
    assert complete("scenthound report ") == ["crawls/"]
    assert set(complete("scenthound topics list ")) == {"crawls/", "topics.toml"}


def test_bash_completes_words_with_colons_equals_signs_and_quotes(home):
    script = home / "completion.bash"
    script.write_text(SCRIPTS["bash"])

    def complete(line):
        call = (
            f'. {script}; COMP_LINE=$1; COMP_POINT=${{#1}}; _scenthound_completion scenthound; echo "${{COMPREPLY[@]}}"'
        )
        arguments = ["bash", "-c", call, "bash", line]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=WAIT_S)
        return done.stdout.split()

    assert complete("scenthound crawl --stric") == ["--strict-order"]
    assert complete("scenthound crawl --render=al") == ["always"]
    assert complete("scenthound crawl --keywords 'hot air' --render n") == ["never"]
    assert complete("scenthound crawl 'open --rend") == []


@pytest.mark.parametrize("shell", list(SCRIPTS))
def test_installing_twice_changes_nothing_more_and_keeps_what_was_there(home, shell):
    start = home / START_FILES.get(shell, ".unused")
    start.write_text("alias a=b")
    assert not any("up to date" in line for line in install(shell))
    contents = {path: path.read_text() for path in home.rglob("*") if path.is_file()}
    assert contents[start].startswith("alias a=b")
    assert ("source " in contents[start]) == (shell in START_FILES)
    assert SCRIPTS[shell] in contents.values()
    install(shell)
    assert {path: path.read_text() for path in home.rglob("*") if path.is_file()} == contents


@pytest.mark.parametrize("shell", list(START_FILES))
def test_a_shell_starts_without_the_script_and_the_line_of_earlier_versions_is_enough(home, shell):
    path, start = shell_path(shell), home / START_FILES[shell]
    install(shell)
    (script,) = home.rglob(f"completion.{shell}")
    script.unlink()
    call = [path, "-c", f"set -e; source {start}; echo done"]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    start.write_text(f"source {script}\n")
    install(shell)
    assert start.read_text() == f"source {script}\n"


@pytest.mark.parametrize(("shell", "taken"), [("bash", ".local"), ("zsh", ".local"), ("fish", ".config")])
def test_a_folder_that_cannot_be_made_is_one_line_with_another_way(home, scenthound, shell, taken):
    (home / taken).touch()
    code, _, errors = scenthound("--install-completion", "--shell", shell)
    assert (code, errors.count("\n")) == (2, 1)
    assert f"--show-completion --shell {shell}" in errors
    assert not (home / START_FILES.get(shell, ".unused")).exists()


def test_the_shell_is_that_of_the_terminal_or_the_one_that_is_named(monkeypatch, scenthound):
    monkeypatch.setattr(completion, "_parent_program", lambda: "pytest")
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert current_shell() == "fish"
    monkeypatch.setattr(completion, "_parent_program", lambda: "-zsh")
    assert current_shell() == "zsh"
    with pytest.raises(UnknownName, match="'bash'"):
        current_shell("bsh")
    code, out, _ = scenthound("--show-completion", "--shell", "bash")
    assert (code, out) == (0, SCRIPTS["bash"])
    monkeypatch.setattr(completion, "_parent_program", lambda: "")
    monkeypatch.setenv("SHELL", "/bin/sh")
    code, _, errors = scenthound("--install-completion")
    assert (code, errors.count("\n")) == (2, 1)


def complete(*words):
    *before, current = words
    return completions(root(), Commands(MODULE_OF, load), before, current)


def texts(*words):
    return [value.text for value in complete(*words).values]


def test_commands_options_and_values_are_offered():
    assert texts("") == list(MODULE_OF)
    assert texts("--profile", "polite", "topics", "") == ["list", "select", "import"]
    assert texts("crawl", "--seed", "a.org", "--se") == ["--seed"]  # It can be repeated.
    assert texts("crawl", "--pages", "3", "--page") == ["--pages-per-host", "--pages-per-domain", "--page-bytes"]
    assert texts("crawl", "--relevance=") == [f"--relevance={name}" for name in RELEVANCE.names()]
    assert texts("study", "") == sorted(STUDIES)
    assert texts("metrics", "") == METRICS.names()
    assert texts("config", "cr") == ["crawl"]
    assert complete("crawl", "--pages", "") == Completions("nothing")
    assert complete("crawl", "--out", "x") == Completions("folders")
    assert complete("crawl", "") == Completions("files")
    assert complete("explain", "--json", "") == Completions("folders")
    assert complete("explain", "folder", "") == Completions("nothing")
    assert complete("export", "folder", "--out", "") == Completions("files")


@pytest.mark.parametrize(
    ("parameter", "known"),
    [
        ("strategy", STRATEGIES.names()),
        ("relevance", RELEVANCE.names()),
        ("metric", METRICS.names()),
        ("mode", MODES.names()),
        ("search", METHODS.names()),
        ("task", list(Task)),
        ("rule", list(Rule)),
        ("training_pages", TRAINING_PAGES),
        ("to", KINDS),
        ("quality_rule", ["all", *(rule.name for rule in RULES)]),
    ],
)
def test_offered_values_are_those_that_the_program_knows(parameter, known):
    assert sorted(VALUES[parameter]()) == sorted(known)


def test_every_list_of_values_is_that_of_a_parameter():
    options = Commands(MODULE_OF, load).all().values()
    names = {parameter.name for each in options for parameter in each.values()}
    assert set(VALUES) <= names | {parameter.name for parameter in root().params}


def test_a_completion_imports_nothing_heavy():
    heavy = ("numpy", "rich", "scenthound.api", "scenthound.registry", "pydantic", "asyncio")
    program = (
        f"import sys, scenthound.cli.process as p; p.run(); sys.exit(any(name in sys.modules for name in {heavy}))"
    )
    for words in (["crawl", "--stric"], ["simulate", "--strategy", "best_n"]):
        environment = {**os.environ, "_SCENTHOUND_COMPLETE": "fish"}
        call = [sys.executable, "-c", program, *words]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
        assert (done.returncode, done.stdout[:7]) == (0, "values\n"), done.stderr
