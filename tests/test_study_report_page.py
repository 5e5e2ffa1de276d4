"""The report of a study."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from made_study import made_arm, made_finding, made_study
from scenthound.experiments.findings import Finding, Verdict
from scenthound.experiments.study.tables import Panel, Picture
from scenthound.experiments.study.tables import Table as StudyTable
from scenthound.ui.document import Chart, Document, Section, Table
from scenthound.ui.html import document_html
from scenthound.ui.reports.study import (
    ERRORS_NOTE,
    figure_title,
    study_figure,
    study_report,
    table_block,
)

VOID = {"meta"}


def report(**more: object) -> Document:
    return study_report(made_study(**more), Path("out"))


def page(**more: object) -> str:
    return document_html(report(**more))


def section(shown: Document, title: str) -> Section:
    return next(each for each in shown.sections if each.title == title)


def picture_section(picture: Picture, arms) -> Section:
    figure = study_figure(picture, arms)
    return Section(figure_title(figure.name, figure.caption), figure.charts)


class Reader(HTMLParser):
    """Gathers tags and texts, and notes where tags are not closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.wrong: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_the_report_of_a_study_is_well_formed_and_self_contained():
    html = page()
    reader = read(html)
    assert (reader.wrong, reader.open) == ([], [])
    assert not {"link", "img", "iframe", "object"} & set(reader.tags)
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#)|@import|url\((?!#)", html)


def test_the_report_begins_with_the_verdicts():
    shown = report()
    assert shown.summary[0] == "2 findings: 1 reproduced, 0 not reproduced, 1 undecided."
    assert re.match(r".*\bschool, 100 pages .*\b1 host: 3 topics, 1 random seed\b", shown.summary[1])
    assert dict(shown.key_facts) == {"findings": "2", "reproduced": "1", "not reproduced": "0", "undecided": "1"}
    html = document_html(shown)
    assert html.index("2 findings") < html.index("Verdicts")


def test_the_report_ends_with_the_reproduce_command():
    shown = report()
    facts, command = section(shown, "This run").blocks
    assert "versions" in dict(facts.rows)
    out = Path("out").absolute()
    assert command.text.splitlines() == [
        "scenthound study pant2002 \\",
        "    --web webs/school \\",
        "    --topics topics.jsonl \\",
        f"    --settings {out / 'settings.toml'} \\",
        f"    --out {out}",
    ]
    assert shown.sections[-1] == section(shown, "Settings")
    assert 'study = "pant2002"' in shown.sections[-1].blocks[0].text


def test_every_text_is_escaped():
    evil = "<script>alert('1')</script> & \"more\""
    finding = Finding(evil, evil, evil, made_finding(Verdict.REPRODUCED).claims)
    tables = (StudyTable(evil, evil, ("crawler", evil), ((evil, evil),), evil),)
    plain, html = page(), page(findings=(finding,), tables=tables, notes=(evil,), topics_file=Path(evil))
    assert read(html).wrong == []
    assert read(html).tags.count("script") == read(plain).tags.count("script")
    assert html.count("&lt;script&gt;") > 10


def test_a_verdict_has_a_sign():
    findings = tuple(made_finding(verdict, name=f"H{n}") for n, verdict in enumerate(Verdict, 1))
    html = page(findings=findings)
    for verdict in Verdict:
        # In the table of verdicts, and in the row of its claim.
        assert html.count(f"</span> {verdict}</span>") == 2


def texts(rows) -> list[list[str]]:
    return [[cell.text for cell in row] for row in rows]


def test_verdicts_have_their_protocols_and_reasons():
    findings = (
        made_finding(Verdict.REPRODUCED, protocol="as_published"),
        made_finding(Verdict.NOT_REPRODUCED, name="H2", protocol="corrected"),
        made_finding(Verdict.UNDECIDED),
    )
    verdicts = section(report(findings=findings), "Findings").blocks[0]
    assert isinstance(verdicts, Table)
    assert verdicts.columns == ("finding", "statement", "protocol", "verdict", "reason")
    assert texts(verdicts.rows) == [
        ["H1", "Greedy > Blind", "as published", "reproduced", "It is reproduced."],
        ["H1", "Greedy > Blind", "-", "undecided", "It is undecided."],
        ["H2", "Greedy > Blind", "corrected", "not reproduced", "It is not reproduced."],
    ]
    assert [row[3].status for row in verdicts.rows] == ["good", "open", "bad"]


def test_a_claim_shows_effect_interval_and_corrected_p():
    claims = section(report(findings=(made_finding(Verdict.REPRODUCED),)), "Findings").blocks[1]
    assert isinstance(claims, Table)
    assert texts(claims.rows) == [
        ["H1", "claim 1", "reproduced", "sign flips, above 0", "0.020", "+0.25", "+0.125 to +0.375", "5 topics"]
    ]
    assert claims.rows[0][1].tooltip == "It is reproduced."


def test_charts_have_the_numbers_of_the_figures():
    panel = Panel("found", "task 1", ("recall",), "share found", with_bounds=True)
    shown = picture_section(Picture("figure-3", "What was found", (panel,)), [made_arm()])
    assert shown.title == "Figure 3. What was found"
    (chart,) = shown.blocks
    assert (chart.title, chart.x_label, chart.y_label, chart.kind) == (
        "found",
        "pages visited",
        "share found",
        "curves",
    )
    assert [series.name for series in chart.series] == ["Greedy", "Blind", "random", "greedy oracle"]
    greedy, blind, random, oracle = chart.series
    # Recalls of 0.6, 0.8 and 1 at the end: a mean of 0.8, a standard deviation of 0.2 over the square root of 3.
    np.testing.assert_allclose(greedy.x, [10, 20, 30, 40])
    np.testing.assert_allclose(greedy.y, [0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(greedy.error[-1], 0.2 / 3**0.5)
    np.testing.assert_allclose(blind.y[-1], 0.4)
    np.testing.assert_allclose([random.y[-1], oracle.y[-1]], [0.2, 1])
    assert random.error is oracle.error is None
    assert ERRORS_NOTE in chart.note


def test_bars_have_a_category_for_each_measure():
    panel = Panel("", "task 1", ("recall", "rank:by=lexical"), "both", kind="bars", crawlers=("Blind",))
    (chart,) = picture_section(Picture("ends", "Ends", (panel,)), [made_arm()]).blocks
    assert (chart.title, chart.kind, chart.categories) == ("Ends", "bars", ("recall", "lexical"))
    (blind,) = chart.series
    np.testing.assert_allclose(blind.x, [0, 1])
    np.testing.assert_allclose(blind.y, [0.4, 80])
    single = Panel("", "task 1", ("recall",), "share", kind="bars")
    assert picture_section(Picture("one", "One", (single,)), [made_arm()]).blocks[0].categories == ("",)


def test_lower_is_better_is_stated():
    panel = Panel("", "task 1", ("rank:by=lexical",), "mean rank")
    (chart,) = picture_section(Picture("ranks", "Ranks", (panel,)), [made_arm()]).blocks
    assert isinstance(chart, Chart)
    assert chart.y_label == "mean rank (lower is better)"


def test_figures_that_the_paper_lacks_have_no_number():
    assert figure_title("figure-2-corrected", "Two") == "Figure 2. Two"
    assert figure_title("figure-2b", "Two") == "Figure 2b. Two"
    assert figure_title("recall", "Recall") == "Recall"


def test_sections_without_content_are_left_out():
    shown = report(findings=(), pictures=(), tables=(), arms=(made_arm(),), notes=("One note",))
    assert [each.title for each in shown.sections] == ["Notes", "This run", "Settings"]


def test_columns_of_numbers_are_right_aligned():
    table = StudyTable("t", "T", ("crawler", "of", "mean"), (("1", "none", "1.5 ± 0.2"), ("2", "1", "-")))
    assert table_block(table).n_text_columns == 2
    assert table_block(StudyTable("t", "T", ("crawler", "mean"), (("a", "< 0.0001"), ("b", "2 %")))).n_text_columns == 1


def test_marks_are_separated_from_numbers():
    block = table_block(StudyTable("t", "T", ("crawler", "mean"), (("a*", "0.5*†"), ("b", "-"))))
    assert isinstance(block, Table)
    assert [(cell.text, cell.mark) for row in block.rows for cell in row] == [
        ("a*", ""),
        ("0.5", "*†"),
        ("b", ""),
        ("-", ""),
    ]
