"""The report of a validation, made from its files."""

import json
from pathlib import Path

import numpy as np
import pytest

from ring_web import topic
from scenthound.errors import InvalidInput
from scenthound.experiments.validate.crawls import SEED_SETS
from scenthound.experiments.validate.results import validate_into
from scenthound.topics.files import write_topics
from scenthound.ui.html import document_html
from scenthound.ui.reports.validation import StoredValidation, validation_report
from scenthound.ui.reports.validation_charts import without_far_bins
from validations import PUBLISHED, validation_arguments

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture(scope="module")
def made(web_path, tmp_path_factory):
    """A validation and its folder."""
    folder = tmp_path_factory.mktemp("validation")
    write_topics(folder / "topics.jsonl", [topic("balloon"), topic("train")])
    arguments = validation_arguments(web_path, folder / "topics.jsonl", ("balloon",), ("train",))
    return validate_into(folder / "out", *arguments, workers=1), folder / "out"


def test_the_files_contain_all_measurements(made):
    done, out = made
    stored = StoredValidation(out)
    for name, values in done.measurements.values.items():
        np.testing.assert_allclose(stored.measured.values[name], values, rtol=1e-5)
    near = done.measurements.distances.mean(axis=3)
    np.testing.assert_allclose(stored.measured.distances[:, :, :, 0], near)
    assert stored.groups == {"trained on": [0], "unseen": [1]}
    assert stored.specs == done.settings.all_strategies
    assert [finding.verdict for finding in stored.findings] == [finding.verdict for finding in done.findings]
    # As text, because a p that was not computed is NaN.
    assert repr([finding.claims for finding in stored.findings]) == repr([finding.claims for finding in done.findings])


def test_charts_show_the_means_of_each_group(made):
    done, out = made
    page = validation_report(out)
    sections = {section.title: section.blocks for section in page.sections}
    fitness = done.measurements.values["fitness"]
    for number, group in enumerate(("trained on", "unseen")):
        charts = sections[f"Topics {group}"]
        for at, seed_set in enumerate(SEED_SETS):
            chart = charts[at]
            assert chart.title == f"Fitness, {seed_set} seed set"
            assert chart.categories == ("8", "16", "20")
            for strategy, series in enumerate(chart.series):
                np.testing.assert_allclose(series.y, fitness[strategy, number, at].mean(axis=0), rtol=1e-5)


def test_the_report_starts_with_verdicts_and_ends_with_the_reproduce_command(made):
    _, out = made
    page = validation_report(out)
    assert page.summary[0].startswith(f"{PUBLISHED} (S1): 6 findings: ")
    assert dict(page.key_facts)["findings"] == "6"
    facts, command = page.sections[-1].blocks
    assert "numpy" in dict(facts.rows)["made by"]
    lines = command.text.splitlines()
    assert lines[0] == "scenthound validate \\"
    assert "    --topic balloon \\" in lines
    assert "    --unseen train \\" in lines
    assert f"    --out {out}-again \\" in lines
    assert document_html(page).startswith("<!DOCTYPE html>")


def test_the_reproduce_command_makes_the_same_validation(made, scenthound):
    _, out = made
    values = json.loads((out / "findings.json").read_text())
    code, _, err = scenthound(*values["repeat"].split()[1:], "--workers", 1)
    assert code == 0, err
    assert Path(f"{out}-again/crawls.csv").read_text() == (out / "crawls.csv").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"findings\.json .*\bJSON\b"),
        ('{"format": "scenthound validation", "version": 2}', " 2, .* 1: "),
        ('{"format": "scenthound validation", "version": 1}', r"\bdamaged\b"),
    ],
)
def test_an_invalid_folder_is_rejected_in_one_line(tmp_path, content, message):
    (tmp_path / "findings.json").write_text(content)
    (tmp_path / "crawls.csv").write_text("")
    with pytest.raises(InvalidInput, match=message) as raised:
        validation_report(tmp_path)
    assert "\n" not in str(raised.value)


def test_missing_rows_are_rejected(made, tmp_path):
    _, out = made
    for name in ("findings.json", "crawls.csv"):
        (tmp_path / name).write_text((out / name).read_text())
    lines = (out / "crawls.csv").read_text().splitlines()
    (tmp_path / "crawls.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(InvalidInput, match=rf"{tmp_path} .*\bdamaged\b"):
        validation_report(tmp_path)


# Histograms of distances


def test_empty_bins_at_the_far_end_are_removed():
    near, is_cut = without_far_bins(np.array([[5.0, 3.0, 0.0, 0.0], [4.0, 2.0, 2.0, 0.0]]))
    assert near.tolist() == [[5, 3, 0], [4, 2, 2]]
    assert not is_cut


def test_bins_with_few_pages_are_merged_without_losing_pages():
    # Beyond distance 1 lie 4 of 1,000 pages, less than half a percent.
    near, is_cut = without_far_bins(np.array([[600.0, 396.0, 2.0, 2.0]]))
    assert near.tolist() == [[600, 400]]
    assert is_cut


def test_a_bin_that_one_strategy_needs_is_shown_for_all():
    # Of the second strategy just half a percent lies beyond distance 1, and nothing beyond 2.
    near, is_cut = without_far_bins(np.array([[600.0, 400.0, 0.0, 0.0], [600.0, 395.0, 5.0, 0.0]]))
    assert near.tolist() == [[600, 400, 0], [600, 395, 5]]
    assert not is_cut


def test_fractional_means_leave_nothing_after_the_last_bin():
    assert without_far_bins(np.array([[0.1, 0.2, 0.3, 0.7, 0.0]]))[1] is False


def test_a_strategy_without_pages_does_not_prevent_merging():
    near, _ = without_far_bins(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    assert near.tolist() == [[0, 0], [1, 1]]
