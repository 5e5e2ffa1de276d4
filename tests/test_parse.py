"""Parsing: words and links of a page, their places, and pages made to hurt."""

import itertools
import re
import time
from pathlib import Path

import numpy as np
import orjson
import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from scenthound.files import opened
from scenthound.text.words import OPEN, WordScanner, plain_words
from scenthound.web.html import HtmlContent
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES, ParsedPage, context_bounds, parse_html
from scenthound.web.urls import resolve

URL = "http://web.test/a/page.html"


class Page:
    """A parsed page in words that can be read: stems, "" for stop words."""

    def __init__(self, html: str | bytes, url: str = URL, agent: str = "") -> None:
        scanner = WordScanner()
        self.parsed: ParsedPage = parse_html(html, url, scanner, agent=agent)
        self.words = [scanner.stems[number] for number in self.parsed.words.tolist()]
        spans = zip(self.parsed.link_start.tolist(), self.parsed.link_end.tolist(), strict=True)
        self.anchors = [" ".join(self.words[start:end]) for start, end in spans]
        self.links = list(zip(self.parsed.link_urls, self.anchors, strict=True))


def words(html: str) -> list[str]:
    return Page(html).words


def assert_places_are_sound(page: ParsedPage) -> None:
    start, end = page.link_start, page.link_end
    assert len(start) == len(end) == len(page.link_nofollow) == len(page.link_urls) <= MAX_LINKS
    assert start.dtype == end.dtype == page.words.dtype == np.int32
    assert (start >= 0).all()
    assert (start <= end).all()
    assert (end <= len(page.words)).all()
    assert (np.diff(start) >= 0).all()


def test_a_page_gives_its_title_words_and_links() -> None:
    page = Page(
        "<title>Red  Kites</title><body><p>Red kites eat <a href='/mouse'>small mice</a> and <a href=worm>worms</a>."
    )
    assert page.parsed.title == "Red Kites"
    assert page.words == ["red", "kite", "red", "kite", "eat", "small", "mice", "", "worm"]
    assert page.links == [("http://web.test/mouse", "small mice"), ("http://web.test/a/worm", "worm")]
    assert page.parsed.link_start.tolist() == [5, 8]
    assert page.parsed.link_end.tolist() == [7, 9]


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>dog<td>cat<tr><td>cow</table>bird",
        "<table><caption>dog</caption><thead><tr><th>cat<tbody><tr><td>cow</table>bird",
        "<p>dog<p>cat<div>cow</div>bird",
        "dog<br>cat<hr>cow<h1>bird</h1>",
        "<ul><li>dog<li>cat</ul><ol start=3><li>cow<ul><li>bird</ul></ol>",
        "<ul>dog<li>cat</li>cow</ul>bird",
        "<dl><dt>dog<dd>cat</dl><blockquote>cow<blockquote>bird</blockquote></blockquote>",
        "<select><option>dog<option>cat</select><button>cow</button><button>bird</button>",
        "<form>dog<label>cat</label><textarea>cow</textarea>bird</form>",
        "<span>dog<div>cat</div>cow<p>bird</p></span>",
        "<a href=x>dog<table><tr><td>cat</table>cow</a><center>bird</center>",
        "<section>dog</section><article>cat</article><nav>cow</nav><footer>bird</footer>",
        "<pre>dog\ncat</pre>cow<address>bird</address>",
        "<fieldset><legend>dog</legend>cat</fieldset><details><summary>cow</summary>bird</details>",
        "<b>dog<hr>cat</b><font><center>cow</center>bird</font>",
        "dog<img alt=cat>cow<img alt=bird>",
        "<x-one>dog<div>cat</div></x-one><div>cow</div>bird",
    ],
)
def test_neighbouring_blocks_and_cells_do_not_join_words(html: str) -> None:
    assert words(html) == ["dog", "cat", "cow", "bird"]


def test_inline_markup_does_not_part_words() -> None:
    assert words("<b>D</b>o<i>g</i> c<span>a</span>t bi<wbr>rd co<!-- x -->w") == ["dog", "cat", "bird", "cow"]


def test_entities_are_decoded() -> None:
    assert words("caf&eacute;&nbsp;dog&mdash;cat &#x63;ow") == ["caf\u00e9", "dog", "cat", "cow"]


def test_what_no_reader_sees_is_left_out() -> None:
    html = (
        "<head><style>p{}</style><script>var bad</script></head>dog <template>bad<a href=bad>bad</a></template>"
        "<script>bad</script><noframes>bad</noframes><!-- bad --><iframe>bad</iframe>cat"
    )
    page = Page(html)
    assert page.words == ["dog", "cat"]
    assert page.links == []


def test_the_words_of_noscript_count_because_a_crawler_runs_no_scripts() -> None:
    assert words("<noscript>dog</noscript>") == ["dog"]


def test_the_title_is_the_first_one_of_the_page_and_not_of_a_drawing() -> None:
    assert Page("<svg><title>circle</title></svg><title>Dog</title><title>Cat</title>").parsed.title == "Dog"


def test_a_link_edge_parts_words_so_that_the_anchor_is_its_own_words() -> None:
    page = Page("un<a href=x>dog</a>cat")
    assert page.words == ["un", "dog", "cat"]
    assert page.anchors == ["dog"]


def test_an_image_speaks_by_its_alt_text() -> None:
    page = Page("<a href=x><img alt='Blue birds' src=y></a><a href=z><img src=y></a>")
    assert page.links == [("http://web.test/a/x", "blue bird"), ("http://web.test/a/z", "")]


def test_links_are_anchors_areas_and_frames_in_page_order_with_duplicates() -> None:
    page = Page("<a href=1>x</a><a name=n>y</a><map><area href=2></map><iframe src=3>z</iframe><a href=1>w</a>")
    assert [url[-1] for url in page.parsed.link_urls] == ["1", "2", "3", "1"]
    assert Page("<frameset><frame src=1><frame src=2></frameset>").parsed.link_urls == [
        "http://web.test/a/1",
        "http://web.test/a/2",
    ]


def test_links_that_lead_nowhere_are_left_out_and_the_others_keep_their_places() -> None:
    page = Page("<a href=mailto:a@b>mail</a> <a href=x>dog</a> <a href='http://[/'>bad</a> <a href=y>cat</a>")
    assert page.links == [("http://web.test/a/x", "dog"), ("http://web.test/a/y", "cat")]


def test_the_first_base_element_moves_the_links() -> None:
    page = Page("<base target=t><base href='/b/#f'><base href=/c/><a href=x>dog</a>")
    assert page.parsed.base_url == "http://web.test/b/"
    assert page.parsed.link_urls == ["http://web.test/b/x"]
    assert Page("<a href=x>").parsed.base_url == URL
    assert Page("<base href='data:,x'><a href=x>").parsed.link_urls == ["http://web.test/a/x"]


def test_a_page_whose_address_is_no_url_has_words_and_no_links() -> None:
    page = Page("<a href=x>dog</a><a href=http://h/>cat</a>", url="not a url")
    assert (page.words, page.links) == (["dog", "cat"], [])


def test_links_say_whether_they_want_to_be_followed() -> None:
    html = "<a href=1 rel='external NoFollow'>a</a><a href=2 rel=nofollowed>b</a>"
    assert Page(html + "<a href=x: rel=nofollow>c</a><a href=3>d</a>").parsed.link_nofollow.tolist() == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("html", "noindex", "nofollow"),
    [
        ("", False, False),
        ("<meta name=robots content='noindex'>", True, False),
        ("<META NAME=Robots CONTENT='index, NOFOLLOW'>", False, True),
        ("<meta name=robots content=none>", True, True),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", True, True),
        ("<meta name=ScentHound content=none>", True, True),
        ("<meta name=otherbot content=none><meta name=description content=noindex>", False, False),
        ("<meta name=robots content='noindexing, all'><meta content=none>", False, False),
        ("<meta name='' content=none>", False, False),
    ],
)
def test_the_wishes_of_a_page_to_robots(html: str, noindex: bool, nofollow: bool) -> None:
    parsed = Page(html, agent="scenthound").parsed
    assert (parsed.noindex, parsed.nofollow) == (noindex, nofollow)


def test_a_crawler_without_a_name_is_spoken_to_as_a_robot_only() -> None:
    assert not Page("<meta name=' ' content=none>").parsed.noindex
    assert Page("<meta name='robots ' content=none>").parsed.noindex


def test_nested_links_each_have_their_own_anchor() -> None:
    page = Page("<a href=1>dog<table><tr><td><a href=2>cat</a></table>cow</a><a href=3><iframe src=4></iframe>bird</a>")
    assert [(url[-1], anchor) for url, anchor in page.links] == [
        ("1", "dog cat cow"),
        ("2", "cat"),
        ("3", "bird"),
        ("4", ""),
    ]


def test_an_unclosed_link_ends_where_the_next_begins() -> None:
    assert Page("<a href=1>dog <a href=2>cat").anchors == ["dog", "cat"]


@pytest.mark.parametrize("forged", ["\x00", "\x01", "&#0;", "&#1;", "&#x1;", "&#X0001", "&#01;", "\x02\x03"])
def test_control_characters_of_the_source_cannot_move_a_link(forged: str) -> None:
    html = f"dog {forged} <a href=x>cat{forged}</a> {forged}<img alt='{forged}'> <a href=y>cow</a>{forged}"
    # A link that is not shown would make up for a forged marker if only their number were looked at.
    page = Page(html + f"<template><a href=z>{forged}</a></template>")
    assert [url[-1] for url in page.parsed.link_urls] == ["x", "y"]
    assert page.anchors == ["cat", "cow"]


TAGS = """
abbr address article aside audio b bdo blockquote button canvas caption center code datalist dd del details dialog dir
div dl dt em fieldset figcaption figure font footer form frameset h1 h6 head header hgroup html i ins label legend li
listing main map mark marquee math menu meter nav nobr noembed noscript object ol optgroup option output p picture pre
progress q rb rp rt rtc ruby s samp script search section select slot small span strike strong style sub summary sup
svg table tbody td template tfoot th thead time title tr tt u ul var video
"""


@pytest.mark.parametrize("outer", ["{}", "<svg>{}</svg>", "<table>{}</table>", "<svg><desc>{}", "<ul>{}"])
def test_no_element_swallows_the_place_of_a_link_in_it(outer: str) -> None:
    for tag in TAGS.split():
        page = Page("before " + outer.format(f"<{tag}><a href=x>dog</a></{tag}>") + " <a href=y>cow</a> after")
        assert page.links[-1] == ("http://web.test/a/y", "cow"), tag
        assert page.anchors in (["dog", "cow"], ["cow"]), tag


def test_an_iframe_in_a_drawing_may_hold_links() -> None:
    assert Page("<svg><iframe src=1>dog<a href=2>cat").links == [
        ("http://web.test/a/1", "dog cat"),
        ("http://web.test/a/2", "cat"),
    ]


MARKUP_PIECES = """
<a href=1> </a> <a> <p> </p> <table> <tr> <td> </table> <b> </b> <font color=1> <div> </div> <ul> <li> <svg> </svg>
<template> </template> <iframe src=2> </iframe> <area href=3> <frameset> <frame src=4> <select> <option> <object>
</object> <button> <title> </title> <style> </style> <script> </script> <math> <mi> <desc> <img alt=x> <textarea>
</textarea> <noscript> <foreignObject> <ruby> <rp> <datalist> <body> <head> dog, cat &#1; <!-- --> < &
"""
MARKUP = st.lists(st.sampled_from(["\x00", "\x01", *re.split(r"\s(?!\w+=)", MARKUP_PIECES.strip())]), max_size=30).map(
    "".join
)


@given(MARKUP | st.text(max_size=60))
def test_whatever_the_markup_places_are_sound(html: str) -> None:
    assert_places_are_sound(Page(html).parsed)


@given(st.binary(max_size=80))
def test_bytes_are_decoded_and_never_raise(body: bytes) -> None:
    assert_places_are_sound(Page(b"<a href=x>" + body).parsed)


def test_links_that_the_library_did_not_show_stand_behind_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    half_shown = HtmlContent(text=f"dog {OPEN} cat", references=["x", "y"], relations=[None, None])
    monkeypatch.setattr("scenthound.web.parse.read_html", lambda *_: half_shown)
    page = Page("").parsed
    assert (page.link_start.tolist(), page.link_end.tolist()) == ([2, 2], [2, 2])


def test_bytes_are_read_by_the_charset_of_the_header() -> None:
    page = parse_html("<title>\u0436</title>".encode("koi8-r"), URL, WordScanner(), http_charset="koi8-r")
    assert page.title == "\u0436"


def test_what_is_beyond_the_limit_of_bytes_does_not_count() -> None:
    at_the_limit = "dog " * (MAX_PAGE_BYTES // 4)
    for html in (at_the_limit + "cat", (at_the_limit + "cat").encode()):
        assert len(parse_html(html, URL, WordScanner()).words) == MAX_PAGE_BYTES // 4


def test_links_beyond_the_limit_are_left_out() -> None:
    page = Page("<a href=x>dog</a> " * (MAX_LINKS + 5)).parsed
    assert len(page.link_urls) == MAX_LINKS
    assert len(page.words) == MAX_LINKS + 5
    assert_places_are_sound(page)


def of_200_kilobytes(piece: str) -> str:
    return piece * (200_000 // len(piece))


HOSTILE = {
    "nested divs": of_200_kilobytes("<div>x"),
    "nested tables": of_200_kilobytes("<table><tr><td>x"),
    "nested lists": of_200_kilobytes("<ul><li>x"),
    "nested quotations": of_200_kilobytes("<blockquote>x"),
    "one wide cell above many rows": "<table><tr><td>" + "x" * 100_000 + "<tr><td>y" * 10_000,
    "different fonts in paragraphs": "".join(f"<font color={i}><p>x" for i in range(9_000)),
    "different bolds in paragraphs": "".join(f"<b/{i}><P>" for i in range(18_000)),
    "unclosed links": of_200_kilobytes("<a href=x>"),
    "unclosed links in blocks": of_200_kilobytes("<a href=x><div>"),
    "links in tables in links": of_200_kilobytes("<a href=x><table><tr><td>"),
    "links in templates": of_200_kilobytes("<template><a href=x>y"),
    "many attributes": "<a " + " ".join(f"a{i}=1" for i in range(25_000)) + " href=x>y",
    "entities": of_200_kilobytes("&amp;&notit;&#1;"),
    "forged markers": of_200_kilobytes("<a href=x>\x01&#1;</a>"),
    "open brackets": "<" * 200_000,
    "open comments": of_200_kilobytes("<!--"),
    "one long word": "x" * 200_000,
    "new words": " ".join(f"w{i}x" for i in range(28_000)),
    "steps up": "<a href='" + "../" * 60_000 + "x'>y</a>",
    "many ways up": "".join(f"<a href='{'../' * i}x'>y</a>" for i in range(300)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_of_200_kilobytes_is_parsed_in_bounded_time(name: str) -> None:
    started = time.process_time()
    page = parse_html(HOSTILE[name], URL, WordScanner())
    # Some ten times what the slowest takes; those that are not linear would take seconds.
    assert time.process_time() - started < 1.0
    assert_places_are_sound(page)


def bounds(start: int, end: int, n_words: int, window: int) -> tuple[int, int]:
    first, last = context_bounds(np.array([start], np.int32), np.array([end], np.int32), n_words, window)
    return int(first[0]), int(last[0])


def test_a_context_is_the_window_around_the_anchor_which_counts_in_it() -> None:
    assert bounds(50, 52, 100, 20) == (41, 61)
    assert bounds(50, 53, 100, 20) == (41, 61)
    assert bounds(50, 50, 100, 4) == (48, 52)
    assert bounds(50, 50, 100, 3) == (48, 51)


def test_a_context_is_clipped_at_the_edges_of_the_page_and_not_moved() -> None:
    assert bounds(1, 3, 100, 20) == (0, 12)
    assert bounds(98, 100, 100, 20) == (89, 100)
    assert bounds(0, 0, 0, 20) == (0, 0)


def test_a_long_anchor_is_its_own_context() -> None:
    assert bounds(10, 40, 100, 20) == (10, 40)


@given(st.integers(0, 60), st.integers(0, 30), st.integers(0, 30), st.integers(0, 40))
def test_a_context_holds_its_anchor_and_is_no_longer_than_the_window(
    start: int, length: int, rest: int, window: int
) -> None:
    end, n_words = start + length, start + length + rest
    first, last = bounds(start, end, n_words, window)
    assert 0 <= first <= start <= end <= last <= n_words
    assert last - first <= max(window, length)


def test_contexts_of_all_links_are_cut_at_once() -> None:
    start, end = np.array([0, 50], np.int32), np.array([2, 50], np.int32)
    first, last = context_bounds(start, end, 100)
    assert (first.tolist(), last.tolist()) == ([0, 40], [11, 60])


def test_links_of_real_pages_have_the_words_of_their_elements(shared: Path) -> None:
    with opened(shared / "data" / "wpschools" / "pages.jsonl.zst") as pages:
        for line in itertools.islice(pages.content, 0, 100, 5):
            record = orjson.loads(line)
            page = Page(record["html"], record["url"])
            elements = turbohtml.parse(record["html"]).find_all("a", href=True)
            urls = [(resolve(record["url"], str(element.attr("href"))), element) for element in elements]
            crawlable = [(url, element) for url, element in urls if url]
            assert page.parsed.link_urls == [url for url, _ in crawlable]
            for anchor, (_, element) in zip(page.anchors, crawlable, strict=True):
                assert element.find("img") or anchor == " ".join(plain_words(element.text))
            title = plain_words(page.parsed.title)
            assert page.words[: len(title)] == title
            assert_places_are_sound(page.parsed)


def test_a_long_page_keeps_its_anchors_however_many_words_it_dresses() -> None:
    filler = "<p>" + "kite " * 8000
    dressed = "".join(f'<font color="{i}"><b class=x>kite</b></font> ' for i in range(2000))
    page = Page(f"{filler}<p>{dressed}<a href=mouse>small mice</a>")
    assert len(filler) > 1 << 15
    assert page.links == [("http://web.test/a/mouse", "small mice")]


def test_a_long_page_reads_like_a_short_one() -> None:
    body = "<b>H</b>ello <i class=x>w<code>or</code>ld</i> <B ID=y>big</B><br><strong>kites</strong>"
    long_page = Page(f"<p>{body}</p>{' ' * (1 << 15)}")
    assert long_page.words == Page(f"<p>{body}").words == ["hello", "world", "big", "kite"]


def test_the_source_of_a_formula_is_not_read() -> None:
    formula = (
        "<math><semantics><mrow><mi>kite</mi></mrow>"
        "<annotation encoding='application/x-tex'>\\mathcal{mouse}</annotation>"
        "<annotation-xml><ci>worm</ci></annotation-xml></semantics></math>"
    )
    assert words(f"<p>red {formula} tail") == ["red", "kite", "tail"]


def test_the_cells_of_a_matrix_are_words_apart() -> None:
    matrix = "<math><mtable><mtr><mtd><mi>red</mi></mtd><mtd><mi>kite</mi></mtd></mtr></mtable></math>"
    assert words(matrix) == ["red", "kite"]


def test_a_soft_hyphen_does_not_part_a_word() -> None:
    assert words("<p>bal&shy;loon") == ["balloon"]


def test_the_alt_text_of_an_area_is_the_anchor_of_its_link() -> None:
    page = Page("<map><area href=north alt='red kites'><area href=south></map> worms")
    assert page.links == [("http://web.test/a/north", "red kite"), ("http://web.test/a/south", "")]
