"""Our metrics beside those of trec_eval and ir_measures on real pages, to eight digits (estimated 2 minutes).

The crawls of a simulation are exported in TREC format, and both programs evaluate them. ir_measures is installed into
an environment of its own if it is not on the path. trec_eval is in no package of Debian and in none of its own on PyPI:
name the program with `--trec-eval` if it is not on the path.

trec_eval prints four digits. As standard scores, with means of 0 and standard deviations of 0.0000001, it prints the
same values with eleven.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path

from benchmarks import command_parser
from benchmarks.data import collection, recorded
from scenthound.api.progress import show_progress
from scenthound.errors import Failure
from scenthound.experiments.evaluate import chosen_metrics, evaluate
from scenthound.experiments.ground_truth import TopicGroundTruth
from scenthound.experiments.runs import RunFolder, simulate_topics
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.experiments.trec import export_trec, topic_field
from scenthound.metrics.base import METRICS

COLLECTION = "wpschools"
STRATEGIES = ("breadth_first", "best_first", "scent")
STEPS = (10, 100, 500, 1000)
N_TOPICS = 10
N_STARTS = 3
IR_MEASURES = "ir_measures==0.4.3"

#: By our metric: the measures of trec_eval and ir_measures.
MEASURES = {"precision": ("P", "P"), "recall": ("recall", "R"), "target_recall": ("recall", "R")}
#: The topic of means.
MEAN = "all"
STANDARD_DEVIATION = 1e-7
PLACES = 10

#: By metric, strategy, topic of TREC and number of pages.
Values = dict[tuple[str, str, str, int], float]


def our_values(run: RunFolder, steps: Sequence[int]) -> Values:
    """The values of each start, and the means that `scenthound evaluate` prints."""
    truths = {topic.id: TopicGroundTruth(run.web, topic, ()) for topic in run.topics()}
    starts = {(start.topic, start.seed): start for start in run.starts()}
    values: Values = {}
    for trace in run.traces():
        truth = truths[trace.topic].ground_truth(starts[trace.topic, trace.seed])
        for metric in MEASURES:
            for step in steps:
                key = metric, trace.strategy, topic_field(trace.topic, trace.seed), step
                values[key] = (METRICS.make(metric) @ step)(trace, truth)
    for result in evaluate(run, chosen_metrics([*MEASURES])[0], steps).results:
        for metric, curve in result.curves.items():
            means = dict(zip(curve.steps.tolist(), curve.mean.tolist(), strict=True))
            values |= {(metric, result.strategy, MEAN, step): means[step] for step in steps}
    # A start without known pages has no value.
    return {key: value for key, value in values.items() if not isnan(value)}


def trec_eval_values(program: str | Path, trec: Path, runs: Mapping[str, str], steps: Sequence[int]) -> Values:
    """Those of trec_eval for an exported run; `runs` has the strategy of each run file."""
    values: Values = {}
    for metric, (measure, _) in MEASURES.items():
        judgements = trec / f"{metric}.qrels"
        topics = sorted({line.split()[0] for line in judgements.read_text("ascii").splitlines()})
        lines = (f"{topic} {measure}_{step} 0 {STANDARD_DEVIATION}\n" for topic in topics for step in steps)
        with tempfile.NamedTemporaryFile("w", prefix="scenthound-scales-") as scales:
            scales.writelines(lines)
            scales.flush()
            options = ("-q", "-c", "-m", f"{measure}.{','.join(map(str, steps))}", "-Z", scales.name)
            for file, strategy in runs.items():
                for name, topic, value in _rows([program, *options, judgements, trec / file]):
                    step = int(name.removeprefix(f"Z{measure}_"))
                    values[metric, strategy, topic, step] = float(value) * STANDARD_DEVIATION
    return values


def ir_measures_values(program: str | Path, trec: Path, runs: Mapping[str, str], steps: Sequence[int]) -> Values:
    """Those of ir_measures for an exported run."""
    values: Values = {}
    for metric, (_, measure) in MEASURES.items():
        for file, strategy in runs.items():
            files = (trec / f"{metric}.qrels", trec / file)
            measures = (f"{measure}@{step}" for step in steps)
            for topic, name, value in _rows([program, "--by_query", "--places", PLACES, *files, *measures]):
                values[metric, strategy, topic, int(name.partition("@")[2])] = float(value)
    return values


def _rows(command: Iterable[object]) -> Iterator[list[str]]:
    words = [str(word) for word in command]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    if ended.returncode != 0 or ended.stderr:
        raise Failure(f"{words[0]} failed: {(ended.stderr.strip().splitlines() or ['no message'])[-1]}.")
    return (line.split() for line in ended.stdout.splitlines())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("trec_agreement", __doc__)
    parser.add_argument("--topics", type=int, default=N_TOPICS, help="number of topics")
    parser.add_argument("--trec-eval", type=Path, help="the program, if it is not on the path")
    options = parser.parse_args(arguments)
    folder = collection(COLLECTION)
    if folder is None:
        return
    with recorded(folder) as web, tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        topics = TopicChoice(folder / "topics.jsonl", most=options.topics, skip_missing=True)
        setup = ExperimentSetup(web=web, topics=topics, strategies=STRATEGIES, page_budget=max(STEPS), repeats=N_STARTS)
        with show_progress("simulating") as progress:
            simulate_topics(setup, Path(temporary) / "run", progress=progress)
        run = RunFolder.open(Path(temporary) / "run")
        trec = Path(temporary) / "trec"
        exported = export_trec(run, trec)
        theirs = {"ir_measures": ir_measures_values(_ir_measures(), trec, exported.runs, STEPS)}
        if program := options.trec_eval or shutil.which("trec_eval"):
            theirs["trec_eval"] = trec_eval_values(program, trec, exported.runs, STEPS)
        print(f"  {COLLECTION}: {exported.n_crawls:,} crawls, {exported.written:,} pages, {exported.n_starts:,} starts")
        _print(our_values(run, STEPS), theirs)


def _ir_measures() -> str | Path:
    if found := shutil.which("ir_measures"):
        return found
    folder = Path(tempfile.gettempdir()) / f"scenthound-bench-ir-measures-{os.getuid()}"
    program = folder / "bin" / "ir_measures"
    if not program.exists():
        print(f"  installing {IR_MEASURES} into {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", IR_MEASURES], check=True)
    return program


def _print(ours: Values, theirs: Mapping[str, Values]) -> None:
    print(f"  {'means':<16}{'strategy':<16}{'pages':>6}{'ours':>12}" + "".join(f"{name:>13}" for name in theirs))
    for key, value in ours.items():
        metric, strategy, topic, step = key
        if topic == MEAN:
            columns = "".join(f"{found[key]:>13.8f}" for found in theirs.values())
            print(f"  {metric:<16}{strategy:<16}{step:>6}{value:>12.8f}{columns}")
    for name, found in theirs.items():
        if found.keys() != ours.keys():
            raise Failure(f"{name} has {len(found):,} values, and there should be {len(ours):,}.")
        largest = max(abs(value - found[key]) for key, value in ours.items())
        print(f"  {name}: {len(found):,} values; the largest difference is {largest:.1e}")


if __name__ == "__main__":
    main()
