"""The folder of a search: resuming after a kill, locking, and the checks of its settings and its log."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evolution_web import record_topical, small_search, write_topical
from ring_web import record_ring
from scenthound.errors import InvalidInput
from scenthound.experiments.evolve.evaluation import Evaluation
from scenthound.experiments.evolve.evolution import EvolutionStatus, resume_search
from scenthound.experiments.evolve.folder import ABOUT_FILE, COMPARED_FILE, LOG_FILE, RESULT_FILE, Logged, SearchFolder
from scenthound.strategies.rank_file import read_rank_file


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("topical")
    return record_topical(folder), write_topical(folder)


@pytest.fixture(scope="module")
def unbroken(topical, tmp_path_factory) -> Path:
    """A search that was not interrupted."""
    return small_search(*topical, tmp_path_factory.mktemp("unbroken") / "search").folder


@pytest.fixture
def search(unbroken, tmp_path) -> Path:
    """A copy of it, to be damaged."""
    return shutil.copytree(unbroken, tmp_path / "search")


def cut_log(folder: Path, n_lines: int, torn: bytes = b"") -> None:
    lines = (folder / LOG_FILE).read_bytes().splitlines(keepends=True)
    (folder / LOG_FILE).write_bytes(b"".join(lines[:n_lines]) + torn)


def assert_same(folder: Path, other: Path) -> None:
    for file in (RESULT_FILE, LOG_FILE):
        assert (folder / file).read_bytes() == (other / file).read_bytes()


@pytest.mark.parametrize("torn", [b"", b'{"round": 1, "pla'])
@pytest.mark.parametrize("n_lines", [0, 1, 4, 6, 10])
def test_an_interrupted_search_continues_to_the_same_result(search, unbroken, n_lines, torn):
    cut_log(search, n_lines, torn)
    (search / RESULT_FILE).unlink()
    done = resume_search(search, workers=1)
    assert_same(search, unbroken)
    assert done.n_visits == done.n_distinct * 80
    assert done.n_visits_now == (done.n_distinct - n_lines) * 80


def test_a_search_of_an_earlier_version_continues_to_the_same_result(search, unbroken):
    # Without the settings that it did not have.
    about = json.loads((search / ABOUT_FILE).read_text())
    for name in ("random_streams", "renew"):
        assert about["settings"].pop(name)
    assert about["settings"]["crawls_of"].pop("training_pages")
    (search / ABOUT_FILE).write_text(json.dumps(about))
    cut_log(search, 6)
    (search / RESULT_FILE).unlink()
    resume_search(search, workers=1)
    assert_same(search, unbroken)


def test_a_finished_search_returns_its_result_again(search, unbroken):
    (search / RESULT_FILE).unlink()
    done = resume_search(search, workers=1)
    assert done.n_visits_now == 0
    assert done.best.rules == read_rank_file(unbroken / RESULT_FILE).rules
    fitnesses = json.loads((unbroken / COMPARED_FILE).read_text())
    assert {each.name: each.fitness for each in done.others} == fitnesses
    assert_same(search, unbroken)


UNKNOWN = '{"rank_function:preset=best_first": FITNESS, "rank_function:preset=johnson2003": 0.5}'


@pytest.mark.parametrize(
    "left",
    [
        *(None, "", "[]", "{}", "[" * 100_000),
        *(UNKNOWN.replace("FITNESS", fitness) for fitness in ("null", "NaN", "1e400", "1" + 400 * "0")),
    ],
    ids=lambda left: str(left)[:60],
)
def test_a_missing_or_corrupt_comparison_is_made_again(search, unbroken, left):
    (search / COMPARED_FILE).unlink()
    if left is not None:
        (search / COMPARED_FILE).write_text(left)
    done = resume_search(search, workers=1)
    assert done.n_visits_now == 0
    assert (search / COMPARED_FILE).read_bytes() == (unbroken / COMPARED_FILE).read_bytes()


def test_a_search_that_reevaluates_continues_where_it_stopped(topical, tmp_path):
    # With one score of 7 bits and no mutation, genes occur again.
    settings = {"scores": ("parent_1",), "search": "johnson2003:population=4,generations=4,mutation=0.0"}
    complete = small_search(*topical, tmp_path / "complete", **settings, reevaluate=True)
    lines = [(each.round, each.index) for each in SearchFolder(tmp_path / "complete").logged()]
    assert lines == [(round_, index) for round_ in range(5) for index in range(4)]
    assert complete.n_evaluated == 20 > complete.n_distinct
    assert complete.n_visits == complete.n_visits_now == 20 * 80
    shutil.copytree(tmp_path / "complete", tmp_path / "search")
    cut_log(tmp_path / "search", 11)
    done = resume_search(tmp_path / "search", workers=1)
    assert_same(tmp_path / "search", tmp_path / "complete")
    assert (done.n_visits, done.n_visits_now) == (20 * 80, 9 * 80)


SEARCH = """
import sys
from pathlib import Path
from evolution_web import small_search
from scenthound.experiments.evolve.evolution import EvolutionStatus

def report(status: EvolutionStatus) -> None:
    print(status.summary.n_evaluated + status.n_done, flush=True)

if __name__ == "__main__":
    small_search(*map(Path, sys.argv[1:4]), workers=2, watch=report)
"""


def test_a_search_killed_within_a_generation_continues_to_the_same_result(topical, unbroken, tmp_path):
    (tmp_path / "searching.py").write_text(SEARCH)
    folder = tmp_path / "search"
    command = [sys.executable, tmp_path / "searching.py", *topical, folder]
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        assert process.stdout is not None
        n_reported = next(n for n in map(int, process.stdout) if n >= 6)
        process.send_signal(signal.SIGKILL)
    # All reported evaluations are logged, except for genes that were requested twice.
    assert n_reported - 3 <= len(SearchFolder(folder).logged()) <= 16
    assert len(read_rank_file(folder / RESULT_FILE).history) in (1, 2, 3)
    resume_search(folder, workers=1)
    assert_same(folder, unbroken)


def test_the_result_is_written_after_each_generation(topical, tmp_path):
    best: dict[int, float] = {}

    def look(status: EvolutionStatus) -> None:
        file = tmp_path / "search" / RESULT_FILE
        if status.n_requested == 0:
            written = read_rank_file(file)
            best[status.summary.generation] = written.training["best_fitness"]
            assert len(written.history) == status.summary.generation + 1

    done = small_search(*topical, tmp_path / "search", watch=look)
    assert list(best) == [0, 1, 2, 3]
    assert list(best.values()) == sorted(best.values())
    assert best[3] == done.best.fitness


def test_reported_evaluations_are_on_disk(topical, tmp_path):
    def look(status: EvolutionStatus) -> None:
        if status.summary.n_evaluated == 0:
            log = tmp_path / "search" / LOG_FILE
            assert (log.read_bytes().count(b"\n") if log.exists() else 0) == status.n_done

    small_search(*topical, tmp_path / "search", watch=look)


def test_the_reported_share_never_decreases(topical, tmp_path):
    shares: list[float] = []
    small_search(*topical, tmp_path / "search", watch=lambda status: shares.append(status.share))
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert len(set(shares)) > 8


def test_a_second_process_is_rejected(topical, tmp_path):
    messages: list[str] = []

    def interfere(status: EvolutionStatus) -> None:
        if status.summary.generation == 1 and status.n_requested == 0:
            for attempt in (
                lambda: resume_search(tmp_path / "search"),
                lambda: small_search(*topical, tmp_path / "search", force=True),
            ):
                with pytest.raises(InvalidInput) as raised:
                    attempt()
                messages.append(str(raised.value))

    small_search(*topical, tmp_path / "search", watch=interfere)
    assert [str(tmp_path / "search") in each for each in messages] == [True, True]


def test_a_search_folder_is_replaced_only_with_force(topical, search):
    with pytest.raises(InvalidInput, match=r"--resume .*--force"):
        small_search(*topical, search)
    small_search(*topical, search, seed=4, force=True)
    assert json.loads((search / ABOUT_FILE).read_text())["settings"]["seed"] == 4


def test_other_folders_are_never_replaced(topical, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="mine"):
        small_search(*topical, tmp_path / "mine", force=True)
    with pytest.raises(InvalidInput, match=r"mine .*`scenthound evolve`"):
        resume_search(tmp_path / "mine")


def test_a_search_on_another_web_is_rejected(search, tmp_path):
    other = record_ring(tmp_path)
    with pytest.raises(InvalidInput, match=rf"{search} .*{other}: .*--web\b"):
        resume_search(search, web=other, workers=1)


def test_a_search_finds_its_web_when_both_were_moved(topical, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    shutil.copytree(topical[0], there / "web")
    small_search(there / "web", topical[1], there / "search")
    there.rename(here)
    assert resume_search(here / "search", workers=1).n_visits_now == 0
    (here / "web").rename(here / "elsewhere")
    with pytest.raises(InvalidInput, match="with --web"):
        resume_search(here / "search", workers=1)
    assert resume_search(here / "search", web=here / "elsewhere", workers=1).n_visits_now == 0


def test_a_search_with_changed_settings_is_rejected(search):
    about = json.loads((search / ABOUT_FILE).read_text())
    about["settings"]["seed"] = 5
    (search / ABOUT_FILE).write_text(json.dumps(about))
    with pytest.raises(InvalidInput, match=rf"{LOG_FILE}, line 1: (?!corrupt)"):
        resume_search(search, workers=1)


@pytest.mark.parametrize(("off", "continues"), [(1e-9, True), (1e-4, False)])
def test_a_search_continues_if_only_the_last_digits_of_genes_differ(topical, tmp_path, off, continues):
    done = small_search(*topical, tmp_path / "search", search="cma:population=4,generations=2")
    log = tmp_path / "search" / LOG_FILE
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lines[-1]["genes"][0] += off
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if continues:
        assert resume_search(tmp_path / "search", workers=1).best == done.best
    else:
        with pytest.raises(InvalidInput, match=rf"{LOG_FILE}, line {len(lines)}: (?!corrupt)"):
            resume_search(tmp_path / "search", workers=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "99"),
        ({"format": "scenthound run"}, "`scenthound evolve`"),
        ({"web_fingerprint": None}, "--web"),
        ({"settings": None}, "corrupt"),
        ({"settings": {"crawls_of": {"web": "."}}}, "('topics')"),
    ],
)
def test_an_unreadable_folder_is_rejected_in_one_line(search, topical, change, message):
    about = json.loads((search / ABOUT_FILE).read_text())
    (search / ABOUT_FILE).write_text(json.dumps(about | change))
    with pytest.raises(InvalidInput) as raised:
        resume_search(search, web=topical[0], workers=1)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_deeply_nested_settings_are_rejected(search):
    (search / ABOUT_FILE).write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="JSON"):
        resume_search(search, workers=1)


def test_changed_training_pages_are_detected(topical, tmp_path):
    for kind, word in (("positive", "balloon"), ("negative", "train")):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        for i in range(3):
            (tmp_path / "pages" / kind / f"{i}.txt").write_text(f"{word} and {word} number {i}")
    settings = {"relevance": "svm", "train_from": tmp_path / "pages", "search": "chc:population=2,generations=1"}
    small_search(*topical, tmp_path / "search", **settings)
    assert resume_search(tmp_path / "search", workers=1).n_visits_now == 0
    (tmp_path / "pages" / "positive" / "0.txt").write_text("garden")
    with pytest.raises(InvalidInput, match=f"{tmp_path / 'pages'} "):
        resume_search(tmp_path / "search", workers=1)


def test_killed_workers_do_not_change_the_result(topical, unbroken, tmp_path):
    """Killed workers are replaced."""
    import multiprocessing

    deaths = []

    def kill_a_worker(status: EvolutionStatus) -> None:
        workers = multiprocessing.active_children()
        if len(deaths) < 3 and workers and status.n_done == 2:
            deaths.append(workers[0].pid)
            workers[0].kill()
            time.sleep(0.05)

    small_search(*topical, tmp_path / "search", workers=2, watch=kill_a_worker)
    assert len(deaths) > 0
    assert_same(tmp_path / "search", unbroken)


# The log

#: Two topics: the means of their crawls are 0.25 and 0.5, and of those 0.375.
GOOD: dict[str, Any] = {
    "round": 0,
    "place": 0,
    "genes": [1, 127],
    "fitness": 0.375,
    "crawls": [[0.25, 0.25], [0.75, 0.25]],
    "visits": 160,
}


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / LOG_FILE).read_text().splitlines()]


def write_lines(folder: Path, lines: list[dict[str, Any]]) -> None:
    (folder / LOG_FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))


def rejection(folder: Path) -> str:
    """The message of a search that cannot be resumed; its result is not changed."""
    before = (folder / RESULT_FILE).read_bytes()
    with pytest.raises(InvalidInput) as raised:
        resume_search(folder, workers=1)
    assert (folder / RESULT_FILE).read_bytes() == before
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(f"{folder / LOG_FILE}, line ")
    return message


def test_a_logged_evaluation_is_read_as_it_was_written(tmp_path):
    written = Logged(2, 1, (3, 127), Evaluation.of(((0.1, 0.2, 0.4), (0.3, 0.3, 0.7)), 60))
    folder = SearchFolder(tmp_path)
    folder.append(written)
    folder.append(written)
    assert folder.logged() == [written, written]


def test_a_valid_line_is_read():
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
def test_an_invalid_line_is_rejected_with_its_number(tmp_path, line):
    log = tmp_path / LOG_FILE
    log.write_bytes(json.dumps(GOOD).encode() + b"\n" + line + b"\n")
    with pytest.raises(InvalidInput) as raised:
        SearchFolder(tmp_path).logged()
    assert str(raised.value).startswith(f"{log}, line 2: corrupt, ")
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < len(str(log)) + 200


@pytest.mark.parametrize("fitness", [0.4, 0.0, 1e308])
def test_a_fitness_that_is_not_the_mean_of_its_crawls_is_rejected(search, fitness):
    lines = lines_of(search)
    lines[4]["fitness"] = fitness
    write_lines(search, lines)
    assert f"{LOG_FILE}, line 5: corrupt, fitness {fitness:g} " in rejection(search)


@pytest.mark.parametrize("where", ["round", "place"])
def test_an_evaluation_at_another_position_than_requested_is_rejected(search, where):
    lines = lines_of(search)
    lines[3][where] += 1
    write_lines(search, lines)
    assert re.search(rf"{LOG_FILE}, line 4: (?!corrupt)", rejection(search))


def test_another_number_of_crawls_is_rejected(search):
    lines = lines_of(search)
    lines[2] |= {"crawls": [[1.0, 1.0, 1.0]], "fitness": 1.0}
    write_lines(search, lines)
    assert re.search(rf"{LOG_FILE}, line 3: (?!corrupt)", rejection(search))


@pytest.mark.parametrize("missing", [0, 2, 5])
def test_a_missing_line_is_rejected_before_anything_is_evaluated(search, missing):
    lines = lines_of(search)
    del lines[missing]
    write_lines(search, lines)
    before = (search / LOG_FILE).read_bytes()
    assert re.search(rf"{LOG_FILE}, line {missing + 1}: (?!corrupt)", rejection(search))
    assert (search / LOG_FILE).read_bytes() == before


def test_lines_after_the_end_of_the_search_are_rejected(search):
    lines = lines_of(search)
    write_lines(search, [*lines, lines[-1] | {"round": 4}])
    assert re.search(rf"{LOG_FILE}, line {len(lines) + 1}: (?!corrupt)", rejection(search))


def test_a_rejected_search_continues_once_the_line_and_all_after_it_are_deleted(search, unbroken):
    lines = lines_of(search)
    lines[5]["fitness"] = 1.0
    write_lines(search, lines)
    assert "line 6:" in rejection(search)
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
