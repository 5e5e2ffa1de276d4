"""A page as it was found in a file, before anything of it is parsed, and what is said of one that cannot be used."""

from dataclasses import dataclass

from scenthound.errors import printable

#: Longer places are cut: what a file says of itself may be of any length.
LONGEST_PLACE = 300


@dataclass(frozen=True, slots=True)
class RawPage:
    """Either `html` or `text` is there. `charset` is what the server said of `html` in bytes; `links` are the links of
    a text page, which has no markup to find them in."""

    url: str
    html: str | bytes | None = None
    charset: str | None = None
    text: str | None = None
    title: str = ""
    aliases: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class RawRedirect:
    """A URL that answered with another one."""

    url: str
    target: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that gave no page: the reason, in words that can be counted, and where it stands.

    Reasons are few: what a file says, which may be anything, goes into the place. Both are safe to print.
    """

    reason: str
    place: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", printable(self.reason, LONGEST_PLACE))
        object.__setattr__(self, "place", printable(self.place, LONGEST_PLACE))


RawRecord = RawPage | RawRedirect | Skipped
