"""The settings of the Scrapy scheduler: `SCENTHOUND_...` in the settings of a Scrapy project.

They have the names and defaults of the options of `scenthound crawl`. All of them are checked before the first request,
and errors name settings instead of options.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, ValidationError, convert

from scenthound.crawler.assembly import check_trains, chosen_model, made_relevance
from scenthound.crawler.options import DEFAULT_PATIENCE, DEFAULT_STRATEGY
from scenthound.crawler.settings import choose_topic
from scenthound.errors import InvalidParameter, ScenthoundError, UnknownName, UsageError, printable
from scenthound.frontier.base import max_better_hosts
from scenthound.model import Topic
from scenthound.relevance.base import RELEVANCE
from scenthound.strategies.base import STRATEGIES
from scenthound.text.tokenizer import WordScanner

PREFIX = "SCENTHOUND_"
#: The topic of a crawl without keywords: what its start pages are about, as in `scenthound crawl`.
START_PAGES = "start pages"


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


def read_settings(project: Any) -> SchedulerSettings:
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
            random_seed=_value(project, "RANDOM_SEED", "a whole number", int, 0),
            strict_order=_value(project, "STRICT_ORDER", "True or False", bool, False),
            max_better=_max_better(project),
        )
        # A topic without usable words, or training pages that cannot be read, fail here.
        made_relevance(relevance, settings.topic, train_from, WordScanner())
        return settings


def _check_names(project: Any) -> None:
    for name in project:
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _NAMES:
            raise UnknownName.among("setting", name, (PREFIX + known for known in _NAMES))


def _topic(project: Any) -> Topic:
    file, topic_id = _text(project, "TOPICS"), _text(project, "TOPIC")
    keywords = [str(keyword) for keyword in project.getlist(f"{PREFIX}KEYWORDS")]
    if file is None and not keywords:
        return Topic(topic_id or START_PAGES)
    # Start pages are those of the spider, so the topic's own are not checked.
    topic, _ = choose_topic(None if file is None else Path(file), topic_id, keywords, ["https://example.org/"])
    return topic


def _max_better(project: Any) -> float:
    patience = _value(project, "PATIENCE", "a number from 0 to 1", Annotated[float, Meta(ge=0, le=1)], DEFAULT_PATIENCE)
    throttle_s = project.getfloat("AUTOTHROTTLE_START_DELAY") if project.getbool("AUTOTHROTTLE_ENABLED") else 0.0
    delay_s = max(project.getfloat("DOWNLOAD_DELAY"), throttle_s)
    return max_better_hosts(patience, project.getint("CONCURRENT_REQUESTS"), delay_s)


def _text(project: Any, name: str) -> str | None:
    value = project.get(PREFIX + name)
    if value is None or value == "" or isinstance(value, Path):
        return str(value) if value else None
    return str(_value(project, name, "a text", str, ""))


def _value(project: Any, name: str, described: str, kind: Any, default: Any) -> Any:
    """A setting, which is a text if it comes from the command line."""
    value = project.get(PREFIX + name, default)
    try:
        return convert(value, kind, strict=False)
    except ValidationError:
        raise InvalidParameter(f"{PREFIX}{name} should be {described}, not {printable(value, 80)!r}.") from None
