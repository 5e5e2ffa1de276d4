"""The OpenAPI description of the API is valid, and responses match it."""

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from dashboard_client import Client, ended_crawl, search
from scenthound.experiments.retraining import ModelQuality, Retraining
from scenthound.store.crawl_records import CrawlStatus

QUERIES = {
    "/api/compare": "?crawl=crawl&crawl=other",
    "/api/crawls/{id}/explain": "?url=c.test",
    "/api/crawls/{id}/pages": "?query=balloon",
}
BODIES = {"budget": {"pages": 20}, "labels": {"visit": 1, "relevant": True}}
CHANGES = ("pause", "resume", "stop", "budget", "labels", "retrain")
VIEWS = ("", "/curves", "/pages", "/pages/{visit}", "/explain", "/skipped", "/hosts", "/graph", "/labels")
PATHS = ("/api/folders", "/api/columns", "/api/experiments/{id}", "/api/compare")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("folders")
    ended_crawl(folder / "crawl")
    ended_crawl(folder / "other")
    search(folder / "search")
    return Client(folder)


@pytest.fixture(scope="module")
def description(client: Client) -> Any:
    return client.get("/api/openapi.json").json


def check(value: Any, schema: Any, description: Any) -> None:
    Draft202012Validator({**schema, "components": description["components"]}).validate(value)


def response_schema(operation: Any, status: str = "200") -> Any:
    return operation["responses"][status]["content"]["application/json"]["schema"]


def test_the_description_is_valid_and_says_that_requests_need_the_token(description: Any) -> None:
    OpenAPIV31SpecValidator(description).validate()
    schemes = description["components"]["securitySchemes"]
    assert {(each["type"], each.get("scheme")) for each in schemes.values()} == {("http", "bearer"), ("apiKey", None)}
    for methods in description["paths"].values():
        for operation in methods.values():
            assert [list(each) for each in operation["security"]] == [[name] for name in schemes]
            assert "401" in operation["responses"]


def test_schemas_have_the_docstrings_of_their_classes(description: Any) -> None:
    schemas = description["components"]["schemas"]
    assert schemas["CrawlStatus"]["description"].split() == (CrawlStatus.__doc__ or "").split()


def test_descriptions_name_existing_fields(description: Any) -> None:
    named = {
        f"{name}.{word}"
        for name, schema in description["components"]["schemas"].items()
        if "properties" in schema
        for word in re.findall(r"`(\w+)`", schema.get("description", ""))
        if word not in schema["properties"]
    }
    assert named == {"Pages.from"}, "a parameter of the request"


@pytest.mark.parametrize("path", [*PATHS, *(f"/api/crawls/{{id}}{view}" for view in VIEWS)])
def test_responses_to_queries_match_the_description(client: Client, description: Any, path: str) -> None:
    folder = "search" if "experiments" in path else "crawl"
    url = path.replace("{id}", folder).replace("{visit}", "3") + QUERIES.get(path, "")
    response = client.get(url)
    assert response.status == 200, response.text
    check(response.json, response_schema(description["paths"][path]["get"]), description)
    assert (
        client.request("HEAD", path.replace("{id}", folder).replace("{visit}", "3") + QUERIES.get(path, ""), {}).status
        == 200
    )


@pytest.mark.parametrize("change", CHANGES)
def test_responses_to_changes_match(
    client: Client, description: Any, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenthound.crawler.control._command", lambda *_, **__: None)
    quality = ModelQuality(area_before=0.5, area_after=None, n_positive=3, n_negative=4)
    done = Retraining(
        quality, "relevance_models/1", is_used_now=True, command="scenthound crawl", says="It was trained."
    )
    monkeypatch.setattr("scenthound.experiments.retraining.retrain", lambda _folder: done)
    response = client.post(f"/api/crawls/crawl/{change}", BODIES.get(change))
    assert response.status == 200, response.text
    operation = description["paths"][f"/api/crawls/{{id}}/{change}"]["post"]
    check(response.json, response_schema(operation), description)


def test_problems_match_the_description(client: Client, description: Any) -> None:
    operation = description["paths"]["/api/crawls/{id}"]["get"]
    check(client.get("/api/crawls/nope").json, response_schema(operation, "default"), description)


def test_the_api_page_lists_every_path_without_scripts(client: Client, description: Any) -> None:
    response = client.get("/api")
    assert all(path in response.text for path in description["paths"])
    assert "<script" not in response.text
    assert " style=" not in response.text
