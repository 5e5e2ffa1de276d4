"""The options of reports and of the dashboard."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

from scenthound.options import Option, PathLike, PythonOnly

DEFAULT_PORT = 8787


@dataclass(frozen=True)
class ReportOptions:
    """A report.

    results: The folder of a crawl, run, comparison, study, search or validation; or those of several crawls.
    out: File to write.
    force: Replace the file even if it is not a report.
    """

    results: Annotated[
        Sequence[Any], Option(metavar="DIR...", is_argument=True, is_required=True, type=list[Path], stars="*")
    ] = ()
    _: KW_ONLY
    out: Annotated[PathLike | None, Option(metavar="FILE", shown="DIR/report.html; crawls.html for several")] = None
    force: bool = False


@dataclass(frozen=True)
class DashboardOptions:
    """What a dashboard shows, and to whom.

    folders: Crawls, experiments, or folders that contain them.
    port: Port on this machine.
    open_browser: Open the page in the web browser.
    open_to_all: Let everyone on this machine read without the token; changes need it.
    token_file: Keep the token in this file, which is made if it does not exist.
    """

    folders: Annotated[Sequence[PathLike], Option(metavar="[DIR]...", is_argument=True, shown=".", stars="*")] = ()
    _: KW_ONLY
    port: Annotated[int | None, Option(metavar="PORT", ge=1, le=65_535, shown=f"{DEFAULT_PORT}, or the next free")] = (
        None
    )
    open_browser: Annotated[bool, Option(flag="--browser")] = False
    open_to_all: Annotated[bool, Option(flag="--open")] = False
    token_file: Annotated[PathLike | None, Option(metavar="FILE", shown="a new token at each start")] = None
    on_start: PythonOnly[Callable[[str], None]] = print
