"""Category paths such as `Top/Science/Chemistry`: their words and their parents."""

from collections.abc import Iterable

ROOT = "Top"
#: Directories of people are some fifteen levels deep; much more is a mistake, or made to hurt.
MAX_LEVELS = 100


def path_words(path: str) -> tuple[str, ...]:
    """The words of a category path, the root left out (keywords of S2 section 2.1).

    Underscores part words. A word that comes twice, whatever its case, counts once: keywords are a set in S2.
    """
    parts = path.split("/")
    if parts and parts[0] == ROOT:
        parts = parts[1:]
    return distinct_words(word for part in parts for word in part.replace("_", " ").split())


def distinct_words(words: Iterable[str]) -> tuple[str, ...]:
    """The words in their order, without marks that hold no letter or digit and without repetitions."""
    first_spelling: dict[str, str] = {}
    for word in words:
        if any(character.isalnum() for character in word):
            first_spelling.setdefault(word.casefold(), word)
    return tuple(first_spelling.values())


def parent_path(path: str) -> str:
    """The path one level up; the empty path above the root."""
    return path.rpartition("/")[0]


def is_too_deep(path: str) -> bool:
    return path.count("/") > MAX_LEVELS
