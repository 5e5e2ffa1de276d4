"""The settings of the Scrapy scheduler: `SCENTHOUND_...` in the settings of a Scrapy project.

They have the names and defaults of the options of `scenthound crawl`. All of them are checked before the first request,
and errors name settings instead of options.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from scenthound.crawler.assembly import check_trains, chosen_model, made_relevance
from scenthound.crawler.settings import DEFAULT_PATIENCE, DEFAULT_STRATEGY, choose_topic
from scenthound.errors import InvalidParameter, ScenthoundError, UnknownName, UsageError, printable
from scenthound.frontier.base import max_better_hosts
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE
from scenthound.strategies.base import STRATEGIES
from scenthound.text.tokenizer import WordScanner

PREFIX = "SCENTHOUND_"
#: The topic of a crawl without keywords: what its start pages are about, as in `scenthound crawl`.
START_PAGES = "start pages"


class ProjectSettings(Protocol):
    """What is used of `scrapy.settings.BaseSettings`."""

    def __iter__(self) -> Iterator[str]: ...

    def get(self, name: str, default: Any = None) -> Any: ...

    def getlist(self, name: str) -> list[Any]: ...

    def getint(self, name: str, default: int = 0) -> int: ...

    def getfloat(self, name: str, default: float = 0.0) -> float: ...

    def getbool(self, name: str, default: bool = False) -> bool: ...


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """What decides about the order of requests. `max_better` is the patience, as `ReadyHosts` uses it."""

    topic: Topic
    strategy: str
    relevance: str
    train_from: str | None
    random_seed: int
    strict_order: bool
    max_better: float

    def identity(self) -> dict[str, Any]:
        """What must be the same when a crawl is resumed, by the name of its setting."""
        values = asdict(self)
        topic = values.pop("topic")
        return {"topic": topic["id"], "keywords": list(topic["keywords"]), **{name: values[name] for name in _DECIDING}}


_DECIDING = ("strategy", "relevance", "train_from", "random_seed")
_NAMES = (
    *("KEYWORDS", "TOPICS", "TOPIC"),
    *(field.name.upper() for field in fields(SchedulerSettings) if field.name not in ("topic", "max_better")),
    "PATIENCE",
)
#: How errors write options.
_SETTING_OF_OPTION = {name.lower().replace("_", "-"): PREFIX + name for name in _NAMES}


def setting_name(name: str) -> str:
    """The setting with a value of `SchedulerSettings.identity`."""
    return PREFIX + name.upper()


@contextmanager
def naming_settings() -> Iterator[None]:
    """Let the errors of the block name settings instead of options."""
    try:
        yield
    except ScenthoundError as error:
        error.arguments = _SETTING_OF_OPTION
        raise


def read_settings(project: ProjectSettings) -> SchedulerSettings:
    """The settings of a project. UsageError with one line if one of them cannot be used."""
    with naming_settings():
        _check_names(project)
        if project.get("DEPTH_PRIORITY"):
            raise UsageError("DEPTH_PRIORITY cannot be used, because the strategy decides the order: remove it.")
        train_from = _text(project, "TRAIN_FROM")
        strategy = str(STRATEGIES.resolve(project.get(f"{PREFIX}STRATEGY") or DEFAULT_STRATEGY))
        chosen = project.get(f"{PREFIX}RELEVANCE")
        relevance = chosen_model(
            None if chosen is None else str(RELEVANCE.resolve(chosen)), strategy, is_trained=train_from is not None
        )
        if train_from is not None:
            check_trains(relevance, strategy)
        settings = SchedulerSettings(
            topic=_topic(project),
            strategy=strategy,
            relevance=relevance,
            train_from=train_from,
            random_seed=_whole_number(project, "RANDOM_SEED", 0),
            strict_order=_flag(project, "STRICT_ORDER"),
            max_better=_max_better(project),
        )
        # A topic without usable words, or training pages that cannot be read, fail here.
        made_relevance(relevance, settings.topic, train_from, WordScanner())
        return settings


def _check_names(project: ProjectSettings) -> None:
    for name in project:
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _NAMES:
            raise UnknownName.among("setting", name, (PREFIX + known for known in _NAMES))


def _topic(project: ProjectSettings) -> Topic:
    file, topic_id = _text(project, "TOPICS"), _text(project, "TOPIC")
    keywords = [str(keyword) for keyword in project.getlist(f"{PREFIX}KEYWORDS")]
    if file is None and not keywords:
        return Topic(topic_id or START_PAGES)
    # Start pages are those of the spider, so the topic's own are not checked.
    topic, _ = choose_topic(None if file is None else Path(file), topic_id, keywords, ["https://example.org/"])
    return topic


def _max_better(project: ProjectSettings) -> float:
    patience = _number(project, "PATIENCE", DEFAULT_PATIENCE)
    if not 0 <= patience <= 1:
        raise InvalidParameter(f"{PREFIX}PATIENCE must be from 0 to 1, not {patience}.")
    throttle_s = project.getfloat("AUTOTHROTTLE_START_DELAY") if project.getbool("AUTOTHROTTLE_ENABLED") else 0.0
    delay_s = max(project.getfloat("DOWNLOAD_DELAY"), throttle_s)
    return max_better_hosts(patience, project.getint("CONCURRENT_REQUESTS"), delay_s)


def _text(project: ProjectSettings, name: str) -> str | None:
    value = project.get(PREFIX + name)
    if value is None or value == "":
        return None
    if not isinstance(value, str | Path):
        raise InvalidParameter(f"{PREFIX}{name} should be a text, not {printable(value, 80)}.")
    return str(value)


def _number(project: ProjectSettings, name: str, default: float) -> float:
    value = project.get(PREFIX + name, default)
    try:
        if isinstance(value, bool):
            raise ValueError
        return float(value)
    except (TypeError, ValueError):
        raise InvalidParameter(f"{PREFIX}{name} should be a number, not {printable(value, 80)!r}.") from None


def _whole_number(project: ProjectSettings, name: str, default: int) -> int:
    number = _number(project, name, default)
    if not number.is_integer():
        raise InvalidParameter(f"{PREFIX}{name} should be a whole number, not {number}.")
    return int(number)


def _flag(project: ProjectSettings, name: str) -> bool:
    try:
        return project.getbool(PREFIX + name)
    except (TypeError, ValueError):
        value = printable(project.get(PREFIX + name), 80)
        raise InvalidParameter(f"{PREFIX}{name} should be True or False, not {value!r}.") from None
