"""Training pages in a folder: `positive/` and `negative/` with .html, .htm and .txt files, also in subfolders.

Rules
- HTML is parsed like recorded pages, and text is split into words; only the first `MAX_PAGE_BYTES` of a file are read.
- Words that the recorded web does not contain are left out.
- A folder that cannot train a classifier is refused before a crawl starts.
"""

import hashlib
from pathlib import Path

import numpy as np

from scenthound.caller_files import local_path
from scenthound.errors import InvalidInput, printable
from scenthound.files import DAMAGE, machine_fault, open_regular, opened
from scenthound.model import IntArray
from scenthound.relevance.base import Training, WordIndex
from scenthound.text.tokenizer import WordScanner
from scenthound.web.decode import decode_html
from scenthound.web.parse import MAX_PAGE_BYTES, parse_html

SUFFIXES = (".html", ".htm", ".txt")
DIGEST_CHARACTERS = 32
#: The links of the pages are not used, so they can all have one URL.
_URL = "http://training.invalid/"


def read_training(folder: Path, index: WordIndex) -> Training:
    """All pages of both subfolders, in order of their paths, as word numbers of the index."""
    return Training(*(_pages(local_path(folder), kind, index) for kind in ("positive", "negative")))


def training_files(folder: Path, kind: str) -> list[Path]:
    """The pages of one kind, positive or negative, in order of their paths."""
    found = (file for file in (folder / kind).rglob("*") if file.suffix.lower() in SUFFIXES)
    # No folders or pipes. Broken links are reported when they are read.
    return sorted(file for file in found if file.is_file() or not file.exists())


def training_digest(folder: Path) -> str:
    """A digest of the pages in a folder and their names, independent of its path."""
    if not folder.is_dir():
        raise InvalidInput(f"{printable(folder)} is not a folder: name another one with --train-from.")
    digest = hashlib.sha256()
    for file in sorted(file for kind in ("positive", "negative") for file in training_files(folder, kind)):
        try:
            with open_regular(file) as page:
                content = page.read()
        except DAMAGE as reason:
            raise InvalidInput(f"Cannot read {printable(file)}: {printable(reason)}. Check its permissions.") from None
        digest.update(f"{file.relative_to(folder).as_posix()!r}:{len(content)};".encode())
        digest.update(content)
    return digest.hexdigest()[:DIGEST_CHARACTERS]


def _pages(folder: Path, kind: str, index: WordIndex) -> tuple[IntArray, ...]:
    subfolder = folder / kind
    if not subfolder.is_dir():
        raise InvalidInput(
            f"{printable(folder)} has no folder {kind!r}: --train-from needs one with positive/ and negative/."
        )
    files = training_files(folder, kind)
    if not files:
        raise InvalidInput(
            f"{printable(subfolder)} has no {', '.join(SUFFIXES)} file: a classifier needs {kind} pages; add some."
        )
    scanner = WordScanner()
    pages = tuple(_words(file, scanner, index) for file in files)
    if not any(np.any(words) for words in pages):
        raise InvalidInput(
            f"{printable(subfolder)} has no page with a word that is in the recorded web: use other pages."
        )
    return pages


def _words(file: Path, scanner: WordScanner, index: WordIndex) -> IntArray:
    with opened(file) as source:
        try:
            content = source.content.read(MAX_PAGE_BYTES)
        except DAMAGE as error:
            raise InvalidInput(
                machine_fault(file, error)
                or f"{printable(file)} is damaged ({error}): restore it from a backup, or remove it from the folder."
            ) from error
    if file.suffix.lower() == ".txt":
        numbers = scanner.scan(decode_html(content))
    else:
        numbers = parse_html(content, _URL, scanner).words
    return index.find_words([scanner.stem(number) for number in numbers.tolist() if number])
