"""Quality rules: what fails each of them, and what fails none."""

import re
from pathlib import Path

import pytest

from scenthound.corpus.quality import RULES, failed_rules
from timing import cpu_cost_s

SENTENCES = (
    "A hot air balloon rises because the air in its envelope is warmer than the air around it.",
    "The pilot steers by changing the altitude, since winds of different heights blow in different directions.",
    "Most flights take place shortly after sunrise or before sunset, when there are no thermals.",
    "On the ground a crew follows with a car, and it helps to pack everything after the landing.",
)
PROSE = "\n\n".join(SENTENCES)
GERMAN = (
    "Ein Ballon steigt, weil die Luft in der Hülle wärmer und damit leichter ist als die Luft in der Umgebung. "
    "Der Pilot steuert den Ballon mit der Höhe, denn der Wind weht in verschiedenen Höhen nicht in die gleiche "
    "Richtung. Gefahren wird kurz nach dem Aufgang und kurz vor dem Untergang der Sonne, wenn die Luft ruhig ist und "
    "es keine Thermik gibt. Am Boden folgt die Mannschaft mit einem Auto und packt nach der Landung mit an."
)


def numbers(n: int) -> str:
    return " ".join(f"word{number}" for number in range(n))


@pytest.mark.parametrize(("text", "language"), [(PROSE, "en"), (PROSE, None), (GERMAN, "de")])
def test_prose_fails_no_rule(text: str, language: str | None) -> None:
    assert failed_rules(text, language) == ()


FAILING = {
    "few_words": SENTENCES[0],
    "many_words": numbers(100_001),
    "word_length": f"{PROSE} " + "interdenominationalism " * 90,
    "long_word": f"{PROSE} {'x' * 1_001}",
    "symbols": PROSE.replace(".", " # # #."),
    "alphabetic_words": f"{PROSE} {' '.join(map(str, range(1000, 1030)))}",
    "stop_words": " ".join(f"balloon{letter * n}" for letter in "abcdef" for n in range(1, 15)) + ".",
    "bullets": "\n".join(f"- {sentence}" for sentence in SENTENCES),
    "ellipses": PROSE.replace(".", "..."),
    "unfinished_lines": PROSE.replace(".", ""),
    "duplicate_lines": f"{PROSE}\n{PROSE}",
    "top_phrase": f"{PROSE} " + "buy balloons " * 12,
    "duplicate_phrases": f"{PROSE} {SENTENCES[3]}",
    "placeholder": f"{PROSE} Lorem ipsum dolor sit amet.",
    "braces": f"{PROSE} function() {{}}",
    "javascript": f"{PROSE}\nPlease enable JavaScript to see the balloons.",
    "policy": f"{PROSE}\nThis site uses cookies.",
}


@pytest.mark.parametrize("name", FAILING)
def test_a_text_fails_the_rule(name: str) -> None:
    assert name in failed_rules(FAILING[name], "en")


def test_every_rule_has_a_name_a_source_and_a_text_that_fails_it() -> None:
    assert [rule.name for rule in RULES] == list(FAILING)
    assert {rule.source for rule in RULES} == {"C4", "Gopher"}
    assert all(rule.description for rule in RULES)


def test_the_documentation_lists_every_rule() -> None:
    document = (Path(__file__).resolve().parents[1] / "docs" / "corpus.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (C4|Gopher) \|$", document, re.MULTILINE)
    assert rows == [(rule.name, rule.description, rule.source) for rule in RULES]


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("few_words", numbers(50)),
        ("many_words", numbers(100_000)),
        ("long_word", "x" * 1_000),
        ("symbols", " ".join(["word"] * 10) + "#"),
        ("bullets", "\n".join(["- item"] * 9 + ["no item"])),
        ("ellipses", "\n".join(["open..."] * 3 + ["closed."] * 7)),
        ("unfinished_lines", "\n".join(["open"] * 7 + ["closed."] * 3)),
        ("duplicate_lines", "\n".join([f"line {number}" for number in range(7)] + ["short"] * 3)),
        ("javascript", "The language JavaScript has closures, and its engines are fast."),
        ("policy", f"Historians {numbers(40)} discuss the privacy policy of the office at length."),
    ],
)
def test_a_text_at_the_limit_passes(name: str, allowed: str) -> None:
    assert name not in failed_rules(allowed, "en")


@pytest.mark.parametrize("language", [None, "sw", "ja"])
def test_stop_words_are_expected_only_in_languages_with_a_list(language: str | None) -> None:
    assert "stop_words" not in failed_rules(FAILING["stop_words"], language)


def test_stop_words_are_those_of_the_language() -> None:
    assert "stop_words" in failed_rules(GERMAN, "fi")


def test_texts_without_spaces_are_measured_in_characters() -> None:
    japanese = "気球はゆっくりと畑の上に上がり、朝の風に乗って流れていきました。" * 4
    assert {"few_words", "word_length", "long_word"}.isdisjoint(failed_rules(japanese, "ja"))
    assert "few_words" in failed_rules("気球", "ja")


def test_an_empty_text_has_few_words() -> None:
    assert failed_rules("") == ("few_words",)


def test_rules_are_fast() -> None:
    typical = "\n".join(f"{sentence} Number {n}." for n in range(12) for sentence in SENTENCES)
    assert cpu_cost_s(lambda: failed_rules(typical, "en"), 0.002) < 0.002


@pytest.mark.parametrize(
    "text", ["a " * 1_000_000, "x" * 2_000_000, "\n" * 1_000_000, numbers(200_000), "a b c d e f\n" * 200_000]
)
def test_long_texts_take_bounded_time(text: str) -> None:
    assert cpu_cost_s(lambda: failed_rules(text, "en"), 1.0) < 1.0
