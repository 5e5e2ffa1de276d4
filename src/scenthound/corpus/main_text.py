"""The main text of a page, as text and as Markdown, and what the page says about itself.

`extract` is a pure function of one page. It raises no error whatever the page contains, and its time and memory are
linear in the size of the page; only the first `MAX_PAGE_BYTES` bytes are read. `content_element` has the rules that
separate content from boilerplate, `page_metadata` those of title, author and date, `quality` the quality rules.

With `escalate` (the extra `corpus`), trafilatura gets a second try at pages on which these rules probably failed
(`escalation`).
"""

import re
from dataclasses import dataclass
from datetime import date

from scenthound.corpus.content_element import count_displayed, find_content, parse_page
from scenthound.corpus.escalation import FirstTry, require_trafilatura, second_try
from scenthound.corpus.language import detect_language
from scenthound.corpus.page_metadata import read_metadata
from scenthound.corpus.quality import failed_rules
from scenthound.corpus.rendering import rendered, tidied
from scenthound.text.scripts import UNSPACED_CLASS
from scenthound.web.decode import decode_html
from scenthound.web.parse import MAX_PAGE_BYTES


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
    text, markdown = rendered(content.element, base_url, len(source)) if content else ("", "")
    rule = content.rule if content else "body"
    extractor = "turbohtml" if rule == "scored" else f"turbohtml:{rule}"
    if escalate:
        first = FirstTry(text=text, rule=rule, n_displayed=n_displayed, is_article=metadata.is_article)
        if (second := second_try(source, url, first)) is not None:
            text, markdown = tidied(second.text), tidied(second.markdown)
            extractor = "trafilatura"
    language = detect_language(text)
    return MainText(
        text=text,
        markdown=markdown,
        title=tidied(metadata.title),
        author=tidied(metadata.author) if metadata.author else None,
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


_UNSPACED_RUN = re.compile(f"[{UNSPACED_CLASS}]+")


def count_words(text: str) -> int:
    """The number of words; two letters of a script without spaces between words count as one."""
    n_words = len(text.split())
    if text.isascii():
        return n_words
    return n_words + sum((len(run) - 1) // 2 for run in _UNSPACED_RUN.findall(text))
