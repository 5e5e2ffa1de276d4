"""The language of a text, by CLD2 (`pycld2`, the extra `language`, which is large). Without it no language is known."""

import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from scenthound.errors import MissingExtra

_MAX_CHARACTERS = 2_000
# What CLD2 refuses as invalid: control characters, surrogates and code points that are no characters.
_INVALID = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
#: Codes of CLD2 that ISO 639-1 has since replaced or never had.
_ISO_639_1 = {"iw": "he", "jw": "jv", "in": "id", "mo": "ro", "zh-Hant": "zh"}


def detect_language(text: str) -> tuple[str, float] | tuple[None, None]:
    """The language of the first 2,000 characters of a text, and the share of their bytes in this language; (None, None)
    if CLD2 does not find it reliably, or is missing.

    It is an ISO 639-1 code (ISO 639-3 for languages without one). The share is no probability: CLD2 has none. It says
    whether its result is reliable."""
    pycld2 = _cld2()
    if pycld2 is None:
        return None, None
    try:
        reliable, _, languages = pycld2.detect(_INVALID.sub(" ", text[:_MAX_CHARACTERS]))
    except (pycld2.error, ValueError):  # what else it may find invalid
        return None, None
    _, code, percent, _ = languages[0]
    if not reliable or code == "un":
        return None, None
    return _ISO_639_1.get(code, code), percent / 100


def detects_languages() -> bool:
    return _cld2() is not None


def known_languages() -> frozenset[str]:
    """The codes that `detect_language` may return; MissingExtra without CLD2."""
    pycld2 = _cld2()
    if pycld2 is None:
        raise MissingExtra.named("language", "Detecting languages (--language)")
    detected = frozenset(pycld2.DETECTED_LANGUAGES)
    return frozenset(_ISO_639_1.get(code, code) for name, code in pycld2.LANGUAGES if name in detected)


@cache
def _cld2() -> Any | None:
    return import_module("pycld2") if find_spec("pycld2") else None
