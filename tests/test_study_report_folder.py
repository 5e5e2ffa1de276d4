"""The folder that a study leaves behind."""

import json
import os
import re
from dataclasses import replace

import pytest

from made_study import made_arm, made_finding, made_picture, made_study
from ring_web import record_ring
from scenthound.errors import InvalidInput, InvalidTopic
from scenthound.experiments.findings import Verdict
from scenthound.experiments.study import results as studying
from scenthound.experiments.study.results import FINDINGS_FILE, study_folder, study_into, write_results
from scenthound.experiments.study.settings import read_settings
from scenthound.experiments.study.tables import Table
from scenthound.store.recorded_web import RecordedWeb
from scenthound.ui.reports.study import RENDERER

FILES = {
    "findings.json",
    "study.json",
    "settings.toml",
    "measures.csv",
    "topics.csv",
    "report.html",
    "figures/figure-1.svg",
    "figures/figure-1.png",
    "tables/end.csv",
    "tables/end.md",
}


@pytest.fixture
def run(monkeypatch, web_path, tmp_path):
    """Run a study whose crawls and measures are made up, into a folder."""
    made = made_study(web_fingerprint=RecordedWeb.open(web_path).fingerprint)

    def call(wished=made.settings, *, fails=None, cache=None, **more):
        def crawled(settings, web, topics, cache, *, workers=None, progress=None):
            if fails is not None:
                raise fails
            cache.mkdir(parents=True, exist_ok=True)
            (cache / "crawl.npz").touch()
            progress(1.0, "all crawls")
            return replace(made, settings=settings, **more)

        monkeypatch.setattr(studying, "run_study", crawled)
        return study_into(tmp_path / "out", wished, web_path, tmp_path / "topics.jsonl", cache=cache, render=RENDERER)

    return call


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_study_writes_all_its_files(run, tmp_path):
    study = run()
    out = tmp_path / "out"
    assert files_in(out) == {*FILES, "crawls/crawl.npz"}
    findings = json.loads((out / "findings.json").read_text())
    assert [each["verdict"] for each in findings["findings"]] == ["reproduced", "undecided"]
    about = json.loads((out / "study.json").read_text())
    assert about["study"] == findings["study"] == "pant2002"
    assert about["web_fingerprint"] == findings["web_fingerprint"] == study.web_fingerprint
    assert [timing["part"] for timing in about["timings"]] == ["crawling", "judging", "drawing figures"]


def test_the_written_settings_can_be_read(run, tmp_path):
    wished = read_settings("pant2002").scaled(pages=33, topics_max=7)
    run(wished)
    assert read_settings("pant2002", tmp_path / "out" / "settings.toml") == wished


def test_the_report_contains_the_data_of_figures(run, tmp_path):
    run()
    page = (tmp_path / "out" / "report.html").read_text()
    charts = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]
    (shown,) = [chart for chart in charts if chart.get("y_label") == "share found"]
    assert [(series["name"], series["y"]) for series in shown["series"]] == [("Greedy", [0.8]), ("Blind", [0.4])]


def test_a_second_run_writes_the_same_figures(run, tmp_path):
    run()
    first = (tmp_path / "out" / "figures" / "figure-1.svg").read_bytes()
    run()
    assert (tmp_path / "out" / "figures" / "figure-1.svg").read_bytes() == first


def test_outdated_files_are_removed_and_foreign_ones_stay(run, tmp_path):
    run()
    (tmp_path / "out" / "figures" / "mine.txt").touch()
    table = Table("other", "Other", ("a",), (("1",),))
    run(pictures=(made_picture("figure-2"),), tables=(table,))
    gone = {"figures/figure-1.svg", "figures/figure-1.png", "tables/end.csv", "tables/end.md"}
    come = {"figures/figure-2.svg", "figures/figure-2.png", "tables/other.csv", "tables/other.md"}
    assert files_in(tmp_path / "out") == (FILES - gone) | come | {"crawls/crawl.npz", "figures/mine.txt"}


def test_crawls_may_be_cached_elsewhere(run, tmp_path):
    run(cache=tmp_path / "shared")
    assert files_in(tmp_path / "out") == FILES
    assert (tmp_path / "shared" / "crawl.npz").exists()


def test_findings_are_written_last_and_removed_before_anything_changes(run, tmp_path, monkeypatch):
    run()

    def stopped(path, _content):
        assert not (tmp_path / "out" / FINDINGS_FILE).exists()
        if path.name == "study.json":
            raise KeyboardInterrupt

    monkeypatch.setattr("scenthound.experiments.results.write_atomic", stopped)
    monkeypatch.setattr("scenthound.store.folder.write_atomic", stopped)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert not (tmp_path / "out" / FINDINGS_FILE).exists()


def test_a_failure_while_crawling_leaves_earlier_results_complete(run, tmp_path):
    run()
    with pytest.raises(KeyboardInterrupt):
        run(fails=KeyboardInterrupt())
    assert files_in(tmp_path / "out") == {*FILES, "crawls/crawl.npz"}


def test_a_failed_run_leaves_nothing(run, tmp_path):
    with pytest.raises(InvalidTopic):
        run(fails=InvalidTopic("too few topics"))
    assert not (tmp_path / "out").exists()


def test_an_interrupted_run_can_be_continued(run, web_path, tmp_path):
    def crawl_and_stop():
        with study_folder(tmp_path / "out", "pant2002", RecordedWeb.open(web_path).fingerprint):
            (tmp_path / "out" / "crawls").mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl_and_stop()
    assert files_in(tmp_path / "out") == {"study.json"}
    run()
    assert (tmp_path / "out" / FINDINGS_FILE).exists()


def test_an_empty_folder_may_be_filled(run, tmp_path):
    (tmp_path / "out").mkdir()
    run()
    assert (tmp_path / "out" / FINDINGS_FILE).exists()


@pytest.mark.parametrize("listed", [5, [["figures"], None], {"figures": 1}])
def test_a_corrupt_list_of_files_is_ignored(tmp_path, listed):
    with study_folder(tmp_path / "out", "pant2002", "f1") as folder:
        folder.write_json("study.json", folder.about | {"files": listed})
    with study_folder(tmp_path / "out", "pant2002", "f1") as folder:
        write_results(folder, {}, {"study": "pant2002", "web_fingerprint": "f1"}, {})
        assert (tmp_path / "out" / FINDINGS_FILE).exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "scenthound search"}'])
def test_a_folder_that_is_not_a_study_is_refused_and_not_changed(run, tmp_path, content):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "study.json").write_text(content)
    with pytest.raises(InvalidInput, match=rf"{tmp_path / 'out'} .*\bstudy: .*--out\b"):
        run()
    assert (tmp_path / "out" / "study.json").read_text() == content


def test_a_file_instead_of_a_folder_is_refused(run, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InvalidInput, match=rf"{tmp_path / 'out'} .*\bstudy: .*--out\b"):
        run()


def test_the_folder_of_another_study_is_refused(tmp_path):
    with study_folder(tmp_path / "out", "wang2009", "f1"):
        (tmp_path / "out" / "crawls").mkdir()
    with pytest.raises(InvalidInput, match=r"\bwang2009: .*--out\b"), study_folder(tmp_path / "out", "pant2002", "f1"):
        pass


def test_the_same_study_on_another_web_is_refused(run, tmp_path):
    run()
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "out" / "study.json").write_text(
        (tmp_path / "out" / "study.json").read_text().replace(RecordedWeb.open(record_ring(other)).fingerprint, "f2")
    )
    with pytest.raises(InvalidInput, match=r"\bpant2002 .*\(.+\): .*--out\b.*--cache\b"):
        run()


def test_two_runs_do_not_share_a_folder(tmp_path):
    with (
        study_folder(tmp_path / "out", "pant2002", "f1"),
        pytest.raises(InvalidInput, match=rf"\bprocess .*{tmp_path / 'out'}: .*--out\b"),
        study_folder(tmp_path / "out", "pant2002", "f1"),
    ):
        pass


def test_a_corrupt_list_of_files_removes_nothing_outside_of_the_folder(tmp_path):
    (tmp_path / "precious").touch()
    about = {"study": "pant2002", "web_fingerprint": "f1"}
    files = ["../precious", os.fspath(tmp_path / "precious")]
    with study_folder(tmp_path / "out", "pant2002", "f1") as folder:
        folder.write_json("study.json", folder.about | {"files": files})
    with study_folder(tmp_path / "out", "pant2002", "f1") as folder:
        write_results(folder, {}, about, {})
    assert (tmp_path / "precious").exists()


def test_progress_ends_at_one(monkeypatch, web_path, tmp_path):
    result = []
    made = made_study(arms=(made_arm(),), findings=(made_finding(Verdict.REPRODUCED),))

    def crawled(*_, progress, **__):
        progress(1.0, "all crawls")
        return made

    monkeypatch.setattr(studying, "run_study", crawled)
    study_into(
        tmp_path / "out",
        made.settings,
        web_path,
        tmp_path,
        render=RENDERER,
        progress=lambda share, _: result.append(share),
    )
    assert result == sorted(result)
    assert result[0] < 1
    assert result[-1] == 1
