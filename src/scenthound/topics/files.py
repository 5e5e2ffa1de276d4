"""Topic files: TOML with `[[topic]]` tables, or JSON Lines with one topic a line, plain, gzip or Zstandard.

Rules. The name tells TOML from JSON Lines. How a file is compressed is told by its content when it is read,
and by .gz or .zst at the end of its name when it is written. Fields that Scenthound does not know are
ignored, because collections carry their own. `main_page` is one more page of `description_from`. Null is the
same as missing. Keywords may be missing only where the path has words to take their place. A path is at most
`MAX_LEVELS` deep. What is written reads back as the same topics, and a reader never sees half a file.
"""

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from scenthound.errors import InvalidInput, InvalidTopic, printable
from scenthound.files import compressed_as, text_of, write_atomic
from scenthound.model import Topic

# Category paths such as `Top/Science/Chemistry`: their words and their parents.

ROOT = "Top"
#: Directories of people are some fifteen levels deep; much more is a mistake, or made to hurt.
MAX_LEVELS = 100


def path_words(path: str) -> tuple[str, ...]:
    """The words of a category path, the root left out (keywords of S2 section 2.1).

    Underscores part words. A word that comes twice, whatever its case, counts once: keywords are a set in S2.
    """
    parts = path.split("/")
    if parts and parts[0] == ROOT:
        parts = parts[1:]
    return distinct_words(word for part in parts for word in part.replace("_", " ").split())


def distinct_words(words: Iterable[str]) -> tuple[str, ...]:
    """The words in their order, without marks that hold no letter or digit and without repetitions."""
    first_spelling: dict[str, str] = {}
    for word in words:
        if any(character.isalnum() for character in word):
            first_spelling.setdefault(word.casefold(), word)
    return tuple(first_spelling.values())


def parent_path(path: str) -> str:
    """The path one level up; the empty path above the root."""
    return path.rpartition("/")[0]


def is_too_deep(path: str) -> bool:
    return path.count("/") > MAX_LEVELS


Fields = Mapping[str, object]

_LISTS = ("keywords", "examples", "seeds", "targets", "description_from")
_TEXTS = ("path", "description")


def read_topics(path: str | os.PathLike[str]) -> list[Topic]:
    """All topics of a file, in its order."""
    file = Path(path)
    parse = _parser(file)
    topics: dict[str, Topic] = {}
    for place, fields in parse(printable(file), text_of(file)):
        topic = _topic(place, fields)
        if topic.id in topics:
            raise InvalidTopic(f"{place}: a second topic with the id {topic.id!r}; give each topic an id of its own.")
        topics[topic.id] = topic
    if not topics:
        raise InvalidTopic(f"{printable(file)}: no topics in this file; write at least one with an id and keywords.")
    return list(topics.values())


def write_topics(path: str | os.PathLike[str], topics: Iterable[Topic]) -> None:
    """Write topics in the format that the name tells; the old file stays until the new one is whole."""
    file = Path(path)
    as_text = _toml if _parser(file) is _toml_tables else _json_lines
    try:
        content = as_text(topics).encode()
    except UnicodeEncodeError as error:
        raise InvalidTopic(
            f"{printable(file)}: a topic's text is not valid Unicode ({error.reason}); mend it first."
        ) from error
    if not content:
        raise InvalidTopic(f"{printable(file)}: there are no topics to write; give at least one.")
    write_atomic(file, compressed_as(file, content))


def _parser(file: Path) -> Callable[[str, str], Iterator[tuple[str, Fields]]]:
    name = file.name.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".toml"):
        return _toml_tables
    if name.endswith((".jsonl", ".ndjson")):
        return _json_objects
    raise InvalidInput(
        f"{printable(file)}: no name of a topic file; use .toml or .jsonl, also with .gz or .zst after it."
    )


def _toml_tables(file: str, text: str) -> Iterator[tuple[str, Fields]]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file}: not TOML: {error}; mend it there.") from error
    except RecursionError:
        raise InvalidInput(
            f"{file}: lists or tables that are nested too deeply; a topic needs no more than one."
        ) from None
    except ValueError as error:
        # Numbers that are TOML by their form and that Python still does not take.
        raise InvalidInput(f"{file}: a number with too many digits; a topic needs none, so take it out.") from error
    tables = document.get("topic", [])
    if not isinstance(tables, list):
        raise InvalidTopic(f"{file}: `topic` is no list of tables; head each topic with [[topic]].")
    for number, table in enumerate(tables, 1):
        yield f"{file}, topic {number}", _checked_object(f"{file}, topic {number}", table)


def _json_objects(file: str, text: str) -> Iterator[tuple[str, Fields]]:
    # Not splitlines(): JSON strings may hold U+2028 and other separators that it would cut at.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InvalidInput(f"{place}: not JSON ({error.msg}); each line must be one topic object.") from error
        yield place, _checked_object(place, fields)


def _checked_object(place: str, fields: object) -> Fields:
    if not isinstance(fields, dict):
        raise InvalidTopic(f"{place}: a {type(fields).__name__}, not a topic; write fields such as id and keywords.")
    return fields


def _topic(place: str, fields: Fields) -> Topic:
    topic_id = _string(place, fields, "id")
    if not topic_id.strip():
        raise InvalidTopic(f"{place}: a topic without an id; add one, such as id = 'chemistry'.")
    place = f"{place} ({topic_id!r})"
    path = _string(place, fields, "path")
    if is_too_deep(path):
        raise InvalidTopic(f"{place}: its path is more than {MAX_LEVELS} levels deep; shorten it.")
    keywords = tuple(word for word in _strings(place, fields, "keywords") if word.strip()) or path_words(path)
    if not keywords:
        raise InvalidTopic(f"{place}: no keywords, and no words in its path; add a list of keywords.")
    return Topic(
        id=topic_id,
        keywords=keywords,
        path=path,
        description=_string(place, fields, "description"),
        examples=_strings(place, fields, "examples"),
        seeds=_strings(place, fields, "seeds"),
        targets=_strings(place, fields, "targets"),
        description_from=_described_pages(place, fields),
    )


def _described_pages(place: str, fields: Fields) -> tuple[str, ...]:
    pages = _strings(place, fields, "description_from")
    main_page = _string(place, fields, "main_page")
    return pages if not main_page or main_page in pages else (*pages, main_page)


def _string(place: str, fields: Fields, name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidTopic(f"{place}: {name} is a {type(value).__name__}; write it as a string.")
    return value


def _strings(place: str, fields: Fields, name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidTopic(f'{place}: {name} is no list of strings; write it as ["...", "..."].')
    return tuple(value)


def _filled_fields(topic: Topic) -> dict[str, str | list[str]]:
    fields: dict[str, str | list[str]] = {"id": topic.id}
    fields.update({name: getattr(topic, name) for name in _TEXTS if getattr(topic, name)})
    fields.update({name: list(getattr(topic, name)) for name in _LISTS if getattr(topic, name)})
    return fields


def _json_lines(topics: Iterable[Topic]) -> str:
    return "".join(f"{json.dumps(_filled_fields(topic), ensure_ascii=False)}\n" for topic in topics)


def _toml(topics: Iterable[Topic]) -> str:
    return "\n".join(_toml_table(topic) for topic in topics)


def _toml_table(topic: Topic) -> str:
    lines = ["[[topic]]"]
    for name, value in _filled_fields(topic).items():
        if isinstance(value, str):
            lines.append(f"{name} = {_toml_string(value)}")
        else:
            lines += [f"{name} = [", *(f"    {_toml_string(item)}," for item in value), "]"]
    return "\n".join([*lines, ""])


def _toml_string(text: str) -> str:
    # A JSON string is a TOML string but for the delete character, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
