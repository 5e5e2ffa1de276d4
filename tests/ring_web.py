"""Tests of experiments: a ring of pages about balloons and trains, its topics, and runs on it."""

import json
from pathlib import Path
from typing import Any

from scenthound.experiments.pipeline import CrawlSource, Run, plan, run
from scenthound.experiments.runs import Simulation, simulate_topics
from scenthound.experiments.setup import Experiment, ExperimentSetup
from scenthound.experiments.starts import TopicChoice
from scenthound.model import Topic
from scenthound.store.record import record
from scenthound.store.recorded_web import RecordedWeb

N = 40


def url(i: int | str) -> str:
    return f"http://w.test/{i}"


def record_ring(folder: Path) -> Path:
    """A ring of pages with chords; even pages are about balloons, odd ones about trains. Page 0 has an alias."""
    with (folder / "pages.jsonl").open("w") as file:
        for i in range(N):
            word = "balloon" if i % 2 == 0 else "train"
            links = "".join(f"<a href={(i + step) % N}>on</a>" for step in (1, 2, 7))
            page = {"url": url(i), "html": f"<title>{word}</title><p>{word} {links}", "topics": [word]}
            file.write(json.dumps(page | ({"aliases": [url("zero")]} if i == 0 else {})) + "\n")
    record([folder / "pages.jsonl"], folder / "web", workers=1)
    return folder / "web"


def topic(name: str = "balloon", **fields: Any) -> Topic:
    start = 0 if name == "balloon" else 1
    examples = tuple(url(i) for i in range(start, N, 2))
    return Topic(
        **{"id": name, "keywords": (name,), "description": f"All about a {name}.", "examples": examples} | fields
    )


def experiment(web_path: Path, **settings: Any) -> Experiment:
    chosen: dict[str, Any] = {
        "web": web_path,
        "topics": (topic(),),
        "strategies": ("breadth_first", "best_first"),
        "page_budget": 20,
    }
    return Experiment(**chosen | settings)


def runs(settings: Experiment, web_path: Path, workers: int = 1) -> list[Run]:
    web = RecordedWeb.open(web_path)
    return list(run(CrawlSource(settings), plan(settings, web), workers=workers))


def simulated(web_path: Path, topics_file: Path, out: Path, **settings: Any) -> Simulation:
    chosen: dict[str, Any] = {
        "strategies": ["breadth_first", "best_first"],
        "page_budget": 20,
        "repeats": 2,
    }
    how = {name: settings.pop(name) for name in ("workers", "force", "progress") if name in settings}
    setup = ExperimentSetup(web=web_path, topics=TopicChoice(topics_file), **chosen | settings)
    return simulate_topics(setup, out, **{"workers": 1} | how)
