"""Values as TOML text: what the standard library can read, but not write.

Texts, numbers, true and false, lists and tables of them; a list is written in one line, and so is a table. TOML has no
word for nothing and no half of a surrogate pair: the one is refused, the other written as its escape sequence.
"""

import json
import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from scenthound.errors import BadParameter, printable

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """The value as it stands behind an equals sign."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(toml_lines(value))}}}"
    raise BadParameter(f"{printable(repr(value), 60)} has no form in TOML; use texts, numbers, true, false and lists.")


def toml_lines(table: Mapping[str, Any]) -> list[str]:
    """`key = value` for each entry of a table."""
    return [f"{_key(key)} = {toml_value(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    whole = text.encode("utf-8", "backslashreplace").decode()
    # A JSON string is a TOML string but for the delete character, which TOML wants escaped.
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
