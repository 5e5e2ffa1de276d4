"""The text of an Open Directory dump, mended on the way so that an XML parser can read it.

Real dumps hold what XML forbids: control characters, bytes that are no UTF-8, bare ampersands and HTML's
named entities. Control characters are dropped, wrong bytes become U+FFFD, an ampersand that starts nothing
XML knows stands for itself. Line feeds stay, so line numbers are those of the file. Compressed dumps are
told by their content. Memory does not grow with the file.
"""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from scenthound.files import opened

CHUNK_BYTES = 1 << 17

_CONTROL_BYTES = bytes(code for code in range(32) if code not in b"\t\n\r")
_LONE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);|#(?:[0-9]{1,7}|x[0-9A-Fa-f]{1,6});)")
_NUMBERED = re.compile(r"&#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}));")
_LONGEST_REFERENCE = len("&#1114111;")


def mended_text(file: Path) -> Iterator[str]:
    """The file's text in pieces. A damaged file raises one of `files.DAMAGE` after its last readable piece."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    held_back = ""
    for content in _chunks(file):
        text = held_back + decoder.decode(content.translate(None, _CONTROL_BYTES))
        end = _end_of_whole_references(text)
        held_back = text[end:]
        yield _mended(text[:end])
    yield _mended(held_back + decoder.decode(b"", final=True))


def _chunks(file: Path) -> Iterator[bytes]:
    with opened(file) as source:
        # read1: what was decompressed before the damage is handed out, not lost in a buffer.
        while content := source.content.read1(CHUNK_BYTES):
            yield content


def _end_of_whole_references(text: str) -> int:
    """Where to part the text so that no reference such as &amp; is parted."""
    ampersand = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
    return len(text) if ampersand < 0 or ";" in text[ampersand:] else ampersand


def _mended(text: str) -> str:
    text = _LONE_AMPERSAND.sub("&amp;", text).replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")
    return _NUMBERED.sub(_allowed_reference, text) if "&#" in text else text


def _allowed_reference(reference: re.Match[str]) -> str:
    decimal, hexadecimal = reference.groups()
    code = int(decimal) if decimal else int(hexadecimal, 16)
    allowed = code in {9, 10, 13} or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0xFFFF < code < 0x110000
    return reference[0] if allowed else "\ufffd"
