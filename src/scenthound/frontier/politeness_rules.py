"""How politely a crawl behaves towards hosts: the settings, and what it is told of each request."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from scenthound.errors import BadParameter

#: Hosts that share an address are asked this many times as often, together, as one of them alone.
ADDRESS_SHARE = 4


@dataclass(frozen=True, slots=True)
class PolitenessRules:
    """The least that every host is given, and the most that one may ask for."""

    #: At least so long from the end of one answer to the next request to the host.
    delay_s: float = 1.0
    #: A host that answers slowly rests so many times its smoothed response time, if that is longer: it is asked a sixth
    #: of the time at most. Heritrix has the same factor.
    delay_factor: float = 5.0
    longest_adaptive_s: float = 30.0
    #: A host that asks for more, by Crawl-delay or Retry-After, is retired.
    longest_rest_s: float = 3600.0
    #: From one request to the next to one address, whatever the host; None is `delay_s` through `ADDRESS_SHARE`.
    address_delay_s: float | None = None
    #: Requests in flight to one address.
    address_connections: int = 4
    #: A host is retired when it failed so many times in a row.
    failures_to_retire: int = 10
    pages_per_host: int | None = None
    pages_per_domain: int | None = None

    def __post_init__(self) -> None:
        for name in ("delay_s", "delay_factor", "longest_adaptive_s", "longest_rest_s", "address_delay_s"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise BadParameter(f"{name} is {value}; it has to be 0 or more, and finite.")
        for name in ("address_connections", "failures_to_retire", "pages_per_host", "pages_per_domain"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadParameter(f"{name} is {value}; it has to be 1 or more.")

    @property
    def between_requests_to_address_s(self) -> float:
        """`address_delay_s`, or what stands for it."""
        return self.delay_s / ADDRESS_SHARE if self.address_delay_s is None else self.address_delay_s


class HostAnswer(NamedTuple):
    """How a request ended. A host failed that could not be reached, did not answer in time, or answered with 429 or
    5xx; a page that is not there (404) is no failure of its host."""

    elapsed_s: float  #: from the request to the first byte of the answer
    failed: bool = False
    retry_after_s: float | None = None
