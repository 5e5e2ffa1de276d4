"""Credentials of a crawl, and what the fetcher is given of them.

The settings in `crawl.json`, and with them reports and the dashboard, have no credentials: those of the proxy and the
values of headers are in `credentials.json`, which only its owner can read. It may be edited before a crawl is resumed,
for example to renew a token. A commit log has no credentials: on another machine they are given again.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from scenthound.crawler.settings import CrawlSettings
from scenthound.errors import CorruptData, InvalidInput, InvalidParameter, UsageError, printable
from scenthound.files import machine_fault, regular_bytes, write_atomic
from scenthound.records import from_json, to_json
from scenthound.store.folder import MAX_JSON_BYTES
from scenthound.web.access import Access, RequestHeaders, masked_header
from scenthound.web.cookies import Cookies, read_cookies
from scenthound.web.proxies import Proxies

CREDENTIALS_FILE = "credentials.json"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The content of the file: the settings that are masked elsewhere."""

    proxy: str | None = None
    headers: tuple[str, ...] = ()


def write_credentials(settings: CrawlSettings, folder: Path) -> None:
    """Only if there are any."""
    if settings != settings.masked():
        values = to_json(Credentials(settings.proxy, settings.headers))
        content = orjson.dumps(values, option=orjson.OPT_INDENT_2) + b"\n"
        write_atomic(folder / CREDENTIALS_FILE, content, follow_link=False, private=True)


def with_credentials(settings: CrawlSettings, folder: Path) -> CrawlSettings:
    """Stored settings with their credentials. InvalidInput if these are missing."""
    if not settings.headers and "@" not in (settings.proxy or ""):
        return settings
    file = folder / CREDENTIALS_FILE
    try:
        found = from_json(Credentials, orjson.loads(regular_bytes(file, MAX_JSON_BYTES)), file)
        return replace(settings, proxy=found.proxy, headers=found.headers)
    except (OSError, ValueError, CorruptData, InvalidParameter) as reason:
        raise InvalidInput(
            machine_fault(file, reason)
            or f"The credentials of this crawl, {printable(file)}, are missing or damaged: restore the file, or give "
            f"them again with {_options(settings)}."
        ) from None


def renew_credentials(settings: CrawlSettings, folder: Path, given: Credentials) -> None:
    """Store credentials that are given again, for the headers and the proxy that the crawl was started with. UsageError
    for others, and if some are missing."""
    known = settings
    with suppress(InvalidInput):
        known = with_credentials(settings, folder)
    renewed = replace(known, proxy=given.proxy or known.proxy, headers=given.headers or known.headers)
    if renewed.masked() != settings.masked():
        raise UsageError(
            f"--header and --proxy can only renew what {printable(folder)} was started with: {_options(settings)}."
        )
    has_all = not any(line == masked_header(line) for line in renewed.headers)
    if not has_all or ("@" in (renewed.proxy or "") and renewed.proxy == settings.masked().proxy):
        raise UsageError(f"Some credentials of {printable(folder)} are missing: give {_options(settings)}.")
    write_credentials(renewed, folder)


def _options(settings: CrawlSettings) -> str:
    """The options that have credentials, with their values masked."""
    masked = settings.masked()
    options = [f"--header {line!r}" for line in masked.headers]
    options += [f"--proxy {masked.proxy}"] if "@" in (masked.proxy or "") else []
    return printable(" ".join(options) or "none of them")


def access_of(settings: CrawlSettings) -> Access:
    """UsageError if a proxy does not accept connections, InvalidInput if the cookies cannot be read."""
    cookies = None
    if settings.cookie_file is not None:
        cookies = Cookies(read_cookies(Path(settings.cookie_file)), time.time)
    headers = RequestHeaders(settings.headers, settings.seeds, cookies)
    if settings.offline:
        return Access(headers=headers)
    proxies = Proxies.of(settings.proxy, from_environment=settings.proxy_from_environment)
    return Access(proxies.connected(), headers)
