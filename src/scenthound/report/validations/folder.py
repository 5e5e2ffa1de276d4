"""A validation from files to a folder: findings, a table of crawls, and pictures, whole or not at all."""

import json
from pathlib import Path

from scenthound.files import write_whole
from scenthound.lab.validating.settings import ValidationSettings
from scenthound.lab.validating.topics import TopicsWanted
from scenthound.lab.validating.validation import Validation, prepared, validate
from scenthound.model import Progress, silent
from scenthound.report.validations.figures import draw_validation, require_figures
from scenthound.report.validations.files import CRAWLS_FILE, FINDINGS_FILE, as_json, crawls_csv, is_validation_folder
from scenthound.report.validations.repeat import repeat_command
from scenthound.store.folder import check_place, new_folder


def validate_into(
    out: Path,
    web: Path,
    topics: TopicsWanted,
    wished: ValidationSettings,
    *,
    force: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
) -> Validation:
    """Validate the wished strategies on the topics, and leave all that came of it in the folder `out`."""
    require_figures()
    check_place(out, force, is_validation_folder)
    recorded, settings, notes = prepared(web, topics, wished, progress)
    validation = validate(recorded, settings, notes=notes, workers=workers, progress=progress)
    with new_folder(out, force, is_validation_folder) as folder:
        _write(validation, folder, repeat_command(validation, topics.file, out))
    return validation


def _write(validation: Validation, folder: Path, repeat: str) -> None:
    values = {**as_json(validation), "repeat": repeat}
    contents = {
        FINDINGS_FILE: json.dumps(values, indent=1) + "\n",
        CRAWLS_FILE: crawls_csv(validation),
    }
    for name, content in contents.items():
        write_whole(folder / name, content.encode("utf-8"))
    draw_validation(validation, folder)
