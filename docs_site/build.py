"""The site, built by MkDocs from the folder of pages."""

import logging
from pathlib import Path

from docs_site.pages import ROOT, ProblemsFound, missing_in_navigation, navigation, write_pages


def build_site(out: Path, pages: Path, *, run_notebooks: bool = True) -> int:
    """Build the site in the folder `out`; the number of its pages. A warning of MkDocs is an error."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    generated = write_pages(pages, run_notebooks=run_notebooks)
    settings = str(ROOT / "mkdocs.yml")
    nav = navigation(load_config(settings, docs_dir=str(pages)).nav or [], generated)
    problems = missing_in_navigation(nav, pages)
    if problems:
        raise ProblemsFound("\n".join(problems))
    warnings = _Warnings()
    logging.getLogger("mkdocs").addHandler(warnings)
    config = load_config(settings, docs_dir=str(pages), site_dir=str(out), nav=nav, strict=True)
    try:
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
    except Abort:
        raise ProblemsFound("\n".join(warnings.messages)) from None
    finally:
        config.plugins.on_shutdown()
        logging.getLogger("mkdocs").removeHandler(warnings)
    return len(list(out.rglob("*.html"))) - 1  # Without the error page.


class _Warnings(logging.Handler):
    """Collects what MkDocs warns about."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
