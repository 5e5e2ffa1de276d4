"""Pages that come with status 200 and say that there is no page.

Rules
- By wording: a part of the title, or the first heading, says nothing but that a page was not found (`not_found_words`),
  and the page is short. "Command not found" or "How to handle 404 errors" say more.
- A page that was asked for by an address that speaks of it (/Status/404, /page-not-found) is what it should be: an
  article about such pages. So the address to hand in is the one asked for, before any redirect.
- By example: bodies that came with a true 404 are remembered by fingerprint, a few per host, and pages of the host that
  are near-duplicates of one are such pages too, whatever the status. The root of a host is never taken for one: some
  hosts show their front page for whatever they do not have.
- Memory: `EXAMPLES_PER_HOST` fingerprints for each of `MOST_HOSTS` hosts, the one longest not met forgotten first.
"""

import re
import unicodedata

from scenthound.model import IntArray
from scenthound.web.near_duplicates import fingerprint_of

# How pages say that there is no page, in the larger languages of the web. Data, and the form it is compared in.
#
# Rules
# - Text is compared in plain form: small letters without accents, words parted by single spaces, nothing else.
# - `FILLERS` may stand before and after the phrase. What is left must be the phrase and nothing more.
# - Languages that do not part words are looked through for their phrases instead.

_WORDS = re.compile(r"[^\W_]+")


#: Every phrase written in ASCII letters alone has one of these in it, which are quick to look for.
TELLING = re.compile(
    "404|410|found|such|exist|esist|avail|remov|nothing|find|gefunden|vorhanden|verfug|gevonden|worden|bestaat|hitt|finns|fund|finnes"
    "|funnet|fant|loy|trouv|encontr|encuentr|dispon|trov|trob|gasit|znal|istnieje|nalez|nenas|najd|talal|bulun|ditem|thay"
)


def plain(text: str) -> str:
    """A text in the form that phrases are compared in."""
    if text.isascii():
        return " ".join(_WORDS.findall(text.lower()))
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_WORDS.findall("".join(sign for sign in letters if not unicodedata.combining(sign))))


_THINGS = (
    *("page", "web page", "webpage", "file", "content", "resource", "document", "url", "article", "product", "item"),
    *("site", "website", "post", "topic", "thread", "project", "profile", "file or directory", "object"),
)
_ENGLISH = (
    *("{} not found", "{} was not found", "{} is not found", "{} cannot be found", "{} can not be found"),
    *("{} can t be found", "{} could not be found", "{} couldn t be found", "{} does not exist", "{} doesn t exist"),
    *("{} no longer exists", "{} not available", "{} is not available", "{} isn t available"),
    *(
        "{} no longer available",
        "{} is no longer available",
        "{} has been removed",
        "no such {}",
        "no {} found",
        "cannot find {}",
    ),
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
        *(template.format(thing) for template in _ENGLISH for thing in _THINGS),
        *map(plain, _OTHERS),
    )
)
#: Japanese, Chinese, Korean, Thai: part of a title is enough.
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
    map(
        plain,
        (
            *("error", "http", "https", "status", "code", "oops", "ooops", "whoops", "uh", "oh", "ups", "sorry"),
            *("the", "this", "that", "requested", "your", "our", "we", "a", "an", "fehler", "erreur", "errore", "erro"),
            *(
                "ошибка",
                "помилка",
                "błąd",
                "chyba",
                "fel",
                "fejl",
                "feil",
                "hata",
                "virhe",
                "die",
                "diese",
                "la",
                "cette",
            ),
            *("el", "esta", "questa", "o", "az", "η", "de", "désolé", "leider", "hoppla", "entschuldigung"),
        ),
    )
)


#: Stop words counted. Error pages of real sites have their menus around them.
MOST_WORDS = 400
EXAMPLES_PER_HOST = 4
MOST_HOSTS = 50_000

# Shorter than for near-duplicates among pages: most error pages are, and the example is known to be one.
_LEAST_WORDS = 10
_MAX_DISTANCE = 3
_TITLE_CHARACTERS = 300
_SEPARATORS = re.compile(r"[|\u2013\u2014·•»«!?.]+|\s-+\s|^-+|-+$")
_WHICH_PAGE = re.compile(r" (?:that )?you (?:(?:requested|want|need)|(?:are|were|re) (?:looking|searching) for)\b")
_SPEAKING = re.compile(r"404|410|not[-_+ ]?found|error", re.IGNORECASE)


def is_soft_404(title: str, n_words: int, url: str, heading: str = "") -> bool:
    """Whether a page that was asked for at `url` says by its title or heading that it is none."""
    if n_words > MOST_WORDS or not (_says_not_found(title) or _says_not_found(heading)):
        return False
    return not _SPEAKING.search(url.partition("://")[2].partition("/")[2])


def error_fingerprint(words: IntArray) -> int | None:
    """What an error page is remembered by; None if it has hardly any words."""
    return fingerprint_of(words, _LEAST_WORDS)


class Soft404s:
    """What the error pages of hosts look like, learned from those that came with their true status."""

    def __init__(self) -> None:
        self._examples: dict[str, tuple[int, ...]] = {}

    def wants_example(self, host: str) -> bool:
        """Whether another error page of the host is worth parsing."""
        return len(self._examples.get(host, ())) < EXAMPLES_PER_HOST

    def learn(self, host: str, fingerprint: int) -> None:
        """Remember a page that came with status 404 or 410, by its `error_fingerprint`."""
        if self._is_near(host, fingerprint):
            return
        self._examples[host] = (*self._examples.pop(host, ()), fingerprint)[-EXAMPLES_PER_HOST:]
        if len(self._examples) > MOST_HOSTS:
            del self._examples[next(iter(self._examples))]

    def recognises(self, host: str, words: IntArray, url: str) -> bool:
        """Whether a page that came with status 200 looks like an error page of its host."""
        if host not in self._examples or _is_root(url):
            return False
        fingerprint = error_fingerprint(words)
        return fingerprint is not None and self._is_near(host, fingerprint)

    def _is_near(self, host: str, fingerprint: int) -> bool:
        examples = self._examples.get(host, ())
        return any((fingerprint ^ example).bit_count() <= _MAX_DISTANCE for example in examples)


def _is_root(url: str) -> bool:
    return url.endswith("/") and url.count("/") == 3


def _says_not_found(text: str) -> bool:
    if text.isascii() and not TELLING.search(text.lower()):
        return False
    parts = [part for part in map(plain, _SEPARATORS.split(text[:_TITLE_CHARACTERS])) if part]
    # A bare number may be anything but for the beginning.
    if parts and parts[0] in CODES:
        return True
    return any(_is_phrase(part) for part in parts)


def _is_phrase(part: str) -> bool:
    words = _WHICH_PAGE.sub("", part).split()
    if not CODES.isdisjoint(words) and FILLERS.issuperset(words) and len(words) > 1:
        return True
    while words and words[-1] in FILLERS:
        words.pop()
    # Fillers may be part of the phrase too, so each is tried as its beginning.
    for start, word in enumerate(words):
        if " ".join(words[start:]) in PHRASES:
            return True
        if word not in FILLERS:
            break
    return any(phrase in part for phrase in PARTS)
