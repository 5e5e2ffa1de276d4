"""trec_eval and ir_measures read an exported run, and agree with our metrics to more than six digits.

trec_eval prints four digits. As standard scores (`-Z`), with means of 0 and standard deviations of 0.00001, it prints
the same values with nine.
"""

import json
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import scenthound as sh
from environments import ANALYSIS, environment, missing, program_of_wheel
from scenthound.experiments.ground_truth import TopicGroundTruth
from scenthound.experiments.runs import RunFolder
from scenthound.experiments.trec import topic_field
from scenthound.metrics.base import METRICS
from scenthound.model import Topic
from scenthound.store.record import record
from scenthound.web.urls import MAX_URL_BYTES

#: This package has the program, compiled for several systems.
TREC_EVAL_FROM = ("pyserini==0.25.0", "*-fatjar.jar", "trec_eval/trec_eval-linux-amd64")

STRATEGIES = ("breadth_first", "best_n_first:n=4")
#: Before, at and after the end of crawls; the page budget is the last.
CUT_OFFS = (1, 5, 10, 17, 40)
#: By file of judgements: our metric, and the measures of trec_eval and ir_measures.
MEASURES = {
    "precision.qrels": ("precision", "P", "P"),
    "recall.qrels": ("recall", "recall", "R"),
    "target_recall.qrels": ("target_recall", "recall", "R"),
}
STANDARD_DEVIATION = 1e-5
TOLERANCE = 1e-8

#: (judgements, run file, cut-off) to values by topic of TREC; "all" is their mean.
Values = dict[tuple[str, str, int], dict[str, float]]
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
    assert summary.unjudged == dict.fromkeys(MEASURES, 3)
    return out


@pytest.fixture(scope="module")
def ours(run: sh.Run) -> Values:
    """Each start by itself."""
    opened = RunFolder.open(run.folder)
    truths = {topic.id: TopicGroundTruth(opened.web, topic, ()) for topic in opened.topics()}
    starts = {(start.topic, start.seed): start for start in opened.starts()}
    values: Values = {}
    for trace in opened.traces():
        truth = truths[trace.topic].ground_truth(starts[trace.topic, trace.seed])
        for judgements, (metric, _, _) in MEASURES.items():
            for step in CUT_OFFS:
                value = (METRICS.make(metric) @ step)(trace, truth)
                if trace.topic != "unknown":
                    found = values.setdefault((judgements, f"{trace.strategy}.run", step), {})
                    found[topic_field(trace.topic, trace.seed)] = value
    return values


@pytest.fixture(scope="module")
def our_means(run: sh.Run) -> Values:
    """The table that `scenthound evaluate` prints."""
    metrics = {metric: judgements for judgements, (metric, _, _) in MEASURES.items()}
    scores = run.evaluate(list(metrics), at=CUT_OFFS).scores
    return {(metrics[row.metric], f"{row.strategy}.run", row.pages): {"all": row.mean} for row in scores}


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


def test_trec_eval_agrees_to_nine_digits(exported: Path, tmp_path: Path, ours: Values, our_means: Values) -> None:
    program = trec_eval()
    cut_offs = ",".join(map(str, CUT_OFFS))
    found: Values = {}
    for judgements, (_, measure, _) in MEASURES.items():
        ids = sorted({line.split()[0] for line in (exported / judgements).read_text().splitlines()})
        scales = tmp_path / f"{judgements}.scales"
        scales.write_text("".join(f"{i} {measure}_{k} 0 {STANDARD_DEVIATION}\n" for i in ids for k in CUT_OFFS))
        for strategy in STRATEGIES:
            file = f"{strategy}.run"
            options = ("-q", "-c", "-m", f"{measure}.{cut_offs}", "-Z", scales)
            for name, topic, value in output_of(program, *options, exported / judgements, exported / file):
                step = int(name.removeprefix(f"Z{measure}_"))
                found.setdefault((judgements, file, step), {})[topic] = float(value) * STANDARD_DEVIATION
    check_agreement(found, ours, our_means)


def test_trec_eval_agrees_on_the_precision_among_visited_pages(run: sh.Run, exported: Path) -> None:
    program, judgements = trec_eval(), exported / "precision.qrels"
    scores = run.evaluate("visited:of=precision", at=CUT_OFFS).scores
    assert len(scores) == len(STRATEGIES) * len(CUT_OFFS)
    for row in scores:
        options = ("-c", "-M", row.pages, "-m", "set_P")
        ((_, _, value),) = output_of(program, *options, judgements, exported / f"{row.strategy}.run")
        assert float(value) == pytest.approx(row.mean, abs=0.5e-4)


def test_ir_measures_agrees_to_ten_digits(exported: Path, ours: Values, our_means: Values) -> None:
    program = environment(*ANALYSIS) / "bin" / "ir_measures"
    found: Values = {}
    for judgements, (_, _, measure) in MEASURES.items():
        for strategy in STRATEGIES:
            file = f"{strategy}.run"
            files = (exported / judgements, exported / file)
            rows = output_of(program, "--by_query", "--places", 10, *files, *(f"{measure}@{k}" for k in CUT_OFFS))
            for topic, name, value in rows:
                found.setdefault((judgements, file, int(name.partition("@")[2])), {})[topic] = float(value)
    check_agreement(found, ours, our_means)


def check_agreement(found: Values, ours: Values, our_means: Values) -> None:
    means = {key: {"all": values.pop("all")} for key, values in found.items()}
    for theirs, expected in ((found, ours), (means, our_means)):
        assert theirs.keys() == expected.keys()
        for key, values in expected.items():
            assert theirs[key] == pytest.approx(values, rel=0, abs=TOLERANCE), key


def test_the_crawls_that_are_compared_are_not_trivial(run: sh.Run, exported: Path, ours: Values) -> None:
    """Some end early, known pages stay unvisited, repeats and strategies differ, and URLs are odd and long."""
    lengths = {row.topic: row.pages for row in run.crawls}
    assert lengths["island"] <= 8 < CUT_OFFS[2]
    last = {key[1]: values for key, values in ours.items() if key[0] == "recall.qrels" and key[2] == CUT_OFFS[-1]}
    assert all(0 < value < 1 for values in last.values() for value in values.values())
    assert len({*last["breadth_first.run"].values()}) > 3
    assert last["breadth_first.run"] != last["best_n_first:n=4.run"]
    docnos = [line.split(" ")[2] for line in (exported / "breadth_first.run").read_text("ascii").splitlines()]
    assert max(map(len, docnos)) > MAX_URL_BYTES - 200
    assert any("%20" in docno for docno in docnos)
    assert any("%E6%97%A5" in docno for docno in docnos)
