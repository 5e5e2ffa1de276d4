"""The robots.txt rules of all origins of a crawl (RFC 9309), in bounded memory.

Rules
- An origin is scheme, host and port; each has its own robots.txt.
- A response is valid for a day (2.4).
- An origin whose robots.txt is unreachable is not crawled at all (2.3.1.4).
- A redirect that leads nowhere means that there is no robots.txt (2.3.1.2).

Memory
- Files are numbered 0, 1, 2, ... in the order of the responses, like their records in the crawl folder. Of each origin
  only the number of its file and how long that is valid are kept, some 250 bytes.
- The rules of recently used files are kept as compressed text, and those of the latest ones also as an index for
  matching, each up to a number of bytes. Other files are read back from their records and parsed again, so what is in
  memory decides nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from isal import isal_zlib

from scenthound.bounded_cache import BoundedCache
from scenthound.reasons import SkipReason
from scenthound.saved_state import State
from scenthound.store.crawl_records import RobotsRecord
from scenthound.web.robots import (
    ALLOW_ALL,
    DISALLOW_ALL,
    PatternIndex,
    RobotsRules,
    pattern_index,
    rules_from_response,
)

ROBOTS_LIFETIME_S = 86_400.0
#: Enough for the texts of 25,000 real files with rules, and for the indexes of 2,600.
TEXT_BYTES = 16_000_000
INDEX_BYTES = 16_000_000
#: What an entry of a cache takes besides its value.
ENTRY_BYTES = 350
#: The second fastest level, which makes real rules a third as long.
_LEVEL = 1
#: Failures of a host as such: if they prevent robots.txt, its pages are skipped for the same reason.
UNREACHABLE = frozenset(
    {
        SkipReason.DNS_NOT_FOUND,
        SkipReason.DNS_FAILED,
        SkipReason.ADDRESS_FORBIDDEN,
        SkipReason.CONNECT_FAILED,
        SkipReason.CONNECT_TIMEOUT,
        SkipReason.TLS_FAILED,
        SkipReason.PROXY_REFUSED,
        SkipReason.HOST_DISABLED,
    }
)
#: What stands for these rules in a checkpoint, instead of the number of a file.
_SAVED_RULES = {ALLOW_ALL: -1, DISALLOW_ALL: -2}
_RULES_BY_NUMBER: dict[int, RobotsRules] = {number: rules for rules, number in _SAVED_RULES.items()}
BAD_REDIRECTS = frozenset({SkipReason.REDIRECT_LOOP, SkipReason.REDIRECT_FORBIDDEN})


@dataclass(frozen=True, slots=True)
class OriginRules:
    """The number of an origin's robots.txt file, or its rules if it has none or an empty one; and the skip reason of
    pages that are disallowed."""

    rules: int | RobotsRules
    skip_reason: SkipReason
    valid_until_s: float


class RobotsCache:
    """`load` reads the record of a file, by its number."""

    def __init__(self, agent: str, load: Callable[[int], RobotsRecord]) -> None:
        self._agent = agent
        self._load = load
        #: Files so far, also those that this object has not seen.
        self.n_files = 0
        self._origins: dict[str, OriginRules] = {}
        self._texts = BoundedCache(TEXT_BYTES, lambda text: ENTRY_BYTES + len(text), self._read_text)
        self._indexes = BoundedCache(INDEX_BYTES, lambda index: ENTRY_BYTES + index.n_bytes, self._make_index)

    def state(self) -> State:
        """A checkpoint for `restore`."""
        rules = self._origins.values()
        return {
            "n_files": self.n_files,
            "origins": list(self._origins),
            "files": [
                _SAVED_RULES[each.rules] if isinstance(each.rules, RobotsRules) else each.rules for each in rules
            ],
            "skip_reasons": [each.skip_reason.value for each in rules],
            "valid_until_s": [each.valid_until_s for each in rules],
        }

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        self.n_files = state["n_files"]
        rules = [_RULES_BY_NUMBER.get(file, file) for file in state["files"]]
        reasons = [SkipReason(reason) for reason in state["skip_reasons"]]
        values = map(OriginRules, rules, reasons, state["valid_until_s"])
        self._origins = dict(zip(state["origins"], values, strict=True))

    def get(self, origin: str, now_s: float) -> OriginRules | None:
        """None if robots.txt has to be requested first."""
        found = self._origins.get(origin)
        return found if found is not None and found.valid_until_s > now_s else None

    def allows(self, origin: OriginRules, url: str) -> bool:
        """Whether a canonical URL of the origin is allowed."""
        rules = origin.rules
        return rules.allows(url) if isinstance(rules, RobotsRules) else self._indexes.get(rules).allows(url)

    def set_rules(self, origin: str, now_s: float, status: int, body: bytes) -> RobotsRules:
        """Set the rules of an origin by the response to the request for its robots.txt."""
        rules = rules_from_response(status, body, self._agent)
        file, self.n_files = self.n_files, self.n_files + 1
        if rules.text:
            self._texts.add(file, _compressed(rules.text))
        self._origins[origin] = OriginRules(
            file if rules.text else ALLOW_ALL, SkipReason.ROBOTS, now_s + ROBOTS_LIFETIME_S
        )
        return rules

    def set_failed(self, origin: str, now_s: float, reason: SkipReason) -> None:
        rules = ALLOW_ALL if reason in BAD_REDIRECTS else DISALLOW_ALL
        skip_reason = reason if reason in UNREACHABLE else SkipReason.ROBOTS_UNREACHABLE
        self._origins[origin] = OriginRules(rules, skip_reason, now_s + ROBOTS_LIFETIME_S)

    def _read_text(self, file: int) -> bytes:
        record = self._load(file)
        return _compressed(rules_from_response(record.status or 0, record.body, self._agent).text)

    def _make_index(self, file: int) -> PatternIndex:
        return pattern_index(isal_zlib.decompress(self._texts.get(file)).decode())


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL."""
    return url[: url.index("/", len("https://"))]


def robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"


def _compressed(text: str) -> bytes:
    return isal_zlib.compress(text.encode(), _LEVEL)
