"""The HTML reader: text, links and head of any page.

The extension (`native/html.c`) builds the tree of a page as the HTML standard says, in time and memory that are linear
in its length, whatever it contains. The text has the visible words, title first: blocks, cells and line breaks separate
words, inline markup does not; scripts, styles, templates and the source of formulas are omitted; images contribute
their alt text. Neither words nor links become strings: the scanner numbers words, and a URL table resolves references,
from these bytes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scenthound.model import BoolArray
from scenthound.native import _native
from scenthound.web.references import References
from scenthound.web.refresh import is_refresh

#: Ends the title, blocks, cells and lines in the text.
BLOCK_END = "\x1e"
_SOFT_HYPHEN = "\xad"


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """`edges` are the ascending positions in the text, in bytes, where links start and end; link i has the text between
    `edges[starts[i]]` and `edges[ends[i]]`. `metas` are pairs of name and content, `refresh` the content of the first
    `<meta http-equiv=refresh>`."""

    text: bytes
    title_end: int
    edges: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]
    references: References
    is_nofollow: BoolArray
    base_reference: str | None
    metas: list[tuple[str, str]]
    refresh: str | None

    @property
    def title(self) -> str:
        return " ".join(self.text[: self.title_end].decode("utf-8", "replace").split())

    def text_between(self, start: int, end: int | None = None) -> str:
        """A part of the text as people see it: a soft hyphen is not displayed."""
        return self.text[start:end].decode("utf-8", "replace").replace(_SOFT_HYPHEN, "")


def read_html(html: bytes, max_links: int) -> HtmlPage:
    """Read a page in UTF-8 and its first `max_links` links; invalid bytes count as U+FFFD."""
    read = _native.read_html(html, max_links) or _native.read_html(html.decode("utf-8", "replace").encode(), max_links)
    assert read is not None
    text, title_end, edges, starts, ends, references, reference_ends, nofollow, base, metas, refreshes = read
    return HtmlPage(
        text=text,
        title_end=title_end,
        edges=np.frombuffer(edges, np.uint32),
        starts=np.frombuffer(starts, np.uint32),
        ends=np.frombuffer(ends, np.uint32),
        references=References(references, np.frombuffer(reference_ends, np.uint32)),
        is_nofollow=np.frombuffer(nofollow, np.bool_),
        base_reference=base,
        metas=metas,
        refresh=next(filter(is_refresh, refreshes), None),
    )
