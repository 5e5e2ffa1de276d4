"""Golden files: what a test got is compared with what is stored, or stored with `--update-net` (`make net-update`).

Floating-point numbers are stored with 7 significant digits and compared with a tolerance of 1e-5: the last bits differ
between processors. All else is compared exactly.
"""

import difflib
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"
DIGITS = 7
LINE = 160
TOLERANCE = 1e-5
SHOWN_URLS = 20


class Golden:
    """The golden files of one test; `name` is the test's."""

    def __init__(self, name: str, *, update: bool, used: set[Path]) -> None:
        self._name = name
        self._update = update
        self._used = used

    def json(self, value: Any, part: str = "") -> None:
        """Compare a value of plain types, also enums and named values."""
        value = rounded(value)
        text = _lines(value) + "\n"
        stored = self._stored(text, f"{part}.json")
        if not _alike(json.loads(stored), json.loads(text)):
            _differ(self._path(f"{part}.json"), stored, text)

    def text(self, text: str, part: str = "", ending: str = "txt") -> None:
        """Compare a text, byte by byte."""
        stored = self._stored(text, f"{part}.{ending}")
        if stored != text:
            _differ(self._path(f"{part}.{ending}"), stored, text)

    def _path(self, ending: str) -> Path:
        name = re.sub(r"[^\w.=+-]+", "-", self._name).strip("-")
        return FOLDER / f"{name}{'' if ending.startswith('.') else '-'}{ending}"

    def _stored(self, text: str, ending: str) -> str:
        path = self._path(ending)
        assert path not in self._used, f"{path.name} is compared twice"
        self._used.add(path)
        if self._update:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text, newline="")
        assert path.exists(), f"There is no golden file {path.name}: run `make net-update` and review the diff."
        with path.open(newline="") as file:
            return file.read()


def _lines(value: Any, indent: str = "") -> str:
    """JSON with a line for each part that fits into one, so that diffs are readable."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent + flat) <= LINE or not isinstance(value, dict | list):
        return flat
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_lines(each, inner)}" for key, each in value.items()]
    else:
        parts = [_lines(each, inner) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"


def _differ(path: Path, stored: str, text: str) -> None:
    lines = difflib.unified_diff(stored.splitlines(), text.splitlines(), "golden", "now", n=1, lineterm="")
    shown = [*lines][:80]
    raise AssertionError(f"{path.name} differs (if it should, run `make net-update`):\n" + "\n".join(shown))


def rounded(value: Any) -> Any:
    """A value as JSON can have it, with numbers of few digits."""
    match value:
        case None | bool() | int() | str():
            plain: Any = value.value if isinstance(value, Enum) else value
        case Enum():
            plain = rounded(value.value)
        case float():
            plain = float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
        case Mapping():
            plain = {str(rounded(key)): rounded(each) for key, each in value.items()}
        case Iterable():
            plain = [rounded(each) for each in value]
        case _:
            plain = rounded(value.tolist()) if hasattr(value, "tolist") else str(value)
    return plain


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, float) or isinstance(second, float):
        if not isinstance(first, int | float) or not isinstance(second, int | float):
            return False
        return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=1e-12)
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return [*first] == [*second] and all(_alike(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_alike, first, second))
    return bool(first == second)


def trace_of(urls: list[str], relevances: list[float]) -> dict[str, Any]:
    """A trace for a golden file: a digest of all URLs, the first ones with their relevance, and the sum of all."""
    digest = hashlib.sha256("\n".join(urls).encode()).hexdigest()[:16]
    first = [f"{relevance:.4f} {url}" for url, relevance in zip(urls[:SHOWN_URLS], relevances, strict=False)]
    return {"pages": len(urls), "digest": digest, "relevance": sum(relevances), "first": first}
