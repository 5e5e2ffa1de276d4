"""SURT keys of URLs, as the Wayback machine and pywb make them: `http://www.Example.org/B/?y=2&x=1` has the key
`org,example)/b?x=1&y=2`. Replay programs must agree on the keys, so their oddities are reproduced: escapes are decoded
until none is left, and session IDs of a few well-known kinds are removed.
"""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_WWW = re.compile(r"^www\d*\.")
_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
#: /(S(4hqa0555fwsecu455xqckv45))/page.aspx, with or without the letter
_SESSION_IN_PATH = re.compile(r"^(.*/)\((?:(?:[a-z]\([0-9a-z]{24}\))+|[0-9a-z]{24})\)/([^?]+\.aspx.*)$")
#: The last one of each kind is removed, with the ampersand after it.
_SESSIONS_IN_QUERY = tuple(
    re.compile(rf"^(.*){kind}(?:&(.*))?$")
    for kind in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)


def surt(url: str) -> str:
    """The key of a canonical URL."""
    parts = urlsplit(url)
    host = _WWW.sub("", (parts.hostname or "").strip("."))
    names = [host] if ":" in host else host.split(".")
    port = f":{parts.port}" if parts.port not in (None, _DEFAULT_PORTS.get(parts.scheme)) else ""
    query = _query_key(parts.query)
    return f"{','.join(reversed(names))}{port}){_path_key(parts.path)}{'?' if query else ''}{query}"


def _path_key(path: str) -> str:
    kept: list[str] = []
    *folders, last = _normalized(path).split("/")[1:] or [""]
    for name in (*(folder for folder in folders if folder), last):
        if name == ".." and kept:
            kept.pop()
        elif name != ".":
            kept.append(name)
    key = f"/{'/'.join(kept)}".lower()
    session = _SESSION_IN_PATH.match(key)
    if session is not None:
        key = session[1] + session[2]
    return key.removesuffix("/") or "/"


def _query_key(query: str) -> str:
    key = _normalized(query).lower()
    for kind in _SESSIONS_IN_QUERY:
        session = kind.match(key)
        if session is not None:
            key = session[1] + (session[2] or "")
    return "&".join(sorted(key.split("&"), key=lambda argument: argument.split("=", 1)))


def _normalized(text: str) -> str:
    """All escapes decoded, then escaped once where needed."""
    content = text.encode()
    while (plain := unquote_to_bytes(content)) != content:
        content = plain
    return quote_from_bytes(content, _UNESCAPED)
