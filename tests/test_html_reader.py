"""The HTML reader: it reads what a walk over the tree of a library reads, in linear time."""

import itertools
import re
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.html import slow_page
from parsed_page import URL
from scenthound.files import opened
from scenthound.frontier.url_table import UrlTable
from scenthound.native import _native
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import decode_html
from scenthound.web.html import read_html
from scenthound.web.parse import MAX_LINKS, MAX_PAGE_BYTES, parse_html
from scenthound.web.refresh import is_refresh, refresh_of
from scenthound.web.urls import resolve
from timing import cpu_cost_s


class Reader:
    """Reads pages with one vocabulary and one URL table, and compares them with the slow version."""

    def __init__(self) -> None:
        self._scanner, self._table = WordScanner(), UrlTable()

    def read(self, html: str | bytes, charset: str | None = None) -> None:
        page = parse_html(html, URL, self._scanner, http_charset=charset, agent="scenthound", table=self._table)
        slow = slow_page(decode_html(html, charset) if isinstance(html, bytes) else html, MAX_LINKS)
        assert page.title == slow.title
        assert [self._scanner.stem(word) for word in page.words.tolist()] == slow.stems
        base = (resolve(URL, slow.base) if slow.base is not None else None) or URL
        assert page.base_url == base
        refresh = refresh_of(next(filter(is_refresh, slow.refreshes), None), URL, base)
        assert page.refresh == refresh
        links = [
            (url, link.start, link.end, link.is_nofollow)
            for link in slow.links
            if (url := resolve(base, link.reference)) is not None
        ]
        if refresh is not None and not refresh.is_redirect:
            links.append((refresh.url, len(slow.stems), len(slow.stems), False))
        numbers = self._table.add_found(page.links)
        urls = [self._table.url(number) for number in numbers.tolist()]
        spans = page.link_start.tolist(), page.link_end.tolist(), page.link_nofollow.tolist()
        assert list(zip(urls, *spans, strict=True)) == links
        directives = {
            directive.strip().lower()
            for name, content in slow.metas
            if name.strip().lower() in ("robots", "scenthound")
            for directive in content.split(",")
        }
        assert page.noindex == bool(directives & {"noindex", "none"})
        assert page.nofollow == bool(directives & {"nofollow", "none"})


PAGES = {
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
    "text in drawings": "<svg><title>dog</title><text>cat</text><desc><p>cow</desc><style>x</style></svg>bird",
    "tables of formulas": "<math><mtable><mtr><mtd>dog</mtd><mtd>cat</mtd></mtr></mtable><annotation>cow</math>bird",
    "an element that ends a drawing": "<svg><g>dog<p>cat</svg>cow<svg><font color=x>bird",
    "text that is marked as such": "<svg><![CDATA[dog<b>]]>cat</svg><![CDATA[cow]]>",
    "names with a null character": "<a\0 href=x>dog</a>c<div\0>a</div\0>t<title\0>cow</title><style\0>bird</style\0>",
    "end tags with a null character": "<a href=x>dog</a\0>cat</a>cow<b>bird</b\0>s",
    "a null character in a text field": "<textarea>x\0y</textarea>z\0w",
    "plain text in a link": "<p><a href=x>dog<plaintext>cat</a><p>cow",
    "text in a group of columns": "e<table><colgroup> a<col>b</table>c",
    "names of formulas in drawings": "<a href=x><svg><mi></a>dog<a href=y><math><desc></a>cat",
    "an end tag outside a drawing": "<var><svg><mtext></VAR>dog",
    "a title of white space": "<title> &nbsp; \u2003\x0b</title>x<title>Real</title>",
    "invisible elements": "<template>dog</template>cat",
    "frames": "<iframe src=x>dog</iframe>cat",
    "areas": "<map><area href=x alt=dog></map>",
    "choices": "<select><option>dog<option>cat</select>",
    "text fields": "<textarea><p>dog</textarea>cat",
    "choices with links": "<select><a href=x>dog</a><option>cat<hr><optgroup><option>cow</select><input>bird",
    "buttons in buttons": "<button>dog<p>cat<button>cow",
    "framesets": "<frameset><frame src=x><frame src=y><noframes>dog</noframes></frameset>cat",
    "framesets that come too late": "dog<frameset><frame src=x>",
    "marquees and objects": "<a href=x>dog<object>cat<a href=y>cow</object>bird",
    "plain text": "dog<plaintext>cat</plaintext><b>cow",
    "nested links in tables": "<a href=x>dog<table><tr><td><a href=y>cat</a></table>cow</a>",
    "bold text around blocks": "<b>dog<p>cat</b>cow<i><div>bird</i>dog</div>",
    "links around blocks that are not closed": "<a href=x><b>dog<div>cat</a>cow</div>bird",
    "quirks": "<p><a href=x>dog<table><td>cat",
    "a standard document": "<!doctype html><p><a href=x>dog<table><td>cat",
    "an old document": "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 3.2//EN'><p><a href=x>dog<table><td>cat",
    "hidden content": "<datalist>dog<a href=x>cat</a><base href=/b/></datalist>cow<template><title>T</template>",
    "a hidden title": "<annotation-xml><title>dog</title></annotation-xml><title>cat</title>cow",
    "no-break text": "<nobr>dog<nobr>cat</nobr>cow",
    "captions": "<table><caption>dog<td>cat</caption><colgroup><col>cow</table>",
    "ruby": "<ruby>dog<rb>cat<rt>cow<rtc>bird<rp>x</ruby>dog",
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


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_like_the_tree_of_the_library(name: str) -> None:
    reader, html = Reader(), PAGES[name]
    for _ in range(2):
        reader.read(html, "utf-8")
    if isinstance(html, str):
        reader.read(html.encode("utf-8", "surrogatepass"), "utf-8")
        reader.read(html.encode("utf-8", "surrogatepass"))


def test_the_content_of_a_page() -> None:
    html = b"<title> Red\n Kites</title><base href=/b><meta name=n content=c><p>eat <a href='x' rel=y>small mice</a>!"
    page = read_html(html, MAX_LINKS)
    assert (page.title, page.base_reference, page.metas, page.refresh) == ("Red Kites", "/b", [("n", "c")], None)
    assert list(page.references) == ["x"]
    start, end = page.edges[page.starts[0]], page.edges[page.ends[0]]
    assert page.text_between(start, end) == "small mice"
    assert page.is_nofollow.tolist() == [False]


@pytest.mark.parametrize("charset", ["koi8-r", "utf-16le", "utf-8", "windows-1252", "shift_jis", "no-such-charset"])
def test_pages_in_any_charset_are_read(charset: str) -> None:
    letters = "\u0436\u0443\u043a" if charset != "windows-1252" else "\xe9t\xe9"
    body = f"<p>{letters} <a href=x>{letters}</a>".encode(charset if "no-such" not in charset else "utf-8")
    Reader().read(body, charset)
    assert len(parse_html(body, URL, WordScanner(), http_charset=charset).words) == 2


def test_pages_declare_their_charset() -> None:
    for charset in ("windows-1251", "utf-8", "utf-16", "x-user-defined", "?"):
        html = f"<meta charset={charset}><p>\u0436\u0443\u043a \xe9".encode("cp1251", "replace")
        Reader().read(html)
        Reader().read(html + "\u0436".encode())
    Reader().read("\u0436 \u65e5".encode()[:-1])


def test_a_byte_order_mark_overrides_the_header() -> None:
    Reader().read(b"\xff\xfe" + "dog <b>cat".encode("utf-16-le"), "utf-8")
    Reader().read(b"\xef\xbb\xbfdog <b>cat", "utf-8")
    Reader().read(b"\xef\xbb\xbfd\xc3\xa9g <b>cat", "windows-1252")


PIECES = """
<a href=1> <a href=2> </a> </a> </a> <a> <p> </p> <td> <th> <tr> <tbody> </td> </tr> <table> </table> <caption>
<b> </b> <i> </i> <em> </em> <nobr> </nobr> <font color=1> </font> <span> </span> <div> </div> <li> </li> <ul> </ul>
<ol> <dl> <dd> <dt> </dd> <h1> </h1> <h2> </h2> <form> </form> <label> </label> <button> </button> <br> <hr> </br> </hr>
<img alt=bird> <img> <title> </title> <style>x</style> <script>x</script> <noscript> </noscript> <head> </head> <body>
<html> </body> <base href=/b> <meta name=robots content=none> dog cat, x < & &amp; &eacute; &shy; <!--x-->
<blockquote> </blockquote> <input> </x> <iframe src=3></iframe> <select> </select> <option> <optgroup> <template>
</template> <object> </object>
<frameset> <frame src=4> <textarea> </textarea> <pre> </pre> <col>
"""
PIECE = st.sampled_from([" ", *re.split(r"\s(?!\w+=)", PIECES.strip())])
# Few kinds of pieces per page, so that they interact more often.
MARKUP = st.lists(PIECE, min_size=2, max_size=9).flatmap(
    lambda pieces: st.lists(st.sampled_from(pieces), max_size=24).map("".join)
)


@given(MARKUP)
def test_any_markup_is_read_like_the_tree_of_the_library(html: str) -> None:
    Reader().read(html)


@given(st.text(st.sampled_from("<>/!-=\"'& abpi#;x1"), max_size=40) | st.text(max_size=40))
def test_any_text_is_read_like_the_tree_of_the_library(html: str) -> None:
    Reader().read("<b>" + html + "<p>dog")


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
def test_any_words_are_read_like_the_tree_of_the_library(html: str) -> None:
    Reader().read(html)


@given(st.lists(st.sampled_from((*UNSPACED_PIECES, "a", "Bc", " ", *TAG_PIECES)), max_size=24).map("".join))
def test_any_bigrams_are_read_like_the_tree_of_the_library(html: str) -> None:
    Reader().read(html)
    Reader().read(f"<title>{html}</title>{html}".encode(), "utf-8")


def test_bigrams_are_read_across_inline_tags_but_not_across_blocks_and_links() -> None:
    scanner = WordScanner()
    page = parse_html(
        "<p>\u71b1<b>\u6c17</b>\u7403<p>\u5c71<br>\u5ddd<a href=x>\u6771\u4eac</a>\u90fdA\u793e", URL, scanner
    )
    stems = [scanner.stem(number) for number in page.words.tolist()]
    assert stems == ["\u71b1\u6c17", "\u6c17\u7403", "\u5c71", "\u5ddd", "\u6771\u4eac", "\u90fd", "", "\u793e"]
    assert (page.link_start.tolist(), page.link_end.tolist()) == ([4], [5])


def test_only_letters_and_digits_form_words() -> None:
    reader = Reader()
    for byte in range(0x80):
        reader.read(f"{byte:c}dog{byte:c}cat <b>elephants{byte:c}</b>")
        reader.read(f"<a href='x{byte:c}y'>{byte:c}</a>")


def test_truncated_pages_are_read_like_the_tree_of_the_library() -> None:
    html = (
        "<!doctype html><title>T</title><p class='a'>Dogs &amp; <a href=x>\u00e9t\u00e9</a><!-- c --><img alt=cow>"
        "<style>x</style><svg><![CDATA[x]]></svg><script><!--<script></script>--></script>&notit;&#x41;<br/></div>"
    )
    reader = Reader()
    for end in range(len(html)):
        reader.read(html[:end])


@given(st.binary(max_size=60))
def test_any_bytes_are_read_like_the_tree_of_the_library(body: bytes) -> None:
    Reader().read(b"<a href=x>dog</a>" + body, "utf-8")


@pytest.mark.parametrize("collection", ["wpschools", "mdn", "nlab", "debdocs"])
def test_real_pages_are_read_like_the_tree_of_the_library(shared: Path, collection: str) -> None:
    reader = Reader()
    file = sorted((shared / "data" / collection).glob("pages*.jsonl.zst"))[0]
    with opened(file) as pages:
        lines = list(itertools.islice(pages.content, 0, 400, 10))
    for line in lines:
        reader.read(orjson.loads(line)["html"].encode(), "utf-8")


PIECES_OF_HOSTILE_PAGES = (
    *("<", "<!--", "</b", "&", "&a", "<b ", "<b a='", "<script>", "<script><!--<", "</div>", "<p>x", "\u65e5", "<b>"),
    *("<div>", "<x>", "</y>", "<a href=x>", "<a href=x><p>", "<table>", "<table><td>", "<table>x", "<b><p></b>"),
    *(
        "<template>",
        "<svg>",
        "<svg><![CDATA[",
        "<select><option>",
        "<object>",
        "<li>",
        "<ul><li>",
        "<form><div>",
        "<nobr>",
    ),
    *("<b><div><a href=x></b>", "<textarea>", "<title>", "<button><p>", "<math><mi>", "<frameset>", "\0", "&#x", "]]"),
)


@pytest.mark.parametrize("piece", PIECES_OF_HOSTILE_PAGES)
def test_time_is_linear_in_the_length_of_the_page(piece: str) -> None:
    html = (("<x>" * 400 + "<div>" * 90 + piece * (MAX_PAGE_BYTES // len(piece)))[:MAX_PAGE_BYTES]).encode()
    # Several times what the slowest takes.
    assert cpu_cost_s(lambda: _native.read_html(html, MAX_LINKS), 1.0) < 1.0


def test_formatting_that_is_never_closed_costs_bounded_time() -> None:
    for html in (
        "".join(f"<font color={i}><p>x" for i in range(90_000)),
        "".join(f"<b/{i}><P>" for i in range(180_000)),
        "<table>" + "".join(f"<font a={i}>x" for i in range(100_000)),
        "".join("<b><div>" + "<i>x</i>" * 200 + "</b>" for _ in range(1_000)),
    ):
        page = html[:MAX_PAGE_BYTES].encode()
        assert cpu_cost_s(lambda page=page: _native.read_html(page, MAX_LINKS), 1.0) < 1.0


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError):
        _native.read_html("dog", 1)
    assert _native.read_html(b"<a href=x>dog</a><a href=y>", 1)[5] == b"x"
    assert _native.read_html(b"", 1)[0] == b""


@pytest.mark.parametrize(
    "html",
    [
        b"\xe5\xa3<b></b>\xa4",
        b"\xe5\xa3<!-- -->\xa4 \xe5\xa3\0\xa4",
        b"d\xc3<i>\xa9</i>t\xc3</i>\xa9",
        b"<p>\xce<b>\xa3</b>",
        b"<a href='/\xe5\xa3\t\xa4'>x</a><a href='\xc3\r\n\xa9'>",
        b"<title>\xf0\x9f<a href=x>\x98\x80</a></title>\xed\xa0\x80\xc0\xaf",
        b"caf\xc3\xa9 caf\xc3",
    ],
)
def test_parts_of_a_character_do_not_become_one_across_markup(html: bytes) -> None:
    Reader().read(html, "utf-8")
