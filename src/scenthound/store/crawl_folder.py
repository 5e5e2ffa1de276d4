"""The crawl folder: which file is what, and `crawl.json`, the settings of the crawl.

crawl.json         format, version, ID of the crawl, archive settings, crawl settings; never changes
credentials.json   credentials of the proxy and values of headers, if there are any (`crawler/credentials`)
run.json           stop conditions of the last run, if it was given any
commit_log.json    where the crawl's commit log is, if it has one (`commit_log`)
crawl.sqlite       the database (`crawl_database`), with its write-ahead log
acknowledged       how many commits the database must have
archive/           responses as WARC files (`archive`); a process that writes to the crawl holds the lock of this folder
checkpoints/       the state of the crawler at some commits (`checkpoints`), to resume quickly
recent_requests    hosts of the latest requests, which must wait if the crawl was killed (`crawler/recent_requests`)
web/               the crawl as a recorded web, made on demand (`record`)
control.json       commands for the running crawl (`crawler/control`)
search.sqlite      the full-text index, made on demand (`search_index`)
corpus.sqlite      main texts of pages, made by exports (`corpus/extraction_cache`)
labels.jsonl       labels of pages; relevance_models/ has the training pages of retrained relevance models

Format 2 has other table and column names than format 1, which Scenthound wrote up to 0.6. Crawls of format 1 can be
read, but not resumed.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from scenthound.errors import InvalidInput, printable
from scenthound.store.archive import MAX_FILE_BYTES
from scenthound.store.folder import KNOWN_KINDS, ResultFolder

VERSION = KNOWN_KINDS["crawl"].version
ABOUT_FILE = KNOWN_KINDS["crawl"].file
RUN_FILE = "run.json"
LOG_FILE = "commit_log.json"
DATABASE_FILE = "crawl.sqlite"
ARCHIVE_FOLDER = "archive"
CHECKPOINT_FOLDER = "checkpoints"
REQUESTS_FILE = "recent_requests"
WEB_FOLDER = "web"
#: Of settings in format 1.
_NEW_NAMES = {
    "longest_adaptive_s": "max_adaptive_delay_s",
    "longest_rest_s": "max_delay_s",
    "failures_to_retire": "max_failures",
    "obey_nofollow": "respect_nofollow",
}


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
    version: int = VERSION

    @property
    def topic_id(self) -> str:
        """Empty if the settings name none."""
        topic = self.settings.get("topic")
        return str(topic.get("id", "")) if isinstance(topic, Mapping) else ""

    def write(self, folder: ResultFolder) -> None:
        values = {"id": self.crawl_id, "archive": asdict(self.archive), "settings": self.settings}
        folder.write_json(ABOUT_FILE, values)

    @classmethod
    def read(cls, folder: Path) -> "CrawlAbout":
        """InvalidInput if the folder is not a crawl, or of a format that cannot be read."""
        about = ResultFolder.open(folder, kind="crawl").about
        try:
            archive = ArchiveSettings(**about["archive"])
            settings = _renamed(about["settings"]) if about["version"] == 1 else dict(about["settings"])
            return cls(UUID(about["id"]), archive, settings, about["version"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InvalidInput(f"{printable(folder / ABOUT_FILE)} is damaged: restore it from a backup.") from None


def names_crawl(folder: Path) -> bool:
    """Whether the folder claims to be a crawl, readable or not."""
    return (folder / ABOUT_FILE).is_file()


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a crawl of format 1 under their present names."""
    return {
        _NEW_NAMES.get(name, name): _renamed(value) if name == "politeness" else value
        for name, value in settings.items()
    }
