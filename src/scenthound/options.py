"""Options, each declared once, as a field of a settings class whose docstring describes it:

    @dataclass(frozen=True, kw_only=True)
    class Politeness:
        '''How hosts are treated.

        delay: Minimum delay between two requests to a host.
        '''

        delay: Annotated[float, Option(metavar="SECONDS", ge=0)] = 1.0

From the class come the signature of a Python function (`api.arguments.called_with`), the options of a command with
their keys in configuration files and their environment variables (`cli.options`), the command that repeats a crawl
(`crawler.command`), and the reference (`docs_site`).

Rules
- Descriptions that are indented below a line that ends with a colon are in a panel of help of that name.
- Classes are combined by inheritance; help lists the options of a class before those of its bases. A docstring with
  lines such as `pages, time`, which bases describe, gives the order instead.
- A field of the type `PythonOnly[...]` is an argument in Python, but no option.
- A method `check` has the rules across the options of a class, as errors that name flags (`check`).
"""

import inspect
import math
import os
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from scenthound.errors import InvalidParameter, printable

#: The largest whole number of options that have a least one and name no other: pages, for example, have 32 bits.
MOST = (1 << 31) - 1
Settings = TypeVar("Settings")
Value = TypeVar("Value")
#: The path of a file or folder: a text or a `Path`.
PathLike = str | os.PathLike[str]
#: What functions of the API take: a function that is called with the fraction done and a short text; True for a display
#: in any case, False for none. None shows a bar in a terminal or a notebook, and nothing elsewhere.
ProgressLike = Callable[[float, str], None] | bool | None
if TYPE_CHECKING:
    from scenthound.model import Topic

    #: A topic, the keywords of one, or a topic file.
    TopicLike = Topic | PathLike | Iterable[str]
    #: A topic file, a topic, or several topics.
    TopicsLike = PathLike | Topic | Iterable[Topic]
    #: A folder, or a result that is in one.
    FolderLike = Any
    #: A folder, or several.
    FoldersLike = Any
    #: A strategy, metric or relevance model: its name and parameters, its class, or an instance.
    PluginLike = Any
    #: A strategy, metric or relevance model, or several.
    PluginsLike = Any
else:  # Topics need numpy, which help does without. Signatures have these names.
    TopicLike, FolderLike, PluginLike = (type(f"{name}Like", (), {}) for name in ("Topic", "Folder", "Plugin"))
    TopicsLike, FoldersLike, PluginsLike = (type(f"{name}Like", (), {}) for name in ("Topics", "Folders", "Plugins"))


@dataclass(frozen=True, slots=True)
class Option:
    """What there is to say about an option beyond its name, type, default and description."""

    #: The description of an option that several classes have.
    help: str = ""
    metavar: str | None = None
    ge: float | None = None
    le: float | None = None
    #: How help writes the default.
    shown: str = ""
    #: As in `--seed`, if it is not the name of the field; for a flag that can be switched off, both forms.
    flag: str = ""
    #: Written without a flag.
    is_argument: bool = False
    #: In Python: `*` for all further positional arguments, `**` for all further named ones.
    stars: str = ""
    #: Whether the command line requires it; None: if it has no default. One that is missing is None.
    is_required: bool | None = None
    #: Its type on the command line, if that is not clear from that in Python.
    type: Any = None
    #: Where a record has the value, if not under the name of the option: `politeness.delay_s`; `!traps`, if it has the
    #: opposite.
    stored: str = ""
    #: What completion offers.
    values: Callable[[], Iterable[str]] | None = None


def installed(group: str) -> Callable[[], Iterable[str]]:
    """The names of plug-ins, for completion: read from the installed packages, without an import of any."""

    def names() -> Iterable[str]:
        from importlib.metadata import entry_points

        return sorted(entry_points(group=f"scenthound.{group}").names)

    return names


#: Marks a type as that of an argument in Python that is no option.
PYTHON_ONLY = object()
PythonOnly = Annotated[Value, PYTHON_ONLY]
#: Options of several commands.
Force = Annotated[bool, Option("Replace the result of an earlier run.")]
ReplaceFile = Annotated[bool, Option("Replace the file if it exists.")]
RandomSeed = Annotated[int, Option("Seed of the random generator.")]
FollowNofollow = Annotated[bool, Option("Follow links marked rel=nofollow.", stored="!respect_nofollow")]
TopicId = Annotated[str | None, Option("Which topic, if the file has several.", metavar="ID")]
SEED_HELP = "A page to start from; repeatable. Replaces the seeds or examples of the topic file."
SeedPages = Annotated[str | Sequence[str] | None, Option(SEED_HELP, metavar="URL", flag="--seed")]
TrainFrom = Annotated[
    PathLike | None,
    Option("Train relevance models on the .html, .htm and .txt pages in DIR/positive and DIR/negative.", metavar="DIR"),
]
Workers = Annotated[int | None, Option("Worker processes.", ge=1, shown="all cores")]
Cluster = Annotated[
    str | None,
    Option(
        "Use the workers of a Ray cluster: host:port of its head node, or local. --workers then limits them.",
        metavar="ADDRESS",
    ),
]


@dataclass(frozen=True, slots=True)
class Declared:
    """An option of a settings class, or an argument in Python. `default` is MISSING if it has none."""

    name: str
    type: Any
    default: Any
    option: Option
    help: str = ""
    panel: str | None = None
    is_python_only: bool = False

    @property
    def flag(self) -> str:
        """`--seed`, or `--sitemaps/--no-sitemaps`."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def key(self) -> str:
        """Its name in configuration files and, in upper case, in variables."""
        return self.flag.partition("/")[0].removeprefix("--")

    @property
    def command_line_type(self) -> Any:
        """`list[Path]` for `PathLike | Sequence[PathLike]`; what may be anything in Python is a text."""
        if self.option.type:
            return self.option.type
        single, several = set(members(self.type)), set()
        for each in single:
            if get_origin(each) is Sequence:
                several |= set(members(get_args(each)[0]))
        kinds = {os.PathLike[str]: Path, Path: Path, str: str, float: float, int: int, bool: bool}
        kind: Any = next((kind for each, kind in kinds.items() if each in single | several), str)
        return list[kind] if several else kind


def declared(settings: Any) -> dict[str, Declared]:
    """The fields of a settings class by name, in the order in which help lists them."""
    return _declared_fields(settings)


def options_in(settings: Any) -> list[Declared]:
    """The options of a settings class."""
    return [each for each in declared(settings).values() if not each.is_python_only]


@cache
def _declared_fields(settings: Any) -> dict[str, Declared]:
    hints = get_type_hints(settings, include_extras=True)
    found = {each.name: each for each in fields(settings)}
    descriptions: dict[str, tuple[str, str | None]] = {}
    names: list[str] = []
    for base in reversed(settings.__mro__):
        described = _descriptions(inspect.cleandoc(base.__dict__.get("__doc__") or ""))
        for name, (text, panel) in described.items():
            inherited = descriptions.get(name, ("", None))
            descriptions[name] = text or inherited[0], panel or inherited[1]
        in_order = described if not all(text for text, _ in described.values()) else ()
        names = [*in_order, *inspect.get_annotations(base), *names]
    names = [name for name in dict.fromkeys(names) if name in found]
    return {name: _declared(found[name], hints[name], *descriptions.get(name, ("", None))) for name in names}


def _declared(field: Any, hint: Any, text: str, panel: str | None) -> Declared:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    extras = getattr(hint, "__metadata__", ())
    option = next((each for each in extras if isinstance(each, Option)), Option())
    plain = hint.__origin__ if extras else hint
    return Declared(field.name, plain, default, option, text or option.help, panel, PYTHON_ONLY in extras)


def _descriptions(docstring: str) -> dict[str, tuple[str, str | None]]:
    """The text and the panel of each name that a docstring describes, or only lists within a panel."""
    found: dict[str, tuple[str, str | None]] = {}
    name, panel = "", None
    for line in docstring.splitlines():
        text, indent = line.strip(), len(line) - len(line.lstrip())
        start = re.match(r"([a-z_0-9]+): (.+)", text)
        if start and indent == (4 if panel else 0):
            name = start[1]
            found[name] = (start[2], panel)
        elif panel and indent == 4 and re.fullmatch(r"[a-z_0-9]+(, [a-z_0-9]+)*", text):
            found |= dict.fromkeys(text.split(", "), ("", panel))
        elif text.endswith(":") and not indent:
            name, panel = "", text[:-1]
        elif name and text and indent:
            found[name] = (f"{found[name][0]} {text}", panel)
        else:
            name = ""
    return found


def members(hint: Any) -> Iterator[Any]:
    """The types of a union."""
    if get_origin(hint) in (Union, types.UnionType):
        for each in get_args(hint):
            yield from members(each)
    else:
        yield hint


def listed(values: Any) -> list[Any]:
    """One value, or several, as a list."""
    if values is None:
        return []
    if isinstance(values, str | bytes | os.PathLike | type) or not isinstance(values, Iterable):
        return [values]
    return list(values)


def part(kind: type[Settings], settings: Any) -> Settings:
    """The part of settings that one of their bases has."""
    return kind(**{name: getattr(settings, name) for name in declared(kind)})


def signature_of(settings: type[Any], returned: Any = inspect.Signature.empty) -> inspect.Signature:
    """The arguments of a settings class: positional ones first, annotations as they were written."""
    own = inspect.signature(settings).parameters
    known = declared(settings)
    positional = [name for name, each in own.items() if each.kind is not each.KEYWORD_ONLY]
    parameters = [_argument(own[name], known[name]) for name in dict.fromkeys([*positional, *known])]
    return inspect.Signature(sorted(parameters, key=lambda each: each.kind), return_annotation=returned)


def _argument(parameter: inspect.Parameter, known: Declared) -> inspect.Parameter:
    if stars := known.option.stars:
        kind = parameter.VAR_POSITIONAL if stars == "*" else parameter.VAR_KEYWORD
        return inspect.Parameter(known.name, kind, annotation="Any")
    return parameter.replace(annotation=_written(known.type))


def _written(hint: Any) -> str:
    """The text of a type, as a program has it."""
    text = inspect.formatannotation(hint)
    for name, known in (("PathLike", PathLike), ("ProgressLike", ProgressLike)):
        text = text.replace(inspect.formatannotation(known), name)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def check(settings: Any) -> None:
    """InvalidParameter for a number out of its range; UsageError for options that exclude or need each other."""
    for each in options_in(type(settings)):
        check_number(each, getattr(settings, each.name))
    for kind in type(settings).__mro__:
        if rules := kind.__dict__.get("check"):
            rules(settings)


def check_record(settings: type[Any], record: Any) -> None:
    """InvalidParameter for a number out of range in a record that has options of a class."""
    for option, value in options_of(settings, record):
        check_number(option, value)


def check_number(option: Declared, value: Any) -> None:
    """InvalidParameter for a number, or one of several, out of the range of an option."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if problem := out_of_range(option, item):
            raise InvalidParameter(f"--{option.key} {printable(item, 40)} must be {problem}.")


def out_of_range(option: Declared, value: Any) -> str:
    """What a number should be that is not finite or out of range; empty if all is well."""
    least, most = option.option.ge, option.option.le
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ""
    if least is None:
        return "" if isinstance(value, float) or -(1 << 63) <= value < 1 << 63 else "a number of at most 64 bits"
    if most is None and isinstance(value, int) and value > MOST:
        return f"at most {MOST:,}"
    if least <= value <= (math.inf if most is None else most) and value != math.inf:
        return ""
    finite = ", and finite" if isinstance(value, float) else ""
    return f"at least {least:,}{finite}" if most is None else f"from {least:,} to {most:,}"


def text_problem(value: Any, default: Any = None) -> str:
    """What is wrong with a text or path, or one of several: it is empty, and no default, or no system call takes it."""
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, str | os.PathLike):
            if "\0" in str(each):
                return "must not contain a null character"
            try:
                str(each).encode(errors="surrogateescape")
            except UnicodeEncodeError:
                return "must be valid Unicode"
            if each != default and not str(each).strip():
                return "must not be empty"
    return ""


def stored_values(settings: Any) -> dict[str, Any]:
    """The values of options for the record that has them under other names (`Option.stored`); those of a record within
    the record as a dictionary."""
    values: dict[str, Any] = {}
    for name, each in declared(type(settings)).items():
        if each.option.stored:
            *outer, last = each.option.stored.removeprefix("!").split(".")
            inside = values
            for part in outer:
                inside = inside.setdefault(part, {})
            value = getattr(settings, name)
            inside[last] = not value if each.option.stored.startswith("!") else value
    return values


def options_of(settings: type[Any], record: Any) -> Iterator[tuple[Declared, Any]]:
    """The options of a class that a record has, with the values that it has for them."""
    for name, each in declared(settings).items():
        path = each.option.stored or name
        value = record
        for part in path.removeprefix("!").split("."):
            value = value.get(part, MISSING) if isinstance(value, Mapping) else getattr(value, part, MISSING)
        if value is not MISSING:
            yield each, (not value if path.startswith("!") else value)
