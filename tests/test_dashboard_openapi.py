"""The OpenAPI description of the API is valid, and responses match it."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from dashboard_client import Client, ended_crawl, search
from scenthound.experiments.retraining import ModelQuality, Retraining
from scenthound.store.crawl_records import CrawlStatus
from scenthound.ui.dashboard.endpoints import ENDPOINTS
from scenthound.ui.dashboard.openapi import openapi, schema_of
from scenthound.ui.dashboard.responses import Problem

QUERIES = {
    "/api/compare": "?crawl=crawl&crawl=other",
    "/api/crawls/{id}/explain": "?url=c.test",
    "/api/crawls/{id}/pages": "?query=balloon",
}
BODIES = {"budget": {"pages": 20}, "labels": {"visit": 1, "relevant": True}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folders")


@pytest.fixture(scope="module")
def client(folder: Path) -> Client:
    ended_crawl(folder / "crawl")
    ended_crawl(folder / "other")
    search(folder / "search")
    return Client(folder)


def check(value: Any, type_: Any) -> None:
    schema = {**schema_of(type_), "components": openapi()["components"]}
    Draft202012Validator(schema).validate(value)


def test_the_description_is_valid(client: Client) -> None:
    description = client.get("/api/openapi.json").json
    OpenAPIV31SpecValidator(description).validate()
    assert description == openapi()


def test_all_requests_need_the_token_and_in_an_open_dashboard_only_changes() -> None:
    closed, opened = openapi(), openapi(open_to_all=True)
    schemes = closed["components"]["securitySchemes"]
    assert {(each["type"], each.get("scheme")) for each in schemes.values()} == {("http", "bearer"), ("apiKey", None)}
    with_token = [{name: []} for name in schemes]
    assert (closed["security"], opened["security"]) == (with_token, [*with_token, {}])
    for description in (closed, opened):
        OpenAPIV31SpecValidator(description).validate()
        for methods in description["paths"].values():
            # Operations without requirements of their own have those of the description.
            assert {name: operation.get("security") for name, operation in methods.items()} == {
                name: with_token if name == "post" else None for name in methods
            }
            assert all("401" in operation["responses"] for operation in methods.values())


def test_schemas_have_the_docstrings_of_their_classes() -> None:
    schemas = openapi()["components"]["schemas"]
    assert schemas["CrawlStatus"]["description"].split() == (CrawlStatus.__doc__ or "").split()
    assert schemas["CrawlStatus"]["properties"]["hosts_disabled"]["description"]
    assert "description" not in schemas["Fact"]


def test_descriptions_name_existing_fields() -> None:
    named = {
        f"{name}.{word}"
        for name, schema in openapi()["components"]["schemas"].items()
        for word in re.findall(r"`(\w+)`", schema.get("description", ""))
        if word not in schema["properties"]
    }
    assert named == {"Pages.from"}, "a parameter of the request"


@pytest.mark.parametrize("endpoint", [each for each in ENDPOINTS if each.method == "GET"], ids=lambda each: each.name)
def test_responses_to_queries_match_the_description(client: Client, endpoint: Any) -> None:
    folder = "search" if "experiments" in endpoint.path else "crawl"
    path = endpoint.path.replace("{id}", folder).replace("{visit}", "3") + QUERIES.get(endpoint.path, "")
    response = client.get(path)
    assert response.status == 200, response.text
    check(response.json, endpoint.response)


@pytest.mark.parametrize("endpoint", [each for each in ENDPOINTS if each.method == "POST"], ids=lambda each: each.name)
def test_responses_to_changes_match(client: Client, endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.crawler.control._command", lambda *_, **__: None)
    quality = ModelQuality(area_before=0.5, area_after=None, n_positive=3, n_negative=4)
    done = Retraining(
        quality, "relevance_models/1", is_used_now=True, command="scenthound crawl", says="It was trained."
    )
    monkeypatch.setattr("scenthound.experiments.retraining.retrain", lambda _folder: done)
    response = client.post(endpoint.path.replace("{id}", "crawl"), BODIES.get(endpoint.path.rpartition("/")[2]))
    assert response.status == 200, response.text
    check(response.json, endpoint.response)


def test_problems_match_the_description(client: Client) -> None:
    check(client.get("/api/crawls/nope").json, Problem)


def test_every_endpoint_is_described_and_nothing_else(client: Client) -> None:
    described = {(method.upper(), path) for path, methods in openapi()["paths"].items() for method in methods}
    assert described == {(each.method, each.path) for each in ENDPOINTS} | {("GET", "/api/crawls/{id}/events")}


def test_the_api_page_lists_every_path_without_scripts(client: Client) -> None:
    response = client.get("/api")
    assert all(each.path in response.text for each in ENDPOINTS)
    assert "<script" not in response.text
    assert " style=" not in response.text
