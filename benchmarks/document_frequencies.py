"""Count in how many pages of some collections each stem occurs, for the relevance model `rocchio`.

    python -m benchmarks.document_frequencies src/scenthound/relevance/document_frequencies.txt.gz WEB WEB ...

Each WEB is a recorded web. All webs count the same, as if each had 10,000 pages. Stems that occur in fewer than
`MIN_PAGES` of them are left out. The file of the package was made from

- wpschools: the Wikipedia selection for schools of 2007 (GFDL),
- nlab: a wiki of mathematics and physics (free with acknowledgement of ncatlab.org),
- mdn: the web developer documentation of Mozilla of 2021 (CC BY-SA 2.5),
- debdocs: HTML documentation in Debian packages, under the free licences of the packages.

Only counts are stored, no text.
"""

import argparse
import gzip
from collections import Counter
from pathlib import Path

import numpy as np

from scenthound.store.recorded_web import RecordedWeb

PAGES_PER_WEB = 10_000
MIN_PAGES = 3


def counts(webs: list[Path]) -> Counter[str]:
    """The pages with each stem, if each web had `PAGES_PER_WEB`."""
    total: Counter[str] = Counter()
    for path in webs:
        web = RecordedWeb.open(path)
        scale = PAGES_PER_WEB / web.n_pages
        for word in np.flatnonzero(web.document_frequency >= MIN_PAGES).tolist():
            total[web.vocabulary[word]] += round(scale * int(web.document_frequency[word]))
    return total


def write(file: Path, webs: list[Path]) -> int:
    """Write the counts of some webs; returns how many stems there are."""
    stems = sorted((stem, count) for stem, count in counts(webs).items() if count >= MIN_PAGES and stem)
    lines = [str(PAGES_PER_WEB * len(webs)), *(f"{stem} {count}" for stem, count in stems)]
    file.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", 9, mtime=0))
    return len(stems)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("webs", type=Path, nargs="+")
    options = parser.parse_args()
    print(f"{write(options.file, options.webs):,} stems in {options.file}")


if __name__ == "__main__":
    main()
