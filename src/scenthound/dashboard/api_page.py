"""The description of the API as a page for people. It needs no script."""

import html
from functools import cache
from typing import Any

from scenthound.dashboard.openapi import openapi


@cache
def api_page() -> str:
    told = openapi()
    operations = "".join(
        _operation(path, method, operation)
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


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
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
