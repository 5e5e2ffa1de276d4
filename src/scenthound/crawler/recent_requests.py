"""The hosts that received the latest requests, in a file that survives a kill of the crawler.

Requests since the last commit are not in the journal. Whoever resumes a crawl that was killed does not know them, and
without this file every host would have to wait for its crawl delay once more.

Rules
- The file is a ring of entries: a hash of the host's name and the time of the request, by the crawl's clock and by the
  system's uptime. It is mapped into memory, so an entry is in the system's cache at once; it is not synced.
- It is continued by the next run, so that requests of a run that was killed before its first commit count, too. The
  start of each run is an entry as well.
- Uptimes tell how long ago something was even if the system clock was set in the meantime.
- After a power cut, or if there were more requests than the ring has room for, nothing is known.
"""

import mmap
import secrets
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from math import inf, nextafter
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from scenthound.files import regular_bytes

N_ENTRIES = 16_384
#: The boot of the system that the file was written in, the uptime since when it is complete, and the number of entries
#: so far.
_HEADER = struct.Struct("<40sdQ")
_COUNT = struct.Struct("<Q")
#: The hash of a host's name, and the time of the request by the crawl's clock and by the uptime.
_ENTRY = struct.Struct("<Qdd")
_N_BYTES = _HEADER.size + N_ENTRIES * _ENTRY.size
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
#: Instead of a host, for the start of a run.
_START = 0


def hash_of(host: str) -> int:
    return int.from_bytes(blake2b(host.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class RecentRequests:
    """The file to write to, a new one if there is none of this boot. If it cannot be written, nothing is noted.

    The run starts at `now_s` by the crawl's clock, which is `ahead_s` ahead of the uptime. A new file is complete if
    `is_first`: there was no run before."""

    def __init__(self, path: Path, now_s: float, ahead_s: float, *, is_first: bool) -> None:
        self._entries: mmap.mmap | None = None
        self._n_noted = 0
        self._ahead_s = ahead_s
        with suppress(OSError, ValueError):
            if not self._is_usable(path):
                path.unlink(missing_ok=True)
                complete_from_s = -inf if is_first else now_s - ahead_s
                path.write_bytes(_HEADER.pack(_boot_id(), complete_from_s, 0).ljust(_N_BYTES, b"\0"))
            with open(path, "rb+") as file:
                self._entries = mmap.mmap(file.fileno(), _N_BYTES)
            *_, self._n_noted = _HEADER.unpack_from(self._entries)
            self._note(_START, now_s)

    @staticmethod
    def _is_usable(path: Path) -> bool:
        with suppress(OSError, struct.error):
            content = regular_bytes(path, _N_BYTES)
            return len(content) == _N_BYTES and _HEADER.unpack_from(content)[0] == _boot_id()
        return False

    def note(self, host: str, now_s: float) -> None:
        """A request is sent to a host now."""
        self._note(hash_of(host), now_s)

    def _note(self, key: int, now_s: float) -> None:
        if self._entries is not None:
            slot = self._n_noted % N_ENTRIES
            _ENTRY.pack_into(self._entries, _HEADER.size + slot * _ENTRY.size, key, now_s, now_s - self._ahead_s)
            self._n_noted += 1
            _COUNT.pack_into(self._entries, _HEADER.size - _COUNT.size, self._n_noted)

    def close(self) -> None:
        if self._entries is not None:
            self._entries.close()
            self._entries = None


class LatestRequests(NamedTuple):
    """When hosts last received a request, in uptimes, by the hashes of their names; those that are not listed, at
    `others_s` or before. `starts` are the starts of runs, by the crawl's clock and as uptimes."""

    at: Mapping[int, float]
    others_s: float
    starts: Sequence[tuple[float, float]]

    def ahead_s(self, time_s: float) -> float:
        """By how much the crawl's clock was ahead of the uptime, in the run of this time by the crawl's clock."""
        later = bisect_right(self.starts, time_s, key=itemgetter(0))
        start_s, uptime_s = self.starts[max(later - 1, 0)]
        return start_s - uptime_s

    def hosts_since(self, time_s: float) -> frozenset[int] | None:
        """The hashes of the hosts that received a request at this time of the crawl's clock or later; None if that is
        not known."""
        uptime_s = time_s - self.ahead_s(time_s)
        if self.others_s > uptime_s:
            return None
        return frozenset(host for host, requested_s in self.at.items() if requested_s >= uptime_s)

    def received_s(self, host: str) -> float | None:
        """The uptime by which a host had received its last request at the latest, because the next run had started;
        None if none has."""
        requested_s = self.at.get(hash_of(host), self.others_s)
        later = bisect_right(self.starts, requested_s, key=itemgetter(1))
        return self.starts[later][1] if later < len(self.starts) else None


def latest_requests(path: Path) -> LatestRequests | None:
    """What the file says; None if it says nothing."""
    try:
        content = regular_bytes(path, _N_BYTES)
        if len(content) != _N_BYTES:
            return None
        boot_id, complete_from_s, n_noted = _HEADER.unpack_from(content)
        entries = list(_ENTRY.iter_unpack(content[_HEADER.size :]))[:n_noted]
    except (OSError, struct.error):
        return None
    if boot_id != _boot_id() or not entries:
        return None
    oldest = n_noted % N_ENTRIES if n_noted > N_ENTRIES else 0
    entries = entries[oldest:] + entries[:oldest]
    # The start of the first run may be overwritten.
    starts = [entries[0][1:], *(entry[1:] for entry in entries[1:] if entry[0] == _START)]
    at = {key: uptime_s for key, _, uptime_s in entries if key != _START}
    # An entry that was overwritten may be as late as the first of the others.
    others_s = nextafter(entries[0][2], inf) if n_noted > N_ENTRIES else -inf
    return LatestRequests(at, max(others_s, complete_from_s), starts)


@cache
def _boot_id() -> bytes:
    """Another one after each start of the system; where it is unknown, only a clean end leaves nothing to know."""
    try:
        return _BOOT_ID.read_bytes().strip()[:40].ljust(40, b"\0")
    except OSError:
        return secrets.token_bytes(40)
