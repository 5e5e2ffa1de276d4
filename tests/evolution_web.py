"""A web on which the ranking of links matters, its topics, and small searches, for several tests."""

import json
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

from scenthound.experiments.evolve.evolution import Evolution, evolve
from scenthound.experiments.evolve.settings import SearchSettings
from scenthound.experiments.setup import ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.model import Topic
from scenthound.store.record import record
from scenthound.topics.files import write_topics

N = 240
WORDS = ("balloon", "train", "garden")
OTHER_WORDS = ("river", "stone", "cloud", "paper", "music", "winter", "table", "bread")


def url(i: int) -> str:
    return f"http://host{i % 12}.test/{i}"


def record_topical(folder: Path) -> Path:
    """Every third page is about balloons, trains or gardens, more or less; half of the links stay within a subject."""
    rng = Random(5)
    with (folder / "pages.jsonl").open("w") as file:
        for i in range(N):
            own = [rng.randrange(i % 3, N, 3) for _ in range(4)]
            links = "".join(f"<a href={url(j)}>on</a>" for j in [*own, *(rng.randrange(N) for _ in range(4))])
            words = [WORDS[i % 3]] * rng.randint(0, 4) + rng.choices(OTHER_WORDS, k=3)
            file.write(json.dumps({"url": url(i), "html": f"<p>{' '.join(words)} {links}"}) + "\n")
    record([folder / "pages.jsonl"], folder / "web", workers=1)
    return folder / "web"


def write_topical(folder: Path) -> Path:
    """A topic for each subject; its examples are the first pages about it."""
    topics = [
        Topic(word, (word,), description=f"All about a {word}.", examples=tuple(url(i) for i in range(k, 60, 3)))
        for k, word in enumerate(WORDS)
    ]
    write_topics(folder / "topics.jsonl", topics)
    return folder / "topics.jsonl"


#: A short search: three generations of four, two crawls of 40 pages each, with the cosine model.
SMALL: dict[str, Any] = {
    "search": "johnson2003:population=4,generations=3,mutation=1.0",
    "n_crawls": 2,
    "page_budget": 40,
    "n_start": 3,
    "mode": "sequential",
    "relevance": "cosine",
    "workers": 1,
}


def small_search(web: Path, topics: Path, out: Path, *ids: str, **settings: Any) -> Evolution:
    return search_for(TopicChoice(topics, ids or ("balloon",)), web, out, **SMALL | settings)


def search_for(topics: TopicChoice, web: Path, out: Path, **settings: Any) -> Evolution:
    """Settings by name, of the experiment, of the search, or of the call."""
    search = {each.name: settings.pop(each.name) for each in fields(SearchSettings) if each.name in settings}
    setup = {each.name: settings.pop(each.name) for each in fields(ExperimentSetup) if each.name in settings}
    return evolve(ExperimentSetup(web=web, topics=topics, **setup), SearchSettings(**search), out, **settings)
