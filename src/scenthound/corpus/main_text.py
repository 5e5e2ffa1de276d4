"""The main text of a page, as text and as Markdown, and what the page says about itself.

`extract` is a pure function of one page. It raises no error whatever the page contains, and its time and memory are
linear in the size of the page; only the first `MAX_PAGE_BYTES` bytes are read. `content_element` has the rules that
separate content from boilerplate, `page_metadata` those of title, author and date, `quality` the quality rules.
"""

import re
from dataclasses import dataclass
from datetime import date

from scenthound.corpus.content_element import find_content, parse_page
from scenthound.corpus.language import detect_language
from scenthound.corpus.page_metadata import read_metadata
from scenthound.corpus.quality import failed_rules
from scenthound.corpus.rendering import rendered
from scenthound.text.scripts import UNSPACED_CLASS
from scenthound.web.decode import decode_html
from scenthound.web.parse import MAX_PAGE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class MainText:
    """The main content of a page.

    - `language_score` is the share of the text that is in the language (`language`), no probability.
    - `published_from` is the signal of the date (`page_metadata`).
    - `extractor` is what found the text: `turbohtml` by its score, or `turbohtml:RULE` by another rule of
      `content_element`.
    - `quality` has the names of the rules that the text fails (`quality.RULES`)."""

    text: str = ""
    markdown: str = ""
    title: str = ""
    author: str | None = None
    language: str | None = None
    language_score: float | None = None
    published: str | None = None
    published_from: str | None = None
    n_words: int = 0
    extractor: str = ""
    quality: tuple[str, ...] = ()


def extract(
    html: str | bytes,
    url: str,
    *,
    http_charset: str | None = None,
    latest: date | None = None,
) -> MainText:
    """Extract the main text of the page at `url`. No date after `latest` is taken for the date of publication."""
    source = _decoded(html, http_charset)
    document = parse_page(source)
    metadata = read_metadata(document, url, latest)
    base_url = document.base_url(url)
    content = find_content(document)
    text, markdown = rendered(content.element, base_url, len(source)) if content else ("", "")
    rule = content.rule if content else "body"
    language, language_score = detect_language(text)
    return MainText(
        **metadata,
        text=text,
        markdown=markdown,
        language=language,
        language_score=language_score,
        n_words=count_words(text),
        extractor="turbohtml" if rule == "scored" else f"turbohtml:{rule}",
        quality=failed_rules(text, language),
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


_UNSPACED_RUN = re.compile(f"[{UNSPACED_CLASS}]+")


def count_words(text: str) -> int:
    """The number of words; two letters of a script without spaces between words count as one."""
    n_words = len(text.split())
    if text.isascii():
        return n_words
    return n_words + sum((len(run) - 1) // 2 for run in _UNSPACED_RUN.findall(text))
