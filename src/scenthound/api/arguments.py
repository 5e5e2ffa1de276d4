"""The conventions of the public functions: arguments as people write them, and errors that name arguments."""

from __future__ import annotations

import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from numbers import Integral, Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from scenthound.errors import InvalidInput, InvalidParameter, InvalidTopic, ScenthoundError, UsageError, printable
from scenthound.model import Topic

if TYPE_CHECKING:
    from scenthound.processes import WorkersLike
    from scenthound.registry import Registry
    from scenthound.store.folder import FolderKind

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
#: The path of a file or folder: a text or a `Path`.
PathLike = str | os.PathLike[str]
#: A folder, or a result that is in one.
FolderLike = Any
#: A topic, the keywords of one, or a topic file.
TopicLike = Topic | PathLike | Iterable[str]
#: A topic file, a topic, or several topics.
TopicsLike = PathLike | Topic | Iterable[Topic]

TOPIC_FILE_ENDINGS = (".toml", ".jsonl", ".ndjson", ".gz", ".zst")
#: What numbers are called in messages, and their types, by annotation.
_NUMBERS: dict[str, tuple[str, type]] = {"int": ("an integer", Integral), "float": ("a number", Real)}
#: The same for other arguments, by annotation.
_OTHERS: dict[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("True or False", (bool,)),
    "str": ("a text", (str,)),
    "PathLike": ("a path", (str, os.PathLike)),
}
#: Ten years; more is a typing error.
MAX_SECONDS = 3650 * 86_400


def public(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Make a function part of the API. Its signature lists all options, an unknown argument raises a TypeError that
    names the nearest one, and errors of the library, which name flags, name arguments."""
    signature = _full_signature(function)

    if inspect.iscoroutinefunction(inspect.unwrap(function)):

        @wraps(function)
        async def awaited(*args: Any, **named: Any) -> Any:
            with _checked_call(function, signature, args, named):
                return await function(*args, **named)  # type: ignore[misc]

        called: Any = awaited
    else:

        @wraps(function)
        def called(*args: Any, **named: Any) -> Any:
            with _checked_call(function, signature, args, named):
                return function(*args, **named)

    called.__signature__ = signature
    return called  # type: ignore[no-any-return]


@contextmanager
def _checked_call(
    function: Any, signature: inspect.Signature, args: tuple[Any, ...], named: dict[str, Any]
) -> Iterator[None]:
    parameters = signature.parameters
    open_ended = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    for name in named:
        if name not in parameters and not open_ended:
            nearest = get_close_matches(name, parameters, n=1)
            guess = f". Did you mean {nearest[0]!r}?" if nearest else ""
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{guess}")
    try:
        signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{function.__name__}(): {error}") from None
    positional = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    for name, value in {**dict(zip(positional, args, strict=False)), **named}.items():
        if name in parameters:
            _check_argument(parameters[name], value)
        if name in named and not isinstance(value, int | float) and isinstance(value, Real):
            # Numbers of numpy cannot be written as JSON.
            named[name] = int(value) if isinstance(value, Integral) else float(value)
    with errors_name_arguments(_arguments_by_flag(parameters.values())):
        yield


def _check_argument(parameter: inspect.Parameter, value: Any) -> None:
    """InvalidParameter if an argument has another type than its annotation, if that is a simple one; also for `workers`
    and `progress` that cannot be used."""
    problem = _problem(parameter, value)
    if problem:
        raise InvalidParameter(f"{parameter.name}={printable(repr(value), 80)} {problem}.")


def _problem(parameter: inspect.Parameter, value: Any) -> str:
    annotation = getattr(parameter.annotation, "__name__", str(parameter.annotation))
    if value is None and (annotation.endswith(" | None") or parameter.default is None):
        return ""
    annotation = annotation.removesuffix(" | None")
    if annotation in _OTHERS:
        called, types = _OTHERS[annotation]
        if not isinstance(value, types):
            return f"should be {called}"
    if annotation.removesuffix(" | Sequence[int]") in _NUMBERS:
        called, number = _NUMBERS[annotation.removesuffix(" | Sequence[int]")]
        for each in listed(value) if annotation.endswith("]") else [value]:
            if not isinstance(each, number) or isinstance(each, bool):
                return f"should be {called}"
    if parameter.name == "workers" and value < 1:
        return "must be at least 1"
    if parameter.name == "progress" and not (isinstance(value, bool) or callable(value)):
        return "should be True, False or a function"
    return ""


@contextmanager
def errors_name_arguments(arguments: Mapping[str, str]) -> Iterator[None]:
    """Let errors that leave the block name arguments instead of flags; `arguments` are those by flag."""
    try:
        yield
    except ScenthoundError as error:
        error.arguments = arguments
        raise


def _arguments_by_flag(parameters: Iterable[inspect.Parameter]) -> dict[str, str]:
    """How Python writes each flag of the command line: `train-from` as `train_from=`, `seed` as `seeds=`."""
    written: dict[str, str] = {}
    for name, is_flag in ((each.name, isinstance(each.default, bool)) for each in parameters):
        argument = f"{name}=True" if is_flag else f"{name}="
        singular = name.removesuffix("ies") + "y" if name.endswith("ies") else name.removesuffix("s")
        written.setdefault(singular.replace("_", "-"), argument)
        written[name.replace("_", "-")] = argument
    if "topic-id" in written:
        written["topic"] = written["topic-id"]
    return written


def _full_signature(function: Callable[..., Any]) -> inspect.Signature:
    """With a keyword argument for each option of a TypedDict in `**options: Unpack[...]`."""
    signature = inspect.signature(function)
    parameters = []
    for each in signature.parameters.values():
        if each.kind is inspect.Parameter.VAR_KEYWORD and str(each.annotation).startswith("Unpack["):
            options = inspect.unwrap(function).__globals__[each.annotation[len("Unpack[") : -1]]
            defaults = defaults_of(options)
            for name, hint in get_type_hints(options).items():
                parameters.append(inspect.Parameter(name, each.KEYWORD_ONLY, default=defaults[name], annotation=hint))
        else:
            parameters.append(each)
    return signature.replace(parameters=parameters)


def defaults_of(options: type[Any]) -> dict[str, Any]:
    """The defaults of a TypedDict of options, written `start: Annotated[int, 10]`; None where there is none."""
    hints = get_type_hints(options, include_extras=True)
    return {name: get_args(hint)[1] if get_origin(hint) is Annotated else None for name, hint in hints.items()}


Prepared = TypeVar("Prepared")


def with_arguments_of(
    prepare: Callable[Parameters, Prepared],
) -> Callable[[Callable[[Prepared], Returned]], Callable[Parameters, Returned]]:
    """Let a function that takes what `prepare` returns be called with the arguments of `prepare`."""

    def decorate(function: Callable[[Prepared], Returned]) -> Callable[Parameters, Returned]:
        @wraps(function)
        def called(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
            return function(prepare(*args, **named))

        returned = inspect.signature(function).return_annotation
        called.__signature__ = inspect.signature(prepare).replace(return_annotation=returned)  # type: ignore[attr-defined]
        return called

    return decorate


@contextmanager
def workers_on(cluster: str | None, workers: int | None) -> Iterator[WorkersLike]:
    """Worker processes of this machine, or the workers of a cluster within the block."""
    if cluster is None:
        yield workers
        return
    from scenthound.cluster.connection import cluster_workers

    with cluster_workers(cluster, workers) as remote:
        yield remote


def listed(values: Any) -> list[Any]:
    """One value, or several, as a list."""
    if values is None:
        return []
    if isinstance(values, str | bytes | os.PathLike | type) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def chosen(registry: Registry[Any], item: Any) -> str:
    """The text of a choice that was made by name, class or instance."""
    return str(registry.resolve(item))


def chosen_or_none(registry: Registry[Any], item: Any) -> str | None:
    return None if item is None else chosen(registry, item)


def path(value: PathLike) -> Path:
    return Path(os.fspath(value))


def path_or_none(value: PathLike | None) -> Path | None:
    return None if value is None else path(value)


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
        file = path(topic)
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
        yield path(topics)
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
    found = path(folder)
    if kinds:
        from scenthound.store.folder import ResultFolder, is_kind

        if not any(is_kind(found, kind) for kind in kinds):
            ResultFolder.open(found, kind=kinds[0])
    return found


def web_folder(web: Any) -> Path:
    """The folder of a recorded web, or of a crawl that can be used as one."""
    return folder_of(web, "web", "crawl")
