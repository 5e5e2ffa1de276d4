"""Search queries and excerpts."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.store.search_query import MAX_TERMS, SearchQuery, Term, excerpt


def test_words_phrases_prefixes_and_exclusions_are_parsed() -> None:
    query = SearchQuery.typed('hot "air balloon" -"gas burner" -rent ballo* e-mail')
    phrase = Term("air balloon", is_quoted=True)
    assert query.wanted == (Term("hot"), phrase, Term("ballo", is_prefix=True), Term("e-mail"))
    assert query.unwanted == (Term("gas burner", is_quoted=True), Term("rent"))


@pytest.mark.parametrize("typed", ["", "  ", "*", "-", '"', '""', "-balloon", "!? ...", "\0", "-*"])
def test_a_query_without_words_is_empty(typed: str) -> None:
    assert not SearchQuery.typed(typed)


def test_quotes_may_be_left_open_or_be_of_the_printed_kind() -> None:
    assert SearchQuery.typed('"hot air').wanted == SearchQuery.typed("\u201chot air\u201d").wanted
    assert SearchQuery.typed('"hot air').wanted == (Term("hot air", is_quoted=True),)


def test_a_quote_within_a_term_does_not_end_it() -> None:
    assert Term('a" OR "b').exact() == '"a"" OR ""b"'


def test_one_letter_begins_too_many_words() -> None:
    assert SearchQuery.typed("b*").wanted == (Term("b"),)


def test_more_terms_than_a_person_types_are_left_out() -> None:
    assert len(SearchQuery.typed("dog " * 100).wanted) == MAX_TERMS


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("balloon", {"balloons", "ballooning", "ballooned"}),
        ("Races", {"race", "raced", "racing"}),
        ("running", {"run", "runs"}),
        ("party", {"parties"}),
    ],
)
def test_a_word_has_other_forms_of_the_same_stem(word: str, forms: set[str]) -> None:
    (term,) = SearchQuery.typed(word).wanted
    assert forms <= set(term.forms())


@pytest.mark.parametrize("typed", ['"balloon"', "balloon*", "an", "the", "b2", "été"])
def test_phrases_prefixes_and_short_words_have_no_other_forms(typed: str) -> None:
    assert not SearchQuery.typed(typed).has_forms


@given(st.text(max_size=60) | st.text(alphabet="ab\"*-+^():{}'AND OR NOT NEAR\0\n", max_size=60))
def test_no_query_is_an_error(typed: str) -> None:
    query = SearchQuery.typed(typed)
    if query:
        for match in (query.exact(), query.widened(), query.only_other_forms()):
            INDEX.execute("SELECT rowid FROM page WHERE page MATCH ?", (match,)).fetchall()
    excerpt("some text about ballo\u00f6ns", typed)


INDEX = sqlite3.connect(":memory:")
INDEX.execute("CREATE VIRTUAL TABLE page USING fts5(title, url, text, content='')")


def test_an_excerpt_shows_where_the_words_stand_together() -> None:
    text = "hot soup. " + "x " * 300 + "the hot air rises and a balloon follows " + "y " * 300
    text_part = excerpt(text, "balloon hot air", 120)
    assert "hot air rises and a balloon follows" in text_part
    assert text_part.startswith("… x")
    assert text_part.endswith("y …")
    assert len(text_part) <= 120 + len("…  …")


def test_earlier_matches_do_not_count_for_a_later_position() -> None:
    text = "the air balloon " + "x " * 300 + "hot soup " + "y " * 300
    assert excerpt(text, "balloon hot air", 80).startswith("the air balloon")


def test_excerpts_match_other_forms_and_ignore_accents() -> None:
    text = "a " * 300 + "les montgolfi\u00e8res: BALLOONS " + "b " * 300
    assert "BALLOONS" in excerpt(text, "ballooning", 60)
    assert "montgolfi\u00e8res" in excerpt(text, "montgolfieres", 60)


def test_a_word_does_not_match_inside_another_unless_as_a_prefix() -> None:
    text = "overheated and heated " + "c " * 300 + "heat"
    assert excerpt(text, '"heat"', 80).endswith("heat")
    assert excerpt(text, "heat*", 80).startswith("overheated and heated")


def test_an_excerpt_without_matches_is_the_start() -> None:
    assert excerpt("one two three", "balloon") == "one two three"
    assert excerpt("one two three", "") == "one two three"
    assert excerpt("one " * 100, "balloon", 40) == "one one one one one one one one one one …"


def test_white_space_of_an_excerpt_is_joined() -> None:
    assert excerpt("one\n two\t three", "two") == "one two three"
