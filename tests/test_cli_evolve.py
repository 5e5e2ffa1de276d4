"""`scenthound evolve` at the command line."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from evolution_web import N, record_topical, write_topical
from ring_web import record_ring
from scenthound.api.searches import SearchProgress
from scenthound.experiments.evolve.evolution import EvolutionStatus
from scenthound.experiments.evolve.settings import MEASURES, RandomStreams
from scenthound.experiments.search.base import Summary
from scenthound.experiments.search.methods import METHODS
from scenthound.processes import MAX_REPEATS, WorkerPool
from scenthound.strategies.rank_file import read_rank_file
from timing import wait_until

pytestmark = pytest.mark.usefixtures("no_figures")

SMALL = [
    *("--topic", "balloon", "--search", "johnson2003:population=4,generations=2,mutation=1.0", "--crawls", "2"),
    *("--pages", "40", "--start", "3", "--mode", "sequential", "--relevance", "cosine", "--workers", "1"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with a web and its topics."""
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


@pytest.fixture
def evolving(scenthound, data, tmp_path):
    """Begin a small search, with further options."""

    def call(*more: object):
        web, topics = ("--web", data / "web"), ("--topics", data / "topics.jsonl")
        return scenthound("evolve", *web, *topics, "--out", tmp_path / "search", *SMALL, *more)

    return call


def test_a_search_prints_the_best_formula_with_known_ones_and_next_steps(evolving, scenthound, data, tmp_path):
    code, out, err = evolving()
    assert code == 0, err
    for printed in ("evolved", "rank_function:preset=best_first", "rank_function:preset=johnson2003", "*COMM_OUT"):
        assert printed in out
    assert re.search(r"\d visits/s\b", out)
    strategy = f"evolved:file={tmp_path / 'search' / 'evolved.toml'}"
    assert re.search(r"\b2 of 2, best 0\.", err)
    files = f"--web {data / 'web'} --topics {data / 'topics.jsonl'} --topic balloon"
    assert f"simulate {files} --strategy {strategy} --mode sequential --out {tmp_path / 'search-run'}\n" in out
    others = f"--web {data / 'web'} --topics {data / 'topics.jsonl'} --strategy {strategy} --unseen-max 4"
    out_too = tmp_path / "search-validation"
    assert f"scenthound validate {others} --relevance cosine --mode sequential --out {out_too}\n" in out
    # The cosine, the relevance model of this search, is not trained.
    assert f"crawl {data / 'topics.jsonl'} --topic balloon --strategy {strategy}\n" in out
    options = ["--web", data / "web", "--topics", data / "topics.jsonl", "--topic", "balloon", "--start", 3]
    code, _, err = scenthound("simulate", *options, "--pages", 40, "--strategy", strategy, "--out", tmp_path / "run")
    assert code == 0, err


def test_next_steps_name_the_training_pages_of_the_search(evolving):
    code, out, err = evolving("--training-pages", "johnson2003")
    assert code == 0, err
    assert out.count(" --training-pages johnson2003 ") == 2


def test_more_of_the_best_individuals_can_be_written_when_a_search_is_resumed(evolving, scenthound, tmp_path):
    assert evolving("--best", 2)[0] == 0
    assert read_rank_file(tmp_path / "search" / "evolved-2.toml").training["individual"] == 2
    code, _, err = scenthound("evolve", "--resume", tmp_path / "search", "--best", 3)
    assert code == 0, err
    assert (tmp_path / "search" / "evolved-3.toml").is_file()


@pytest.mark.parametrize("option", ["--random-streams", "--renew", "--training-pages"])
def test_unknown_choices_cost_one_line(evolving, option):
    code, _, err = evolving(option, "nonsense")
    assert code == 2
    assert err.count("nonsense") == 1


def test_the_result_can_be_printed_as_json(evolving, tmp_path):
    code, out, _ = evolving("--json")
    printed = json.loads(out)
    assert code == 0
    assert printed["evaluations"] == 12
    assert printed["visits"] == printed["visits_of_this_run"] == 80 * printed["distinct"]
    assert printed["crawled_for"] == printed["distinct"]
    assert printed["visits_per_s"] > 0
    assert printed["results"][0]["name"] == "evolved"
    written = read_rank_file(printed["file"])
    assert printed["results"][0]["rules"]["weights"] == [list(row) for row in written.rules.weights]
    assert printed["results"][0]["fitness"] == written.training["best_fitness"]


def test_split_rules_are_printed_one_by_one(evolving):
    code, out, err = evolving("--split", "distance:1", "--scores", "comm_out,parent_1")
    assert code == 0, err
    assert "distance 1: " in out
    assert "beyond: " in out


def test_a_budget_beyond_the_web_is_noted(evolving):
    code, out, _ = evolving("--pages", 5000, "--search", "johnson2003:population=2,generations=1")
    assert code == 0
    assert re.search(rf"--pages 5,000: .*\b{N}\b", out)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--search", "johnson2003:population=1"), "population=1 "),
        (("--topic", "baloon"), "'balloon'"),
        (("--pages", "0"), "--pages"),
        (("--start", "500"), rf"\b500\b.*\b{N}\b"),
        (("--pages", "5", "--start", "8"), "--start.*--pages"),
        (("--fitness", "harvist"), "'harvest'"),
        (("--scores", "anchors"), "'anchor'"),
        (("--split", "distance"), "distance:2,4"),
        (("--task", "example"), "'examples'"),
        (("--threshold", "2"), r"threshold\b.* 2\.0\b"),
        (("--web", "nowhere"), "nowhere"),
    ],
)
def test_usage_errors_are_one_line_and_exit_code_2(evolving, tmp_path, more, message):
    code, out, err = evolving(*more)
    assert code == 2
    assert re.search(message, err)
    assert err.count("\n") == 1
    assert not out
    assert not (tmp_path / "search").exists()


def test_a_web_without_pages_of_the_topic_is_rejected(evolving, tmp_path):
    code, _, err = evolving("--web", record_ring(tmp_path))
    assert code == 2
    assert "'balloon'" in err


def test_a_search_needs_a_web_topics_and_a_folder(scenthound):
    code, _, err = scenthound("evolve", "--out", "search")
    assert code == 2
    assert all(option in err for option in ("--web", "--topics", "--out"))


def test_an_existing_folder_is_replaced_only_with_force(evolving):
    assert evolving()[0] == 0
    code, _, err = evolving()
    assert code == 2
    assert 0 < err.index("--resume ") < err.index("--force")
    assert evolving("--force")[0] == 0


def test_a_search_is_resumed_by_its_folder_alone(evolving, scenthound, tmp_path):
    assert evolving()[0] == 0
    complete = (tmp_path / "search" / "evolved.toml").read_bytes()
    log = tmp_path / "search" / "evaluations.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:5]) + b'{"rou')
    (tmp_path / "search" / "evolved.toml").unlink()
    code, out, err = scenthound("evolve", "--resume", tmp_path / "search", "--workers", 1, "--json")
    assert code == 0, err
    assert json.loads(out)["visits_of_this_run"] > 0
    assert (tmp_path / "search" / "evolved.toml").read_bytes() == complete


def test_a_resumed_search_keeps_its_settings(scenthound, tmp_path):
    code, _, err = scenthound("evolve", "--resume", tmp_path, "--pages", 7)
    assert code == 2
    assert "--pages " in err


def test_a_search_of_another_web_is_not_resumed(evolving, scenthound, tmp_path):
    assert evolving()[0] == 0
    other_web = record_ring(tmp_path)
    code, _, err = scenthound("evolve", "--resume", tmp_path / "search", "--web", other_web)
    assert code == 2
    assert re.search(rf" {tmp_path / 'search'} .* {other_web}: ", err)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_prints_how_to_continue(data, tmp_path):
    out = tmp_path / "search"
    files = ["--web", data / "web", "--topics", data / "topics.jsonl", "--out", out]
    more = ["--search", "johnson2003:population=50", "--pages", "240"]
    command = [sys.executable, "-m", "scenthound", "evolve", *files, *SMALL, *more]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        wait_until((out / "evaluations.jsonl").exists, process=process)
        process.send_signal(signal.SIGINT)
        err = process.stderr.read()
    assert process.returncode == 130
    assert f"scenthound evolve --resume {out}" in err
    assert "Traceback" not in err


class Dies:
    def __call__(self, _piece: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_die_again_and_again_end_the_search_with_one_line(evolving, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "scenthound.experiments.evolve.evolution.open_pool", lambda _make, workers, **_: WorkerPool(Dies, workers)
    )
    code, _, err = evolving("--workers", 2)
    assert code == 1
    assert re.search(rf"\b{MAX_REPEATS}\b.* --workers 1\b", err)
    assert f"`scenthound evolve --resume {tmp_path / 'search'}`" in err
    assert "Traceback" not in err


def status(n_evaluated: int, n_done: int, n_visits: int, best: float = 0.5) -> EvolutionStatus:
    return EvolutionStatus(Summary(n_evaluated // 10, 9, n_evaluated, 100, best, 0.25, 0.1), n_done, 10, n_visits)


def search_progress(*clock: float) -> tuple[SearchProgress, list[str]]:
    """A watch whose clock is read at the start and once for each status with visits, and the texts it reports."""
    texts: list[str] = []
    ticks = iter((0.0, *clock))
    return SearchProgress(lambda _share, text: texts.append(text), lambda: next(ticks)), texts


def test_speed_is_measured_from_the_first_finished_evaluation_on():
    watch, texts = search_progress(160.0, 164.0)
    watch(status(0, 0, 0, float("nan")))
    assert watch.visits_per_s is None
    watch(status(0, 1, 400, float("nan")))
    watch(status(20, 1, 8400))
    # Training took most of 160 seconds, which do not count; then there were 8,000 visits in 4 seconds.
    assert [re.findall(r"\d[\d,.]*\b", text) for text in texts] == [
        ["0", "9"],
        ["0", "9"],
        ["2", "9", "0.5000", "0.2500", "2,000"],
    ]
    assert texts[0] != texts[1], "the first crawls have not begun, and then they have"
    assert watch.visits_per_s == 2000


def test_speed_does_not_count_visits_of_an_earlier_run():
    watch, texts = search_progress(0.0, 10.0)
    watch(status(60, 0, 0))
    watch(status(60, 1, 10))
    watch(status(80, 0, 48))
    assert texts[-1].endswith(", 4 visits/s")


def row_of(out: str, what: str) -> str:
    """The line of a table whose first cell this is."""
    (line,) = (line for line in out.splitlines() if re.match(rf"\W*{what}\W", line))
    return line


def test_requested_and_evaluated_individuals_are_counted(evolving, tmp_path):
    # Two weights of 7 bits and no mutation: the children soon are copies of their parents.
    few = ("--search", "johnson2003:population=4,generations=5,mutation=0.0", "--scores", "comm_out,parent_1")
    code, out, err = evolving(*few)
    assert code == 0, err
    log, result = tmp_path / "search" / "evaluations.jsonl", tmp_path / "search" / "evolved.toml"
    n_distinct = log.read_text().count("\n")
    assert n_distinct < 24
    for what, number in (
        ("evaluations requested", 24),
        ("distinct individuals", n_distinct),
        ("individuals evaluated", n_distinct),
        ("visits made", f"{80 * n_distinct:,}"),
    ):
        assert f" {number} " in row_of(out, what)
    before = result.read_bytes()
    code, out, err = evolving(*few, "--force", "--reevaluate")
    assert code == 0, err
    assert f" {n_distinct} " in row_of(out, "distinct individuals")
    assert " 24 " in row_of(out, "individuals evaluated")
    assert f" {80 * 24:,} " in row_of(out, "visits made")
    assert result.read_bytes() == before


def test_resuming_a_finished_search_prints_its_result(evolving, scenthound, tmp_path, monkeypatch):
    assert evolving()[0] == 0
    monkeypatch.setattr(
        "scenthound.experiments.evolve.evolution.open_pool", lambda *_, **__: pytest.fail("nothing is to be crawled")
    )
    monkeypatch.setattr(
        "scenthound.experiments.evolve.evolution.plan", lambda *_: pytest.fail("nothing is to be planned")
    )
    code, out, err = scenthound("evolve", "--resume", tmp_path / "search")
    assert (code, err) == (0, "")
    assert str(tmp_path / "search") in out.splitlines()[0]
    assert "rank_function:preset=johnson2003" in out
    assert f"--topics {tmp_path / 'search' / 'topics.jsonl'} --topic balloon" in out
    assert "visits/s" not in out
    _, out, _ = scenthound("evolve", "--resume", tmp_path / "search", "--json")
    assert json.loads(out)["visits_of_this_run"] == 0


@pytest.mark.parametrize("fitness", ["NaN", "-1.0"])
def test_a_corrupt_log_is_rejected_with_the_next_step(evolving, scenthound, tmp_path, fitness):
    assert evolving()[0] == 0
    log = tmp_path / "search" / "evaluations.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    lines[1] = re.sub(r'"fitness": [^,]+', f'"fitness": {fitness}', lines[1])
    log.write_text("".join(lines))
    code, out, err = scenthound("evolve", "--resume", tmp_path / "search")
    assert (code, out) == (2, "")
    assert re.search(rf"{log}, line 2: .*\bfitness\b", err)
    assert "--resume" not in err
    log.write_text(lines[0])
    assert scenthound("evolve", "--resume", tmp_path / "search", "--workers", 1)[0] == 0


def test_a_search_for_all_topics_says_how_many_and_how_to_choose_one(scenthound, data, tmp_path):
    files = ("--web", data / "web", "--topics", data / "topics.jsonl", "--out", tmp_path / "search")
    code, out, err = scenthound("evolve", *files, *SMALL[2:], "--search", "chc:population=2,generations=1")
    assert code == 0, err
    assert re.search(rf"\b3 topics of {data / 'topics.jsonl'} .* --topic balloon\b", err)
    assert "3 topics" in out
    assert f"--topics {data / 'topics.jsonl'} --strategy" in out
    assert "scenthound validate" in out
    assert "--unseen-max" not in out


def test_a_search_for_a_named_topic_has_nothing_to_note(evolving):
    assert "Note:" not in evolving()[2]


def test_the_proposed_live_crawl_has_training_pages_for_a_trained_model(evolving, tmp_path):
    for kind, word in (("positive", "balloon"), ("negative", "train")):
        (tmp_path / "pages" / kind).mkdir(parents=True)
        for i in range(3):
            (tmp_path / "pages" / kind / f"{i}.txt").write_text(f"{word} and {word} number {i}")
    small = ("--relevance", "svm", "--search", "chc:population=2,generations=1", "--force")
    code, out, err = evolving(*small)
    assert code == 0, err
    live = next(line for line in out.splitlines() if "scenthound crawl " in line)
    assert re.search(r" --train-from DIR +\(svm .*DIR/positive .*DIR/negative\)$", live)
    code, out, err = evolving(*small, "--train-from", tmp_path / "pages")
    assert code == 0, err
    live = next(line for line in out.splitlines() if "scenthound crawl " in line)
    assert live.endswith(f" --train-from {tmp_path / 'pages'}")


DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "evolving.md"


def test_the_documentation_names_options_searches_measures_and_files_that_exist(scenthound, evolving, tmp_path):
    text = DOCUMENT.read_text(encoding="utf-8")
    helps = "".join(scenthound(command, "--help")[1] for command in ("evolve", "simulate", "validate", "crawl"))
    for option in set(re.findall(r"--[a-z][a-z-]+", text)):
        assert re.search(rf"{option}\b", helps), option
    rows = re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE)
    evolving()
    assert sorted(rows) == sorted(
        [
            *METHODS.names(),
            *MEASURES,
            *get_args(RandomStreams),
            *(file.name for file in (tmp_path / "search").iterdir()),
        ]
    )
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCUMENT.parent / target).exists(), target
