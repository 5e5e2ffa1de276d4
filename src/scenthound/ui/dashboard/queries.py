"""What the API can be asked: the parts of an address, of its query and of a body, as values.

Rules
- A question is one of these classes. Its fields are read by name from the path, then from the query (GET) or from the
  JSON object that was sent (POST); `openapi` describes them from the same fields.
- What is missing, unknown, of the wrong kind or out of bounds is refused with one sentence.
"""

from dataclasses import MISSING, Field, dataclass, fields
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from scenthound.errors import InvalidParameter, UnknownName, printable
from scenthound.ui.dashboard.responses import Order

#: Pages in one answer.
MOST_LISTED = 200
MOST_VISITS = (1 << 31) - 1
#: Crawls beside each other.
MOST_COMPARED = 8


@dataclass(frozen=True, slots=True)
class About:
    """What is said of a field, and its bounds: of a number, or of how long a text or list is. `name` is what it is
    called outside, where that is a word of Python. `asks` is what people are told if the field is missing or out of
    bounds, where they choose its value."""

    says: str
    least: int = 0
    most: int = 200
    name: str | None = None
    asks: str | None = None


Id = Annotated[str, About("The id of the folder, as /api/folders has it.", 1)]
Start = Annotated[int, About("Where to begin: 0, or what the last answer gave as next.", 0, MOST_VISITS, "from")]
Limit = Annotated[int, About("How many at most.", 1, MOST_LISTED)]
VisitNumber = Annotated[int, About("The number of the visit, counted from 0.", 0, MOST_VISITS)]


@dataclass(frozen=True, slots=True)
class Plain:
    """Asks for nothing in particular."""


@dataclass(frozen=True, slots=True)
class OfFolder:
    id: Id


@dataclass(frozen=True, slots=True)
class PagesOf:
    id: Id
    query: Annotated[str, About('Words that must be there; "a phrase", -not, begin*.', 0, 500)] = ""
    host: Annotated[str, About("Pages of this host only.", 0, 300)] = ""
    order: Annotated[Order, About("By visit, or by relevance; a search has an order of its own.")] = "latest"
    start: Start = 0
    limit: Limit = 50


@dataclass(frozen=True, slots=True)
class PageOf:
    id: Id
    visit: VisitNumber


@dataclass(frozen=True, slots=True)
class AddressOf:
    id: Id
    url: Annotated[str, About("The address of a page, taken or not.", 1, 4_000)]


@dataclass(frozen=True, slots=True)
class SkippedOf:
    id: Id
    reason: Annotated[str, About("A reason's code; empty for all.", 0, 60)] = ""
    start: Start = 0
    limit: Limit = 50


@dataclass(frozen=True, slots=True)
class Chosen:
    crawl: Annotated[
        tuple[str, ...],
        About(
            "Ids of crawls, one parameter for each.",
            least=2,
            most=MOST_COMPARED,
            asks=f"Choose 2 to {MOST_COMPARED} crawls to compare.",
        ),
    ]


@dataclass(frozen=True, slots=True)
class BudgetOf:
    id: Id
    pages: Annotated[int, About("How many pages the crawl is to take in all.", 1, MOST_VISITS)]


@dataclass(frozen=True, slots=True)
class LabelOf:
    id: Id
    visit: VisitNumber
    relevant: Annotated[bool | None, About("Whether the page is relevant; null takes the label away.")]


@dataclass(frozen=True, slots=True)
class Asked:
    """A field of a question as it is called outside, with what is known of it."""

    name: str
    field: "Field[Any]"
    kind: Any
    about: About

    @property
    def is_required(self) -> bool:
        return self.field.default is MISSING


Question = TypeVar("Question")


def asked_fields(question: type) -> list[Asked]:
    hints = get_type_hints(question, include_extras=True)
    found = []
    for field in fields(question):
        kind, about = get_args(hints[field.name])[:2]
        found.append(Asked(about.name or field.name, field, kind, about))
    return found


def read_question(question: type[Question], path: dict[str, str], given: dict[str, Any]) -> Question:
    """The question with the values of the path and of the query or body. BadParameter, UnknownName if it cannot be."""
    known = {asked.name: asked for asked in asked_fields(question)}
    for name in given:
        if name not in known or name in path:
            raise UnknownName.among("parameter", printable(name, 40), known.keys() - path.keys())
    values = {}
    for name, asked in known.items():
        if name in path or name in given:
            values[asked.field.name] = _value(asked, path.get(name, given.get(name)))
        elif asked.is_required:
            raise InvalidParameter(asked.about.asks or f"{name} is missing: {asked.about.says}")
    return question(**values)


def from_query(question: type, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """The values of a query string; a parameter that is a list may come more than once, of others the last counts."""
    lists = {asked.name for asked in asked_fields(question) if get_origin(asked.kind) is tuple}
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


def _value(asked: Asked, written: object) -> object:
    kind, about, name = asked.kind, asked.about, asked.name
    if kind is int:
        number = _integer(name, written)
        if not about.least <= number <= about.most:
            raise InvalidParameter(
                f"{name} is {printable(number, 40)}; it has to be from {about.least} to {about.most:,}."
            )
        return number
    if get_origin(kind) is Literal:
        if written not in get_args(kind):
            raise UnknownName.among(name, printable(written, 40), get_args(kind))
        return written
    if kind is str or get_origin(kind) is tuple:
        return _bounded(asked, written)
    if written is None or isinstance(written, bool):
        return written
    raise InvalidParameter(f"{name} is {printable(written, 40)!r}; it has to be true, false or null.")


def _integer(name: str, written: object) -> int:
    # True is an integer for Python, and is none for people.
    if isinstance(written, int) and not isinstance(written, bool):
        return written
    if isinstance(written, str) and written.isascii() and written.isdigit() and len(written) <= 15:
        return int(written)
    raise InvalidParameter(f"{name} is {printable(written, 40)!r}; it has to be a whole number.")


def _bounded(asked: Asked, written: object) -> object:
    least, most = asked.about.least, asked.about.most
    is_list = get_origin(asked.kind) is tuple
    if not isinstance(written, list if is_list else str):
        raise InvalidParameter(f"{asked.name} is {printable(written, 40)!r}; it has to be a text.")
    assert isinstance(written, list | str)
    if not least <= len(written) <= most:
        unit = "values" if is_list else "letters"
        says = f"{asked.name} has {len(written):,} {unit}; it has to have from {least} to {most:,}."
        raise InvalidParameter(asked.about.asks or says)
    return tuple(written) if is_list else written
