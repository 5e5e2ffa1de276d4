"""The four studies on real collections: the verdict on every finding, and the time of each study (estimated 2 hours).

wpschools is the collection on which settings of classifiers were chosen; the others were not used for that. The webs of
many hosts are described in `benchmarks.many_hosts`. A page
budget other than the study's own is appended to the name of the study.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks import command_parser
from benchmarks.data import collection, recorded
from benchmarks.many_hosts import DEBDOCS, MADE_UP, many_host_web
from scenthound.api.progress import show_progress
from scenthound.experiments.johnson2003.results import johnson2003_into
from scenthound.experiments.study.results import study_into
from scenthound.experiments.study.settings import read_settings
from scenthound.experiments.study.study import FinishedStudy
from scenthound.ui.reports import johnson2003, study

COLLECTIONS = ("wpschools", "nlab", DEBDOCS, MADE_UP)
#: Webs of many hosts are for studies in which hosts matter.
MANY_HOSTS = {DEBDOCS: ("menczer2001", "wang2009"), MADE_UP: ("menczer2001", "wang2009")}


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A study with its own page budget or another one."""

    study: str
    pages: int | None = None

    @property
    def name(self) -> str:
        return self.study if self.pages is None else f"{self.study}-{self.pages}"


#: The usual budgets cover much of these small webs; shorter ones show what is found first.
STUDIES = (
    StudyChoice("menczer2001"),
    StudyChoice("pant2002"),
    StudyChoice("pant2002", 500),
    StudyChoice("wang2009"),
    StudyChoice("wang2009", 500),
    StudyChoice("johnson2003"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("studies", __doc__)
    parser.add_argument("out", type=Path, nargs="?", help="folder to keep the studies and the crawls, which are reused")
    parser.add_argument("collections", nargs="*", metavar="collection", help=f"default: {' '.join(COLLECTIONS)}")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        for name in options.collections or COLLECTIONS:
            with _web(name) as found:
                if found is None:
                    continue
                web, topics = found
                for choice in STUDIES:
                    if choice.study in MANY_HOSTS.get(name, (choice.study,)):
                        _study(name, choice, web, topics, options.out or Path(temporary))


@contextmanager
def _web(name: str) -> Iterator[tuple[Path, Path] | None]:
    """A temporary recorded web and its topic file; None if the collection is absent."""
    if name in MANY_HOSTS:
        with many_host_web(name) as made:
            yield made
        return
    pages = collection(name)
    if pages is None:
        yield None
        return
    with recorded(pages) as web:
        yield web, pages / "topics.jsonl"


def _study(name: str, choice: StudyChoice, web: Path, topics: Path, folder: Path) -> None:
    settings = read_settings(choice.study).scaled(pages=choice.pages)
    out = folder / name / choice.name
    started_s = perf_counter()
    done: FinishedStudy
    with show_progress(f"{name}: {choice.name}") as progress:
        if choice.study == "johnson2003":
            done = johnson2003_into(out, settings, web, topics, render=johnson2003.RENDERER, progress=progress)
        else:
            cache = folder / "crawls"
            done = study_into(out, settings, web, topics, cache=cache, render=study.RENDERER, progress=progress)
    crawls = f"{done.n_made:,} of {done.n_crawls:,} crawls not cached"
    print(f"  {name}, {choice.name}: {perf_counter() - started_s:,.0f} s, {crawls}")
    for note in done.notes:
        print(f"    {note}")
    for finding in done.findings:
        protocol = f" ({finding.protocol})" if finding.protocol else ""
        print(f"    {finding.name:4}{finding.verdict.value:21}{finding.says}{protocol}", flush=True)
        print(f"        {finding.why}", flush=True)


if __name__ == "__main__":
    main()
