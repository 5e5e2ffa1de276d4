"""Pages for the static server: by URL from a mapping, or by host and path from a folder.

A place that has no page is answered with None; the server makes a 404 of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from scenthound.errors import BadParameter, printable

_HTML = "text/html; charset=utf-8"
_CONTENT_TYPES = {".txt": "text/plain; charset=utf-8", ".xml": "application/xml", ".gz": "application/gzip"}
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class StaticPage:
    """An answer of any status; `headers` are those beside type and length."""

    body: bytes
    status: int = 200
    content_type: str = _HTML
    headers: tuple[tuple[str, str], ...] = ()


#: The page of a host (lower case, no port) at a path (with its query), or None if there is none.
PageOf = Callable[[str, str], StaticPage | None]


def pages_of(pages: Mapping[str, StaticPage | str | bytes]) -> PageOf:
    """Pages by URL. The URLs name no port, because it is known only when the server runs."""
    by_place = {_place(url): _as_page(url, page) for url, page in pages.items()}
    return lambda host, path: by_place.get((host, path))


def folder_pages(folder: Path) -> PageOf:
    """The files of a folder, read when they are asked for: `FOLDER/host/path`, and `index.html` where a path ends with
    a slash. Nothing outside the folder can be had."""
    root = folder.resolve()

    def page_of(host: str, path: str) -> StaticPage | None:
        path = path.partition("?")[0]
        name = f"{host}{path}index.html" if path.endswith("/") else f"{host}{path}"
        if "\0" in name:
            return None
        file = (root / name.lstrip("/")).resolve()
        if not file.is_relative_to(root) or not file.is_file():
            return None
        return StaticPage(file.read_bytes(), content_type=_content_type(file.name))

    return page_of


def at_port(url: str, port: int) -> str:
    """An http URL that names no port, leading to this one; in canonical form, which does not name port 80."""
    host, slash, path = url.removeprefix("http://").partition("/")
    return url if port == _HTTP_PORT else f"http://{host}:{port}{slash}{path}"


def _place(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None or parts.port is not None or not parts.path:
        raise BadParameter(f"Cannot serve {printable(url)!r}: write it as http://host/path, without a port.")
    return parts.hostname, url[len("http://") + len(parts.netloc) :]


def _as_page(url: str, page: StaticPage | str | bytes) -> StaticPage:
    if isinstance(page, StaticPage):
        return page
    body = page.encode() if isinstance(page, str) else page
    return StaticPage(body, content_type=_content_type(url))


def _content_type(name: str) -> str:
    return _CONTENT_TYPES.get(PurePosixPath(name).suffix, _HTML)
