"""The API described by OpenAPI 3.1, from the table of endpoints and the classes of questions and answers."""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import version
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from scenthound.dashboard.answers import Live, Problem
from scenthound.dashboard.endpoints import ENDPOINTS, EVENTS_PATH, Endpoint
from scenthound.dashboard.questions import Asked, OfFolder, asked_fields
from scenthound.dashboard.security import TOKEN_HEADER

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


def schema_of(kind: Any) -> Schema:
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
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each) for each in inner]}
    raise TypeError(f"{kind} has no schema")


def told_of(kind: type) -> str | None:
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
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    said = told_of(kind)
    return {
        "type": "object",
        **({} if said is None else {"description": said}),
        "properties": {name: schema_of(hints[name]) for name in names},
        "required": names,
        "additionalProperties": False,
    }


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


def _responses(answers: type) -> Schema:
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
