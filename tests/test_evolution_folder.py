"""The folder of a search: it outlives kills, is one process's at a time, and goes on only where it belongs."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evolution_web import record_topical, small_search, write_topical
from ring_web import record_ring
from scenthound.errors import InvalidInput
from scenthound.experiments.evolve.evolution import resume_search
from scenthound.experiments.evolve.folder import ABOUT_FILE, COMPARED_FILE, LOG_FILE, RESULT_FILE, SearchFolder
from scenthound.experiments.evolve.run import EvolutionStatus
from scenthound.strategies.rank_file import read_rank_file


@pytest.fixture(scope="module")
def topical(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("topical")
    return record_topical(folder), write_topical(folder)


@pytest.fixture(scope="module")
def unbroken(topical, tmp_path_factory) -> Path:
    """A search that nobody disturbed."""
    return small_search(*topical, tmp_path_factory.mktemp("unbroken") / "search").folder


@pytest.fixture
def search(unbroken, tmp_path) -> Path:
    """A copy of it, to be broken."""
    return shutil.copytree(unbroken, tmp_path / "search")


def cut_log(folder: Path, n_lines: int, torn: bytes = b"") -> None:
    lines = (folder / LOG_FILE).read_bytes().splitlines(keepends=True)
    (folder / LOG_FILE).write_bytes(b"".join(lines[:n_lines]) + torn)


def assert_same(folder: Path, other: Path) -> None:
    for file in (RESULT_FILE, LOG_FILE):
        assert (folder / file).read_bytes() == (other / file).read_bytes()


@pytest.mark.parametrize("torn", [b"", b'{"round": 1, "pla'])
@pytest.mark.parametrize("n_lines", [0, 1, 4, 6, 10])
def test_a_broken_search_goes_on_to_the_same_end(search, unbroken, n_lines, torn):
    cut_log(search, n_lines, torn)
    (search / RESULT_FILE).unlink()
    done = resume_search(search, workers=1)
    assert_same(search, unbroken)
    assert done.n_visits == done.n_distinct * 80
    assert done.n_visits_now == (done.n_distinct - n_lines) * 80


def test_a_search_that_is_complete_tells_its_result_again(search, unbroken):
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
def test_a_search_that_was_killed_before_its_comparison_makes_it_up(search, unbroken, left):
    (search / COMPARED_FILE).unlink()
    if left is not None:
        (search / COMPARED_FILE).write_text(left)
    done = resume_search(search, workers=1)
    assert done.n_visits_now == 0
    assert (search / COMPARED_FILE).read_bytes() == (unbroken / COMPARED_FILE).read_bytes()


def test_a_search_that_evaluates_everybody_goes_on_where_it_was(topical, tmp_path):
    # One score of 7 bits and no mutation: the same genes come again.
    settings = {"scores": ("parent_1",), "search": "johnson2003:population=4,generations=4,mutation=0.0"}
    whole = small_search(*topical, tmp_path / "whole", **settings, reevaluate=True)
    lines = [(each.round, each.place) for each in SearchFolder(tmp_path / "whole").logged()]
    assert lines == [(round_, place) for round_ in range(5) for place in range(4)]
    assert whole.n_evaluated == 20 > whole.n_distinct
    assert whole.n_visits == whole.n_visits_now == 20 * 80
    shutil.copytree(tmp_path / "whole", tmp_path / "search")
    cut_log(tmp_path / "search", 11)
    done = resume_search(tmp_path / "search", workers=1)
    assert_same(tmp_path / "search", tmp_path / "whole")
    assert (done.n_visits, done.n_visits_now) == (20 * 80, 9 * 80)


SEARCH = """
import sys
from pathlib import Path
from evolution_web import small_search
from scenthound.experiments.evolve.run import EvolutionStatus

def say(status: EvolutionStatus) -> None:
    print(status.summary.n_evaluated + status.n_done, flush=True)

if __name__ == "__main__":
    small_search(*map(Path, sys.argv[1:4]), workers=2, watch=say)
"""


def test_a_search_killed_within_a_generation_goes_on_to_the_same_end(topical, unbroken, tmp_path):
    (tmp_path / "searching.py").write_text(SEARCH)
    folder = tmp_path / "search"
    command = [sys.executable, tmp_path / "searching.py", *topical, folder]
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        assert process.stdout is not None
        n_told = next(n for n in map(int, process.stdout) if n >= 6)
        process.send_signal(signal.SIGKILL)
    # As many are noted as were told of, but for those that the search asked for twice.
    assert n_told - 3 <= len(SearchFolder(folder).logged()) <= 16
    assert len(read_rank_file(folder / RESULT_FILE).history) in (1, 2, 3)
    resume_search(folder, workers=1)
    assert_same(folder, unbroken)


def test_after_each_generation_there_is_a_result_to_use(topical, tmp_path):
    best: dict[int, float] = {}

    def look(status: EvolutionStatus) -> None:
        file = tmp_path / "search" / RESULT_FILE
        if status.n_asked == 0:
            written = read_rank_file(file)
            best[status.summary.generation] = written.training["best_fitness"]
            assert len(written.history) == status.summary.generation + 1

    done = small_search(*topical, tmp_path / "search", watch=look)
    assert list(best) == [0, 1, 2, 3]
    assert list(best.values()) == sorted(best.values())
    assert best[3] == done.best.fitness


def test_what_is_told_of_is_on_the_disk(topical, tmp_path):
    def look(status: EvolutionStatus) -> None:
        if status.summary.n_evaluated == 0:
            log = tmp_path / "search" / LOG_FILE
            assert (log.read_bytes().count(b"\n") if log.exists() else 0) == status.n_done

    small_search(*topical, tmp_path / "search", watch=look)


def test_the_share_done_rises_to_the_end(topical, tmp_path):
    shares: list[float] = []
    small_search(*topical, tmp_path / "search", watch=lambda status: shares.append(status.share))
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert len(set(shares)) > 8


def test_a_second_process_is_refused(topical, tmp_path):
    said: list[str] = []

    def interfere(status: EvolutionStatus) -> None:
        if status.summary.generation == 1 and status.n_asked == 0:
            for attempt in (
                lambda: resume_search(tmp_path / "search"),
                lambda: small_search(*topical, tmp_path / "search", force=True),
            ):
                with pytest.raises(InvalidInput) as refused:
                    attempt()
                said.append(str(refused.value))

    small_search(*topical, tmp_path / "search", watch=interfere)
    assert ["Another process is writing" in each for each in said] == [True, True]


def test_a_folder_is_replaced_only_when_told_to(topical, search):
    with pytest.raises(InvalidInput, match=r"has a search already: continue it with --resume .*, or .*--force"):
        small_search(*topical, search)
    small_search(*topical, search, seed=4, force=True)
    assert json.loads((search / ABOUT_FILE).read_text())["settings"]["seed"] == 4


def test_what_is_no_search_is_never_replaced(topical, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="is not replaced"):
        small_search(*topical, tmp_path / "mine", force=True)
    with pytest.raises(InvalidInput, match="is not a search"):
        resume_search(tmp_path / "mine")


def test_a_search_of_another_web_is_refused(search, tmp_path):
    with pytest.raises(InvalidInput, match="started on another web"):
        resume_search(search, web=record_ring(tmp_path), workers=1)


def test_a_search_finds_its_web_when_both_are_moved(topical, tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    shutil.copytree(topical[0], there / "web")
    small_search(there / "web", topical[1], there / "search")
    there.rename(here)
    assert resume_search(here / "search", workers=1).n_visits_now == 0
    (here / "web").rename(here / "elsewhere")
    with pytest.raises(InvalidInput, match="with --web"):
        resume_search(here / "search", workers=1)
    assert resume_search(here / "search", web=here / "elsewhere", workers=1).n_visits_now == 0


def test_a_search_whose_settings_were_changed_is_refused(search):
    about = json.loads((search / ABOUT_FILE).read_text())
    about["settings"]["seed"] = 5
    (search / ABOUT_FILE).write_text(json.dumps(about))
    with pytest.raises(InvalidInput, match="took another course"):
        resume_search(search, workers=1)


@pytest.mark.parametrize(("off", "goes_on"), [(1e-9, True), (1e-4, False)])
def test_a_search_goes_on_though_another_machine_drew_its_last_digits_otherwise(topical, tmp_path, off, goes_on):
    done = small_search(*topical, tmp_path / "search", search="cma:population=4,generations=2")
    log = tmp_path / "search" / LOG_FILE
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    lines[-1]["genes"][0] += off
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if goes_on:
        assert resume_search(tmp_path / "search", workers=1).best == done.best
    else:
        with pytest.raises(InvalidInput, match="took another course"):
            resume_search(tmp_path / "search", workers=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 99}, "format version 99"),
        ({"format": "scenthound run"}, "is not a search"),
        ({"web_fingerprint": None}, "started on another web"),
        ({"settings": None}, "cannot be read"),
        ({"settings": {"crawls_of": {"web": "."}}}, "cannot be read"),
    ],
)
def test_a_folder_that_cannot_be_read_is_refused_in_one_line(search, topical, change, said):
    about = json.loads((search / ABOUT_FILE).read_text())
    (search / ABOUT_FILE).write_text(json.dumps(about | change))
    with pytest.raises(InvalidInput) as refused:
        resume_search(search, web=topical[0], workers=1)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_that_are_nested_without_end_are_refused(search):
    (search / ABOUT_FILE).write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="not valid JSON"):
        resume_search(search, workers=1)


def test_training_pages_that_were_changed_are_noticed(topical, tmp_path):
    for kind, word in (("positive", "balloon"), ("negative", "train")):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        for i in range(3):
            (tmp_path / "pages" / kind / f"{i}.txt").write_text(f"{word} and {word} number {i}")
    settings = {"relevance": "svm", "train_from": tmp_path / "pages", "search": "chc:population=2,generations=1"}
    small_search(*topical, tmp_path / "search", **settings)
    assert resume_search(tmp_path / "search", workers=1).n_visits_now == 0
    (tmp_path / "pages" / "positive" / "0.txt").write_text("garden")
    with pytest.raises(InvalidInput, match="have changed since the search was started"):
        resume_search(tmp_path / "search", workers=1)


def test_a_worker_that_dies_does_not_change_the_result(topical, unbroken, tmp_path):
    """Workers are killed while they work; others take their place."""
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
