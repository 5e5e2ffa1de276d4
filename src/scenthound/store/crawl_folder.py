"""The crawl folder: which file is what, and `crawl.json`, the settings of the crawl.

crawl.json         format, version, ID of the crawl, archive settings, crawl settings; never changes
credentials.json   credentials of the proxy and values of headers, if there are any (`crawler/credentials`)
run.json           stop conditions of the last run, if it was given any
commit_log.json    where the crawl's commit log is, if it has one (`commit_log`)
shards.json        how many shards crawl together, and where their commit logs are, if there are shards (`shards/`)
crawl.sqlite       the database (`crawl_database`), with its write-ahead log
acknowledged       how many commits the database must have
archive/           responses as WARC files (`archive`); a process that writes to the crawl holds the lock of this folder
checkpoints/       the state of the crawler at some commits (`checkpoints`), to resume quickly
web/               the crawl as a recorded web, made on demand (`record`)
control.json       commands for the running crawl (`crawler/control`)
search.sqlite      the full-text index, made on demand (`search_index`)
corpus.sqlite      main texts of pages, made by exports (`corpus/extraction_cache`)
labels.jsonl       labels of pages; relevance_models/ has the training pages of retrained relevance models
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import orjson

from scenthound.errors import InvalidInput, UsageError, printable
from scenthound.files import machine_fault, regular_bytes, write_atomic
from scenthound.store.archive import MAX_FILE_BYTES
from scenthound.store.folder import KNOWN_KINDS, MAX_JSON_BYTES, ResultFolder
from scenthound.store.locations import is_remote

Value = TypeVar("Value")

ABOUT_FILE = KNOWN_KINDS["crawl"].file
RUN_FILE = "run.json"
LOG_FILE = "commit_log.json"
SHARDS_FILE = "shards.json"
#: Where the logs of shards are by default, in the folder of the whole crawl.
SHARD_LOGS_FOLDER = "log"
DATABASE_FILE = "crawl.sqlite"
ARCHIVE_FOLDER = "archive"
CHECKPOINT_FOLDER = "checkpoints"
WEB_FOLDER = "web"


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """What the `warcinfo` record of each file says, and the file size limit."""

    user_agent: str
    robots: str = "obey"
    software: str = "Scenthound"
    most_file_bytes: int = MAX_FILE_BYTES

    def fields(self) -> bytes:
        """The content of a `warcinfo` record."""
        values = {
            "software": self.software,
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "http-header-user-agent": self.user_agent,
            "robots": self.robots,
        }
        return "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in values.items()).encode()


@dataclass(frozen=True, slots=True)
class CrawlAbout:
    """The content of `crawl.json`. `settings` are those of the crawler, as plain values."""

    crawl_id: UUID
    archive: ArchiveSettings
    settings: Mapping[str, Any]

    @property
    def topic_id(self) -> str:
        """Empty if the settings name none."""
        topic = self.settings.get("topic")
        return str(topic.get("id", "")) if isinstance(topic, Mapping) else ""

    @classmethod
    def read(cls, folder: Path) -> "CrawlAbout":
        """InvalidInput if the folder is not a crawl, or of a format that cannot be read."""
        about = ResultFolder.open(folder, kind="crawl").about
        try:
            archive = ArchiveSettings(**about["archive"])
            return cls(UUID(about["id"]), archive, dict(about["settings"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput(f"{printable(folder / ABOUT_FILE)} is damaged: restore it from a backup.") from None


@dataclass(frozen=True, slots=True)
class ShardLogs:
    """The shards of a whole crawl: how many there are, and the path or URL below which each has its commit log. A
    relative path is one in the crawl folder, which can then be moved."""

    n_shards: int
    location: str = SHARD_LOGS_FOLDER

    def location_in(self, folder: Path) -> str:
        """The location of the logs of the crawl in a folder."""
        return self.location if is_remote(self.location) else str(folder / self.location)

    def write(self, folder: Path) -> None:
        write_values(folder / SHARDS_FILE, {"shards": self.n_shards, "log": self.location})

    @classmethod
    def read(cls, folder: Path) -> "ShardLogs | None":
        """None for a crawl without shards."""
        return read_values(folder / SHARDS_FILE, lambda values: cls(int(values["shards"]), str(values["log"])))


def write_values(file: Path, values: dict[str, Any]) -> None:
    """Write a small JSON file of a crawl folder."""
    write_atomic(file, orjson.dumps(values, option=orjson.OPT_INDENT_2) + b"\n", follow_link=False)


def read_values(file: Path, read: Callable[[Any], Value], advice: str = "restore it from a backup") -> Value | None:
    """What `read` makes of the content of such a file; None if there is no file."""
    try:
        return read(orjson.loads(regular_bytes(file, MAX_JSON_BYTES)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as reason:
        raise InvalidInput(machine_fault(file, reason) or f"{printable(file)} is damaged: {advice}.") from None


def refuse_shards(folder: Path, advice: str) -> None:
    """UsageError with the advice for a crawl in shards, whose engines are those of its shards."""
    shards = ShardLogs.read(folder)
    if shards is not None:
        number = "one shard" if shards.n_shards == 1 else f"{shards.n_shards:,} shards"
        raise UsageError(f"{printable(folder)} is a crawl in {number} on a cluster: {advice}.")


def names_crawl(folder: Path) -> bool:
    """Whether the folder claims to be a crawl, readable or not."""
    return (folder / ABOUT_FILE).is_file()
