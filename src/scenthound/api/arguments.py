"""The conventions of the public functions: arguments as people write them, and errors that name arguments."""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, ScenthoundError, UsageError, printable
from scenthound.model import Topic
from scenthound.options import (
    Declared,
    PathLike,
    TopicLike,
    TopicsLike,
    check,
    listed,
    options_in,
    signature_of,
    text_problem,
)

if TYPE_CHECKING:
    from scenthound.processes import WorkersLike
    from scenthound.registry import Registry
    from scenthound.store.folder import FolderKind

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
TOPIC_FILE_ENDINGS = (".toml", ".jsonl", ".ndjson", ".gz", ".zst")
#: What values are called in messages, and their types, by annotation. Others are checked where they are used.
_KINDS: dict[str, tuple[str, Any]] = {
    "int": ("an integer", Integral),
    "float": ("a number", Real),
    "bool": ("True or False", bool),
    "str": ("a text", str),
    "PathLike": ("a path", (str, os.PathLike)),
    "Mapping": ("a dictionary", Mapping),
    "ProgressLike": ("True, False or a function", (bool, Callable)),
}
#: Ten years; more is a typing error.
MAX_SECONDS = 3650 * 86_400


def public(
    function: Callable[Parameters, Returned], options: Iterable[Declared] = ()
) -> Callable[Parameters, Returned]:
    """Make a function part of the API. Its signature lists all options, an unknown argument raises a TypeError that
    names the nearest one, and errors of the library, which name the flags of options, name arguments."""
    flags = {each.name: each.key for each in options}
    signature = inspect.signature(function)

    if inspect.iscoroutinefunction(inspect.unwrap(function)):

        @wraps(function)
        async def awaited(*args: Any, **named: Any) -> Any:
            with _checked_call(function, signature, flags, args, named):
                return await cast("Callable[..., Awaitable[Any]]", function)(*args, **named)

        called: Any = awaited
    else:

        @wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            with _checked_call(function, signature, flags, args, named):
                return function(*args, **named)

    called.__signature__ = signature
    return cast("Callable[Parameters, Returned]", called)


@contextmanager
def _checked_call(
    function: Any,
    signature: inspect.Signature,
    flags: Mapping[str, str],
    args: tuple[Any, ...],
    named: dict[str, Any],
) -> Iterator[None]:
    parameters = signature.parameters
    open_ended = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    for name in named:
        if name not in parameters and not open_ended:
            nearest = get_close_matches(name, parameters, n=1)
            guess = f". Did you mean {nearest[0]!r}?" if nearest else ""
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{guess}")
    try:
        given = signature.bind(*args, **named).arguments
    except TypeError as error:
        raise TypeError(f"{function.__name__}(): {error}") from None
    for name, value in given.items():
        if problem := _problem(parameters[name], value):
            raise InvalidParameter(f"{name}={printable(repr(value), 80)} {problem}.")
    for name, value in named.items():
        if not isinstance(value, int | float) and isinstance(value, Real):
            # Numbers of numpy cannot be written as JSON.
            named[name] = int(value) if isinstance(value, Integral) else float(value)
    with errors_name_arguments(_arguments_by_flag(parameters.values(), flags)):
        yield


def _problem(parameter: inspect.Parameter, value: Any) -> str:
    """What is wrong with an argument of another type than its annotation, or with a text."""
    if value is None and parameter.default is None:
        return ""
    kinds = str(parameter.annotation).removesuffix(" | None").split(" | ")
    if not any(_fits(value, kind) for kind in kinds):
        return f"should be {' or '.join(map(_called, kinds))}"
    return text_problem(value, parameter.default)


def _fits(value: Any, annotation: str) -> bool:
    kind, _, inner = annotation.partition("[")
    if kind == "Sequence":
        is_several = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        return is_several and all(_fits(each, inner[:-1]) for each in value)
    types = _KINDS.get(kind, ("", object))[1]
    return isinstance(value, types) and not (isinstance(value, bool) and types in (Integral, Real))


def _called(annotation: str) -> str:
    kind, _, inner = annotation.partition("[")
    return f"a list of {_KINDS[inner[:-1]][0].split()[-1]}s" if kind == "Sequence" else _KINDS[kind][0]


@contextmanager
def errors_name_arguments(arguments: Mapping[str, str]) -> Iterator[None]:
    """Let errors that leave the block name arguments instead of flags; `arguments` are those by flag."""
    try:
        yield
    except ScenthoundError as error:
        error.arguments = arguments
        raise


def _arguments_by_flag(parameters: Iterable[inspect.Parameter], flags: Mapping[str, str]) -> dict[str, str]:
    """How Python writes each flag of the command line: `train-from` as `train_from=`, `seed` as `seeds=`."""
    return {
        flags.get(each.name, each.name.replace("_", "-")): f"{each.name}={'True' * isinstance(each.default, bool)}"
        for each in parameters
    }


Prepared = TypeVar("Prepared")


def called_with(
    settings: Callable[Parameters, Prepared],
) -> Callable[[Callable[[Prepared], Returned]], Callable[Parameters, Returned]]:
    """Make a function of a settings class public: it is called with its options as arguments, which its docstring then
    lists."""

    def decorate(function: Callable[[Prepared], Returned]) -> Callable[Parameters, Returned]:
        kind, make = cast("type[Prepared]", settings), cast("Callable[..., Prepared]", settings)
        signature = signature_of(kind, inspect.signature(function).return_annotation)

        @wraps(function)
        def called(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
            prepared = make(**signature.bind(*args, **named).arguments)
            check(prepared)
            return function(prepared)

        names = {each.key: each.name for each in options_in(kind)}
        helps = "\n".join(f"- `{each.name}`: {help_in_python(each.help, names)}" for each in options_in(kind))
        called.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\n{helps}"
        vars(called)["__signature__"] = signature
        return public(called, options_in(kind))

    return decorate


def help_in_python(text: str, names: Mapping[str, str]) -> str:
    """The help of an option, with arguments in the place of flags; `names` has those that are called otherwise."""
    text = re.sub(r"; repeatable(?=[.;,])|\s*Repeatable\.", "", text)
    return re.sub(r"--([a-z][a-z0-9-]*)", lambda flag: f"`{names.get(flag[1], flag[1].replace('-', '_'))}`", text)


def several(settings: Callable[..., Prepared]) -> Callable[..., Prepared]:
    """A settings class with an option that is all further arguments, for which type checkers have no words."""
    return settings


@contextmanager
def workers_on(cluster: str | None, workers: int | None) -> Iterator[WorkersLike]:
    """Worker processes of this machine, or the workers of a cluster within the block."""
    if cluster is None:
        yield workers
        return
    from scenthound.cluster.connection import cluster_workers

    with cluster_workers(cluster, workers) as remote:
        yield remote


def chosen(registry: Registry[Any], item: Any) -> str:
    """The text of a choice that was made by name, class or instance."""
    return str(registry.resolve(item))


def chosen_or_none(registry: Registry[Any], item: Any) -> str | None:
    return None if item is None else chosen(registry, item)


def path_or_none(value: PathLike | None) -> Path | None:
    return None if value is None else Path(value)


def one_topic(topic: TopicLike, topic_id: str | None = None) -> Topic:
    """A topic from a topic file, of which it may need an id, from keywords, or as it is."""
    from scenthound.crawler.settings import choose_topic

    if isinstance(topic, str | list | tuple) and not topic:
        raise InvalidTopic("The topic is empty: pass a Topic, keywords or a topic file.")
    if isinstance(topic, Topic):
        if topic_id not in {None, topic.id}:
            raise InvalidTopic(f"topic_id={topic_id!r} selects a topic of a file, but the topic is {topic.id!r}.")
        return topic
    if isinstance(topic, str | os.PathLike):
        file = Path(topic)
        if isinstance(topic, str) and not file.name.endswith(TOPIC_FILE_ENDINGS) and not file.exists():
            return Topic(keywords=topic)
        return choose_topic(file, topic_id, [], ["http://seed.invalid/"])[0]
    keywords = list(topic) if isinstance(topic, Iterable) else [topic]
    if not all(isinstance(word, str) for word in keywords):
        raise InvalidTopic(f"{printable(topic, 80)!r} is not a topic: pass a Topic, keywords or a topic file.")
    return Topic(keywords=keywords)


@contextmanager
def topics_file(topics: TopicsLike) -> Iterator[Path]:
    """A topic file; for topics that are objects, a temporary one."""
    if isinstance(topics, str | os.PathLike):
        yield Path(topics)
        return
    if topics is None:
        raise InvalidTopic("None is not a topic: pass a topic file or Topic objects.")
    objects = [topics] if isinstance(topics, Topic) else listed(topics)
    for each in objects:
        if not isinstance(each, Topic):
            raise InvalidTopic(f"{printable(each, 80)!r} is not a topic: pass a topic file or Topic objects.")
    if not objects:
        raise InvalidTopic("There are no topics: pass a topic file or Topic objects.")
    from scenthound.topics.files import write_topics

    with TemporaryDirectory(prefix="scenthound-") as folder:
        file = Path(folder) / "topics.jsonl"
        with _errors_name_topics(file, single=isinstance(topics, Topic)):
            write_topics(file, objects)
            yield file


@contextmanager
def _errors_name_topics(file: Path, *, single: bool) -> Iterator[None]:
    """Let errors that leave the block name the argument `topics`, or an item of it, instead of the file."""
    try:
        yield
    except ScenthoundError as error:
        named = re.compile(rf"{re.escape(str(file))}(?:, line (\d+))?")
        text = named.sub(
            lambda found: f"topics[{int(found[1]) - 1}]" if found[1] and not single else "topics", error.message
        )
        error.args = (text, *error.args[1:])
        raise


def seconds(span: str | float | None) -> float | None:
    """A span of time: seconds, or a text such as 90s, 10m, 2h or 1d."""
    if span is None:
        return None
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    text = str(span)
    number, unit = (text[:-1], text[-1]) if text[-1:] in units else (text, "s")
    try:
        value = float(number) * units[unit]
    except ValueError:
        value = math.nan
    if not 0 < value <= MAX_SECONDS:
        raise UsageError(f"--time {printable(text, 40)!r} is not a time span: write 90, 90s, 10m, 2h or 1d.")
    return value


def folder_of(item: Any, *kinds: FolderKind) -> Path:
    """The folder of a result, or the folder itself; InvalidInput if it is of none of these kinds."""
    folder = getattr(item, "folder", item)
    if folder is None and item is not None:
        raise InvalidInput("This comparison is in no folder: call `compare(..., out=...)`.")
    if not isinstance(folder, str | os.PathLike):
        raise InvalidInput(
            f"{printable(repr(item), 80)} ({type(item).__name__}) has no folder: pass a folder, or a result with one."
        )
    found = Path(folder)
    if kinds:
        from scenthound.store.folder import ResultFolder, is_kind

        if not any(is_kind(found, kind) for kind in kinds):
            ResultFolder.open(found, kind=kinds[0])
    return found


def web_folder(web: Any) -> Path:
    """The folder of a recorded web, or of a crawl that can be used as one."""
    return folder_of(web, "web", "crawl")
