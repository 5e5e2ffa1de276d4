"""Topic files: TOML with `[[topic]]` tables, or JSON Lines with one topic per line, plain, gzip or Zstandard.

- The name decides between TOML and JSON Lines. Compression is detected by content when reading, and follows the
  suffix .gz or .zst when writing.
- Unknown fields are ignored, because collections have their own. `main_page` is added to `description_from`. Null is
  the same as missing. Keywords may be missing if the path has words, which replace them.
- A path has at most `MAX_LEVELS` levels.
- Written topics read back unchanged, and files are replaced atomically.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from scenthound.errors import InvalidInput, InvalidTopic, printable
from scenthound.files import compressed_as, text_of, write_atomic
from scenthound.model import Topic
from scenthound.toml_files import parsed_toml

#: The root of category paths such as `Top/Science/Chemistry`.
ROOT = "Top"
#: Real directories have about fifteen levels.
MAX_LEVELS = 100


def path_words(path: str) -> tuple[str, ...]:
    """The words of a category path without the root (keywords of S2 section 2.1).

    Underscores separate words. Words are distinct, ignoring case: keywords are a set in S2.
    """
    parts = path.split("/")
    if parts and parts[0] == ROOT:
        parts = parts[1:]
    return distinct_words(word for part in parts for word in part.replace("_", " ").split())


def distinct_words(words: Iterable[str]) -> tuple[str, ...]:
    """The distinct words with a letter or a digit, in order, ignoring case."""
    first_spelling: dict[str, str] = {}
    for word in words:
        if any(character.isalnum() for character in word):
            first_spelling.setdefault(word.casefold(), word)
    return tuple(first_spelling.values())


def parent_path(path: str) -> str:
    """The path of the parent; empty for the root."""
    return path.rpartition("/")[0]


def is_too_deep(path: str) -> bool:
    return path.count("/") > MAX_LEVELS


Fields = Mapping[str, object]

_LISTS = ("keywords", "examples", "seeds", "targets", "description_from")
_TEXTS = ("path", "description")


def read_topics(path: str | os.PathLike[str]) -> list[Topic]:
    """All topics of a file, in order."""
    file = Path(path)
    parse = _parser(file)
    topics: dict[str, Topic] = {}
    for position, fields in parse(printable(file), text_of(file)):
        topic = _topic(position, fields)
        if topic.id in topics:
            raise InvalidTopic(f"{position}: duplicate topic id {topic.id!r}. Give each topic an id of its own.")
        topics[topic.id] = topic
    if not topics:
        raise InvalidTopic(f"{printable(file)} contains no topics. Add at least one with an id and keywords.")
    return list(topics.values())


def write_topics(path: str | os.PathLike[str], topics: Iterable[Topic]) -> None:
    """Write topics in the format of the file name, atomically."""
    file = Path(path)
    as_text = _toml if _parser(file) is _toml_tables else _json_lines
    try:
        content = as_text(topics).encode()
    except UnicodeEncodeError as error:
        raise InvalidTopic(
            f"Cannot write {printable(file)}: a topic contains invalid Unicode ({error.reason}). Fix its text."
        ) from error
    if not content:
        raise InvalidTopic(f"Cannot write {printable(file)}: there are no topics. Pass at least one.")
    write_atomic(file, compressed_as(file, content))


def _parser(file: Path) -> Callable[[str, str], Iterator[tuple[str, Fields]]]:
    name = file.name.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".toml"):
        return _toml_tables
    if name.endswith((".jsonl", ".ndjson")):
        return _json_objects
    raise InvalidInput(
        f"{printable(file)} is not a topic file name. Use .toml or .jsonl, optionally followed by .gz or .zst."
    )


def _toml_tables(file: str, text: str) -> Iterator[tuple[str, Fields]]:
    document = parsed_toml(text, f"{file} is no topic file")
    tables = document.get("topic", [])
    if not isinstance(tables, list):
        raise InvalidTopic(f"{file}: `topic` is not a list of tables. Start each topic with [[topic]].")
    for number, table in enumerate(tables, 1):
        yield f"{file}, topic {number}", _require_object(f"{file}, topic {number}", table)


def _json_objects(file: str, text: str) -> Iterator[tuple[str, Fields]]:
    # Not splitlines(): JSON strings may contain U+2028 and other line separators.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        position = f"{file}, line {number}"
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InvalidInput(f"{position}: invalid JSON ({error.msg}). Write one topic object per line.") from error
        yield position, _require_object(position, fields)


def _require_object(position: str, fields: object) -> Fields:
    if not isinstance(fields, dict):
        raise InvalidTopic(f"{position}: expected an object with id and keywords, not {type(fields).__name__}.")
    return fields


def _topic(position: str, fields: Fields) -> Topic:
    topic_id = _string(position, fields, "id")
    if not topic_id.strip():
        raise InvalidTopic(f"{position}: the topic has no id. Add one, such as id = 'chemistry'.")
    position = f"{position} ({topic_id!r})"
    path = _string(position, fields, "path")
    if is_too_deep(path):
        raise InvalidTopic(f"{position}: the path has more than {MAX_LEVELS} levels. Shorten it.")
    keywords = tuple(word for word in _strings(position, fields, "keywords") if word.strip()) or path_words(path)
    if not (keywords or _strings(position, fields, "seeds") or _strings(position, fields, "examples")):
        raise InvalidTopic(f"{position}: the topic has no keywords, path, seeds or examples. Add a list of keywords.")
    return Topic(
        id=topic_id,
        keywords=keywords,
        path=path,
        description=_string(position, fields, "description"),
        examples=_strings(position, fields, "examples"),
        seeds=_strings(position, fields, "seeds"),
        targets=_strings(position, fields, "targets"),
        description_from=_description_pages(position, fields),
    )


def _description_pages(position: str, fields: Fields) -> tuple[str, ...]:
    pages = _strings(position, fields, "description_from")
    main_page = _string(position, fields, "main_page")
    return pages if not main_page or main_page in pages else (*pages, main_page)


def _string(position: str, fields: Fields, name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidTopic(f"{position}: {name} must be a string, not {type(value).__name__}.")
    return value


def _strings(position: str, fields: Fields, name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidTopic(f'{position}: {name} must be a list of strings, as in ["...", "..."].')
    return tuple(value)


def _non_empty_fields(topic: Topic) -> dict[str, str | list[str]]:
    fields: dict[str, str | list[str]] = {"id": topic.id}
    fields.update({name: getattr(topic, name) for name in _TEXTS if getattr(topic, name)})
    fields.update({name: list(getattr(topic, name)) for name in _LISTS if getattr(topic, name)})
    return fields


def _json_lines(topics: Iterable[Topic]) -> str:
    return "".join(f"{json.dumps(_non_empty_fields(topic), ensure_ascii=False)}\n" for topic in topics)


def _toml(topics: Iterable[Topic]) -> str:
    return "\n".join(_toml_table(topic) for topic in topics)


def _toml_table(topic: Topic) -> str:
    lines = ["[[topic]]"]
    for name, value in _non_empty_fields(topic).items():
        if isinstance(value, str):
            lines.append(f"{name} = {_toml_string(value)}")
        else:
            lines += [f"{name} = [", *(f"    {_toml_string(item)}," for item in value), "]"]
    return "\n".join([*lines, ""])


def _toml_string(text: str) -> str:
    # A JSON string is a TOML string, except for the delete character, which must be escaped in TOML.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
