"""Streaming readers of Open Directory RDF dumps: categories of the structure file, pages of the content file.

- Memory does not grow with the file.
- A truncated or corrupt file is read up to the damage, including the incomplete last category; then the position is
  reported.
- Categories more than `MAX_LEVELS` below the root are omitted with their pages.
- Texts come without HTML tags and entities; URLs and paths are as written.
- Namespace prefixes differ between dumps and are ignored. The root, which has no name in some dumps, is `Top`.
- Characters that XML forbids, but real dumps contain, are repaired: control characters are removed, invalid UTF-8
  becomes U+FFFD, bare ampersands and HTML entities are escaped. Line feeds stay, so that line numbers are those of the
  file. Compression is detected by content.
"""

import codecs
import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar
from xml.parsers import expat

from scenthound.errors import InvalidInput, printable
from scenthound.files import DAMAGE, opened
from scenthound.topics.files import ROOT, is_too_deep

CHUNK_BYTES = 1 << 17

_CONTROL_BYTES = bytes(code for code in range(32) if code not in b"\t\n\r")
_LONE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);|#(?:[0-9]{1,7}|x[0-9A-Fa-f]{1,6});)")
_NUMBERED = re.compile(r"&#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}));")
_LONGEST_REFERENCE = len("&#1114111;")


def repaired_text(file: Path) -> Iterator[str]:
    """The text of a file in pieces. A corrupt file raises one of `files.DAMAGE` after its last readable piece."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    pending = ""
    for content in _chunks(file):
        text = pending + decoder.decode(content.translate(None, _CONTROL_BYTES))
        end = _end_of_complete_references(text)
        pending = text[end:]
        yield _repaired(text[:end])
    yield _repaired(pending + decoder.decode(b"", final=True))


def _chunks(file: Path) -> Iterator[bytes]:
    with opened(file) as source:
        # read1 returns what was decompressed before the damage.
        while content := source.content.read1(CHUNK_BYTES):
            yield content


def _end_of_complete_references(text: str) -> int:
    """Where to split the text so that no reference such as &amp; is split."""
    ampersand = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
    return len(text) if ampersand < 0 or ";" in text[ampersand:] else ampersand


def _repaired(text: str) -> str:
    text = _LONE_AMPERSAND.sub("&amp;", text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    return _NUMBERED.sub(_allowed_reference, text) if "&#" in text else text


def _allowed_reference(reference: re.Match[str]) -> str:
    decimal, hexadecimal = reference.groups()
    code = int(decimal) if decimal else int(hexadecimal, 16)
    allowed = code in {9, 10, 13} or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0xFFFF < code < 0x110000
    return reference[0] if allowed else "\ufffd"


CHILDREN = frozenset({"narrow", "narrow1", "narrow2", "letterbar"})
LINKS = frozenset({"link", "link1", "pdf", "pdf1", "rss", "rss1", "atom", "atom1"})
_TEXTS = frozenset({"Title", "Description", "topic"})
_TAG = re.compile(r"</?[A-Za-z][^>]*>")


@dataclass(frozen=True, slots=True)
class Category:
    """A category of the structure file. Symbolic links to other categories are not children."""

    path: str
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedPage:
    """An external page listed by the directory's editors."""

    url: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The external pages of one category, in the directory's order."""

    path: str
    pages: tuple[ListedPage, ...]


@dataclass(frozen=True, slots=True)
class Truncation:
    """Where a dump could not be read any further, and why."""

    file: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{printable(self.file)}: truncated at line {self.line} ({self.reason}). Everything before it was read."


def read_categories(file: Path, on_truncated: Callable[[Truncation], None]) -> Iterator[Category]:
    """The categories of a structure file, in order."""
    return _stream(file, _CategoryReader(file), on_truncated)


def read_listings(file: Path, on_truncated: Callable[[Truncation], None]) -> Iterator[Listing]:
    """The categories of a content file that list pages, in order."""
    return _stream(file, _ListingReader(file), on_truncated)


Item = TypeVar("Item", Category, Listing)


class _Reader(ABC, Generic[Item]):
    """Collects items from parser events; `start` and `end` receive local names."""

    def __init__(self, file: Path) -> None:
        self.file = printable(file)
        self.finished: list[Item] = []
        self.saw_root = False
        self._local_names: dict[str, str] = {}

    def start_element(self, name: str, attributes: dict[str, str]) -> None:
        local = self._local(name)
        if self.saw_root:
            self.start(local, {self._local(key): value for key, value in attributes.items()})
        elif local == "RDF":
            self.saw_root = True
        else:
            raise InvalidInput(
                f"{self.file} starts with <{printable(name)}>, not <RDF>. Choose an Open Directory RDF file."
            )

    def end_element(self, name: str) -> None:
        self.end(self._local(name))

    @abstractmethod
    def start(self, local: str, attributes: dict[str, str]) -> None: ...

    @abstractmethod
    def end(self, local: str) -> None: ...

    @abstractmethod
    def finish(self) -> None:
        """Add the open item at the end of the file."""

    def text(self, piece: str) -> None:
        """Receive text; ignored by default."""

    def _local(self, name: str) -> str:
        local = self._local_names.get(name)
        if local is None:
            local = self._local_names[name] = name.rpartition(":")[2]
        return local


class _CategoryReader(_Reader[Category]):
    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._path: str | None = None
        self._children: dict[str, None] = {}

    def start(self, local: str, attributes: dict[str, str]) -> None:
        if local in CHILDREN:
            self._children[attributes.get("resource", "")] = None
        elif local == "Topic":
            self._path = attributes.get("id", "") or ROOT
            self._children.clear()
        elif local == "ExternalPage":
            raise InvalidInput(f"{self.file} is a content file. Choose the structure file (structure.rdf.u8).")

    def end(self, local: str) -> None:
        if local == "Topic":
            self.finish()

    def finish(self) -> None:
        if self._path is not None and not is_too_deep(self._path):
            children = (child for child in self._children if child and not is_too_deep(child))
            self.finished.append(Category(self._path, tuple(children)))
        self._path = None


class _ListingReader(_Reader[Listing]):
    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._path = ""
        self._pages: dict[str, ListedPage] = {}
        self._url = ""
        self._texts: dict[str, str] = {}
        self._pieces: list[str] | None = None

    def start(self, local: str, attributes: dict[str, str]) -> None:
        if local in _TEXTS:
            self._pieces = []
        elif local in LINKS:
            url = attributes.get("resource", "")
            self._pages[url] = ListedPage(url, "", "")
        elif local == "Topic":
            self._begin(attributes.get("id", "") or ROOT)
        elif local == "ExternalPage":
            self._url = attributes.get("about", "")
            self._texts.clear()
        elif local in CHILDREN:
            raise InvalidInput(f"{self.file} is a structure file. Choose the content file (content.rdf.u8).")

    def text(self, piece: str) -> None:
        if self._pieces is not None:
            self._pieces.append(piece)

    def end(self, local: str) -> None:
        if self._pieces is not None and local in _TEXTS:
            self._texts[local] = "".join(self._pieces)
            self._pieces = None
        elif local == "ExternalPage":
            path = self._texts.get("topic", self._path)
            if path != self._path:
                self._begin(path)
            page = ListedPage(self._url, self._plain_text("Title"), self._plain_text("Description"))
            self._pages[self._url] = page

    def finish(self) -> None:
        self._begin("")

    def _begin(self, path: str) -> None:
        # Texts follow their Topic element, so a listing is complete only when the next one starts.
        self._pages.pop("", None)
        if self._pages and not is_too_deep(self._path):
            self.finished.append(Listing(self._path, tuple(self._pages.values())))
        self._path = path
        self._pages.clear()

    def _plain_text(self, local: str) -> str:
        text = self._texts.get(local, "")
        if "<" in text:
            text = _TAG.sub(" ", text)
        return " ".join(html.unescape(text).split())


def _stream(file: Path, reader: _Reader[Item], on_truncated: Callable[[Truncation], None]) -> Iterator[Item]:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reader.start_element
    parser.EndElementHandler = reader.end_element
    parser.CharacterDataHandler = reader.text
    truncation = None
    try:
        for text in repaired_text(file):
            parser.Parse(text)
            yield from reader.finished
            reader.finished.clear()
        parser.Parse("", True)
    except (expat.ExpatError, *DAMAGE) as error:
        if not reader.saw_root:
            what = "is not XML" if isinstance(error, expat.ExpatError) else "is corrupt"
            raise InvalidInput(f"{reader.file} {what} ({error}). Choose an Open Directory RDF file.") from error
        truncation = Truncation(file, parser.CurrentLineNumber, str(error).partition(": line")[0])
    reader.finish()
    yield from reader.finished
    if truncation is not None:
        on_truncated(truncation)
