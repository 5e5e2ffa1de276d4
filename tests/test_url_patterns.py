"""Patterns on URLs: globs, and regular expressions in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.errors import InvalidParameter
from scenthound.web.url_patterns import MAX_PATTERN_CHARACTERS, url_pattern

URL = "https://example.org/docs/guide.html?page=2"


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        (URL, True),
        ("https://example.org/docs", False),
        ("https://example.org/docs/*", True),
        ("*/docs/*", True),
        ("*.html?page=*", True),
        ("*.html", False),
        ("*?page=2", True),
        ("*Xpage=2", False),
        ("**", True),
        ("*/docs/*/docs/*", False),
        ("*guide*html*2", True),
        ("*page=2*page=2", False),
        ("[h]ttps*", False),
        ("HTTPS*", False),
    ],
)
def test_a_glob_matches_the_whole_url_and_only_stars_are_special(glob: str, matches: bool) -> None:
    assert url_pattern(glob)(URL) == matches


def test_a_glob_may_be_written_as_people_read_urls() -> None:
    assert url_pattern("*/größe/a b")("https://a.test/gr%C3%B6%C3%9Fe/a%20b")
    assert url_pattern("*/gr%C3%B6*")("https://a.test/gr%C3%B6%C3%9Fe")


@given(st.text("ab/*", max_size=8), st.text("ab/", max_size=12))
def test_a_glob_is_the_regular_expression_that_it_stands_for(glob: str, url: str) -> None:
    if glob:
        expected = re.fullmatch(".*".join(map(re.escape, glob.split("*"))), url) is not None
        assert url_pattern(glob)(url) == expected


PARTS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", "[b-d]", r"\d", r"\W", "A", "/", "^", "$", r"\.", "(?i:B)", "[^B-C]", r"\bA"]
)
PATTERNS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,3}", "{2,}", "{,1}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@given(PATTERNS, st.text("abcAB/.1", max_size=10), st.sampled_from(["", "(?i)"]))
def test_a_regular_expression_finds_what_the_standard_library_finds(pattern: str, url: str, flags: str) -> None:
    assert url_pattern(f"re:{flags}{pattern}")(url) == (re.search(flags + pattern, url) is not None)


@pytest.mark.parametrize(
    "pattern",
    ["", "  ", "x" * (MAX_PATTERN_CHARACTERS + 1), "re:(", "re:[a", r"re:(a)\1", "re:(?=a)", "re:(?>a)", "re:a++"],
)
def test_patterns_that_cannot_be_used_are_rejected(pattern: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        url_pattern(pattern)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("pattern", ["re:(?:a{100}){100}", "re:((a{9}){9}){9}{9}"])
def test_large_patterns_are_rejected_at_once(pattern: str) -> None:
    with pytest.raises(InvalidParameter):
        url_pattern(pattern)


@pytest.mark.parametrize("pattern", ["re:(a*)*b$", "re:(a|aa)+$", "re:(.*a){12}c", "*a*a*a*a*a*a*a*c", "re:(x+x+)+y"])
def test_hostile_patterns_and_urls_take_linear_time(pattern: str) -> None:
    """Backtracking would take longer than the age of the universe."""
    matches = url_pattern(pattern)
    assert not matches("https://h.test/" + "ax" * 1_000 + "z")
    assert not matches("https://h.test/" + "a" * 2_000 + "!")
