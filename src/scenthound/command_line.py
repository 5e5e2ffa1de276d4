"""Command lines quoted for a shell, in one line or with a line for each option."""

import re
import shlex
from collections.abc import Iterable, Iterator

#: An option and its value: None and False leave it out, True is a flag, several values repeat it.
Option = tuple[str, object]
#: A word of a command as `shell_word` quotes it.
WORD = re.compile(r"""(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|[^\s'"])+""")


def command_line(words: Iterable[str], options: Iterable[Option]) -> str:
    """The quoted command; empty if a word has a NUL character, which no command line can contain."""
    all_words = [*words, *(word for name, value in options for word in _words(name, value))]
    return "" if any("\0" in word for word in all_words) else " ".join(map(shell_word, all_words))


def unless(value: object, default: object) -> object:
    """The value of an option, or None if it is the default."""
    return None if value == default else value


def _words(name: str, value: object) -> Iterator[str]:
    values = value if isinstance(value, tuple | list) else (value,)
    for each in values:
        if each is True:
            yield name
        elif each is not None and each is not False:
            yield from (name, str(each))


def in_lines(command: str) -> str:
    """The same command with a line for each option."""
    lines = [""]
    for word in WORD.findall(command):
        if word.startswith("--"):
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def shell_word(word: str) -> str:
    """Quote a word for a shell. Control characters need quotes that begin with a dollar, which bash, zsh and ksh know;
    three octal digits are the only escape with the same meaning in all of them."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_escaped, word))}'"


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))
