"""`scenthound topics`: list, select and import topics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli.options import TOPICS_HELP, AsJson, Command, Group, RandomSeed, ReplaceFile, api_arguments

if TYPE_CHECKING:
    from scenthound.api.catalog import Topics

topics = typer.Typer(
    help="List topics, select them by the rules of the studies, import them from Open Directory RDF.",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
)

TopicFile = Annotated[Path, typer.Argument(help=TOPICS_HELP)]
Out = Annotated[Path, typer.Option(help="Topic file to write; .toml or .jsonl, also .gz and .zst.")]
RuleName = Annotated[
    str,
    typer.Option(
        help="leaves: first leaves in breadth-first order (menczer2001). walks: leaves by random walks (pant2002). "
        "level: random categories at level 3, kept apart (wang2009).",
    ),
]
Count = Annotated[int, typer.Option(min=1, help="Number of topics.")]
MinLinks = Annotated[
    int | None, typer.Option(min=1, help="Minimum number of links of a category.", show_default="the rule's")
]


@topics.command("list", cls=Command)
def list_topics(file: TopicFile, as_json: AsJson = False) -> None:
    """List the topics of a file."""
    from dataclasses import asdict

    from scenthound.api.catalog import open_topics
    from scenthound.cli.results import print_json
    from scenthound.ui.terminal import print_rows

    found = open_topics(file)
    if as_json:
        print_json([asdict(topic) for topic in found])
        return
    columns = found.table.to_dict().values()
    rows = [[id_, words, *(f"{count:,}" for count in counts)] for id_, words, *counts in zip(*columns, strict=True)]
    print_rows(found.table.title, found.table.columns, rows, n_text_columns=2)


@topics.command("select", cls=Command)
def select_topics(
    context: typer.Context,
    file: TopicFile,
    out: Out,
    rule: RuleName = "leaves",
    count: Count = 100,
    random_seed: RandomSeed = 0,
    min_links: MinLinks = None,
    force: ReplaceFile = False,
) -> None:
    """Select topics of a topic file by their paths.

    scenthound topics select topics.jsonl --rule level --count 30 --out thirty.jsonl
    """
    from scenthound.api import catalog

    catalog.check_new_file(out, force=force)
    _save(catalog.select_topics(**api_arguments(context, "out", "force")), out)


@topics.command("import", cls=Command)
def import_topics(
    context: typer.Context,
    content: Annotated[Path, typer.Option(help="content.rdf.u8, also .gz or .zst: pages by category.")],
    out: Out,
    structure: Annotated[Path | None, typer.Option(help="structure.rdf.u8, also .gz or .zst: the tree.")] = None,
    rule: RuleName = "leaves",
    count: Count = 100,
    random_seed: RandomSeed = 0,
    min_links: MinLinks = None,
    force: ReplaceFile = False,
) -> None:
    """Import topics from a dump of the Open Directory.

    scenthound topics import --structure structure.rdf.u8.gz --content content.rdf.u8.gz --rule walks --out topics.jsonl
    """
    from scenthound.api import catalog

    catalog.check_new_file(out, force=force)
    _save(catalog.import_topics(**api_arguments(context, "out", "force")), out)


def _save(selected: "Topics", out: Path) -> None:
    selected.save(out, force=True)
    for note in selected.notes:
        typer.echo(f"Note: {note}", err=True)
    typer.echo(f"Wrote {len(selected):,} topics to {out}.")
