"""A study as files for programs: findings, settings, numbers, tables."""

import csv
import io
import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_study import TOPICS, made_arm, made_claim, made_finding, made_study
from scenthound.experiments.findings import Claim, Finding, Verdict
from scenthound.experiments.study.measures import Measured, measures_csv, topics_csv
from scenthound.experiments.study.results import settings_toml, study_findings, study_values, table_files
from scenthound.experiments.study.settings import (
    STUDIES,
    ArmSettings,
    Needs,
    StudySettings,
    parse_settings,
    preset_text,
)
from scenthound.experiments.study.tables import Table
from scenthound.ui.reports.findings import (
    format_effect,
    format_effect_interval,
    format_p,
    grouped_by_name,
    verdict_counts,
    verdict_lines,
)

REPRODUCED, NOT_REPRODUCED, UNDECIDED, _ = Verdict


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def findings_json(*findings: Finding) -> list[dict[str, object]]:
    return study_findings(made_study(findings=findings))["findings"]


def test_a_finding_as_json_has_its_verdict_and_all_numbers_of_its_claims():
    (result,) = findings_json(made_finding(REPRODUCED, protocol="corrected"))
    assert (result["name"], result["protocol"], result["verdict"]) == ("H1", "corrected", "reproduced")
    (claim,) = result["claims"]
    # The claim is made with a mean of 1/4 and an interval of 1/8 to either side.
    assert claim["effect"] == {"mean": 0.25, "low": 0.125, "high": 0.375, "over": "topics", "n_topics": 5, "n_seeds": 1}
    assert (claim["p"], claim["p_corrected"], claim["test"]) == (0.01, 0.02, "sign flips, above 0")


def test_values_that_were_not_tested_are_null_in_json():
    claim = Claim("All take the same time", None, UNDECIDED, "One host.")
    (result,) = findings_json(Finding("H16", "longer", "", (claim,)))
    assert result["claims"][0]["effect"] is None
    assert result["claims"][0]["p"] is None
    json.dumps(result, allow_nan=False)


def test_the_claim_that_decides_is_the_first_with_the_verdict_of_the_finding():
    finding = made_finding(REPRODUCED, UNDECIDED, NOT_REPRODUCED, NOT_REPRODUCED)
    assert finding.deciding_claim.says == "claim 3"
    assert finding.why == "2 of 4 claims are not reproduced, the first: claim 3. It is not reproduced."
    one_of_two = made_finding(REPRODUCED, NOT_REPRODUCED)
    assert one_of_two.why == "1 of 2 claims is not reproduced: claim 2. It is not reproduced."


def test_a_finding_with_one_claim_has_its_reason():
    assert made_finding(REPRODUCED).why == "It is reproduced."
    assert made_finding().why == "None of its claims could be tested."


def test_effects_have_their_sign_and_missing_ones_are_dashes():
    effect = made_claim("", REPRODUCED, mean=-0.25).effect
    assert (format_effect(effect), format_effect_interval(effect)) == ("-0.25", "-0.375 to -0.125")
    assert (format_effect(None), format_effect_interval(None), format_p(float("nan"))) == ("-", "-", "-")
    assert (format_p(0.0234), format_p(0.00004)) == ("0.023", "4e-05")


def test_findings_of_one_name_follow_each_other():
    findings = [made_finding(name=name, protocol=protocol) for protocol in ("a", "b") for name in ("H12", "H2")]
    result = [(finding.name, finding.protocol) for finding in grouped_by_name([*findings, made_finding(name="H1")])]
    assert result == [("H12", "a"), ("H12", "b"), ("H2", "a"), ("H2", "b"), ("H1", "")]


def test_verdicts_are_counted_for_each_protocol():
    findings = [
        made_finding(REPRODUCED, protocol="corrected"),
        made_finding(UNDECIDED, name="H2", protocol="corrected"),
        made_finding(NOT_REPRODUCED, protocol="as_published"),
    ]
    assert verdict_counts(findings) == "3 findings: 1 reproduced, 1 not reproduced, 1 undecided"
    assert list(verdict_lines(findings)) == [
        "2 findings by the protocol 'corrected': 1 reproduced, 0 not reproduced, 1 undecided.",
        "1 finding by the protocol 'as published': 0 reproduced, 1 not reproduced, 0 undecided.",
    ]
    assert list(verdict_lines([*findings, made_finding(REPRODUCED, name="H3")]))[-1] == (
        "1 finding independent of the protocol: 1 reproduced, 0 not reproduced, 0 undecided."
    )


@pytest.mark.parametrize("study", STUDIES)
def test_settings_of_every_study_survive_a_round_trip(study):
    settings = parse_settings(preset_text(study), study)
    assert parse_settings(settings_toml(settings), "written") == settings


LABELS = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable() or "\x7f" in text)


@given(
    title=st.text(max_size=20),
    labels=st.lists(LABELS, min_size=1, max_size=3, unique=True),
    share=st.floats(0.001, 1),
    most=st.none() | st.integers(1, 99),
    tops=st.lists(st.floats(0.001, 1), max_size=3),
)
def test_any_settings_survive_a_round_trip(title, labels, share, most, tops):
    strategies = {label: f"best_n_first:n={number}" for number, label in enumerate(labels, 1)}
    arm = ArmSettings("one, two", strategies, ("recall",), tops=tuple(tops), pages_share=share, topics=most, plain=True)
    settings = StudySettings("pant2002", title, 7, topics_max=most, needs=Needs(keywords=True), arms=(arm,))
    assert parse_settings(settings_toml(settings), "written") == settings


def test_the_strategies_of_an_arm_stay_with_their_arm():
    first, second = (made_arm(name).settings for name in ("one", "two"))
    second = replace(second, strategies={"a=0.5, d=3": "otie"})
    text = settings_toml(StudySettings("wang2009", "", 5, arms=(first, second)))
    assert [list(arm["strategies"]) for arm in tomllib.loads(text)["arm"]] == [["Greedy", "Blind"], ["a=0.5, d=3"]]


def test_the_table_of_measures_has_means_and_errors_over_topics():
    rows = [row for row in rows_of(measures_csv([made_arm()])) if row["measure"] == "recall" and row["x"] == "40"]
    # Of 0.6, 0.8 and 1 the mean is 0.8, the standard deviation 0.2, the standard error 0.2 / sqrt(3) = 0.11547.
    assert rows[0] == {
        "arm": "task 1",
        "crawler": "Greedy",
        "measure": "recall",
        "x": "40",
        "mean": "0.8",
        "standard_error": "0.11547",
        "n_topics": "3",
    }
    assert [row["crawler"] for row in rows] == ["Greedy", "Blind", "bound: random", "bound: oracle"]
    assert [row["mean"] for row in rows] == ["0.8", "0.4", "0.2", "1"]


def test_the_table_of_topics_has_the_final_values():
    rows = [row for row in rows_of(topics_csv([made_arm()])) if row["measure"] == "recall" and row["topic"] == "kites"]
    assert {row["x"] for row in rows} == {"40"}
    assert {row["crawler"]: row["value"] for row in rows} == {
        "Greedy": "1",
        "Blind": "0.5",
        "bound: random": "0.25",
        "bound: oracle": "1",
    }


def test_a_topic_without_a_value_is_empty_and_not_part_of_the_mean():
    arm = made_arm()
    values = arm.measured["recall"].values.copy()
    values[:, TOPICS.index("kites")] = np.nan
    changed = replace(arm, measured={"recall": Measured(arm.measured["recall"].x, values)}, bounds={})
    by_topic = {(row["topic"], row["crawler"]): row["value"] for row in rows_of(topics_csv([changed]))}
    assert by_topic["kites", "Greedy"] == ""
    assert by_topic["trains", "Greedy"] == "0.8"
    (last,) = [r for r in rows_of(measures_csv([changed])) if r["x"] == "40" and r["crawler"] == "Greedy"]
    assert (last["mean"], last["n_topics"]) == ("0.7", "2")


def test_tables_are_written_as_csv_and_markdown():
    table = Table("t", "Costs", ("crawler", "a|b"), (("one, two", "1"), ("back\\slash", "x\ny")), "All in µs.")
    files = table_files([table])
    assert list(csv.reader(io.StringIO(files["tables/t.csv"]))) == [["crawler", "a|b"], *map(list, table.rows)]
    assert files["tables/t.md"] == (
        "**Costs**\n\n| crawler | a\\|b |\n| --- | --- |\n| one, two | 1 |\n| back\\\\slash | x y |\n\nAll in µs.\n"
    )


def test_study_json_describes_the_run():
    result = study_values(made_study())
    assert result["crawls"] == {"all": 6, "made": 2, "kept": 4}
    assert result["web_fingerprint"] == "f1"
    assert result["arms"][0]["topics"] == list(TOPICS)
    assert result["arms"][0]["crawlers"] == {"Greedy": "best_first", "Blind": "breadth_first"}
    assert {"scenthound", "python", "numpy"} <= set(result["versions"])
