"""The options of lists of plug-ins and of new packages."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from scenthound.options import Option, PathLike


@dataclass(frozen=True)
class PluginOptions:
    """Which plug-ins are listed.

    kind: Only plug-ins of this kind: strategy, metric or relevance.
    """

    kind: Annotated[str | None, Option(metavar="KIND", values=lambda: ("metric", "relevance", "strategy"))] = None


@dataclass(frozen=True)
class NewStrategyOptions:
    """A new package.

    name: Lower-case letters, digits and underscores, as in best_links.
    out: Folder to make.
    """

    name: Annotated[str, Option(metavar="NAME", is_argument=True)]
    _: KW_ONLY
    out: Annotated[PathLike | None, Option(metavar="DIR", shown="scenthound-NAME")] = None
