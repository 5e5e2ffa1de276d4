"""What a command says when it is done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from scenthound.cli.tables import print_table

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
        f"Recorded {summary.pages:,} pages on {summary.hosts:,} hosts in {out}: {summary.links:,} links, "
        f"{summary.links_recorded:,} of them inside, {summary.words:,} words, {summary.vocabulary:,} stems, "
        f"{summary.aliases:,} redirects."
    )
    for reason, skipped in summary.skipped.items():
        typer.echo(f"Left out {skipped.count:,}: {reason} (first: {', '.join(skipped.examples)})")


def print_run(done: Simulation) -> None:
    experiment = done.experiment
    typer.echo(
        f"{done.n_crawls:,} crawls ({len(experiment.topics):,} topics x {len(experiment.strategies)} strategies x "
        f"{experiment.n_seeds} seeds) got {done.n_pages:,} pages; {done.out / 'traces.parquet'} has them."
    )
    if done.n_not_recorded:
        typer.echo(f"{done.n_not_recorded:,} pages asked for were not in the recording.")
    if done.n_ended_early:
        typer.echo(f"{done.n_ended_early:,} crawls ended before the budget of {experiment.page_budget:,} pages.")
    if done.skipped_topics:
        typer.echo(f"Left out for want of a start page: {', '.join(done.skipped_topics)}.")
    typer.echo(f"Next: scenthound evaluate {done.out}")


def print_plugins(registry: Registry, as_json: bool) -> None:
    found: dict[str, Any] = {name: registry.factory(name) for name in registry.names()}
    if as_json:
        listed = [{"name": name, **_described(registry, name, factory)} for name, factory in found.items()]
        typer.echo(json.dumps(listed, indent=1))
        return
    print_table(
        f"{len(found)} installed",
        [registry.kind, "parameters and defaults", "what it does"],
        [[name, _signature(registry, name), factory.summary] for name, factory in found.items()],
    )


def _described(registry: Registry, name: str, factory: Any) -> dict[str, Any]:
    parameters = [
        {
            "name": parameter.name,
            "type": parameter.kind.__name__ + (" or none" if parameter.optional else ""),
            "default": parameter.default,
            "minimum": parameter.bounds.low,
            "maximum": parameter.bounds.high,
        }
        for parameter in registry.parameters(name).values()
    ]
    return {"summary": factory.summary, "parameters": parameters}


def _signature(registry: Registry, name: str) -> str:
    return "\n".join(map(_parameter, registry.parameters(name).values())) or "-"


def _parameter(parameter: Parameter) -> str:
    bounded = parameter.bounds.low is not None or parameter.bounds.high is not None
    bounds = f" ({parameter.bounds}{' or none' if parameter.optional else ''})" if bounded else ""
    return f"{parameter.name}={parameter.default}{bounds}"
