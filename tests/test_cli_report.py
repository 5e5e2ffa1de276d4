"""`scenthound report`: output files, replaced files, and folders without a report."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from overview_crawls import add_visits, planned_crawl
from scenthound.model import Topic
from scenthound.ui import reports
from scenthound.ui.document import Document
from scenthound.ui.html import document_html

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    return made(tmp_path / "balloons", [0.5, 0.25, 0.75])


def made(folder: Path, relevances: list[float], **changes: object) -> Path:
    with planned_crawl(folder, **changes) as store:
        add_visits(store, relevances, {0: [2]})
    return folder


def test_a_report_is_written_into_the_folder(crawl: Path, scenthound: Call) -> None:
    code, out, err = scenthound("report", crawl)
    file = crawl / "report.html"
    assert code == 0, err
    assert out == f"Report: {file} ({file.stat().st_size / 1000:,.0f} KB)\n"
    assert "<h1>Crawl for ballooning</h1>" in file.read_text("utf-8")
    # A report may be replaced.
    assert scenthound("report", crawl)[0] == 0


def test_other_files_are_replaced_only_with_force(crawl: Path, tmp_path: Path, scenthound: Call) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("<!DOCTYPE html><p>mine")
    code, _, err = scenthound("report", crawl, "--out", mine)
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(mine) in err
    assert "--force" in err
    assert mine.read_text() == "<!DOCTYPE html><p>mine"
    assert scenthound("report", crawl, "--out", mine, "--force")[0] == 0
    assert reports.is_report(mine)


def test_several_crawls_are_reported_side_by_side(crawl: Path, tmp_path: Path, scenthound: Call) -> None:
    other = made(tmp_path / "others", [0.25, 0.25, 0.25, 1.0])
    code, _, err = scenthound("report", crawl, other, "--out", tmp_path / "both.html")
    assert code == 0, err
    html = (tmp_path / "both.html").read_text("utf-8")
    assert "<h1>2 " in html
    # After three pages: (0.5 + 0.25 + 0.75) / 3, and 0.25.
    assert "balloons (0.500), others (0.250)" in html
    # Pages 0 to 2 are of both, page 3 of the second alone.
    assert ">75.0%<" in html


def test_crawls_for_different_topics_are_not_ranked(crawl: Path, tmp_path: Path, scenthound: Call) -> None:
    other = made(tmp_path / "trains", [0.25] * 4, topic=Topic("trains", ("train",)))
    assert scenthound("report", crawl, other, "--out", tmp_path / "both.html")[0] == 0
    html = (tmp_path / "both.html").read_text("utf-8")
    assert "(0.500)" not in html
    assert "(0.250)" not in html


def test_crawls_with_the_same_name_have_distinct_labels(crawl: Path, tmp_path: Path, scenthound: Call) -> None:
    (tmp_path / "older").mkdir()
    twin = made(tmp_path / "older" / "balloons", [0.25] * 4)
    assert scenthound("report", crawl, twin, "--out", tmp_path / "both.html")[0] == 0
    assert "older/balloons" in (tmp_path / "both.html").read_text("utf-8")


def test_only_crawls_are_reported_side_by_side(crawl: Path, web_path: Path, tmp_path: Path, scenthound: Call) -> None:
    code, _, err = scenthound("report", crawl, web_path, "--out", tmp_path / "both.html")
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(web_path) in err
    assert not (tmp_path / "both.html").exists()


def test_a_run_has_a_report(web_path: Path, topics_file: Path, tmp_path: Path, scenthound: Call) -> None:
    simulate = ("simulate", "--web", web_path, "--topics", topics_file, "--pages", 10, "--workers", 1, "--start", 2)
    code, _, err = scenthound(*simulate, "--strategy", "breadth_first", "--out", tmp_path / "run")
    assert code == 0, err
    assert scenthound("report", tmp_path / "run")[0] == 0
    html = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert re.search(r'class="kind">[^<]*\brun\b', html)


def test_other_folders_are_reported_in_one_line(web_path: Path, tmp_path: Path, scenthound: Call) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    newer = made(tmp_path / "newer", [0.5])
    about = newer / "crawl.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "version": 99}))
    damaged = made(tmp_path / "damaged", [0.5])
    (damaged / "crawl.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 50)
    printed = {
        tmp_path / "nowhere": "nowhere",
        tmp_path / "file": "file",
        tmp_path / "empty": "empty",
        newer: "99",
        damaged: "crawl.sqlite",
        web_path: "scenthound compare",
    }
    for folder, value in printed.items():
        code, out, err = scenthound("report", folder)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert str(folder) in err
        assert value in err
        assert not (folder / "report.html").exists()


def test_a_file_that_cannot_be_written_is_reported(crawl: Path, tmp_path: Path, scenthound: Call) -> None:
    code, _, err = scenthound("report", crawl, "--out", tmp_path / "nowhere" / "report.html")
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(tmp_path / "nowhere") in err
    code, _, err = scenthound("report", crawl, "--out", tmp_path)
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(tmp_path) in err
    assert "--out" in err


def test_the_browser_is_started_only_on_request(crawl: Path, scenthound: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or len(opened) < 2)
    assert scenthound("report", crawl)[0] == 0
    assert opened == []
    assert scenthound("report", crawl, "--open")[::2] == (0, "")
    assert opened == [(crawl / "report.html").resolve().as_uri()]
    code, _, err = scenthound("report", crawl, "--open")
    assert (code, len(err.splitlines())) == (0, 1)


def test_a_finished_study_has_its_stored_report(tmp_path: Path, scenthound: Call) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (study / "study.json").write_text('{"format": "scenthound study", "version": 1}')
    (study / "report.html").write_text(document_html(Document("study", "Ours", ("All is well.",), ())))
    code, _, err = scenthound("report", study, "--out", tmp_path / "copy.html")
    assert (code, len(err.splitlines())) == (2, 1)
    assert str(study) in err
    assert "scenthound study" in err
    (study / "findings.json").write_text("{}")
    assert scenthound("report", study, "--out", tmp_path / "copy.html")[0] == 0
    assert (tmp_path / "copy.html").read_bytes() == (study / "report.html").read_bytes()
