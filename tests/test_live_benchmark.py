"""The benchmark of live crawls: real pages as sites, stages, and the comparison with Scrapy."""

import sys
import time
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from scenthound.errors import Failure
from scenthound.web.parse import anchors_of

ROOT = Path(__file__).resolve().parents[1]
PORT = 18_999


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


@pytest.fixture
def real_sites():
    return import_module("benchmarks.real_sites")


@pytest.fixture
def live():
    return import_module("benchmarks.live")


@pytest.fixture
def stages():
    return import_module("benchmarks.live_stages")


def upper(reference):
    return reference.upper()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a class=x href="a.htm" id=y>a</a>', '<a class=x href="A.HTM" id=y>a</a>'),
        ("<A HREF = 'a.htm'>a</A>", "<A HREF = 'A.HTM'>a</A>"),
        ("<a href=a.htm>a</a>", "<a href=A.HTM>a</a>"),
        ('<a title="a > b" href="a?b&amp;c">', '<a title="a > b" href="A?B&amp;C">'),
        ('<a title="one" two" href="a">b</a><a href="c">', '<a title="one" two" href="A">b</a><a href="C">'),
        ('<area href="a"><iframe src="b"></iframe>', '<area href="A"><iframe src="B"></iframe>'),
        ('<!-- <a href="a"> --><link href="b">', '<!-- <a href="a"> --><link href="b">'),
        ("""<script>'<a href="a">'</script><a href="b">""", """<script>'<a href="a">'</script><a href="B">"""),
        ('<abbr href="a"><a name="b">', '<abbr href="a"><a name="b">'),
    ],
)
def test_only_the_targets_of_links_are_rewritten(real_sites, html, expected):
    assert real_sites.rewritten(html, upper) == expected


def one_host(real_sites):
    """Pages of one host: `/a/start`, which links to all forms of URLs, `/b/C++.htm`, and one without links to it."""
    start = (
        '<a href="../b/C++.htm#top">relative</a> <a href="/b/C++.htm">from the root</a> <a href="#here">here</a>'
        '<a href="https://example.org/b/C++.htm">absolute</a> <a href="/missing">missing</a>'
        '<a href="http://elsewhere.example/x">elsewhere</a> <a href="mailto:me@example.org">mail</a>'
        '<a href="/old">alias</a>'
    )
    page = real_sites.SourcePage
    return [
        page(("https://example.org/a/start",), start),
        page(("https://example.org/b/C++.htm", "https://example.org/old"), '<a href="../a/start">start</a>'),
    ]


def links_of(folder, file):
    host = file.relative_to(folder).parts[0]
    url = f"http://{host}:{PORT}/{file.relative_to(folder / host)}"
    return [anchor.url for anchor in anchors_of(file.read_text(), url)]


def written(real_sites, pages, folder, start=""):
    layout = real_sites.layout_of(lambda: pages, start)
    assert len(real_sites.write_pages(lambda: pages, layout, folder, PORT)) == len(list(files(folder)))
    return layout


def files(folder):
    return (file for file in folder.rglob("*") if file.is_file())


def assert_alive(folder):
    for file in files(folder):
        for link in links_of(folder, file):
            parts = urlsplit(link)
            assert parts.port == PORT
            assert (folder / parts.hostname / unquote(parts.path).lstrip("/")).is_file()


def test_all_links_of_a_collection_of_one_host_are_alive(real_sites, tmp_path):
    pages = one_host(real_sites)
    layout = written(real_sites, pages, tmp_path, "https://example.org/a/start")
    assert layout.places[layout.start].path == "/a/start.html"
    assert len({place.host for place in layout.places}) == 2
    assert_alive(tmp_path)
    start = (tmp_path / layout.places[0].file).read_text()
    target = layout.places[1].url(PORT)
    assert start.count("<a ") == pages[0].html.count("<a ")
    assert start.count(f'href="{target}') >= 4
    for kept in (f'"{target}#top"', 'href="#here"', 'href="mailto:me@example.org"'):
        assert kept in start


def test_links_within_a_host_keep_their_form(real_sites):
    place = real_sites.Place
    places = [place("127.0.1.1", "/a/start.html"), place("127.0.1.1", "/b/x:y.html"), place("127.0.1.1", "/a/x:y.html")]
    numbers = {"example.org/a/start": 0, "example.org/b/x:y": 1, "example.org/a/x:y": 2}
    layout = real_sites.Layout(places, numbers, 0, {"127.0.1.1": [0, 1, 2]})
    rewriter = real_sites.LinkRewriter("https://example.org/a/start", 0, layout, PORT)
    assert rewriter.reference("../b/x:y#z") == "../b/x:y.html#z"
    assert rewriter.reference("./x:y") == "./x:y.html"
    assert rewriter.reference("/b/x:y") == "/b/x:y.html"
    assert rewriter.reference("http://example.org/b/x:y") == f"http://127.0.1.1:{PORT}/b/x:y.html"
    assert rewriter.reference("#z") is None
    assert rewriter.targets == [1, 2, 1, 1]


def test_hosts_of_a_collection_have_addresses_of_their_own(real_sites, tmp_path):
    page = real_sites.SourcePage
    pages = [
        page(
            (f"http://{host}.example/{number}.html",),
            f'<a href="{number + 1}.html">next</a><a href="http://out.example/">',
        )
        for host in ("one", "two")
        for number in range(30)
    ]
    layout = written(real_sites, pages, tmp_path)
    assert {place.host for place in layout.places[:30]}.isdisjoint(place.host for place in layout.places[30:])
    assert_alive(tmp_path)


def test_pages_that_cannot_be_reached_are_not_written(real_sites, tmp_path):
    pages = [
        real_sites.SourcePage((f"https://example.org/{name}.html",), html)
        for name, html in (("a", '<a href="b.html">b</a>'), ("lonely", '<a href="a.html">a</a>'), ("b", ""))
    ]
    written(real_sites, pages, tmp_path, "https://example.org/a.html")
    assert {file.name for file in files(tmp_path)} == {"a.html", "b.html"}


def test_the_stage_of_a_function_is_that_of_its_class_before_that_of_its_module(stages):
    names = stages.Stages()
    assert names.stage("web.html:read_html") == "HTML and text"
    assert names.stage("crawler.reader:visible_links") == "links and URL table"
    assert names.stage("relevance.classifiers.linear:fit") == "scoring"
    assert names.stage("cli.app:main") is None


@pytest.mark.skipif(sys.platform != "linux", reason="CPU clocks of threads")
def test_stages_add_up_to_the_cpu_time(stages):
    sampler = stages.StageSampler()
    until_s = time.thread_time() + 0.1
    while time.thread_time() < until_s:
        sum(range(1000))
    sampler.end()
    cpu_s = sampler.cpu_s()
    own_s = sum(seconds for stage, seconds in cpu_s.items() if stage in (*stages.STAGES, stages.OTHER, stages.IMPORTS))
    assert own_s >= 0.1
    assert sampler.functions(5)


def test_scores_of_generated_pages_must_be_equal(live):
    ours = {str(page): 0.5 for page in range(20)}
    live._check_scores(ours, ours, is_real=False)
    with pytest.raises(Failure):
        live._check_scores(ours, ours | {"3": 0.50001}, is_real=False)


def test_a_tenth_of_the_scores_of_real_pages_may_differ(live):
    ours = {str(page): 0.5 for page in range(20)}
    live._check_scores(ours, dict.fromkeys(ours, 0.51) | {"3": 0.9, "4": 0.0}, is_real=True)
    with pytest.raises(Failure):
        live._check_scores(ours, ours | {"3": 0.9, "4": 0.0, "5": 0.3}, is_real=True)
    with pytest.raises(Failure):
        live._check_scores(ours, {"elsewhere": 0.5}, is_real=True)


def test_the_ratio_of_a_site_is_the_median_of_its_rounds(live):
    processes, results = import_module("benchmarks.processes"), import_module("benchmarks.live_results")

    def crawl(cpu_s):
        return processes.MeasuredCrawl(cpu_s, [processes.Report(1.0, 0, {"pages": 1000})])

    result = results.SiteResult("site", is_real=True)
    for ours, theirs in ((1.0, 6.0), (2.0, 14.0), (1.0, 5.0)):
        result.add("best_first", crawl(ours), results.PageSizes(10.0, 20.0))
        result.tuned.append(crawl(theirs))
    assert result.ratio("best_first") == 6.0
    assert result.cost_ms("best_first") == 1.0
    assert result.sizes["best_first"].max_ms == pytest.approx(0.35)


def test_files_outside_the_folder_are_not_served(tmp_path):
    (tmp_path / "site/a.test/sub").mkdir(parents=True)
    (tmp_path / "site/a.test/index.html").write_text("root")
    (tmp_path / "site/a.test/sub/page.html").write_text("page")
    (tmp_path / "secret").write_text("secret")
    page_of = import_module("benchmarks.live_server").folder_pages(tmp_path / "site")

    def body(host, path):
        page = page_of(host, path)
        return None if page is None else page.body

    assert body("a.test", "/") == b"root"
    assert body("a.test", "/sub/page.html?q") == b"page"
    assert body("a.test", "/sub") is None
    assert body("a.test", "/sub/") is None
    assert body("a.test", "/../../secret") is None
    assert body("..", "/secret") is None
    assert body("", "/secret") is None
    assert body("a.test", "/\0") is None
