"""Validations on the ring of balloons and trains: crawls, measurements and rejected input."""

import csv
import json
import re
import runpy
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

import scenthound as sh
from ring_web import N, topic
from scenthound.errors import InvalidParameter, InvalidTopic, PluginError
from scenthound.experiments.findings import Verdict
from scenthound.experiments.setup import Experiment
from scenthound.experiments.starts import Start
from scenthound.experiments.validate.results import READING
from scenthound.experiments.validate.settings import SeedSet, ValidationSettings, fitting_budgets
from scenthound.experiments.validate.validation import prepared, validate
from scenthound.relevance.cosine import Cosine
from scenthound.simulator.modes import parse_mode
from scenthound.simulator.scores import scores_for
from scenthound.simulator.simulator import simulate
from scenthound.store.recorded_web import RecordedWeb
from scenthound.strategies.base import STRATEGIES
from scenthound.topics.files import write_topics
from scenthound.ui.reports.validation import ALL_SEARCHES, StoredValidation
from validations import MODE, PUBLISHED, rank_file, validation_arguments


def validated(web_path, topics_file, workers=1, trained=("balloon",), unseen=("train",), **settings):
    recorded, ready, notes = prepared(*validation_arguments(web_path, topics_file, trained, unseen, **settings))
    return validate(recorded, ready, notes=notes, workers=workers)


def test_the_measures_of_a_crawl_equal_those_computed_by_hand(web_path, topics_file):
    done = validated(web_path, topics_file)
    web, start = RecordedWeb.open(web_path), done.starts[0]
    seeds = done.settings.seeds_of(replace(start, seed=1), SeedSet.SMALL)
    crawl = simulate(
        web,
        STRATEGIES.make(PUBLISHED),
        seeds,
        scores_for(topic("balloon"), Cosine(), web),
        rng=Random("crawl/1/balloon"),
        page_budget=16,
        mode=parse_mode(MODE),
    )
    pages = crawl.pages.tolist()
    # Balloons are on even pages, which are good and known; page i links to i + 1, i + 2 and i + 7.
    good = [page for page in pages if page % 2 == 0]
    community = {*seeds, *good}
    links = {page: {(page + step) % N for step in (1, 2, 7)} for page in range(N)}
    to_find = set(range(0, N, 2)).difference(start.seeds)
    expected = {
        "fitness": len(good) / 16,
        "precision": len(good) / 16,
        "recall": len(to_find.intersection(pages)) / len(to_find),
        "community_cohesiveness": sum(len(links[page] & community) for page in community) / len(community),
        "overall_cohesiveness": sum(len(links[page] & community) for page in pages) / 16,
    }
    found = {name: float(done.measurements.values[name][1, 0, 1, 1, 1]) for name in expected}
    assert found == pytest.approx(expected)
    assert found["fitness"] != done.measurements.values["fitness"][0, 0, 1, 1, 1]


def test_shorter_crawls_are_prefixes_of_longer_ones(web_path, topics_file):
    long = validated(web_path, topics_file, budgets=(8, 20)).measurements
    short = validated(web_path, topics_file, budgets=(8,)).measurements
    for name, values in short.values.items():
        assert np.array_equal(values[..., 0], long.values[name][..., 0], equal_nan=True), name


def test_histograms_count_every_page_and_seeds_have_distance_zero(web_path, topics_file):
    done = validated(web_path, topics_file, mode="sequential")
    assert (done.measurements.distances.sum(axis=-1) == [8, 16, 20]).all()
    assert (done.measurements.distances[:, :, 0, :, :, 0] == 6).all()
    assert (done.measurements.distances[:, :, 1, :, :, 0] == 2).all()
    n_good = done.measurements.values["fitness"] * [8, 16, 20]
    assert done.measurements.good_distances.sum(axis=-1) == pytest.approx(n_good)
    assert (n_good < [8, 16, 20]).any()


def test_the_number_of_processes_does_not_change_the_measurements(web_path, topics_file):
    one, two = (validated(web_path, topics_file, workers=n).measurements for n in (1, 2))
    for name, values in one.values.items():
        assert np.array_equal(values, two.values[name], equal_nan=True), name
    assert one.good_share.tolist() == two.good_share.tolist() == [0.5, 0.5]


def test_the_small_seed_set_is_a_part_of_the_large_one_for_each_random_seed():
    start = Start("balloon", 0, tuple(range(0, 40, 2)), ())
    experiment = Experiment(web=Path("web"), topics=(topic("balloon"),), strategies=(PUBLISHED,))
    settings = ValidationSettings(experiment=experiment, n_large=250, n_small=50)
    small = [settings.seeds_of(replace(start, seed=seed), SeedSet.SMALL) for seed in range(10)]
    assert settings.seeds_of(replace(start, seed=3), SeedSet.LARGE) == start.seeds
    # A fifth of 20; in the order of the large set.
    assert all(len(seeds) == 4 and set(seeds) < set(start.seeds) and list(seeds) == sorted(seeds) for seeds in small)
    assert len(set(small)) > 5
    assert small[0] == settings.seeds_of(start, SeedSet.SMALL)


def test_budgets_above_half_of_the_web_are_scaled_down_with_a_note(web_path, topics_file):
    done = validated(web_path, topics_file, budgets=(10_000, 20_000, 30_000), n_large=4)
    # Half of 40 pages is the longest.
    assert done.settings.budgets == (6, 13, 20)
    (note,) = done.notes
    assert re.search(r"\b40 pages\b.*\b6, 13, 20\b", note)


@pytest.mark.parametrize(
    ("wanted", "n_pages", "fitting"),
    [
        ((10, 20), 40, (10, 20)),
        ((10, 21), 40, (9, 20)),  # 10 * 20 / 21 is 9.5
        ((10, 40), 40, (5, 20)),
        ((10, 400), 4_000, (10, 400)),
        ((100, 400), 401, (50, 200)),  # half of 401 is 200.5, and a quarter of that 50.1
    ],
)
def test_the_longest_crawl_visits_at_most_half_of_the_web(wanted, n_pages, fitting):
    assert fitting_budgets(wanted, n_pages) == fitting


def test_a_web_too_small_for_all_lengths_is_rejected():
    with pytest.raises(InvalidParameter, match="3 pages"):
        fitting_budgets((10, 20, 30), 3)


def test_a_strategy_with_another_threshold_is_noted(web_path, topics_file):
    _, _, notes = prepared(*validation_arguments(web_path, topics_file, ("balloon",), threshold=0.4))
    (note,) = notes
    assert re.match(rf"{PUBLISHED} .*\b0\.5 .*\b0\.4\.", note)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"strategies": ("rank_function:preset=best_first",)}, r"rank_function:preset=best_first; .*--strategy\b"),
        ({"budgets": (10, 10)}, " 10, 10; "),
        ({"budgets": ()}, r"\bnone\b"),
        ({"n_small": 6}, "--small 6 and --large 6"),
        ({"n_small": 0}, "--small 0 and --large "),
        ({"repeats": 0}, "--repeats 0 must be from 1 to 10,000"),
        ({"threshold": 1.0}, r"\bthreshold .* 1\.0; "),
    ],
)
def test_invalid_settings_are_rejected(web_path, topics_file, settings, reason):
    with pytest.raises(InvalidParameter, match=reason):
        prepared(*validation_arguments(web_path, topics_file, ("balloon",), **settings))


def test_crawls_that_end_within_their_seeds_are_rejected(web_path, topics_file):
    with pytest.raises(InvalidParameter, match=r"'balloon' .*6 pages"):
        validated(web_path, topics_file, budgets=(6, 20))


def test_more_seeds_than_pages_are_rejected(web_path, topics_file):
    with pytest.raises(InvalidParameter, match=r"41.*40 pages.*--large"):
        prepared(*validation_arguments(web_path, topics_file, ("balloon",), n_large=41))
    assert prepared(*validation_arguments(web_path, topics_file, ("balloon",), n_large=40))[1].n_large == 40


def test_a_strategy_that_fails_is_named(web_path, topics_file, monkeypatch):
    def fail(*_):
        raise ValueError("failed")

    monkeypatch.setattr("scenthound.strategies.rank_function.RankFunction.kernel", fail)
    with pytest.raises(PluginError, match=r"best_first .*\bcosine .*'balloon': ValueError\b"):
        validated(web_path, topics_file)


def call(scenthound, web_path, topics_file, out, *more):
    sizes = ("--pages", 8, "--pages", 16, "--large", 6, "--small", 2, "--repeats", 2)
    model = ("--relevance", "cosine", "--threshold", 0.5, "--workers", 1)
    return scenthound("validate", "--web", web_path, "--topics", topics_file, "--out", out, *sizes, *model, *more)


def test_the_command_writes_findings_crawls_and_figures(scenthound, web_path, topics_file, tmp_path):
    evolved, out = rank_file(tmp_path, "balloon"), tmp_path / "out"
    code, printed, _ = call(
        scenthound, web_path, topics_file, out, "--strategy", evolved, "--unseen", "train", "--json"
    )
    assert code == 0
    findings = json.loads((out / "findings.json").read_text())
    assert json.loads(printed) == findings
    assert findings["web"] == str(web_path.resolve())
    assert [(each["id"], each["trained_on"]) for each in findings["topics"]] == [("balloon", True), ("train", False)]
    assert {each["name"] for each in findings["findings"]} == {"H17", "H18", "H19", "H20"}
    with (out / "crawls.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 2 * 2 * 2  # strategies, topics, seed sets, seeds, budgets
    mean = np.mean([float(row["fitness"]) for row in rows[1:4:2]])
    assert findings["crawls"][1]["pages"] == int(rows[1]["pages"]) == 16
    assert findings["crawls"][1]["mean"]["fitness"] == pytest.approx(mean, abs=1e-5)
    figures = ("fitness", "community_cohesiveness", "overall_cohesiveness", "distances")
    assert {file.name for file in out.iterdir()} == {
        "findings.json",
        "crawls.csv",
        *(f"{name}.{ending}" for name in figures for ending in ("png", "svg")),
    }


@pytest.fixture
def no_figures(monkeypatch):
    """Drawing takes seconds; `test_the_command_writes_findings_crawls_and_figures` tests it."""
    monkeypatch.setattr("scenthound.ui.reports.validation_charts.figure_files", lambda _: {})


@pytest.mark.usefixtures("no_figures")
def test_the_command_prints_tables_and_replaces_only_its_own_folder(scenthound, web_path, topics_file, tmp_path):
    strategy, out = ("--strategy", PUBLISHED, "--topic", "balloon"), tmp_path / "out"
    out.mkdir()
    code, _, printed = call(scenthound, web_path, topics_file, out, *strategy, "--force")
    assert (code, "not replaced" in printed) == (2, True)
    out.rmdir()
    code, printed, _ = call(scenthound, web_path, topics_file, out, *strategy)
    assert code == 0
    assert READING in " ".join(printed.split())
    assert re.search(r"\bH20\b", printed)
    assert re.search(r"\bMeasurements on topic balloon\b", printed)
    assert re.search(r"\bfitness\s+at 16\b", printed)
    assert printed.count(" 2 random seeds.") == 1
    assert call(scenthound, web_path, topics_file, out, *strategy, "--force", "--repeats", 1)[1].count("1 seed ") > 1
    assert call(scenthound, web_path, topics_file, out, *strategy)[0] == 2
    assert call(scenthound, web_path, topics_file, out, *strategy, "--force")[0] == 0


@pytest.mark.usefixtures("no_figures")
def test_the_finding_about_all_searches_is_printed_and_reported(scenthound, web_path, topics_file, tmp_path):
    evolved, out = rank_file(tmp_path, "balloon"), tmp_path / "out"
    code, printed, err = call(scenthound, web_path, topics_file, out, "--strategy", evolved)
    assert code == 0, err
    assert re.search(r"\bH17\b.*\ball searches\b", " ".join(printed.split()))
    (finding,) = [each for each in StoredValidation(out).findings if each.name == "H17"]
    assert (finding.protocol, finding.verdict) == (ALL_SEARCHES, Verdict.CANNOT_BE_ASKED)


@pytest.mark.usefixtures("no_figures")
def test_the_option_plain_runs_strategies_in_python(scenthound, web_path, topics_file, tmp_path, monkeypatch):
    plain: list[bool] = []

    def recorded_simulate(*arguments, **settings):
        plain.append(settings["plain"])
        return simulate(*arguments, **settings)

    monkeypatch.setattr("scenthound.experiments.pipeline.simulate", recorded_simulate)
    tables = []
    for more in ((), ("--plain",)):
        strategy, out = ("--strategy", PUBLISHED, "--topic", "balloon"), tmp_path / f"out{len(more)}"
        code, _, printed = call(scenthound, web_path, topics_file, out, *strategy, *more)
        assert code == 0, printed
        tables.append((out / "crawls.csv").read_text())
    assert plain[8:] == [True] * 8  # two strategies from two seed sets with two seeds
    assert tables[0] == tables[1]


def test_an_unknown_topic_is_reported_with_its_file(scenthound, web_path, topics_file, tmp_path):
    wrong = ("--strategy", PUBLISHED, "--topic", "kite")
    code, _, printed = call(scenthound, web_path, topics_file, tmp_path / "out", *wrong)
    assert (code, f"'kite' in {topics_file}" in printed) == (2, True)


def test_errors_are_one_line_and_leave_no_folder(scenthound, web_path, topics_file, tmp_path):
    out = tmp_path / "out"
    for wrong in (
        ("--strategy", "evolved:file=gone.toml"),
        ("--strategy", PUBLISHED, "--topic", "kite"),
        ("--strategy", PUBLISHED, "--topic", "balloon", "--mode", "roulet"),
        ("--strategy", PUBLISHED, "--topic", "balloon", "--large", "9"),
        ("--strategy", PUBLISHED),
    ):
        code, printed, error = call(scenthound, web_path, topics_file, out, *wrong)
        assert (code, printed, error.count("\n")) == (2, "", 1), wrong
    assert not out.exists()


def test_a_topic_without_pages_in_the_web_is_rejected(web_path, tmp_path):
    write_topics(tmp_path / "topics.jsonl", [topic("balloon"), topic("lost", examples=("http://gone.test/",))])
    with pytest.raises(InvalidTopic, match="'lost'"):
        validated(web_path, tmp_path / "topics.jsonl", trained=("lost",), unseen=())


@pytest.mark.usefixtures("no_figures")
def test_the_python_example_in_the_documentation_runs(web_path, topics_file, tmp_path, monkeypatch):
    page = Path(__file__).resolve().parents[1] / "docs" / "validating.md"
    (script,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "example.py").write_text(script.replace("repeats=5", "repeats=1"), encoding="utf-8")
    (tmp_path / "search").mkdir()
    rank_file(tmp_path / "search", "balloon")
    (tmp_path / "web").symlink_to(web_path)
    small = partial(sh.validate, large=6, small=2, pages=(8, 16), relevance="cosine", workers=1)
    monkeypatch.setattr(sh, "validate", small)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("example.py", run_name="__main__")
    assert (tmp_path / "validation" / "findings.json").exists()


def test_the_settings_contain_the_requested_experiment(web_path, topics_file):
    _, settings, _ = prepared(*validation_arguments(web_path, topics_file, ("balloon",), ("train",), closed_world=True))
    experiment = settings.experiment
    assert experiment.strategies == ("rank_function:preset=best_first", PUBLISHED)
    assert (experiment.page_budget, experiment.n_start, experiment.closed_world) == (20, 6, True)
    assert experiment.web == web_path
    assert parse_mode(experiment.mode) == parse_mode(MODE)
    assert settings.groups() == {"trained on": range(1), "unseen": range(1, 2)}
    assert replace(settings, n_trained=0).groups() == {"unseen": range(2)}
