"""Parsing: title and words of a page, what separates words, and robots meta directives."""

import pytest

from parsed_page import URL, Page, words
from scenthound.text.tokenizer import WordScanner
from scenthound.web.parse import parse_html


def test_title_words_and_links_of_a_page() -> None:
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


def test_inline_markup_does_not_separate_words() -> None:
    assert words("<b>D</b>o<i>g</i> c<span>a</span>t bi<wbr>rd co<!-- x -->w") == ["dog", "cat", "bird", "cow"]


def test_entities_are_decoded() -> None:
    assert words("caf&eacute;&nbsp;dog&mdash;cat &#x63;ow") == ["caf\u00e9", "dog", "cat", "cow"]


def test_invisible_text_is_omitted() -> None:
    html = (
        "<head><style>p{}</style><script>var bad</script></head>dog <template>bad<a href=bad>bad</a></template>"
        "<script>bad</script><noframes>bad</noframes><!-- bad --><iframe>bad</iframe>cat"
    )
    page = Page(html)
    assert page.words == ["dog", "cat"]
    assert page.links == []


def test_the_words_of_noscript_count_because_a_crawler_runs_no_scripts() -> None:
    assert words("<noscript>dog</noscript>") == ["dog"]


def test_the_title_is_the_first_one_outside_svg() -> None:
    assert Page("<svg><title>circle</title></svg><title>Dog</title><title>Cat</title>").parsed.title == "Dog"


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
def test_robots_meta_directives(html: str, noindex: bool, nofollow: bool) -> None:
    parsed = Page(html, agent="scenthound").parsed
    assert (parsed.noindex, parsed.nofollow) == (noindex, nofollow)


def test_a_crawler_without_a_name_reads_the_robots_meta_only() -> None:
    assert not Page("<meta name=' ' content=none>").parsed.noindex
    assert Page("<meta name='robots ' content=none>").parsed.noindex


def test_bytes_are_decoded_by_the_charset_of_the_header() -> None:
    page = parse_html("<title>\u0436</title>".encode("koi8-r"), URL, WordScanner(), http_charset="koi8-r")
    assert page.title == "\u0436"


def test_a_long_page_is_parsed_like_a_short_one() -> None:
    body = "<b>H</b>ello <i class=x>w<code>or</code>ld</i> <B ID=y>big</B><br><strong>kites</strong>"
    long_page = Page(f"<p>{body}</p>{' ' * (1 << 15)}")
    assert long_page.words == Page(f"<p>{body}").words == ["hello", "world", "big", "kite"]


def test_the_source_of_a_formula_is_omitted() -> None:
    formula = (
        "<math><semantics><mrow><mi>kite</mi></mrow>"
        "<annotation encoding='application/x-tex'>\\mathcal{mouse}</annotation>"
        "<annotation-xml><ci>worm</ci></annotation-xml></semantics></math>"
    )
    assert words(f"<p>red {formula} tail") == ["red", "kite", "tail"]


def test_the_cells_of_a_matrix_are_separate_words() -> None:
    matrix = "<math><mtable><mtr><mtd><mi>red</mi></mtd><mtd><mi>kite</mi></mtd></mtr></mtable></math>"
    assert words(matrix) == ["red", "kite"]


def test_a_soft_hyphen_does_not_separate_words() -> None:
    assert words("<p>bal&shy;loon") == ["balloon"]
