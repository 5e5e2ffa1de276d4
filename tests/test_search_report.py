"""The page of a search, finished, stopped or on its way."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from evolution_web import record_topical, small_search, write_topical
from scenthound.errors import BadInput
from scenthound.lab.evolving.search_folder import COMPARED_FILE, LOG_FILE, RESULT_FILE, SearchFolder
from scenthound.report.page.html import page_html
from scenthound.report.searches.page import search_page
from scenthound.report.searches.told import SearchState, read_search
from scenthound.strategies.parts.rank_formula import formula_of
from scenthound.strategies.rank_file import Generation, rank_file_text, read_rank_file


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """The folder of a finished search, beside its web."""
    folder = tmp_path_factory.mktemp("topical")
    small_search(record_topical(folder), write_topical(folder), folder / "search")
    return folder / "search"


@pytest.fixture
def search(done, tmp_path) -> Path:
    """A copy that a test may change."""
    shutil.copytree(done, tmp_path / "search")
    return tmp_path / "search"


def blocks(page, title):
    return next(section.blocks for section in page.sections if section.title == title)


def test_a_finished_search_shows_its_fitness_and_its_formula(done):
    page, result = search_page(done), read_rank_file(done / RESULT_FILE)
    (chart,) = blocks(page, "Fitness by generation")
    assert [series.name for series in chart.series] == ["best", "mean"]
    assert chart.series[0].x.tolist() == [each.generation for each in result.history]
    assert chart.series[0].y.tolist() == [each.best for each in result.history]
    assert chart.series[1].y.tolist() == [each.mean for each in result.history]
    formula, weights = blocks(page, "The rank function")
    assert formula.text == formula_of(result.rules.weights[0])
    assert sum(float(row[1].text) for row in weights.rows) == pytest.approx(1, abs=1e-3)
    best = max(each.best for each in result.history)
    assert page.summary[0].startswith(
        f"The best rank function after {len(result.history)} generations has a fitness of"
    )
    assert dict(page.key_facts)["state"] == "finished"
    assert dict(page.key_facts)["best fitness"] == f"{best:.3f}"
    compared = json.loads((done / COMPARED_FILE).read_text())
    (table,) = blocks(page, "Beside known strategies")
    assert len(table.rows) == 1 + len(compared)
    assert page_html(page).startswith("<!DOCTYPE html>")


def test_the_best_of_all_generations_is_told(search):
    result = read_rank_file(search / RESULT_FILE)
    history = (Generation(0, 0.25, 0.125, 4), Generation(1, 0.5, 0.375, 8))
    (search / RESULT_FILE).write_text(rank_file_text(replace(result, history=history)))
    page = search_page(search)
    assert page.summary[0].startswith("The best rank function after 2 generations has a fitness of 0.500.")
    (chart,) = blocks(page, "Fitness by generation")
    assert [series.y.tolist() for series in chart.series] == [[0.25, 0.5], [0.125, 0.375]]


def test_evaluations_and_visits_are_counted_from_the_log(done):
    lines = [json.loads(line) for line in (done / LOG_FILE).read_text().splitlines()]
    told = read_search(done)
    assert (told.n_evaluated, told.n_visits) == (len(lines), sum(line["visits"] for line in lines))
    assert told.most_evaluations >= told.n_evaluated


def test_a_search_that_was_stopped_says_how_to_go_on(search):
    (search / COMPARED_FILE).unlink()
    page = search_page(search)
    assert dict(page.key_facts)["state"] == "stopped"
    assert page.summary[-1].endswith(f"Go on with it: scenthound evolve --resume {search}")


def test_a_search_on_its_way_is_shown_and_not_disturbed(search):
    (search / RESULT_FILE).unlink()
    (search / COMPARED_FILE).unlink()
    log = (search / LOG_FILE).read_bytes()
    torn = log.splitlines(keepends=True)[0] + b'{"round": 0, "pla'
    (search / LOG_FILE).write_bytes(torn)
    with SearchFolder.open(search):
        told = read_search(search)
        page = search_page(search)
    assert (told.state, told.n_evaluated) == (SearchState.RUNNING, 1)
    assert (search / LOG_FILE).read_bytes() == torn, "a line that is being written is left to who writes it"
    assert page.summary[0] == "No generation is finished yet, so there is no rank function to show."
    assert "is running" in page.summary[-1]
    assert [section.title for section in page.sections] == ["Settings and versions"]


def test_the_command_makes_the_same_search_again(search, scenthound):
    *_, settings = search_page(search).sections
    command = next(block for block in settings.blocks if hasattr(block, "says"))
    code, _, err = scenthound(*command.text.replace("\\\n", "").split()[1:], "--workers", 1)
    assert code == 0, err
    assert (search.with_name("search-again") / LOG_FILE).read_text() == (search / LOG_FILE).read_text()


def test_rules_for_parts_of_a_crawl_are_told_apart(done, tmp_path):
    web = done.parent / "web"
    small_search(web, done.parent / "topics.jsonl", tmp_path / "split", split="distance:1")
    formula, weights = blocks(search_page(tmp_path / "split"), "The rank function")
    first, last = formula.text.splitlines()
    assert first.startswith("up to 1 links from the seeds: ")
    assert last.startswith("else: ")
    assert weights.heads == ("score", "rule 1", "rule 2")


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "scenthound search", "version": 1}'])
def test_what_is_no_search_is_told_in_one_line(search, content):
    (search / "search.json").write_text(content)
    with pytest.raises(BadInput) as told:
        search_page(search)
    assert "\n" not in str(told.value)
