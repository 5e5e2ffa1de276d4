"""The four studies on real collections: verdicts on every finding, side by side, and the time that each study took.

wpschools is the collection that settings of judges were chosen on; the others had no part in that. A page budget stands
behind the name of a study if it is not the study's own. `python -m benchmarks.studies FOLDER` leaves the folders of all
studies there, and finds the crawls of an earlier run again; names of collections behind it choose among them.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.data import collection, recorded
from scenthound.cli.terminal import show_progress
from scenthound.experiments.johnson2003.results import johnson2003_into
from scenthound.experiments.study.results import study_into
from scenthound.experiments.study.settings import read_settings
from scenthound.experiments.study.study import FinishedStudy
from scenthound.ui.reports import johnson2003, study

COLLECTIONS = ("wpschools", "nlab", "mdn")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A study, at its own page budget or at another."""

    study: str
    pages: int | None = None

    @property
    def name(self) -> str:
        return self.study if self.pages is None else f"{self.study}-{self.pages}"


#: The budgets of pant2002 are a large part of so small webs; a shorter one shows what is found first.
STUDIES = (
    Wanted("menczer2001"),
    Wanted("pant2002"),
    Wanted("pant2002", 500),
    Wanted("wang2009"),
    Wanted("wang2009", 500),
    Wanted("johnson2003"),
)


def main(folder: Path | None = None, names: tuple[str, ...] = COLLECTIONS) -> None:
    """Print the verdicts; with a folder, leave everything there."""
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as place:
        for name in names:
            pages = collection(name)
            if pages is not None:
                with recorded(pages) as web:
                    for wanted in STUDIES:
                        _study(name, wanted, web, pages / "topics.jsonl", folder or Path(place))


def _study(name: str, wanted: Wanted, web: Path, topics: Path, folder: Path) -> None:
    settings = read_settings(wanted.study).scaled(pages=wanted.pages)
    out = folder / name / wanted.name
    began_s = perf_counter()
    done: FinishedStudy
    with show_progress(f"{name}: {wanted.name}") as progress:
        if wanted.study == "johnson2003":
            done = johnson2003_into(out, settings, web, topics, render=johnson2003.RENDERER, progress=progress)
        else:
            cache = folder / "crawls"
            done = study_into(out, settings, web, topics, cache=cache, render=study.RENDERER, progress=progress)
    made = f"{done.n_made:,} of {done.n_crawls:,} crawls made"
    print(f"  {name}, {wanted.name}: {perf_counter() - began_s:,.0f} s, {made}")
    for note in done.notes:
        print(f"    {note}")
    for finding in done.findings:
        protocol = f" ({finding.protocol})" if finding.protocol else ""
        print(f"    {finding.name:4}{finding.verdict.value:15}{finding.says}{protocol}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None, tuple(sys.argv[2:]) or COLLECTIONS)
