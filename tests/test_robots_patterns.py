"""Patterns of robots.txt: matching, precedence, and the cost of hostile ones."""

import gc
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenthound.web.robots import (
    MAX_PIECES,
    MAX_WILDCARD_CHARACTERS,
    NO_RULE,
    PatternIndex,
    RobotsRules,
    pattern_index,
)
from timing import cpu_cost_s


def allows(robots: str | bytes, path: str, agent: str = "scenthound") -> bool:
    body = robots.encode() if isinstance(robots, str) else robots
    return RobotsRules.of(body, agent).allows(f"https://example.com{path}")


def everyone(*rules: str) -> str:
    return "\n".join(("User-agent: *", *rules, ""))


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("/a", ["/a", "/a/", "/ab", "/a?b"], ["/", "/A", "/b/a"]),
        ("/a*", ["/a", "/ab"], ["/b"]),
        ("/*a", ["/a", "/b/ca"], ["/b"]),
        ("*a", ["/a", "/b/ca"], ["/b"]),
        ("/a$", ["/a"], ["/a/", "/aa", "/"]),
        ("/*a$", ["/a", "/aa", "/a/a"], ["/ab", "/"]),
        ("/a*$", ["/a", "/ab"], ["/b"]),
        ("/a*b*c", ["/abc", "/a-b-c-d", "/acbc"], ["/acb", "/ab"]),
        # The end may not overlap what stands before it.
        ("/ab*b$", ["/abb", "/ab/b"], ["/ab", "/abc"]),
        ("/a$b", ["/a$b", "/a%24bc"], ["/a", "/ab"]),
        ("/a%2Ab", ["/a*b", "/a%2ab"], ["/aXb"]),
        ("/a**b", ["/ab", "/a/b"], ["/a"]),
        ("/$", ["/"], ["/a"]),
        ("/{id}", ["/%7Bid%7D", "/%7bid%7d"], ["/id"]),
        ("/a b", ["/a%20b"], ["/a", "/ab"]),
        ("/?q='", ["/?q=%27", "/?q='"], ["/?q="]),
    ],
)
def test_patterns(pattern: str, hits: list[str], misses: list[str]) -> None:
    robots = everyone(f"Disallow: {pattern}")
    assert [path for path in hits if allows(robots, path)] == []
    assert [path for path in misses if not allows(robots, path)] == []


def test_the_longest_pattern_wins_and_allow_wins_ties() -> None:
    assert allows(everyone("Disallow: /a", "Allow: /a"), "/a")
    assert not allows(everyone("Allow: /a", "Disallow: /a/b"), "/a/b")
    # /*b$ has four characters, /a/b too; /a/b/ has five.
    assert allows(everyone("Allow: /*b$", "Disallow: /a/b"), "/a/b")
    assert allows(everyone("Disallow: /*b$", "Allow: /a/b"), "/a/b")
    assert not allows(everyone("Allow: /*b$", "Disallow: /a/b$"), "/a/b")
    # Stars count, so that the shorter prefix can be the longer pattern.
    assert allows(everyone("Disallow: /ab", "Allow: /a***"), "/abc")


@pytest.mark.parametrize(
    "rules",
    [
        "Disallow: /" + "*a" * 2_400 + "b",
        "\n".join(f"Disallow: /{'*a' * 19}{number}b" for number in range(120)),
        "\n".join(f"Disallow: /*{number}z" for number in range(1_200)),
        "\n".join(f"Disallow: /{'a' * number}b" for number in range(900)),
        "Disallow: /" + "%61" * 5_000 + "\n" + "Disallow: /%c3\n" * 30_000,
        "Disallow" + " " * 400_000 + "a b",
        "User-agent: *\n" * 30_000,
    ],
    ids=["one of stars", "many of stars", "many stars", "nested", "escapes", "spaces", "agents"],
)
def test_hostile_files_take_bounded_time(rules: str) -> None:
    def read() -> PatternIndex:
        return pattern_index(RobotsRules.of(everyone(rules).encode(), "scenthound").text)

    assert cpu_cost_s(read, 1) < 1
    index = read()
    assert index.allows("http://a/" + "a" * 2_000)
    assert cpu_cost_s(lambda: [index.allows("http://a/" + "a" * 2_000) for _ in range(10)], 0.2) < 0.2


@pytest.mark.parametrize("n_rules", [800, MAX_WILDCARD_CHARACTERS // 520])
def test_long_pieces_between_stars_take_bounded_time(n_rules: int) -> None:
    """Each piece nearly matches at each position of the path."""
    piece = "a" * 450 + "b" + "a" * 49
    index = pattern_index("\n".join(f"-/*{piece}*{number}" for number in range(n_rules)))
    # Measured: 0.02 s for five URLs, and 1 s without a limit.
    assert cpu_cost_s(lambda: [index.allows("http://a/" + "a" * 2_000) for _ in range(5)], 0.3) < 0.3


def test_with_too_many_wildcards_nothing_more_is_allowed() -> None:
    many = [f"Disallow: /x*{number}" for number in range(MAX_PIECES)]
    rules = RobotsRules.of(everyone(*many, "Disallow: /cut*off", "Allow: /x*yes").encode(), "scenthound")
    assert not rules.allows("http://a/cut/")
    assert not rules.allows("http://a/x/yes")
    assert rules.allows("http://a/other")


def test_with_too_long_wildcards_nothing_more_is_allowed() -> None:
    long = [f"Disallow: /x*{'y' * 990}{number:04}" for number in range(MAX_WILDCARD_CHARACTERS // 990 + 1)]
    rules = RobotsRules.of(everyone(*long, "Disallow: /cut*off", "Allow: /x*yes").encode(), "scenthound")
    assert not rules.allows("http://a/cut/")
    assert not rules.allows(f"http://a/x/{'y' * 990}0001/yes")
    assert rules.allows("http://a/other")


@pytest.mark.parametrize("pattern", ["/{}/", "/ab*{}/", "/ab*{}*bc$"])
def test_the_size_of_an_index_is_known(pattern: str) -> None:
    text = "\n".join("-" + pattern.format(number) for number in range(800))
    pattern_index(text[:20].strip())  # What the first call imports is not counted.
    gc.collect()
    tracemalloc.start()
    index = pattern_index(text)
    n_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    # Short strings and small numbers may be shared.
    assert 0.9 * n_bytes < index.n_bytes < 2.5 * n_bytes


def as_defined(text: str, path: str) -> int:
    """The rank by definition: every rule tried on its own, as a regular expression."""
    ranks = [NO_RULE]
    for line in filter(None, text.split("\n")):
        body, end = (line[1:-1], r"\Z") if line.endswith("$") else (line[1:], "")
        if re.match(".*".join(map(re.escape, body.split("*"))) + end, path, re.DOTALL):
            ranks.append(2 * len(line[1:]) + (line[0] == "+"))
    return max(ranks)


@given(
    st.lists(st.from_regex(r"[+-]/[ab/*]{0,6}\$?", fullmatch=True), max_size=8).map("\n".join),
    st.from_regex("/[ab/]{0,8}", fullmatch=True),
)
def test_the_index_follows_the_definition(text: str, path: str) -> None:
    assert pattern_index(text).rank(path) == as_defined(text, path)
