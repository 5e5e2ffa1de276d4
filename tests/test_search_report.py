"""The report of a search: finished, stopped or running."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from evolution_web import record_topical, small_search, write_topical
from scenthound.cli import evolve as evolve_command
from scenthound.errors import InvalidInput
from scenthound.experiments.evolve.evolution import resume_search
from scenthound.experiments.evolve.folder import COMPARED_FILE, LOG_FILE, RESULT_FILE, SearchFolder
from scenthound.experiments.results import versions
from scenthound.strategies.rank_file import Generation, rank_file_text, read_rank_file
from scenthound.strategies.rank_rules import formula_of
from scenthound.ui.document import CodeBlock
from scenthound.ui.formats import format_versions
from scenthound.ui.html import document_html
from scenthound.ui.reports.search import UNSEEN_PROPOSED, StoredSearch, search_report


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


def test_a_finished_search_shows_fitness_and_formula(done):
    page, result = search_report(done), read_rank_file(done / RESULT_FILE)
    (chart,) = blocks(page, "Fitness by generation")
    assert [series.name for series in chart.series] == ["best", "mean"]
    assert chart.series[0].x.tolist() == [each.generation for each in result.history]
    assert chart.series[0].y.tolist() == [each.best for each in result.history]
    assert chart.series[1].y.tolist() == [each.mean for each in result.history]
    formula, weights = blocks(page, "Rank function")
    assert formula.text == formula_of(result.rules.weights[0])
    assert sum(float(row[1].text) for row in weights.rows) == pytest.approx(1, abs=1e-3)
    best = max(each.best for each in result.history)
    assert re.match(rf"\D*\b{result.history[-1].generation} generations .*? {best:.3f}\. ", page.summary[0])
    assert dict(page.key_facts)["generations"] == f"{result.history[-1].generation}"
    assert dict(page.key_facts)["state"] == "finished"
    assert dict(page.key_facts)["best fitness"] == f"{best:.3f}"
    compared = json.loads((done / COMPARED_FILE).read_text())
    (table,) = blocks(page, "Known strategies")
    assert len(table.rows) == 1 + len(compared)
    assert document_html(page).startswith("<!DOCTYPE html>")


def test_the_best_fitness_is_over_all_generations(search):
    result = read_rank_file(search / RESULT_FILE)
    history = (Generation(0, 0.25, 0.125, 4), Generation(1, 0.5, 0.375, 8))
    (search / RESULT_FILE).write_text(rank_file_text(replace(result, history=history)))
    page = search_report(search)
    assert re.match(r"\D*\b1 generation \D*\b0\.500\.", page.summary[0])
    (chart,) = blocks(page, "Fitness by generation")
    assert [series.y.tolist() for series in chart.series] == [[0.25, 0.5], [0.125, 0.375]]


def test_generations_are_counted_as_on_the_command_line(done):
    finished = resume_search(done, workers=1)
    assert dict(search_report(done).key_facts)["generations"] == f"{finished.summary.generation}" == "3"


def changed(search, *history, relevance_model="cosine"):
    result = read_rank_file(search / RESULT_FILE)
    (search / RESULT_FILE).write_text(rank_file_text(replace(result, history=history, relevance_model=relevance_model)))
    return search


def test_the_initial_population_is_not_a_generation(search):
    page = search_report(changed(search, Generation(0, 0.25, 0.125, 4)))
    assert re.match(r"\D*\binitial population\b\D* 0\.250\.", page.summary[0])


def test_a_result_without_its_history_has_no_fitness(search):
    page = search_report(changed(search))
    compared = json.loads((search / COMPARED_FILE).read_text())
    assert re.match(r"[^.\d]*\. ", page.summary[0])
    assert "generations" not in dict(page.key_facts)
    (table,) = blocks(page, "Known strategies")
    assert len(table.rows) == len(compared)


COMPARED = {"best_first": 0.5, "published": 0.25}


@pytest.mark.parametrize(
    ("best", "rows", "ending"),
    [
        (
            0.625,
            [("best of the search", True), ("best_first", False), ("published", False)],
            "On the same crawls: best_first 0.500, published 0.250.",
        ),
        (
            0.5,
            [("best of the search", True), ("best_first", True), ("published", False)],
            "On the same crawls: best_first 0.500, published 0.250. As good or better: best_first.",
        ),
        (
            0.125,
            [("best_first", True), ("published", False), ("best of the search", False)],
            "On the same crawls: best_first 0.500, published 0.250. As good or better: best_first, published.",
        ),
    ],
    ids=["ahead", "level", "behind"],
)
def test_strategies_as_good_as_the_best_are_named(search, best, rows, ending):
    (search / COMPARED_FILE).write_text(json.dumps(COMPARED))
    page = search_report(changed(search, Generation(1, best, best, 4)))
    (table,) = blocks(page, "Known strategies")
    assert [(row[0].text, row[1].emphasis) for row in table.rows] == rows
    assert page.summary[0].endswith(ending)


def commands(page):
    """The arguments of each command, by its caption, and the texts beside them."""
    use = blocks(page, "How to use it")
    shown = {
        block.caption: shlex.split(block.text.replace("\\\n", "")) for block in use if isinstance(block, CodeBlock)
    }
    return shown, [block for block in use if isinstance(block, str)]


def option(words, name):
    return words[words.index(name) + 1] if name in words else None


def test_the_validation_command_has_unseen_topics_and_the_settings_of_the_search(search):
    settings = json.loads((search / "search.json").read_text())
    settings["settings"] |= {"threshold": 0.75}
    settings["settings"]["crawls_of"] |= {"closed_world": True, "respect_nofollow": False}
    (search / "search.json").write_text(json.dumps(settings))
    words = commands(search_report(search))[0]["Compare it with Best-First"]
    assert option(words, "--unseen-max") == str(UNSEEN_PROPOSED) == str(evolve_command.UNSEEN_PROPOSED)
    assert (option(words, "--mode"), option(words, "--relevance")) == ("sequential", "cosine")
    assert option(words, "--threshold") == "0.75"
    assert {"--closed-world", "--follow-nofollow"} < set(words)


def test_no_unseen_topics_are_proposed_if_there_are_none(search):
    settings = json.loads((search / "search.json").read_text())
    settings["settings"]["seeded_topics"] = ["train", "garden"]
    (search / "search.json").write_text(json.dumps(settings))
    assert "--unseen-max" not in commands(search_report(search))[0]["Compare it with Best-First"]


def test_a_trained_model_needs_a_training_folder_for_a_live_crawl(search):
    plain, notes = commands(search_report(search))
    assert "--train-from" not in plain["Crawl with it live"]
    assert notes == []
    learning, notes = commands(search_report(changed(search, relevance_model="svm")))
    assert option(learning["Crawl with it live"], "--train-from") == "DIR"
    assert len(notes) == 1


def test_the_live_command_names_the_training_folder(search):
    settings = json.loads((search / "search.json").read_text())
    settings["settings"]["crawls_of"]["train_from"] = "/data/my pages"
    (search / "search.json").write_text(json.dumps(settings))
    learning, notes = commands(search_report(changed(search, relevance_model="svm")))
    assert option(learning["Crawl with it live"], "--train-from") == "/data/my pages"
    assert notes == []


def test_missing_topics_or_models_do_not_prevent_the_report(search):
    (search / "topics.jsonl").unlink()
    shown, notes = commands(search_report(changed(search, relevance_model="lost")))
    assert "--unseen-max" not in shown["Compare it with Best-First"]
    assert "--train-from" not in shown["Crawl with it live"]
    assert notes == []


def test_the_versions_of_search_and_report_are_both_named(search):
    settings = json.loads((search / "search.json").read_text())
    (search / "search.json").write_text(json.dumps(settings | {"scenthound": "0.0.1"}))
    facts = dict(blocks(search_report(search), "Settings and versions")[0].rows)
    assert facts["made by"] == "scenthound 0.0.1"
    assert facts["report made by"] == format_versions(versions())


def test_evaluations_and_visits_are_counted_from_the_log(done):
    lines = [json.loads(line) for line in (done / LOG_FILE).read_text().splitlines()]
    stored = StoredSearch(done)
    assert (len(stored.visits), sum(stored.visits)) == (len(lines), sum(line["visits"] for line in lines))
    assert stored.max_evaluations >= len(stored.visits)


def test_a_stopped_search_has_a_resume_command(search):
    (search / COMPARED_FILE).unlink()
    page = search_report(search)
    assert dict(page.key_facts)["state"] == "stopped"
    assert page.summary[-1].endswith(f"To continue: scenthound evolve --resume {search}")


def test_a_running_search_is_reported_and_not_disturbed(search):
    (search / RESULT_FILE).unlink()
    (search / COMPARED_FILE).unlink()
    log = (search / LOG_FILE).read_bytes()
    torn = log.splitlines(keepends=True)[0] + b'{"round": 0, "pla'
    (search / LOG_FILE).write_bytes(torn)
    with SearchFolder.open(search):
        stored = StoredSearch(search)
        page = search_report(search)
    assert (stored.state, len(stored.visits)) == ("running", 1)
    assert (search / LOG_FILE).read_bytes() == torn, "a line that is being written is left to who writes it"
    assert re.fullmatch(r"\D+\.", page.summary[0])
    assert "running" in page.summary[-1]
    assert [section.title for section in page.sections] == ["Settings and versions"]


def test_the_reproduce_command_makes_the_same_search(search, scenthound):
    *_, settings = search_report(search).sections
    command = next(block for block in settings.blocks if isinstance(block, CodeBlock))
    code, _, err = scenthound(*command.text.replace("\\\n", "").split()[1:], "--workers", 1)
    assert code == 0, err
    assert (search.with_name("search-again") / LOG_FILE).read_text() == (search / LOG_FILE).read_text()


def test_the_reproduce_command_has_all_that_decides_a_search(done, tmp_path, scenthound):
    settings = {"random_streams": "individual", "renew": "siblings", "training_pages": "johnson2003", "seed": 3}
    web, topics = done.parent / "web", done.parent / "topics.jsonl"
    small_search(web, topics, tmp_path / "own", relevance="svm:bigrams=true,scores=margin", **settings)
    *_, last = search_report(tmp_path / "own").sections
    command = next(block for block in last.blocks if isinstance(block, CodeBlock)).text.replace("\\\n", "")
    assert "--random-streams individual" in command
    code, _, err = scenthound(*command.split()[1:], "--workers", 1, "--best", 2)
    assert code == 0, err
    assert (tmp_path / "own-again" / LOG_FILE).read_text() == (tmp_path / "own" / LOG_FILE).read_text()
    assert (tmp_path / "own-again" / "evolved-2.toml").is_file()
    use = next(section for section in search_report(tmp_path / "own").sections if section.title == "How to use it")
    assert any("--training-pages johnson2003" in block.text for block in use.blocks if isinstance(block, CodeBlock))


def test_rules_for_parts_of_a_crawl_are_listed_separately(done, tmp_path):
    web = done.parent / "web"
    small_search(web, done.parent / "topics.jsonl", tmp_path / "split", split="distance:1")
    formula, weights = blocks(search_report(tmp_path / "split"), "Rank function")
    first, last = formula.text.splitlines()
    assert re.match(r"\D*\b1 links\b.*: ", first)
    assert last.startswith("else: ")
    assert weights.columns == ("score", "rule 1", "rule 2")


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "scenthound search", "version": 1}'])
def test_other_folders_are_rejected_as_search(search, content):
    (search / "search.json").write_text(content)
    with pytest.raises(InvalidInput) as raised:
        search_report(search)
    assert "\n" not in str(raised.value)
