"""The protocol of a study as a settings file: what is crawled, with what, for how long, and how it is measured.

A file is TOML, read by `settings_file`. `study` names the paper whose findings are judged, `pages` the page budget,
`seeds` the random seeds, `[needs]` what a topic file must have, and each `[[arm]]` one experiment of the paper.
`presets/` has a file for each study; a copy with other values can be given in its place.

Rules
- `--pages`, `--topics-max` and `--seeds` scale a study; arms with a share of the budget or fewer topics scale with it.
- No crawl takes more than half of the web: the more of a web a crawl takes, the less it says about the order it came
  in, and one that takes it all says nothing. A smaller budget stands in for the one asked for, and a note says so.
- In a strategy `{pages}` stands for the arm's page budget, and `{many_domains}` for whether the web has more than one
  registrable domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

STUDIES = ("menczer2001", "pant2002", "wang2009", "johnson2003")

#: Which reading of a study an arm follows, where they differ.
Protocol = Literal["", "as_published", "corrected"]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a study cannot do without: so many topics that each have so many examples in the web, and words."""

    topics: int = 5
    examples: int = 6
    description: bool = False
    keywords: bool = False


@dataclass(frozen=True, slots=True)
class ArmSettings:
    """One experiment of a study. `strategies` are specs by the names that the study gives them; `tops` are the sizes n
    of the static scheme's top n, as shares of the page budget. With `halves` each crawl is made twice, from disjoint
    halves of the seeds. The other fields are those of an `Experiment`."""

    name: str
    strategies: Mapping[str, str]
    measures: tuple[str, ...]
    says: str = ""
    protocol: Protocol = ""
    tops: tuple[float, ...] = ()
    task: str = "examples"
    start: int = 10
    topics: int | None = None
    pages_share: float = 1.0
    train: int = 0
    judge: int = 0
    as_published: bool = False
    halves: bool = False
    mode: str = "sequential"
    plain: bool = False

    def top_sizes(self, page_budget: int) -> tuple[int, ...]:
        """The sizes n, rising, each once."""
        return tuple(sorted({max(1, round(share * page_budget)) for share in self.tops}))


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The genetic searches of johnson2003, and what their results are put to.

    There is a search for each of `topics`, which have at least `examples` pages in the web; its crawls start from
    `start` pages and have a share of the study's page budget. `large` and `small` are the pages that the crawls start
    from which judge the results; `unseen` topics are those that no search saw.
    """

    topics: int = 2
    examples: int = 100
    population: int = 50
    generations: int = 50
    crawls: int = 3
    start: int = 139
    pages_share: float = 1.0
    large: int = 250
    small: int = 50
    unseen: int = 10
    mode: str = "roulette"
    relevance: str = "svm"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """A whole study."""

    study: str
    title: str
    pages: int
    seeds: int = 1
    topics_max: int | None = None
    needs: Needs = field(default_factory=Needs)
    arms: tuple[ArmSettings, ...] = ()
    search: SearchSettings | None = None

    def scaled(
        self, pages: int | None = None, topics_max: int | None = None, seeds: int | None = None
    ) -> "StudySettings":
        """With other sizes; None leaves one as it is."""
        return replace(
            self, pages=pages or self.pages, topics_max=topics_max or self.topics_max, seeds=seeds or self.seeds
        )


def fitting_pages(wanted: int, n_pages: int) -> int:
    """The page budget, or half of a web that is too small for it."""
    return max(1, min(wanted, n_pages // 2))
