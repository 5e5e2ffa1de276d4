"""The API described by OpenAPI 3.1, from the table of endpoints and the classes of questions and answers."""

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
from scenthound.ui.dashboard.queries import Asked, OfFolder, asked_fields
from scenthound.ui.dashboard.responses import Live, Problem
from scenthound.ui.dashboard.routes import ENDPOINTS, EVENTS_PATH, Endpoint
from scenthound.ui.dashboard.security import TOKEN_HEADER

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
}
_SAYS = (
    "What the pages of the dashboard show, for programs. Moments are seconds since 1970; what is not known is null. "
    "Texts that came from crawled pages are plain texts, and may hold anything. Every change needs the token that "
    "stands behind #token= in the address that the dashboard printed."
)
_EVENTS_SAYS = (
    "Server-sent events while the crawl is watched: `live`, whose data is a Live, about once a second while something "
    "changes. The first one of a connection has the whole curve in `new`, later ones have the points since. `problem`, "
    "whose data is a Problem, if the crawl cannot be read any more."
)


@cache
def openapi() -> dict[str, Any]:
    """The whole description. Nobody changes it."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Scenthound dashboard", "version": version("scenthound"), "description": _SAYS},
        "paths": {**_paths(), **_events()},
        "components": {
            "schemas": {each.__name__: _object(each) for each in _answer_classes()},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": TOKEN_HEADER}},
        },
    }


def schema_of(kind: Any) -> Schema:  # noqa: PLR0911 - one case for each kind of type
    """The schema of a type of a field."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if is_dataclass(kind) and isinstance(kind, type):
        return {"$ref": f"#/components/schemas/{kind.__name__}"}
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is tuple:
        return _array(inner)
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [each.value for each in kind]}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each) for each in inner]}
    raise TypeError(f"{kind} has no schema")


def wrapping(kind: type) -> str | None:
    """What the class says of itself; a dataclass without a word of its own has its signature there."""
    said = inspect.getdoc(kind)
    return None if said is None or said.startswith(f"{kind.__name__}(") else " ".join(said.split())


def _array(inner: tuple[Any, ...]) -> Schema:
    if inner[-1] is Ellipsis:
        return {"type": "array", "items": schema_of(inner[0])}
    n_items = len(inner)
    items = [schema_of(each) for each in inner]
    return {"type": "array", "prefixItems": items, "items": False, "minItems": n_items, "maxItems": n_items}


def _object(kind: type) -> Schema:
    columns, said = columns_of(kind), wrapping(kind)
    return {
        "type": "object",
        **({} if said is None else {"description": said}),
        "properties": {each.name: _property(each) for each in columns},
        "required": [each.name for each in columns],
        "additionalProperties": False,
    }


def _property(column: Column) -> Schema:
    schema = schema_of(column.type)
    return {**schema, "description": column.help} if column.help else schema


def _answer_classes() -> list[type]:
    """All that answers are made of, each once."""
    found: dict[type, None] = {}
    for kind in (Problem, Live, *(endpoint.answers for endpoint in ENDPOINTS)):
        found.update(dict.fromkeys(_within(kind)))
    return sorted(found, key=lambda kind: kind.__name__)


def _within(kind: Any) -> Iterator[type]:
    if is_dataclass(kind) and isinstance(kind, type):
        yield kind
        for hint in get_type_hints(kind).values():
            yield from _within(hint)
    for inner in get_args(kind):
        yield from _within(inner)


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return paths


def _operation(endpoint: Endpoint) -> Schema:
    asked = asked_fields(endpoint.asks)
    in_path = [each for each in asked if f"{{{each.name}}}" in endpoint.path]
    others = [each for each in asked if each not in in_path]
    is_change = endpoint.method == "POST"
    operation: Schema = {
        "operationId": endpoint.name,
        "summary": endpoint.says,
        "parameters": [_parameter(each, "path") for each in in_path],
        "responses": _responses(endpoint.answers),
    }
    if is_change:
        operation["security"] = [{"token": []}]
        operation["requestBody"] = {
            "required": bool(others),
            "content": {"application/json": {"schema": _body(others)}},
        }
    else:
        operation["parameters"] += [_parameter(each, "query") for each in others]
    return operation


def _parameter(asked: Asked, where: str) -> Schema:
    return {
        "name": asked.name,
        "in": where,
        "required": asked.is_required,
        "description": asked.about.says,
        "schema": _bounded(asked),
    }


def _body(asked: list[Asked]) -> Schema:
    return {
        "type": "object",
        "properties": {each.name: {**_bounded(each), "description": each.about.says} for each in asked},
        "required": [each.name for each in asked if each.is_required],
        "additionalProperties": False,
    }


def _bounded(asked: Asked) -> Schema:
    schema, about = schema_of(asked.kind), asked.about
    bounds = {int: ("minimum", "maximum"), str: ("minLength", "maxLength"), tuple: ("minItems", "maxItems")}
    least, most = bounds.get(get_origin(asked.kind) or asked.kind, (None, None))
    if least is not None and most is not None:
        schema |= {least: about.least, most: about.most}
    if not asked.is_required and asked.field.default != "":
        schema["default"] = asked.field.default
    return schema


def _responses(answers: Any) -> Schema:
    return {"200": _content("The answer.", schema_of(answers)), "default": _content("Why not.", schema_of(Problem))}


def _content(says: str, schema: Schema, media_type: str = "application/json") -> Schema:
    return {"description": says, "content": {media_type: {"schema": schema}}}


def _events() -> dict[str, Any]:
    operation = {
        "operationId": "get_crawls_id_events",
        "summary": "Watch a crawl.",
        "description": _EVENTS_SAYS,
        "parameters": [_parameter(each, "path") for each in asked_fields(OfFolder)],
        "responses": {
            "200": _content("Events without end.", {"type": "string"}, "text/event-stream"),
            "default": _content("Why not.", schema_of(Problem)),
        },
    }
    return {EVENTS_PATH: {"get": operation}}


# The description of the API as a page for people. It needs no script.


@cache
def api_page() -> str:
    told = openapi()
    operations = "".join(
        _api_page_operation(path, method, operation)
        for path, methods in told["paths"].items()
        for method, operation in methods.items()
    )
    schemas = "".join(_schema(name, schema) for name, schema in told["components"]["schemas"].items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Scenthound: the API</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/look.css"><link rel="stylesheet" href="/assets/dashboard.css"></head>
<body><header class="top"><a class="home" href="/">Scenthound</a> <span class="top-note">the API</span></header>
<main id="content" class="api-page"><h1>The API</h1><p>{_text(told["info"]["description"])}</p>
<p>For programs: <a href="/api/openapi.json">openapi.json</a>, and <a href="/metrics">metrics</a> for Prometheus.</p>
<h2>Questions and changes</h2>{operations}<h2>Answers</h2>{schemas}</main></body></html>
"""


def _api_page_operation(path: str, method: str, operation: dict[str, Any]) -> str:
    says = operation.get("description", operation["summary"])
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    asked = [(each["name"], each["schema"], each["description"]) for each in operation["parameters"]]
    asked += [(name, schema, schema["description"]) for name, schema in body.get("properties", {}).items()]
    rows = "".join(
        f"<dt><code>{_text(name)}</code> {_kind(schema)}</dt><dd>{_text(said)}</dd>" for name, schema, said in asked
    )
    content = operation["responses"]["200"]["content"]
    answer = "; ".join(f"{_text(media_type)}, {_kind(told['schema'])}" for media_type, told in content.items())
    return (
        f"<section><h3><code>{method.upper()} {_text(path)}</code></h3><p>{_text(says)}</p>"
        f"{f'<dl>{rows}</dl>' if rows else ''}<p>Answer: {answer}</p></section>"
    )


def _schema(name: str, schema: dict[str, Any]) -> str:
    said = f"<p>{_text(schema['description'])}</p>" if "description" in schema else ""
    rows = "".join(
        f"<dt><code>{_text(field)}</code></dt><dd>{_kind(kind)}</dd>" for field, kind in schema["properties"].items()
    )
    return f'<section id="{_text(name)}"><h3>{_text(name)}</h3>{said}<dl>{rows}</dl></section>'


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words, with links to those it is made of."""
    if "$ref" in schema:
        name = _text(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(_text(f'"{each}"') for each in schema["enum"])
    if schema.get("type") == "array":
        inner = [schema["items"]] if schema["items"] else schema["prefixItems"]
        return f"list of {', '.join(map(_kind, inner))}"
    return _text(str(schema["type"])) + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    if "minimum" in schema:
        return f", {schema['minimum']:,} to {schema['maximum']:,}"
    return f", at most {schema['maxLength']:,} letters" if "maxLength" in schema else ""


def _text(text: str) -> str:
    return html.escape(text)
