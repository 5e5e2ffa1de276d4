"""Quality rules for texts, in the spirit of two papers. A text fails a rule or not; nothing is removed.

- C4: Raffel et al., Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer, 2020, section
  2.2.
- Gopher: Rae et al., Scaling Language Models, 2021, appendix A.1.1, with its thresholds.

Both were made for prose. Reference documentation fails many of the rules: code has braces, lists have no punctuation.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

#: Only this much of a text is examined, so that no text takes long.
_MAX_CHARACTERS = 200_000


class _Text:
    """A text and what several rules need of it."""

    __slots__ = (
        "counts",
        "language",
        "lines",
        "lower",
        "n_line_characters",
        "n_word_characters",
        "n_words",
        "text",
        "words",
    )

    def __init__(self, text: str, language: str | None) -> None:
        self.text = text[:_MAX_CHARACTERS]
        self.lower = self.text.lower()
        self.language = language
        self.words = self.text.split()
        self.n_words = len(self.words) if len(text) <= _MAX_CHARACTERS else len(text.split())
        self.counts = Counter(self.words)
        self.n_word_characters = sum(map(len, self.words))
        self.lines = [line for each in self.text.split("\n") if (line := each.strip())]
        self.n_line_characters = sum(map(len, self.lines))

    @property
    def has_spaces(self) -> bool:
        """Whether words are separated by spaces: not in Chinese, Japanese, Thai, Khmer, Lao and Burmese."""
        return self.language not in _WITHOUT_SPACES


_WITHOUT_SPACES = frozenset(("zh", "ja", "th", "km", "lo", "my"))


@dataclass(frozen=True, slots=True)
class QualityRule:
    """A rule, and whether a text fails it."""

    name: str
    source: str
    description: str
    fails: Callable[[_Text], bool] = field(repr=False)


def failed_rules(text: str, language: str | None = None) -> tuple[str, ...]:
    """The names of the rules that a text fails. `language` (ISO 639-1) decides which stop words are looked for."""
    examined = _Text(text, language)
    return tuple(rule.name for rule in RULES if rule.fails(examined))


# Length and words

_MIN_WORDS, _MAX_WORDS = 50, 100_000
_MIN_MEAN_LENGTH, _MAX_MEAN_LENGTH = 3, 10
_MAX_SYMBOLS = 0.1
_MIN_ALPHABETIC = 0.8
_MIN_STOP_WORDS = 2
_MAX_WORD_CHARACTERS = 1_000

# Gopher has the English ones; the others are of the same kind: articles, conjunctions, prepositions, auxiliaries.
_STOP_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the be to of and that have with",
        "de": "der die das und in zu den mit ist nicht",
        "fr": "le la les de des et en un une que est dans",
        "es": "el la los las de que y en un una es por con",
        "it": "il la di che e un una in per non con sono del",
        "pt": "o a os as de que e em um uma para com do da",
        "nl": "de het een en van in is dat op te met",
        "pl": "w i na z do się nie to jest że",
        "sv": "och i att det som en på är av för med",
        "da": "og i at det en den til er som på af for",
        "no": "og i å det en er på som av til for med",
        "fi": "ja on ei se että oli ovat mutta myös kun",
        "cs": "a v se na je že z s do o to",
        "ro": "și de la în a un o cu pe este din",
        "hu": "a az és hogy nem is egy van",
        "tr": "ve bir bu da de için ile olarak çok",
        "id": "dan yang di dari untuk dengan ini itu pada",
        "ru": "и в не на что по как это",
        "uk": "не на що до як та це від",
    }.items()
}


def _has_few_words(text: _Text) -> bool:
    return len(text.words) < _MIN_WORDS if text.has_spaces else text.n_word_characters < 2 * _MIN_WORDS


def _has_many_words(text: _Text) -> bool:
    return text.n_words > _MAX_WORDS


def _has_unusual_words(text: _Text) -> bool:
    if not text.words or not text.has_spaces:
        return False
    return not _MIN_MEAN_LENGTH <= text.n_word_characters / len(text.words) <= _MAX_MEAN_LENGTH


def _has_long_words(text: _Text) -> bool:
    return text.has_spaces and max(map(len, text.counts), default=0) > _MAX_WORD_CHARACTERS


def _has_many_symbols(text: _Text) -> bool:
    n_ellipses = text.text.count("...") + text.text.count("…")
    return max(text.text.count("#"), n_ellipses) > _MAX_SYMBOLS * len(text.words)


def _has_few_alphabetic_words(text: _Text) -> bool:
    # A character has a case or is a letter without one.
    n_others = sum(
        count for word, count in text.counts.items() if word.lower() == word.upper() and not _has_letter(word)
    )
    return n_others > (1 - _MIN_ALPHABETIC) * len(text.words)


def _has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))


def _has_no_stop_words(text: _Text) -> bool:
    stop_words = _STOP_WORDS.get(text.language or "")
    if stop_words is None:
        return False
    return len(stop_words.intersection(map(str.lower, text.counts))) < _MIN_STOP_WORDS


# Lines

_BULLETS = ("-", "*", "•", "‣", "▪", "●", "◦", "\N{EN DASH}")
_ELLIPSES = ("...", "…")
_MAX_BULLET_LINES = 0.9
_MAX_ELLIPSIS_LINES = 0.3
_MAX_UNFINISHED_LINES = 0.7
#: With quotation marks and brackets that may follow the end of a sentence; also of other scripts.
_ENDS_OF_SENTENCES = tuple(
    ".!?…:;\"'”»)」』。؟।\N{RIGHT SINGLE QUOTATION MARK}\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}"
    "\N{ARABIC FULL STOP}"
)


def _share_of_lines(text: _Text, is_counted: Callable[[str], bool]) -> float:
    return sum(map(is_counted, text.lines)) / len(text.lines) if text.lines else 0.0


def _has_many_bullets(text: _Text) -> bool:
    return _share_of_lines(text, lambda line: line.startswith(_BULLETS)) > _MAX_BULLET_LINES


def _has_many_ellipses(text: _Text) -> bool:
    return _share_of_lines(text, lambda line: line.endswith(_ELLIPSES)) > _MAX_ELLIPSIS_LINES


def _has_unfinished_lines(text: _Text) -> bool:
    return _share_of_lines(text, lambda line: not line.endswith(_ENDS_OF_SENTENCES)) > _MAX_UNFINISHED_LINES


# Repetition

_MAX_DUPLICATE_LINES = 0.3
_MAX_DUPLICATE_LINE_CHARACTERS = 0.2
#: Share of the characters that the most frequent sequence of 2, 3 and 4 words may have.
_MAX_TOP_SEQUENCE = {2: 0.2, 3: 0.18, 4: 0.16}
_MAX_DUPLICATE_SEQUENCES = 0.15
_SEQUENCE_WORDS = 5


def _has_copied_lines(text: _Text) -> bool:
    if len(text.lines) < 2:
        return False
    unique = set(text.lines)
    n_duplicates = len(text.lines) - len(unique)
    n_characters = text.n_line_characters - sum(map(len, unique))
    return (
        n_duplicates > _MAX_DUPLICATE_LINES * len(text.lines)
        or n_characters > _MAX_DUPLICATE_LINE_CHARACTERS * text.n_line_characters
    )


def _has_a_frequent_phrase(text: _Text) -> bool:
    most_of_a_word = max((count * len(word) for word, count in text.counts.items()), default=0)
    for n_words, most in _MAX_TOP_SEQUENCE.items():
        # A phrase is no more frequent than any of its words.
        if n_words * most_of_a_word <= most * text.n_word_characters:
            continue
        sequences = Counter(zip(*(text.words[start:] for start in range(n_words)), strict=False))
        if sequences:
            sequence, count = sequences.most_common(1)[0]
            if count > 1 and count * sum(map(len, sequence)) > most * text.n_word_characters:
                return True
    return False


def _has_copied_phrases(text: _Text) -> bool:
    """Whether many characters are in sequences of words that occurred before. Each character counts once."""
    words = text.words
    most = _MAX_DUPLICATE_SEQUENCES * text.n_word_characters
    sequences = list(zip(*(words[offset:] for offset in range(_SEQUENCE_WORDS)), strict=False))
    n_copies = len(sequences) - len(set(sequences))
    if n_copies == 0 or n_copies * _SEQUENCE_WORDS * max(map(len, text.counts)) <= most:
        return False
    seen: set[tuple[str, ...]] = set()
    n_duplicate = counted_to = 0
    for start, sequence in enumerate(sequences):
        if sequence in seen:
            end = start + _SEQUENCE_WORDS
            n_duplicate += sum(map(len, words[max(start, counted_to) : end]))
            counted_to = end
        seen.add(sequence)
    return n_duplicate > most


# Phrases

_POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
_REQUESTS = ("enable", "disabled", "turn on", "require", "support")
_MAX_MESSAGE_CHARACTERS = 200


def _has_placeholder_text(text: _Text) -> bool:
    return "lorem ipsum" in text.lower


def _has_braces(text: _Text) -> bool:
    return "{" in text.text


def _asks_for_javascript(text: _Text) -> bool:
    return "javascript" in text.lower and any(
        "javascript" in line and any(word in line for word in _REQUESTS) for line in _short_lines(text)
    )


def _has_policy_notices(text: _Text) -> bool:
    return any(notice in text.lower for notice in _POLICIES) and any(
        notice in line for line in _short_lines(text) for notice in _POLICIES
    )


def _short_lines(text: _Text) -> list[str]:
    return [line for line in text.lower.split("\n") if len(line) <= _MAX_MESSAGE_CHARACTERS]


RULES: tuple[QualityRule, ...] = (
    QualityRule("few_words", "Gopher", "fewer than 50 words", _has_few_words),
    QualityRule("many_words", "Gopher", "more than 100,000 words", _has_many_words),
    QualityRule(
        "word_length", "Gopher", "words of less than 3 or more than 10 characters on average", _has_unusual_words
    ),
    QualityRule("long_word", "C4", "a word of more than 1,000 characters", _has_long_words),
    QualityRule("symbols", "Gopher", "more than one # or one ellipsis for ten words", _has_many_symbols),
    QualityRule("alphabetic_words", "Gopher", "less than 80 % of the words have a letter", _has_few_alphabetic_words),
    QualityRule("stop_words", "Gopher", "fewer than two different stop words of its language", _has_no_stop_words),
    QualityRule("bullets", "Gopher", "more than 90 % of the lines start with a bullet", _has_many_bullets),
    QualityRule("ellipses", "Gopher", "more than 30 % of the lines end with an ellipsis", _has_many_ellipses),
    QualityRule("unfinished_lines", "C4", "more than 70 % of the lines end without punctuation", _has_unfinished_lines),
    QualityRule(
        "duplicate_lines", "Gopher", "30 % of the lines or 20 % of their characters are copies", _has_copied_lines
    ),
    QualityRule(
        "top_phrase", "Gopher", "2, 3 or 4 words have 20, 18 or 16 % of the characters", _has_a_frequent_phrase
    ),
    QualityRule("duplicate_phrases", "Gopher", "15 % of the characters are in repeated 5 words", _has_copied_phrases),
    QualityRule("placeholder", "C4", "contains lorem ipsum", _has_placeholder_text),
    QualityRule("braces", "C4", "contains a curly bracket", _has_braces),
    QualityRule("javascript", "C4", "a line asks to enable JavaScript", _asks_for_javascript),
    QualityRule("policy", "C4", "a line is a notice on cookies, privacy or terms of use", _has_policy_notices),
)
