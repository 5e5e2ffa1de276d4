"""trec_eval and ir_measures read an exported run, and agree with our metrics to eight digits."""

import json
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.trec_agreement import MEASURES, Values, ir_measures_values, our_values, trec_eval_values

import scenthound as sh
from environments import ANALYSIS, environment, missing, program_of_wheel
from scenthound.experiments.runs import RunFolder
from scenthound.model import Topic
from scenthound.store.record import record
from scenthound.web.urls import MAX_URL_BYTES

pytestmark = pytest.mark.slow

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "interoperability.md"
#: This package has the program, compiled for several systems.
TREC_EVAL_FROM = ("pyserini==0.25.0", "*-fatjar.jar", "trec_eval/trec_eval-linux-amd64")

STRATEGIES = ("best_first", "best_n_first:n=4")
RUNS = {f"{strategy}.run": strategy for strategy in STRATEGIES}
#: Before, at and after the end of crawls; the page budget is the last.
CUT_OFFS = (1, 5, 10, 17, 40)
TOLERANCE = 1e-8

Address = Callable[[int], str]


def plain(i: int) -> str:
    return f"http://balloons.test/{i}"


def odd(i: int) -> str:
    """URLs with characters that separate fields elsewhere, and of the greatest length."""
    names = ("a b", "tab\tx", "q?x=1&y=%25;|z", "ü/日本", "(1),'2'!", "#f", "%zz", "\u00a0", "\u3000x")
    address = f"http://bücher.test/{i}/{names[i % len(names)]}"
    return f"{address}{'x' * (MAX_URL_BYTES - 200)}" if i == 0 else address


def island(i: int) -> str:
    return f"http://island.test/{i}"


def pages() -> Iterator[dict[str, Any]]:
    """Two topics that link to each other, and an island of eight pages, where crawls end early."""
    for i in range(60):
        links = "".join(f'<a href="{plain(j)}">on</a><a href="{odd(j)}">on</a>' for j in ((i + 1) % 60, (7 * i) % 60))
        yield {"url": plain(i), "html": f"<p>balloon {links}", "topics": ["hot air 100%"] if i % 3 else []}
        yield {"url": odd(i), "html": f"<p>book {links}", "topics": ["Bücher"] if i % 4 else []}
    for i in range(8):
        yield {"url": island(i), "html": f'<p>boat <a href="{island((i + 1) % 8)}">on</a>'}


def topics() -> list[Topic]:
    def examples(address: Address, n: int, step: int) -> tuple[str, ...]:
        return tuple(address(i) for i in range(1, n, step))

    return [
        Topic("hot air 100%", keywords=("balloon",), examples=examples(plain, 60, 5)),
        Topic("Bücher", keywords=("book",), examples=examples(odd, 60, 4)),
        # Two known pages cannot be reached.
        Topic("island", keywords=("boat",), seeds=(island(0),), targets=(*examples(island, 8, 2), plain(0), odd(1))),
        # Nothing is known to be relevant.
        Topic("unknown", keywords=("boat",), seeds=(island(0),)),
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> sh.Run:
    folder = tmp_path_factory.mktemp("trec")
    with (folder / "pages.jsonl").open("w") as file:
        file.writelines(json.dumps(page) + "\n" for page in pages())
    record([folder / "pages.jsonl"], folder / "web", workers=1)
    options: dict[str, Any] = {"pages": CUT_OFFS[-1], "repeats": 3, "workers": 1, "start": 4}
    return sh.simulate(folder / "web", topics(), STRATEGIES, out=folder / "run", **options)


@pytest.fixture(scope="module")
def exported(run: sh.Run) -> Path:
    out = run.folder.with_name("trec")
    summary = run.export("trec", out)
    assert summary.runs == RUNS
    assert summary.unjudged == {f"{metric}.qrels": 3 for metric in MEASURES}
    return out


@pytest.fixture(scope="module")
def ours(run: sh.Run) -> Values:
    return our_values(RunFolder.open(run.folder), CUT_OFFS)


def output_of(*command: object) -> list[list[str]]:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split() for line in done.stdout.splitlines()]


def trec_eval() -> str | Path:
    if found := shutil.which("trec_eval"):
        return found
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        missing("trec_eval is in no package for this system: put the program on the path")
    return program_of_wheel(*TREC_EVAL_FROM)


def test_trec_eval_agrees_to_eight_digits(exported: Path, ours: Values) -> None:
    check_agreement(trec_eval_values(trec_eval(), exported, RUNS, CUT_OFFS), ours)


def test_ir_measures_agrees_to_eight_digits(exported: Path, ours: Values) -> None:
    program = environment(*ANALYSIS) / "bin" / "ir_measures"
    check_agreement(ir_measures_values(program, exported, RUNS, CUT_OFFS), ours)


def check_agreement(found: Values, ours: Values) -> None:
    """Of every start, and the means."""
    n_starts = 3 * 3  # of the topics with known pages
    assert len(ours) == len(MEASURES) * len(STRATEGIES) * len(CUT_OFFS) * (n_starts + 1)
    assert found == pytest.approx(ours, rel=0, abs=TOLERANCE)


def test_trec_eval_agrees_on_the_precision_among_visited_pages(run: sh.Run, exported: Path) -> None:
    program, judgements = trec_eval(), exported / "precision.qrels"
    scores = run.evaluate("visited:of=precision", at=CUT_OFFS).scores
    assert len(scores) == len(STRATEGIES) * len(CUT_OFFS)
    for row in scores:
        options = ("-c", "-M", row.pages, "-m", "set_P")
        ((_, _, value),) = output_of(program, *options, judgements, exported / f"{row.strategy}.run")
        assert float(value) == pytest.approx(row.mean, abs=0.5e-4)


def test_the_examples_of_the_documentation_run(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = {"trec_eval": trec_eval(), "ir_measures": environment(*ANALYSIS) / "bin" / "ir_measures"}
    found, text = [], DOCUMENT.read_text("utf-8")
    for line in text.splitlines():
        name, _, arguments = line.partition(" ")
        if name in programs and arguments.startswith(("-", "trec/")):
            command = [programs[name], *shlex.split(arguments)]
            done = subprocess.run(command, cwd=exported.parent, capture_output=True, text=True, check=True, timeout=120)
            found.append((name, len(done.stdout.splitlines())))
    (script,) = [text for text in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "open_run" in text]
    monkeypatch.chdir(exported.parent)
    exec(script, {"print": lambda runs: runs == RUNS or pytest.fail(str(runs))})
    assert found == [("ir_measures", 4), ("ir_measures", 1), ("trec_eval", 2), ("trec_eval", 2)]


def test_crawls_without_pages_count_in_means(exported: Path, tmp_path: Path) -> None:
    lines = (exported / "best_first.run").read_text().splitlines(keepends=True)
    (tmp_path / "some.run").write_text("".join(line for line in lines if not line.startswith("island.")))
    judgements, some = exported / "precision.qrels", tmp_path / "some.run"
    means = {
        "with all": output_of(trec_eval(), "-c", "-m", "P.5", judgements, some)[0][2],
        "without": output_of(trec_eval(), "-m", "P.5", judgements, some)[0][2],
        "ir_measures": output_of(environment(*ANALYSIS) / "bin" / "ir_measures", judgements, some, "P@5")[0][1],
    }
    # Three of nine starts are left out.
    assert float(means["with all"]) == pytest.approx(float(means["without"]) * 6 / 9, abs=1e-4)
    assert means["ir_measures"] == means["with all"] != "0.0000"


def test_the_crawls_that_are_compared_are_not_trivial(run: sh.Run, exported: Path, ours: Values) -> None:
    """Some end early, known pages stay unvisited, repeats and strategies differ, and URLs are odd and long."""
    lengths = {row.topic: row.pages for row in run.crawls}
    assert lengths["island"] <= 8 < CUT_OFFS[2]
    last = [
        [value for key, value in ours.items() if key[:2] == ("recall", strategy) and key[3] == CUT_OFFS[-1]]
        for strategy in STRATEGIES
    ]
    assert all(0 < value < 1 for values in last for value in values)
    assert len({*last[0]}) > 3
    assert last[0] != last[1]
    docnos = [line.split(" ")[2] for line in (exported / "best_first.run").read_text("ascii").splitlines()]
    assert max(map(len, docnos)) > MAX_URL_BYTES - 200
    assert any("%20" in docno for docno in docnos)
    assert any("%E6%97%A5" in docno for docno in docnos)
