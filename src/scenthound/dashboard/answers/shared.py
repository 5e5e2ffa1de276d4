"""What answers of all kinds are made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something cannot be shown or done: `says` is one or two sentences, `command` what may help."""

    says: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Done:
    """A change was asked for; a running crawl carries it out within a second."""

    says: str
