"""Bytes to text: the order of the standard, and no page that raises."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.decode import decode_html

E_ACUTE = "\u00e9"


def test_a_byte_order_mark_beats_everything_and_is_not_part_of_the_text() -> None:
    page = f"<meta charset=latin1>{E_ACUTE}"
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        assert decode_html(mark + page.encode(encoding), "windows-1251") == page


def test_the_http_header_beats_the_declaration() -> None:
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
def test_a_declaration_in_the_first_bytes_is_followed(declaration: str) -> None:
    page = declaration + "\u0436\u0443\u043a"
    assert decode_html(page.encode("windows-1251")) == page


def test_a_declaration_far_down_is_not_looked_for() -> None:
    page = " " * 1_100 + "<meta charset=windows-1251>" + E_ACUTE
    assert decode_html(page.encode()) == page


@pytest.mark.parametrize(
    "label", ["klingon", "utf-7", "", "  ", "\x00", "\u00e9", "a" * 10_000, "idna", "rot13", "hex"]
)
def test_labels_nobody_knows_are_passed_over(label: str) -> None:
    page = "<meta charset=koi8-r>\u0436"
    assert decode_html(page.encode("koi8-r"), label) == page
    assert decode_html(E_ACUTE.encode(), label) == E_ACUTE


def test_a_page_without_declaration_is_utf_8_if_it_can_be_and_windows_1252_else() -> None:
    assert decode_html(E_ACUTE.encode()) == E_ACUTE
    assert decode_html(b"caf\xe9 \x93x\x94") == "caf\u00e9 \u201cx\u201d"
    assert decode_html(b"") == ""


def test_a_page_cut_within_a_character_is_still_utf_8() -> None:
    assert decode_html(f"caf{E_ACUTE}s caf{E_ACUTE}".encode()[:-1]) == f"caf{E_ACUTE}s caf"


def test_labels_mean_what_browsers_take_them_for() -> None:
    assert decode_html(b"\x93", "iso-8859-1") == "\u201c"
    assert decode_html(b"\x93", "us-ascii") == "\u201c"
    assert decode_html("\u4f60".encode("gb18030"), "gb2312") == "\u4f60"


@pytest.mark.parametrize("label", ["utf-16", "UTF-16LE", "unicode", "ucs-2"])
def test_a_declaration_that_can_be_read_is_not_in_utf_16(label: str) -> None:
    page = f"<meta charset={label}>{E_ACUTE}"
    assert decode_html(page.encode()) == page


def test_a_meta_element_cannot_ask_for_a_user_defined_encoding() -> None:
    assert decode_html(b"<meta charset=x-user-defined>\xe9") == "<meta charset=x-user-defined>\u00e9"


def test_broken_bytes_become_replacement_characters() -> None:
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
def test_no_bytes_and_no_label_raise(head: bytes, body: bytes, label: str | None) -> None:
    decoded = decode_html(head + body, label)
    assert isinstance(decoded, str)
    assert decode_html(head + body, label) == decoded


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_utf_8_text_survives(text: str) -> None:
    assert decode_html(b"<p>" + text.encode()) == "<p>" + text


def test_thousands_of_attempts_at_a_declaration_take_no_time() -> None:
    # Only the first kilobyte is searched, so this ends at once or not at all.
    for attempt in (b"<meta ", b"<meta a='"):
        page = attempt * 100_000 + b"charset"
        assert decode_html(page) == page.decode()
