"""What the robots.txt of each origin says, as far as it was asked.

Rules (RFC 9309)
- An origin is scheme, host and port: each has a robots.txt of its own.
- What was had is good for `LIFETIME_S`, a day (2.4), and is then asked for again.
- An origin whose robots.txt cannot be had is not crawled at all (2.3.1.4).
- Redirects that lead nowhere mean that there is no robots.txt (2.3.1.2).
"""

from dataclasses import dataclass

from scenthound.reasons import Reason
from scenthound.web.robots import ALLOW_ALL, DISALLOW_ALL, RobotsRules, rules_for_answer

LIFETIME_S = 86_400.0
#: Failures that keep a host from answering at all: its pages are dropped for the same reason. For any other failure the
#: reason is that robots.txt could not be had.
UNREACHABLE = frozenset(
    {
        Reason.DNS_NOT_FOUND,
        Reason.DNS_FAILED,
        Reason.ADDRESS_FORBIDDEN,
        Reason.CONNECT_FAILED,
        Reason.CONNECT_TIMEOUT,
        Reason.TLS_FAILED,
        Reason.HOST_RETIRED,
    }
)
LEADS_NOWHERE = frozenset({Reason.REDIRECT_LOOP, Reason.REDIRECT_FORBIDDEN})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rules of an origin, and why a page that they bar is barred."""

    rules: RobotsRules
    because: Reason
    good_until_s: float


class RobotsBook:
    """Verdicts by origin."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._verdicts: dict[str, Verdict] = {}

    def verdict(self, origin: str, now_s: float) -> Verdict | None:
        """None if robots.txt has to be asked for first."""
        verdict = self._verdicts.get(origin)
        return verdict if verdict is not None and verdict.good_until_s > now_s else None

    def answered(self, origin: str, now_s: float, status: int, body: bytes) -> RobotsRules:
        return self._note(origin, now_s, rules_for_answer(status, body, self._agent), Reason.ROBOTS)

    def failed(self, origin: str, now_s: float, reason: Reason) -> None:
        if reason in LEADS_NOWHERE:
            self._note(origin, now_s, ALLOW_ALL, reason)
        else:
            self._note(origin, now_s, DISALLOW_ALL, reason if reason in UNREACHABLE else Reason.ROBOTS_UNREACHABLE)

    def _note(self, origin: str, now_s: float, rules: RobotsRules, because: Reason) -> RobotsRules:
        self._verdicts[origin] = Verdict(rules, because, now_s + LIFETIME_S)
        return rules


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL."""
    return url[: url.index("/", len("https://"))]


def robots_url(origin: str) -> str:
    return f"{origin}/robots.txt"
