"""Character decoding and content sniffing of HTML pages, by the WHATWG standards.

The encoding is the first of: byte order mark, charset of the HTTP header, declaration in the first 1,024 bytes. A page
without any is UTF-8 if it is valid UTF-8, and windows-1252 otherwise. Unknown labels are ignored, invalid bytes become
U+FFFD, and no input raises an error.
"""

import codecs
import functools
import re

_DECLARED_WITHIN_BYTES = 1_024
_FALLBACK = "windows-1252"
_UTF_8 = "utf-8"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, _UTF_8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_XML_ENCODING = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"']*)[\"']")
_META = re.compile(rb"<meta[\s/]((?:\"[^\"]*\"|'[^']*'|[^>\"'])*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"([^\s/=>\"']+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_CHARSET_IN_CONTENT = re.compile(rb"charset\s*=\s*[\"']?\s*([^\s;\"']+)", re.IGNORECASE)


def decode_html(body: bytes, http_charset: str | None = None) -> str:
    """Decode a page. `http_charset` is the charset of its Content-Type header, if there is one."""
    decoded = _decoded(body, http_charset)
    return decoded if isinstance(decoded, str) else decoded.decode("utf-8", "replace")


def utf_8_html(body: bytes, http_charset: str | None = None) -> bytes:
    """A page in UTF-8, with what `decode_html` returns. If it is in UTF-8, its invalid bytes stay as they are."""
    decoded = _decoded(body, http_charset)
    return decoded.encode("utf-8", "surrogatepass") if isinstance(decoded, str) else decoded


def _decoded(body: bytes, http_charset: str | None) -> str | bytes:
    """The text of a page or, if it is in UTF-8, its bytes."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :] if encoding == _UTF_8 else body[len(mark) :].decode(encoding, "replace")
    if http_charset and (text := _labelled(body, http_charset)) is not None:
        return text
    if (label := _declared(body[:_DECLARED_WITHIN_BYTES])) and (text := _labelled(body, label)) is not None:
        return text
    return _undeclared(body)


def _undeclared(body: bytes) -> str | bytes:
    try:
        # Not final: the body may have been truncated within its last character.
        _, length = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return _decode(body, _FALLBACK)
    return body[:length]


def _labelled(body: bytes, label: str) -> str | bytes | None:
    label = label.strip().lower()
    if label in (_UTF_8, "utf8"):
        return body
    try:
        return _decode(body, label)
    except (LookupError, ValueError):  # ValueError: a label with a NUL in it
        return None


def _decode(body: bytes, label: str) -> str:
    """Decode a body by the label of its encoding. Raises LookupError or ValueError for unknown labels."""
    # Few pages need the library, which takes long to load.
    import turbohtml.detect  # noqa: F401  registers the codecs "whatwg-<label>"

    return body.decode(f"whatwg-{label}", "replace")


def _declared(head: bytes) -> str | None:
    """The label of the XML declaration or of the first meta element that has one."""
    if b"charset" not in head.lower() and not head.startswith(b"<?xml"):
        return None
    xml = _XML_ENCODING.match(head)
    labels = [xml[1]] if xml else (_label_of(meta[1]) for meta in _META.finditer(_COMMENT.sub(b"", head)))
    label = next(filter(None, labels), None)
    return _ascii_compatible(label.decode("latin-1")) if label is not None else None


def _label_of(attributes: bytes) -> bytes | None:
    values: dict[bytes, bytes] = {}
    for name, *quoted in _ATTRIBUTE.findall(attributes):
        values.setdefault(name.lower(), b"".join(quoted))
    if b"charset" in values:
        return values[b"charset"]
    if values.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    content = _CHARSET_IN_CONTENT.search(values.get(b"content", b""))
    return content[1] if content else None


def _ascii_compatible(label: str) -> str:
    """A declaration that can be read byte by byte is not in UTF-16, whatever it says."""
    name = label.strip().lower()
    if name.startswith(("utf-16", "utf16", "ucs-2", "unicode", "iso-10646-ucs-2", "csunicode")):
        return label if name.startswith("unicode-1-1-utf-8") else "utf-8"
    return _FALLBACK if name == "x-user-defined" else label


# Content sniffing: the HTML signatures of the WHATWG MIME Sniffing Standard, section 7.1

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_SNIFFED_BYTES = 1_445
_CACHED_TYPES = 256
_TAGS = (
    "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b",
    "body", "br", "p",
)  # fmt: skip
_LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*<(?:!--|(?:" + "|".join(_TAGS).encode() + rb")[\t\n\f\r />])", re.IGNORECASE
)


@functools.lru_cache(_CACHED_TYPES)
def type_of(content_type: str | None) -> str | None:
    """The MIME type in lower case, without parameters; None if the header is missing or invalid."""
    if content_type is None:
        return None
    essence = content_type.partition(";")[0].partition(",")[0].strip().lower()
    return essence if "/" in essence else None


def is_html_type(essence: str) -> bool:
    """Whether a MIME type, as returned by `type_of`, is HTML."""
    return essence in _HTML_TYPES


def looks_like_html(content: bytes) -> bool:
    """Whether the decoded content of a response without Content-Type starts like HTML."""
    return _LOOKS_LIKE_HTML.match(content[:_SNIFFED_BYTES]) is not None
