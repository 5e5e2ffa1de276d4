"""How pages say that there is no page, in the larger languages of the web. Data, and the form it is compared in.

Rules
- Text is compared in plain form: small letters without accents, words parted by single spaces, nothing else.
- `FILLERS` may stand before and after the phrase. What is left must be the phrase and nothing more.
- Languages that do not part words are looked through for their phrases instead.
"""

import re
import unicodedata

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
