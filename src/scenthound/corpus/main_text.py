"""The main text of a page, as text and as Markdown, and what the page says about itself.

`extract` is a pure function of one page. It raises no error whatever the page contains, and its time and memory are
linear in the size of the page; only the first `MAX_PAGE_BYTES` bytes are read. `content_element` has the rules that
separate content from boilerplate, `page_metadata` those of title, author and date, `quality` the quality rules.

With `escalate` (the extra `corpus`), trafilatura gets a second try at pages on which these rules probably failed
(`escalation`).
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from turbohtml import Element, Markdown, PlainText, Text

from scenthound.corpus.content_element import Content, count_displayed, find_content, parse_page
from scenthound.corpus.escalation import FirstTry, require_trafilatura, second_try
from scenthound.corpus.language import detect_language
from scenthound.corpus.page_metadata import read_metadata
from scenthound.corpus.quality import failed_rules
from scenthound.text.scripts import UNSPACED_CLASS
from scenthound.web.decode import decode_html
from scenthound.web.parse import MAX_PAGE_BYTES

_MARKDOWN = Markdown(images=Markdown.Images(mode="ignore"), tables=Markdown.Tables(cell_blocks="text"))
_PLAIN = PlainText(layout="strict", bullet="- ")
#: Links are left relative where absolute ones would take more characters than this.
_MAX_LINK_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MainText:
    """The main content of a page.

    - `language_score` is the share of the text that is in the language (`language`), no probability.
    - `published_from` is the signal of the date (`page_metadata`).
    - `extractor` is what found the text: `turbohtml` by its score, `turbohtml:RULE` by another rule of
      `content_element`, or `trafilatura`.
    - `quality` has the names of the rules that the text fails (`quality.RULES`)."""

    text: str
    markdown: str
    title: str
    author: str | None
    language: str | None
    language_score: float | None
    published: str | None
    published_from: str | None
    n_words: int
    extractor: str
    quality: tuple[str, ...]


def extract(
    html: str | bytes,
    url: str,
    *,
    http_charset: str | None = None,
    escalate: bool = False,
    latest: date | None = None,
) -> MainText:
    """Extract the main text of the page at `url`. No date after `latest` is taken for the date of publication.

    `escalate` needs trafilatura; without it, MissingExtra is raised."""
    if escalate:
        require_trafilatura()
    source = _decoded(html, http_charset)
    document = parse_page(source)
    metadata = read_metadata(document, url, latest)
    n_displayed = count_displayed(document) if escalate else 0
    base_url = document.base_url(url)
    content = find_content(document)
    text, markdown = _rendered(content, base_url, len(source))
    rule = content.rule if content else "body"
    extractor = "turbohtml" if rule == "scored" else f"turbohtml:{rule}"
    if escalate:
        first = FirstTry(text=text, rule=rule, n_displayed=n_displayed, is_article=metadata.is_article)
        if (second := second_try(source, url, first)) is not None:
            text, markdown = _tidied(second.text), _tidied(second.markdown)
            extractor = "trafilatura"
    language = detect_language(text)
    return MainText(
        text=text,
        markdown=markdown,
        title=_tidied(metadata.title),
        author=_tidied(metadata.author) if metadata.author else None,
        language=language.code if language else None,
        language_score=language.share if language else None,
        published=metadata.published,
        published_from=metadata.published_from,
        n_words=count_words(text),
        extractor=extractor,
        quality=failed_rules(text, language.code if language else None),
    )


def _decoded(html: str | bytes, http_charset: str | None) -> str:
    if isinstance(html, bytes):
        return decode_html(html[:MAX_PAGE_BYTES], http_charset)
    page = html[:MAX_PAGE_BYTES]
    try:
        page.encode()
    except UnicodeEncodeError:
        # Lone surrogates, which no file format of a corpus can hold.
        return page.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return page


# Rendering

_BLOCK_TAGS = "p,div,ul,ol,dl,table,pre,blockquote,section,article,h1,h2,h3,h4,h5,h6"
_INLINE_WITH_BLOCKS = f":is(a,span,font,b,i,em,strong,ins,del,label,center):has(>:is({_BLOCK_TAGS}))"
_TABLE_PARTS = "table,thead,tbody,tfoot,caption,colgroup"
_CELL_SEPARATOR = " | "


def _rendered(content: Content | None, base_url: str, max_characters: int) -> tuple[str, str]:
    """The content as text and as Markdown. Neither is much longer than the page, although quotations and lists can be
    nested so that each line is indented by more than it has."""
    if content is None:
        return "", ""
    element = content.element
    _resolve_links(element, base_url)
    # First, because plain text needs other elements.
    markdown = element.to_markdown(_MARKDOWN)
    _make_plain(element)
    text = element.to_text(_PLAIN)
    return _tidied(text[:max_characters]), _tidied(markdown[: 2 * max_characters + _MAX_LINK_CHARACTERS])


def _resolve_links(element: Element, base_url: str) -> None:
    if len(element.select("a[href]")) * len(base_url) <= _MAX_LINK_CHARACTERS:
        # Of a base URL that is none, or of a link: they stay as they are.
        with suppress(ValueError):
            element.resolve_links(base_url)


def _make_plain(element: Element) -> None:
    """Turn tables into lines, and inline elements around blocks into blocks.

    The library would align the cells of a table, which a page could use to make its text any length. It joins blocks
    within inline elements with the words after them."""
    for inline in element.select(_INLINE_WITH_BLOCKS):
        inline.tag = "div"
    rows = element.select("tr")
    if element.tag == "tr":
        rows.append(element)
    for row in rows:
        _make_line(row)
    for part in element.select(_TABLE_PARTS):
        part.tag = "div"
    if element.tag in _TABLE_PARTS:
        element.tag = "div"


def _make_line(row: Element) -> None:
    row.tag = "div"
    cells = [cell for cell in row if isinstance(cell, Element) and cell.tag in ("td", "th")]
    # A table for layout has blocks in its cells.
    is_layout = any(cell.select_one(_BLOCK_TAGS) is not None for cell in cells)
    for number, cell in enumerate(cells):
        cell.tag = "div" if is_layout else "span"
        if number and not is_layout:
            cell.insert_before(Text(_CELL_SEPARATOR))


_INVALID = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\ufeff\ufffe\uffff]")
_EMPTY_LINES = re.compile(r"\n{3,}")


def _tidied(text: str) -> str:
    """A text without control characters, soft hyphens, trailing spaces and more than one empty line at a time."""
    text = _INVALID.sub("", text.replace("\xa0", " "))
    return _EMPTY_LINES.sub("\n\n", "\n".join(map(str.rstrip, text.split("\n")))).strip()


_UNSPACED_RUN = re.compile(f"[{UNSPACED_CLASS}]+")


def count_words(text: str) -> int:
    """The number of words; two letters of a script without spaces between words count as one."""
    n_words = len(text.split())
    if text.isascii():
        return n_words
    return n_words + sum((len(run) - 1) // 2 for run in _UNSPACED_RUN.findall(text))
