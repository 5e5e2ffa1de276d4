"""Reads the settings file of a study, shipped or written by a user; what is wrong with it is told in one line."""

import tomllib
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from scenthound.errors import BadInput, BadParameter, UnknownName, printable
from scenthound.files import text_of
from scenthound.lab.studies.settings import STUDIES, ArmSettings, Needs, SearchSettings, StudySettings
from scenthound.lab.studies.settings_checks import check_settings

Kind = TypeVar("Kind")


def preset_text(study: str) -> str:
    """The settings file of a study as it is shipped."""
    if study not in STUDIES:
        raise UnknownName.among("study", study, list(STUDIES))
    return files(__package__).joinpath("presets", f"{study}.toml").read_text(encoding="utf-8")


def read_settings(study: str, file: Path | None = None) -> StudySettings:
    """The study's own settings, or those of a file."""
    if file is None:
        return parse_settings(preset_text(study), f"the settings of {study}")
    settings = parse_settings(text_of(file), printable(file))
    if settings.study != study:
        raise BadInput(f"{printable(file)} has settings of {settings.study}, not of {study}.")
    missing = missing_parts(settings)
    if missing:
        raise BadInput(f"{printable(file)}: the findings of {study} are about {missing}; put it back.")
    return settings


def missing_parts(settings: StudySettings) -> str:
    """What the findings of a study are about and its settings lack; empty if nothing. More may always be added."""
    own = {arm.name: arm for arm in settings.arms}
    for arm in parse_settings(preset_text(settings.study), settings.study).arms:
        if arm.name not in own:
            return f"[[arm]] {arm.name}"
        lacking = [label for label in arm.strategies if label not in own[arm.name].strategies]
        lacking += [measure for measure in arm.measures if measure not in own[arm.name].measures]
        if lacking or (arm.tops and not own[arm.name].tops):
            return f"{lacking[0] if lacking else 'tops'} in [[arm]] {arm.name}"
    return ""


def parse_settings(text: str, where: str) -> StudySettings:
    """From TOML, or one line on what is wrong with it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as reason:
        raise BadInput(f"{where}: not TOML ({reason}).") from None
    except (RecursionError, ValueError):
        raise BadInput(f"{where}: nested too deeply, or a number too long to read; mend it there.") from None
    try:
        if "arms" in table:
            raise BadParameter("the file has 'arms'; experiments are tables [[arm]].")
        arms = tuple(_arm(arm) for arm in _tables(table.pop("arm", []), "[[arm]]"))
        needs = _made(Needs, table.pop("needs", {}), "[needs]")
        search = _made(SearchSettings, table.pop("search"), "[search]") if "search" in table else None
        settings = _made(StudySettings, {**table, "arms": arms, "needs": needs, "search": search}, "the file")
        check_settings(settings)
    except BadParameter as reason:
        raise BadInput(f"{where}: {reason}") from None
    return settings


def _tables(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise BadParameter(f"{where} must be a list of tables.")
    return value


def _arm(table: dict[str, Any]) -> ArmSettings:
    lists = {name: tuple(table[name]) for name in ("measures", "tops") if isinstance(table.get(name), list)}
    return _made(ArmSettings, {**table, **lists}, f"[[arm]] {table.get('name', '')}".strip())


def _made(kind: type[Kind], values: Any, where: str) -> Kind:
    """A dataclass from a table: names and types are checked, so that a slip of the pen is told."""
    if not isinstance(values, dict):
        raise BadParameter(f"{where} must be a table.")
    known = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise BadParameter(f"{where} has {name!r}; known are {', '.join(known)}.")
        wanted = _plain_kinds(known[name])
        if wanted and (not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted)):
            raise BadParameter(f"{where}: {name} is {value!r}, which is no {wanted[0].__name__}.")
    try:
        return kind(**values)
    except TypeError:
        missing = [name for name in ("study", "title", "pages", "name", "strategies", "measures") if name in known]
        raise BadParameter(f"{where} needs {', '.join(missing)}.") from None


def _plain_kinds(annotation: Any) -> tuple[type, ...]:
    return {
        "int": (int,),
        "float": (float, int),
        "str": (str,),
        "bool": (bool,),
        int: (int,),
        float: (float, int),
        str: (str,),
        bool: (bool,),
        int | None: (int, type(None)),
    }.get(annotation, ())
