"""Paths, and URLs of file systems that fsspec knows, such as `s3://bucket/name`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from scenthound.errors import MissingExtra, UsageError, printable

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
#: Object stores have no folders. What to install for those that are asked for most.
OBJECT_STORES = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}
#: User names, passwords and keys in a URL; a password may have a slash.
_CREDENTIALS = re.compile(r"(?<=://).*@")


def is_remote(location: str | os.PathLike[str]) -> bool:
    """Whether it is a URL instead of a path."""
    text = location if isinstance(location, str) else ""
    return _SCHEME.match(text) is not None and not text.lower().startswith("file://")


def local_path(location: str | os.PathLike[str]) -> Path:
    """The path of a file or of a `file://` URL."""
    text = os.fspath(location)
    if not text.lower().startswith("file://"):
        return Path(text)
    parts = urlsplit(text)
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise UsageError(f"{printable(text)} is no path of this machine: write file:///folder/name.")
    return Path(unquote(parts.path))


def shown(location: object) -> str:
    """The location in messages, without credentials."""
    return printable(_CREDENTIALS.sub("", str(location)))


def cause(reason: BaseException) -> str:
    """What an error of a file system says, in one line."""
    why = " ".join(str(getattr(reason, "strerror", None) or reason).split())
    return printable(why or type(reason).__name__, 200).rstrip(".")


@dataclass(frozen=True, slots=True)
class RemoteLocation:
    """A path in a file system of fsspec."""

    scheme: str
    url: str
    files: Any
    path: str

    @classmethod
    def of(cls, url: str) -> Self:
        """UsageError for URLs without a name, and for file systems that are unknown or not installed."""
        scheme, _, rest = url.partition("://")
        scheme = scheme.lower()
        if not rest.strip("/") or rest.endswith("/") or (scheme in OBJECT_STORES and "/" not in rest):
            raise UsageError(f"{shown(url)} names no file: add a name, as in {scheme}://bucket/name.")
        url = f"{scheme}://{rest}"
        try:
            from fsspec.core import url_to_fs

            files, path = url_to_fs(url)
        except ImportError as reason:
            if scheme in OBJECT_STORES:
                raise MissingExtra.named(OBJECT_STORES[scheme], f"Writing to {scheme}://") from None
            raise UsageError(f"Cannot write to {shown(url)}: {cause(reason)}.") from None
        except ValueError as reason:
            raise UsageError(f"Cannot write to {shown(url)}: {cause(reason)}.") from None
        return cls(scheme, url, files, path)
