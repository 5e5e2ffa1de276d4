"""Build the site and check its links: `python -m docs_site`."""

import argparse
import os
import sys
import time
from pathlib import Path

from docs_site.build import build_site
from docs_site.links import broken_links, broken_markdown_links
from docs_site.pages import PAGES, ROOT, ProblemsFound


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs_site", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="folder of the site (default: site)")
    parser.add_argument("--pages", type=Path, default=PAGES, help="folder of the Markdown files (default: build/docs)")
    parser.add_argument("--no-notebooks", action="store_true", help="show notebooks without running them")
    arguments = parser.parse_args()
    started = time.monotonic()
    try:
        n_pages = build_site(arguments.out.resolve(), arguments.pages, run_notebooks=not arguments.no_notebooks)
    except ProblemsFound as found:
        sys.exit(f"The site was not built:\n{found}")
    built_s = time.monotonic() - started
    problems = broken_links(arguments.out.resolve()) + broken_markdown_links(ROOT)
    if problems:
        sys.exit("\n".join(["Broken links:", *problems]))
    folder = os.path.relpath(arguments.out)
    print(f"{n_pages} pages in {folder}, built in {built_s:.0f} s; no broken links.")
    print(f"To read them: {sys.executable} -m http.server --bind 127.0.0.1 --directory {folder}")


if __name__ == "__main__":
    main()
