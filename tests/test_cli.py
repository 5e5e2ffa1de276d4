"""The command line as a person uses it: what it prints, its exit codes, and one clear line when something is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib import metadata

import pytest

from scenthound.cli import main
from scenthound.cli.app import COMMANDS, LISTS, MODULE_OF, load
from scenthound.registry import Bounds
from timing import WAIT_S, cpu_cost_s, cpu_s_of_children, wait_until

PAGES = [
    {"url": f"http://w.test/{i}", "html": f"<title>balloon</title><a href={i + 1}>next</a> balloon", "topics": ["b"]}
    for i in range(8)
]
TOPIC = {"id": "b", "keywords": ["balloon"], "description": "A balloon.", "examples": [p["url"] for p in PAGES]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    (tmp_path / "topics.jsonl").write_text(json.dumps(TOPIC) + "\n")
    return tmp_path


@pytest.fixture
def web(folder, scenthound):
    code, _, _ = scenthound("record", "--from", folder / "pages.jsonl", "--out", folder / "web", "--workers", 1)
    assert code == 0
    return folder / "web"


def simulate(scenthound, folder, *more, topics="topics.jsonl", strategy="best_first", out="run"):
    return scenthound(
        *("simulate", "--web", folder / "web", "--topics", folder / topics, "--strategy", strategy),
        *("--pages", 5, "--workers", 1, "--out", folder / out, *more),
    )


def test_from_files_to_an_evaluated_crawl(folder, web, scenthound):
    code, out, _ = simulate(scenthound, folder, "--strategy", "breadth_first", "--repeats", 2)
    assert code == 0
    assert "4 crawls (1 topic x 2 strategies x 2 starts)" in out
    code, out, _ = scenthound("evaluate", folder / "run", "--at", 2)
    assert code == 0
    assert "after 2 pages" in out
    assert (folder / "run" / "evaluation.csv").exists()
    code, out, _ = scenthound("evaluate", folder / "run")
    assert (code, out.count("┏")) == (0, 1)
    code, out, _ = scenthound("evaluate", folder / "run", "--all")
    assert code == 0
    assert out.count("┏") > 5
    code, out, _ = scenthound("evaluate", folder / "run", "--json", "--metric", "precision")
    assert json.loads(out)["strategies"]["best_first"]["curves"]["precision"]["mean"][-1] == 1.0


def test_the_mode_is_printed_by_simulate_and_evaluate(folder, web, scenthound):
    code, out, _ = simulate(scenthound, folder, "--mode", "polite:workers=3,delay_s=11.5", "--plain", "--closed-world")
    assert code == 0
    assert re.search(r"polite:workers=3,delay_s=11\.5\.", out)
    code, out, _ = scenthound("evaluate", folder / "run")
    # Five pages of one host: 4 times 12 seconds, and half a second.
    assert "polite:workers=3,delay_s=11.5" in out
    assert "simulated minutes" in out
    assert "0.81" in out


def test_several_files_may_follow_from(folder, scenthound):
    (folder / "more.jsonl").write_text(json.dumps({"url": "http://more.test/", "html": "<p>more"}) + "\n")
    code, out, _ = scenthound(
        "record", "--from", folder / "pages.jsonl", folder / "more.jsonl", "--out", folder / "both", "--workers", 1
    )
    assert code == 0
    assert re.search(r"\b9 pages .*\b2 hosts\b", out)


def test_record_names_what_it_left_out(folder, scenthound):
    with (folder / "pages.jsonl").open("a") as file:
        file.write("this is not JSON\n")
    code, out, _ = scenthound("record", "--from", folder / "pages.jsonl", "--out", folder / "web", "--workers", 1)
    assert code == 0
    assert "Left out 1" in out
    assert "pages.jsonl, line 9" in out


def test_record_prints_json_for_programs(folder, scenthound):
    code, out, _ = scenthound(
        "record", "--from", folder / "pages.jsonl", "--out", folder / "web", "--workers", 1, "--json"
    )
    assert code == 0
    assert json.loads(out)["pages"] == 8


@pytest.mark.parametrize("command", ["strategies", "metrics"])
def test_plug_ins_are_listed_with_their_parameters(command, scenthound):
    code, out, _ = scenthound(command)
    assert code == 0
    assert ("best_n_first" if command == "strategies" else "target_recall") in out
    code, out, _ = scenthound(command, "--json")
    names = {entry["name"]: entry for entry in json.loads(out)}
    if command == "strategies":
        buffer = {parameter["name"]: parameter for parameter in names["best_n_first"]["parameters"]}["buffer"]
        assert buffer == {
            "name": "buffer",
            "type": "int",
            "may_be_none": True,
            "default": None,
            "minimum": 1,
            "maximum": None,
            "minimum_excluded": False,
            "maximum_excluded": False,
            "choices": [],
        }
        assert names["rank_function"]["presets"]["best_first"]["parent_1"] == 1
        assert (names["otie"]["relevance_model"], names["otie"]["bytes_per_link_seen"]) == ("rocchio", 0)


def test_one_strategy_is_described_with_ranges_and_presets(scenthound):
    code, out, _ = scenthound("strategies", "otie", "pagerank")
    assert code == 0
    assert re.search(rf"\bd\b.*\b3\.0\b.*{Bounds(0, above=True)} ", out)
    assert re.search(r"otie:preset=wang2009 .*\bn=50\b", out)
    assert re.search(r"\bnorm\b.*\bmax\b.*\bmax\b.*\bsum\b", out)
    code, _, err = scenthound("strategies", "otei")
    assert code == 2
    assert "'otie'" in err


def test_topics_are_listed_and_selected(folder, scenthound):
    code, out, _ = scenthound("topics", "list", folder / "topics.jsonl")
    assert code == 0
    assert "balloon" in out
    filed = [{**TOPIC, "id": f"t{i}", "path": f"Top/Sports/Air/T{i}"} for i in range(3)]
    (folder / "filed.jsonl").write_text("".join(json.dumps(topic) + "\n" for topic in filed))
    code, out, err = scenthound(
        "topics", "select", folder / "filed.jsonl", "--rule", "leaves", "--count", 2, "--out", folder / "two.jsonl"
    )
    assert code == 0, err
    assert "Wrote 2 topics" in out


def test_topics_are_imported_from_the_open_directory(shared, tmp_path, scenthound):
    odp = shared / "data" / "odp"
    code, out, err = scenthound(
        *(
            "topics",
            "import",
            "--structure",
            odp / "structure_sample.rdf.u8",
            "--content",
            odp / "content_sample.rdf.u8",
        ),
        *("--count", 2, "--min-links", 4, "--out", tmp_path / "odp.toml"),
    )
    assert code == 0, err
    code, out, _ = scenthound("topics", "list", tmp_path / "odp.toml", "--json")
    assert all(topic["examples"] and topic["keywords"] for topic in json.loads(out))


WRONG_USE = {
    "a web that is not there": (("--web", "nowhere"), "There is no folder"),
    "a strategy nobody knows": (("--strategy", "best_frist"), "Did you mean 'best_first'"),
    "a parameter nobody knows": (("--strategy", "best_n_first:m=3"), "best_n_first has no parameter 'm'"),
    "a parameter out of range": (("--strategy", "best_n_first:n=0"), "must be at least 1"),
    "a task nobody knows": (("--task", "exmples"), "Did you mean 'examples'"),
    "a topic nobody knows": (("--topic", "a"), "No topic 'a' in "),
    "a mode nobody knows": (("--mode", "polit"), "No mode 'polit'. Did you mean 'polite'"),
    "a mode that cannot be": (("--mode", "roulette:size=9"), "must be smaller than size"),
    "a page budget of nothing": (("--pages", "0"), "--pages"),
}


@pytest.mark.parametrize("case", WRONG_USE)
def test_wrong_use_is_one_clear_line_and_exit_code_2(case, folder, web, scenthound):
    more, says = WRONG_USE[case]
    before = sorted(folder.iterdir())
    code, _, err = simulate(scenthound, folder, *more)
    assert code == 2
    assert says in err
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


TOPIC_FILES = {
    "no keywords": ({"id": "b"}, "keywords"),
    "keywords without a word": ({**TOPIC, "keywords": ["the", "of"], "description": ""}, "stop words"),
    "a seed that is not in the web": ({**TOPIC, "seeds": ["http://w.test/none"]}, "http://w.test/none"),
    "no example in the web": ({**TOPIC, "examples": ["http://gone.test/"]}, "--seed"),
}


@pytest.mark.parametrize("case", TOPIC_FILES)
def test_a_topic_that_cannot_be_used_is_named(case, folder, web, scenthound):
    topic, says = TOPIC_FILES[case]
    (folder / "bad.jsonl").write_text(json.dumps(topic) + "\n")
    before = sorted(folder.iterdir())
    code, _, err = simulate(scenthound, folder, topics="bad.jsonl")
    assert code == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("content", [None, b"", b"\x00\xff not pages"])
def test_a_file_without_pages_is_named_and_nothing_is_written(folder, scenthound, content):
    if content is not None:
        (folder / "nothing.jsonl").write_bytes(content)
    before = sorted(folder.iterdir())
    code, _, err = scenthound("record", "--from", folder / "nothing.jsonl", "--out", folder / "web", "--workers", 1)
    assert code == 2
    assert err.splitlines()[-1].startswith("scenthound: ")
    assert "nothing.jsonl" in err.splitlines()[-1]
    assert sorted(folder.iterdir()) == before


def test_a_where_without_a_value_is_rejected(folder, scenthound):
    code, _, err = scenthound(
        "record", "--from", folder / "pages.jsonl", "--out", folder / "web", "--where", "kind:article"
    )
    assert code == 2
    assert "FIELD=VALUE" in err


def test_evaluate_rejects_a_folder_that_is_no_run(folder, scenthound):
    code, _, err = scenthound("evaluate", folder)
    assert code == 2
    assert err.count("\n") == 1
    assert str(folder) in err
    assert "`scenthound simulate`" in err


def test_a_failure_of_the_machine_is_one_line_and_exit_code_1(folder, web, scenthound, monkeypatch):
    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device", "traces.parquet")

    monkeypatch.setattr("scenthound.experiments.runs.write_run", full)
    before = sorted(folder.iterdir())
    code, _, err = simulate(scenthound, folder)
    assert code == 1
    assert err.count("\n") == 1
    assert "traces.parquet" in err
    assert sorted(folder.iterdir()) == before


def test_help_is_fast():
    """Below 0.3 s of CPU, because the machine may be busy; and without the heavy libraries."""

    def ask_for_help():
        command = [sys.executable, "-m", "scenthound", "--help"]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        assert "simulate" in done.stdout

    assert cpu_cost_s(ask_for_help, 0.3, clock=cpu_s_of_children) < 0.3
    look = "import sys, scenthound.cli.app; print([m for m in ('numpy', 'pyarrow', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_program_prints_its_version(scenthound):
    code, out, _ = scenthound("--version")
    assert (code, out) == (0, f"scenthound {metadata.version('scenthound')}\n")


@pytest.mark.parametrize("arguments", [("recrod",), ("record",), ("simulate", "--pages", "many"), ("evaluate",)])
def test_a_mistyped_command_line_is_one_line_too(arguments, scenthound):
    code, _, err = scenthound(*arguments)
    assert code == 2
    assert err.startswith("scenthound: ")
    assert len(err.strip().splitlines()) == 1


def test_examples_that_are_not_in_the_web_are_reported(folder, web, scenthound):
    some = {**TOPIC, "examples": [*TOPIC["examples"], "http://gone.test/"]}
    (folder / "some.jsonl").write_text(json.dumps(some) + "\n")
    code, out, _ = simulate(scenthound, folder, topics="some.jsonl")
    assert code == 0
    assert re.search(r"\b1 page\b.* http://gone\.test/", " ".join(out.split()))


def test_a_topic_file_is_replaced_only_with_force(folder, scenthound):
    filed = {**TOPIC, "path": "Top/Sports/Air/Balloons"}
    (folder / "filed.jsonl").write_text(json.dumps(filed) + "\n")
    call = ("topics", "select", folder / "filed.jsonl", "--count", 1, "--out", folder / "one.jsonl")
    assert scenthound(*call)[0] == 0
    code, _, err = scenthound(*call)
    assert code == 2
    assert re.search(r"one\.jsonl.* --force", err)
    assert scenthound(*call, "--force")[0] == 0


def test_a_terminal_that_cannot_show_a_character_is_no_reason_to_fail(folder, web):
    run = [sys.executable, "-m", "scenthound", "strategies"]
    done = subprocess.run(run, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert b"best_first" in done.stdout


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("ending", "workers"), [(signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGHUP, 1)])
def test_a_simulation_that_is_stopped_leaves_nothing_behind_and_stops_soon(folder, web, ending, workers):
    before = sorted(folder.iterdir())
    many = {**TOPIC, "seeds": [PAGES[0]["url"]]}
    (folder / "many.jsonl").write_text("".join(json.dumps({**many, "id": f"t{i}"}) + "\n" for i in range(100)))
    command = [
        *(sys.executable, "-m", "scenthound", "simulate", "--web", folder / "web"),
        *("--topics", folder / "many.jsonl", "--strategy", "best_first", "--repeats", "60"),
        *("--workers", str(workers), "--out", folder / "run"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_until(lambda: list(folder.glob(".run*")), process=running)
        running.send_signal(ending)
        _, err = running.communicate(timeout=WAIT_S)
    assert running.returncode == 128 + ending
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == sorted([*before, folder / "many.jsonl"])


ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def own_handlers():
    """Signal handlers of the program that calls `main`."""
    handlers = {ending: lambda _number, _frame: None for ending in ENDINGS}
    before = {ending: signal.signal(ending, handler) for ending, handler in handlers.items()}
    yield handlers
    for ending, handler in before.items():
        signal.signal(ending, handler)


def current_handlers():
    return {ending: signal.getsignal(ending) for ending in ENDINGS}


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [(("--version",), 0), (("--help",), 0), ((), 2), (("recrod",), 2), (("evaluate", "nowhere"), 2)],
)
def test_signal_handlers_are_restored(arguments, exit_code, scenthound, own_handlers):
    assert scenthound(*arguments)[0] == exit_code
    assert current_handlers() == own_handlers


@pytest.mark.parametrize("error", [RuntimeError("a defect"), OSError(28, "No space left"), KeyboardInterrupt(), None])
def test_signal_handlers_are_restored_whatever_is_raised(error, own_handlers, monkeypatch):
    during = {}

    def run():
        during.update(current_handlers())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if error is None:
            signal.raise_signal(signal.SIGTERM)
        raise error

    monkeypatch.setattr("scenthound.cli._run", run)
    with pytest.raises(RuntimeError if isinstance(error, RuntimeError) else SystemExit):
        main()
    assert during[signal.SIGTERM] != own_handlers[signal.SIGTERM]
    assert current_handlers() == own_handlers


def test_a_live_crawl_restores_signal_handlers(folder, scenthound, own_handlers):
    crawl = ("crawl", "--keywords", "balloon", "--seed", "http://nowhere.test/", "--hosts", folder / "hosts")
    (folder / "hosts").write_text("127.61.9.9 nowhere.test\n")
    assert scenthound(*crawl, "--allow-private", "--pages", 1, "--time", 0.1, "--out", folder / "crawl")[0] == 1
    assert (folder / "crawl" / "crawl.sqlite").exists()
    assert current_handlers() == own_handlers


@pytest.mark.parametrize("group", [(), ("topics",)])
def test_without_a_command_there_is_the_help_and_nothing_else(group, scenthound):
    code, out, err = scenthound(*group)
    assert code == 2
    assert "Usage: scenthound" in out + err
    assert "COMMAND" in out + err
    assert "scenthound: " not in err


def test_every_command_helps(scenthound):
    commands = [
        "crawl",
        "explain",
        "export",
        "record",
        "simulate",
        "evaluate",
        "topics",
        "strategies",
        "metrics",
        "demo",
    ]
    for command in commands:
        code, out, _ = scenthound(command, "--help")
        assert code == 0
        assert "Usage: scenthound" in out


def test_the_extras_that_the_core_does_not_need_are_declared():
    assert {"lab", "cluster", "dashboard", "dev"} <= set(metadata.metadata("scenthound").get_all("Provides-Extra"))


def test_a_budget_larger_than_the_web_is_reduced_to_its_size(folder, web, scenthound):
    code, *_ = simulate(scenthound, folder, "--pages", 2_000_000_000)
    assert code == 0
    assert json.loads((folder / "run" / "run.json").read_text())["settings"]["page_budget"] == len(PAGES)
    assert scenthound("evaluate", folder / "run")[0] == 0


@pytest.mark.parametrize("name", list(MODULE_OF))
def test_help_lists_each_command_with_the_first_line_of_its_own_help(name):
    [summary] = [commands[name][1] for commands in COMMANDS.values() if name in commands]
    assert load(name).help.split("\n")[0] == summary


def test_help_imports_no_command(monkeypatch, scenthound):
    for module in set(MODULE_OF.values()):
        monkeypatch.delitem(sys.modules, f"scenthound.cli.{module}", raising=False)
    code, out, _ = scenthound("--help")
    assert code == 0
    assert LISTS in out
    assert not [module for module in MODULE_OF.values() if f"scenthound.cli.{module}" in sys.modules]


@pytest.mark.parametrize("command", list(MODULE_OF))
def test_help_shows_no_python_types(command, scenthound):
    code, out, _ = scenthound(command, "--help")
    assert code == 0
    assert not re.search(r"<(bool|int|float|str|path|list)", out)


def test_the_help_of_the_dashboard_describes_folders_and_port(scenthound):
    code, out, _ = scenthound("dashboard", "--help")
    assert code == 0
    printed = " ".join(out.replace("│", " ").split())
    assert "scenthound dashboard [OPTIONS] [DIR]..." in printed
    assert "[default: (.)]" in printed
    assert re.search(r"\[default: \(8787\b", printed)
