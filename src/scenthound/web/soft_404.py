"""Soft 404s: error pages with status 200.

Rules
- By wording: a part of the title, or the first heading, says that a page was not found and nothing else (`PHRASES`),
  and the page is short. "Command not found" or "How to handle 404 errors" say more.
- A page whose URL is about errors (/Status/404, /page-not-found) is an article about them. This is the URL requested,
  before redirects.
- By example: fingerprints of bodies with a real 404 are stored, a few per host, and near-duplicates of them on the same
  host are soft 404s. The root of a host never is: some hosts return their front page for missing pages.
- Memory: `EXAMPLES_PER_HOST` fingerprints for each of `MAX_HOSTS` hosts; the least recently used host is dropped.
"""

import re
import unicodedata

from scenthound.model import IntArray
from scenthound.saved_state import State, saved_attributes
from scenthound.web.near_duplicates import fingerprint_of

# "Not found" phrases in the larger languages of the web. Text is compared in plain form: lower case without accents,
# words separated by single spaces. `FILLERS` may precede and follow a phrase. In languages without spaces between
# words, a phrase may be any part of the text.

_WORDS = re.compile(r"[^\W_]+")


#: Every phrase in ASCII letters contains one of these, which are fast to search for.
HINTS = re.compile(
    "404|410|found|such|exist|esist|avail|remov|nothing|find|gefunden|vorhanden|verfug|gevonden|worden|bestaat|hitt|finns|fund|finnes"
    "|funnet|fant|loy|trouv|encontr|encuentr|dispon|trov|trob|gasit|znal|istnieje|nalez|nenas|najd|talal|bulun|ditem|thay"
)


def plain(text: str) -> str:
    """A text in the form in which phrases are compared."""
    if text.isascii():
        return " ".join(_WORDS.findall(text.lower()))
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_WORDS.findall("".join(char for char in letters if not unicodedata.combining(char))))


_NOUNS = (
    *("page", "web page", "webpage", "file", "content", "resource", "document", "url", "article", "product", "item"),
    *("site", "website", "post", "topic", "thread", "project", "profile", "file or directory", "object"),
)
_ENGLISH = (
    *("{} not found", "{} was not found", "{} is not found", "{} cannot be found", "{} can not be found"),
    *("{} can t be found", "{} could not be found", "{} couldn t be found", "{} does not exist", "{} doesn t exist"),
    *("{} no longer exists", "{} not available", "{} is not available", "{} isn t available"),
    *("{} no longer available", "{} is no longer available", "{} has been removed"),
    *("no such {}", "no {} found", "cannot find {}"),
)
_OTHERS = (
    # German, Dutch, Swedish, Danish, Norwegian, Finnish
    *("Seite nicht gefunden", "Seite wurde nicht gefunden", "Seite konnte nicht gefunden werden", "nicht gefunden"),
    *("Seite existiert nicht", "Seite nicht vorhanden", "Seite nicht verfügbar", "Datei nicht gefunden"),
    *("Pagina niet gevonden", "niet gevonden", "Pagina bestaat niet", "Pagina kan niet worden gevonden"),
    *("Sidan hittades inte", "Sidan kunde inte hittas", "Sidan finns inte", "Sidan kan inte hittas"),
    *("Siden blev ikke fundet", "Siden findes ikke", "Siden kunne ikke findes", "Side ikke fundet"),
    *("Siden ble ikke funnet", "Siden finnes ikke", "Fant ikke siden", "Sivua ei löydy", "Sivua ei löytynyt"),
    # French, Spanish, Portuguese, Italian, Catalan, Romanian
    *("Page non trouvée", "Page introuvable", "Page inexistante", "Page n existe pas", "non trouvé", "non trouvée"),
    *("Page n a pas été trouvée", "Document introuvable", "Fichier introuvable", "Contenu introuvable"),
    *("Página no encontrada", "no encontrada", "no encontrado", "Página no existe", "no se encontró la página"),
    *("no se ha encontrado la página", "no se encuentra la página", "Página no disponible"),
    *("Página não encontrada", "não encontrada", "não encontrado", "Página não existe", "Página inexistente"),
    *("Pagina non trovata", "non trovata", "non trovato", "Pagina inesistente", "Pagina non esiste"),
    *("Pàgina no trobada", "no s ha trobat la pàgina", "Pagina nu a fost găsită", "Pagina nu există"),
    # Polish, Czech, Slovak, Hungarian, Turkish, Greek, Indonesian, Vietnamese
    *("Nie znaleziono strony", "Nie znaleziono", "Strona nie znaleziona", "Strona nie istnieje"),
    *("Strona nie została znaleziona", "Stránka nenalezena", "Stránka nebyla nalezena", "Stránka neexistuje"),
    *("Stránka sa nenašla", "Stránka nebola nájdená", "oldal nem található", "Sayfa bulunamad\u0131"),
    *("Σελίδα δεν βρέθηκε", "Halaman tidak ditemukan", "Không tìm thấy trang"),
    # Russian, Ukrainian, Bulgarian, Serbian
    *("Страница не найдена", "Страница не существует", "Страницы не существует", "не найдено", "не найдена"),
    *("Сторінку не знайдено", "Сторінка не знайдена", "Страницата не \u0435 намерена", "Страница није пронађена"),
    # Arabic, Persian, Hebrew, Hindi
    *("الصفحة غير موجودة", "لم يتم العثور على الصفحة", "صفحه یافت نشد", "صفحه پیدا نشد"),
    *("הדף לא נמצא", "העמוד לא נמצא"),
    *("पृष्ठ नहीं मिला", "पेज नहीं मिला"),
)
PHRASES = frozenset(
    (
        *("not found", "nothing found", "nothing was found", "nothing here"),
        *(template.format(thing) for template in _ENGLISH for thing in _NOUNS),
        *map(plain, _OTHERS),
    )
)
#: Japanese, Chinese, Korean, Thai: phrases that may be part of a title.
PARTS = tuple(
    map(
        plain,
        (
            *("ページが見つかりません", "ページは見つかりません", "ページが存在しません", "ページは存在しません"),
            *("页面不存在", "网页不存在", "页面未找到", "页面没有找到", "找不到页面", "找不到网页", "页面找不到"),
            *("頁面不存在", "網頁不存在", "找不到頁面", "找不到網頁", "您访问的页面"),
            *("페이지를 찾을 수 없습니다", "페이지가 존재하지 않습니다", "ไม่พบหน้า"),
        ),
    )
)
CODES = frozenset({"404", "410"})
FILLERS = CODES | frozenset(
    plain(
        "error http https status code oops ooops whoops uh oh ups sorry the this that requested your our we a an "
        "fehler erreur errore erro ошибка помилка błąd chyba fel fejl feil hata virhe die diese la cette el esta "
        "questa o az η de désolé leider hoppla entschuldigung"
    ).split()
)


#: Stop words included; two bigrams of a script without spaces count as one word. Real error pages include the menus of
#: their sites.
MAX_WORDS = 400
EXAMPLES_PER_HOST = 4
MAX_HOSTS = 50_000

# Fewer than for near-duplicates, because most error pages are short.
_LEAST_WORDS = 10
_MAX_DISTANCE = 3
_TITLE_CHARACTERS = 300
_SEPARATORS = re.compile(r"[|\u2013\u2014·•»«!?.]+|\s-+\s|^-+|-+$")
_WHICH_PAGE = re.compile(r" (?:that )?you (?:(?:requested|want|need)|(?:are|were|re) (?:looking|searching) for)\b")
_ABOUT_ERRORS = re.compile(r"404|410|not[-_+ ]?found|error", re.IGNORECASE)


def is_soft_404(title: str, n_words: int, url: str, heading: str = "", n_unspaced: int = 0) -> bool:
    """Whether the page requested at `url` says by its title or heading that it was not found. `n_unspaced` of its words
    are bigrams of a script without spaces."""
    if n_words - n_unspaced // 2 > MAX_WORDS or not (_says_not_found(title) or _says_not_found(heading)):
        return False
    return not _ABOUT_ERRORS.search(url.partition("://")[2].partition("/")[2])


def error_fingerprint(words: IntArray) -> int | None:
    """The fingerprint of an error page; None if it has hardly any words."""
    return fingerprint_of(words, _LEAST_WORDS)


class Soft404s:
    """Fingerprints of the error pages of hosts, learned from pages with status 404 or 410."""

    def __init__(self) -> None:
        self._examples: dict[str, tuple[int, ...]] = {}

    def state(self) -> State:
        """A checkpoint for `restore`. The order of hosts counts."""
        return saved_attributes(self, ("_examples",))

    def restore(self, state: State) -> None:
        """Continue from a checkpoint."""
        hosts, examples = state["examples"]
        self._examples = {host: tuple(known) for host, known in zip(hosts, examples, strict=True)}

    def needs_example(self, host: str) -> bool:
        """Whether another error page of the host should be parsed."""
        return len(self._examples.get(host, ())) < EXAMPLES_PER_HOST

    def learn(self, host: str, fingerprint: int) -> None:
        """Store the `error_fingerprint` of a page with status 404 or 410."""
        if self._is_near(host, fingerprint):
            return
        self._examples[host] = (*self._examples.pop(host, ()), fingerprint)[-EXAMPLES_PER_HOST:]
        if len(self._examples) > MAX_HOSTS:
            del self._examples[next(iter(self._examples))]

    def is_error_page(self, host: str, words: IntArray, url: str) -> bool:
        """Whether a page with status 200 is like an error page of its host."""
        is_root = url.endswith("/") and url.count("/") == 3
        if host not in self._examples or is_root:
            return False
        fingerprint = error_fingerprint(words)
        return fingerprint is not None and self._is_near(host, fingerprint)

    def _is_near(self, host: str, fingerprint: int) -> bool:
        examples = self._examples.get(host, ())
        return any((fingerprint ^ example).bit_count() <= _MAX_DISTANCE for example in examples)


def _says_not_found(text: str) -> bool:
    if text.isascii() and not HINTS.search(text.lower()):
        return False
    parts = [part for part in map(plain, _SEPARATORS.split(text[:_TITLE_CHARACTERS])) if part]
    # A bare number counts at the beginning only.
    if parts and parts[0] in CODES:
        return True
    return any(_is_phrase(part) for part in parts)


def _is_phrase(part: str) -> bool:
    words = _WHICH_PAGE.sub("", part).split()
    if not CODES.isdisjoint(words) and FILLERS.issuperset(words) and len(words) > 1:
        return True
    while words and words[-1] in FILLERS:
        words.pop()
    # Fillers may be part of a phrase, so each is tried as its first word.
    for start, word in enumerate(words):
        if " ".join(words[start:]) in PHRASES:
            return True
        if word not in FILLERS:
            break
    return any(phrase in part for phrase in PARTS)
