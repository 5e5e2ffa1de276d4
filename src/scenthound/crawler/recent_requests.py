"""The hosts that received the latest requests, in a file that survives a kill of the crawler.

Requests since the last commit are not in the journal. Whoever resumes a crawl that was killed does not know them, and
without this file every host would have to wait for its crawl delay once more.

Rules
- The file is a ring of entries: a hash of the host's name and the time of the request. It is mapped into memory, so an
  entry is in the system's cache at once; it is not synced.
- It is continued by the next run, so that requests of a run that was killed before its first commit count, too.
- After a power cut, or if there were more requests than the ring has room for, nothing is known.
"""

import mmap
import secrets
import struct
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from math import inf, nextafter
from pathlib import Path
from typing import NamedTuple

from scenthound.files import regular_bytes

N_ENTRIES = 16_384
#: The boot of the system that the file was written in, since when it is complete, and the number of entries so far.
_HEADER = struct.Struct("<40sdQ")
_COUNT = struct.Struct("<Q")
_ENTRY = struct.Struct("<Qd")
_N_BYTES = _HEADER.size + N_ENTRIES * _ENTRY.size
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def hash_of(host: str) -> int:
    return int.from_bytes(blake2b(host.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class RecentRequests:
    """The file to write to, a new one if there is none of this boot. If it cannot be written, nothing is noted."""

    def __init__(self, path: Path, now_s: float) -> None:
        self._entries: mmap.mmap | None = None
        self._n_noted = 0
        with suppress(OSError, ValueError):
            if not self._is_usable(path):
                path.unlink(missing_ok=True)
                path.write_bytes(_HEADER.pack(_boot_id(), now_s, 0).ljust(_N_BYTES, b"\0"))
            with open(path, "rb+") as file:
                self._entries = mmap.mmap(file.fileno(), _N_BYTES)
            *_, self._n_noted = _HEADER.unpack_from(self._entries)

    @staticmethod
    def _is_usable(path: Path) -> bool:
        with suppress(OSError, struct.error):
            content = regular_bytes(path, _N_BYTES)
            return len(content) == _N_BYTES and _HEADER.unpack_from(content)[0] == _boot_id()
        return False

    def note(self, host: str, now_s: float) -> None:
        """A request is sent to a host now."""
        if self._entries is not None:
            slot = self._n_noted % N_ENTRIES
            _ENTRY.pack_into(self._entries, _HEADER.size + slot * _ENTRY.size, hash_of(host), now_s)
            self._n_noted += 1
            _COUNT.pack_into(self._entries, _HEADER.size - _COUNT.size, self._n_noted)

    def close(self) -> None:
        if self._entries is not None:
            self._entries.close()
            self._entries = None


class LatestRequests(NamedTuple):
    """When hosts last received a request, by the hashes of their names; those that are not listed, at `others_s` or
    before."""

    at: Mapping[int, float]
    others_s: float

    def hosts_since(self, time_s: float) -> frozenset[int] | None:
        """The hashes of the hosts that received a request at this time or later; None if that is not known."""
        if self.others_s > time_s:
            return None
        return frozenset(host for host, requested_s in self.at.items() if requested_s >= time_s)

    def last_s(self, host: str) -> float:
        """When a host last received a request, at the latest."""
        return self.at.get(hash_of(host), self.others_s)


def latest_requests(path: Path) -> LatestRequests | None:
    """What the file says; None if it says nothing."""
    try:
        content = regular_bytes(path, _N_BYTES)
        boot_id, complete_from_s, n_noted = _HEADER.unpack_from(content)
        entries = list(_ENTRY.iter_unpack(content[_HEADER.size :]))[:n_noted]
    except (OSError, struct.error):
        return None
    if boot_id != _boot_id():
        return None
    at: dict[int, float] = {}
    for host, requested_s in entries:
        at[host] = max(requested_s, at.get(host, requested_s))
    has_room = n_noted <= N_ENTRIES
    # An entry that was overwritten may be as late as the first of the others.
    others_s = complete_from_s if has_room else nextafter(min(requested_s for _, requested_s in entries), inf)
    return LatestRequests(at, max(others_s, complete_from_s))


@cache
def _boot_id() -> bytes:
    """Another one after each start of the system; where it is unknown, only a clean end leaves nothing to know."""
    try:
        return _BOOT_ID.read_bytes().strip()[:40].ljust(40, b"\0")
    except OSError:
        return secrets.token_bytes(40)
