"""The options of documents and exports."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from scenthound.errors import UnknownName, UsageError, printable
from scenthound.options import Option, PathLike, ProgressLike, PythonOnly, ReplaceFile, Workers, listed, part

#: The export of simulation runs (`experiments/trec`); the others are of crawls.
RUN_KIND = "trec"
#: Exports of documents as tables, in which columns can be chosen.
COLUMN_KINDS = ("jsonl", "parquet")
#: Exports of responses; those that remain are of documents.
RECORD_KINDS = ("warc", "cdxj")
KINDS = (*COLUMN_KINDS, "wet", "markdown", *RECORD_KINDS, RUN_KIND)
#: As a quality rule: all of them.
ALL_RULES = "all"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which pages of a crawl become documents. By default all except those that ask not to be indexed.

    include_noindex: Include pages marked noindex.
    on_topic: Only pages that the relevance model finds on topic.
    min_relevance: Only pages of at least this relevance, 0 to 1.
    language: Only pages in this language, such as en (the extra language). Repeatable.
    min_words: Only pages of at least this many words.
    quality_rules: Leave out pages that fail this quality rule; all for every rule. Repeatable.
    deduplicate: Leave out near-duplicates of earlier pages.
    """

    include_noindex: bool = False
    on_topic: bool = False
    min_relevance: Annotated[float | None, Option(metavar="X", ge=0, le=1)] = None
    language: Annotated[str | Sequence[str], Option(metavar="CODE")] = ()
    min_words: Annotated[int, Option(ge=0)] = 0
    quality_rules: Annotated[
        str | Sequence[str], Option(metavar="RULE", flag="--quality-rule", shown="none: failed rules are only listed")
    ] = ()
    deduplicate: bool = False

    def check(self) -> None:
        from scenthound.corpus.language import known_languages
        from scenthound.corpus.quality import RULES

        for language in listed(self.language):
            if language.lower() not in known_languages():
                raise UnknownName.among("language", language.lower(), known_languages())
        known = [*(rule.name for rule in RULES), ALL_RULES]
        for rule in listed(self.quality_rules):
            if rule not in known:
                raise UnknownName.among("quality rule", rule, known)

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(each.lower() for each in listed(self.language))

    @property
    def selects_pages(self) -> bool:
        """Whether it selects by anything but noindex."""
        return replace(self, include_noindex=False) != Selection()

    def checked_quality(self) -> frozenset[str]:
        from scenthound.corpus.quality import RULES

        rules = listed(self.quality_rules)
        return frozenset(rule.name for rule in RULES) if ALL_RULES in rules else frozenset(rules)


@dataclass(frozen=True, kw_only=True)
class DocumentSettings:
    """What documents contain, and how many processes make them.

    html: Include the HTML of pages (jsonl, parquet).
    """

    html: bool = False
    markdown: PythonOnly[bool] = True
    workers: Workers = None


@dataclass(frozen=True, kw_only=True)
class DocumentOptions(Selection, DocumentSettings):
    """Which pages become documents, and what these contain."""


@dataclass(frozen=True)
class ExportOptions(DocumentOptions):
    """What is exported, and where to.

    crawl: A crawl folder, finished or running; for trec the folder of a run.
    to: jsonl or parquet: documents with text and metadata. markdown: a folder of Markdown files. wet: texts as WARC
        records. warc: all responses. cdxj: an index of the archive. trec: a folder with the crawls of a run as
        rankings and the relevant pages of its topics, for trec_eval and ir_measures.
    out: File or folder to write, or a URL such as s3://bucket/name. For jsonl, .gz and .zst compress, for wet and
        warc .gz.
    web: Where the recorded web of a run is (trec).
    """

    crawl: Annotated[Any, Option(metavar="DIR", is_argument=True, type=Path)]
    to: Annotated[str, Option(metavar="KIND", values=lambda: sorted(KINDS))]
    out: Annotated[PathLike, Option(metavar="PATH", type=str)]
    _: KW_ONLY
    web: Annotated[Any, Option(metavar="DIR", shown="where it was", type=Path)] = None
    force: ReplaceFile = False
    progress: PythonOnly[ProgressLike] = None

    def check(self) -> None:
        if self.to not in KINDS:
            raise UnknownName.among("kind of export", printable(self.to, 40), KINDS)
        settings = part(DocumentSettings, self)
        if self.to == RUN_KIND and (part(Selection, self) != Selection() or settings != DocumentSettings()):
            raise UsageError("A trec export has all crawls of a run; options such as --on-topic are for other exports.")
        if self.to in RECORD_KINDS and (part(Selection, self).selects_pages or settings != DocumentSettings()):
            raise UsageError(
                f"A {self.to} export has all responses as they are. Options that select or extract pages, such as "
                "--on-topic, are for jsonl, parquet, wet and markdown exports."
            )
        if self.to not in COLUMN_KINDS and (self.html or not self.markdown):
            option = "--html" if self.html else "markdown=False"
            raise UsageError(f"{option} is for jsonl and parquet exports, which have columns.")
        if self.to != RUN_KIND and self.web is not None:
            raise UsageError(f"--web is for {RUN_KIND} exports, which are of simulation runs.")
