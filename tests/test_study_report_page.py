"""The page of a study."""

import re
from html.parser import HTMLParser

from made_study import made_finding, made_study
from scenthound.lab.findings import Finding, Verdict
from scenthound.lab.studies.pictures import Table
from scenthound.report.studies.about import study_page
from scenthound.report.studies.page import PageFigure, StudyPage, page_html

SVG = (
    '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<svg><defs><path id="p1"/></defs><use href="#p1" clip="url(#c1)"/></svg>\n'
)
VOID = {"meta", "path", "use"}


def page(**more: object) -> StudyPage:
    parts = ("title", "summary", "findings", "figures", "tables", "notes", "facts")
    return StudyPage(**dict.fromkeys(parts, ()) | {"title": "A study"} | more)


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


def test_the_page_of_a_study_is_well_formed_and_needs_nothing_from_elsewhere():
    html = page_html(study_page(made_study(), [PageFigure("figure-1", "What it shows", SVG)], "pages = 40\n"))
    told = read(html)
    assert (told.wrong, told.open) == ([], [])
    assert not {"script", "link", "img", "iframe"} & set(told.tags)
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#)|@import|url\((?!#)", html)


def test_the_page_begins_with_what_it_came_to_in_words():
    text = " ".join(read(page_html(study_page(made_study(), [], ""))).texts)
    assert "2 findings: 1 reproduced, 0 not reproduced, 1 undecided." in text
    assert "On the recorded web school, 100 pages of 1 host: 3 topics, 1 random seed" in text
    assert text.index("2 findings") < text.index("Verdicts")


def test_every_text_is_escaped():
    evil = "<script>alert('1')</script> & \"more\""
    finding = Finding(evil, evil, evil, made_finding(Verdict.REPRODUCED).claims)
    html = page_html(
        page(
            title=evil,
            summary=(evil,),
            findings=(finding,),
            figures=(PageFigure(evil, evil, SVG),),
            tables=(Table(evil, evil, ("crawler", evil), ((evil, evil),), evil),),
            notes=(evil,),
            facts=((evil, evil),),
            settings=evil,
        )
    )
    told = read(html)
    assert "script" not in told.tags
    assert told.wrong == []
    assert html.count("&lt;script&gt;") > 10


def test_a_verdict_is_told_in_words():
    findings = tuple(made_finding(verdict, name=f"H{n}") for n, verdict in enumerate(Verdict, 1))
    html = page_html(page(findings=findings))
    for verdict in Verdict:
        # At a glance, on the finding, and on its claim.
        assert html.count(f"</span> {verdict}</span>") == 3


def test_protocols_stand_side_by_side():
    findings = (
        made_finding(Verdict.REPRODUCED, protocol="corrected"),
        made_finding(Verdict.UNDECIDED, protocol="as_published"),
        made_finding(Verdict.NOT_REPRODUCED, name="H2", protocol="corrected"),
        made_finding(Verdict.REPRODUCED, name="H3"),
    )
    overview = page_html(page(findings=findings)).split("Verdicts")[1].split("</table>")[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', overview) == ["finding", "says", "corrected", "as published"]
    first, second, third = re.findall(r'<tr><th scope="row">(.*?)</tr>', overview)
    assert re.findall(r"</span> ([\w ]+)</span>", first) == ["reproduced", "undecided"]
    assert re.findall(r"</span> ([\w ]+)</span>", second) == ["not reproduced"]
    assert second.endswith("<td>-</td>")
    assert '<td colspan="2">' in third


def test_more_than_two_protocols_stand_one_below_the_other():
    findings = (
        made_finding(Verdict.REPRODUCED, protocol="E1, seen"),
        made_finding(Verdict.UNDECIDED, name="H2", protocol="E1, seen"),
        made_finding(Verdict.NOT_REPRODUCED, protocol="E2, seen"),
        made_finding(Verdict.UNDECIDED, protocol="P, seen"),
        made_finding(Verdict.REPRODUCED, name="H3"),
    )
    overview = page_html(page(findings=findings)).split("Verdicts")[1].split("</table>")[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', overview) == ["protocol", "verdict"]
    first, second, third = re.findall(r"<tbody>(.*?)</tbody>", overview, re.DOTALL)
    assert re.findall(r"<tr><td>(.*?)</td>.*</span> ([\w ]+)</span>", first) == [
        ("E1, seen", "reproduced"),
        ("E2, seen", "not reproduced"),
        ("P, seen", "undecided"),
    ]
    assert [re.findall(r'class="told">(H\d: Greedy)', body) for body in (first, second, third)] == [
        [f"H{number}: Greedy"] for number in (1, 2, 3)
    ]
    assert re.findall(r"<tr><td>(.*?)</td>", third) == ["-"]


def test_a_claim_shows_effect_interval_and_corrected_p():
    (row,) = re.findall(r"<tr><td [^>]*title=.*?</tr>", page_html(page(findings=(made_finding(Verdict.REPRODUCED),))))
    assert 'title="It is reproduced."' in row
    cells = re.findall(r"<td[^>]*>([^<]*)", row)
    assert cells[:7] == ["claim 1", "+0.25", "+0.125 to +0.375", "5 topics", "sign flips, above 0", "0.010", "0.020"]


def test_figures_of_one_page_do_not_share_ids():
    html = page_html(page(figures=(PageFigure("figure-1", "One", SVG), PageFigure("figure-2", "Two", SVG))))
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(set(ids)) == len(ids)
    for name in ("figure-1", "figure-2"):
        assert f'href="#{name}-p1"' in html
        assert f"url(#{name}-c1)" in html
    assert "<?xml" not in html


def test_parts_without_content_are_left_out():
    assert re.findall(r"<h2>(.*?)</h2>", page_html(page(notes=("One note",)))) == ["Notes"]


def test_columns_of_figures_stand_to_the_right():
    table = Table("t", "T", ("crawler", "mean", "mixed"), (("1", "1.5 ± 0.2", "1"), ("2", "-", "none")))
    html = page_html(page(tables=(table,)))
    assert re.findall(r'class="figure">([^<]*)', html) == ["mean", "1.5 ± 0.2", "-"]
