"""What commands print when they have finished, and what `strategies`, `metrics` and `relevance` list."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from scenthound.errors import PluginError
from scenthound.registry import format_value
from scenthound.ui.formats import counted, json_text
from scenthound.ui.terminal import print_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scenthound.experiments.runs import Simulation
    from scenthound.registry import Registry
    from scenthound.store.export_pages import ExportSummary
    from scenthound.store.record import RecordSummary


def print_record(summary: RecordSummary, out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json_text(summary.counts(), indent=1))
        return
    typer.echo(
        f"Recorded {counted(summary.pages, 'page')} on {counted(summary.hosts, 'host')} in {out}: "
        f"{counted(summary.links, 'link')}, {summary.links_recorded:,} of them inside, "
        f"{counted(summary.words, 'word')}, {counted(summary.vocabulary, 'stem')}, "
        f"{counted(summary.aliases, 'redirect')}. Compiled code: {'yes' if summary.is_compiled else 'no'}."
    )
    for reason, skipped in summary.skipped.items():
        typer.echo(f"Left out {skipped.count:,}: {reason} (first: {', '.join(skipped.examples)})")


def print_export(summary: ExportSummary, kind: str, out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json_text({"file": str(out), **asdict(summary)}, indent=1))
        return
    noun = "page" if kind in ("jsonl", "parquet") else "record"
    typer.echo(f"Wrote {counted(summary.written, noun)} to {out}.")
    if summary.left_out:
        ask, them = ("asks", "it") if summary.left_out == 1 else ("ask", "them")
        left_out = counted(summary.left_out, noun)
        typer.echo(f"Left out {left_out} that {ask} not to be indexed; --include-noindex writes {them} too.")
    if summary.without_html:
        have, them = ("has", "it") if summary.without_html == 1 else ("have", "them")
        typer.echo(
            f"{summary.without_html:,} of these {have} no HTML: the crawl read {them} from a recording and did not "
            f"fetch {them}."
        )


def print_run(done: Simulation) -> None:
    experiment = done.experiment
    typer.echo(
        f"{counted(done.n_crawls, 'crawl')} ({counted(len(experiment.topics), 'topic')} x "
        f"{counted(len(experiment.strategies), 'strategy')} x {counted(experiment.repeats, 'seed')}) got "
        f"{counted(done.n_pages, 'page')}; {done.out / 'traces.parquet'} has them."
    )
    typer.echo(f"Mode: {experiment.mode}. Compiled code: {_compiled(done)}.")
    if done.pages_wanted > experiment.page_budget:
        typer.echo(f"--pages {done.pages_wanted:,}: the web has {experiment.page_budget:,}, which is the maximum.")
    if done.n_not_recorded:
        typer.echo(f"{counted(done.n_not_recorded, 'page')} requested were not in the recording.")
    if done.n_ended_early:
        typer.echo(f"{counted(done.n_ended_early, 'crawl')} ended before {experiment.page_budget:,} pages.")
    if done.missing:
        typer.echo(
            f"Ignored because they are not in the web: {counted(len(done.missing), 'page')} among examples and targets "
            f"(first: {done.missing[0]})."
        )
    for reason in done.skipped_topics.values():
        typer.echo(f"Left out: {reason}")
    typer.echo(f"Next: scenthound evaluate {done.out}")


def _compiled(done: Simulation) -> str:
    if 0 < done.n_compiled < done.n_crawls:
        return f"{done.n_compiled:,} of {done.n_crawls:,} crawls"
    return "yes" if done.n_compiled else "no"


#: Properties of a plug-in besides its parameters.
Facts: TypeAlias = "Callable[[str], dict[str, Any]]"


def strategy_facts(name: str) -> dict[str, Any]:
    """The relevance model and the memory bound of a strategy with default parameters."""
    from scenthound.strategies.base import STRATEGIES

    strategy = STRATEGIES.make(name)
    bound = strategy.memory_bound()
    return {
        "relevance_model": strategy.relevance_model,
        "most_pages_waiting": bound.queued,
        "bytes_per_page_waiting": bound.bytes_per_queued,
        "bytes_per_url_seen": bound.bytes_per_url,
        "bytes_per_link_seen": bound.bytes_per_link,
    }


def no_facts(_name: str) -> dict[str, Any]:
    return {}


def print_plugins(registry: Registry[Any], names: list[str], as_json: bool, facts: Facts = no_facts) -> None:
    """A table of all plug-ins, or details of those named."""
    shown = names or registry.names()
    for name in names:
        registry.factory(name)
    if as_json:
        typer.echo(json_text([_described(registry, name, facts) for name in shown], indent=1))
    elif names:
        for name in names:
            _print_plugin(registry, name, facts(name))
    else:
        print_rows(
            f"{len(shown)} installed",
            [registry.kind, "description", "parameters and defaults"],
            [_row(registry, name) for name in shown],
            n_text_columns=3,
        )


def _row(registry: Registry[Any], name: str) -> list[str]:
    try:
        parameters = ", ".join(map(str, registry.parameters(name).values())) or "-"
        return [name, registry.summary(name), parameters]
    except PluginError as broken:
        return [name, f"not usable: {broken}", "-"]


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
        typer.echo(
            ", ".join(
                f"{what.replace('_', ' ')}: {'no bound' if fact is None else fact}" for what, fact in facts.items()
            )
        )


def _described(registry: Registry[Any], name: str, facts: Facts) -> dict[str, Any]:
    try:
        return {
            "name": name,
            "summary": registry.summary(name),
            "parameters": _parameters(registry, name),
            "presets": {preset: dict(values) for preset, values in registry.presets(name).items()},
            **facts(name),
        }
    except PluginError as broken:
        return {"name": name, "broken": str(broken)}


def _parameters(registry: Registry[Any], name: str) -> list[dict[str, Any]]:
    return [
        {
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
        for parameter in registry.parameters(name).values()
    ]
