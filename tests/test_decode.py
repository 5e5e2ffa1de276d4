"""Character decoding and content sniffing."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.decode import decode_html, is_html_type, looks_like_html, type_of

E_ACUTE = "\u00e9"


def test_a_byte_order_mark_has_priority_and_is_removed() -> None:
    page = f"<meta charset=latin1>{E_ACUTE}"
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        assert decode_html(mark + page.encode(encoding), "windows-1251") == page


def test_the_http_header_has_priority_over_the_declaration() -> None:
    page = f"<meta charset=utf-8>{E_ACUTE}"
    assert decode_html(page.encode("iso-8859-2"), "ISO-8859-2") == page


@pytest.mark.parametrize(
    "declaration",
    [
        "<meta charset=windows-1251>",
        "<META CHARSET='windows-1251' />",
        '<meta charset = " Windows-1251 ">',
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        "<meta content='text/html;charset=\"cp1251\"' http-equiv=content-type>",
        "<!-- <meta charset=utf-8> --><meta name=a content='charset=utf-8'><meta charset=windows-1251>",
        "<meta title='<meta charset=utf-8>' charset=windows-1251>",
        '<?xml version="1.0" encoding="windows-1251"?><html>',
    ],
)
def test_a_declaration_in_the_first_bytes_counts(declaration: str) -> None:
    page = declaration + "\u0436\u0443\u043a"
    assert decode_html(page.encode("windows-1251")) == page


def test_a_late_declaration_is_ignored() -> None:
    page = " " * 1_100 + "<meta charset=windows-1251>" + E_ACUTE
    assert decode_html(page.encode()) == page


@pytest.mark.parametrize(
    "label", ["klingon", "utf-7", "", "  ", "\x00", "\u00e9", "a" * 10_000, "idna", "rot13", "hex"]
)
def test_unknown_labels_are_ignored(label: str) -> None:
    page = "<meta charset=koi8-r>\u0436"
    assert decode_html(page.encode("koi8-r"), label) == page
    assert decode_html(E_ACUTE.encode(), label) == E_ACUTE


def test_a_page_without_declaration_is_utf_8_or_windows_1252() -> None:
    assert decode_html(E_ACUTE.encode()) == E_ACUTE
    assert decode_html(b"caf\xe9 \x93x\x94") == "caf\u00e9 \u201cx\u201d"
    assert decode_html(b"") == ""


def test_a_page_truncated_within_a_character_is_utf_8() -> None:
    assert decode_html(f"caf{E_ACUTE}s caf{E_ACUTE}".encode()[:-1]) == f"caf{E_ACUTE}s caf"


def test_labels_have_the_meaning_of_browsers() -> None:
    assert decode_html(b"\x93", "iso-8859-1") == "\u201c"
    assert decode_html(b"\x93", "us-ascii") == "\u201c"
    assert decode_html("\u4f60".encode("gb18030"), "gb2312") == "\u4f60"


@pytest.mark.parametrize("label", ["utf-16", "UTF-16LE", "unicode", "ucs-2"])
def test_a_readable_declaration_is_not_in_utf_16(label: str) -> None:
    page = f"<meta charset={label}>{E_ACUTE}"
    assert decode_html(page.encode()) == page


def test_a_meta_element_cannot_declare_a_user_defined_encoding() -> None:
    assert decode_html(b"<meta charset=x-user-defined>\xe9") == "<meta charset=x-user-defined>\u00e9"


def test_invalid_bytes_become_replacement_characters() -> None:
    assert decode_html(b"a\xffb", "utf-8") == "a\ufffdb"
    assert decode_html(b"a\xffb", "utf8") == "a\ufffdb"


HEADS = st.sampled_from(
    [b"", b"<meta charset=", b"<meta http-equiv=content-type content='charset=", b"<?xml encoding='", b"<!--"]
)


@given(
    HEADS,
    st.binary(max_size=60),
    st.none() | st.text(max_size=12) | st.sampled_from(["utf-16", "shift_jis", "iso-2022-jp"]),
)
def test_no_input_raises(head: bytes, body: bytes, label: str | None) -> None:
    decoded = decode_html(head + body, label)
    assert isinstance(decoded, str)
    assert decode_html(head + body, label) == decoded


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_utf_8_round_trip(text: str) -> None:
    assert decode_html(b"<p>" + text.encode()) == "<p>" + text


def test_thousands_of_incomplete_declarations_take_bounded_time() -> None:
    # Only the first kilobyte is searched, so this ends at once or not at all.
    for attempt in (b"<meta ", b"<meta a='"):
        page = attempt * 100_000 + b"charset"
        assert decode_html(page) == page.decode()


# Content sniffing


@pytest.mark.parametrize(
    ("header", "essence"),
    [
        ("text/html", "text/html"),
        (" Text/HTML ; charset=utf-8", "text/html"),
        ("text/html, text/html", "text/html"),
        ("application/xhtml+xml;q=1", "application/xhtml+xml"),
        ("html", None),
        ("", None),
        (None, None),
    ],
)
def test_the_mime_type_without_parameters(header: str | None, essence: str | None) -> None:
    assert type_of(header) == essence


def test_only_html_and_xhtml_are_html_types() -> None:
    assert is_html_type("text/html")
    assert is_html_type("application/xhtml+xml")
    assert not any(map(is_html_type, ("text/plain", "application/xml", "text/html5", "image/svg+xml")))


@pytest.mark.parametrize(
    "content",
    [b"<!DOCTYPE html>", b"\xef\xbb\xbf \r\n\t<HTML>", b"<p >", b"<!-- comment", b"<a\nhref=x>", b"<br/>", b"<h1>x"],
)
def test_html_is_detected_by_content(content: bytes) -> None:
    assert looks_like_html(content)


@pytest.mark.parametrize(
    "content", [b"", b"words", b"<", b"<pre>", b"<?xml version='1.0'?><rss>", b"<!doctype svg>", b"x<html>", b"\x89PNG"]
)
def test_other_content_is_not_html(content: bytes) -> None:
    assert not looks_like_html(content)
