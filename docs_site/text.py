"""Texts of the code as Markdown."""

import re

#: Code spans, which stay as they are, and what else looks like Markdown or HTML.
_SPECIAL = re.compile(r"`[^`]*`|(?<![\w-])--[a-z][a-z0-9-]*|[*_<>\[\]|\\]")


def escaped(text: str) -> str:
    """A text of one paragraph that is shown as it is: code in backticks stays code, and options become code."""
    return _SPECIAL.sub(_shown, " ".join(text.split()))


def _shown(found: re.Match[str]) -> str:
    special = found[0]
    if special.startswith("`"):
        return special
    return f"`{special}`" if special.startswith("--") else f"\\{special}"


def definitions(items: dict[str, list[str]]) -> str:
    """A definition list: by term, in Markdown, the paragraphs below it."""
    entries = []
    for term, paragraphs in items.items():
        body = "\n\n".join(each.replace("\n", "\n    ") for each in paragraphs if each)
        first, *others = (body or "—").split("\n\n")
        entries.append("\n\n".join([f"{term}\n:   {first}", *(f"    {each}" for each in others)]))
    return "\n\n".join(entries)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of cells in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
