"""Lines that fit the terminal, broken between words; what goes to a file stays as long as it is."""

import shutil
import sys
import textwrap

import typer

#: What a shell takes for the end of a line that is none.
_GOES_ON = " \\"


def columns() -> int | None:
    """Of the terminal that standard output is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str) -> None:
    """Print paragraphs, each of them indented as its first line is."""
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        typer.echo(filled(line.strip(" "), indent, indent))


def filled(text: str, first_indent: str, indent: str, ending: str = "") -> str:
    """The text in lines; `ending` stands at the end of all but the last. Words are left whole, URLs and paths too."""
    width = columns()
    if width is None or len(first_indent) + len(text) <= width:
        return first_indent + text
    lines = textwrap.wrap(
        text,
        max(20, width - len(ending)),
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{ending}\n".join(lines)


def filled_command(command: str, first_indent: str, indent: str) -> str:
    """A command that can be copied although it stands in several lines."""
    return filled(command, first_indent, indent, _GOES_ON)
