"""Which addresses libcurl is told for which hosts (CURLOPT_RESOLVE), so that it connects to those and looks up nothing.

What libcurl is told stays in its cache of names until it is told to drop it, and it walks through all of that cache
whenever a transfer ends. So a host is pinned with its request, and dropped again with the first request that starts
after its last one has ended: there are hardly more pins than transfers.
"""

_DEFAULT_PORTS = {"http": "80", "https": "443"}


class HostPins:
    """Makes the lists for CURLOPT_RESOLVE. Every `pin` is followed by one `release`."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}
        self._to_drop: list[str] = []

    def pin(self, place: str, addresses: tuple[str, ...]) -> list[str]:
        """What libcurl must be told before a request to a place ("host:port")."""
        self._users[place] = self._users.get(place, 0) + 1
        news, self._to_drop = self._to_drop, []
        if addresses:
            news.append(f"{place}:{','.join(map(_bracketed, addresses))}")
        return news

    def release(self, place: str) -> None:
        """A request has ended."""
        self._users[place] -= 1
        if not self._users[place]:
            del self._users[place]
            self._to_drop.append(f"-{place}")


def place_of(url: str) -> str:
    """Host and port of a canonical URL."""
    scheme, _, authority, *_ = url.split("/", 3)
    authority = authority.rpartition("@")[2]
    has_port = authority.rfind(":") > authority.rfind("]")
    return authority if has_port else f"{authority}:{_DEFAULT_PORTS[scheme[:-1]]}"


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
