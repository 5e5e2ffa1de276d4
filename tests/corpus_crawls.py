"""Crawls of pages with text, for tests of corpora."""

from pathlib import Path
from typing import Any

from stored_crawls import add_page, new_crawl, response

ENGLISH = (
    "Hot air balloons rise because the air within them is warmer than the air outside, and therefore lighter. "
    "The pilot controls the height with a burner, and the direction by choosing a height where the wind is right. "
    "Races are held in many countries, and clubs teach how to fly, to land and to pack the envelope after a flight. "
)
GERMAN = (
    "Heißluftballone steigen, weil die Luft in ihrer Hülle wärmer und damit leichter ist als die Luft ringsum. "
    "Der Pilot regelt die Höhe mit dem Brenner, und die Richtung, indem er eine Höhe wählt, in der der Wind weht. "
    "In vielen Ländern gibt es Wettfahrten, und Vereine lehren, wie man fährt, landet und die Hülle verpackt. "
)


def page(text: str, title: str = "A page") -> bytes:
    paragraphs = "".join(f"<p>{each}</p>" for each in text.split("\n"))
    return f"<html><head><title>{title}</title></head><body><main>{paragraphs}</main></body></html>".encode()


def crawl_of(folder: Path, bodies: list[bytes], **settings: Any) -> Path:
    with new_crawl(folder, **settings) as store:
        store.add_urls([f"http://a.test/{number}" for number in range(len(bodies))])
        for number, body in enumerate(bodies):
            headers = ("Content-Type: text/html; charset=utf-8",)
            add_page(store, number, response(f"http://a.test/{number}", body, headers=headers))
        store.commit()
    return folder
