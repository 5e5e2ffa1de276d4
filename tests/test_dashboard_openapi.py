"""The API is described by OpenAPI, and answers as it is described."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from asked_dashboard import Asker, ended_crawl, search
from scenthound.experiments.retraining import ModelQuality, Retraining
from scenthound.ui.dashboard.openapi import openapi, schema_of
from scenthound.ui.dashboard.responses import Problem
from scenthound.ui.dashboard.routes import ENDPOINTS

QUESTIONS = {
    "/api/compare": "?crawl=crawl&crawl=other",
    "/api/crawls/{id}/explain": "?url=c.test",
    "/api/crawls/{id}/pages": "?query=balloon",
}
BODIES = {"budget": {"pages": 20}, "labels": {"visit": 1, "relevant": True}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("folders")


@pytest.fixture(scope="module")
def asker(folder: Path) -> Asker:
    ended_crawl(folder / "crawl")
    ended_crawl(folder / "other")
    search(folder / "search")
    return Asker(folder)


def check(answer: Any, type_: Any) -> None:
    schema = {**schema_of(type_), "components": openapi()["components"]}
    Draft202012Validator(schema).validate(answer)


def test_the_description_is_valid(asker: Asker) -> None:
    told = asker.get("/api/openapi.json").json
    OpenAPIV31SpecValidator(told).validate()
    assert told == openapi()


def test_classes_tell_of_themselves_in_words_or_not_at_all() -> None:
    schemas = openapi()["components"]["schemas"]
    assert schemas["CrawlStatus"]["description"].startswith("The state of a crawl")
    assert schemas["CrawlStatus"]["properties"]["hosts_disabled"]["description"]
    assert "description" not in schemas["Fact"]


def test_descriptions_name_fields_that_there_are() -> None:
    named = {
        f"{name}.{word}"
        for name, schema in openapi()["components"]["schemas"].items()
        for word in re.findall(r"`(\w+)`", schema.get("description", ""))
        if word not in schema["properties"]
    }
    assert named == {"Pages.from"}, "which is no field: it is asked with"


@pytest.mark.parametrize("endpoint", [each for each in ENDPOINTS if each.method == "GET"], ids=lambda each: each.name)
def test_questions_are_answered_as_described(asker: Asker, endpoint: Any) -> None:
    folder = "search" if "experiments" in endpoint.path else "crawl"
    path = endpoint.path.replace("{id}", folder).replace("{visit}", "3") + QUESTIONS.get(endpoint.path, "")
    answer = asker.get(path)
    assert answer.status == 200, answer.text
    check(answer.json, endpoint.answers)


@pytest.mark.parametrize("endpoint", [each for each in ENDPOINTS if each.method == "POST"], ids=lambda each: each.name)
def test_changes_are_answered_as_described(asker: Asker, endpoint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenthound.crawler.control._command", lambda *_, **__: None)
    quality = ModelQuality(area_before=0.5, area_after=None, n_positive=3, n_negative=4)
    done = Retraining(quality, "relevance_models/1", taken_up=True, command="scenthound crawl", says="It was trained.")
    monkeypatch.setattr("scenthound.experiments.retraining.retrain", lambda _folder: done)
    answer = asker.post(endpoint.path.replace("{id}", "crawl"), BODIES.get(endpoint.path.rpartition("/")[2]))
    assert answer.status == 200, answer.text
    check(answer.json, endpoint.answers)


def test_problems_are_told_as_described(asker: Asker) -> None:
    check(asker.get("/api/crawls/nope").json, Problem)


def test_every_endpoint_is_described_and_nothing_else(asker: Asker) -> None:
    described = {(method.upper(), path) for path, methods in openapi()["paths"].items() for method in methods}
    assert described == {(each.method, each.path) for each in ENDPOINTS} | {("GET", "/api/crawls/{id}/events")}


def test_the_page_of_the_description_names_every_address_and_needs_no_script(asker: Asker) -> None:
    answer = asker.get("/api")
    assert all(each.path in answer.text for each in ENDPOINTS)
    assert "<script" not in answer.text
    assert " style=" not in answer.text
