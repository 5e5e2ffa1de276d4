"""What a command says when it is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.tables import print_table
from scenthound.errors import BrokenContract

if TYPE_CHECKING:
    from pathlib import Path

    from scenthound.lab.simulation import Simulation
    from scenthound.registry import Parameter, Registry
    from scenthound.store.summary import RecordSummary


def print_record(summary: RecordSummary, out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary.counts(), indent=1))
        return
    typer.echo(
        f"Recorded {_counted(summary.pages, 'page')} on {_counted(summary.hosts, 'host')} in {out}: "
        f"{_counted(summary.links, 'link')}, {summary.links_recorded:,} of them inside, "
        f"{_counted(summary.words, 'word')}, {_counted(summary.vocabulary, 'stem')}, "
        f"{_counted(summary.aliases, 'redirect')}."
    )
    for reason, skipped in summary.skipped.items():
        typer.echo(f"Left out {skipped.count:,}: {reason} (first: {', '.join(skipped.examples)})")


def print_run(done: Simulation) -> None:
    experiment = done.experiment
    typer.echo(
        f"{_counted(done.n_crawls, 'crawl')} ({_counted(len(experiment.topics), 'topic')} x "
        f"{len(experiment.strategies)} strategies x {_counted(experiment.n_seeds, 'seed')}) got "
        f"{_counted(done.n_pages, 'page')}; {done.out / 'traces.parquet'} has them."
    )
    if done.pages_wanted > experiment.page_budget:
        typer.echo(f"--pages {done.pages_wanted:,}: the web has {experiment.page_budget:,}, so no crawl can get more.")
    if done.n_not_recorded:
        typer.echo(f"{_counted(done.n_not_recorded, 'page')} asked for were not in the recording.")
    if done.n_ended_early:
        typer.echo(f"{_counted(done.n_ended_early, 'crawl')} ended before {experiment.page_budget:,} pages.")
    if done.missing:
        typer.echo(
            f"{_counted(len(done.missing), 'page')} among examples and targets took no part, being not in the web "
            f"(first: {done.missing[0]})."
        )
    for reason in done.skipped_topics.values():
        typer.echo(f"Left out: {reason}")
    typer.echo(f"Next: scenthound evaluate {done.out}")


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_plugins(registry: Registry[Any], as_json: bool) -> None:
    names = registry.names()
    if as_json:
        typer.echo(json.dumps([_described(registry, name) for name in names], indent=1))
        return
    print_table(
        f"{len(names)} installed",
        [registry.kind, "parameters and defaults", "what it does"],
        [_row(registry, name) for name in names],
        n_words=3,
    )


def _row(registry: Registry[Any], name: str) -> list[str]:
    try:
        return [name, _signature(registry, name), registry.summary(name)]
    except BrokenContract as broken:
        return [name, "-", f"cannot be used: {broken}"]


def _described(registry: Registry[Any], name: str) -> dict[str, Any]:
    try:
        return {"name": name, "summary": registry.summary(name), "parameters": _parameters(registry, name)}
    except BrokenContract as broken:
        return {"name": name, "broken": str(broken)}


def _parameters(registry: Registry[Any], name: str) -> list[dict[str, Any]]:
    return [
        {
            "name": parameter.name,
            "type": parameter.kind.__name__ + (" or none" if parameter.optional else ""),
            "default": parameter.default,
            "minimum": parameter.bounds.low,
            "maximum": parameter.bounds.high,
        }
        for parameter in registry.parameters(name).values()
    ]


def _signature(registry: Registry[Any], name: str) -> str:
    return "\n".join(map(_parameter, registry.parameters(name).values())) or "-"


def _parameter(parameter: Parameter) -> str:
    bounded = parameter.bounds.low is not None or parameter.bounds.high is not None
    bounds = f" ({parameter.bounds}{' or none' if parameter.optional else ''})" if bounded else ""
    return f"{parameter.name}={parameter.default}{bounds}"
