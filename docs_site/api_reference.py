"""The reference of the Python API: a page for each module with public names, from signatures and docstrings.

What an argument means is the help of the option of the same name, so it is written once. Public names, methods and
properties without a docstring are errors.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import scenthound
from docs_site.command_reference import option_help
from docs_site.text import definitions, escaped, table
from scenthound import options
from scenthound.api.arguments import help_in_python

#: The pages, by file name: the title, and the modules whose public names are on it.
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "crawls.md": ("Crawls", ("scenthound.api.runs", "scenthound.api.crawls", "scenthound.api.plans")),
    "webs.md": ("Recorded webs", ("scenthound.api.webs",)),
    "laboratory.md": ("Simulations and experiments", ("scenthound.api.laboratory",)),
    "searches.md": ("Searches, validation and thresholds", ("scenthound.api.searches",)),
    "catalog.md": ("Topics and lists", ("scenthound.api.catalog", "scenthound.model")),
    "results.md": ("Results and tables", ("scenthound.api.results",)),
}
#: Public names of other modules are on this page.
BASE_CLASSES = "base_classes.md"
#: The command whose options a function takes, where its name is another.
COMMAND_OF = {
    "acrawl": "crawl",
    "plan": "crawl",
    "resume": "crawl",
    "refresh": "crawl",
    "resume_search": "evolve",
    "pages_to_label": "threshold",
    "fit_scent": "fit-scent",
    "new_strategy": "new-strategy",
    "list_plugins": "plugins",
    "select_topics": "topics select",
    "import_topics": "topics import",
}
#: Names of arguments that the command line calls otherwise.
OPTION_OF = {"run": "folder", "crawl": "folder", "quality_rules": "quality_rule"}
#: Arguments of many functions that are no options.
COMMON_ARGUMENTS = {
    "progress": "Whether to show progress; or a function that is called with it. By default shown on terminals and in "
    "notebooks.",
    "topic": "A topic, keywords, or a topic file.",
    "topics": "A topic file, a topic, or several topics.",
    "web": "A recorded web or a crawl, or its folder.",
    "folder": "A folder.",
    "crawl": "A crawl, or its folder.",
    "run": "A run, or its folder.",
    "out": "Where to write the result.",
}
#: For arguments that only the docstring describes.
ABOVE = "See above."
#: Functions with the arguments of another one.
SAME_ARGUMENTS = {"acrawl": "crawl", "plan": "crawl"}
STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
#: A line of a signature has at most this many characters.
WIDTH = 88


class MissingDocstring(Exception):
    """A public name without a docstring."""


def api_pages() -> dict[str, str]:
    """The pages by file name: an overview first."""
    described = Descriptions()
    objects = {name: getattr(scenthound, name) for name in scenthound.__all__ if name != "__version__"}
    pages: dict[str, dict[str, Any]] = {file: {} for file in [*PAGES, BASE_CLASSES]}
    for name, item in objects.items():
        pages[_page_of(item)][name] = item
    for file, (_, modules) in PAGES.items():
        for module in modules:
            pages[file] |= {each.__name__: each for each in _result_classes(module) if each.__name__ not in objects}
    file_of = {name: file for file, items in pages.items() for name in items}
    written = {file: _page(file, items, described) for file, items in pages.items()}
    return {file: _linked(text, file_of) for file, text in {"index.md": _overview(pages, described), **written}.items()}


def _page_of(item: Any) -> str:
    return next((file for file, (_, modules) in PAGES.items() if item.__module__ in modules), BASE_CLASSES)


def _result_classes(module: str) -> list[type]:
    """Classes of results that functions of a module return, and their base class."""
    from scenthound.api.results import Result

    found = vars(import_module(module)).values()
    return [each for each in found if inspect.isclass(each) and issubclass(each, Result) and each.__module__ == module]


def _overview(pages: dict[str, dict[str, Any]], described: "Descriptions") -> str:
    parts = ["# Python API", "```python\nimport scenthound as sh\n```"]
    for file, items in pages.items():
        rows = [
            [f"[`{name}`]({file}#{name.lower()})", escaped(described.docstring(item, name).split("\n\n")[0])]
            for name, item in items.items()
        ]
        parts += [f"## {_title(file)}", table(["name", "what it is or does"], rows)]
    types = {f"`{name}`": [escaped(comment)] for name, comment in _argument_types().items()}
    return "\n\n".join([*parts, "## Types of arguments", definitions(types)]) + "\n"


def _argument_types() -> dict[str, str]:
    return {name: comment for name, comment in attribute_comments(options).items() if name.endswith("Like")}


def _title(file: str) -> str:
    return PAGES[file][0] if file in PAGES else "Base classes and errors"


def _page(file: str, items: dict[str, Any], described: "Descriptions") -> str:
    parts = [f"# {_title(file)}"]
    functions = {name: item for name, item in items.items() if not inspect.isclass(item)}
    for name, item in {**functions, **items}.items():
        parts += [
            f"## {name}",
            *(described.of_class(name, item) if inspect.isclass(item) else described.of(name, item)),
        ]
    return "\n\n".join(parts) + "\n"


def _linked(text: str, file_of: dict[str, str]) -> str:
    """Code spans `scenthound.export` become links."""
    return re.sub(
        r"`scenthound\.(\w+)`",
        lambda found: f"[`{found[1]}`]({file_of[found[1]]}#{found[1].lower()})" if found[1] in file_of else found[0],
        text,
    )


class Descriptions:
    """Describes functions and classes in Markdown."""

    def __init__(self) -> None:
        self._help = option_help()

    def of(self, name: str, function: Callable[..., Any], owner: str = "") -> Iterator[str]:
        """The signature, docstring and arguments of a function, or of a method of `owner`."""
        called = f"{owner or 'sh'}.{name}"
        # For `help`, the docstring of a function of the API also lists its arguments.
        plain = function if owner else inspect.unwrap(function)
        if name in SAME_ARGUMENTS:
            awaited = "await " if inspect.iscoroutinefunction(function) else ""
            yield f"```python\n{awaited}{called}(...)\n```"
            yield f"{self.docstring(plain, name)} The arguments are those of `scenthound.{SAME_ARGUMENTS[name]}`."
            return
        yield f"```python\n{signature_text(called, inspect.signature(function), bool(owner))}\n```"
        yield self.docstring(plain, f"{owner}.{name}".lstrip("."))
        arguments = {} if owner else self._arguments(name, inspect.signature(function))
        if arguments:
            yield definitions(arguments)

    def of_class(self, name: str, found: type) -> Iterator[str]:
        from scenthound.api.results import Result

        yield f"```python\nclass {name}\n```" if issubclass(found, Result | Exception) else self._constructor(found)
        yield self.docstring(found, name)
        if issubclass(found, Result) and found is not Result:
            yield "It has the methods of [`Result`](results.md#result) too."
        attributes = {f"`{each}`": [escaped(text)] for each, text in attribute_comments(found).items()}
        attributes |= {
            f"`{each}`{_returned(member.fget)}": [self.docstring(member, f"{name}.{each}")]
            for each, member in _members(found).items()
            if isinstance(member, property)
        }
        if attributes:
            yield definitions(attributes)
        for each, member in _members(found).items():
            if not isinstance(member, property):
                yield f"### {name}.{each}"
                owner = name if isinstance(member, classmethod) else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
                yield from self.of(each, getattr(found, each), owner)

    def docstring(self, item: Any, name: str) -> str:
        text = inspect.cleandoc(item.__doc__ or "")
        if not text:
            raise MissingDocstring(f"{name} is public and has no docstring.")
        return text

    def _constructor(self, found: type) -> str:
        if getattr(found, "_is_protocol", False) or inspect.isabstract(found):
            return f"```python\nclass {found.__name__}\n```"
        signature = inspect.signature(found).replace(return_annotation=inspect.Signature.empty)
        return f"```python\n{signature_text(f'sh.{found.__name__}', signature)}\n```"

    def _arguments(self, name: str, signature: inspect.Signature) -> dict[str, list[str]]:
        known = dict(self._help.get(COMMAND_OF.get(name, name), {}))
        described: dict[str, list[str]] = {}
        for argument in signature.parameters.values():
            text = _option_text(argument.name, known) or COMMON_ARGUMENTS.get(argument.name) or self._any(argument.name)
            stars = STARS.get(argument.kind, "")
            described[f"`{stars}{argument.name}`{_annotated(argument)}"] = [escaped(text)]
        return described

    def _any(self, name: str) -> str:
        """The help of an option that other commands have."""
        return next((found for each in self._help.values() if (found := _option_text(name, each))), ABOVE)


def _option_text(name: str, options: dict[str, str]) -> str:
    """The help of the option that an argument is called after, in the plural if the option is repeatable."""
    singular = name.removesuffix("ies") + "y" if name.endswith("ies") else name.removesuffix("s")
    for known in (name, singular, OPTION_OF.get(name, "")):
        if known in options:
            return help_in_python(options[known], {})
    return ""


def _annotated(argument: inspect.Parameter) -> str:
    annotation = _type_text(argument.annotation)
    default = "" if argument.default is argument.empty else f" = {_default_text(argument.default)}"
    return f" `{annotation}{default}`" if annotation + default else ""


def _returned(getter: Any) -> str:
    annotation = _type_text(inspect.signature(getter).return_annotation)
    return f" `{annotation}`" if annotation else ""


def _type_text(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    short = re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)
    return re.sub(r"ndarray\[.*?dtype\[(\w+)\]\]", r"ndarray[\1]", short)


def _default_text(value: Any) -> str:
    return getattr(value, "__name__", None) or repr(value)


def signature_text(name: str, signature: inspect.Signature, is_method: bool = False) -> str:
    """A call with all arguments and their defaults, in lines of a limited width."""
    parts: list[str] = []
    keyword_only = False
    for argument in list(signature.parameters.values())[is_method and "self" in signature.parameters :]:
        if argument.kind is argument.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            if not any(part.startswith("*") for part in parts):
                parts.append("*")
        stars = STARS.get(argument.kind, "")
        default = "" if argument.default is argument.empty else f"={_default_text(argument.default)}"
        parts.append(f"{stars}{argument.name}{default}")
    returned = _type_text(signature.return_annotation)
    ending = f") -> {returned}" if returned else ")"
    line = f"{name}({', '.join(parts)}{ending}"
    if len(line) <= WIDTH:
        return line
    # A default may contain spaces, where no line should end.
    joined = ", ".join(part.replace(" ", "\0") for part in parts)
    lines = textwrap.wrap(joined, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"{name}(", *(f"    {each}" for each in lines), ending]).replace("\0", " ")


def _members(found: type) -> dict[str, Any]:
    """The public methods and properties that a class defines itself."""
    kinds = property | type(lambda: None) | classmethod | staticmethod
    return {
        name: member for name, member in vars(found).items() if not name.startswith("_") and isinstance(member, kinds)
    }


def attribute_comments(item: Any) -> dict[str, str]:
    """The comments that start with `#:`, above attributes of a class or names of a module."""
    comments: dict[str, str] = {}
    lines: list[str] = []
    for line in inspect.getsource(item).splitlines():
        stripped = line.strip()
        if stripped.startswith("#:") or (lines and stripped.startswith("#")):
            lines.append(stripped.lstrip("#:").strip())
            continue
        named = re.match(r"(?:self\.)?([a-zA-Z]\w*)(?:: [^=]+)?(?: = |$)", stripped)
        if lines and named:
            comments[named[1]] = " ".join(lines)
        lines = []
    return comments
