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

    def share_of_lines(self, is_counted: Callable[[str], bool]) -> float:
        return sum(map(is_counted, self.lines)) / len(self.lines) if self.lines else 0.0


_WITHOUT_SPACES = frozenset(("zh", "ja", "th", "km", "lo", "my"))


Fails = Callable[[_Text], bool]


@dataclass(frozen=True, slots=True)
class QualityRule:
    """A rule, and whether a text fails it."""

    name: str
    source: str
    description: str
    fails: Fails = field(repr=False)


#: In the order of the rules below.
RULES: list[QualityRule] = []


def _rule(source: str, description: str) -> Callable[[Fails], Fails]:
    """Add a rule that is called as its function."""

    def add(fails: Fails) -> Fails:
        RULES.append(QualityRule(fails.__name__, source, description, fails))
        return fails

    return add


def failed_rules(text: str, language: str | None = None) -> tuple[str, ...]:
    """The names of the rules that a text fails. `language` (ISO 639-1) decides which stop words are looked for."""
    examined = _Text(text, language)
    return tuple(rule.name for rule in RULES if rule.fails(examined))


# Length and words

_MIN_WORDS = 50

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


@_rule("Gopher", "fewer than 50 words")
def few_words(text: _Text) -> bool:
    return len(text.words) < _MIN_WORDS if text.has_spaces else text.n_word_characters < 2 * _MIN_WORDS


@_rule("Gopher", "more than 100,000 words")
def many_words(text: _Text) -> bool:
    return text.n_words > 100_000


@_rule("Gopher", "words of less than 3 or more than 10 characters on average")
def word_length(text: _Text) -> bool:
    if not text.words or not text.has_spaces:
        return False
    return not 3 <= text.n_word_characters / len(text.words) <= 10


@_rule("C4", "a word of more than 1,000 characters")
def long_word(text: _Text) -> bool:
    return text.has_spaces and max(map(len, text.counts), default=0) > 1_000


@_rule("Gopher", "more than one # or one ellipsis for ten words")
def symbols(text: _Text) -> bool:
    n_ellipses = text.text.count("...") + text.text.count("…")
    return max(text.text.count("#"), n_ellipses) > 0.1 * len(text.words)


@_rule("Gopher", "less than 80 % of the words have a letter")
def alphabetic_words(text: _Text) -> bool:
    # A character has a case or is a letter without one.
    n_others = sum(
        count for word, count in text.counts.items() if word.lower() == word.upper() and not any(map(str.isalpha, word))
    )
    return n_others > (1 - 0.8) * len(text.words)


@_rule("Gopher", "fewer than two different stop words of its language")
def stop_words(text: _Text) -> bool:
    expected = _STOP_WORDS.get(text.language or "")
    return expected is not None and len(expected.intersection(map(str.lower, text.counts))) < 2


# Lines

_BULLETS = ("-", "*", "•", "‣", "▪", "●", "◦", "\N{EN DASH}")
_ELLIPSES = ("...", "…")
#: With quotation marks and brackets that may follow the end of a sentence; also of other scripts.
_ENDS_OF_SENTENCES = tuple(
    ".!?…:;\"'”»)」』。؟।\N{RIGHT SINGLE QUOTATION MARK}\N{FULLWIDTH EXCLAMATION MARK}\N{FULLWIDTH QUESTION MARK}"
    "\N{ARABIC FULL STOP}"
)


@_rule("Gopher", "more than 90 % of the lines start with a bullet")
def bullets(text: _Text) -> bool:
    return text.share_of_lines(lambda line: line.startswith(_BULLETS)) > 0.9


@_rule("Gopher", "more than 30 % of the lines end with an ellipsis")
def ellipses(text: _Text) -> bool:
    return text.share_of_lines(lambda line: line.endswith(_ELLIPSES)) > 0.3


@_rule("C4", "more than 70 % of the lines end without punctuation")
def unfinished_lines(text: _Text) -> bool:
    return text.share_of_lines(lambda line: not line.endswith(_ENDS_OF_SENTENCES)) > 0.7


# Repetition

#: Share of the characters that the most frequent sequence of 2, 3 and 4 words may have.
_MAX_TOP_SEQUENCE = {2: 0.2, 3: 0.18, 4: 0.16}
_SEQUENCE_WORDS = 5


@_rule("Gopher", "30 % of the lines or 20 % of their characters are copies")
def duplicate_lines(text: _Text) -> bool:
    if len(text.lines) < 2:
        return False
    unique = set(text.lines)
    n_duplicates = len(text.lines) - len(unique)
    n_characters = text.n_line_characters - sum(map(len, unique))
    return n_duplicates > 0.3 * len(text.lines) or n_characters > 0.2 * text.n_line_characters


@_rule("Gopher", "2, 3 or 4 words have 20, 18 or 16 % of the characters")
def top_phrase(text: _Text) -> bool:
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


@_rule("Gopher", "15 % of the characters are in repeated 5 words")
def duplicate_phrases(text: _Text) -> bool:
    """Whether many characters are in sequences of words that occurred before. Each character counts once."""
    words = text.words
    most = 0.15 * text.n_word_characters
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


@_rule("C4", "contains lorem ipsum")
def placeholder(text: _Text) -> bool:
    return "lorem ipsum" in text.lower


@_rule("C4", "contains a curly bracket")
def braces(text: _Text) -> bool:
    return "{" in text.text


@_rule("C4", "a line asks to enable JavaScript")
def javascript(text: _Text) -> bool:
    return "javascript" in text.lower and any(
        "javascript" in line and any(word in line for word in _REQUESTS) for line in _short_lines(text)
    )


@_rule("C4", "a line is a notice on cookies, privacy or terms of use")
def policy(text: _Text) -> bool:
    return any(notice in text.lower for notice in _POLICIES) and any(
        notice in line for line in _short_lines(text) for notice in _POLICIES
    )


def _short_lines(text: _Text) -> list[str]:
    return [line for line in text.lower.split("\n") if len(line) <= _MAX_MESSAGE_CHARACTERS]
