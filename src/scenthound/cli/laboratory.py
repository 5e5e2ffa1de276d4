"""`scenthound record`, `synthesize`, `simulate`, `evaluate`, `compare`, `study` and `validate`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from scenthound.cli.options import Printed, note_missing_pages, print_json, with_options
from scenthound.experiments.options import (
    CompareOptions,
    EvaluateOptions,
    RecordOptions,
    SimulateOptions,
    StudyOptions,
    SynthesizeOptions,
    ValidateOptions,
)
from scenthound.options import Option


@dataclass(frozen=True, kw_only=True)
class MoreFiles:
    """Files as arguments.

    files: More files.
    """

    files: Annotated[list[Path] | tuple[()], Option(metavar="[FILE]...", is_argument=True, type=list[Path])] = ()


@dataclass(frozen=True, kw_only=True)
class ShowAll:
    """Which tables are printed.

    print_all: Print a table for each metric, the cost, and pages missing in the recording.
    """

    print_all: Annotated[bool, Option(flag="--all")] = False


@dataclass(frozen=True, kw_only=True)
class ShowSettings:
    """What a study does instead of running.

    show_settings: Print the settings file and exit.
    """

    show_settings: bool = False


def record(options: RecordOptions, more: MoreFiles, printed: Printed) -> None:
    """Make a recorded web from files of pages.

    scenthound record --from pages.jsonl.zst --out web
    """
    from scenthound.api import webs
    from scenthound.cli.results import print_record, record_values

    files = replace(options, sources=[*options.sources, *more.files])
    printed.show(with_options(webs.record, files), record_values, print_record)


def synthesize(options: SynthesizeOptions, printed: Printed) -> None:
    """Make a synthetic web with hosts, topics, hubs and words, and topics to crawl it for.

    scenthound synthesize --pages 100000 --out web
    """
    from scenthound.api import webs
    from scenthound.cli.results import print_synthesized, synthesized_values

    printed.show(with_options(webs.synthesize, options), synthesized_values, print_synthesized)


def simulate(options: SimulateOptions) -> None:
    """Let strategies crawl a recorded web, topic by topic, and write their traces.

    scenthound simulate --web web --topics topics.jsonl --strategy breadth_first --strategy best_n_first:n=256 --out run

    scenthound simulate --web web --topics topics.toml --seed https://example.org/ --strategy link_context --out run
    """
    from scenthound.api import laboratory
    from scenthound.cli.results import print_run

    note_missing_pages(options.web)
    print_run(with_options(laboratory.simulate, options))


def evaluate(options: EvaluateOptions, shown: ShowAll, printed: Printed) -> None:
    """Evaluate the crawls of a run: a table here, curves in evaluation.json and evaluation.csv beside the traces.

    scenthound evaluate run

    scenthound evaluate run --metric target_recall --at 100 --at 1000
    """
    from scenthound.api import laboratory
    from scenthound.cli.results import print_evaluation
    from scenthound.experiments.evaluate import as_json as plain_values

    evaluation = with_options(laboratory.evaluate, options)
    written = evaluation.save()
    if printed.as_json:
        print_json(plain_values(evaluation.evaluated))
        return
    print_evaluation(evaluation.evaluated, by_pages=evaluation.by_pages, print_all=shown.print_all)
    typer.echo(f"Curves: {', '.join(map(str, written))}")


def compare(options: CompareOptions, printed: Printed) -> None:
    """Rank strategies for a topic: all crawl from the same starts, with intervals and corrected tests.

    scenthound compare --web web --topics topics.jsonl --topic balloons

    scenthound compare --web web --topics topics.jsonl --topic balloons --strategy best_n_first --sweep n=1,16,256

    scenthound compare --web web --topics topics.toml --seed https://example.org/
    """
    from scenthound.api import laboratory
    from scenthound.cli.results import print_comparison

    printed.show(with_options(laboratory.compare, options), lambda done: done.compared, print_comparison)


def study(options: StudyOptions, shown: ShowSettings, printed: Printed) -> None:
    """Reproduce a study of the literature, and check which of its findings hold on this web.

    scenthound study pant2002 --web web --topics topics.jsonl --out pant2002
    """
    from scenthound.api import laboratory
    from scenthound.cli.results import print_study

    text = laboratory.study_settings(options)
    if shown.show_settings:
        typer.echo(text, nl=False)
        return
    _show_findings(with_options(laboratory.study, options), print_study, printed)


def _show_findings(result: Any, print_it: Callable[[Any], None], printed: Printed) -> None:
    """Print a result whose findings are in a file, as that is or as `print_it` does."""
    from scenthound.experiments.study.results import FINDINGS_FILE

    if printed.as_json:
        typer.echo((result.folder / FINDINGS_FILE).read_text(encoding="utf-8"), nl=False)
    else:
        print_it(result)


def validate(options: ValidateOptions, printed: Printed) -> None:
    """Compare evolved strategies with Best-First as in johnson2003, and check which of its findings hold.

    scenthound validate --web web --topics topics.jsonl --strategy evolved:file=evolved.toml --unseen-max 9 --out out
    """
    from scenthound.api import searches
    from scenthound.cli.results import print_validation

    _show_findings(with_options(searches.validate, options), print_validation, printed)
