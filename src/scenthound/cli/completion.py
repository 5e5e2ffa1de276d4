"""Completion for bash, zsh and fish.

A script calls the program with the name of the shell in `_SCENTHOUND_COMPLETE` and the words up to the cursor as
arguments; bash passes the line instead, because it splits words at colons and equals signs. The first line that is
printed says what is completed: `values`, which follow one a line, `files`, `folders` or `nothing`.

Rules
- No heavy import: names of plug-ins are read from the installed packages, other names are listed here.
- Nothing but the files of one shell in the home folder is changed, and the same call again changes nothing.
"""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

from scenthound.cli.process import COMPLETE_VARIABLE
from scenthound.errors import InvalidInput, UnknownName, UsageError, printable

if TYPE_CHECKING:
    from scenthound.cli.configuration import Commands

BASH = """\
# Completion of scenthound for bash, written by `scenthound --install-completion`.
_scenthound_completion() {
    local IFS=$'\\n' lines
    lines=($(_SCENTHOUND_COMPLETE=bash "$1" "${COMP_LINE:0:$COMP_POINT}" 2>/dev/null))
    case "${lines[0]}" in
        files) compopt -o default ;;
        folders) compopt -o dirnames ;;
    esac
    COMPREPLY=("${lines[@]:1}")
}
complete -F _scenthound_completion scenthound
"""

ZSH = """\
# Completion of scenthound for zsh, written by `scenthound --install-completion`.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_scenthound_completion() {
    local -a lines values
    lines=("${(@f)$(_SCENTHOUND_COMPLETE=zsh ${(Q)words[1]} "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case "${lines[1]}" in
        files) _files ;;
        folders) _files -/ ;;
        values) values=("${(@)lines[2,-1]}"); _describe -V scenthound values ;;
    esac
}
compdef _scenthound_completion scenthound
"""

FISH = """\
# Completion of scenthound for fish, written by `scenthound --install-completion`.
function __scenthound_completion
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l lines (_SCENTHOUND_COMPLETE=fish $words[1] $words[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
        case values
            printf '%s\\n' $lines[2..-1]
    end
end
complete --command scenthound --no-files --arguments '(__scenthound_completion)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
_START = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}


class Value(NamedTuple):
    text: str
    help: str = ""


class Completions(NamedTuple):
    kind: str  #: `values`, `files`, `folders` or `nothing`
    values: tuple[Value, ...] = ()


def _installed(group: str) -> Callable[[], Iterable[str]]:
    def names() -> Iterable[str]:
        from importlib.metadata import entry_points

        return sorted(entry_points(group=f"scenthound.{group}").names)

    return names


def _studies() -> Iterable[str]:
    presets = Path(__file__).parents[1] / "experiments" / "study" / "presets"
    return sorted(file.stem for file in presets.glob("*.toml"))


def _commands() -> Iterable[str]:
    from scenthound.cli.app import MODULE_OF

    return MODULE_OF


def _profiles() -> Iterable[str]:
    from scenthound.cli.configuration_files import found_files, read_file

    return sorted({name for path in found_files()[0] for name in read_file(path).profiles})


#: The values of parameters, by their names. Names are the same in all commands.
VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "strategy": _installed("strategies"),
    "against": _installed("strategies"),
    "relevance": _installed("relevance"),
    "metric": _installed("metrics"),
    "by": _installed("metrics"),
    "profile": _profiles,
    "shell": lambda: SCRIPTS,
    "mode": lambda: ("polite", "roulette", "sequential"),
    "task": lambda: ("examples", "neighbours"),
    "training_pages": lambda: ("johnson2003", "wang2009"),
    "search": lambda: ("chc", "cma", "johnson2003"),
    "rule": lambda: ("leaves", "level", "walks"),
    "to": lambda: ("cdxj", "jsonl", "markdown", "parquet", "warc", "wet"),
    "quality_rule": lambda: (
        *("all", "alphabetic_words", "braces", "bullets", "duplicate_lines", "duplicate_phrases", "ellipses"),
        *("few_words", "javascript", "long_word", "many_words", "placeholder", "policy", "stop_words", "symbols"),
        *("top_phrase", "unfinished_lines", "word_length"),
    ),
}
#: The values of arguments, by the command.
ARGUMENTS: dict[str, Callable[[], Iterable[str]]] = {
    "study": _studies,
    "strategies": _installed("strategies"),
    "metrics": _installed("metrics"),
    "relevance": _installed("relevance"),
    "config": _commands,
}


def answer() -> None:
    """Print the completions of the words in `sys.argv`."""
    from scenthound.cli.app import MODULE_OF, load, root
    from scenthound.cli.configuration import Commands

    shell, words = os.environ.pop(COMPLETE_VARIABLE), sys.argv[1:]
    if shell == "bash":
        words = _split(words[0])[1:]
    *before, current = words or [""]
    found = completions(root(), Commands(MODULE_OF, load), before, current)
    print("\n".join([found.kind, *(_line(value, shell, current) for value in found.values)]))


def _split(line: str) -> list[str]:
    """The words of a line up to the cursor; the last one may be empty or have an open quote."""
    for ending in ("", "'", '"'):
        try:
            words = shlex.split(line + ending)
        except ValueError:
            continue
        return words if line[-1:].strip() or ending else [*words, ""]
    return line.split()


def _line(value: Value, shell: str, current: str) -> str:
    if shell == "bash":
        # It replaces only what follows the last colon or equals sign.
        n_before = max(current.rfind(":"), current.rfind("=")) + 1
        return value.text[n_before:]
    if shell == "zsh":
        text = value.text.replace("\\", "\\\\").replace(":", "\\:")
        return f"{text}:{value.help}" if value.help else text
    return f"{value.text}\t{value.help}" if value.help else value.text


def completions(root: Any, commands: Commands, before: Sequence[str], current: str) -> Completions:
    """What can follow some words of a command line."""
    command, path, rest = root, "", list(before)
    while hasattr(command, "list_commands"):
        name = _next_command(command, rest)
        if name is None:
            break
        path = f"{path} {name}".strip()
        command = commands.loaded(name) if command is root else command.commands[name]
    parameters = command.get_params(_context(command, path))
    options = {flag: each for each in parameters if _is_option(each) for flag in (*each.opts, *each.secondary_opts)}
    flag, equals, text = current.partition("=")
    if equals and flag in options and not options[flag].is_flag:
        found = _values_of(options[flag], path, text)
        return Completions(found.kind, tuple(Value(f"{flag}={each.text}", each.help) for each in found.values))
    if rest and rest[-1] in options and not options[rest[-1]].is_flag:
        return _values_of(options[rest[-1]], path, current)
    if current.startswith("-"):
        used = {options[word].name for word in rest if word in options and not options[word].multiple}
        flags = (Value(flag, _first_sentence(each.help)) for flag, each in options.items() if each.name not in used)
        return _matching(flags, current)
    if hasattr(command, "list_commands"):
        context = _context(command, path)
        found_commands = ((name, command.get_command(context, name)) for name in command.list_commands(context))
        return _matching((Value(name, _first_sentence(each.help)) for name, each in found_commands), current)
    return _argument(parameters, options, path, rest, current)


def _context(command: Any, path: str) -> Any:
    import typer

    return typer.Context(command, info_name=path, resilient_parsing=True)


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option" and not parameter.hidden)


def _next_command(group: Any, words: list[str]) -> str | None:
    """The first word that is a command of the group; it and the words before it are removed."""
    known = group.list_commands(None)
    with_value = {flag for each in group.params if not getattr(each, "is_flag", False) for flag in each.opts}
    while words:
        word = words.pop(0)
        if word in known:
            return str(word)
        if word in with_value and words:
            words.pop(0)
        elif word in with_value:
            words.append(word)
            return None
    return None


def _argument(
    parameters: Sequence[Any], options: dict[str, Any], path: str, rest: Sequence[str], current: str
) -> Completions:
    """The values of the next argument."""
    n_given = 0
    for at, word in enumerate(rest):
        is_value = at > 0 and rest[at - 1] in options and not options[rest[at - 1]].is_flag
        n_given += not is_value and not word.startswith("-")
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    for number, argument in enumerate(arguments):
        if number == n_given or argument.nargs == -1:
            return _values_of(argument, path, current)
    return Completions("nothing")


def _values_of(parameter: Any, path: str, current: str) -> Completions:
    """What can be written for a parameter of the command of a path."""
    is_argument = parameter.param_type_name == "argument"
    names = ARGUMENTS.get(path) if is_argument else VALUES.get(parameter.name)
    metavar = parameter.metavar or ""
    if names is not None:
        return _matching(map(Value, names()), current)
    if "|" in metavar and metavar.islower():
        return _matching(map(Value, metavar.split("|")), current)
    annotation = parameter.type_descriptor.annotation
    kind = get_args(annotation)[0] if get_origin(annotation) is list else annotation
    if kind is Path or metavar == "PATH":
        return Completions("folders" if metavar == "DIR" else "files")
    return Completions("nothing")


def _matching(values: Iterable[Value], current: str) -> Completions:
    found = tuple(each for each in values if each.text.startswith(current))
    return Completions("values", found) if found else Completions("nothing")


def _first_sentence(text: str | None) -> str:
    """One line of help."""
    line = " ".join((text or "").split())
    return line.partition(". ")[0].rstrip(".")


def current_shell(name: str | None = None) -> str:
    """The shell that was named, or else that of the terminal."""
    if name is not None:
        if name not in SCRIPTS:
            raise UnknownName.among("completion for the shell", name, SCRIPTS)
        return name
    for found in (_parent_program(), os.environ.get("SHELL", "")):
        shell = Path(found).name.lstrip("-")
        if shell in SCRIPTS:
            return shell
    raise UsageError(f"Cannot tell which shell this is: add --shell, followed by {', '.join(SCRIPTS)}.")


def _parent_program() -> str:
    """The program that started this one; empty where the system does not say."""
    try:
        return Path(f"/proc/{os.getppid()}/comm").read_text().strip()
    except OSError:
        return ""


def install(shell: str) -> list[str]:
    """Install the completion for a shell; lines that say what was changed."""
    try:
        return _install(shell, Path.home())
    except OSError as reason:
        if reason.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # A full disk is no usage error.
        where, why = printable(reason.filename or Path.home()), os.strerror(reason.errno or 0).lower()
        raise InvalidInput(
            f"Cannot write to {where}: {why}. Save the output of `scenthound --show-completion --shell {shell}` in "
            f"another file, and source it from {_START[shell]}."
        ) from None


def _install(shell: str, home: Path) -> list[str]:
    if shell == "fish":
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "completions"
        return [*_write(folder / "scenthound.fish", FISH), "Completion works in new terminals."]
    folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "scenthound"
    script = folder / f"completion.{shell}"
    start = home / ".bashrc" if shell == "bash" else Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
    name = shlex.quote(str(script))
    # Without the file, for example in a home folder that was copied, a shell starts without an error all the same.
    line, unguarded = f"if [ -r {name} ]; then source {name}; fi", f"source {name}"
    return [
        *_write(script, SCRIPTS[shell]),
        *_append(start, line, unguarded),
        f"Completion works in new terminals; in this one after `{unguarded}`.",
    ]


def _write(file: Path, content: str) -> list[str]:
    if file.is_file() and file.read_text(errors="replace") == content:
        return [f"{file} is up to date."]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return [f"Wrote {file}."]


def _append(file: Path, line: str, earlier: str) -> list[str]:
    """Add a line, unless the file has it, or the one that an earlier version added."""
    content = file.read_text(errors="replace") if file.is_file() else ""
    if {line, earlier} & set(content.splitlines()):
        return [f"{file} has the line already."]
    separator = "" if not content or content.endswith("\n") else "\n"
    with file.open("a") as appended:
        appended.write(f"{separator}{line}\n")
    return [f"Added a line to {file}: {line}"]
