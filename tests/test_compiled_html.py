"""The compiled path of the parser: it returns what the library path returns, or None."""

import itertools
import re
from dataclasses import replace
from html.entities import html5
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsed_page import URL
from scenthound.files import opened
from scenthound.frontier.url_index import FoundUrls
from scenthound.frontier.url_table import UrlTable
from scenthound.text import word_lookup
from scenthound.text.tokenizer import WordScanner
from scenthound.web.html import PageContent
from scenthound.web.parse import MAX_LINKS, ParsedPage, parse_html
from timing import cpu_cost_s

pytest.importorskip("compiled_code")

from scenthound.web.compiled_pages import read_compiled

COMPILED, PLAIN = -1, 1 << 60


def parsed(
    html: str | bytes,
    scanner: WordScanner,
    compile_characters: int,
    charset: str | None = None,
    table: UrlTable | None = None,
) -> ParsedPage:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_lookup, "COMPILE_CHARACTERS", compile_characters)
        return parse_html(html, URL, scanner, http_charset=charset, agent="scenthound", table=table)


def read(html: str | bytes, charset: str | None = None) -> PageContent | None:
    return read_compiled(html, charset, WordScanner(), MAX_LINKS)


def assert_same(one: ParsedPage, other: ParsedPage) -> None:
    for name in ("title", "base_url", "link_urls", "noindex", "nofollow", "refresh"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("words", "link_start", "link_end", "link_nofollow"):
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


class ScannerPair:
    """Two scanners that read the same pages, one compiled with a URL table and one plain."""

    def __init__(self) -> None:
        self._compiled, self._plain = WordScanner(), WordScanner()
        self._table = UrlTable(compiled=True)

    def read(self, html: str | bytes, charset: str | None = None) -> None:
        compiled = self._with_urls(parsed(html, self._compiled, COMPILED, charset, self._table))
        assert_same(compiled, parsed(html, self._plain, PLAIN, charset))
        assert self._compiled.stems == self._plain.stems

    def _with_urls(self, page: ParsedPage) -> ParsedPage:
        if page.link_numbers is None:
            return page
        numbers = self._table.add_found(FoundUrls(page.link_numbers, page.link_urls))
        return replace(page, link_urls=[self._table.url(number) for number in numbers.tolist()], link_numbers=None)


ORDINARY = {
    "words and links": "<title>Red &amp; <b></title><body><p>Red <a href='/mouse'>small mice</a> and <a href=w>w</a>.",
    "an anchor within a word": "un<a href=x>dog</a>cat<a href=y></a>cow",
    "inline elements": "<b>D</b>o<i>g</i> c<span>a</span>t bi<wbr>rd co<!-- x -->w",
    "inline elements closed in any order": "<b>d<i>o</b>g</i><p><em>cat<p>cow</em></b>bird",
    "blocks": "dog<div>cat</div>cow<p>bird</div>dog<hr>cat<br>cow<h1>bird</h2>dog<pre>cat</pre>",
    "end tags of blocks that are not open": "dog</div>cat</li>cow</h1>bird</ul>dog</p>cat",
    "lists": "<ul><li>dog<li>cat<ol><li>cow</ol>bird</li>dog</ul>cat<dl><dt>cow<dd>bird</dl>dog",
    "an end tag that is not for the item around its list": "<ul><li>dog<ul>cat</li>cow</ul>bird</ul>",
    "an item that closes divisions": "<ul><li><div>dog<li>cat</div>cow</ul>bird",
    "tables": "dog<table><caption>cat</caption><col><thead><tr><th>cow<tbody><tr><td>bird</td> <td>dog</table>cat",
    "tables without rows": "<table><td>dog<td>cat<tr><td>cow<table><tr><td>bird</table>dog</table>cat",
    "images": "dog<img alt='red &eacute;tats'>cat<a href=x><img src=y alt=bird></a><image alt=cow><img alt=''>x",
    "labels": "<form>dog<label>cat <b>cow</b></label>bird<button>dog</button></form>cat",
    "forms": "<b>dog</b><form>c<i>a</i>t<p><a name=x></a>cow</form>bird<form><label><b>dog</b></label></form>cat",
    "raw text": "dog<script>if (a < b) { '</b>' } <!-- --></SCRIPT>cat<style>p > a {}</style >cow",
    "comments": "dog<!-->cat<!--->cow<!-- a --!>bird<!---->dog<!-- <p> -- > -->cat<?x?>cow<!doctype html>bird",
    "references": "caf&eacute;&nbsp;dog&mdash;cat &#x63;ow &#8217; a & b &lt;b&gt; AT& &#100;og",
    "attributes": "<a class='a>b' HREF=\"x?a=1&amp;b=2&c=3&copy=4\" href=no id rel=NoFollow>dog</a><p/ class = x>cat",
    "attributes with longer names": "<a href-x=1 href_=2 hrefs=3 x-href=4 hrefhref5678=5 href=6 rel:x=nofollow>dog</a>",
    "text that looks like references": "<a href='?&notit;&ampx;&copy'>dog</a><a href=&#65;b>cat</a>",
    "heads": "<html><head><meta name=robots content='none, x'><base target=t><base href=/b/><title>T</title></head>x",
    "directives for one crawler": "<meta name=ScentHound content=noindex><meta content=x><meta name=n>dog",
    "other pragmas": "<meta http-equiv=Content-Type content='text/html'><meta name=refresh content='0;url=x&amp;y'>dog",
    "anchors without href": "<a name=x>dog <p>cat <a href=y>cow</a></a> bird",
    "other scripts": "stra\u00dfe \u65e5\u672c <b>\U0001d49c</b>\u00e9t\u00e9 <a href='\u00e9'>\u0416\u0423\u041a</a>",
    "one to four bytes": "<title>~\u0080\u07ca\u0800\uffdc\U00010000</title>~&#x7ca;&#x800;&#xffdc;&#x10000;",
    "a comment at the end": "dog<!-- cat -->",
    "no script": "dog<body><noscript>cat<img alt=cow></noscript>bird",
    "words of eight letters and more": "elephant ELEPHANTS elephantine <b>eleph</b>ant hippopotamuses" + "x" * 40,
    "words within words of links": "ele<a href=x>phan</a>ts<a href=y>and</a>cats",
    "words that are too long": "x" * 41 + " dog " + "y" * 20 + "<i>" + "z" * 21 + "</i> cat",
    "white space between cells": "<table> <!-- x --> <tr>\n<script>x</script> <td>dog</table>",
}

UNSUPPORTED = {
    "a link that is not closed": "<a href=x>dog",
    "a link in a link": "<a href=x>dog<a href=y>cat</a>",
    "a block in a link": "<p><a href=x>dog<div>cat</div></a>",
    "a paragraph that ends in a link": "<p><a href=x>dog</p>cat</a>",
    "an inline element that ends in a link": "<i><a href=x>dog</i>cat</a>",
    "text before the cells": "<table>dog<tr><td>cat</table>",
    "a link before the cells": "<table><a href=x>dog</a><tr><td>cat</table>",
    "a division between rows": "<table><tr><td>dog</td></tr><div>cat</div></table>",
    "a cell without a table": "dog<td>cat",
    "a form in a form": "<form>dog<form>cat</form>cow",
    "a form closed out of order": "<form><div>dog</form>cat</div>cow",
    "a form that ends in an inline element": "<form><span>dog</form>cat",
    "a form that ends in bold text": "<form><b>dog</form>cat</b>cow",
    "a form that ends in an anchor without href": "<form><a name=x>dog</form>cat</a>cow",
    "a form that ends in data": "<form>dog <data value=1>cat</form>cow</data>bird",
    "a form in which an inline element outlives its block": "<form><span><div></span></div>dog</form>cat",
    "a form in which an inline element outlives its paragraph": "<form><span><p></span>dog</form>cat</span>cow",
    "a form behind bold text that a table kept open": "<div><b><table><td></b></table></div><form>dog</form>cat",
    "a form closed with its division": "<div><form>dog</div>cat<form>cow</form>bird",
    "a label closed from outside": "<b><label>dog</b>cat</label>cow",
    "a heading in a heading": "<h1>dog<h2>cat</h2>cow</h1>bird",
    "drawings and formulas": "<svg><a href=x>dog</a></svg><math><mi>x</mi></math>",
    "invisible elements": "<template>dog</template>cat",
    "frames": "<iframe src=x>dog</iframe>cat",
    "areas": "<map><area href=x alt=dog></map>",
    "choices": "<select><option>dog<option>cat</select>",
    "text fields": "<textarea><p>dog</textarea>cat",
    "two titles": "<title>dog</title><title>cat</title>",
    "a title in the body": "dog<title>cat</title>",
    "an unclosed comment": "dog<!-- cat",
    "an unclosed script": "dog<script>cat",
    "a script in a comment in a script": "<script><!-- <script> </script> dog --></script>cat",
    "an unclosed tag": "dog<b",
    "an unclosed quoted value": "dog<b class='x>cat",
    "a quotation mark in a name": 'dog<b a"b=c>cat',
    "references without their end": "dog&copycat",
    "references to several characters": "dog&NotEqualTilde;cat",
    "unknown references": "dog&nothing;cat",
    "references to controls": "dog&#1;cat",
    "references to controls of another charset": "dog&#138;cat",
    "controls": "dog\x01cat",
    "soft hyphens": "d\xadog",
    "letters whose lower case depends on others": "\u039f\u03a3 D\u0130",
    "invalid bytes": b"dog\xffcat",
    "surrogates in bytes": b"dog\xed\xa0\x80cat",
    "overlong sequences": b"dog\xc0\xbccat",
    "refreshes": "<meta HTTP-Equiv = 'ReFresh' content='0; url=x'>dog",
    "refreshes with references": "<meta content='9; url=x' http-equiv='re&#102;resh'>dog",
    "too many open elements": "<div>" * 200 + "dog",
    "too many open inline elements": "<b>" * 200 + "dog",
    "too many links": "<a href=x>dog</a> " * (MAX_LINKS + 1),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_pages_are_supported_and_read_alike(name: str) -> None:
    scanners = ScannerPair()
    for _ in range(2):
        scanners.read(ORDINARY[name])
        scanners.read(ORDINARY[name].encode(), "utf-8")
    assert read(ORDINARY[name]) is not None
    assert read(ORDINARY[name].encode(), " UTF-8 ") is not None


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_pages_are_read_by_the_library_path(name: str) -> None:
    html = UNSUPPORTED[name]
    assert read(html, "utf-8") is None
    ScannerPair().read(html, "utf-8")


def test_an_unsupported_page_does_not_change_the_scanner() -> None:
    scanner = WordScanner()
    assert read_compiled("dog cat <svg>", None, scanner, MAX_LINKS) is None
    assert read_compiled("dog <a href='&#1;'>cat</a>", None, scanner, MAX_LINKS) is None
    assert scanner.stems == [""]


def test_the_content_of_an_supported_page() -> None:
    scanner = WordScanner()
    html = "<title> Red\n Kites</title><base href=/b><meta name=n content=c><p>eat <a href='x' rel=y>small mice</a>!"
    page = read_compiled(html, None, scanner, MAX_LINKS)
    assert page is not None
    assert (page.title, page.base_reference, page.metas) == ("Red Kites", "/b", [("n", "c")])
    assert page.links.resolved("http://a.org/", None).urls == ["http://a.org/x"]
    assert [scanner.stems[word] for word in page.words] == ["red", "kite", "eat", "small", "mice"]
    assert (page.start.tolist(), page.end.tolist()) == ([3], [5])


@pytest.mark.parametrize("charset", ["koi8-r", "utf-16le", "utf-8"])
def test_pages_in_any_charset_are_read(charset: str) -> None:
    body = "<p>\u0436\u0443\u043a <a href=x>\u0436</a>".encode(charset)
    ScannerPair().read(body, charset)
    page = read(body, charset)
    assert page is not None
    assert len(page.words) == 2


def test_a_byte_order_mark_overrides_the_header() -> None:
    ScannerPair().read(b"\xff\xfe" + "dog <b>cat".encode("utf-16-le"), "utf-8")
    ScannerPair().read(b"\xef\xbb\xbfdog <b>cat", "utf-8")


PIECES = """
<a href=1> <a href=2> </a> </a> </a> <a> <p> </p> <td> <th> <tr> <tbody> </td> </tr> <table> </table> <caption>
<b> </b> <i> </i> <em> </em> <nobr> </nobr> <font color=1> </font> <span> </span> <div> </div> <li> </li> <ul> </ul>
<ol> <dl> <dd> <dt> </dd> <h1> </h1> <h2> </h2> <form> </form> <label> </label> <button> </button> <br> <hr> </br> </hr>
<img alt=bird> <img> <title> </title> <style>x</style> <script>x</script> <noscript> </noscript> <head> </head> <body>
<html> </body> <base href=/b> <meta name=robots content=none> dog cat, x < & &amp; &eacute; &shy; <!--x--> <svg>
<blockquote> </blockquote> <input> </x> <iframe src=3></iframe> <option> <pre> </pre> <col>
"""
PIECE = st.sampled_from([" ", *re.split(r"\s(?!\w+=)", PIECES.strip())])
# Few kinds of pieces per page, so that they interact more often.
MARKUP = st.lists(PIECE, min_size=2, max_size=9).flatmap(
    lambda pieces: st.lists(st.sampled_from(pieces), max_size=24).map("".join)
)


@settings(max_examples=400)
@given(MARKUP)
def test_both_paths_read_any_markup_alike(html: str) -> None:
    ScannerPair().read(html)


@given(st.text(st.sampled_from("<>/!-=\"'& abpi#;x1"), max_size=40) | st.text(max_size=40))
def test_both_paths_read_any_text_alike(html: str) -> None:
    ScannerPair().read("<b>" + html + "<p>dog")


WORD_PIECES = ("a", "Bc", "0", "abcdefg", "ABCDEFGH", "h" * 39, "\u00c9", "&eacute;", "\u65e5", "\U0001d49c", " ", "-")
# Letters of scripts without spaces, written in all ways.
UNSPACED_PIECES = (
    "\u71b1",
    "\u6c17\u7403",
    "&#x3042;",
    "&#12450;",
    "\u0e35",
    "\u0e01",
    "\uac00",
    "\U00020000",
    "\u3001",
)
TAG_PIECES = ("<b>", "</b>", "<!--x-->", "<br>", "<a href=x>", "</a>", "<p>", "<img alt=\u71b1>")


@given(st.lists(st.sampled_from(WORD_PIECES + TAG_PIECES), max_size=20).map("".join))
def test_both_paths_read_any_words_alike(html: str) -> None:
    ScannerPair().read(html)


@settings(max_examples=300)
@given(st.lists(st.sampled_from((*UNSPACED_PIECES, "a", "Bc", " ", *TAG_PIECES)), max_size=24).map("".join))
def test_both_paths_read_any_bigrams_alike(html: str) -> None:
    ScannerPair().read(html)
    ScannerPair().read(f"<title>{html}</title>{html}".encode(), "utf-8")


def test_the_compiled_path_reads_bigrams_across_inline_tags_but_not_across_blocks_and_links() -> None:
    scanner = WordScanner()
    page = read_compiled("<p>熱<b>気</b>球<p>山<br>川<a href=x>東京</a>都A社", None, scanner, MAX_LINKS)
    assert page is not None
    stems = [scanner.stems[number] for number in page.words.tolist()]
    assert stems == ["熱気", "気球", "山", "川", "東京", "都", "", "社"]
    assert (page.start.tolist(), page.end.tolist()) == ([4], [5])


def test_the_words_of_unspaced_letters_have_room() -> None:
    for html in ("a熱" * 500, "熱a" * 500, "熱" * 1_000, "\U00020000a" * 300, "熱 a" * 300):
        ScannerPair().read(html)


@pytest.mark.parametrize("compile_characters", [COMPILED, PLAIN])
def test_words_of_pages_and_of_texts_have_the_same_hashes(
    monkeypatch: pytest.MonkeyPatch, compile_characters: int
) -> None:
    monkeypatch.setattr(word_lookup, "COMPILE_CHARACTERS", compile_characters)
    scanner = WordScanner()
    words = ["a" * length for length in range(1, 42)]
    html = " ".join([*words, "ele<b>phan</b>ts", "&Eacute;t\u00e9", "inter&eacute;ssant<i>\u00e9</i>e"])
    assert read_compiled(html, None, scanner, MAX_LINKS) is not None
    text = " ".join([*words, "elephants", "\u00e9t\u00e9", "inter\u00e9ssant\u00e9e"])
    assert scanner._lookup.find(text, np.zeros(0, np.int64))[0].n_unknown == 0


def test_only_ascii_letters_and_digits_form_words() -> None:
    scanners = ScannerPair()
    for byte in range(2, 0x80):
        # Before, within and behind eight bytes.
        scanners.read(f"{byte:c}dog{byte:c}cat <b>elephants{byte:c}</b>")


def test_both_paths_read_truncated_pages_alike() -> None:
    html = "<title>T</title><p class='a'>Dogs &amp; <a href=x>\u00e9t\u00e9</a><!-- c --><img alt=cow><style>x</style>"
    scanners = ScannerPair()
    for end in range(len(html)):
        scanners.read(html[:end])


def test_no_reference_is_shorter_than_its_character() -> None:
    # So the text of a page is never longer than the page.
    assert all(len(f"&{name}") >= len(text.encode()) for name, text in html5.items() if len(text) == 1)


@given(st.binary(max_size=60))
def test_both_paths_read_any_bytes_alike(body: bytes) -> None:
    ScannerPair().read(b"<a href=x>dog</a>" + body, "utf-8")


@pytest.mark.parametrize("collection", ["wpschools", "mdn"])
def test_most_real_pages_are_supported_and_all_are_read_alike(shared: Path, collection: str) -> None:
    scanners = ScannerPair()
    n_supported = 0
    with opened(shared / "data" / collection / "pages.jsonl.zst") as pages:
        lines = list(itertools.islice(pages.content, 0, 400, 10))
    for line in lines:
        html = orjson.loads(line)["html"]
        scanners.read(html.encode(), "utf-8")
        n_supported += read(html) is not None
    assert n_supported > 0.9 * len(lines)


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "</b", "&", "&a", "<b ", "<b a='", "<script>", "<script><!--<", "</div>", "<p>x", "\u65e5"]
)
def test_time_is_linear_in_the_length_of_the_page(piece: str) -> None:
    html = "<div>" * 90 + piece * (400_000 // len(piece))
    read("dog")
    # About ten times what the slowest takes.
    assert cpu_cost_s(lambda: read(html), 0.3) < 0.3
