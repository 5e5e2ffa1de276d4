"""Requests to the API as values: path parameters, query strings and JSON bodies.

Each endpoint takes one of these classes. Fields are read by name from the path, then from the query string (GET) or the
JSON body (POST); `openapi` describes them. Missing, unknown and invalid parameters raise one-line errors.
"""

from dataclasses import MISSING, Field, dataclass, fields
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from scenthound.errors import InvalidParameter, UnknownName, printable
from scenthound.store.stored_crawl import ListOrder

#: Pages in one response.
MAX_PAGES = 200
MAX_VISITS = (1 << 31) - 1
MAX_COMPARED = 8


@dataclass(frozen=True, slots=True)
class Parameter:
    """The description and bounds of a field: of a number, or of the length of a text or list. `name` is used in
    requests where the field's own name differs, `message` replaces the standard error message."""

    help: str
    minimum: int = 0
    maximum: int = 200
    name: str | None = None
    message: str | None = None


Id = Annotated[str, Parameter("Id of the folder, as listed by /api/folders.", 1)]
Start = Annotated[int, Parameter("0, or the value of `next` in the previous response.", 0, MAX_VISITS, "from")]
Limit = Annotated[int, Parameter("Maximum number of results.", 1, MAX_PAGES)]
VisitNumber = Annotated[int, Parameter("Number of the visit, counted from 0.", 0, MAX_VISITS)]


@dataclass(frozen=True, slots=True)
class NoQuery:
    """No parameters."""


@dataclass(frozen=True, slots=True)
class FolderQuery:
    id: Id


@dataclass(frozen=True, slots=True)
class PagesQuery:
    id: Id
    query: Annotated[str, Parameter('Search terms: words, "a phrase", -without, prefix*.', 0, 500)] = ""
    host: Annotated[str, Parameter("Pages of this host only.", 0, 300)] = ""
    order: Annotated[ListOrder, Parameter("By visit or by relevance. Search results are ordered by match.")] = "latest"
    start: Start = 0
    limit: Limit = 50


@dataclass(frozen=True, slots=True)
class VisitQuery:
    id: Id
    visit: VisitNumber


@dataclass(frozen=True, slots=True)
class UrlQuery:
    id: Id
    url: Annotated[str, Parameter("URL of a page, visited or not.", 1, 4_000)]


@dataclass(frozen=True, slots=True)
class SkippedQuery:
    id: Id
    reason: Annotated[str, Parameter("Code of a skip reason; empty for all.", 0, 60)] = ""
    start: Start = 0
    limit: Limit = 50


@dataclass(frozen=True, slots=True)
class CompareQuery:
    crawl: Annotated[
        tuple[str, ...],
        Parameter(
            "Ids of crawls, one parameter for each.",
            minimum=2,
            maximum=MAX_COMPARED,
            message=f"Choose 2 to {MAX_COMPARED} crawls to compare.",
        ),
    ]


@dataclass(frozen=True, slots=True)
class BudgetChange:
    id: Id
    pages: Annotated[int, Parameter("The new page budget of the crawl.", 1, MAX_VISITS)]


@dataclass(frozen=True, slots=True)
class LabelChange:
    id: Id
    visit: VisitNumber
    relevant: Annotated[bool | None, Parameter("Whether the page is relevant; null removes the label.")]


@dataclass(frozen=True, slots=True)
class QueryField:
    """A field of a query, under its name in requests."""

    name: str
    field: "Field[Any]"
    type: Any
    parameter: Parameter

    @property
    def is_required(self) -> bool:
        return self.field.default is MISSING


Query = TypeVar("Query")


def query_fields(query: type) -> list[QueryField]:
    hints = get_type_hints(query, include_extras=True)
    found = []
    for field in fields(query):
        type_, parameter = get_args(hints[field.name])[:2]
        found.append(QueryField(parameter.name or field.name, field, type_, parameter))
    return found


def read_query(query: type[Query], path: dict[str, str], values: dict[str, Any]) -> Query:
    """The query with the values of the path, and of the query string or body. InvalidParameter or UnknownName if they
    do not match."""
    known = {each.name: each for each in query_fields(query)}
    for name in values:
        if name not in known or name in path:
            raise UnknownName.among("parameter", printable(name, 40), known.keys() - path.keys())
    checked = {}
    for name, each in known.items():
        if name in path or name in values:
            checked[each.field.name] = _checked(each, path.get(name, values.get(name)))
        elif each.is_required:
            raise InvalidParameter(each.parameter.message or f"{name} is missing: {each.parameter.help}")
    return query(**checked)


def query_string_values(query: type, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """The values of a query string. List parameters collect all their values; of others the last one counts."""
    lists = {each.name for each in query_fields(query) if get_origin(each.type) is tuple}
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    return values


def _checked(field: QueryField, value: object) -> object:
    type_, name = field.type, field.name
    if type_ is int:
        return _checked_number(field, value)
    if get_origin(type_) is Literal:
        if value not in get_args(type_):
            raise UnknownName.among(name, printable(value, 40), get_args(type_))
        return value
    if type_ is str or get_origin(type_) is tuple:
        return _checked_length(field, value)
    if value is None or isinstance(value, bool):
        return value
    raise InvalidParameter(f"{name} is {printable(value, 40)!r}; it must be true, false or null.")


def _checked_number(field: QueryField, value: object) -> int:
    minimum, maximum = field.parameter.minimum, field.parameter.maximum
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 15:
        value = int(value)
    # A bool is an int in Python, but not in JSON.
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidParameter(f"{field.name} is {printable(value, 40)!r}; it must be an integer.")
    if not minimum <= value <= maximum:
        raise InvalidParameter(f"{field.name} is {printable(value, 40)}; it must be between {minimum} and {maximum:,}.")
    return value


def _checked_length(field: QueryField, value: object) -> object:
    minimum, maximum = field.parameter.minimum, field.parameter.maximum
    is_list = get_origin(field.type) is tuple
    if not isinstance(value, list | str) or isinstance(value, list) != is_list:
        raise InvalidParameter(
            f"{field.name} is {printable(value, 40)!r}; it must be a {'list' if is_list else 'text'}."
        )
    if not minimum <= len(value) <= maximum:
        unit = "values" if is_list else "characters"
        message = f"{field.name} has {len(value):,} {unit}; it must have between {minimum} and {maximum:,}."
        raise InvalidParameter(field.parameter.message or message)
    return tuple(value) if is_list else value
