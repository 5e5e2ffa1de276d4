"""The native path of the parser: any HTML page, read by the extension (`native/html.c`). `parse` says when it is taken.

The extension builds the tree of a page as the HTML standard says. It returns the visible text in UTF-8, the edges of
links in it, and their references with character references replaced. Neither words nor links become strings: the
scanner numbers words, and a URL table resolves references, from these bytes. The result equals that of `html.read_html`
and `WordScanner.scan_cut`, word for word and link for link, unless the library deviates from the standard: in blocks
within SVG and MathML, in more than 509 nested elements, `isindex`, `param`, `source` and `track` in links that are
reopened, and some control characters.
"""

from dataclasses import dataclass

import numpy as np

from scenthound.frontier.url_table import UrlTable
from scenthound.model import BoolArray
from scenthound.native import _native
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import utf_8_html
from scenthound.web.page_content import PageContent
from scenthound.web.references import References, ResolvedLinks, resolve_in_table, resolve_texts
from scenthound.web.refresh import is_refresh


@dataclass(frozen=True, slots=True)
class NativeLinks:
    """Links as the bytes of their references."""

    references: References
    is_nofollow: BoolArray

    def nofollow(self) -> BoolArray:
        return self.is_nofollow

    def resolved(self, base_url: str, table: UrlTable | None, /) -> ResolvedLinks:
        if table is None or not table.can_resolve:
            return resolve_texts(base_url, list(self.references))
        return resolve_in_table(base_url, self.references, table)


def read_native(html: str | bytes, http_charset: str | None, scanner: WordScanner, max_links: int) -> PageContent:
    """Read a page and its first `max_links` links."""
    data = utf_8_html(html, http_charset) if isinstance(html, bytes) else html.encode("utf-8", "surrogatepass")
    page = _native.read_html(data, max_links) or _native.read_html(_valid(data), max_links)
    assert page is not None
    text, title_end, edges, starts, ends, references, reference_ends, nofollow, base, metas, refreshes = page
    words, positions = scanner.scan_utf_8(text, np.frombuffer(edges, np.uint32))
    return PageContent(
        title=" ".join(text[:title_end].decode("utf-8", "replace").split()),
        base_reference=base,
        metas=metas,
        links=NativeLinks(
            References(references, np.frombuffer(reference_ends, np.uint32)), np.frombuffer(nofollow, np.bool_)
        ),
        words=words,
        start=positions.take(np.frombuffer(starts, np.uint32)),
        end=positions.take(np.frombuffer(ends, np.uint32)),
        refresh=next(filter(is_refresh, refreshes), None),
    )


def _valid(data: bytes) -> bytes:
    """Text in UTF-8 with U+FFFD instead of invalid bytes."""
    return data.decode("utf-8", "replace").encode()
