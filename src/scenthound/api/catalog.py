"""Topic files and installed plug-ins from Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from scenthound.api.arguments import called_with, path_or_none, public
from scenthound.api.results import Result, Table
from scenthound.errors import PluginError
from scenthound.model import Topic
from scenthound.options import PathLike
from scenthound.plugins.options import NewStrategyOptions, PluginOptions
from scenthound.store.folder import check_replaceable
from scenthound.topics.options import ImportOptions, Selecting, SelectOptions

if TYPE_CHECKING:
    from scenthound.plugins.installed import InstalledPlugin
    from scenthound.registry import Registry


class Topics(Result):
    """Topics of a file or a selection, which other functions take as `topics`. Iterate for `Topic` objects."""

    def __init__(self, topics: Sequence[Topic], title: str, notes: Sequence[str] = ()) -> None:
        self._topics = list(topics)
        self._title = title
        #: For a selection, why it has fewer topics than requested, and which files are truncated.
        self.notes = list(notes)

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._topics)

    def __len__(self) -> int:
        return len(self._topics)

    @overload
    def __getitem__(self, index: int) -> Topic: ...
    @overload
    def __getitem__(self, index: slice) -> list[Topic]: ...
    def __getitem__(self, index: int | slice) -> Topic | list[Topic]:
        return self._topics[index]

    @public
    def save(self, file: PathLike, *, force: bool = False) -> Path:
        """Write a topic file: .toml or .jsonl, also .gz and .zst."""
        from scenthound.topics.files import write_topics

        check_replaceable(Path(file), None, force=force)
        write_topics(Path(file), self._topics)
        return Path(file)

    def _headline(self) -> str:
        return "\n".join(self.notes)

    def _tables(self) -> list[Table[Topic]]:
        columns = {
            "id": lambda topic: topic.id,
            "keywords": lambda topic: ", ".join(topic.keywords),
            "examples": lambda topic: len(topic.examples),
            "seeds": lambda topic: len(topic.seeds),
            "targets": lambda topic: len(topic.targets),
        }
        return [Table(self._topics, columns, self._title)]


@public
def open_topics(file: PathLike) -> Topics:
    """Read a topic file: TOML or JSON Lines."""
    from scenthound.topics.files import read_topics
    from scenthound.ui.formats import counted

    topics = read_topics(Path(file))
    return Topics(topics, f"{counted(len(topics), 'topic')} in {Path(file)}")


@called_with(SelectOptions)
def select_topics(options: SelectOptions) -> Topics:
    """Select topics of a file by their paths: "leaves" in breadth-first order (menczer2001), leaves by random "walks"
    (pant2002), or random categories of one "level", kept apart (wang2009). `out` is a file to write them to."""
    from scenthound.topics.select import select_from_file

    _check_out(options)
    return _selection(*select_from_file(Path(options.file), options), out=options.out)


@called_with(ImportOptions)
def import_topics(options: ImportOptions) -> Topics:
    """Select topics of a dump of the Open Directory by the rules of `select_topics`. `content` is content.rdf.u8,
    `structure` is structure.rdf.u8, both also .gz or .zst. `out` is a file to write them to."""
    from scenthound.topics.select import select_from_odp

    _check_out(options)
    truncated: list[str] = []
    structure, content = path_or_none(options.structure), Path(options.content)
    selected = select_from_odp(structure, content, options, lambda each: truncated.append(str(each)))
    return _selection(*selected, *truncated, out=options.out)


def _check_out(options: Selecting) -> None:
    if options.out is not None:
        check_replaceable(Path(options.out), None, force=options.force)


def _selection(selected: list[Topic], shortfall: str, *notes: str, out: PathLike | None) -> Topics:
    topics = Topics(selected, "selected topics", [*notes, *filter(None, [shortfall])])
    if out is not None:
        topics.save(out, force=True)
    return topics


@dataclass(frozen=True, slots=True)
class Plugin:
    """An installed strategy, metric or relevance model, with its parameters and their defaults."""

    name: str
    summary: str
    parameters: str


@public
def list_strategies() -> Table[Plugin]:
    """The installed strategies."""
    from scenthound.strategies.base import STRATEGIES

    return plugins(STRATEGIES)


@public
def list_metrics() -> Table[Plugin]:
    """The installed metrics."""
    from scenthound.metrics.base import METRICS

    return plugins(METRICS)


@public
def list_relevance_models() -> Table[Plugin]:
    """The installed relevance models, which score pages during a crawl."""
    from scenthound.relevance.base import RELEVANCE

    return plugins(RELEVANCE)


@called_with(PluginOptions)
def list_plugins(options: PluginOptions) -> Table[InstalledPlugin]:
    """All installed strategies, metrics and relevance models, or those of one kind (`strategy`, `metric`, `relevance`):
    the packages that they come from, with versions, and why some cannot be used. Those of other packages come first."""
    from scenthound.plugins.installed import InstalledPlugin, installed_plugins

    rows = installed_plugins(options.kind)
    return Table.of(InstalledPlugin, rows, f"{len(rows)} installed")


@called_with(NewStrategyOptions)
def new_strategy(options: NewStrategyOptions) -> Path:
    """Make a Python package with a strategy, its tests and its entry point, to start a plug-in from. `out` is the
    folder to make, by default `scenthound-NAME`. Returns the folder."""
    from scenthound.plugins.new_strategy import make_strategy_package

    return make_strategy_package(options.name, path_or_none(options.out)).folder


def plugins(registry: Registry[Any]) -> Table[Plugin]:
    rows = [_plugin(registry, name) for name in registry.names()]
    return Table.of(Plugin, rows, f"{len(rows)} installed")


def _plugin(registry: Registry[Any], name: str) -> Plugin:
    try:
        parameters = ", ".join(map(str, registry.parameters(name).values()))
        return Plugin(name, registry.summary(name), parameters or "-")
    except PluginError as broken:
        return Plugin(name, f"not usable: {broken}", "-")
