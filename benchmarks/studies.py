"""The four studies on real and made-up collections: the verdict on every finding, and the time of each study (estimated
2 hours).

wpschools is the collection on which settings of classifiers were chosen; the others were not used for that. The webs of
many hosts are described in `benchmarks.many_hosts`. A page budget other than the study's own is appended to the name of
the study. `--tables` prints the results in a folder as the tables of docs/results.md.
"""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import command_parser
from benchmarks.data import collection, recorded
from benchmarks.many_hosts import DEBDOCS, MADE_UP, many_host_web
from scenthound.api.progress import show_progress
from scenthound.experiments.study.results import ABOUT_FILE, FINDINGS_FILE, study_into
from scenthound.experiments.study.settings import read_settings
from scenthound.ui.reports.study import RENDERER

COLLECTIONS = ("wpschools", "nlab", DEBDOCS, MADE_UP)


@dataclass(frozen=True, slots=True)
class StudyChoice:
    """A study with its own page budget or another one."""

    study: str
    pages: int | None = None

    @property
    def name(self) -> str:
        return self.study if self.pages is None else f"{self.study}-{self.pages}"


#: The page budgets of wang2009 and johnson2003 cover most of what can be reached in these webs; smaller ones leave a
#: choice.
STUDIES = (
    StudyChoice("menczer2001"),
    StudyChoice("pant2002"),
    StudyChoice("pant2002", 500),
    StudyChoice("wang2009"),
    StudyChoice("wang2009", 1000),
    StudyChoice("johnson2003", 1000),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = command_parser("studies", __doc__)
    parser.add_argument("out", type=Path, nargs="?", help="folder to keep the studies and the crawls, which are reused")
    names = [choice.name for choice in STUDIES]
    parser.add_argument("--collection", action="append", choices=COLLECTIONS, help="repeatable; default: all")
    parser.add_argument("--study", action="append", choices=names, help="repeatable; default: all")
    parser.add_argument("--tables", action="store_true", help="only print the results that are in the folder")
    options = parser.parse_args(arguments)
    if options.tables:
        if options.out is None or not options.out.is_dir():
            parser.error("--tables needs the folder of the studies")
        print("\n".join(markdown(options.out)))
        return
    chosen = [choice for choice in STUDIES if choice.name in (options.study or names)]
    with tempfile.TemporaryDirectory(prefix="scenthound-bench-") as temporary:
        for name in options.collection or COLLECTIONS:
            with _web(name) as found:
                if found is None:
                    continue
                web, topics = found
                for choice in chosen:
                    _study(name, choice, web, topics, options.out or Path(temporary))


@contextmanager
def _web(name: str) -> Iterator[tuple[Path, Path] | None]:
    """A temporary recorded web and its topic file; None if the collection is absent."""
    if name in (DEBDOCS, MADE_UP):
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
    cache = folder / "crawls" if settings.search is None else None
    with show_progress(f"{name}: {choice.name}") as progress:
        done = study_into(out, settings, web, topics, cache=cache, render=RENDERER, progress=progress)
    crawls = f"{done.n_made:,} of {done.n_crawls:,} crawls not cached"
    print(f"  {name}, {choice.name}: {perf_counter() - started_s:,.0f} s, {crawls}")
    for note in done.notes:
        print(f"    {note}")
    for finding in done.findings:
        protocol = f" ({finding.protocol})" if finding.protocol else ""
        print(f"    {finding.name:4}{finding.verdict.value:21}{finding.says}{protocol}", flush=True)
        print(f"        {finding.why}", flush=True)


def markdown(folder: Path) -> Iterator[str]:
    """The results in a folder: verdicts by collection, then what decides each of them, and the time of each study."""
    found = {
        (name, choice.name): folder / name / choice.name
        for name in COLLECTIONS
        for choice in STUDIES
        if (folder / name / choice.name / FINDINGS_FILE).exists()
    }
    names = list(dict.fromkeys(name for name, _ in found))
    findings = {key: _findings(path) for key, path in found.items()}
    yield from _overview(names, findings)
    for (name, study_name), by_key in findings.items():
        yield from ("", f"### {study_name} on {name}", "")
        yield _row("finding", "protocol", "verdict", "effect", "95 % interval", "what decides")
        yield _row(*["---"] * 6)
        for (finding, protocol), values in by_key.items():
            yield _row(finding, protocol, values["verdict"], *_effect(values), _reason(values))
    yield from ("", _row("time on two cores", *names), _row(*["---"] * (len(names) + 1)))
    for choice in STUDIES:
        times = [_seconds(found[name, choice.name]) if (name, choice.name) in found else "" for name in names]
        yield _row(choice.name, *times)


Findings = dict[tuple[str, str], dict[str, Any]]


def _findings(path: Path) -> Findings:
    """By name and protocol."""
    values = json.loads((path / FINDINGS_FILE).read_text())["findings"]
    return {(each["name"], each["protocol"]): each for each in values}


def _overview(names: Sequence[str], findings: dict[tuple[str, str], Findings]) -> Iterator[str]:
    """Verdicts on every finding by collection, with the number of claims that are reproduced."""
    yield _row("study", "finding", "says", "protocol", *names)
    yield _row(*["---"] * (len(names) + 4))
    for choice in STUDIES:
        of_study = {name: findings.get((name, choice.name), {}) for name in names}
        rows = {key: values["says"] for by_key in of_study.values() for key, values in by_key.items()}
        for (finding, protocol), says in sorted(rows.items(), key=lambda row: int(row[0][0][1:])):
            verdicts = [_verdict(of_study[name].get((finding, protocol))) for name in names]
            yield _row(choice.name, finding, says, protocol, *verdicts)


def _verdict(finding: dict[str, Any] | None) -> str:
    if finding is None:
        return ""
    verdicts = [claim["verdict"] for claim in finding["claims"]]
    return f"{finding['verdict']} ({verdicts.count('reproduced')} of {len(verdicts)})"


def _effect(finding: dict[str, Any]) -> tuple[str, str]:
    """The effect and the interval of the claim that decides."""
    deciding = next((claim for claim in finding["claims"] if claim["verdict"] == finding["verdict"]), None)
    effect = deciding["effect"] if deciding else None
    if effect is None or effect["mean"] is None:
        return "", ""
    return f"{effect['mean']:+.3g}", f"{effect['low']:+.3g} to {effect['high']:+.3g}"


def _reason(finding: dict[str, Any]) -> str:
    """Without the remark, which is the same for several findings."""
    reason: str = finding["why"]
    return reason.removesuffix(finding["remark"]).strip()


def _seconds(path: Path) -> str:
    about = json.loads((path / ABOUT_FILE).read_text())
    crawls, seconds = about["crawls"], sum(timing["seconds"] for timing in about["timings"])
    return f"{seconds:,.0f} s{' *' if crawls['kept'] else ''}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
