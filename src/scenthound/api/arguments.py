"""Arguments of the public functions, converted to what the library takes; and errors that name them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from scenthound.errors import InvalidInput, InvalidTopic, ScenthoundError, UsageError, printable
from scenthound.model import Topic

if TYPE_CHECKING:
    from scenthound.registry import Registry
    from scenthound.store.folder import FolderKind

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
PathLike = str | os.PathLike[str]
#: A topic, the keywords of one, or a topic file.
TopicLike = Topic | PathLike | Iterable[str]
#: A topic file, a topic, or several topics.
TopicsLike = PathLike | Topic | Iterable[Topic]

TOPIC_FILE_ENDINGS = (".toml", ".jsonl", ".ndjson", ".gz", ".zst")


def public(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """A function of the API: its errors name its arguments, where the library's messages name flags."""

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **named: Any) -> Any:
            with _in_python(function):
                return await function(*args, **named)

        return awaited  # type: ignore[return-value]

    @wraps(function)
    def called(*args: Parameters.args, **named: Parameters.kwargs) -> Returned:
        with _in_python(function):
            return function(*args, **named)

    return called


@contextmanager
def _in_python(function: Callable[..., Any]) -> Iterator[None]:
    try:
        yield
    except ScenthoundError as error:
        error.arguments = _arguments_of_flags(function)
        raise


def _arguments_of_flags(function: Callable[..., Any]) -> dict[str, str]:
    """How the function writes each flag of the command line: `train-from` as `train_from=`, `seed` as `seeds=`."""
    written: dict[str, str] = {}
    for name, annotation in _annotations(function).items():
        argument = f"{name}=True" if annotation == "bool" else f"{name}="
        plural = name.removesuffix("ies") + "y" if name.endswith("ies") else name.removesuffix("s")
        written.setdefault(plural.replace("_", "-"), argument)
        written[name.replace("_", "-")] = argument
    return written


def _annotations(function: Callable[..., Any]) -> dict[str, str]:
    """Of all keyword arguments, those of a TypedDict in `**options` included."""
    annotations: dict[str, str] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            options = inspect.unwrap(function).__globals__[parameter.annotation[len("Unpack[") : -1]]
            annotations |= {key: _text(kind) for key, kind in options.__annotations__.items()}
        else:
            annotations[name] = _text(parameter.annotation)
    return annotations


def _text(annotation: Any) -> str:
    return str(getattr(annotation, "__forward_arg__", getattr(annotation, "__name__", annotation)))


def check_options(function: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    """TypeError, as Python itself says it, for an argument that does not exist; with the nearest that does."""
    from difflib import get_close_matches

    names = list(known)
    for name in options:
        if name not in names:
            nearest = get_close_matches(name, names, n=1)
            guess = f". Did you mean {nearest[0]!r}?" if nearest else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{guess}")


def listed(values: Any) -> list[Any]:
    """One value, or several, as a list."""
    if values is None:
        return []
    if isinstance(values, str | os.PathLike | type) or not isinstance(values, Iterable):
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
    if isinstance(topic, Topic):
        return topic
    if isinstance(topic, str | os.PathLike):
        file = path(topic)
        if isinstance(topic, str) and not file.name.endswith(TOPIC_FILE_ENDINGS) and not file.exists():
            return Topic(keywords=topic)
        return _topic_of_file(file, topic_id)
    keywords = list(topic) if isinstance(topic, Iterable) else [topic]
    if not all(isinstance(word, str) for word in keywords):
        raise InvalidTopic(f"{printable(topic, 80)!r} is not a topic: give a Topic, keywords or a topic file.")
    return Topic(keywords=keywords)


def _topic_of_file(file: Path, topic_id: str | None) -> Topic:
    from scenthound.crawler.plan import ChosenTopic

    return ChosenTopic.of(file, topic_id, [], ["http://seed.invalid/"]).topic


@contextmanager
def topics_file(topics: TopicsLike) -> Iterator[Path]:
    """A topic file, which is a temporary one for topics that were given as objects."""
    if isinstance(topics, str | os.PathLike):
        yield path(topics)
        return
    given = [topics] if isinstance(topics, Topic) else listed(topics)
    for each in given:
        if not isinstance(each, Topic):
            raise InvalidTopic(f"{printable(each, 80)!r} is not a topic: give a topic file or Topic objects.")
    from scenthound.topics.files import write_topics

    with TemporaryDirectory(prefix="scenthound-") as folder:
        file = Path(folder) / "topics.jsonl"
        write_topics(file, given)
        yield file


def seconds(span: str | float | None) -> float | None:
    """A span of time: seconds, or a text such as 90s, 10m, 2h or 1d."""
    import math

    if span is None:
        return None
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    text = str(span)
    number, unit = (text[:-1], text[-1]) if text[-1:] in units else (text, "s")
    try:
        value = float(number) * units[unit]
    except ValueError:
        value = math.nan
    if not 0 < value <= MOST_SECONDS:
        raise UsageError(f"--time {printable(text, 40)!r} is not a time span: write 90, 90s, 10m, 2h or 1d.")
    return value


#: Ten years; more is a typing error.
MOST_SECONDS = 3650 * 86_400


def folder_of(item: Any, *kinds: FolderKind) -> Path:
    """The folder of a result, or the folder itself; InvalidInput if it is of none of these kinds."""
    folder = getattr(item, "folder", item)
    if not isinstance(folder, str | os.PathLike):
        raise InvalidInput(f"A {type(item).__name__} has no folder: give a folder, or a result that has one.")
    found = path(folder)
    if kinds:
        from scenthound.store.folder import ResultFolder, is_kind

        if not any(is_kind(found, kind) for kind in kinds):
            ResultFolder.open(found, kind=kinds[0])
    return found


def web_folder(web: Any) -> Path:
    """The folder of a recorded web, or of a crawl that can be used as one."""
    return folder_of(web, "web", "crawl")
