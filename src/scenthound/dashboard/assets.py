"""The files of the dashboard's pages: read once, and given out by their names.

Rules
- Only what lay in the package when the dashboard started is given out. A name from a request is looked up among these,
  and never becomes a path.
- They may be kept by a browser, which asks each time whether they are still the same (ETag).
"""

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
SHELL = "index.html"
#: Ours go before those of reports, of which there may be some of the same name.
_PLACES = (("scenthound.dashboard", "assets"), ("scenthound.report.page", "assets"))


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    tag: str


class Assets:
    """All files by their names, `views/crawl.js` for one; and the page that shows everything."""

    def __init__(self) -> None:
        self._named: dict[str, Asset] = {}
        for package, folder in _PLACES:
            for name, content in _contents(files(package).joinpath(folder)):
                media_type = next((kind for ending, kind in _TYPES.items() if name.endswith(ending)), None)
                if media_type is not None:
                    tag = hashlib.sha256(content).hexdigest()[:20]
                    self._named.setdefault(name, Asset(content, media_type, f'"{tag}"'))
        self.shell = files(_PLACES[0][0]).joinpath("assets", SHELL).read_bytes()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._named)

    def response(self, name: str, request: Request) -> Response | None:
        """None if there is no such file."""
        asset = self._named.get(name)
        if asset is None:
            return None
        headers = {"etag": asset.tag, "cache-control": "no-cache"}
        if asset.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.content, media_type=asset.media_type, headers=headers)


def _contents(folder: Traversable, before: str = "") -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _contents(entry, f"{before}{entry.name}/")
        else:
            found.append((before + entry.name, entry.read_bytes()))
    return found
