"""Training pages in a folder: `positive/` and `negative/` with pages of .html, .htm or .txt, nested as one likes.

Rules
- HTML is parsed as recorded pages are, text is cut into words as it stands; of both the first `MAX_PAGE_BYTES` count.
- Words that the recorded web does not have are left out: no page of it could be told by them.
- A folder that cannot train a classifier is refused before any crawl starts.
"""

from pathlib import Path

import numpy as np

from scenthound.errors import InvalidInput, printable
from scenthound.files import DAMAGE, opened
from scenthound.model import IntArray
from scenthound.relevance.base import Training, WordIndex
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import decode_html
from scenthound.web.parse import MAX_PAGE_BYTES, parse_html

HTML_ENDINGS = (".html", ".htm")
TEXT_ENDINGS = (".txt",)

#: Where the pages' own links lead is of no interest, so they all stand at one address.
_ADDRESS = "http://training.invalid/"


def read_training(folder: Path, index: WordIndex) -> Training:
    """All pages of both subfolders, in the order of their paths, in the words of the index."""
    return Training(*(_words_of_all(folder, kind, index) for kind in ("positive", "negative")))


def training_files(folder: Path, kind: str) -> list[Path]:
    """The pages of one kind, positive or negative, in the order of their paths."""
    endings = HTML_ENDINGS + TEXT_ENDINGS
    found = (file for file in (folder / kind).rglob("*") if file.suffix.lower() in endings)
    # Neither folders nor pipes, from which nothing may ever come. Links that lead nowhere are complained of when read.
    return sorted(file for file in found if file.is_file() or not file.exists())


def _words_of_all(folder: Path, kind: str, index: WordIndex) -> tuple[IntArray, ...]:
    place = folder / kind
    if not place.is_dir():
        raise InvalidInput(
            f"{printable(folder)} has no folder {kind!r}; --train-from needs positive/ and negative/ in it."
        )
    endings = HTML_ENDINGS + TEXT_ENDINGS
    files = training_files(folder, kind)
    if not files:
        raise InvalidInput(
            f"{printable(place)} has no page with the ending {', '.join(endings)}; a classifier without {kind}s "
            "cannot be trained, so put some there."
        )
    scanner = WordScanner()
    pages = tuple(_words_of(file, scanner, index) for file in files)
    if not any(np.any(words) for words in pages):
        raise InvalidInput(
            f"{printable(place)}: no page has a word that stands in the recorded web; put other pages there."
        )
    return pages


def _words_of(file: Path, scanner: WordScanner, index: WordIndex) -> IntArray:
    body = _body(file)
    if file.suffix.lower() in TEXT_ENDINGS:
        numbers = scanner.scan(decode_html(body))
    else:
        numbers = parse_html(body, _ADDRESS, scanner).words
    return index.find_words([scanner.stems[number] for number in numbers.tolist() if number])


def _body(file: Path) -> bytes:
    with opened(file) as source:
        try:
            return source.content.read(MAX_PAGE_BYTES)
        except DAMAGE as error:
            raise InvalidInput(
                f"{printable(file)}: damaged ({error}); mend it or take it out of the folder."
            ) from error
