"""`scenthound study` at the command line."""

import json
import re
import tomllib
from dataclasses import replace

import pytest

from made_study import made_finding, made_study
from scenthound.experiments.findings import Verdict
from scenthound.experiments.study import results as study_results
from scenthound.experiments.study.settings import STUDIES
from scenthound.store.recorded_web import RecordedWeb

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture
def requested(monkeypatch, web_path):
    """The settings that the study received; its crawls and measures are fake."""
    made = made_study(web_fingerprint=RecordedWeb.open(web_path).fingerprint, pictures=())
    requested = {"findings": made.findings, "notes": made.notes}

    def run(settings, web, topics, cache, *, workers, progress):
        requested.update(settings=settings, web=web, topics=topics, cache=cache, workers=workers)
        return replace(made, settings=settings, findings=requested["findings"])

    monkeypatch.setattr(study_results, "run_study", run)
    return requested


@pytest.fixture
def study(scenthound, web_path, topics_file, tmp_path):
    """Run a study on the ring, with further options."""

    def call(*more: object, name: str = "pant2002"):
        return scenthound(
            *("study", name, "--web", web_path, "--topics", topics_file, "--out", tmp_path / "out"), *more
        )

    return call


def test_a_study_prints_its_findings_its_cost_and_the_path_of_the_report(study, requested, tmp_path):
    code, out, err = study()
    assert code == 0, err
    first, second = [line for line in out.splitlines() if "Greedy > Blind" in line]
    assert [cell.strip() for cell in first.strip("│").split("│")] == [
        *("H1", "Greedy > Blind", "reproduced", "0.020", "+0.25", "+0.125 to +0.375")
    ]
    assert "undecided" in second
    assert re.search(r"\b2 findings: .*\b1 reproduced\b.*\b0 not reproduced\b.*\b1 undecided\b", out)
    assert re.search(r"\b2 crawls .*\b4 reused\b", out)
    assert re.search(r"\bcrawling 1\.5 s\b.*\bjudging 0\.5 s\b", out)
    (note,) = requested["notes"]
    assert f"Note: {note}" in out
    assert out.rstrip().endswith(f"Report: {tmp_path / 'out' / 'report.html'}")
    assert (tmp_path / "out" / "report.html").exists()


def test_protocols_are_printed_if_there_are_several(study, requested):
    _, without, _ = study()
    requested["findings"] = (
        made_finding(Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, protocol="as_published"),
        made_finding(Verdict.REPRODUCED, protocol="corrected"),
    )
    _, out, _ = study()
    assert "┃ protocol" not in without
    assert "┃ protocol" in out
    lines = [line for line in out.splitlines() if "Greedy > Blind" in line]
    assert ["as published" in line and "not reproduced" in line for line in lines] == [True, False]
    assert "corrected" in lines[1]


def test_a_finding_without_a_claim_is_printed_with_dashes(study, requested):
    requested["findings"] = (made_finding(),)
    code, out, err = study()
    assert code == 0, err
    (line,) = [line for line in out.splitlines() if "Greedy > Blind" in line]
    assert [cell.strip() for cell in line.strip("│").split("│")][2:] == ["undecided", "-", "-", "-"]


def test_sizes_scale_the_study_and_crawls_may_be_cached_elsewhere(study, requested, tmp_path):
    code, _, err = study(
        *("--pages", 20, "--topics-max", 7, "--repeats", 3, "--cache", tmp_path / "cache", "--workers", 1)
    )
    assert code == 0, err
    settings = requested["settings"]
    assert (settings.pages, settings.topics_max, settings.seeds) == (20, 7, 3)
    assert (requested["cache"], requested["workers"]) == (tmp_path / "cache", 1)


def test_optional_arms_are_run_on_request(study, requested, scenthound):
    study()
    assert {arm.optional for arm in requested["settings"].arms} == {"", "buffer", "more"}
    code, _, err = study("--arm", "buffer", "--arm", "more")
    assert code == 0, err
    assert {arm.optional for arm in requested["settings"].arms} == {""}
    _, out, _ = scenthound("study", "pant2002", "--show-settings", "--arm", "buffer")
    assert [arm["optional"] for arm in tomllib.loads(out)["arm"]] == ["", "", "", "", "more", "more"]
    code, _, err = study("--arm", "size")
    assert code == 2
    assert "buffer, more" in err


def test_crawls_are_cached_in_the_folder_of_the_study_by_default(study, requested, tmp_path):
    study()
    assert requested["cache"] == tmp_path / "out" / "crawls"


def test_json_output_is_the_file_of_findings(study, requested, tmp_path):
    code, out, err = study("--json")
    assert code == 0, err
    assert json.loads(out) == json.loads((tmp_path / "out" / "findings.json").read_text())
    assert json.loads(out)["findings"][0]["claims"][0]["effect"]["mean"] == 0.25


@pytest.mark.parametrize("name", STUDIES)
def test_settings_are_printed_without_any_other_option(scenthound, name):
    code, out, err = scenthound("study", name, "--show-settings")
    assert code == 0, err
    assert tomllib.loads(out)["study"] == name
    assert out.startswith("#")


def test_settings_are_printed_with_the_requested_sizes(scenthound):
    _, out, _ = scenthound("study", "pant2002", "--show-settings", "--pages", 77)
    assert tomllib.loads(out)["pages"] == 77


def test_printed_settings_can_be_changed_and_used(study, requested, scenthound, tmp_path):
    _, text, _ = scenthound("study", "pant2002", "--show-settings")
    file = tmp_path / "mine.toml"
    file.write_text(text.replace("pages = 2000", "pages = 33"))
    code, _, err = study("--settings", file)
    assert code == 0, err
    assert requested["settings"].pages == 33


def error_line(result) -> str:
    """The line of an error message."""
    code, out, err = result
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    return line


def test_an_unknown_study_is_rejected_with_the_nearest_name(scenthound):
    assert "'pant2002'" in error_line(scenthound("study", "pant2020", "--show-settings"))


def test_options_that_are_missing_are_named(scenthound, web_path):
    line = error_line(scenthound("study", "pant2002", "--web", web_path))
    assert "--topics, --out" in line
    assert "--web" not in line


def test_settings_of_another_study_are_rejected(study, scenthound, tmp_path):
    (tmp_path / "wang.toml").write_text(scenthound("study", "wang2009", "--show-settings")[1])
    line = error_line(study("--settings", tmp_path / "wang.toml"))
    assert re.search(r"wang\.toml\b.*\bwang2009\b.*\bpant2002\b", line)


def test_too_few_topics_are_reported_and_no_files_remain(study, tmp_path):
    # The ring has two topics.
    assert re.search(r"\bpant2002\b.*\b5 topics\b.*\b2\b", error_line(study("--workers", 1)))
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_kind_is_rejected(study, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").touch()
    assert re.search(rf"{tmp_path / 'out'} .*--out\b", error_line(study()))


def test_johnson2003_runs_its_own_pipeline(study, web_path, monkeypatch, tmp_path):
    requested = {}

    def search(settings, web, topics, folder, *, workers, progress):
        requested.update(out=folder, seeds=settings.seeds, web=web, workers=workers)
        return made_study(settings=settings)

    monkeypatch.setattr(study_results, "run_johnson2003", search)
    code, out, err = study("--repeats", 4, "--workers", 1, name="johnson2003")
    assert code == 0, err
    assert requested == {"out": tmp_path / "out", "seeds": 4, "web": web_path, "workers": 1}
    assert "johnson2003" in out


def test_the_study_of_a_search_takes_no_cache(study, tmp_path):
    assert "--cache" in error_line(study("--cache", tmp_path / "cache", name="johnson2003"))


def test_a_missing_web_is_rejected(scenthound, topics_file, tmp_path):
    result = scenthound(
        *("study", "pant2002", "--web", tmp_path / "none", "--topics", topics_file, "--out", tmp_path / "out")
    )
    assert "none" in error_line(result)
    assert not (tmp_path / "out").exists()
