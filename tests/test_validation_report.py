"""The page of a validation, made of the files that it left."""

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
from scenthound.ui.reports.validation import read_validation, validation_report
from validations import PUBLISHED, wanted


@pytest.fixture(scope="module")
def made(web_path, tmp_path_factory):
    """A validation and its folder."""
    place = tmp_path_factory.mktemp("validation")
    write_topics(place / "topics.jsonl", [topic("balloon"), topic("train")])
    asked = wanted(web_path, place / "topics.jsonl", ("balloon",), ("train",))
    return validate_into(place / "out", *asked, workers=1), place / "out"


def test_the_files_tell_all_that_was_measured(made):
    done, out = made
    told = read_validation(out)
    for name, values in done.measurements.values.items():
        np.testing.assert_allclose(told.measured.values[name], values, rtol=1e-5)
    near = done.measurements.distances.mean(axis=3)
    np.testing.assert_allclose(told.measured.distances[:, :, :, 0], near)
    assert told.groups == {"trained on": (0,), "unseen": (1,)}
    assert told.specs == done.settings.all_strategies
    assert [finding.verdict for finding in told.findings] == [finding.verdict for finding in done.findings]
    # As text, because p that were not computed are not-a-number.
    assert repr([finding.claims for finding in told.findings]) == repr([finding.claims for finding in done.findings])


def test_charts_show_the_means_of_each_group(made):
    done, out = made
    page = validation_report(out)
    sections = {section.title: section.blocks for section in page.sections}
    fitness = done.measurements.values["fitness"]
    for place, group in enumerate(("trained on", "unseen")):
        charts = sections[f"Topics {group}"]
        for at, seed_set in enumerate(SEED_SETS):
            chart = charts[at]
            assert chart.title == f"Fitness, {seed_set} seed set"
            assert chart.categories == ("8", "16", "20")
            for strategy, series in enumerate(chart.series):
                np.testing.assert_allclose(series.y, fitness[strategy, place, at].mean(axis=0), rtol=1e-5)
        end = fitness[:, place, :, :, -1].mean(axis=(1, 2))
        np.testing.assert_allclose(charts[-1].differences, [[end[1] - end[0]]], atol=1e-5)


def test_the_page_says_the_verdicts_first_and_how_to_repeat_it_last(made):
    _, out = made
    page = validation_report(out)
    assert page.summary[0].startswith(f"{PUBLISHED} (S1): 6 findings: ")
    assert dict(page.key_facts)["findings"] == "6"
    facts, command = page.sections[-1].blocks
    assert "numpy" in dict(facts.rows)["versions"]
    lines = command.text.splitlines()
    assert lines[0] == "scenthound validate \\"
    assert "    --topic balloon \\" in lines
    assert "    --unseen train \\" in lines
    assert lines[-1] == f"    --out {out}-again"
    assert document_html(page).startswith("<!DOCTYPE html>")


def test_the_command_makes_the_same_validation_again(made, scenthound):
    _, out = made
    values = json.loads((out / "findings.json").read_text())
    code, _, err = scenthound(*values["repeat"].split()[1:], "--workers", 1)
    assert code == 0, err
    assert Path(f"{out}-again/crawls.csv").read_text() == (out / "crawls.csv").read_text()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not valid JSON"),
        ('{"format": "scenthound validation", "version": 2}', "has format version 2"),
        ('{"format": "scenthound validation", "version": 1}', "is damaged"),
    ],
)
def test_what_is_no_validation_is_told_in_one_line(tmp_path, content, says):
    (tmp_path / "findings.json").write_text(content)
    (tmp_path / "crawls.csv").write_text("")
    with pytest.raises(InvalidInput, match=says) as told:
        validation_report(tmp_path)
    assert "\n" not in str(told.value)


def test_rows_that_are_gone_are_damage(made, tmp_path):
    _, out = made
    for name in ("findings.json", "crawls.csv"):
        (tmp_path / name).write_text((out / name).read_text())
    lines = (out / "crawls.csv").read_text().splitlines()
    (tmp_path / "crawls.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(InvalidInput, match="is damaged"):
        validation_report(tmp_path)
