"""The reference of names and parameters, from the registries, and of codes: skip reasons, end reasons, exit codes."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from docs_site.text import escaped, table
from scenthound import errors
from scenthound.cli import INTERRUPTED
from scenthound.errors import ScenthoundError
from scenthound.experiments.search.methods import METHODS
from scenthound.metrics.base import METRICS
from scenthound.reasons import EndReason, SkipReason
from scenthound.registry import Parameter, format_value
from scenthound.relevance.base import RELEVANCE
from scenthound.simulator.modes import MODES
from scenthound.strategies.base import STRATEGIES

#: By title: the registry, and the option that chooses from it.
REGISTRIES: dict[str, tuple[Any, str]] = {
    "Strategies": (STRATEGIES, "--strategy"),
    "Metrics": (METRICS, "--metric"),
    "Relevance models": (RELEVANCE, "--relevance"),
    "Modes of simulated crawls": (MODES, "--mode"),
    "Search algorithms": (METHODS, "--search"),
}


def parameters_page() -> str:
    """Everything that is chosen by name, with its parameters."""
    parts = [
        "# Names and parameters",
        "Strategies, metrics and so on are chosen by name, with parameters: `best_n_first:n=256`. A preset is a named "
        "set of values: `otie:preset=wang2009`. These are installed with Scenthound.",
    ]
    for title, (registry, option) in REGISTRIES.items():
        parts += [f"## {title}", f"Chosen by `{option}`.", *_plugins(registry)]
    return "\n\n".join(parts) + "\n"


def _plugins(registry: Any) -> Iterator[str]:
    for name in registry.names():
        yield f"### {name}"
        summary = registry.summary(name) or (inspect.getdoc(registry.factory(name)) or "").split("\n\n")[0]
        if not summary:
            raise ValueError(f"The {registry.kind} {name} has no summary: its class needs the attribute `summary`.")
        yield f"{escaped(summary).rstrip('.')}."
        parameters = registry.parameters(name).values()
        if parameters:
            yield table(["parameter", "type", "default", "allowed"], [_row(each) for each in parameters])
        presets: dict[str, Any] = getattr(registry, "presets", lambda _: {})(name)
        if presets:
            yield table(["preset", "values"], [[f"`{preset}`", _values(values)] for preset, values in presets.items()])


def _row(parameter: Parameter) -> list[str]:
    cells = [parameter.name, parameter.kind.__name__, format_value(parameter.default) or '""']
    return [*(f"`{cell}`" for cell in cells), escaped(parameter.range)]


def _values(values: Any) -> str:
    return ", ".join(f"`{name}={format_value(value)}`" for name, value in values.items()) or "the defaults"


def codes_page() -> str:
    """Codes that programs can rely on."""
    skip_reasons = [[f"`{reason.value}`", escaped(reason.text)] for reason in SkipReason]
    end_reasons = [[f"`{reason.value}`"] for reason in EndReason]
    exit_codes = [
        ["`0`", "success"],
        [f"`{ScenthoundError.exit_code}`", "failure: any other error below, or an error of the system"],
        [f"`{errors.UsageError.exit_code}`", "wrong usage or invalid input: `UsageError` and the errors below it"],
        [f"`{INTERRUPTED}`", "stopped with Ctrl-C"],
        ["`128 + n`", "ended by signal n"],
    ]
    parts = [
        "# Codes",
        "## Exit codes",
        table(["exit code", "meaning"], exit_codes),
        "## Errors",
        "All are in `scenthound.errors`. In Python they are raised; on the command line each is one line and an exit "
        "code.",
        table(["error", "derived from", "exit code"], list(_errors())),
        "## Skip reasons",
        "Why a page was not visited, as stored in crawl folders and printed in summaries.",
        table(["code", "meaning"], skip_reasons),
        "## End reasons",
        "Why a crawl ended, live or simulated.",
        table(["text"], end_reasons),
    ]
    return "\n\n".join(parts) + "\n"


def _errors() -> Iterator[list[str]]:
    for name, found in vars(sys.modules[errors.__name__]).items():
        if inspect.isclass(found) and issubclass(found, ScenthoundError):
            yield [f"`{name}`", f"`{found.__bases__[0].__name__}`", f"`{found.exit_code}`"]
