"""Where the logs of a crawl in shards are."""

from scenthound.store.commit_log import CommitLog


def shard_log_location(base: str, shard: int) -> str:
    """The log of one shard."""
    return f"{base.rstrip('/')}/{shard:04}"


def shard_log(base: str, shard: int) -> CommitLog:
    return CommitLog.at(shard_log_location(base, shard))
