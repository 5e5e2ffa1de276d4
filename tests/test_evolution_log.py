"""The log of a search is believed only as far as a search can have written it; a refusal leaves the result alone."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from evolution_web import record_topical, small_search, write_topical
from scenthound.errors import InvalidInput
from scenthound.experiments.evolve.evaluation import Evaluation
from scenthound.experiments.evolve.evolution import resume_search
from scenthound.experiments.evolve.folder import LOG_FILE, RESULT_FILE, Logged, append_to_log, read_log

#: Two topics: the means of their crawls are 0.25 and 0.5, and of those 0.375.
GOOD: dict[str, Any] = {
    "round": 0,
    "place": 0,
    "genes": [1, 127],
    "fitness": 0.375,
    "crawls": [[0.25, 0.25], [0.75, 0.25]],
    "visits": 160,
}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("topical")
    return small_search(record_topical(folder), write_topical(folder), folder / "search").folder


@pytest.fixture
def search(unbroken, tmp_path) -> Path:
    return shutil.copytree(unbroken, tmp_path / "search")


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / LOG_FILE).read_text().splitlines()]


def write_lines(folder: Path, lines: list[dict[str, Any]]) -> None:
    (folder / LOG_FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))


def refusal(folder: Path) -> str:
    """What a search that is gone on with says; the result stays as it was."""
    before = (folder / RESULT_FILE).read_bytes()
    with pytest.raises(InvalidInput) as refused:
        resume_search(folder, workers=1)
    assert (folder / RESULT_FILE).read_bytes() == before
    said = str(refused.value)
    assert "\n" not in said
    assert "Delete this line and all lines after it" in said
    return said


def test_an_evaluation_is_read_as_it_was_written(tmp_path):
    written = Logged(2, 1, (3, 127), Evaluation.of(((0.1, 0.2, 0.4), (0.3, 0.3, 0.7)), 60))
    append_to_log(tmp_path / "log", written)
    append_to_log(tmp_path / "log", written)
    assert read_log(tmp_path / "log") == [written, written]


def test_a_good_line_is_believed():
    assert Logged.read(json.dumps(GOOD).encode()).evaluation == Evaluation(0.375, ((0.25, 0.25), (0.75, 0.25)), 160)


BAD_LINES = [
    b"what is this",
    b"[" * 100_000,
    b"[]",
    b"\xff\xfe",
    b"",
    json.dumps(GOOD).replace('"round": 0', '"round": 1e400').encode(),
    *(
        json.dumps(GOOD | change).encode()
        for change in (
            {"round": -1},
            {"place": 0.5},
            {"place": True},
            {"visits": None},
            {"genes": "abc"},
            {"genes": [[1], [2]]},
            {"genes": [1, 10**400]},
            {"genes": [True, 1]},
            {"genes": []},
            {"fitness": float("nan")},
            {"fitness": float("inf")},
            {"fitness": "0.375"},
            {"fitness": 0.3750001},
            {"fitness": -0.375, "crawls": [[-0.375]]},
            {"crawls": []},
            {"crawls": [[]]},
            {"crawls": [0.375]},
            {"crawls": {"a": 1}},
            {"crawls": [[float("nan")]]},
        )
    ),
    *(json.dumps({other: GOOD[other] for other in GOOD if other != key}).encode() for key in GOOD),
]


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: line[:60].decode(errors="replace"))
def test_a_line_that_no_search_writes_is_refused_by_its_number(tmp_path, line):
    log = tmp_path / LOG_FILE
    log.write_bytes(json.dumps(GOOD).encode() + b"\n" + line + b"\n")
    with pytest.raises(InvalidInput) as refused:
        read_log(log)
    assert str(refused.value).startswith(f"{log}, line 2: corrupt, ")
    assert "Delete this line and all lines after it" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < len(str(log)) + 200


@pytest.mark.parametrize("fitness", [0.4, 0.0, 1e308])
def test_a_fitness_that_is_not_the_mean_of_its_crawls_is_refused(search, fitness):
    lines = lines_of(search)
    lines[4]["fitness"] = fitness
    write_lines(search, lines)
    assert f"{LOG_FILE}, line 5: corrupt, fitness {fitness:g} is not the mean of its crawls" in refusal(search)


@pytest.mark.parametrize("where", ["round", "place"])
def test_an_evaluation_at_another_place_than_the_search_asks_for_it_is_refused(search, where):
    lines = lines_of(search)
    lines[3][where] += 1
    write_lines(search, lines)
    assert f"{LOG_FILE}, line 4: the search took another course" in refusal(search)


def test_a_crawl_more_or_less_than_the_search_makes_is_refused(search):
    lines = lines_of(search)
    lines[2] |= {"crawls": [[1.0, 1.0, 1.0]], "fitness": 1.0}
    write_lines(search, lines)
    assert f"{LOG_FILE}, line 3: the search took another course" in refusal(search)


@pytest.mark.parametrize("missing", [0, 2, 5])
def test_a_log_that_lacks_a_line_is_refused_where_it_does_before_anything_is_crawled_for(search, missing):
    lines = lines_of(search)
    del lines[missing]
    write_lines(search, lines)
    before = (search / LOG_FILE).read_bytes()
    assert f"{LOG_FILE}, line {missing + 1}: the search took another course" in refusal(search)
    assert (search / LOG_FILE).read_bytes() == before


def test_lines_beyond_the_end_of_the_search_are_refused(search):
    lines = lines_of(search)
    write_lines(search, [*lines, lines[-1] | {"round": 4}])
    assert f"{LOG_FILE}, line {len(lines) + 1}: the search took another course" in refusal(search)


def test_a_refused_search_goes_on_once_the_line_and_all_after_it_are_gone(search, unbroken):
    lines = lines_of(search)
    lines[5]["fitness"] = 1.0
    write_lines(search, lines)
    assert "line 6:" in refusal(search)
    write_lines(search, lines[:5])
    resume_search(search, workers=1)
    for file in (RESULT_FILE, LOG_FILE):
        assert (search / file).read_bytes() == (unbroken / file).read_bytes()


def test_the_result_of_a_finished_search_is_written_again_only_if_it_differs(search, unbroken):
    file = search / RESULT_FILE
    before = file.stat()
    resume_search(search, workers=1)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    file.write_text("nonsense")
    resume_search(search, workers=1)
    assert file.read_bytes() == (unbroken / RESULT_FILE).read_bytes()
