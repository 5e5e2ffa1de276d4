"""What the commands of the laboratory print; the tables are those of the reports."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.options import Printed, print_json
from scenthound.errors import PluginError, printable
from scenthound.registry import format_value
from scenthound.ui.endings import simulated_text
from scenthound.ui.formats import counted
from scenthound.ui.terminal import filled_command, print_rows, print_table, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scenthound.api.laboratory import Comparison, Run, Study
    from scenthound.api.searches import Validation
    from scenthound.api.webs import Web
    from scenthound.corpus.documents import ExportSummary
    from scenthound.experiments.evaluate import Evaluation
    from scenthound.experiments.trec import TrecSummary
    from scenthound.registry import Parameter, Registry
    from scenthound.store.record import RecordSummary


def record_values(web: Web) -> dict[str, Any]:
    assert web.summary is not None
    return web.summary.counts()


def print_record(web: Web) -> None:
    summary = web.summary
    assert summary is not None
    typer.echo(
        f"Recorded {_contents(summary, web.folder)}, {counted(summary.vocabulary, 'stem')}, "
        f"{counted(summary.aliases, 'redirect')}."
    )
    for reason, skipped in summary.skipped.items():
        typer.echo(f"Left out {skipped.count:,}: {reason} (first: {', '.join(skipped.examples)})")


def synthesized_values(web: Web) -> dict[str, Any]:
    from scenthound.testing.topical_web import TOPICS_FILE

    # Nothing was read, so nothing was left out.
    counts = {name: count for name, count in record_values(web).items() if name not in ("bytes_read", "skipped")}
    return {"folder": str(web.folder), "topics": str(web.folder / TOPICS_FILE), **counts}


def print_synthesized(web: Web) -> None:
    from scenthound.testing.topical_web import TOPICS_FILE

    summary, out, topics = web.summary, web.folder, web.folder / TOPICS_FILE
    assert summary is not None
    typer.echo(
        f"Generated {_contents(summary, out)}, {counted(summary.aliases, 'redirect')}; the topics are in {topics}."
    )
    typer.echo(f"Next: scenthound simulate --web {out} --topics {topics} --strategy best_first --out run")


def _contents(summary: RecordSummary, folder: Path) -> str:
    return (
        f"{counted(summary.pages, 'page')} on {counted(summary.hosts, 'host')} in {folder}: "
        f"{counted(summary.links, 'link')}, {summary.links_recorded:,} of them inside, {counted(summary.words, 'word')}"
    )


#: What is said about pages that an export left out for these reasons; others have their own text.
_DROPPED = {
    "language": "in other or unknown languages",
    "words": "with too few words",
    "near-duplicate": "that {are} nearly the same as an earlier one",
    "extraction timed out": "whose text took too long to extract",
    "extraction failed": "whose text could not be extracted",
}


def print_export(summary: ExportSummary | TrecSummary, out: str) -> None:
    from scenthound.corpus.documents import ExportSummary
    from scenthound.corpus.language import detects_languages
    from scenthound.corpus.options import RECORD_KINDS

    if not isinstance(summary, ExportSummary):
        _print_trec(summary, out)
        return
    noun = "record" if summary.kind in RECORD_KINDS else "page"
    typer.echo(f"Wrote {counted(summary.written, noun)} to {printable(out)}.")
    if summary.n_on_topic is not None and summary.written:
        model = printable(summary.relevance_model, 60)
        rule = f"{model} gives them a probability of {summary.on_topic_from:g} or more"
        typer.echo(f"On topic: {summary.n_on_topic:,} of these; {rule}.")
    for reason, count in summary.dropped.items():
        typer.echo(f"Left out {counted(count, noun)} {_dropped_text(reason, count, summary)}.")
    if summary.n_duplicates:
        typer.echo(
            f"{counted(summary.n_duplicates, 'page')} nearly the same as an earlier one (duplicate_of); --deduplicate "
            f"leaves {'it' if summary.n_duplicates == 1 else 'them'} out."
        )
    if summary.without_html:
        have, them = ("has", "it") if summary.without_html == 1 else ("have", "them")
        typer.echo(
            f"{summary.without_html:,} of these {have} no text: the crawl read {them} from a recording and did not "
            f"fetch {them}."
        )
    if summary.written and summary.kind not in RECORD_KINDS and not detects_languages():
        typer.echo("Languages are unknown: pip install 'scenthound[language]' and export again.")


def _print_trec(summary: TrecSummary, out: str) -> None:
    typer.echo(
        f"Wrote {counted(summary.n_crawls, 'crawl')} with {counted(summary.written, 'page')} to {printable(out)}, in "
        f"{counted(len(summary.runs), 'run file')}, one for each strategy."
    )
    for name, count in summary.judged.items():
        typer.echo(f"{name}: {counted(count, 'relevant page')} for {counted(summary.n_starts, 'start')}.")
    for name, count in summary.unjudged.items():
        typer.echo(f"No relevant page is known for {counted(count, 'start')} in {name}, which evaluations leave out.")
    if summary.n_empty:
        typer.echo(f"{counted(summary.n_empty, 'crawl')} visited no page; trec_eval counts them with -c.")
    if summary.judged:
        judgements, run = [*summary.judged][-1], next(iter(summary.runs))
        measure = f"{'P' if judgements.startswith('precision') else 'R'}@{summary.page_budget}"
        files = " ".join(shlex.quote(f"{out}/{name}") for name in (judgements, run))
        typer.echo(f"Next: ir_measures {files} {measure}")


def _dropped_text(reason: str, count: int, summary: ExportSummary) -> str:
    if reason == "noindex":
        on_topic = f", {summary.n_noindex_on_topic:,} on topic" if summary.n_noindex_on_topic is not None else ""
        return f"marked noindex{on_topic}; --include-noindex writes {'it' if count == 1 else 'them'} too"
    if reason == "relevance":
        return f"of a relevance below {summary.min_relevance:g}"
    kind, _, rule = reason.partition(": ")
    if kind == "quality":
        return f"failing the quality rule {rule}"
    return _DROPPED[reason].format(are="is" if count == 1 else "are")


def print_run(run: Run) -> None:
    from scenthound.experiments.starts import skipped_text

    done = run.simulation
    assert done is not None
    experiment = done.experiment
    typer.echo(
        f"{counted(done.n_crawls, 'crawl')} ({counted(len(experiment.topics), 'topic')} x "
        f"{counted(len(experiment.strategies), 'strategy')} x {counted(experiment.repeats, 'start')}) visited "
        f"{counted(done.n_pages, 'page')}; the traces are in {done.out / 'traces.parquet'}."
    )
    typer.echo(f"Mode: {experiment.mode}.")
    if done.pages_wanted > experiment.page_budget:
        typer.echo(f"--pages {done.pages_wanted:,}: the web has {experiment.page_budget:,}, which is the maximum.")
    if done.n_not_recorded:
        typer.echo(f"{counted(done.n_not_recorded, 'page')} requested were not in the recording.")
    for text in filter(None, map(simulated_text, done.ends)):
        say(text)
    if done.missing:
        typer.echo(
            f"Ignored because they are not in the web: {counted(len(done.missing), 'page')} among examples and targets "
            f"(first: {done.missing[0]})."
        )
    if done.skipped_topics:
        say(skipped_text(done.skipped_topics))
    typer.echo(f"Next: scenthound evaluate {done.out}")


def print_evaluation(evaluation: Evaluation, *, by_pages: bool = False, print_all: bool = False) -> None:
    """One table, or all of them: the metrics by the number of pages, the cost, and pages missing from the recording."""
    from scenthound.ui.reports.run import all_tables, defined_metrics, ending_notes, main_table, summary_notes

    tables = all_tables(evaluation)
    if print_all:
        print_metrics(evaluation)
        for name, table in tables.items():
            if name not in evaluation.metrics:
                print_table(table)
        notes = ending_notes(evaluation, defined_metrics(evaluation))
    else:
        print_table(main_table(evaluation, by_pages=by_pages))
        notes = summary_notes(evaluation)
    for text in notes:
        say(text)
    if not print_all:
        typer.echo(f"--all prints {counted(len(tables), 'table')}: {', '.join(tables)}.")


def print_metrics(evaluation: Evaluation) -> None:
    """All metrics by the number of pages, with notes."""
    from scenthound.ui.reports.run import defined_metrics, metric_table, table_notes

    for metric in defined_metrics(evaluation):
        print_table(metric_table(evaluation, metric))
    for note in table_notes(evaluation, evaluation.metrics):
        say(note)


def print_comparison(comparison: Comparison) -> None:
    """Notes, the two tables, and which strategy is best or why that cannot be told."""
    from scenthound.ui.reports.comparison import conclusion_lines, measurements_table, notes_of, ranking_table

    done = comparison.compared
    for note in notes_of(done):
        say(f"Note: {note}")
    print_table(ranking_table(done))
    print_table(measurements_table(done))
    say(done.says)
    typer.echo()
    for line in conclusion_lines(done):
        say(line)
    typer.echo(f"Mode: {done.mode}.")
    if done.command:
        typer.echo(f"\nStart it live:\n{filled_command(done.command, '  ', '    ')}")
    if done.command_note:
        say(done.command_note)
    if comparison.folder is not None:
        typer.echo(
            f"\nReport: {printable(comparison.folder / 'report.html')}; ranking, all crawls and figures are beside it "
            f"({done.crawls_made:,} crawls were new)"
        )


def print_study(result: Study) -> None:
    from scenthound.ui.reports.findings import findings_table, unasked_lines, verdict_lines

    study = result.finished
    for note in study.notes:
        say(f"Note: {printable(note)}")
    print_table(findings_table(study.findings, f"Findings of {study.settings.study}"))
    for line in (*verdict_lines(study.findings), *unasked_lines(study.findings)):
        say(printable(line))
    parts = "; ".join(f"{timing.part} {timing.seconds:,.1f} s" for timing in study.timings)
    total_s = sum(timing.seconds for timing in study.timings)
    n_reused = study.n_crawls - study.n_made
    crawls = f"{study.n_made:,} crawls made" + (f", {n_reused:,} reused" if n_reused else "")
    say(f"{crawls}. {total_s:,.1f} s in total: {parts}.")
    typer.echo(f"Report: {printable(result.folder / 'report.html')}")


def print_validation(result: Validation) -> None:
    """The strategies, the measurements on each group of topics, the verdicts, and how to read them."""
    from scenthound.experiments.validate.results import READING, measures_table
    from scenthound.ui.reports.findings import claims_table
    from scenthound.ui.reports.study import table_block
    from scenthound.ui.reports.validation import ALL_SEARCHES, named_finding

    validation = result.finished
    settings = validation.settings
    label_of = dict(zip(settings.all_strategies, settings.labels, strict=True))
    for note in validation.notes:
        say(f"Note: {note}")
    for strategy, label in label_of.items():
        say(f"{label}: {strategy}")
    for group, topics in settings.groups().items():
        of = f"topic {settings.topics[topics[0]].id}" if len(topics) == 1 else f"{len(topics)} topics"
        table = measures_table(validation.measurements, settings.labels, settings.budgets, topics, f"{of} {group}")
        print_table(table_block(table))
    findings = [
        named_finding(each.name, each.says, label_of.get(each.strategy, ALL_SEARCHES), each.topics, each.claims)
        for each in validation.findings
    ]
    print_table(claims_table(findings))
    say(f"Effects are differences to {settings.against}. {READING}")
    typer.echo(f"Findings, all crawls and figures: {result.folder}")


def print_plugins(
    registry: Registry[Any], names: list[str], printed: Printed, facts: Callable[[str], dict[str, Any]] | None = None
) -> None:
    """A table of all plug-ins, or details of those named; `facts` are properties besides the parameters."""
    from scenthound.api.catalog import plugins

    for name in names:
        registry.factory(name)
    if printed.as_json:
        print_json([_plugin_values(registry, name, facts) for name in names or registry.names()])
    elif names:
        for name in names:
            _print_plugin(registry, name, facts(name) if facts else {})
    else:
        table = plugins(registry)
        rows = [[each.name, each.summary, each.parameters] for each in table]
        print_rows(table.title, [registry.kind, "description", "parameters and defaults"], rows, n_text_columns=3)


def _print_plugin(registry: Registry[Any], name: str, facts: dict[str, Any]) -> None:
    title, parameters = f"{name}: {registry.summary(name)}", registry.parameters(name).values()
    if parameters:
        rows = [[each.name, each.kind.__name__, format_value(each.default), each.range] for each in parameters]
        print_rows(title, ["parameter", "type", "default", "allowed"], rows, n_text_columns=4)
    else:
        typer.echo(f"{title}; it has no parameters")
    for preset, values in registry.presets(name).items():
        chosen = ", ".join(f"{key}={format_value(value)}" for key, value in values.items())
        typer.echo(f"{name}:preset={preset} is {chosen or 'the defaults'}")
    if facts:
        bounds = {what.replace("_", " "): "no bound" if fact is None else fact for what, fact in facts.items()}
        typer.echo(", ".join(f"{what}: {fact}" for what, fact in bounds.items()))


def _plugin_values(registry: Registry[Any], name: str, facts: Callable[[str], dict[str, Any]] | None) -> dict[str, Any]:
    try:
        return {
            "name": name,
            "summary": registry.summary(name),
            "parameters": [_parameter_values(each) for each in registry.parameters(name).values()],
            "presets": {preset: dict(values) for preset, values in registry.presets(name).items()},
            **(facts(name) if facts else {}),
        }
    except PluginError as broken:
        return {"name": name, "broken": str(broken)}


def _parameter_values(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": parameter.kind.__name__,
        "may_be_none": parameter.optional,
        "default": parameter.default,
        "minimum": parameter.bounds.low,
        "maximum": parameter.bounds.high,
        "minimum_excluded": parameter.bounds.above,
        "maximum_excluded": parameter.bounds.below,
        "choices": list(parameter.choices),
    }
