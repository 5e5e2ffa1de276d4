"""Options that several commands have."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what an earlier run left there.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes to use; all cores unless told.")]
ClosedWorld = Annotated[bool, typer.Option("--closed-world", help="Hide links to pages that were not recorded.")]
FollowNofollow = Annotated[bool, typer.Option("--follow-nofollow", help="Follow links that ask not to be followed.")]
