"""The HTML of a made-up page: head, navigation, sections of paragraphs, lists and a table, and a footer.

Words and references are given; every word is used once and every reference is one link.
"""

import itertools
from collections.abc import Iterator

N_IN_NAVIGATION = 8
N_IN_FOOTER = 5
N_RELATED = 10
_SENTENCE_WORDS = (9, 14, 7, 18, 11, 22, 6, 13)
_CLASSES = ("lead", "note wide", "text", "text indent", "")
_HEAD = """<!DOCTYPE html>
<html lang="en" prefix="og: http://ogp.me/ns#">
<head>
<meta charset="utf-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{description}">
<meta property="og:title" content="{title}">
<link rel="stylesheet" href="/static/site.css?v=12">
<link rel="icon" href="/static/icon.png">
<style>.wide{{margin:0 -2em}}.note{{border-left:3px solid #ccc;padding:.5em 1em}}table td{{padding:2px 8px}}</style>
<script>window.settings={{"page":{page},"lang":"en","track":false}};document.documentElement.className+=" js";</script>
</head>
<body class="page page-{page}" data-id="{page}">
"""


def page_html(page: int, words: list[str], references: list[str]) -> str:
    """A page that uses up the words and links to each reference."""
    return _Page(page, words, references).html()


class _Page:
    def __init__(self, page: int, words: list[str], references: list[str]) -> None:
        self._page = page
        self._words = words
        self._at = 0
        self._references = references
        self._lengths: Iterator[int] = itertools.islice(itertools.cycle(_SENTENCE_WORDS), page % 8, None)

    def html(self) -> str:
        links = self._references
        inner = len(links) - N_IN_NAVIGATION - N_IN_FOOTER - N_RELATED
        title = self._take(6).capitalize()
        parts = [
            _HEAD.format(title=title, description=self._take(15), page=self._page),
            self._navigation(links[:N_IN_NAVIGATION]),
            f'<main id="content"><article>\n<h1 class="title">{title}</h1>\n',
            *self._sections(links[N_IN_NAVIGATION : N_IN_NAVIGATION + inner]),
            "</article>\n",
            self._related(links[N_IN_NAVIGATION + inner : -N_IN_FOOTER]),
            "</main>\n",
            self._footer(links[-N_IN_FOOTER:]),
            "</body>\n</html>\n",
        ]
        return "".join(parts)

    def _take(self, n_words: int) -> str:
        self._at += n_words
        return " ".join(self._words[self._at - n_words : self._at])

    def _link(self, reference: str) -> str:
        n_words = 1 + len(reference) % 4
        return f'<a class="link link-{n_words}" href="{reference}">{self._take(n_words)}</a>'

    def _navigation(self, references: list[str]) -> str:
        items = [f'<li class="nav-item">{self._link(reference)}</li>\n' for reference in references]
        return f'<header><nav aria-label="Main"><ul class="nav">\n{"".join(items)}</ul></nav></header>\n'

    def _sections(self, references: list[str]) -> Iterator[str]:
        """Paragraphs with a link in most of them, and now and then a heading, a list or a table."""
        waiting = iter(references)
        words_kept = 6 * (N_IN_FOOTER + N_RELATED)
        for number in itertools.count():
            words_left = len(self._words) - self._at - words_kept
            reference = next(waiting, None)
            if words_left < 120 and reference is None:
                yield f"<p>{self._take(max(words_left, 0))}.</p>\n"
                return
            if number % 5 == 0:
                yield f'<h2 id="part-{number}">{self._take(4).capitalize()}</h2>\n'
            if number % 7 == 3:
                yield self._list()
            if number % 11 == 6:
                yield self._table()
            sentences = 1 + (number + self._page) % 3 if words_left > 40 * len(references) else 1
            yield self._paragraph(_CLASSES[number % 5], reference, sentences)

    def _paragraph(self, css: str, reference: str | None, sentences: int) -> str:
        text = " ".join(f"{self._take(next(self._lengths)).capitalize()}." for _ in range(sentences))
        link = f" {self._take(3).capitalize()} {self._link(reference)}, <em>{self._take(2)}</em>." if reference else ""
        return f'<p class="{css}">{text}{link}</p>\n' if css else f"<p>{text}{link}</p>\n"

    def _list(self) -> str:
        items = "".join(f"<li><b>{self._take(1)}</b> &ndash; {self._take(5)}</li>\n" for _ in range(3))
        return f'<ul class="points">\n{items}</ul>\n'

    def _table(self) -> str:
        row = "".join(f'<td data-column="{column}">{self._take(2)}</td>' for column in range(3))
        head = f"<thead><tr><th>{self._take(1)}</th></tr></thead>"
        return f'<table class="data">{head}<tbody><tr>{row}</tr></tbody></table>\n'

    def _related(self, references: list[str]) -> str:
        cards = "".join(f'<div class="card"><h3>{self._link(reference)}</h3></div>\n' for reference in references)
        return f'<aside class="related" data-count="{len(references)}">\n{cards}</aside>\n'

    def _footer(self, references: list[str]) -> str:
        links = " | ".join(self._link(reference) for reference in references)
        return f"<footer><small>{links}<br>{self._take(len(self._words) - self._at)}</small></footer>\n"
