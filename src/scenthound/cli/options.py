"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what an earlier run left there.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes to use; all cores unless told.")]
ClosedWorld = Annotated[bool, typer.Option("--closed-world", help="Hide links to pages that were not recorded.")]
FollowNofollow = Annotated[bool, typer.Option("--follow-nofollow", help="Follow links that ask not to be followed.")]
RecordedWebFolder = Annotated[
    Path, typer.Option("--web", help="A recorded web, or a crawl; `scenthound record` and `crawl` make them.")
]
TopicsFile = Annotated[Path, typer.Option("--topics", help="A topic file: TOML or JSON Lines.")]
TaskName = Annotated[
    str, typer.Option("--task", help="Start from `examples`, or from their `neighbours` two links away.")
]
StartPages = Annotated[
    int, typer.Option("--start", min=1, help="Pages each crawl starts from; the other examples are targets.")
]
