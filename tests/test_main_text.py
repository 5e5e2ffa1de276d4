"""Main text: what is content, what is boilerplate, what a page says about itself, and pages that are made to hurt."""

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.corpus import language
from scenthound.corpus.documents import Selection
from scenthound.corpus.language import detect_language
from scenthound.corpus.main_text import MainText, count_words, extract
from scenthound.errors import MissingExtra
from scenthound.options import check
from slow_cases import few_of
from timing import cpu_cost_s

URL = "https://balloons.example/guide/first"
FIRST = (
    "A hot air balloon rises because the air in its envelope is warmer, and therefore lighter, than the air around it."
)
SECOND = (
    "The pilot steers by changing the altitude: winds of different heights blow in different directions on most days."
)
THIRD = "Flights take place shortly after sunrise or before sunset, when the air is calm and there are no thermals."
PARAGRAPHS = f"<p>{FIRST}</p>\n<p>{SECOND}</p>\n<p>{THIRD}</p>"
TEXT = f"{FIRST}\n\n{SECOND}\n\n{THIRD}"
MENU = "".join(f'<a href="/{word}">{word.title()}</a> ' for word in ("home", "flights", "prices", "contact", "press"))


def page(body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>Ballooning</title>{head}</head><body>{body}</body></html>"


def extracted(body: str, head: str = "", **options) -> MainText:
    return extract(page(body, head), URL, **options)


# Content


@pytest.mark.parametrize(
    "boilerplate",
    [
        f"<nav>{MENU}</nav>",
        f"<footer>All balloons are reserved. {MENU}</footer>",
        "<aside><p>Our newsletter has all the news on balloons that you could ever want to read.</p></aside>",
        '<div role="navigation">You are here: home, guide, first flight</div>',
        "<figure><img src=x.png><figcaption>A balloon over the sea, seen from the harbour</figcaption></figure>",
        '<form action="/search"><label>Search all balloons</label><input name=q></form>',
        "<script>document.write('balloons')</script><style>p { color: red }</style><noscript>No scripts?</noscript>",
        "<p hidden>Nobody can see this sentence about balloons.</p>",
        '<div class="article-share-tools">Share this on a social network near you</div>',
        '<ul id="related"><li><a href=1>Ten balloons that are larger than a house</a></ul>',
        '<div class="comments"><p>First! I have never seen a balloon in my life.</p></div>',
    ],
)
@pytest.mark.parametrize("place", ["before", "after", "inside"])
def test_boilerplate_is_removed(boilerplate: str, place: str) -> None:
    first, rest = PARAGRAPHS.split("\n", 1)
    body = {
        "before": f"{boilerplate}<article>{PARAGRAPHS}</article>",
        "after": f"<article>{PARAGRAPHS}</article>{boilerplate}",
        "inside": f"<article>{first}{boilerplate}{rest}</article>",
    }[place]
    assert extracted(body).text == TEXT


@pytest.mark.parametrize(
    ("body", "extractor"),
    [
        (f"<div class=story>{PARAGRAPHS}</div><div>{MENU}</div>", "turbohtml"),
        (f"<div itemprop=articleBody>{PARAGRAPHS}</div><p>{FIRST} {SECOND} {FIRST}</p>", "turbohtml:articleBody"),
    ],
)
def test_the_extractor_names_the_rule_that_found_the_content(body: str, extractor: str) -> None:
    found = extracted(body)
    assert (found.text, found.extractor) == (TEXT, extractor)


def test_a_short_article_body_is_not_the_content() -> None:
    found = extracted(f"<div itemprop=articleBody>Too short.</div><article>{PARAGRAPHS}</article>")
    assert (found.text, found.extractor) == (TEXT, "turbohtml")


def test_a_page_without_paragraphs_is_its_body() -> None:
    found = extracted("<ul><li><a href=a>Envelope</a><li><a href=b>Burner</a><li><a href=c>Basket</a></ul>")
    assert found.text == "- Envelope\n- Burner\n- Basket"
    assert found.extractor == "turbohtml:body"


def test_an_article_in_several_containers_is_found_as_a_whole() -> None:
    groups = [f"<div class=group><p>{sentence}</p></div>" for sentence in (FIRST, SECOND, THIRD) * 2]
    found = extracted(f"<div>{MENU}</div><div id=story>{'<div class=ad>Buy</div>'.join(groups)}</div><div>{MENU}</div>")
    assert found.text == f"{TEXT}\n\n{TEXT}"


def test_a_part_of_a_table_or_outline_is_not_the_content_alone() -> None:
    sections = "".join(
        f"<section id=s{i}><h2>Part {i}</h2><p>{sentence}</p><pre>fly --altitude {i}</pre></section>"
        for i, sentence in enumerate((FIRST, SECOND, THIRD))
    )
    found = extracted(f"<nav>{MENU}</nav><div class=body><h1>Manual</h1>{sections}</div>")
    for i, sentence in enumerate((FIRST, SECOND, THIRD)):
        assert f"Part {i}\n\n{sentence}\n\nfly --altitude {i}" in found.text


def test_lists_of_links_are_content_of_documentation() -> None:
    terms = "".join(f"<li><a href=t{i}>term{i}</a></li>" for i in range(30))
    assert "- term29" in extracted(f"<div id=content><h1>Index</h1><p>{FIRST} {SECOND}</p><ul>{terms}</ul></div>").text


def test_much_text_is_content_whatever_its_class_says() -> None:
    assert extracted(f'<article><div class="widget">{PARAGRAPHS}</div></article>').text == TEXT


def test_quoted_posts_are_content() -> None:
    post = f'<div class="social-embed"><blockquote><p>{THIRD}</p></blockquote></div>'
    assert THIRD in extracted(f"<article><p>{FIRST}</p><p>{SECOND} {SECOND}</p>{post}</article>").text


def test_links_of_headings_to_themselves_are_removed() -> None:
    found = extracted(f'<article><h2>Flight<a href="#flight">¶</a></h2>{PARAGRAPHS}<p><a href="#a">1</a></p></article>')
    assert found.text == f"Flight\n\n{TEXT}\n\n1"


def test_the_example_of_the_documentation_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    document = (Path(__file__).resolve().parents[1] / "docs" / "corpus.md").read_text(encoding="utf-8")
    [script] = [each for each in re.findall(r"```python\n(.*?)```", document, re.DOTALL) if "extract(" in each]
    exec(script, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*  # (.*)$", script, re.MULTILINE)


# Rendering


def test_text_has_lines_for_rows_items_and_code() -> None:
    found = extracted(
        f"<article>{PARAGRAPHS}"
        "<table><tr><th>Gas</th><th>Lift</th></tr><tr><td>Helium</td><td>1.02 kg</td></tr></table>"
        "<ul><li>Burner</li><li>Basket</li></ul><pre>if hot:\n    rise()</pre></article>"
    )
    assert found.text == f"{TEXT}\n\nGas | Lift\n\nHelium | 1.02 kg\n\n- Burner\n- Basket\n\nif hot:\n    rise()"


def test_a_table_for_layout_has_no_cells_in_the_text() -> None:
    found = extracted(f"<table><tr><td>{PARAGRAPHS}</td><td><p>Basket</p></td></tr></table>")
    assert found.text == f"{TEXT}\n\nBasket"


def test_blocks_in_inline_elements_are_separate_words() -> None:
    found = extracted(f"<article>{PARAGRAPHS}<span><div>Basket</div>burner</span></article>")
    assert found.text.split()[-2:] == ["Basket", "burner"]


def test_markdown_has_headings_lists_links_code_and_tables() -> None:
    found = extracted(
        f"<article><h2>Lift</h2>{PARAGRAPHS}<p>See <a href='../gas'>gases</a> and <code>rise()</code>.</p>"
        "<ul><li>Burner</li></ul><pre><code class=language-python>rise()</code></pre>"
        "<table><tr><th>Gas</th><th>Lift</th></tr><tr><td>Helium</td><td>1 kg</td></tr></table></article>"
    )
    assert found.markdown == (
        f"## Lift\n\n{TEXT}\n\nSee [gases](https://balloons.example/gas) and `rise()`.\n\n- Burner\n\n"
        "```python\nrise()\n```\n\n| Gas | Lift |\n| --- | --- |\n| Helium | 1 kg |"
    )


def test_links_follow_the_base_of_the_page() -> None:
    found = extracted(f"<article>{PARAGRAPHS}<p><a href=gas>gases</a></p></article>", "<base href='/wiki/'>")
    assert found.markdown.endswith("[gases](https://balloons.example/wiki/gas)")


def test_control_characters_and_soft_hyphens_are_removed() -> None:
    found = extracted(f"<p>{FIRST} {SECOND} hel&shy;ium&nbsp;gas \x01&#1;\x7f end\ufeff</p>")
    assert found.text == f"{FIRST} {SECOND} helium gas  end"


@pytest.mark.parametrize(
    ("text", "n_words"),
    [("", 0), ("hot air balloon", 3), ("熱気球は空を飛ぶ", 4), ("熱気球 Balloon 2024", 4), ("воздушный шар", 2)],
)
def test_words_are_counted_in_scripts_with_and_without_spaces(text: str, n_words: int) -> None:
    assert count_words(text) == n_words


def test_bytes_are_decoded_by_the_charset_of_the_response() -> None:
    html = page(f"<article>{PARAGRAPHS}<p>Montgolfière</p></article>")
    assert extract(html.encode("latin-1"), URL, http_charset="iso-8859-1").text == f"{TEXT}\n\nMontgolfière"


# What a page says about itself


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> Hot  air\nballoons </title><h1>Other</h1>", "Hot air balloons"),
        ("<meta property=og:title content='Balloons'><h1>Other</h1>", "Balloons"),
        ("<title></title><h1>First <b>flight</b></h1>", "First flight"),
        ("no title", ""),
    ],
)
def test_titles(html: str, title: str) -> None:
    assert extract(html, URL).title == title


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ("", None),
        ("<meta name=author content='Ada Aloft'>", "Ada Aloft"),
        ("<meta property=article:author content='https://social.example/ada'>", None),
        ('<script type=application/ld+json>{"author": {"name": "Ada Aloft"}}</script>', "Ada Aloft"),
        (
            "<meta name=author content='Staff'><script type=application/ld+json>"
            '{"@graph": [{"@type": "NewsArticle", "author": [{"name": "Ada Aloft"}, "Ben Basket"]}]}</script>',
            "Ada Aloft, Ben Basket",
        ),
        ("<script type=application/ld+json>{not json</script><a rel=author href=/ada>Ada</a>", "Ada"),
    ],
)
def test_authors(head: str, author: str | None) -> None:
    assert extracted(PARAGRAPHS, head).author == author


META = "<meta property=article:published_time content='2019-05-06T10:00:00Z'>"
META_MODIFIED = "<meta property=article:modified_time content='2021-07-08'>"
JSON_LD = '<script type=application/ld+json>{"datePublished": "2018-03-04", "dateModified": "2020-01-01"}</script>'
TIME = "<time datetime=2017-02-03>some day</time>"


@pytest.mark.parametrize(
    ("head", "url", "published", "signal"),
    [
        ("", URL, None, None),
        ("", "https://balloons.example/2016/01/02/flight", "2016-01-02", "url"),
        (META, URL, "2019-05-06", "meta"),
        (META_MODIFIED + META, URL, "2019-05-06", "meta"),
        (JSON_LD, URL, "2018-03-04", "json-ld"),
        (META_MODIFIED + JSON_LD, URL, "2018-03-04", "json-ld"),
        (TIME, URL, "2017-02-03", "time"),
        (f"<time itemprop=dateModified datetime=2022-01-01></time>{TIME}", URL, "2017-02-03", "time"),
        (META_MODIFIED, URL, "2021-07-08", "meta-modified"),
        ("<meta name=date content='yesterday'>", URL, None, None),
    ],
)
def test_the_first_date_of_publication_with_its_signal(
    head: str, url: str, published: str | None, signal: str | None
) -> None:
    found = extract(page(PARAGRAPHS, head), url)
    assert (found.published, found.published_from) == (published, signal)


def test_no_page_is_published_after_the_latest_date() -> None:
    assert extracted(PARAGRAPHS, META, latest=date(2019, 5, 6)).published == "2019-05-06"
    assert extracted(PARAGRAPHS, META + TIME, latest=date(2019, 5, 5)).published == "2017-02-03"


# Languages

SENTENCES = {
    "en": "The balloon rose slowly above the fields and drifted with the morning wind.",
    "de": "Der Ballon stieg langsam über die Felder und trieb mit dem Morgenwind davon.",
    "fr": "Le ballon s'éleva lentement au-dessus des champs et dériva avec le vent du matin.",
    "ru": "Воздушный шар медленно поднялся над полями и поплыл с утренним ветром.",  # noqa: RUF001
    "ja": "気球はゆっくりと畑の上に上がり、朝の風に乗って流れていきました。",
    "he": "הכדור הפורח עלה לאט מעל השדות ונסחף עם רוח הבוקר.",
    "zh": "氣球慢慢升到田野上空、隨著晨風飄走、越過山谷和河流、最後消失在雲層後面。",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_languages_and_their_share(code: str) -> None:
    found = extracted(f"<p>{' '.join([SENTENCES[code]] * 6)}</p>")
    assert found.language == code
    assert found.language_score is not None
    assert 0.9 < found.language_score <= 1


def test_the_score_is_the_share_of_a_mixed_text() -> None:
    mixed = f"{SENTENCES['en'] * 3} {SENTENCES['ru']} {SENTENCES['ru']}"
    _, share = detect_language(mixed)
    assert share is not None
    assert 0.3 < share < 0.8


@pytest.mark.parametrize("text", ["", "12345 67890", "\ud800", "xq"])
def test_an_unreliable_language_is_none(text: str) -> None:
    assert detect_language(text) == (None, None)


@pytest.mark.parametrize("noise", ["\x00", "\x01", "\x7f", "\x85", "\ud800", "\ufdd0", "\uffff", "\U0010fffe"])
def test_what_is_no_character_does_not_hide_the_language(noise: str) -> None:
    assert detect_language(noise.join(SENTENCES["de"].split(" ")))[0] == "de"


def test_without_the_extra_no_language_is_known_and_none_can_be_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extracted(PARAGRAPHS).language == "en"
    monkeypatch.setattr(language, "_cld2", lambda: None)
    found = extracted(PARAGRAPHS)
    assert (found.text, found.language, found.language_score) == (TEXT, None, None)
    with pytest.raises(MissingExtra, match=r"scenthound\[language\]"):
        check(Selection(language=("en",)))


# Hostile pages


@given(st.text(max_size=300) | st.binary(max_size=300), st.text(max_size=30))
def test_no_page_raises(html: str | bytes, url: str) -> None:
    found = extract(html, url)
    found.text.encode()
    assert not any(ord(character) < 32 and character not in "\n\t" for character in found.text + found.markdown)


TAGS = st.sampled_from(
    [
        *("<div>", "</div>", "<p>", "<table>", "<tr>", "<td>", "</table>", "<b>", "</b>", "<a href=x>", "</a>", "<li>"),
        *(
            "<pre>",
            "</pre>",
            "<article>",
            "<main>",
            "<svg>",
            "<math>",
            "<template>",
            "<select>",
            "<script>",
            "</script>",
        ),
        *("<div itemprop=articleBody>", "<body>", "<frameset>", "<time>", "<form>", "<h1>", "<title>", FIRST, SECOND),
        *("<meta name=date content=2020>", "<script type=application/ld+json>[{}", "<base href=//[>", "\ud800", "\0"),
    ]
)


@given(st.lists(TAGS, max_size=60).map("".join))
def test_no_markup_raises(html: str) -> None:
    found = extract(html, URL)
    found.text.encode()
    found.markdown.encode()


def of_a_megabyte(piece: str) -> str:
    return piece * (1_000_000 // len(piece))


HOSTILE = {
    "nested divs": "<div>" * 100_000 + PARAGRAPHS,
    "nested divs with text": of_a_megabyte("<div>word "),
    "unclosed paragraphs": of_a_megabyte("<p>"),
    "unclosed bolds": of_a_megabyte("<b><p>x"),
    "different fonts": "".join(f"<font color={i}>x<p>" for i in range(40_000)),
    "open formatting": "<p>" + "<b><i><u><s><tt><em>" * 3 + "<p>x" * 240_000,
    "links": of_a_megabyte("<a href=x>y</a>"),
    "links to a long base": f"<base href=/{'a/' * 20_000}>" + of_a_megabyte(f"<p>{FIRST} <a href=x>y</a></p>"),
    "links in cells": of_a_megabyte("<table><tr><td><a href=x>some words"),
    "a wide table": "<table><tr>" + "<td>x" * 100_000 + "<tr><td>y" * 50_000,
    "a long cell": "<table><tr><td>" + "y" * 500_000 + "<td>x" + "<tr><td>x<td>z" * 35_000,
    "nested tables": of_a_megabyte("<table><tr><td>x"),
    "nested lists": of_a_megabyte("<ul><li>x"),
    "nested quotations": of_a_megabyte("<blockquote>x"),
    "nested definitions": of_a_megabyte(f"<dl><dd>{FIRST}"),
    "nested sections": of_a_megabyte(f"<section><p>{FIRST}</p>"),
    "nested articles": of_a_megabyte("<article>x"),
    "nested bodies": of_a_megabyte("<div itemprop=articleBody class=related>some words "),
    "nested boilerplate": of_a_megabyte('<div class="x related">some words of text '),
    "line breaks": "<article><p>text " + of_a_megabyte("<br>\n"),
    "line breaks and empty elements": "<article><p>text " + of_a_megabyte("<br><i></i><!--x--><span> </span>"),
    "spaces": "<pre>a" + " " * 1_000_000 + "b</pre>",
    "empty lines": "<pre>a" + "\n" * 1_000_000 + "b</pre>",
    "repeated words": "<p>" + of_a_megabyte("lorem ipsum "),
    "different words": "<p>" + " ".join(map(str, range(150_000))),
    "nulls and surrogates": of_a_megabyte("\0<p>\ud800 x"),
    "nested JSON": "<script type=application/ld+json>" + "[" * 500_000 + "]" * 500_000 + "</script>",
    "authors": "<script type=application/ld+json>[" + '{"author": "x"},' * 60_000 + "{}]</script>",
    "dates": of_a_megabyte("<time datetime=2020-01-01>x</time>"),
}


@pytest.mark.parametrize("name", few_of(HOSTILE, 5))
def test_a_hostile_page_of_a_megabyte_takes_bounded_time(name: str) -> None:
    # About three times what the slowest takes where memory is slow; quadratic time would be minutes.
    assert cpu_cost_s(lambda: extract(HOSTILE[name], URL), 9.0, tries=3) < 9.0


def test_output_is_not_much_longer_than_the_page() -> None:
    for name in ("nested quotations", "nested lists", "a wide table", "a long cell", "links to a long base"):
        html = HOSTILE[name]
        found = extract(html, URL)
        assert len(found.text) <= len(html), name
        assert len(found.markdown) <= 2 * len(html) + 2_000_000, name


def test_links_of_markdown_lead_to_places() -> None:
    links = '<a href=" java\nscript:alert(1)">one</a> <a href="data:text/html,x">two</a> <a href="/y">three</a>'
    found = extracted(f"<article>{PARAGRAPHS}<p>{links} <a href='mailto:a@b.test'>four</a></p></article>")
    assert "one two [three](" in found.markdown
    assert "[four](mailto:a@b.test)" in found.markdown


def test_markdown_keeps_hard_line_breaks_and_empty_lines_of_code() -> None:
    found = extracted(f"<article>{PARAGRAPHS}<p>roses<br>violets</p><pre>x\n\n\n\ny</pre></article>")
    assert "roses  \nviolets" in found.markdown
    assert "x\n\n\n\ny" in found.markdown


def test_nested_quotations_do_not_make_markdown_long() -> None:
    html = "<blockquote>x" * 5_000
    assert len(extract(html, URL).markdown) <= 2 * len(html)


def test_markdown_has_no_tables_as_html() -> None:
    inner = "<table><tr><td colspan=2>Helium</td></tr><tr><td>lift</td><td>1.02</td></tr></table>"
    layout = f"<table><tr><td>menu</td><td><p>{FIRST}</p>{inner}</td></tr><tr><td>&nbsp;</td><td>last</td></tr></table>"
    found = extracted(f"<article>{PARAGRAPHS}{layout}</article>")
    assert "<t" not in found.markdown
    assert "&#160;" not in found.markdown
    assert "\n\nHelium\n\nlift | 1.02\n\nlast" in found.markdown
    table = "<table><tr><th>Gas</th><th>Lift</th></tr><tr><td rowspan=2>Helium</td><td>1.02</td></tr></table>"
    assert "| Gas | Lift |\n| --- | --- |\n| Helium | 1.02 |" in extracted(f"<article>{PARAGRAPHS}{table}").markdown
