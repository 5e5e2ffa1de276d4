"""What a made-up topical web is to be like: its size and the shares that shape it, with bounds.

The defaults were chosen so that the web resembles real collections; `python -m benchmarks.realism` shows how far.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from scenthound.errors import BadParameter, UnknownName
from scenthound.registry import Bounds

_SHARE = Bounds(0, 1)

#: What each setting may be.
BOUNDS = {
    "pages": Bounds(10, 10_000_000),
    "links_per_page": Bounds(1, 200),
    "words_per_page": Bounds(5, 2000),
    "topics": Bounds(1, 1000),
    "seed": Bounds(0, 2**63 - 1),
    "pages_per_host": Bounds(1),
    "on_host": _SHARE,
    "on_topic": _SHARE,
    "mutual": Bounds(0, 0.5),
    "host_focus": _SHARE,
    "topical": Bounds(0, 1, above=True),
    "second_topics": _SHARE,
    "hubs": Bounds(0, 0.1),
    "hub_factor": Bounds(1, 100),
    "in_degree_exponent": Bounds(2, 5, above=True),
    "host_size_exponent": Bounds(1, 5, above=True),
    "topic_words": _SHARE,
    "dead_links": Bounds(0, 1, below=True),
    "aliases": Bounds(0, 0.5),
    "nofollow": _SHARE,
}


@dataclass(frozen=True, slots=True)
class TopicalWeb:
    """Settings of a topical web; shares are between 0 and 1.

    `on_host` and `on_topic` are the shares of links that are made to stay on the page's host and in its topic, each for
    itself; others may still do so by chance. `mutual` is the share that is drawn otherwise: from pages of the same host
    and topic that link back. `host_focus` is the share of a host's pages that are of the host's own topic. `hubs` are
    pages with `hub_factor` times the links of others, most of which lead to pages of their topic on whatever host.
    """

    pages: int = 100_000
    links_per_page: float = 20.0
    words_per_page: int = 30  #: besides the words of its anchors
    topics: int = 50
    seed: int = 1
    pages_per_host: float = 100.0
    on_host: float = 0.7
    on_topic: float = 0.25
    mutual: float = 0.2
    host_focus: float = 0.5
    topical: float = 0.8  #: share of the pages that are of a topic at all
    second_topics: float = 0.15  #: share of these that are of a second one too
    hubs: float = 0.01
    hub_factor: float = 15.0
    in_degree_exponent: float = 2.3  #: of the power law that the popularity of pages follows
    host_size_exponent: float = 2.0
    topic_words: float = 0.4  #: share of the words of a page that are its topic's
    dead_links: float = 0.2  #: share of links to URLs that are not recorded
    aliases: float = 0.01  #: share of pages that answer under a second URL
    nofollow: float = 0.01  #: share of links

    def __post_init__(self) -> None:
        for setting in fields(self):
            value, allowed = getattr(self, setting.name), BOUNDS[setting.name]
            kind, kind_name = (int, "a whole number, ") if setting.type is int else (int | float, "")
            if isinstance(value, bool) or not isinstance(value, kind) or value not in allowed:
                raise BadParameter(f"{setting.name} is {value!r} and must be {kind_name}{allowed}.")
        if self.topics > self.pages:
            raise BadParameter(f"topics is {self.topics:,} and must be at most {self.pages:,}, the number of pages.")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "TopicalWeb":
        """Settings by name; the others have their defaults."""
        for name in settings:
            if name not in BOUNDS:
                raise UnknownName.among("setting", name, BOUNDS)
        return cls(**settings)
