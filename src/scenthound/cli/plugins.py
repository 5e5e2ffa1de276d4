"""`scenthound strategies`, `metrics` and `relevance`: what is installed, plug-ins included."""

from typing import Annotated

import typer

from scenthound.cli.shared_options import AsJson

Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Tell all about these, ranges and presets.")
]


def strategies(names: Names = None, as_json: AsJson = False) -> None:
    """List the installed strategies with their parameters and defaults."""
    from scenthound.cli.summaries import print_plugins, strategy_facts
    from scenthound.strategies.base import STRATEGIES

    print_plugins(STRATEGIES, names or [], as_json, strategy_facts)


def metrics(names: Names = None, as_json: AsJson = False) -> None:
    """List the installed metrics."""
    from scenthound.cli.summaries import print_plugins
    from scenthound.metrics.base import METRICS

    print_plugins(METRICS, names or [], as_json)


def relevance_models(names: Names = None, as_json: AsJson = False) -> None:
    """List the installed relevance models: what scores pages while a crawl runs."""
    from scenthound.cli.summaries import print_plugins
    from scenthound.relevance.base import RELEVANCE

    print_plugins(RELEVANCE, names or [], as_json)
