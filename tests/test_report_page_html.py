"""The HTML of reports: escaping, self-containment and rounding."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest

from scenthound.ui.document import (
    Block,
    BulletList,
    Cell,
    Chart,
    CodeBlock,
    Document,
    Facts,
    GraphNode,
    LinkGraph,
    Marker,
    Section,
    Series,
    Table,
)
from scenthound.ui.html import (
    PAGE_SCRIPTS,
    PAGE_STYLES,
    asset_text,
    content_security_policy,
    document_html,
    page_script,
    page_style,
)
from scenthound.ui.html_blocks import DASH, MINUS, Anchors, chart_data, kept_points, number_text, rounded

HOSTILE = "</script><script>alert('x')</script>\"'&\u2028\u202e\x00\ud800"
VOID = {"meta"}
TEXT = "Text."


def curve(name: str, y: list[float], **more: object) -> Series:
    return Series(name, np.arange(1, len(y) + 1, dtype=np.float64), np.array(y, dtype=np.float64), **more)


def chart(*series: Series, name: str = "harvest", **more: object) -> Chart:
    return Chart(name, "Harvest", "pages", "share", series or (curve("best_first", [0.5, 0.25]),), **more)


def page_of(*blocks: Block, **more: object) -> str:
    return document_html(Document("crawl", "A crawl", ("It went well.",), (Section("Part", blocks),), **more))


def hostile_page() -> Document:
    """A document in which every text would run if it were not escaped."""
    bad = HOSTILE
    series = Series(bad, np.array([0.0]), np.array([1.0]))
    blocks = (
        Chart(bad, bad, bad, bad, (series,), markers=(Marker(1.0, bad),), note=bad),
        Chart(bad, bad, bad, bad, (series,), kind="bars", categories=(bad,), note=bad),
        Table(bad, bad, (bad,), ((Cell(bad, mark=bad, link=bad),),), note=bad),
        LinkGraph(bad, bad, (GraphNode(bad, bad, 1, 0.5, 0, None),), note=bad),
        bad,
        BulletList((bad,)),
        Facts(((bad, bad),)),
        CodeBlock(bad, bad),
    )
    sections = (Section(bad, blocks), *(Section(bad, (TEXT,), collapsed=True) for _ in range(4)))
    return Document(bad, bad, (bad,), sections, ((bad, bad),))


class Reader(HTMLParser):
    """Collects tags with their attributes, texts of scripts, and wrongly nested tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def test_texts_never_become_html():
    html = document_html(hostile_page())
    reader = Reader(html)
    assert (reader.wrong, reader.open) == ([], [])
    assert sum(tag == "script" and not attrs for tag, attrs in reader.tags) == 1
    assert not any(name.startswith("on") or name == "style" for _, attrs in reader.tags for name in attrs)
    assert "<script>alert" not in html


def test_data_for_scripts_is_complete_without_unsafe_characters():
    _, *data = Reader(document_html(hostile_page())).scripts
    assert len(data) == 3
    (series,) = json.loads(data[0])["series"]
    assert series["name"] == "</script><script>alert('x')</script>\"'&\u2028\ufffd\ufffd\ufffd"
    assert not any(sign in text for text in data for sign in "<>&\u2028\u2029")


def test_every_page_can_be_encoded_as_utf8():
    assert document_html(hostile_page()).encode()


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "javascript://host/%0aalert(1)",
        "data:text/html,x",
        "https:nowhere",
        "//host/x",
        "http://[x",
    ],
)
def test_only_web_urls_become_links(url):
    html = page_of(Table("t", "T", ("page",), ((Cell("a page", link=url),),)))
    assert not [tag for tag, _ in Reader(html).tags if tag == "a"]


def test_links_open_in_a_new_tab():
    html = page_of(Table("t", "T", ("page",), ((Cell("a page", link="https://a.example/?x=1&y=2"),),)))
    (link,) = [attrs for tag, attrs in Reader(html).tags if tag == "a"]
    assert link == {"href": "https://a.example/?x=1&y=2", "target": "_blank", "rel": "noopener noreferrer"}


def test_the_policy_allows_only_the_style_sheet_and_script_of_the_page():
    html = page_of(chart())
    (policy,) = [attrs["content"] for _, attrs in Reader(html).tags if attrs.get("http-equiv")]
    for kind, tag in (("script", "script"), ("style", "style")):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"; {kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_a_server_sends_the_same_policy_with_a_sandbox():
    html = page_of("<script>alert(1)</script><style>p {}</style>")
    (policy,) = [attrs["content"] for _, attrs in Reader(html).tags if attrs.get("http-equiv")]
    sent = content_security_policy(html)
    assert sent.startswith(f"{policy}; sandbox allow-scripts ")
    assert "allow-same-origin" not in sent


def test_a_page_loads_nothing():
    html = page_of(chart(), LinkGraph("g", "G", (GraphNode("t", "http://a.example/", 1, 1.0, 0, None),)))
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in Reader(html).tags}
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|innerHTML|\beval\(", page_style() + page_script())


def test_the_same_page_makes_the_same_bytes():
    assert document_html(hostile_page()) == document_html(hostile_page())


def test_style_sheets_and_scripts_are_smaller_than_60_kb():
    assert len((page_script() + page_style()).encode()) < 60_000


def test_all_scripts_and_style_sheets_are_included():
    listed = {*PAGE_SCRIPTS, *PAGE_STYLES}
    assert all(asset_text(name) for name in listed)
    assert len(listed) == len(PAGE_SCRIPTS) + len(PAGE_STYLES)
    assert "light-dark(" in page_style()
    assert not re.search(r"^\s*//|/\*", page_style() + page_script(), re.MULTILINE)


def test_numbers_are_rounded_and_nan_is_null():
    data = chart_data(chart(curve("a", [0.123456789, np.nan, np.inf, 3.0, 123456.7], error=np.full(5, np.nan))))
    (series,) = data["series"]
    assert series["y"] == [0.12346, None, None, 3, 123460]
    assert series["error"] == [None] * 5
    assert "NaN" not in page_of(chart(curve("a", [np.nan, 1.0])))


def test_integers_are_exact():
    counts = Series("pages", np.array([1.0, 1_234_567.0]), np.array([7_654_321.0, -123_456_789.0]))
    data = chart_data(Chart("c", "C", "pages", "links", (counts,), markers=(Marker(1_234_567.0, "here"),)))
    assert (data["series"][0]["x"], data["series"][0]["y"]) == ([1, 1_234_567], [7_654_321, -123_456_789])
    assert data["markers"][0]["x"] == 1_234_567
    assert json.dumps(rounded(1e300)) == "1e+300"


def test_long_curves_are_thinned_most_at_their_end():
    kept = kept_points(100_000)
    assert (len(kept) <= 500, kept[0], kept[-1]) == (True, 0, 99_999)
    assert np.count_nonzero(kept < 1000) > 100
    assert np.diff(kept).max() < 500
    (series,) = chart_data(chart(curve("a", list(range(2000)))))["series"]
    assert series["x"][:3] == [1, 2, 3]
    assert series["y"] == [x - 1 for x in series["x"]]


def test_short_curves_and_bars_keep_all_their_points():
    assert kept_points(500).tolist() == list(range(500))
    bars = Series("a", np.arange(700.0), np.ones(700))
    (series,) = chart_data(chart(bars, kind="bars", categories=tuple("x" * 700)))["series"]
    assert len(series["x"]) == 700


def plain_table(html: str) -> list[list[str]]:
    """The cells of the first table for readers without scripts."""
    table = html.split('<div class="plain">')[1].split("</table>", 1)[0]
    return [re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row) for row in table.split("</tr>")[:-1]]


def test_without_scripts_a_chart_is_a_table_of_a_few_positions():
    rows = plain_table(
        page_of(chart(curve("a", [float(x) for x in range(11)], error=np.full(11, 0.5)), curve("b", [7.0])))
    )
    assert rows[0] == ["pages", "1", "3", "5", "7", "9", "11"]
    assert rows[1] == ["a", "0 ± 0.5", "2 ± 0.5", "4 ± 0.5", "6 ± 0.5", "8 ± 0.5", "10 ± 0.5"]
    assert rows[2] == ["b", "7", *[DASH] * 5]


def test_without_scripts_bars_are_a_table_of_all_categories():
    bars = Series("pages", np.array([0.0, 2.0]), np.array([1234.0, -0.5]))
    rows = plain_table(
        page_of(Chart("b", "B", "host", "pages", (bars,), "bars", ("x.example", "y.example", "z.example")))
    )
    assert rows == [["host", "pages"], ["x.example", "1,234"], ["y.example", DASH], ["z.example", f"{MINUS}0.5"]]


def test_empty_charts_and_graphs_are_rendered():
    empty = Series("a", np.empty(0), np.empty(0))
    html = page_of(Chart("c", "C", "x", "y", ()), chart(empty), LinkGraph("g", "G", ()))
    assert Reader(html).wrong == []


def test_a_table_has_marks_and_emphasis():
    table = Table("t", "T", ("who", "time"), ((Cell("a", emphasis=True), Cell("2 min", "*")),), note="* best")
    html = page_of(table)
    assert '<th scope="row"><strong>a</strong></th>' in html
    assert '<td class="figure">2 min<sup class="mark">*</sup></td>' in html
    assert '<p class="note">* best</p>' in html


def test_long_pages_have_a_table_of_contents():
    sections = tuple(Section(title, (TEXT,)) for title in ("Curves", "Hosts", "Hosts", "Ende gut"))
    html = document_html(Document("crawl", "A crawl", (), sections))
    assert re.findall(r'<a href="(.*?)">(.*?)</a>', html) == [
        ("#curves", "Curves"), ("#hosts", "Hosts"), ("#hosts-2", "Hosts"), ("#ende-gut", "Ende gut"),
    ]  # fmt: skip
    assert "<nav" not in document_html(Document("crawl", "A crawl", (), sections[:3]))


def test_a_block_keeps_its_id_if_a_section_has_the_same_name():
    html = document_html(Document("crawl", "A crawl", (), (Section("Harvest", (chart(name="harvest"),)),)))
    assert '<figure class="chart" id="harvest">' in html
    assert '<section id="harvest-2">' in html


def test_collapsed_sections_can_be_opened_without_scripts():
    html = document_html(Document("crawl", "A crawl", (), (Section("Settings", ("Text.",), collapsed=True),)))
    assert '<details class="section" id="settings">\n<summary><h2>Settings</h2></summary>\n<p>Text.</p>' in html


def test_summary_and_key_facts_come_first():
    html = page_of("Later.", key_facts=(("relevant", "62 %"),))
    positions = [html.index(text) for text in ("A crawl</h1>", "It went well.", "<dd>62 %</dd>", "Later.")]
    assert positions == sorted(positions)


def test_ids_are_unique_and_valid_in_urls():
    anchors = Anchors()
    assert [anchors.new(name) for name in ("Top hosts", "top-hosts", "<b>", "", "…")] == [
        "top-hosts", "top-hosts-2", "b", "part", "part-2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123456, "0.1235"), (1234.5, "1,234"), (-2.0, f"{MINUS}2"), (float("nan"), DASH), (1e6, "1,000,000"), (0, "0")],
)
def test_numbers_are_formatted_for_people(value, text):
    assert number_text(value) == text
