"""Reading the fields of a record: leaks that are cut, and values that are wanted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recording_input import PAGE, lines, pages, reasons, records_of
from scenthound.store.batches import RawPage, Skipped
from scenthound.store.sources.records import ReadOptions, record_of, without_spans


def test_leaks_of_a_text_page_are_cut_too() -> None:
    fields = {"url": "http://a.org/", "text": "dog Pets cat", "leak": [[4, 8]]}
    cut = record_of(fields, "", ReadOptions(without_leaks=True))
    assert isinstance(cut, RawPage)
    assert cut.text == "dog   cat"


def test_leaks_that_nobody_asked_to_cut_need_not_make_sense() -> None:
    fields = {"url": "http://a.org/", "html": "dog", "leak": "everywhere"}
    assert isinstance(record_of(fields, "", ReadOptions()), RawPage)
    assert isinstance(record_of(fields, "", ReadOptions(without_leaks=True)), Skipped)


def test_leaks_are_cut_only_when_asked_and_keep_words_apart() -> None:
    fields = {"url": "http://a.org/", "html": "dog<b>Pets</b>cat", "leak": [[3, 14]]}
    (kept, cut) = (record_of(fields, "", ReadOptions(without_leaks=wish)) for wish in (False, True))
    assert isinstance(kept, RawPage)
    assert isinstance(cut, RawPage)
    assert (kept.html, cut.html) == ("dog<b>Pets</b>cat", "dog cat")


def test_spans_may_touch_overlap_and_reach_beyond_the_end() -> None:
    assert without_spans("0123456789", [(6, 8), (2, 4), (3, 5), (9, 99)]) == "01 5 8 "
    assert without_spans("abc", []) == "abc"
    assert without_spans("abc", [(0, 3)]) == " "


@given(st.text("abc", max_size=20), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=4))
def test_cutting_leaves_just_the_characters_outside_all_spans(text: str, cuts: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in cuts]
    outside = [c for i, c in enumerate(text) if not any(start <= i < end for start, end in spans)]
    assert without_spans(text, spans).replace(" ", "") == "".join(outside)


def test_only_records_with_the_wanted_values_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(lines(PAGE, PAGE | {"kind": "index"}, {"url": "http://b.org/", "text": "x"}))
    found = records_of(path, ReadOptions(where=(("kind", "article"),)))
    assert len(pages(found)) == 1
    assert reasons(found) == {"not wanted: kind is not article": 2}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (3, "3"),
        (1.5, "1.5"),
        ("yes", "yes"),
        ("true", "true"),
        ("", ""),
    ],
)
def test_a_wanted_value_is_written_as_in_json(value: object, wanted: str) -> None:
    fields = {"url": "http://a.org/", "text": "x", "ok": value}
    for wish in ("true", "True", "false", "null", "None", "3", "1.5", "yes", ""):
        kept = isinstance(record_of(fields, "", ReadOptions(where=(("ok", wish),))), RawPage)
        assert kept == (wish == wanted), wish


@pytest.mark.parametrize("wish", ["null", "None", ""])
def test_a_missing_field_is_never_the_wanted_one(wish: str) -> None:
    fields = {"url": "http://a.org/", "text": "x"}
    assert isinstance(record_of(fields, "", ReadOptions(where=(("ok", wish),))), Skipped)
