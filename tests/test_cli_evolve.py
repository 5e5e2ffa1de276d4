"""`scenthound evolve` at the command line."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evolution_web import record_topical, write_topical
from ring_web import record_ring
from scenthound.cli.evolve_progress import StatusWords, time_left
from scenthound.evolve.naming import METHODS
from scenthound.evolve.scored import Summary
from scenthound.lab.evolving.fitness import MEASURES
from scenthound.lab.evolving.run import EvolutionStatus
from scenthound.processes import Crew
from scenthound.strategies.rank_file import read_rank_file

SMALL = [
    *("--topic", "balloon", "--search", "johnson2003:population=4,generations=2,mutation=1.0", "--crawls", "2"),
    *("--pages", "40", "--start", "3", "--mode", "sequential", "--relevance", "cosine", "--workers", "1"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a web and its topics."""
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


@pytest.fixture
def evolving(scenthound, place, tmp_path):
    """Begin a small search, with further options."""

    def call(*more: object):
        web, topics = ("--web", place / "web"), ("--topics", place / "topics.jsonl")
        return scenthound("evolve", *web, *topics, "--out", tmp_path / "search", *SMALL, *more)

    return call


def test_a_search_shows_the_best_formula_beside_known_ones_and_how_to_use_it(evolving, scenthound, place, tmp_path):
    code, out, err = evolving()
    assert code == 0, err
    for told in ("evolved", "rank_function:preset=best_first", "rank_function:preset=johnson2003", "*COMM_OUT"):
        assert told in out
    assert "12 evaluations of" in out
    assert "visits/s" in out
    strategy = f"evolved:file={tmp_path / 'search' / 'evolved.toml'}"
    assert f"--strategy {strategy} --mode sequential" in out
    assert "generation 2 of 2, best 0." in err
    options = ["--web", place / "web", "--topics", place / "topics.jsonl", "--topic", "balloon", "--start", 3]
    code, _, err = scenthound("simulate", *options, "--pages", 40, "--strategy", strategy, "--out", tmp_path / "run")
    assert code == 0, err


def test_the_result_can_be_had_as_json(evolving, tmp_path):
    code, out, _ = evolving("--json")
    told = json.loads(out)
    assert code == 0
    assert told["evaluations"] == 12
    assert told["visits"] == told["visits_of_this_run"] == 80 * told["distinct"]
    assert told["results"][0]["name"] == "evolved"
    written = read_rank_file(told["file"])
    assert told["results"][0]["rules"]["weights"] == [list(row) for row in written.rules.weights]
    assert told["results"][0]["fitness"] == written.training["best_fitness"]


def test_rules_that_are_split_are_shown_one_by_one(evolving):
    code, out, err = evolving("--split", "distance:1", "--scores", "comm_out,parent_1")
    assert code == 0, err
    assert "up to distance 1: " in out
    assert "beyond: " in out


def test_a_budget_beyond_the_web_is_noted(evolving):
    code, out, _ = evolving("--pages", 5000, "--search", "johnson2003:population=2,generations=1")
    assert code == 0
    assert "--pages 5,000: the web has 240, so no crawl can get more." in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--search", "johnson2003:population=1"), "population=1 is too small"),
        (("--topic", "baloon"), "Did you mean 'balloon'?"),
        (("--pages", "0"), "--pages"),
        (("--start", "500"), "start is 500, and the web has 240 pages"),
        (("--fitness", "harvist"), "Did you mean 'harvest'?"),
        (("--scores", "anchors"), "Did you mean 'anchor'?"),
        (("--split", "distance"), "distance:2,4"),
        (("--task", "example"), "Did you mean 'examples'?"),
        (("--threshold", "2"), "threshold is 2.0"),
        (("--web", "nowhere"), "There is no recorded web at nowhere"),
    ],
)
def test_wrong_use_is_answered_with_one_line_and_code_2(evolving, tmp_path, more, said):
    code, out, err = evolving(*more)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not out
    assert not (tmp_path / "search").exists()


def test_a_web_without_pages_of_the_topic_is_refused(evolving, tmp_path):
    code, _, err = evolving("--web", record_ring(tmp_path))
    assert code == 2
    assert "Topic 'balloon' has no example in the recorded web" in err


def test_a_search_needs_a_web_topics_and_a_folder(scenthound):
    code, _, err = scenthound("evolve", "--out", "search")
    assert code == 2
    assert "needs --web, --topics and --out" in err


def test_a_folder_that_exists_is_kept_unless_told_otherwise(evolving):
    assert evolving()[0] == 0
    code, _, err = evolving()
    assert (code, "exists already" in err) == (2, True)
    assert evolving("--force")[0] == 0


def test_a_search_is_resumed_by_its_folder_alone(evolving, scenthound, tmp_path):
    assert evolving()[0] == 0
    whole = (tmp_path / "search" / "evolved.toml").read_bytes()
    log = tmp_path / "search" / "evaluations.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:5]) + b'{"rou')
    (tmp_path / "search" / "evolved.toml").unlink()
    code, out, err = scenthound("evolve", "--resume", tmp_path / "search", "--workers", 1)
    assert code == 0, err
    assert "this run: " in out
    assert (tmp_path / "search" / "evolved.toml").read_bytes() == whole


def test_a_resumed_search_keeps_its_settings(scenthound, tmp_path):
    code, _, err = scenthound("evolve", "--resume", tmp_path, "--pages", 7)
    assert code == 2
    assert "--pages cannot be changed when a search is resumed" in err


def test_a_search_of_another_web_is_not_resumed(evolving, scenthound, tmp_path):
    assert evolving()[0] == 0
    code, _, err = scenthound("evolve", "--resume", tmp_path / "search", "--web", record_ring(tmp_path))
    assert code == 2
    assert "belongs to another web" in err


def test_ctrl_c_tells_how_to_go_on(place, tmp_path):
    out = tmp_path / "search"
    files = ["--web", place / "web", "--topics", place / "topics.jsonl", "--out", out]
    more = ["--search", "johnson2003:population=50", "--pages", "240"]
    command = [sys.executable, "-m", "scenthound.cli", "evolve", *files, *SMALL, *more]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while not (out / "evaluations.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        err = process.stderr.read()
    assert process.returncode == 130
    assert f"Go on with: scenthound evolve --resume {out}" in err
    assert "Traceback" not in err


class Dies:
    def __call__(self, _piece: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_die_again_and_again_end_the_search_with_one_line(evolving, tmp_path, monkeypatch):
    monkeypatch.setattr("scenthound.lab.evolving.evolution.Crew", lambda _make, n_workers: Crew(Dies, n_workers))
    code, _, err = evolving("--workers", 2)
    assert code == 1
    assert "A worker process died, and so did 3 more" in err
    assert f"go on with `scenthound evolve --resume {tmp_path / 'search'}`" in err
    assert "Traceback" not in err


def status(n_evaluated: int, n_done: int, n_visits: int, best: float = 0.5) -> EvolutionStatus:
    return EvolutionStatus(Summary(n_evaluated // 10, 9, n_evaluated, 100, best, 0.25, 0.1), n_done, 10, n_visits)


def test_progress_tells_speed_and_time_left():
    clock = iter([100.0, 100.0, 104.0])
    words = StatusWords(lambda: next(clock), with_time=True)
    assert words.of(status(0, 0, 0, float("nan"))) == "generation 0 of 9"
    # A fifth of the search took 4 seconds for 8,000 visits, so that 16 seconds are left.
    assert words.of(status(10, 10, 8000)) == ("generation 1 of 9, best 0.5000, mean 0.2500, 2,000 visits/s, 16 s left")


def test_speed_and_time_left_do_not_count_what_an_earlier_run_did():
    clock = iter([0.0, 0.0, 10.0])
    words = StatusWords(lambda: next(clock), with_time=True)
    words.of(status(60, 0, 0))
    # A fifth in 10 seconds; another fifth is left.
    assert words.of(status(80, 0, 50)).endswith("5 visits/s, 10 s left")


def test_the_bar_tells_the_time_that_is_left_itself():
    clock = iter([0.0, 0.0, 10.0])
    words = StatusWords(lambda: next(clock), with_time=False)
    words.of(status(0, 0, 0))
    assert "left" not in words.of(status(50, 0, 10))


@pytest.mark.parametrize(("seconds", "told"), [(5, "5 s"), (89, "89 s"), (600, "10 min"), (7200, "2.0 h")])
def test_time_is_told_in_the_unit_that_a_person_would_choose(seconds, told):
    assert time_left(seconds) == told


DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "evolving.md"


def test_the_guide_names_options_searches_measures_and_files_that_exist(scenthound, evolving, tmp_path):
    text = DOCUMENT.read_text(encoding="utf-8")
    helps = "".join(scenthound(command, "--help")[1] for command in ("evolve", "simulate", "crawl"))
    for option in set(re.findall(r"--[a-z][a-z-]+", text)):
        assert re.search(rf"{option}\b", helps), option
    rows = re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE)
    evolving()
    assert sorted(rows) == sorted(
        [*METHODS.names(), *MEASURES, *(file.name for file in (tmp_path / "search").iterdir())]
    )
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCUMENT.parent / target).exists(), target


def test_the_example_of_the_guide_runs(place, tmp_path, monkeypatch, capsys):
    (script,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    small = script.replace("population=10,generations=5", "population=2,generations=1").replace("=200,", "=20,")
    (tmp_path / "example.py").write_text(small.replace("page_budget", "relevance='cosine', workers=1, page_budget"))
    for name in ("web", "topics.jsonl"):
        (tmp_path / name).symlink_to(place / name)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert "search/evolved.toml" in capsys.readouterr().out
