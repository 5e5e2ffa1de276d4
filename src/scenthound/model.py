"""The values that all packages share: frozen dataclasses without behaviour."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scenthound.errors import InvalidTopic

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

#: Reports the progress of long work: the fraction done (0 to 1) and a short text.
Progress = Callable[[float, str], None]


def silent(_fraction: float, _text: str) -> None:
    """Report nothing."""


def generator_seed(random_seed: int, topic_id: str) -> str:
    """The seed of all randomness of a crawl, live or simulated."""
    return f"crawl/{random_seed}/{topic_id}"


@dataclass(frozen=True, slots=True, init=False)
class Topic:
    """What a crawl is about. `examples` are pages known to belong to it; seeds and targets are drawn from them unless
    the topic has its own `seeds` and `targets`. `description_from` are the pages from which the description was copied:
    they are never targets, because the description is used to score pages.

    Without an id, the first keyword is the id. Lists are accepted for tuples, and one string for a list of one.
    """

    id: str
    keywords: tuple[str, ...]
    path: str
    description: str
    examples: tuple[str, ...]
    seeds: tuple[str, ...]
    targets: tuple[str, ...]
    description_from: tuple[str, ...]

    def __init__(  # noqa: PLR0917 - one for each field
        self,
        id: str = "",  # noqa: A002 - the name of the field
        keywords: str | Iterable[str] = (),
        path: str = "",
        description: str = "",
        examples: str | Iterable[str] = (),
        seeds: str | Iterable[str] = (),
        targets: str | Iterable[str] = (),
        description_from: str | Iterable[str] = (),
    ) -> None:
        lists = {
            "keywords": keywords,
            "examples": examples,
            "seeds": seeds,
            "targets": targets,
            "description_from": description_from,
        }
        values = {name: _texts(name, each) for name, each in lists.items()}
        if not id and not values["keywords"]:
            raise InvalidTopic("A topic needs an id or keywords.")
        for name, value in {"id": id or values["keywords"][0], "path": path, "description": description}.items():
            if not isinstance(value, str):
                raise InvalidTopic(f"The {name} of a topic should be a text, not {value!r}.")
            object.__setattr__(self, name, value)
        for name, texts in values.items():
            object.__setattr__(self, name, texts)


def with_pages(topic: Topic, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Topic:
    """The topic with other URLs in each of its lists of pages."""
    names = ("examples", "seeds", "targets", "description_from")
    changed: dict[str, Any] = {name: change(getattr(topic, name)) for name in names}
    return replace(topic, **changed)


def _texts(name: str, value: str | Iterable[str]) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if not all(isinstance(text, str) for text in texts):
        raise InvalidTopic(f"The {name} of a topic should be texts, not {value!r}.")
    return texts


@dataclass(frozen=True, slots=True)
class Links:
    """The out-links of one page in page order, duplicates included.

    `pages` are numbers that the crawl's URL table assigns in order of discovery, so a number reveals nothing about the
    page. `predicted` is the relevance of the words around each link, `anchors` that of its anchor only; they are None
    for strategies that do not need them.
    """

    pages: IntArray
    hosts: IntArray
    predicted: FloatArray | None = None
    anchors: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.pages)


@dataclass(frozen=True, slots=True)
class Visit:
    """A fetched page: everything that a strategy learns about it."""

    page: int
    relevance: float
    links: Links


@dataclass(frozen=True, slots=True)
class Seed:
    """A start page of a crawl."""

    page: int
    host: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The pages of one crawl in order. `pages` are page numbers of the recorded web."""

    topic: str
    strategy: str
    seed: int
    pages: IntArray
    relevance: FloatArray
    cpu_us: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.pages)
