"""The options of selecting and importing topics."""

from dataclasses import dataclass
from typing import Annotated

from scenthound.errors import UnknownName
from scenthound.options import Option, PathLike, RandomSeed, ReplaceFile

RULES = ("leaves", "level", "walks")


@dataclass(frozen=True, kw_only=True)
class Selecting:
    """How topics are selected, and where to.

    out: Topic file to write; .toml or .jsonl, also .gz and .zst.
    rule: leaves: first leaves in breadth-first order (menczer2001). walks: leaves by random walks (pant2002). level:
        random categories at level 3, kept apart (wang2009).
    count: Number of topics.
    min_links: Minimum number of links of a category.
    """

    out: Annotated[PathLike | None, Option(is_required=True)] = None
    rule: Annotated[str, Option(values=lambda: RULES)] = "leaves"
    count: Annotated[int, Option(ge=1)] = 100
    random_seed: RandomSeed = 0
    min_links: Annotated[int | None, Option(ge=1, shown="the rule's")] = None
    force: ReplaceFile = False

    def check(self) -> None:
        if self.rule not in RULES:
            raise UnknownName.among("selection rule", self.rule, RULES)


@dataclass(frozen=True)
class SelectOptions(Selecting):
    """Topics of a file.

    file: A topic file: TOML or JSON Lines.
    """

    file: Annotated[PathLike, Option(metavar="FILE", is_argument=True)]


@dataclass(frozen=True)
class ImportOptions(Selecting):
    """Topics of the Open Directory.

    content: content.rdf.u8, also .gz or .zst: pages by category.
    structure: structure.rdf.u8, also .gz or .zst: the tree.
    """

    content: PathLike
    structure: PathLike | None = None
