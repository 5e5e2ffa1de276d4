"""`scenthound compare` at the command line."""

import json
import re
import shlex
from pathlib import Path

import pytest

from evolution_web import record_topical, write_topical
from scenthound.strategies.base import STRATEGIES

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A folder with a web and its topics."""
    folder = tmp_path_factory.mktemp("topical")
    record_topical(folder)
    write_topical(folder)
    return folder


@pytest.fixture
def comparing(scenthound, data):
    """Compare two strategies in small crawls, with further options."""

    def call(*more: object, strategies=("best_first", "breadth_first")):
        named = [word for strategy in strategies for word in ("--strategy", strategy)]
        files = ("--web", data / "web", "--topics", data / "topics.jsonl")
        small = ("--pages", "40", "--start", "3", "--workers", "1")
        relevance_model = () if "--relevance" in more else ("--relevance", "cosine")
        return scenthound("compare", *files, *small, *relevance_model, *named, *more)

    return call


BALLOON = ("--topic", "balloon", "--repeats", "6")
#: Enough pages and starts to tell two strategies apart.
DECISIVE = ("--topic", "balloon", "--repeats", "10", "--pages", "100", "--mode", "sequential")


def test_the_ranking_is_printed_with_its_conditions_and_a_command_that_works(comparing, scenthound, data, tmp_path):
    code, out, err = comparing(*DECISIVE)
    assert code == 0, err
    assert re.search(r"\b10 .*'balloon'", out)
    best = re.search(r"Best: (\w+),.* target_recall@100 .*0\.\d{3};", out)
    command = out[out.index("  scenthound crawl") :].strip().splitlines()[0]
    wanted = f"--topic balloon --strategy {best[1]} --relevance cosine --pages 100"
    assert command == f"scenthound crawl --topics {data / 'topics.jsonl'} {wanted}"
    # The same words start a crawl, here of the recording.
    words = [*shlex.split(command)[1:], "--web", data / "web", "--offline", "--out", tmp_path / "crawl", "--json"]
    code, out, err = scenthound(*words)
    assert code == 0, err


def test_the_command_for_a_trained_winner_names_its_training_pages(comparing, scenthound, data, tmp_path):
    learning = (*DECISIVE, "--relevance", "svm", "--json")
    trained = ("otie", "breadth_first")
    code, out, err = comparing(*learning, "--out", tmp_path / "out", strategies=trained)
    assert code == 0, err
    words = shlex.split(json.loads(out)["command"])[1:]
    assert words[words.index("--train-from") + 1] == str(tmp_path / "out" / "training")
    code, out, err = scenthound(*words, "--web", data / "web", "--offline", "--out", tmp_path / "crawl", "--json")
    assert code == 0, err
    # Without a folder the command cannot work as it stands, and says what it needs.
    code, out, _ = comparing(*learning, strategies=trained)
    printed = json.loads(out)
    assert "--train-from DIR " in printed["command"]
    assert "--out" in printed["command_note"]


def test_json_output_has_nothing_but_the_result(comparing):
    code, out, _ = comparing(*BALLOON, "--by", "precision@20", "--json")
    printed = json.loads(out)
    assert code == 0
    assert printed["by"] == "precision@20"
    assert printed["pages"] == 40
    assert printed["winner"] == printed["verdict"]["best"]
    assert set(printed["verdict"]) == {"best", "candidates", "doubts", "because"}
    assert printed["observed"]["of"] == "starts"
    assert len(printed["observed"]["names"]) == 6


def test_what_decides_about_crawls_is_passed_on(comparing):
    code, out, err = comparing(*DECISIVE, "--repeats", "20", "--topic", "train", "--follow-nofollow", "--json")
    printed = json.loads(out)
    assert code == 0, err
    assert printed["topics"] == ["balloon", "train"]
    assert "--follow-nofollow" in printed["command"]
    code, out, _ = comparing(
        "--topics-max", "1", "--repeats", "1", "--task", "neighbours", "--mode", "polite", "--json"
    )
    printed = json.loads(out)
    assert (printed["topics"], printed["task"]) == (["balloon"], "neighbours")
    assert printed["mode"].startswith("polite")


def test_a_sweep_writes_figures_and_reuses_crawls(comparing, tmp_path):
    sweep = ("--sweep", "buffer=4,none", "--out", tmp_path / "out")
    code, out, err = comparing(*BALLOON, *sweep, strategies=["best_first"])
    assert code == 0, err
    assert f"Report: {tmp_path / 'out' / 'report.html'}; " in out
    assert re.search(r"\(18 .*new\)", out)
    assert {"curves.svg", "curves.png"} <= {entry.name for entry in (tmp_path / "out").iterdir()}
    first = (tmp_path / "out" / "comparison.json").read_text(), (tmp_path / "out" / "curves.svg").read_bytes()
    code, out, _ = comparing(*BALLOON, *sweep, strategies=["best_first"])
    assert re.search(r"\(0 .*new\)", out)
    again = (tmp_path / "out" / "comparison.json").read_text(), (tmp_path / "out" / "curves.svg").read_bytes()
    assert json.loads(again[0]) | {"crawls_made": 18} == json.loads(first[0])
    assert again[1] == first[1]


def test_a_single_start_has_no_tests_or_intervals(comparing):
    code, out, _ = comparing("--topic", "balloon", "--repeats", "1")
    assert code == 0
    assert "±" not in out
    code, out, _ = comparing("--topic", "balloon", "--repeats", "1", "--json")
    printed = json.loads(out)
    assert code == 0
    assert [row["p"] for row in printed["ranking"]] == [None, None]
    # All signs of 6 differences are equal by chance in 2 of 64 cases.
    assert re.search(r"\b6\b.*--repeats", printed["verdict"]["because"])


def test_usage_errors_are_one_line(comparing, scenthound, data):
    for options, printed in (
        ((), r"topics\.jsonl .*\b3 .*--topic\b"),
        (("--topic", "balloon", "--by", "presicion"), "'precision'"),
        (("--topic", "balloon", "--sweep", "depth=1"), "best_first .*'depth'"),
        (("--topic", "balloon", "--sweep", "depth"), "--sweep 'depth' .*parameter=value,value"),
        (("--topic", "balloon", "--by", "precision@90"), r"--by precision@90.*\b40\b"),
    ):
        code, out, err = comparing(*options)
        assert (code, out) == (2, "")
        assert re.search(printed, err)
        assert len(err.strip().splitlines()) == 1
    code, _, err = comparing("--topic", "balloon", "--sweep", "depth=1,2", strategies=())
    assert "fish_search, shark_search" in err


def test_a_comparison_that_cannot_tell_says_why_and_starts_nothing(comparing):
    code, out, _ = comparing("--topic", "balloon", "--repeats", "3")
    assert code == 0
    assert "3 distinct starts" in out
    assert "scenthound crawl" not in out
    code, out, _ = comparing("--topic", "balloon", "--repeats", "3", "--json")
    printed = json.loads(out)
    assert (printed["winner"], printed["command"], printed["command_note"]) == ("", "", "")
    assert printed["verdict"]["doubts"] == ["few observations"]


def test_crawls_are_polite_on_several_hosts_unless_a_mode_is_named(comparing):
    modes = {
        mode: json.loads(comparing("--topic", "balloon", "--repeats", "1", "--json", *mode)[1])["mode"]
        for mode in ((), ("--mode", "sequential"))
    }
    assert modes == {(): "polite:workers=16,patience=0.7", ("--mode", "sequential"): "sequential"}


def test_breadth_first_is_the_baseline_and_others_are_named_as_left_out(comparing):
    options = ("--topic", "balloon", "--repeats", "1", "--json")
    printed = json.loads(comparing(*options, strategies=["otie"])[1])
    assert sorted(row["strategy"] for row in printed["ranking"]) == ["breadth_first", "otie"]
    assert {"best_first", "opic", "shark_search"} <= set(printed["left_out"])
    assert not {"breadth_first", "otie"} & set(printed["left_out"])
    code, out, _ = comparing("--topic", "balloon", "--repeats", "1", strategies=["otie"])
    assert code == 0
    assert re.search(r"Left out: .*shark_search", " ".join(out.split()))
    everything = json.loads(comparing(*options, strategies=[])[1])
    assert everything["left_out"] == {}
    ranked = {name for row in everything["ranking"] for name in (row["strategy"], *row["also"])}
    assert {name.partition(":")[0] for name in ranked} == set(STRATEGIES.names())
