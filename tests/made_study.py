"""A study whose numbers are made up, for tests of what a report makes of one."""

from math import nan
from pathlib import Path

import numpy as np

from scenthound.experiments.findings import Claim, Finding, Verdict
from scenthound.experiments.statistics import Effect
from scenthound.experiments.study.measures import ArmMeasurements, Measured
from scenthound.experiments.study.settings import ArmSettings, StudySettings
from scenthound.experiments.study.study import Study, Timing
from scenthound.experiments.study.tables import Panel, Picture, Table

CRAWLERS = {"Greedy": "best_first", "Blind": "breadth_first"}
TOPICS = ("balloons", "trains", "kites")


def made_arm(name: str = "task 1", n_places: int = 4, **more: object) -> ArmMeasurements:
    """Two crawlers, three topics: the recall of one rises to 0.6, 0.8 and 1, that of the other to half of it."""
    x = np.arange(1, n_places + 1, dtype=np.int32) * 10
    rising = np.outer([0.6, 0.8, 1.0], x / x[-1])
    values = {
        "recall": Measured(x, np.array([rising, rising / 2])),
        "rank:by=lexical": Measured(x, 100 * (1 - np.array([rising, rising / 2]) / 2), lower_is_better=True),
    }
    bounds = {"recall": Measured(x, np.array([rising / 4, np.ones_like(rising)]))}
    settings = ArmSettings(name, CRAWLERS, tuple(values), **more)
    return ArmMeasurements(
        settings=settings,
        page_budget=int(x[-1]),
        n_hosts=1,
        even_hosts=1.0,
        leaving_share=0.0,
        topics=TOPICS,
        measured=values,
        bounds=bounds,
        missed=(),
        features=(),
    )


def made_claim(says: str, verdict: Verdict, mean: float = 0.25) -> Claim:
    effect = Effect(mean, mean - 0.125, mean + 0.125, "topics", 5, 1)
    return Claim(
        says, effect, verdict, f"It is {verdict}.", "sign flips, above 0", 0.01, 0.02, nan, "sign flips, above 0", 0.02
    )


def made_finding(*verdicts: Verdict, name: str = "H1", protocol: str = "") -> Finding:
    claims = tuple(made_claim(f"claim {number}", verdict) for number, verdict in enumerate(verdicts, 1))
    return Finding(name, "Greedy > Blind", protocol, claims)


def made_picture(name: str) -> Picture:
    """One panel of bars, which is drawn in a moment."""
    return Picture(name, f"What {name} shows", (Panel("", "task 1", ("recall",), "share found", kind="bars"),))


def made_study(**more: object) -> Study:
    arm = made_arm()
    values: dict[str, object] = {
        "settings": StudySettings("pant2002", "Exploration & exploitation", pages=40, arms=(arm.settings,)),
        "web": Path("webs/school"),
        "web_fingerprint": "f1",
        "n_pages": 100,
        "n_hosts": 1,
        "topics_file": Path("topics.jsonl"),
        "arms": (arm,),
        "findings": (made_finding(Verdict.REPRODUCED), made_finding(Verdict.UNDECIDED, name="H2")),
        "pictures": (made_picture("figure-1"),),
        "tables": (Table("end", "At the end", ("crawler", "recall"), (("Greedy", "0.8"), ("Blind", "0.4")), "Means."),),
        "notes": ("1 topic is left out.",),
        "n_crawls": 6,
        "n_made": 2,
        "timings": (Timing("crawling", 1.5), Timing("judging", 0.5)),
    }
    return Study(**values | more)
