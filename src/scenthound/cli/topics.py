"""`scenthound topics`: list, select and import topics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenthound.cli.options import Command, Group
from scenthound.errors import InvalidInput
from scenthound.ui.formats import json_text

if TYPE_CHECKING:
    from scenthound.topics.select import SelectedTopics

topics_app = typer.Typer(
    help="List topics, select them by the rules of the studies, import them from Open Directory RDF.",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
)

TopicFile = Annotated[Path, typer.Argument(help="A topic file: TOML or JSON Lines.")]
Out = Annotated[Path, typer.Option(help="Topic file to write; .toml or .jsonl, also .gz and .zst.")]
RuleName = Annotated[
    str,
    typer.Option(
        "--rule",
        help="leaves: first leaves in breadth-first order (menczer2001). walks: leaves by random walks (pant2002). "
        "level: random categories at level 3, kept apart (wang2009).",
    ),
]
Count = Annotated[int, typer.Option(min=1, help="Number of topics.")]
RandomSeed = Annotated[int, typer.Option(help="Seed of the random generator.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
MinLinks = Annotated[int | None, typer.Option(min=1, help="Least links of a category; the rule's own unless told.")]


@topics_app.command("list", cls=Command)
def list_topics(file: TopicFile, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the topics of a file."""
    from dataclasses import asdict

    from scenthound.topics.files import read_topics
    from scenthound.ui.terminal import print_rows

    topics = read_topics(file)
    if as_json:
        typer.echo(json_text([asdict(topic) for topic in topics], indent=1))
        return
    print_rows(
        f"{len(topics):,} topics in {file}",
        ["id", "keywords", "examples", "seeds", "targets"],
        [
            [
                topic.id,
                ", ".join(topic.keywords),
                *(f"{len(urls):,}" for urls in (topic.examples, topic.seeds, topic.targets)),
            ]
            for topic in topics
        ],
        n_text_columns=2,
    )


@topics_app.command("select", cls=Command)
def select_topics(
    file: TopicFile,
    out: Out,
    rule: RuleName = "leaves",
    count: Count = 100,
    random_seed: RandomSeed = 0,
    min_links: MinLinks = None,
    force: Force = False,
) -> None:
    """Select topics of a topic file by their paths.

    scenthound topics select topics.jsonl --rule level --count 30 --out thirty.jsonl
    """
    from scenthound.topics.select import Rule, SelectionSettings, select_from_file

    _check_free(out, force)
    _write(select_from_file(file, SelectionSettings(Rule.named(rule), count, random_seed, min_links)), out)


@topics_app.command("import", cls=Command)
def import_topics(
    content: Annotated[Path, typer.Option(help="content.rdf.u8, also .gz or .zst: pages by category.")],
    out: Out,
    structure: Annotated[Path | None, typer.Option(help="structure.rdf.u8, also .gz or .zst: the tree.")] = None,
    rule: RuleName = "leaves",
    count: Count = 100,
    random_seed: RandomSeed = 0,
    min_links: MinLinks = None,
    force: Force = False,
) -> None:
    """Import topics from a dump of the Open Directory.

    scenthound topics import --structure structure.rdf.u8.gz --content content.rdf.u8.gz --rule walks --out topics.jsonl
    """
    from scenthound.topics.select import Rule, SelectionSettings, select_from_odp

    _check_free(out, force)
    settings = SelectionSettings(Rule.named(rule), count, random_seed, min_links)
    _write(select_from_odp(structure, content, settings, lambda cut: typer.echo(f"Note: {cut}", err=True)), out)


def _check_free(out: Path, force: bool) -> None:
    if out.exists() and not force:
        raise InvalidInput(f"{out} already exists: choose another name, or replace it with --force.")


def _write(chosen: "SelectedTopics", out: Path) -> None:
    from scenthound.topics.files import write_topics

    write_topics(out, chosen.topics)
    if chosen.shortfall:
        typer.echo(f"Note: {chosen.shortfall}", err=True)
    typer.echo(f"Wrote {len(chosen.topics):,} topics to {out}.")
