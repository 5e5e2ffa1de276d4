"""The description of the API by OpenAPI 3.1, derived from the endpoints, their queries and responses."""

import html
import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import version
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from scenthound.records import Column, columns_of
from scenthound.ui.dashboard.endpoints import ENDPOINTS, EVENTS_PATH, Endpoint
from scenthound.ui.dashboard.problems import plain_page
from scenthound.ui.dashboard.queries import FolderQuery, QueryField, query_fields
from scenthound.ui.dashboard.responses import Live, Problem
from scenthound.ui.dashboard.security import TOKEN_HEADER

Schema = dict[str, Any]

_TYPES: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
}
_BOUNDS = {int: ("minimum", "maximum"), str: ("minLength", "maxLength"), tuple: ("minItems", "maxItems")}
_DESCRIPTION = (
    "The data behind the pages of the dashboard. Times are seconds since 1970; unknown values are null. Texts from "
    "crawled pages are plain texts with any content. Requests need the token, the part after ?token= in the URL that "
    "the dashboard printed, in the header Authorization: Bearer TOKEN."
)
_OPEN = " This dashboard was started with --open: only changes need the token."
_EVENTS = (
    "Server-sent events: `live`, whose data is a Live, about once a second while something changes. The first one of a "
    "connection has the complete curves in `new`, later ones only new points. `problem`, whose data is a Problem, if "
    "the crawl cannot be read any more. `replaced`, whose data is a Problem, if newer streams took the place of this "
    "one, which ends: do not reconnect."
)


#: Each of them is enough. Browsers also have a cookie, which is for the pages of the dashboard only.
_SECURITY_SCHEMES: dict[str, Schema] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER},
}


@cache
def openapi(open_to_all: bool = False) -> dict[str, Any]:
    """The description; it must not be modified."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    with_token: list[Schema] = [{name: []} for name in _SECURITY_SCHEMES]
    description = _DESCRIPTION + (_OPEN if open_to_all else "")
    return {
        "openapi": "3.1.0",
        "info": {"title": "Scenthound dashboard", "version": version("scenthound"), "description": description},
        # An empty requirement is one that every request meets.
        "security": [*with_token, {}] if open_to_all else with_token,
        "paths": {**paths, EVENTS_PATH: {"get": _events()}},
        "components": {
            "schemas": {each.__name__: _object(each) for each in _response_classes()},
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }


def schema_of(type_: Any) -> Schema:  # noqa: PLR0911 - one case for each kind of type
    """The schema of a field's type."""
    if type_ in _TYPES:
        return dict(_TYPES[type_])
    if is_dataclass(type_) and isinstance(type_, type):
        return {"$ref": f"#/components/schemas/{type_.__name__}"}
    origin, inner = get_origin(type_), get_args(type_)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is tuple:
        items = [schema_of(each) for each in inner]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items), "maxItems": len(items)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(type_, type) and issubclass(type_, Enum):
        return {"type": "string", "enum": [each.value for each in type_]}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each) for each in inner]}
    raise TypeError(f"{type_} has no schema")


def _object(class_: type) -> Schema:
    columns, docstring = columns_of(class_), inspect.getdoc(class_)
    # A dataclass without a docstring has its signature there.
    has_docstring = docstring is not None and not docstring.startswith(f"{class_.__name__}(")
    return {
        "type": "object",
        **({"description": " ".join(docstring.split())} if has_docstring and docstring else {}),
        "properties": {each.name: _property(each) for each in columns},
        "required": [each.name for each in columns],
        "additionalProperties": False,
    }


def _property(column: Column) -> Schema:
    schema = schema_of(column.type)
    return {**schema, "description": column.help} if column.help else schema


def _response_classes() -> list[type]:
    """All dataclasses in responses, each once."""
    found: dict[type, None] = {}
    for type_ in (Problem, Live, *(endpoint.response for endpoint in ENDPOINTS)):
        found.update(dict.fromkeys(_classes_in(type_)))
    return sorted(found, key=lambda class_: class_.__name__)


def _classes_in(type_: Any) -> Iterator[type]:
    if is_dataclass(type_) and isinstance(type_, type):
        yield type_
        for hint in get_type_hints(type_).values():
            yield from _classes_in(hint)
    for inner in get_args(type_):
        yield from _classes_in(inner)


def _operation(endpoint: Endpoint) -> Schema:
    fields = query_fields(endpoint.query)
    in_path = [each for each in fields if f"{{{each.name}}}" in endpoint.path]
    others = [each for each in fields if each not in in_path]
    operation: Schema = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": [_parameter(each, "path") for each in in_path],
        "responses": _responses(_content("The response.", schema_of(endpoint.response))),
    }
    if endpoint.method == "POST":
        operation["security"] = [{name: []} for name in _SECURITY_SCHEMES]
        operation["requestBody"] = {
            "required": bool(others),
            "content": {"application/json": {"schema": _body(others)}},
        }
    else:
        operation["parameters"] += [_parameter(each, "query") for each in others]
    return operation


def _parameter(field: QueryField, location: str) -> Schema:
    return {
        "name": field.name,
        "in": location,
        "required": field.is_required,
        "description": field.parameter.help,
        "schema": _bounded(field),
    }


def _body(fields: list[QueryField]) -> Schema:
    return {
        "type": "object",
        "properties": {each.name: {**_bounded(each), "description": each.parameter.help} for each in fields},
        "required": [each.name for each in fields if each.is_required],
        "additionalProperties": False,
    }


def _bounded(field: QueryField) -> Schema:
    schema, bounds = schema_of(field.type), _BOUNDS.get(get_origin(field.type) or field.type)
    if bounds is not None:
        schema |= dict(zip(bounds, (field.parameter.minimum, field.parameter.maximum), strict=True))
    if not field.is_required and field.field.default != "":
        schema["default"] = field.field.default
    return schema


def _responses(success: Schema) -> Schema:
    problem = schema_of(Problem)
    return {
        "200": success,
        "401": _content("The token is missing or not valid.", problem),
        "default": _content("Why the request failed.", problem),
    }


def _content(description: str, schema: Schema, media_type: str = "application/json") -> Schema:
    return {"description": description, "content": {media_type: {"schema": schema}}}


def _events() -> Schema:
    return {
        "operationId": "get_crawls_id_events",
        "summary": "Live updates of a crawl.",
        "description": _EVENTS,
        "parameters": [_parameter(each, "path") for each in query_fields(FolderQuery)],
        "responses": _responses(_content("A stream of events.", {"type": "string"}, "text/event-stream")),
    }


# The description as an HTML page without scripts.


@cache
def api_page(open_to_all: bool = False) -> str:
    description = openapi(open_to_all)
    operations = "".join(
        _operation_html(path, method, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    )
    schemas = "".join(_schema_html(*item) for item in description["components"]["schemas"].items())
    main = f"""<h1>API</h1><p>{html.escape(description["info"]["description"])}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a>, and <a href="/metrics">metrics</a> for Prometheus.</p>
<h2>Requests</h2>{operations}<h2>Responses</h2>{schemas}"""
    return plain_page("Scenthound: API", main, "API", "api-page")


def _operation_html(path: str, method: str, operation: Schema) -> str:
    summary = str(operation.get("description", operation["summary"]))
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    fields = [(each["name"], each["schema"], each["description"]) for each in operation["parameters"]]
    fields += [(name, schema, schema["description"]) for name, schema in body.get("properties", {}).items()]
    rows = "".join(
        f"<dt><code>{html.escape(name)}</code> {_type_html(schema)}</dt><dd>{html.escape(text)}</dd>"
        for name, schema, text in fields
    )
    content = operation["responses"]["200"]["content"]
    response = "; ".join(f"{html.escape(type_)}, {_type_html(each['schema'])}" for type_, each in content.items())
    return (
        f"<section><h3><code>{method.upper()} {html.escape(path)}</code></h3><p>{html.escape(summary)}</p>"
        f"{f'<dl>{rows}</dl>' if rows else ''}<p>Response: {response}</p></section>"
    )


def _schema_html(name: str, schema: Schema) -> str:
    description = f"<p>{html.escape(schema['description'])}</p>" if "description" in schema else ""
    rows = "".join(
        f"<dt><code>{html.escape(field)}</code></dt><dd>{_type_html(type_)}</dd>"
        for field, type_ in schema["properties"].items()
    )
    return f'<section id="{html.escape(name)}"><h3>{html.escape(name)}</h3>{description}<dl>{rows}</dl></section>'


def _type_html(schema: Schema) -> str:
    """A schema in short, with links to the classes in it."""
    if "$ref" in schema:
        name = html.escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type_html, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(html.escape(f'"{each}"') for each in schema["enum"])
    if schema.get("type") == "array":
        inner = [schema["items"]] if schema["items"] else schema["prefixItems"]
        return f"list of {', '.join(map(_type_html, inner))}"
    bounds = ""
    if "minimum" in schema:
        bounds = f", {schema['minimum']:,} to {schema['maximum']:,}"
    elif "maxLength" in schema:
        bounds = f", at most {schema['maxLength']:,} characters"
    return html.escape(str(schema["type"])) + bounds
