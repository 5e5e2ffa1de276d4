"""A command line made of words and options, quoted for a shell; in one line, or in several that mean the same."""

import re
import shlex
from collections.abc import Iterable, Iterator

#: An option and what it is given: None and False leave it out, True stands alone, several values repeat it.
Option = tuple[str, object]
#: A word of a command as `shell_word` quotes it: quotes of any kind, and what stands between blanks.
WORD = re.compile(r"""(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|[^\s'"])+""")


def command_line(words: Iterable[str], options: Iterable[Option]) -> str:
    """Empty if no command line can say it: none can hold a NUL character."""
    all_words = [*words, *(word for name, value in options for word in _words(name, value))]
    return "" if any("\0" in word for word in all_words) else " ".join(map(shell_word, all_words))


def unless(value: object, default: object) -> object:
    """What an option is given, or None where it has that value anyway."""
    return None if value == default else value


def _words(name: str, value: object) -> Iterator[str]:
    values = value if isinstance(value, tuple | list) else (value,)
    for each in values:
        if each is True:
            yield name
        elif each is not None and each is not False:
            yield from (name, str(each))


def in_lines(command: str) -> str:
    """The same command with a line for each option, for people to read and to copy."""
    lines = [""]
    for word in WORD.findall(command):
        if word.startswith("--"):
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def shell_word(word: str) -> str:
    """A word as a shell reads it. Control characters need the quotes that begin with a dollar, which bash, zsh and ksh
    know: octal numbers of three digits are the one escape that means the same in all of them."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_escaped, word))}'"


def _escaped(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable():
        return sign
    return "".join(f"\\{byte:03o}" for byte in sign.encode("utf-8", "surrogateescape"))
