"""Experiments as JSON: evaluate, compare, a study, searches, validation, thresholds, and the weights of `scent`.

Budgets are tiny. Times of the CPU and of the clock are left out.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scenthound as sh
from goldens import Golden
from net_site import HOSTS, MAIN_TOPIC, WORDS, Site

Program = Callable[..., tuple[int, str, str]]
Timeless = Callable[[str], Any]
LONGEST_CURVE = 30


@pytest.fixture
def printed(program: Program, timeless: Timeless) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def call(*arguments: object) -> Any:
        code, out, err = program(*arguments, "--json")
        assert code == 0, err
        return thinned(timeless(out))

    return call


def thinned(value: Any) -> Any:
    """A value with every tenth number of long curves."""
    if isinstance(value, dict):
        return {name: thinned(each) for name, each in value.items()}
    if isinstance(value, list):
        is_curve = len(value) > LONGEST_CURVE and not isinstance(value[0], dict | list)
        return [*value[::10], f"of {len(value)}"] if is_curve else [*map(thinned, value)]
    return value


def test_evaluate(printed: Callable[..., Any], run: Path, golden: Golden) -> None:
    golden.json(printed("evaluate", run))
    metrics = ("precision@40", "recall", "coverage", "rank", "mean_similarity", "novelty", "new_relevant_hosts", "area")
    chosen = [part for metric in metrics for part in ("--metric", metric)]
    golden.json(printed("evaluate", run, *chosen, "--at", 20, "--at", 60), "chosen")


def test_run_folder(run: Path, golden: Golden) -> None:
    """The crawls of a run, and the start pages that were drawn."""
    crawls = sh.open_run(run).crawls
    golden.json(
        {"columns": crawls.columns, "crawls": [[each.topic, each.strategy, each.seed, each.pages] for each in crawls]}
    )
    golden.json([json.loads(line) for line in (run / "starts.jsonl").read_text().splitlines()], "starts")


def test_compare(printed: Callable[..., Any], web: Path, topics: Path, tmp_path: Path, golden: Golden) -> None:
    what = ("--web", web, "--topics", topics, "--topic", "balloons", "--topic", "trains", "--pages", 60, "--start", 3)
    strategies = ("--strategy", "otie", "--strategy", "breadth_first")
    golden.json(printed("compare", *what, *strategies, "--repeats", 3, "--workers", 1, "--out", tmp_path / "out"))
    assert (tmp_path / "out" / "report.html").exists()
    swept = ("--strategy", "best_n_first", "--sweep", "n=1,8", "--by", "precision@30", "--mode", "sequential")
    golden.json(printed("compare", *what, *swept, "--repeats", 2, "--workers", 1), "sweep")


def test_study(printed: Callable[..., Any], web: Path, site: Site, tmp_path: Path, golden: Golden) -> None:
    rows = []
    for number, host in enumerate(HOSTS):
        words = WORDS[MAIN_TOPIC[host]][number:]
        examples = [url for url in site.pages if f"//{host}:" in url][:12]
        row = {"id": host, "keywords": words[:3], "description": " ".join(words[:9]), "examples": examples}
        rows.append(json.dumps(row) + "\n")
    (tmp_path / "topics.jsonl").write_text("".join(rows))
    where = ("--web", web, "--topics", tmp_path / "topics.jsonl", "--out", tmp_path / "study")
    few = ("--topics-max", 5, "--pages", 40, "--repeats", 1, "--workers", 1)
    golden.json(printed("study", "menczer2001", *where, *few))


def test_evolve_and_validate(
    printed: Callable[..., Any], web: Path, topics: Path, tmp_path: Path, golden: Golden, plain: Callable[[str], str]
) -> None:
    where = ("--web", web, "--topics", topics, "--relevance", "cosine", "--threshold", 0.05, "--workers", 1)
    search = ("--search", "johnson2003:population=4,generations=2", "--pages", 60, "--start", 3, "--crawls", 1)
    golden.json(printed("evolve", *where, *search, "--topic", "trains", "--out", tmp_path / "search"))
    evaluated = (tmp_path / "search" / "evaluations.jsonl").read_text().splitlines()
    golden.json([timeless_fitness(json.loads(line)) for line in evaluated], "evaluations")
    evolved = tmp_path / "search" / "evolved.toml"
    run = sh.simulate(web, topics, f"evolved:file={evolved}", topic="balloons", pages=30, relevance="cosine", workers=1)
    golden.json([page.url for page in run.pages], "trace")
    sizes = ("--unseen", "balloons", "--pages", 30, "--large", 6, "--small", 3, "--repeats", 2)
    strategy = ("--strategy", f"evolved:file={evolved}", "--out", tmp_path / "validation")
    golden.json(printed("validate", *where, *strategy, *sizes), "validate")


def timeless_fitness(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.endswith(("_s", "seconds", "visits"))}


@pytest.mark.parametrize("search", ["chc:population=4,generations=2", "cma:population=4,generations=2"])
def test_other_searches(
    search: str, printed: Callable[..., Any], web: Path, topics: Path, tmp_path: Path, golden: Golden
) -> None:
    where = ("--web", web, "--topics", topics, "--topic", "trains", "--relevance", "cosine", "--threshold", 0.05)
    few = ("--pages", 40, "--start", 3, "--crawls", 1, "--workers", 1, "--scores", "all", "--mode", "sequential")
    golden.json(printed("evolve", *where, *few, "--search", search, "--out", tmp_path / "search"))


def test_fit_scent(printed: Callable[..., Any], web: Path, topics: Path, tmp_path: Path, golden: Golden) -> None:
    few = ("--pages", 60, "--rounds", 1, "--topics-max", 2, "--workers", 1)
    golden.json(printed("fit-scent", "--web", web, "--topics", topics, "--out", tmp_path / "scent.toml", *few))


def test_threshold(
    program: Program, printed: Callable[..., Any], web: Path, topics: Path, site: Site, tmp_path: Path, golden: Golden
) -> None:
    labels, where = tmp_path / "labels.csv", ("--web", web, "--topics", topics, "--topic", "trains")
    assert program("threshold", labels, "--suggest", 20, *where)[0] == 0
    with labels.open() as file:
        rows = [*csv.DictReader(file)]
    for row in rows:
        row["label"] = "yes" if site.pages[row["url"]].topic == "train" else "no"
    with labels.open("w") as file:
        written = csv.DictWriter(file, [*rows[0]])
        written.writeheader()
        written.writerows(rows)
    golden.json({"labels": rows, "threshold": printed("threshold", labels, *where)})
