"""Where the commit logs of shards are: `LOG/0000`, `LOG/0001` and so on, below one path or URL."""

import os

from scenthound.store.commit_log import CommitLog
from scenthound.store.locations import is_remote


def shard_log_location(base: str | os.PathLike[str], shard: int) -> str:
    """The path or URL of the log of a shard."""
    name = f"{shard:04}"
    return f"{str(base).rstrip('/')}/{name}" if is_remote(base) else os.path.join(os.fspath(base), name)


def shard_log(base: str | os.PathLike[str], shard: int) -> CommitLog:
    return CommitLog.at(shard_log_location(base, shard))


def logs_of(base: str | os.PathLike[str], n_shards: int) -> list[CommitLog]:
    """The logs of all shards, to read; they need not exist yet."""
    return [shard_log(base, shard) for shard in range(n_shards)]
