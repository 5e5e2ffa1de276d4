"""`scenthound topics`: list, select and import topics."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli.options import Printed, group_of, print_json, with_options
from scenthound.options import Option
from scenthound.topics.options import ImportOptions, Selecting, SelectOptions

if TYPE_CHECKING:
    from scenthound.api.catalog import Topics


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """The topics to list.

    file: A topic file: TOML or JSON Lines.
    """

    file: Annotated[Path, Option(is_argument=True)]


def list_topics(options: ListOptions, printed: Printed) -> None:
    """List the topics of a file."""
    from dataclasses import asdict

    from scenthound.api.catalog import open_topics
    from scenthound.ui.terminal import print_rows

    found = open_topics(options.file)
    if printed.as_json:
        print_json([asdict(topic) for topic in found])
        return
    columns = found.table.to_dict().values()
    rows = [[id_, words, *(f"{count:,}" for count in counts)] for id_, words, *counts in zip(*columns, strict=True)]
    print_rows(found.table.title, found.table.columns, rows, n_text_columns=2)


def select_topics(options: SelectOptions) -> None:
    """Select topics of a topic file by their paths.

    scenthound topics select topics.jsonl --rule level --count 30 --out thirty.jsonl
    """
    from scenthound.api import catalog

    _print(with_options(catalog.select_topics, options), options)


def import_topics(options: ImportOptions) -> None:
    """Import topics from a dump of the Open Directory.

    scenthound topics import --structure structure.rdf.u8.gz --content content.rdf.u8.gz --rule walks --out topics.jsonl
    """
    from scenthound.api import catalog

    _print(with_options(catalog.import_topics, options), options)


def _print(selected: "Topics", options: Selecting) -> None:
    for note in selected.notes:
        typer.echo(f"Note: {note}", err=True)
    typer.echo(f"Wrote {len(selected):,} topics to {options.out}.")


topics = group_of(
    "List topics, select them by the rules of the studies, import them from Open Directory RDF.",
    {"list": list_topics, "select": select_topics, "import": import_topics},
)
