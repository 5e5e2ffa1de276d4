"""Why a page was visited, in a crawl in shards: what a strategy has seen is replayed from the log of the page's shard.

The folder of the shard is made again from the log, in a temporary folder; the log stays as it is.
"""

from dataclasses import replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from scenthound.crawler.explain import Explanation, explain
from scenthound.crawler.explain_ranking import explain_with_reasons, may_have_reasons, with_reasons
from scenthound.crawler.shard import shard_of
from scenthound.errors import ScenthoundError
from scenthound.model import Progress, silent
from scenthound.shards.logs import shard_log_location
from scenthound.store.commit_log import CommitLog
from scenthound.store.crawl_folder import ShardLogs
from scenthound.store.crawl_store import copy_from_log
from scenthound.web.urls import host_of


def explained(folder: Path, url: str, progress: Progress = silent) -> Explanation:
    """Explain a URL from a crawl folder, with or without shards, and with the reasons of the strategy if the page was
    visited or is queued."""
    shards = ShardLogs.read(folder)
    if shards is None:
        return explain_with_reasons(folder, url, progress)
    found = explain(folder, url)
    if not may_have_reasons(found, folder):
        return found
    shard = shard_of(host_of(found.requested_url or found.url), shards.n_shards)
    log = CommitLog.at(shard_log_location(shards.location_in(folder), shard))
    with TemporaryDirectory(prefix="scenthound-explain-") as temporary:
        copy = Path(temporary) / "shard"
        try:
            copy_from_log(log, copy, progress)
        except ScenthoundError as error:
            return replace(found, no_reasons=error.message)
        result = with_reasons(found, copy, progress)
    end = inf if found.visit is None else found.visit.visit
    finders = [parent for parent in found.parents if parent.visit < end]
    is_sent = all(shard_of(host_of(parent.url), shards.n_shards) != shard for parent in finders)
    if is_sent and not (result.reasons or result.no_reasons):
        why = f"Its links were found and scored by other shards than that of the page, {shard}."
        return replace(result, no_reasons=why)
    return result
