"""What is sent while a crawl is watched."""

from dataclasses import dataclass

from scenthound.dashboard.answers.crawls import Crawl, Curves
from scenthound.dashboard.answers.pages import TakenPage


@dataclass(frozen=True, slots=True)
class Live:
    """What is sent while a crawl is watched: how it stands, the curve's new points and the latest pages."""

    crawl: Crawl
    new: Curves
    latest: tuple[TakenPage, ...]
