"""`scenthound threshold`: a relevance threshold from labelled pages."""

from pathlib import Path
from typing import Annotated

import typer

from scenthound.cli.options import AsJson
from scenthound.cli.terminal import show_progress
from scenthound.errors import InvalidInput, UsageError, printable

PAGES = "How the labelled pages are scored"


def threshold(
    labels: Annotated[
        Path,
        typer.Argument(metavar="LABELS", help="CSV or JSON Lines: url,label or score,label; labels are yes or no."),
    ],
    web: Annotated[
        Path | None, typer.Option(help="A recorded web, or a crawl, with the pages.", rich_help_panel=PAGES)
    ] = None,
    topics: Annotated[
        Path | None, typer.Option(help="A topic file: TOML or JSON Lines.", rich_help_panel=PAGES)
    ] = None,
    topic: Annotated[
        str | None, typer.Option(metavar="ID", help="Which topic, if the file has several.", rich_help_panel=PAGES)
    ] = None,
    relevance: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="The model to find a threshold for; `scenthound relevance` lists them.",
            show_default="cosine",
            rich_help_panel=PAGES,
        ),
    ] = None,
    train_from: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Train the model on DIR/positive and DIR/negative. Without it, on the examples of the topic file that "
            "are not labelled.",
            rich_help_panel=PAGES,
        ),
    ] = None,
    cross_validate: Annotated[
        bool,
        typer.Option(
            "--cross-validate",
            help="Train the model on the labelled pages; each page is scored by a model that did not see it.",
            rich_help_panel=PAGES,
        ),
    ] = False,
    precision: Annotated[
        float | None, typer.Option(metavar="P", help="The highest recall with at least this precision.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option(metavar="R", help="The highest precision with at least this recall.")
    ] = None,
    suggest: Annotated[
        int | None,
        typer.Option(metavar="N", min=10, help="Write N pages to label to LABELS, spread over the scores, and exit."),
    ] = None,
    random_seed: Annotated[int, typer.Option(help="Seed of the random generator of --suggest.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Let --suggest replace the file.")] = False,
    out: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Draw the curves: .svg, .png or .pdf; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Suggest a relevance threshold from 20 to 50 labelled pages: by default the one with the best F1.

    scenthound threshold labels.csv --web web --topics topics.jsonl --topic chess --relevance svm --out curve.svg
    """
    from scenthound.cli.threshold_tables import print_drawn, print_suggestion
    from scenthound.experiments.threshold.curve import Goal
    from scenthound.experiments.threshold.suggestion import ScoredBy, draw_pages_to_label, suggest_threshold
    from scenthound.ui.figures import check_figure_file, draw_threshold

    if topics is None and (topic or relevance or train_from or cross_validate):
        raise UsageError("--topic, --relevance, --train-from and --cross-validate need --topics.")
    scored_by = ScoredBy(topics, topic, relevance or "cosine", train_from, cross_validate) if topics else None
    if suggest is not None:
        if web is None or scored_by is None:
            raise UsageError("--suggest draws pages of a web by their scores: name --web and --topics.")
        with show_progress("scoring") as progress:
            n_drawn = draw_pages_to_label(
                labels, suggest, web=web, scored_by=scored_by, seed=random_seed, force=force, progress=progress
            )
        print_drawn(labels, n_drawn, as_json)
        return
    pictures = out or []
    for picture in pictures:
        check_figure_file(picture)
    with show_progress("scoring") as progress:
        found = suggest_threshold(labels, goal=Goal(precision, recall), web=web, scored_by=scored_by, progress=progress)
    for picture in pictures:
        try:
            draw_threshold(found, picture)
        except OSError as reason:
            raise InvalidInput(
                f"{printable(picture)} cannot be written: {reason.strerror}; check the folder, or choose another --out."
            ) from None
    print_suggestion(found, pictures, as_json)
